"""Query parameters of the three endpoints (specification 4): known ones are checked, unknown ones are ignored.

The interface description says so at each parameter's operation.
"""

from __future__ import annotations

from urllib.parse import parse_qsl

from aui_tui.errors import BadValue
from aui_tui.text import clean

TRUE, FALSE = ("true", "1"), ("false", "0")


class Parameters:
    """The parameters of one query string. Raises BadValue when it has over 100 of them."""

    def __init__(self, query: bytes) -> None:
        try:
            self._pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=100)
        except ValueError:
            raise BadValue("The address has more than 100 parameters.") from None

    def one(self, name: str) -> str | None:
        """Return the value of ``name``, None when absent. Raises BadValue when it is given twice."""
        values = [value for key, value in self._pairs if key == name]
        if len(values) > 1:
            raise BadValue(f"The parameter {name} is given {len(values)} times; once is allowed.")
        return values[0] if values else None

    def needed(self, name: str, example: str) -> str:
        """Return the value of ``name``. Raises BadValue when it is missing."""
        value = self.one(name)
        if value is None:
            raise BadValue(f"The parameter {name} is missing, for example {name}={example}.")
        return value

    def word(self, name: str) -> str:
        """Return the value of a filter, empty when absent. Raises BadValue when it is given but empty."""
        value = self.one(name)
        if value is not None and not value.strip():
            raise BadValue(f"The parameter {name} is empty; leave it out for no filter.")
        return value or ""

    def flag(self, name: str) -> bool:
        """Return a boolean, False when absent. Raises BadValue when it is neither true nor false."""
        value = (self.one(name) or "").lower() if self.one(name) is not None else "false"
        if value in TRUE:
            return True
        if value in FALSE:
            return False
        raise BadValue(
            f"The parameter {name} must be true or false, not {clean(value, 40)!r}.", allowed=("true", "false")
        )
