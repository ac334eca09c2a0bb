"""A list of themes; the screen shows each one as the cursor passes."""

from __future__ import annotations

from textual.widgets import OptionList

from aui_tui.tui.screens.choose import Choice, ChooseScreen


class ThemeScreen(ChooseScreen):
    """Leaves the chosen theme on, or puts the earlier one back."""

    def __init__(self, names: list[str], current: str) -> None:
        super().__init__("Theme", [Choice(name, name) for name in names], current)
        self._before = current

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the theme under the cursor."""
        self.app.theme = self.choices[event.option_index].value

    def action_close(self) -> None:
        """Leave with the theme that was on before."""
        self.app.theme = self._before
        self.dismiss(None)
