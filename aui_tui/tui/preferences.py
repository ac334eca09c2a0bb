"""What the user chose in the dashboard and has remembered, and what was done in it.

The dashboard itself writes no settings: it is given what does (``Preferences.write``), and says where it was written.
Screens are imported when they are first opened: the first frame waits for none of them but the list.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from pathlib import Path
from shlex import quote
from typing import Any, Final, NamedTuple

from textual.reactive import reactive

from aui_tui.errors import AuiError
from aui_tui.tui import messages
from aui_tui.tui.context import Context, ExportJob, attempt, sentence, start_beside
from aui_tui.tui.state import CardState, ListState, list_of
from aui_tui.tui.themes import ThemedApp
from aui_tui.tui.words import local_time


class Action(NamedTuple):
    """Something that was done: hour and minute, words, and the command line that does the same."""

    at: str
    words: str
    command: str


KEPT_ACTIONS: Final = 200


class PreferringApp(ThemedApp):
    """An application that remembers what is chosen in it; ``stored`` counts what changes the lists on show."""

    stored: reactive[int] = reactive(0, init=False, repaint=False)

    def __init__(self, context: Context, folders: Iterable[Path], theme: str, *, no_color: bool) -> None:
        super().__init__(folders, theme, no_color=no_color)
        self.context = context
        self.actions: list[Action] = []

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
            shown = ", ".join(chosen) or "chosen by width"
            self.remember("columns", value=list(chosen) or None, what=f"Columns: {shown}.")

    def action_keys(self) -> None:
        """Show every key with the name that the settings file gives it."""
        from aui_tui.tui.screens.settings import keys_window

        self.push_screen(keys_window(self.own_keys, self.context.preferences.path))

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

    # What was done

    def did(self, words: str, command: str) -> None:
        """Remember an action and its command line."""
        if not self.actions or self.actions[-1].command != command:
            moment = local_time(self.context.clock())
            self.actions = [*self.actions, Action(moment, words, command)][-KEPT_ACTIONS:]

    def action_log(self) -> None:
        """Show what was done here; the chosen command line is copied."""
        from aui_tui.tui.screens.windows import Choice, ChooseScreen

        if not self.actions:
            self.notice("Nothing was done yet. Scans, exports, lists and cards are kept here with their commands.")
            return
        choices = [Choice(done.command, f"{done.at}  {done.command}") for done in reversed(self.actions)]
        self.push_screen(ChooseScreen("Actions: enter copies the command line", choices, wide=True), self._copy_command)

    def _copy_command(self, command: str | None) -> None:
        if command:
            self.post_message(messages.CopyRequested(command, "the command line"))

    def action_help(self) -> None:
        """Show the keys that work here, and the command that prints the same."""
        from aui_tui.tui.screens.windows import HelpScreen

        self.push_screen(HelpScreen(self.screen))

    def export(self, job: ExportJob) -> None:
        """Have ``job`` written, and say what was."""
        if self.context.exporter is not None:
            self.did(f"wrote {job.path}", job.command())
            start_beside(self, "export", self._report, self.context.exporter(job))

    async def _report(self, work: Awaitable[str]) -> bool:
        """Say what came of ``work``; return whether it was done."""
        words, problem = await attempt(work)
        self.notice(words or problem, "error" if problem else "information")
        return not problem

    def ask_visits(self) -> None:
        """Ask for an access log of the site on show, and read it."""
        from aui_tui.tui.screens.windows import AskScreen

        read, card = self.context.preferences.read_log, self.card_on_show
        if read is None or card is None:
            words = "Logs are read for the index of this machine alone." if read is None else "Open a card first."
            self.notice(words, "warning")
            return
        host, reader = card.host, read

        def chosen(path: str | None) -> None:
            if path:
                self.did(f"read {path}", f"aui-tui visits {quote(path)} --host {quote(host)}")
                start_beside(self, "visits", self._read_log, reader(host, path))

        hint = f"An access log that {host} wrote: nginx, Apache, Caddy, Traefik or a CDN, also compressed."
        self.push_screen(AskScreen("Read an access log", hint, "", "/var/log/nginx/access.log"), chosen)

    async def _read_log(self, work: Awaitable[str]) -> None:
        if await self._report(work):
            self.stored += 1
