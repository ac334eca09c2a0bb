"""Dialogs and banners over a page, and the button that dismisses it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aui_tui.tasks.outline import ACTIONABLE, DIALOGS, Node, Outline
from aui_tui.tasks.vocabulary import ACCEPT, CLOSE, COMMITS, CONSENT, NEVER, REJECT


@dataclass(frozen=True)
class Cover:
    """The links and controls of a page that get a click at their centre (``reached``), and those that do not.

    ``tried``: the buttons that were pressed to dismiss what lies over the page.
    """

    outline: Outline
    reached: Sequence[Node]
    covered: Sequence[Node]
    tried: Sequence[Node]

    @property
    def total(self) -> int:
        """How many links and controls are in sight."""
        return len(self.reached) + len(self.covered) + self._behind

    @property
    def dialog(self) -> Node | None:
        """The first dialog of the page."""
        return next((node for node in self.outline.of(*DIALOGS) if node.ref), None)

    @property
    def covers(self) -> bool:
        """Something covers the page: more of it is covered than can be reached outside dialogs."""
        return len(self.covered) > self._outside or (self._behind > 0 and not self._outside)

    @property
    def free(self) -> bool:
        """Nothing is in the way."""
        return not self.covers and (self._outside > 0 or self.dialog is None)

    @property
    def _outside(self) -> int:
        return sum(not DIALOGS & set(node.path) for node in self.reached)

    @property
    def _behind(self) -> int:
        """How many links and controls a dialog takes out of the accessibility tree."""
        return sum(node.role in ACTIONABLE for node in self.outline.dom_only) if self.dialog is not None else 0

    @property
    def _framed(self) -> list[Node]:
        """The buttons and links of frames, where a consent dialog may lie."""
        return [node for node in self.outline.of("button", "link") if node.framed and node.name] if self.covers else []

    @property
    def buttons(self) -> list[str]:
        """The names of the buttons that take a click and were not pressed."""
        pressed = {"", *(node.name for node in self.tried)}
        every = [*self.reached, *self._framed]
        return [node.name for node in every if node.role == "button" and node.name not in pressed]

    @property
    def nameless(self) -> list[Node]:
        """The buttons and links that take a click and have no name: inside a dialog where there is one."""
        inside = (node for node in self.reached if self.dialog is None or DIALOGS & set(node.path))
        return [node for node in inside if node.role in ("button", "link") and not node.name and not node.disabled]

    def dismissal(self) -> Node | None:
        """Return the button that dismisses what is in the way: inside a dialog where there is one."""
        dialogs = [node for node in self.outline.nodes if DIALOGS & {node.role, *node.path}]
        inside = [node for node in self.reached if DIALOGS & set(node.path)] if self.dialog is not None else []
        text = self.outline.text()
        for nodes, text_around in (
            (inside, " ".join(node.text or node.name for node in dialogs)),
            (self.reached, text),
            (self._framed, text),
        ):
            button = self._choice(nodes, text_around)
            if button is not None:
                return button
        return None

    def _choice(self, nodes: Iterable[Node], text: str) -> Node | None:
        """Return the button to press: reject, then close, then, where what is ``text`` speaks of consent, accept.

        None that commits to something, such as paying or subscribing, and none twice.
        """
        pressed = {"", *(node.name for node in self.tried)}
        named = [node for node in nodes if node.role in ("button", "link") and not node.disabled]
        named = [node for node in named if node.name not in pressed and not NEVER.search(node.name)]
        for pattern in (REJECT, CLOSE, *((ACCEPT,) if CONSENT.search(text) else ())):
            for node in named:
                if pattern.search(node.name) and not COMMITS.search(REJECT.sub("", node.name)):
                    return node
        return None
