"""Options that several commands share, each an ``Annotated`` type, and what their values mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, Final

import typer

from aui_tui.cli import complete
from aui_tui.errors import BadValue
from aui_tui.model.methods import METHODS
from aui_tui.model.query import SORTS
from aui_tui.model.vocabulary import CATEGORIES, GRADES, SEVERITIES, STANCES, UNITS, choose
from aui_tui.report.formats import CARD_FORMATS
from aui_tui.text import clean

FILTERS, REACH, OUTPUT = "Filters", "How to reach the site", "Output"
GATES: Final = "Gates (exit code 1 when one fails, 3 when one is inconclusive)"


def words(allowed: Sequence[str], meaning: str) -> dict[str, Any]:
    """Return help and completion of an option that takes one of ``allowed``."""
    return {"help": f"{meaning}: {', '.join(allowed)}.", "autocompletion": complete.of(allowed)}


def checked(what: str, allowed: Sequence[str]) -> Callable[[str], str]:
    """Return what checks the value of an option: one of ``allowed`` or nothing. It raises BadValue."""
    return lambda word: choose(what, word, allowed) if word else ""


Host = Annotated[str, typer.Argument(metavar="HOST", help="A host that was scanned.", autocompletion=complete.hosts)]
Force = Annotated[bool, typer.Option("--force", help="Scan again, even if the last answer is recent.")]
Cached = Annotated[bool, typer.Option("--cached", help="Take a kept answer, also of a host of this machine.")]
Replace = Annotated[bool, typer.Option("--replace", help="Replace what is there.")]
Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="v0.1|v0.2",
        help="Grade under this method.",
        autocompletion=complete.of(tuple(METHODS)),
        callback=checked("method", tuple(METHODS)),
    ),
]
Tasks = Annotated[bool, typer.Option("--tasks", help="Also try six tasks in a browser; see aui-tui help tasks.")]
Act = Annotated[
    bool, typer.Option("--act", help="Let the tasks send a search and press “add to cart” once, on your own host.")
]
SiteCategory = Annotated[
    str,
    typer.Option(
        "--category",
        metavar="NAME",
        hidden=True,
        callback=checked("category", CATEGORIES),
        **words(CATEGORIES, "The site's"),
    ),
]
"""Corrects the category of a site in the index: rare, so that the help of ``scan`` leaves it out."""

_filter = partial(typer.Option, rich_help_panel=FILTERS)
Category = Annotated[str, _filter("--category", metavar="NAME", **words(CATEGORIES, "Only hosts of this category"))]
Stance = Annotated[str, _filter("--stance", metavar="NAME", **words(STANCES, "Only hosts of this stance"))]
Line = Annotated[
    str, _filter("--query", metavar="TEXT", help="Words and terms: aui-tui help query.", autocompletion=complete.terms)
]
Sort = Annotated[
    str,
    _filter(
        "--sort",
        metavar="COLUMN",
        help=f"Order by {', '.join(SORTS)}, or matrix.AGENT such as matrix.claude; -COLUMN reverses.",
        autocompletion=complete.sorts,
    ),
]
Limit = Annotated[int, _filter("--limit", metavar="N", min=0, help="At most N rows of each list; 0: all.")]

_reach = partial(typer.Option, rich_help_panel=REACH)
AllowPrivate = Annotated[bool, _reach("--allow-private", help="Allow private addresses and any port.")]
ConnectTo = Annotated[
    list[str] | None,
    _reach(
        "--connect-to",
        metavar="RULE",
        help="Connect elsewhere, as curl does: HOST:PORT:ADDR:PORT; an empty HOST or PORT matches any.",
    ),
]

Page = Annotated[
    list[str] | None,
    _reach("--page", metavar="PATH", hidden=True, help="Ask who gets this page of the site too: a path or an address."),
]
"""Repeatable; the text of the command names it, so that its list of options stays short."""

_gate = partial(typer.Option, rich_help_panel=GATES)
FailUnder = Annotated[int | None, _gate("--fail-under", metavar="N", min=0, max=100, help="The score must reach N.")]
FailGrade = Annotated[
    str | None,
    _gate(
        "--fail-grade", metavar="A|B|C|D|F", help="The grade must reach this one.", autocompletion=complete.of(GRADES)
    ),
]
RequireStance = Annotated[
    str | None, _gate("--require-stance", metavar="STANCE", **words(STANCES, "The stance must be at least this open"))
]
MustServe = Annotated[
    str | None,
    _gate(
        "--must-serve",
        metavar="NAME,NAME",
        help="These agents must get in, by product, token or company, such as claude,chatgpt.",
        autocompletion=complete.agents,
    ),
]
MustBlock = Annotated[
    str | None,
    _gate(
        "--must-block",
        metavar="NAME,NAME",
        help="These must be kept out: agents and crawlers, such as gptbot,training.",
        autocompletion=complete.agents,
    ),
]
FailOn = Annotated[
    str | None,
    _gate(
        "--fail-on",
        metavar="critical|warn",
        help="No finding of this severity or worse; notes do not count.",
        autocompletion=complete.of(SEVERITIES[:2]),
    ),
]
NoRegress = Annotated[
    str | None,
    _gate(
        "--no-regress",
        metavar="FILE|last",
        help="Nothing may be worse than on the card in FILE, or in the scan before.",
    ),
]

_output = partial(typer.Option, rich_help_panel=OUTPUT)
Json = Annotated[bool, _output("--json", help="Print JSON.")]
Text = Annotated[bool, _output("--text", help="Print plain sentences, for a screen reader.")]
Details = Annotated[bool, _output("--details", help="Print all that is known; with --json each request and answer.")]
File = Annotated[
    str,
    _output("--output", "-o", metavar="FILE", help="Write to FILE; its ending is the format, such as .md."),
]
Files = Annotated[
    list[str] | None,
    _output("--output", "-o", metavar="FILE", help="Write to FILE, its ending is the format; may be repeated."),
]
Format = Annotated[str, _output("--format", "-f", metavar="NAME", **words(CARD_FORMATS, "Print as"))]
Fields = Annotated[
    str,
    _output("--fields", metavar="A,B.C", help="Only these fields (json, ndjson, csv).", autocompletion=complete.fields),
]


def one_of(**options: object) -> str:
    """Return the name of the one option that is given, such as ``--json``; empty for none. Raises BadValue for two."""
    named = [f"--{name.rstrip('_').replace('_', '-')}" for name, value in options.items() if value]
    if len(named) > 1:
        raise BadValue(f"Choose one of {' and '.join(named)}.")
    return named[0] if named else ""


def seconds_of(name: str, text: str, allowed: str = "smhdw") -> float:
    """Return the duration ``text`` of the option ``name`` in seconds, such as ``7d``, ``12h`` or ``90s``.

    ``allowed``: the units. Raises BadValue.
    """
    match = re.fullmatch(r"\s*(\d{1,6})\s*([a-z])\s*", text.lower(), re.ASCII)
    if match is None or match[2] not in allowed:
        examples = [word for word in ("7d", "12h", "30m", "90s") if word[-1] in allowed]
        raise BadValue(f"{name} takes a number with a unit, such as {', '.join(examples)}, not {clean(text, 40)!r}.")
    return float(int(match[1]) * UNITS[match[2]])
