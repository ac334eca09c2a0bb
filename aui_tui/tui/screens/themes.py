"""A list of themes; the screen shows each one as the cursor passes."""

from __future__ import annotations

from textual.widgets import OptionList

from aui_tui.tui import messages
from aui_tui.tui.screens.choose import Choice, ChooseScreen


class ThemeScreen(ChooseScreen):
    """Answers with the chosen theme."""

    def __init__(self, names: list[str], current: str) -> None:
        super().__init__("Theme", [Choice(name, name) for name in names], current)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Have the theme under the cursor shown."""
        self.app.post_message(messages.ThemePassed(self.choices[event.option_index].value))
