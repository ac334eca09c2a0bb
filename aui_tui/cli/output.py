"""Options on how a card or an index is printed, and the printing."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from aui_tui.cli import complete, streams
from aui_tui.cli.options import given, one_of, words
from aui_tui.cli.run import Run
from aui_tui.cli.streams import Paint
from aui_tui.errors import BadValue, ConfigError
from aui_tui.model.codec import Keys, encode_card
from aui_tui.model.vocabulary import choose

if TYPE_CHECKING:
    from aui_tui.model.view import HostReport
    from aui_tui.report.gates import Outcome
    from aui_tui.report.options import Refusal

OUTPUT: Final = "Output"
_option = partial(typer.Option, rich_help_panel=OUTPUT)
READABLE, TEXT, RECORD = "readable", "text", "record"
"""Forms beside the formats of ``export``: for a terminal, plain sentences, one line of JSON."""

Json = Annotated[bool, _option("--json", help="Print the record, one line of JSON.")]
Linear = Annotated[bool, _option("--text", help="Print plain sentences, for a screen reader.")]
KeyNames = Annotated[
    str,
    _option(
        "--keys",
        metavar="names|slots",
        help="Keys in the JSON: product names or positions.",
        autocompletion=complete.of(("names", "slots")),
    ),
]
DOCUMENTS: Final = ("json", "ndjson", "csv", "markdown", "html")
REPORTS: Final = ("junit", "sarif", "github", "gitlab")
CARD_FORMATS: Final = (*DOCUMENTS, *REPORTS)
"""Formats of report cards; those of a list are DOCUMENTS. The table of ``export`` is not loaded for a help."""
FormatName = Annotated[str, _option("--format", "-f", metavar="NAME", **words(CARD_FORMATS, "Format"))]
File = Annotated[str, _option("--output", "-o", metavar="FILE", help="Write to FILE, whole or not at all.")]
Fields = Annotated[
    str,
    _option("--fields", metavar="A,B.C", help="Only these fields (json, ndjson, csv).", autocompletion=complete.fields),
]
Details = Annotated[bool, _option("--details", help="Print all of the report, not its answer alone.")]
Deterministic = Annotated[bool, _option("--deterministic", help="Leave out what changes from run to run.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormOptions:
    """How report cards are printed, as asked for."""

    as_json: Json = False
    linear: Linear = False
    format_name: FormatName = ""
    output: File = ""
    fields: Fields = ""
    deterministic: Deterministic = False
    keys: KeyNames = "names"
    details: Details = False


Report = Annotated[bool, typer.Option("--json", help="Print the same as JSON, one object per line.")]


def report(as_json: bool, record: Mapping[str, object], lines: Iterable[str]) -> None:
    """Print ``record`` as one line of JSON where that is wanted, else ``lines``; raises as :func:`emit`."""
    if as_json:
        emit([json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"], None)
    else:
        emit((line + "\n" for line in lines), None)


OnProgress = Callable[..., None]
"""Called with how much is done, and of how much where that is known."""


@contextlib.contextmanager
def showing_progress(what: str, *, quiet: bool) -> Iterator[OnProgress]:
    """Yield the callback that shows the progress of ``what``."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield lambda done, total=None: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(30), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True, highlight=False), transient=True) as progress:
        task = progress.add_task(what, total=None)

        def tell(done: int, total: int | None = None) -> None:
            progress.update(task, completed=done, total=total)

        yield tell


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
    return next((one for one in (*candidates, *ANY_FILE) if Path(one).is_file()), "")


def keys_of(word: str) -> Keys:
    """Return the checked value of ``--keys``. Raises BadValue."""
    return "slots" if choose("value of --keys", word, ("names", "slots")) == "slots" else "names"


def path_of(text: str) -> Path | None:
    """Return the file that ``--output`` names; None for standard output. Raises ConfigError.

    What can be known before the work is refused before it: a folder that is not there, or a name that is a folder's.
    """
    if "\0" in text:
        raise ConfigError("--output must be the path of a file.")
    if not text or text == "-":
        return None
    from aui_tui.report.atomic import check_place

    path = Path(text).expanduser()
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
    from aui_tui.report.atomic import replace

    replace(path, chunks)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardForm:
    """How report cards are printed: ``name`` is READABLE, TEXT, RECORD or a format of ``export``."""

    name: str
    keys: Keys
    fields: str
    deterministic: bool
    path: Path | None
    details: bool = False

    @classmethod
    def of(cls, context: typer.Context) -> CardForm:
        """Return the form that the options ask for. Raises BadValue or ConfigError."""
        asked = given(context, FormOptions)
        chosen = one_of(json=asked.as_json, text=asked.linear, format=asked.format_name)
        form = cls(
            name={"--json": RECORD, "--text": TEXT}.get(chosen, asked.format_name or READABLE),
            keys=keys_of(asked.keys),
            fields=asked.fields,
            deterministic=asked.deterministic,
            path=path_of(asked.output),
            details=asked.details,
        )
        form._check()
        return form

    def _check(self) -> None:
        if self.name in (READABLE, TEXT, RECORD):
            if self.fields or self.deterministic:
                raise BadValue("--fields and --deterministic need --format, for example --format json.")
            return
        from aui_tui.report.formats import write_cards

        write_cards(self.name, (), fields=self.fields)

    @property
    def streams(self) -> bool:
        """Whether each card is printed as soon as it is there."""
        return self.path is None and self.name in (READABLE, TEXT, RECORD)

    @property
    def record(self) -> bool:
        """Whether cards are printed as records of one line."""
        return self.name == RECORD

    def chunks(
        self,
        run: Run,
        reports: Sequence[HostReport],
        *,
        notes: Mapping[str, str] | None = None,
        gates: Mapping[str, Outcome] | None = None,
        many: bool = False,
        refused: Sequence[Refusal] = (),
    ) -> Iterator[str]:
        """Yield ``reports`` in this form, then the hosts that were ``refused``.

        ``notes`` say by host how a report came about, ``gates`` what the gates said.
        """
        if self.name not in (READABLE, TEXT, RECORD):
            from aui_tui.report.formats import write_cards

            yield from write_cards(
                self.name,
                reports,
                fields=self.fields,
                keys=self.keys,
                deterministic=self.deterministic,
                many=many,
                gates=gates,
                refused=refused,
                locate=located,
            )
            return
        for number, report in enumerate(reports):
            if number and self.name != RECORD:
                yield "\n"
            yield from self._report(run, report, (notes or {}).get(report.card.host, ""))
        for number, one in enumerate(refused, len(reports)):
            if number and self.name != RECORD:
                yield "\n"
            yield from self._refused(run, one)

    def _refused(self, run: Run, one: Refusal) -> Iterator[str]:
        if self.name == RECORD:
            from aui_tui.report.data import ndjson_cards
            from aui_tui.report.options import Options

            yield from ndjson_cards((), Options(refused=(one,)))
        elif self.name == TEXT:
            yield f"{one.host} was not scanned. {one.detail}\n"
        else:
            paint = self._paint(run)
            yield f"{one.host}\n"
            yield from (
                line + "\n"
                for line in paint.hanging(f"{paint.glyph('critical')} Not scanned: ", one.detail, style="bad")
            )

    def _paint(self, run: Run) -> Paint:
        return Paint.for_output(ascii_only=run.settings.ascii) if self.path is None else Paint()

    def _report(self, run: Run, report: HostReport, note: str) -> Iterator[str]:
        from aui_tui.cli.cardview import lines, sentences

        if self.name == RECORD:
            yield encode_card(report.card, self.keys).decode() + "\n"
        elif self.name == TEXT:
            yield from (line + "\n" for line in sentences(report, note=note))
        else:
            shown = lines(report, self._paint(run), note=note, details=self.details, now=time.time())
            yield from (line + "\n" for line in shown)
