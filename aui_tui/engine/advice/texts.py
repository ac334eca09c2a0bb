"""The words of advice: ``texts.toml`` (every site) and ``edges.toml`` (a given wall, edge or server)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

import msgspec


class Texts(msgspec.Struct, frozen=True, kw_only=True):
    """Titles, bodies and snippets by key; ``about`` and ``kind`` by category."""

    title: dict[str, str]
    body: dict[str, str]
    code: dict[str, str]
    about: dict[str, str]
    kind: dict[str, str]


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """What a fix means on one wall, edge or server: a ``step`` for the body, ``code`` where it has its own."""

    step: str = ""
    code: str = ""


class Edges(msgspec.Struct, frozen=True, kw_only=True):
    """Recipes of the fixes ``wba`` and ``robots``, and which name of a wall or edge leads to which recipe."""

    recipe: dict[str, str]
    wba: dict[str, Recipe]
    robots: dict[str, Recipe]

    def for_wba(self, names: Iterable[str]) -> Recipe:
        """Return the recipe of the first name that has one, else the generic one."""
        keys = (self.recipe.get(name, "") for name in names)
        return next((self.wba[key] for key in keys if key in self.wba), self.wba["generic"])

    def for_robots(self, names: Iterable[str]) -> Recipe:
        """Return the recipe that stands first in the table among those of ``names``, else the generic one."""
        keys = {self.recipe.get(name, "") for name in names}
        return next((recipe for key, recipe in self.robots.items() if key in keys), self.robots["generic"])


@cache
def texts() -> Texts:
    """Return the packaged words for every site."""
    return msgspec.convert(_table("texts.toml"), Texts)


@cache
def edges() -> Edges:
    """Return the packaged recipes."""
    return msgspec.convert(_table("edges.toml"), Edges)


def _table(name: str) -> dict[str, object]:
    return tomllib.loads(files("aui_tui.engine.advice").joinpath(name).read_text(encoding="utf-8"))
