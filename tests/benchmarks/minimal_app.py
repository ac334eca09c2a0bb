"""The least that Textual can be: an input and a line that follows it. ``python -m tests.benchmarks.minimal_app``."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Input, Static


class MinimalApp(App[None]):
    """Shows what is typed."""

    def compose(self) -> ComposeResult:
        yield Input()
        yield Static("minimal-is-ready", markup=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        self.query_one(Static).update(f"typed {event.value}")


if __name__ == "__main__":
    MinimalApp().run()
