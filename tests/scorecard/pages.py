"""Homepages: counts beside lexbor's, hostile tokens, charsets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aui_tui.model.observations import PageFacts
from aui_tui.scan import charset, page
from tests.scorecard import Row, share

SHORT = Path(__file__).parents[1] / "data" / "pages"
_UNSEEN = re.compile(rb"<(script|style|noscript|template)\b.*?</\1\s*>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
_ACTIVE = re.compile(rb"<(h[1-6]|button|select|textarea)\b|<input\b(?![^>]*hidden)", re.IGNORECASE)


def rows(folder: Path) -> Iterator[Row]:
    """Yield the rows of page facts."""
    expected = json.loads((folder / "html" / "expected.json").read_text("utf-8"))
    missed = []
    for name, case in expected.items():
        body = (folder / "html" / "pages" / name).read_bytes()
        facts = page.read(body, (case.get("headers") or {}).get("content-type", "")).facts
        differences = _differences(facts, case["lexbor"])
        if differences:
            missed.append(f"{name}: {', '.join(differences)}")
    yield share("pages", "jsonld and landmarks as lexbor counts them, 23 of 24", len(expected), missed, 23)
    inputs = json.loads((folder / "html" / "tokenizer_inputs.json").read_text("utf-8"))["inputs"]
    missed = [repr(text)[:80] for _, text, _ in inputs if not _survives(text)]
    yield share("pages", "tokenizer inputs without an exception, all", len(inputs), missed)
    yield from _shells(folder)
    cases = json.loads((folder / "html" / "encoding_cases.json").read_text("utf-8"))["cases"]
    still = [case for case in cases if "scripted" not in case["file"]]
    missed = [repr(case["data_latin1"])[:80] for case in still if not _charset_right(case)]
    yield share("pages", "charsets declared without a script, all", len(still), missed)


def _shells(folder: Path) -> Iterator[Row]:
    paths = sorted((*(folder / "html" / "pages").iterdir(), *(folder / "challenge" / "pages").iterdir()))
    found = [
        path for path in (*paths, *SHORT.glob("whole/*.html")) if page.read(path.read_bytes()).facts.noscript_shell
    ]
    missed = [path.name for path in found if _ACTIVE.search(_UNSEEN.sub(b"", path.read_bytes()))]
    total = len(paths) + len(list(SHORT.glob("whole/*.html")))
    yield share("pages", f"a page with a heading or a control is not a shell ({len(found)} are)", total, missed)


def _differences(facts: PageFacts, lexbor: dict[str, Any]) -> list[str]:
    """Elements and roles may overlap, so that each landmark lies between the larger count and the sum."""
    found = []
    pairs = {
        "jsonld": (facts.jsonld, lexbor["jsonld"], 0),
        "forms": (facts.semantic.forms, lexbor["form"], 0),
        "main": (facts.semantic.main, lexbor["main"], lexbor["role_main"]),
        "nav": (facts.semantic.nav, lexbor["nav"], lexbor["role_navigation"]),
        "aria": (facts.semantic.aria, lexbor["aria_label"], lexbor["aria_labelledby"]),
    }
    for name, (count, first, second) in pairs.items():
        if not max(first, second) <= count <= first + second:
            found.append(f"{name} {count}, lexbor {first}+{second}")
    return found


def _survives(text: str) -> bool:
    try:
        page.read(text.encode("utf-8", "surrogatepass"))
        page.unread(text.encode("utf-8", "surrogatepass"), "", "")
    except Exception as error:  # any escape is the finding
        print(f"{text!r}: {error!r}")
        return False
    return True


def _charset_right(case: dict[str, str]) -> bool:
    """Where the case expects the parser's default (windows-1252), nothing must be found: ours is UTF-8."""
    body = case["data_latin1"].encode("latin-1")
    wanted = case["encoding"].lower()
    if wanted == "windows-1252" and charset.decide(body) == charset.DEFAULT:
        return charset.from_meta(body) == ""
    return charset.decide(body) == wanted
