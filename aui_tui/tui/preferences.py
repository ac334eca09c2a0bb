"""What the user chose in the dashboard and has remembered, and the line that takes commands.

The dashboard itself writes no settings: it is given what does (``Preferences.write``), and says where it was written.
Screens are imported when they are first opened: the first frame waits for none of them but the list.
"""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Final

from textual.reactive import reactive

from aui_tui.errors import AuiError, ConfigError
from aui_tui.model.query import Query
from aui_tui.text import clean
from aui_tui.tui import messages
from aui_tui.tui.bindings import checked
from aui_tui.tui.context import Context, ExportJob, attempt, sentence, start_beside
from aui_tui.tui.state import CardState, ListState, list_of
from aui_tui.tui.themes import ThemedApp
from aui_tui.tui.words import nearest

COMMANDS: Final = {
    "scan": ("ADDRESS", "scan an address"),
    "open": ("HOST", "open a report card"),
    "index": ("QUERY", "show the list of a query; without one, everything"),
    "export": ("FILE", "write the list, or the card, to a file"),
    "theme": ("NAME", "use a theme"),
    "view": ("NAME", "show a saved list"),
    "visits": ("LOG", "read an access log for the card on show"),
    "tasks": ("", "run the tasks on the card on show"),
    "overview": ("", "figures over the list"),
    "settings": ("", "settings, keys, columns, saved lists"),
    "help": ("", "keys that work here"),
    "quit": ("", "leave the dashboard"),
}
"""The commands of the line: what each takes, and what it does."""


class PreferringApp(ThemedApp):
    """An application that remembers what is chosen in it; ``stored`` counts what changes the lists on show."""

    stored: reactive[int] = reactive(0, init=False, repaint=False)

    def __init__(self, context: Context, folders: Iterable[Path], theme: str, *, no_color: bool) -> None:
        super().__init__(folders, theme, no_color=no_color)
        self.context = context

    @property
    def own_keys(self) -> dict[str, str]:
        """The user's own keys by binding id."""
        return self.context.preferences.keys

    @property
    def list_on_show(self) -> ListState | None:
        """The list on show, None on another screen."""
        state = getattr(self.screen, "state", None)
        return state if isinstance(state, ListState) else None

    @property
    def card_on_show(self) -> CardState | None:
        """The report card on show, None on another screen."""
        state = getattr(self.screen, "state", None)
        return state if isinstance(state, CardState) else None

    def remember(self, *name: str, value: Any, what: str) -> None:
        """Write one setting and say where; ``what`` begins the sentence."""
        kept = self.context.preferences
        if kept.write is None:
            return
        try:
            kept.write(name, value)
        except (AuiError, OSError) as error:
            self.notice(sentence(error), "error")
            return
        stronger = kept.stronger.get(name[0], "")
        but = f" {stronger} overrides it at the start." if stronger else ""
        self.notice(f"{what} Remembered in {kept.path}.{but}")

    def choose_theme(self, name: str | None) -> None:
        """Use a theme; one that was chosen is remembered."""
        before = self._chosen
        super().choose_theme(name)
        if name and name != before:
            self.remember("theme", value=name, what=f"Theme {name}.")

    # Settings

    def action_settings(self) -> None:
        """Show the settings."""
        from aui_tui.tui.screens.settings import SettingsScreen

        self.push_screen(SettingsScreen(self.context, self._chosen), self.change_setting)

    def change_setting(self, name: str | None) -> None:
        """Change one of SETTINGS, or ask how."""
        kept = self.context.preferences
        if name == "theme":
            self.action_themes()
        elif name in ("ascii", "mouse"):
            value = not getattr(kept, name)
            setattr(kept, name, value)
            words = {"ascii": "ASCII characters only", "mouse": "The mouse"}[name]
            self.remember(name, value=value, what=f"{words}: {'yes' if value else 'no'}, from the next start.")
        elif name == "columns":
            self.action_columns()
        elif name == "keys":
            self.action_keys()
        elif name == "views":
            self.action_views()

    def action_themes(self) -> None:
        """Choose a theme."""
        from aui_tui.tui.screens.windows import ThemeScreen

        self.push_screen(ThemeScreen(self.every_theme(), self.theme), self.choose_theme)

    def action_columns(self) -> None:
        """Choose the columns of the list."""
        from aui_tui.tui.screens.settings import ColumnsScreen

        self.push_screen(ColumnsScreen(self.context.preferences.columns), self._choose_columns)

    def _choose_columns(self, chosen: tuple[str, ...] | None) -> None:
        """Give the list other columns; none: the usual ones."""
        if chosen is not None:
            self.context.preferences.columns = chosen
            self.stored += 1
            shown = ", ".join(chosen) or "the usual ones"
            self.remember("columns", value=list(chosen) or None, what=f"Columns: {shown}.")

    def action_keys(self) -> None:
        """Show every key with its id, and give one another key."""
        from aui_tui.tui.screens.settings import KeyListScreen

        self.push_screen(KeyListScreen(self.own_keys), self._ask_key)

    def _ask_key(self, name: str | None) -> None:
        from aui_tui.tui.screens.settings import KeyQuestion

        if name:
            self.push_screen(KeyQuestion(name, partial(self._problem_of, name)), partial(self._bind, name))

    def _problem_of(self, name: str, key: str) -> str:
        """Return why ``key`` cannot be that of ``name``; empty when it can."""
        try:
            checked({**self.own_keys, name: key})
        except ConfigError as error:
            return sentence(error)
        return ""

    def _bind(self, name: str, key: str | None) -> None:
        if key is None:
            return
        if key:
            self.own_keys[name] = key
        else:
            self.own_keys.pop(name, None)
        self.set_keymap(checked(self.own_keys))
        self.refresh_bindings()
        what = f"{name} is {key} now." if key else f"{name} has its usual key again."
        self.remember("keys", name, value=key or None, what=what)
        self.action_keys()

    # Saved lists

    def action_views(self) -> None:
        """Show a saved list, or save this one."""
        from aui_tui.tui.screens.settings import ViewsScreen

        self.push_screen(ViewsScreen(self.context.preferences.views), self.choose_view)

    def choose_view(self, name: str | None) -> None:
        """Show the list called ``name``, or save the one on show under that name; a leading ``-`` forgets it."""
        if not name:
            return
        views = self.context.preferences.views
        if name.startswith("-") and name[1:] in views:
            del views[name[1:]]
            self.remember("views", name[1:], value=None, what=f"List {name[1:]} forgotten.")
        elif name in views:
            try:
                found = list_of(views[name])
                self.post_message(
                    messages.ViewRequested(found.query, matrix=found.matrix, unreachable=found.unreachable)
                )
            except AuiError as error:
                self.notice(sentence(error), "error")
        else:
            state = self.list_on_show
            if state is None:
                self.notice("Only a list can be saved; esc goes back to it.", "warning")
                return
            view = state.saved()
            self.context.preferences.views = {name: view, **views}
            self.remember("views", name, value=view, what=f"List {name} saved.")

    # The line

    def action_command(self) -> None:
        """Ask for a command."""
        self._ask_command("", "")

    def _ask_command(self, text: str, problem: str) -> None:
        from aui_tui.tui.screens.windows import AskScreen

        hint = problem or " · ".join(f"{name} {takes}".strip() for name, (takes, _) in COMMANDS.items())
        self.push_screen(AskScreen("Command", hint, text, "scan example.com"), self._run_command)

    def _run_command(self, text: str | None) -> None:
        if text is None:
            return
        problem = self.run_command(text)
        if problem:
            self._ask_command(text, problem)

    def run_command(self, text: str) -> str:
        """Do what the line says; return what was wrong with it, empty when it was done."""
        try:
            words = shlex.split(text.strip().removeprefix(":").removeprefix("aui-tui "))
        except ValueError:
            return "A quotation mark is not closed."
        if not words:
            return "Type a command, such as scan example.com."
        name, rest = words[0], " ".join(words[1:])
        if name not in COMMANDS:
            near = nearest(name, COMMANDS)
            known = f"did you mean {near}?" if near else f"there are: {', '.join(COMMANDS)}."
            return f"Unknown command {clean(name, 40)!r}; {known}"
        takes = COMMANDS[name][0]
        if takes and not rest and name != "index":
            return f"{name} takes {takes}."
        if rest and not takes:
            return f"{name} takes nothing."
        work: Callable[..., str] = getattr(self, "_do_" + name)
        return work(rest) if takes else work()

    def action_help(self) -> None:
        """Show the keys that work here, and the command that prints the same."""
        from aui_tui.tui.screens.windows import HelpScreen

        self.push_screen(HelpScreen(self.screen))

    def _do_scan(self, address: str) -> str:
        if not self.context.service.can_scan:
            return "This source cannot scan."
        self.post_message(messages.ScanRequested(address, force=False))
        return ""

    def _do_open(self, host: str) -> str:
        from aui_tui.tui.screens.card import CardScreen

        self.push_screen(CardScreen(self.context, host))
        return ""

    def _do_index(self, line: str) -> str:
        try:
            query = Query.of(line=line)
        except AuiError as error:
            return sentence(error)
        self.post_message(messages.ViewRequested(query))
        return ""

    def _do_export(self, path: str) -> str:
        if self.context.exporter is None:
            return "Nothing can be written here."
        card, state = self.card_on_show, self.list_on_show
        if card is not None:
            job = ExportJob("card", path, host=card.host)
        elif state is not None:
            hosts = tuple(sorted(state.marks))
            job = ExportJob("list", path, query=state.query, unreachable=state.unreachable, hosts=hosts)
        else:
            return "There is nothing on this screen to write."
        self.export(job)
        return ""

    def export(self, job: ExportJob) -> None:
        """Have ``job`` written, and say what was."""
        if self.context.exporter is not None:
            start_beside(self, "export", self._report, self.context.exporter(job))

    async def _report(self, work: Awaitable[str]) -> bool:
        """Say what came of ``work``; return whether it was done."""
        words, problem = await attempt(work)
        self.notice(words or problem, "error" if problem else "information")
        return not problem

    def _do_theme(self, name: str) -> str:
        known = self.every_theme()
        if name not in known:
            return f"Unknown theme {clean(name, 40)!r}; there are: {', '.join(known)}."
        self.choose_theme(name)
        return ""

    def _do_view(self, name: str) -> str:
        views = self.context.preferences.views
        if name not in views:
            return f"There is no saved list of that name; there are: {', '.join(views) or 'none'}."
        self.choose_view(name)
        return ""

    def _do_visits(self, path: str) -> str:
        read, card = self.context.preferences.read_log, self.card_on_show
        if read is None:
            return "Logs are read for the index of this machine alone."
        if card is None:
            return "Open the card of the site that wrote the log first."
        start_beside(self, "visits", self._read_log, read(card.host, path))
        return ""

    async def _read_log(self, work: Awaitable[str]) -> None:
        if await self._report(work):
            self.stored += 1

    def _do_tasks(self) -> str:
        card = self.card_on_show
        if card is None:
            return "Open a report card first."
        self.post_message(messages.TasksRequested(card.host))
        return ""

    def _do_overview(self) -> str:
        if self.list_on_show is None:
            return "Figures are those of a list; esc goes back to it."
        self.call_later(self.run_action, "screen.overview")
        return ""

    def _do_settings(self) -> str:
        self.action_settings()
        return ""

    def _do_help(self) -> str:
        self.action_help()
        return ""

    def _do_quit(self) -> str:
        self.exit()
        return ""
