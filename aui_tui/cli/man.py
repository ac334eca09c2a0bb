"""The man page, made from the commands and options that the program has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from aui_tui import docs

EXIT: Final = (
    ("0", "done"),
    ("1", "a gate failed, a list had bad rows, or the doctor found something wrong"),
    ("2", "usage, configuration, or no valid host"),
    ("3", "unreachable, never scanned, or inconclusive"),
    ("4", "rate limited"),
    ("130", "interrupted"),
)


def page(command: Any) -> Iterator[str]:
    """Yield the lines of the man page (roff, man macros) of the whole program; ``command`` is its Click group."""
    yield r'.TH AUI\-TUI 1 "" "aui\-tui" "User Commands"'
    yield from _section("NAME", r"aui\-tui \- how usable is a website by AI agents that act live for a person")
    yield ".SH SYNOPSIS"
    yield from (r".B aui\-tui", r"[\fIOPTIONS\fR] [\fICOMMAND\fR [\fIARGS\fR]...]")
    yield from _section("DESCRIPTION", _text(command.help), "Without a command it opens the dashboard.")
    yield ".SH COMMANDS"
    for name, one in command.commands.items():
        yield from _entry(rf"\fB{_text(name)}\fR", (one.help or "").partition("\n\n")[0])
    yield r"\fBaui\-tui\fR \fICOMMAND\fR \fB\-\-help\fR shows the options of a command."
    yield ".SH OPTIONS"
    for option in command.params:
        names = ", ".join(rf"\fB{_text(name)}\fR" for name in option.opts)
        value = rf" \fI{_text(option.metavar)}\fR" if option.metavar and not option.is_flag else ""
        yield from _entry(names + value, option.help or "")
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT:
        yield from _entry(rf"\fB{code}\fR", meaning)
    yield ".SH ENVIRONMENT"
    yield from _entry(r"\fBAUI_TUI_HOME\fR", "Folder of cards, cache and quota.")
    yield from _entry(r"\fBAUI_TUI_\fR\fISETTING\fR", "Any setting that aui-tui config lists, in capitals.")
    yield from _entry(r"\fBNO_COLOR\fR", "No colour in the output of commands.")
    yield ".SH FILES"
    yield r"\fBaui\-tui paths\fR prints every place where the program keeps or looks for something."
    yield ".SH SEE ALSO"
    topics = ", ".join(docs.TOPICS)
    yield _text(f"aui-tui help TOPIC, where TOPIC is one of {topics}.")


def _section(title: str, *paragraphs: str) -> Iterator[str]:
    yield f".SH {title}"
    for number, paragraph in enumerate(paragraphs):
        if number:
            yield ".PP"
        yield paragraph


def _entry(name: str, meaning: str) -> Iterator[str]:
    yield ".TP"
    yield name
    yield _text(meaning)
    yield ".PP"


def _text(text: str) -> str:
    """Return ``text`` so that roff shows exactly it, on one line."""
    plain = " ".join(text.split()).replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^([.'])", r"\\&\1", plain)
