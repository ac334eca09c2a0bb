"""The sites of the demo as data: ``sites.toml`` and ``answers.toml``."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from aui_tui.records.decoding import convert

EVERYBODY, BROWSER, AGENTS = "everybody", "browser", "agents"


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A canned answer of a wall, a limiter or a broken server."""

    status: int
    body: str
    headers: dict[str, str] = {}


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who gets something else than the page.

    ``to``: ``everybody``, ``browser``, ``agents`` or the token of one agent. ``answer``: a key of ``answers.toml``;
    ``action``: ``hang`` (the connection stays open, nothing comes). ``everywhere``: robots.txt and the agent-facing
    files too. ``per_second``: that many requests of each second pass first.
    """

    to: str
    answer: str = ""
    action: str = ""
    everywhere: bool = False
    per_second: int = 0


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was different at a site at the scan before."""

    page: str | UnsetType = UNSET
    robots: str | UnsetType = UNSET
    files: tuple[str, ...] | UnsetType = UNSET
    rule: tuple[Rule, ...] | UnsetType = UNSET


class Site(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One site: what ``sites.toml`` explains at its head."""

    host: str
    name: str
    category: str
    page: str
    tagline: str = ""
    items: tuple[str, ...] = ()
    robots: str = "404"
    files: tuple[str, ...] = ()
    headers: dict[str, str] = {}
    moved: dict[str, str] = {}
    canonical: str = ""
    charset: str = "utf-8"
    catch_all: bool = False
    mode: str = "serve"
    shop: tuple[str, ...] = ()
    rule: tuple[Rule, ...] = ()
    before: Change | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Every host name the site answers under."""
        return (self.host, self.canonical) if self.canonical else (self.host,)

    def earlier(self) -> Site:
        """Return the site as it was at the scan before; itself when nothing changed."""
        if self.before is None:
            return self
        changes = {
            name: value for name in Change.__struct_fields__ if (value := getattr(self.before, name)) is not UNSET
        }
        return msgspec.structs.replace(self, **changes)


@cache
def sites() -> tuple[Site, ...]:
    """Return every site of the demo, in the order of the table."""
    return convert(_table("sites.toml")["site"], tuple[Site, ...])


@cache
def shops() -> tuple[Site, ...]:
    """Return the shops of ``demo --tasks``; ``Site.shop`` names the faults and traits of ``demo.shop``."""
    return convert(_table("shops.toml")["site"], tuple[Site, ...])


@cache
def answers() -> dict[str, Answer]:
    """Return the canned answers by name."""
    return convert(_table("answers.toml"), dict[str, Answer])


@cache
def template(name: str) -> str:
    """Return the text of a file in ``templates``."""
    return files("aui_tui.demo").joinpath("templates", name).read_text(encoding="utf-8")


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(files("aui_tui.demo").joinpath(name).read_text(encoding="utf-8"))
