"""Limits on requests go by a clock that a busy machine does not distort."""

from tests.clocks import working_clock

__all__ = ["working_clock"]
