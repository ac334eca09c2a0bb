"""An application with our themes: those of the package and of the person, and no style sheet read twice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from textual.app import App
from textual.command import Command, CommandPalette

from aui_tui.tui import messages, themes


class ThemedApp(App[int]):
    """Begins with ``theme``, a name, or the default when it is empty; ``folders`` hold the person's own.

    ``theme_problems``: sentences on themes that could not be used. Raises ConfigError for an unknown name.
    """

    def __init__(self, folders: Iterable[Path], theme: str, *, no_color: bool) -> None:
        self._folders = (themes.packaged(), *folders)
        loaded, name = themes.first(self._folders, theme, no_color=no_color)
        super().__init__()
        self.theme_problems = loaded.problems
        for builtin in themes.BUILTIN:
            self.unregister_theme(builtin)
        self.register_themes(loaded)
        self.theme = self._chosen = name
        self._colors = self.get_css_variables()
        self.stylesheet.set_variables(self._colors)

    def register_themes(self, loaded: themes.LoadedThemes) -> None:
        """Make themes known."""
        for theme in loaded.themes.values():
            self.register_theme(theme)

    def every_theme(self) -> list[str]:
        """Return the names of all themes, having read those that were not needed at the start."""
        self.register_themes(themes.load(self._folders))
        return sorted(self.available_themes)

    def choose_theme(self, name: str | None) -> None:
        """Put a theme on for good; without a name, the one that was chosen last."""
        self.theme = self._chosen = name or self._chosen

    def on_theme_highlighted(self, message: messages.ThemeHighlighted) -> None:
        """Show the theme under the cursor of a list."""
        self._try(message.name)

    def _try(self, name: str) -> None:
        """Show a theme, the chosen one for an empty ``name``, as long as the list it stands in is open."""
        if self.screen.is_modal:
            self.theme = name or self._chosen

    def on_command_palette_option_highlighted(self, event: CommandPalette.OptionHighlighted) -> None:
        """Show the theme that the command under the cursor would choose, the chosen one at any other command."""
        option = event.highlighted_event.option
        command = option.hit.command if isinstance(option, Command) else None
        self._try(command.name if isinstance(command, ThemeChoice) else "")

    def on_command_palette_closed(self, _event: CommandPalette.Closed) -> None:
        """Put the chosen theme back on; a command that chooses another runs after this."""
        self.choose_theme(None)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return colours for the roles under a theme that has none."""
        return {"role-" + name: "#808080" for name in themes.ROLES}

    def refresh_css(self, animate: bool = True) -> None:
        """Read the style sheets again, unless their colours are those they were read with: at the start they are."""
        colors = self.get_css_variables()
        if colors != self._colors:
            self._colors = colors
            super().refresh_css(animate)


@dataclass(frozen=True)
class ThemeChoice:
    """A command that chooses a theme; the command palette shows the theme before the command is run."""

    app: ThemedApp
    name: str

    def __call__(self) -> None:
        """Choose the theme."""
        self.app.choose_theme(self.name)
