"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("project", deadline=None, max_examples=25)
settings.register_profile("long", deadline=None, max_examples=300)
settings.load_profile("project")
