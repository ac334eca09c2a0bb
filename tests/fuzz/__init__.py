"""Random input. ``pytest tests/fuzz`` tries a few; ``python -m tests.fuzz`` goes on, guided by coverage."""
