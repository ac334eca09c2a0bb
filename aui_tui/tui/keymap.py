"""The person's own keys, checked whole before the screen is touched."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from textual.keys import Keys, _character_to_key

from aui_tui.errors import ConfigError
from aui_tui.text import clean
from aui_tui.tui.bindings import APP, TABLES

MODIFIERS: Final = frozenset({"ctrl", "shift", "alt", "super"})
_NAMED: Final = frozenset(key.value for key in Keys if "<" not in key.value and "+" not in key.value)


def checked(keymap: Mapping[str, str]) -> dict[str, str]:
    """Return ``keymap`` with its keys in Textual's spelling.

    Raises ConfigError with one sentence for every problem: an unknown id or key with the nearest name, and two
    actions on one key in one place.
    """
    known = {binding.id: binding for table in TABLES.values() for binding in table}
    problems: list[str] = []
    out: dict[str, str] = {}
    for name, keys in keymap.items():
        if name not in known:
            problems.append("unknown action " + repr(clean(name, 40)) + _near(name, [k for k in known if k]))
            continue
        spelled = [_spell(key.strip()) for key in keys.split(",")]
        for key, found in zip(keys.split(","), spelled, strict=True):
            if not found:
                problems.append(name + ": unknown key " + repr(clean(key.strip(), 40)) + _near(key.strip(), _NAMED))
        if all(spelled):
            out[name] = ",".join(spelled)
    if not problems:
        problems = _clashes(out)
    if problems:
        raise ConfigError("The keys cannot be used: " + "; ".join(problems) + ".")
    return out


def _near(word: str, words: object) -> str:
    names = [str(each) for each in words] if isinstance(words, list | frozenset) else []
    hit = get_close_matches(word, names, n=1)
    return ", did you mean " + hit[0] + "?" if hit else ""


def _spell(key: str) -> str:
    """Return a key in Textual's spelling, empty for one that no terminal sends."""
    *modifiers, last = key.split("+") if len(key) > 1 and not key.endswith("++") else [key]
    if any(modifier not in MODIFIERS for modifier in modifiers) or len(set(modifiers)) < len(modifiers):
        return ""
    if len(last) == 1 and last.isprintable():
        last = _character_to_key(last) if not modifiers else last
    elif last not in _NAMED and not _is_symbol(last):
        return ""
    return "+".join((*modifiers, last))


def _is_symbol(name: str) -> bool:
    return any(_character_to_key(chr(code)) == name for code in range(33, 127))


def _clashes(changes: Mapping[str, str]) -> list[str]:
    problems: list[str] = []
    for place, table in TABLES.items():
        if place == "everywhere":
            continue
        seen: dict[str, str] = {}
        for binding in (*table, *(() if place in ("window", "choice", "search", "find") else APP)):
            name = binding.id or ""
            for key in changes.get(name, binding.key).split(","):
                other = seen.setdefault(key, name)
                if other != name and (name in changes or other in changes):
                    problems.append(" ".join((key, "is both", other, "and", name, "in the", place)))
    return list(dict.fromkeys(problems))
