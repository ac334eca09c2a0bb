"""An application with our themes: those of the package and of the person, and no style sheet read twice."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from textual.app import App

from aui_tui.tui import themes


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
        self.theme = name
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

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return colours for the roles under a theme that has none."""
        return {"role-" + name: "#808080" for name in themes.ROLES}

    def refresh_css(self, animate: bool = True) -> None:
        """Read the style sheets again, unless their colours are those they were read with: at the start they are."""
        colors = self.get_css_variables()
        if colors != self._colors:
            self._colors = colors
            super().refresh_css(animate)
