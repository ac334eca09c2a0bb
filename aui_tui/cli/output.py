"""Printing and writing of cards."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

from aui_tui.cli import streams
from aui_tui.cli.options import one_of
from aui_tui.cli.run import Run
from aui_tui.cli.terminal import Paint
from aui_tui.errors import BadValue, ConfigError
from aui_tui.files import check_place, replace, user_path
from aui_tui.model.codec import Keys, encode_card
from aui_tui.model.report import HostReport
from aui_tui.model.vocabulary import choose
from aui_tui.report.export import write_cards
from aui_tui.report.formats import CARD_FORMATS, HostResult, Refusal, format_of

READABLE, TEXT, RECORD = PRINTED = ("readable", "text", "record")
"""Forms beside the formats of files: for a terminal, plain sentences, one line of JSON."""


def report(as_json: bool, record: Mapping[str, object], lines: Iterable[str]) -> None:
    """Print ``record`` as one line of JSON where that is wanted, else ``lines``; raises as :func:`emit`."""
    if as_json:
        emit([json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"], None)
    else:
        emit((line + "\n" for line in lines), None)


FOLDERS: Final = ("", "public", "static", "site", "www", "htdocs", "src", "app", "docs", "dist", "build")
"""Where a repository keeps what its site serves."""
ANY_FILE: Final = ("README.md", "README.rst", "README", "package.json", "pyproject.toml")


def located(path: str) -> str:
    """Return a file below the current folder that ``path`` on the site may come from, else any; empty for none.

    Code scanning shows a problem at a file, and the file has to exist.
    """
    name = path.strip("/") or "index.html"
    candidates = [f"{folder}/{name}".lstrip("/") for folder in FOLDERS]
    candidates += [f"{folder}/index.html".lstrip("/") for folder in FOLDERS]
    return next((candidate for candidate in (*candidates, *ANY_FILE) if Path(candidate).is_file()), "")


def keys_of(run: Run) -> Keys:
    """Return the keys of the JSON that the settings ask for."""
    return "slots" if run.settings.json_keys == "slots" else "names"


def path_of(text: str) -> Path | None:
    """Return the file that ``--output`` names; None for standard output. Raises ConfigError.

    What can be known before the work is refused before it: a folder that is not there, or a name that is a folder's.
    """
    if "\0" in text:
        raise ConfigError("--output must be the path of a file.")
    if not text or text == "-":
        return None
    path = user_path(text)
    check_place(path)
    return path


def emit(chunks: Iterable[str], path: Path | None) -> None:
    """Write ``chunks`` to ``path`` in one step, or to standard output as long as somebody reads.

    A reader that leaves changes nothing else: a failed gate still fails. Raises ConfigError.
    """
    if path is None:
        with contextlib.suppress(streams.ClosedPipe):
            for chunk in chunks:
                streams.write(chunk)
            streams.flush()
        return
    replace(path, chunks)


def format_for(path: Path | None, name: str, allowed: Sequence[str]) -> str:
    """Return the format called ``name``, else that of the ending of ``path``; empty for neither. Raises BadValue."""
    if not name and path is not None and path.suffix:
        return format_of(path, allowed)
    return choose("format", name, tuple(allowed)) if name else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardForm:
    """How report cards are printed: ``name`` is READABLE, TEXT, RECORD or a format of files; ``others``: also so."""

    run: Run
    name: str = READABLE
    fields: str = ""
    details: bool = False
    path: Path | None = None
    others: tuple[CardForm, ...] = ()

    @classmethod
    def of(cls, run: Run, params: Mapping[str, Any]) -> CardForm:
        """Return the form that the options ``params`` ask for. Raises BadValue or ConfigError."""
        as_json, text, fields = params["as_json"], params.get("text", False), params.get("fields", "")
        format_name = params.get("format_name", "")
        one_of(json=as_json, text=text, format=format_name)
        first, *further = params["output"] or [""]
        path = path_of(first)
        plain = TEXT if text or run.settings.text else READABLE
        name = RECORD if as_json else plain if text else format_for(path, format_name, CARD_FORMATS) or plain
        if name not in PRINTED:
            write_cards(name, (), fields=fields)
        elif fields:
            raise BadValue("--fields needs --format, for example --format json.")
        also = tuple(cls.of(run, {**params, "output": [file], "details": False}) for file in further)
        return cls(run=run, name=name, fields=fields, details=params.get("details", False), path=path, others=also)

    def write(self, results: Sequence[HostResult], *, many: bool = False) -> None:
        """Write ``results`` in this form, and in the others."""
        for form in (self, *self.others):
            emit(form.chunks(results, many=many), form.path)
        reports = [result.answer for result in results if isinstance(result.answer, HostReport)]
        if self.name not in PRINTED:  # a document has no place for them
            emit((line + "\n" for report in reports for line in self._exchanges(report)), None)

    @property
    def streams(self) -> bool:
        """Whether each card is printed as soon as it is there."""
        return self.path is None and self.name in PRINTED

    @property
    def record(self) -> bool:
        """Whether cards are printed as records of one line."""
        return self.name == RECORD

    def chunks(self, results: Sequence[HostResult], *, many: bool = False, below: bool = False) -> Iterator[str]:
        """Yield ``results`` in this form; ``many``: as a list even of one, ``below``: after earlier results."""
        if self.name in PRINTED:
            for number, result in enumerate(results):
                yield "\n" if (number or below) and not self.record else ""
                yield from (line + "\n" for line in self._lines(result))
            return
        yield from write_cards(
            self.name,
            results,
            fields=self.fields,
            keys=keys_of(self.run),
            deterministic=self.run.settings.deterministic,
            many=many,
            locate=located,
        )

    def _lines(self, result: HostResult) -> Iterable[str]:
        from aui_tui.cli.cardview import lines, sentences

        paint = Paint.for_output(ascii_only=self.run.settings.ascii) if self.path is None else Paint()
        answer = result.answer
        if isinstance(answer, Refusal):
            if self.record:
                return [json.dumps({"found": False, **answer._asdict()}, ensure_ascii=False, separators=(",", ":"))]
            if self.name == TEXT:
                return [f"{answer.host} was not scanned. {answer.detail}"]
            return [
                answer.host,
                *paint.hanging(f"{paint.glyph('critical')} Not scanned: ", answer.detail, style="critical"),
            ]
        if self.record:
            return self._exchanges(answer) if self.details else [encode_card(answer.card, keys_of(self.run)).decode()]
        told = (
            sentences(answer, note=result.note)
            if self.name == TEXT
            else lines(answer, paint, note=result.note, details=self.details, now=time.time())
        )
        return chain(told, self._exchanges(answer))

    def _exchanges(self, report: HostReport) -> Iterator[str]:
        """Yield each request and answer where ``details`` asks for them: as one line of JSON, else side by side."""
        if not self.details:
            return
        from aui_tui.cli.cardview import exchanges
        from aui_tui.report.exchanges import encode_exchanges

        if report.observations is None:
            streams.say(f"This source keeps no exchanges of {report.card.host}; scan it here to record them.")
        elif self.record:
            yield encode_exchanges(report.observations).decode()
        else:
            yield from map(Paint(ascii=self.run.settings.ascii).plain, exchanges(report))
