"""Sources of cards for a command: the index of this machine, a published one, or files of records."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, aclosing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from aui_tui import files
from aui_tui.cli import streams
from aui_tui.cli.run import Run
from aui_tui.errors import BadValue, ConfigError, RecordError
from aui_tui.files import STDIN
from aui_tui.model.methods import DEFAULT_METHOD
from aui_tui.model.vocabulary import nearest
from aui_tui.service.protocol import Service
from aui_tui.text import clean

if TYPE_CHECKING:
    from aui_tui.model.card import ReportCard
    from aui_tui.model.observations import Observations
    from aui_tui.model.options import Accepted
    from aui_tui.model.report import HostReport
    from aui_tui.scan.policy import ScanPolicy
    from aui_tui.service.local import LocalService
    from aui_tui.settings import Settings


def service_of(run: Run, access: ScanPolicy | None = None) -> Service:
    """Return the service of the settings, to be closed by the caller; ``access`` is what a scan here may do.

    Raises ConfigError when the data folder cannot be used or ``access`` is given for a published index.
    """
    if not run.settings.source:
        return local_of(run, access)
    if access is not None:
        raise ConfigError(
            "Options and settings on how to reach a site cannot be used with --source: leave these out, or --source."
        )
    from aui_tui.service.remote import open_source

    return open_source(run.settings.source)


def local_of(run: Run, access: ScanPolicy | None = None) -> LocalService:
    """Return the index of this machine, having reported what had to be repaired. Raises ConfigError, Unavailable."""
    from aui_tui.service.local import LocalService

    settings = run.settings
    if settings.declared or settings.sites:
        from aui_tui.scan.policy import KEYBOARD, OwnSite

        access = dataclasses.replace(
            access or KEYBOARD,
            declared=settings.declared,
            sites={host: OwnSite(site.headers, site.basic_auth_env) for host, site in settings.sites.items()},
        )
    service = LocalService(
        settings.data_dir,
        base_url=settings.base_url,
        method=settings.method,
        access=access,
        accept=accepted(settings),
    )
    for sentence in service.warnings:
        streams.say(sentence)
    return service


def accepted(settings: Settings) -> Accepted:
    """Return the findings that the settings accept, by host and id. Raises ConfigError for one that does not exist."""
    if settings.accept:
        from aui_tui.checks.evidence import sentences

        for host, name in ((host, name) for host, listed in settings.accept.items() for name in listed):
            if name not in sentences():
                hint = nearest(name, sentences()) or "the ids stand in the reports of --format sarif."
                place = f"{clean(settings.origins['accept'], 200)}: accept.{clean(host, 80)}"
                raise ConfigError(f"{place}: unknown finding {clean(name, 60)!r}; {hint}")
    return settings.accept


def opened(run: Run, access: ScanPolicy | None = None) -> AbstractAsyncContextManager[Service]:
    """Return the service of the settings, closed at the end of its block; raises as :func:`service_of`."""
    return aclosing(service_of(run, access))


def local(run: Run, access: ScanPolicy | None = None) -> AbstractAsyncContextManager[LocalService]:
    """Return the index of this machine, closed at the end of its block; raises as :func:`local_of`."""
    return aclosing(local_of(run, access))


async def report_of(service: Service, host: str, *, method: str = "", at: str = "") -> HostReport:
    """Return what ``service`` knows of ``host`` under ``method``, having reported how old the answer is.

    Raises as ``Service.site``.
    """
    report = await service.site(host, method=method, at=at)
    if report.notice:
        streams.say(report.notice)
    return report


def only_local(run: Run, what: str) -> None:
    """Raise ConfigError when a published index is set; ``what`` begins the sentence."""
    if run.settings.source:
        raise ConfigError(f"{what} works on the index of this machine, not on --source {run.settings.source}.")


def is_file(name: str) -> bool:
    """Return whether ``name`` means a file of cards rather than a host: ``-``, a JSON file, or one that is there."""
    return (
        name == STDIN
        or name.endswith((".json", ".ndjson", ".jsonl", ".recording"))
        or ("\0" not in name and Path(name).is_file())
    )


@contextmanager
def reading(name: str) -> Iterator[BinaryIO]:
    """Open the file ``name`` while the block runs, ``-`` for standard input. Raises ConfigError."""
    if name == STDIN:
        yield streams.source()
    else:
        with files.reading(name) as file:
            yield file


MAX_BYTES: Final = 512 * 1024 * 1024
"""A file of records larger than this is refused."""


def read_bytes(name: str) -> bytes:
    """Return what the file ``name`` holds. Raises as :func:`reading`, and RecordError for more than MAX_BYTES."""
    with reading(name) as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise RecordError(f"{clean(name, 200)} is larger than {MAX_BYTES >> 20} MiB.")
    return data


def read(name: str) -> tuple[ReportCard, ...]:
    """Return the cards in the file ``name``. Raises as :func:`read_scans`."""
    return tuple(card for card, _ in read_scans(name))


def read_scans(name: str) -> tuple[tuple[ReportCard, Observations | None], ...]:
    """Return the cards in the file ``name``, each with what was seen where the file has that.

    Raises ConfigError, or RecordError naming the record at fault.
    """
    from aui_tui.service.importer import read as records

    data, shown = read_bytes(name), clean(name, 200)
    if scan := _recorded(data):
        return (scan,)
    scans = []
    for record in records(io.BytesIO(data)):
        if record.card is None:
            raise RecordError(
                f"{shown}, {record.place}: {record.error or 'This is a row of an index, not a report card.'}"
            )
        scans.append((record.card, record.observations))
    if not scans:
        raise RecordError(f"{shown} holds no report card.")
    return tuple(scans)


def _recorded(data: bytes) -> tuple[ReportCard, Observations] | None:
    """Return the scan in a recording, graded; None where ``data`` is something else. Raises RecordError."""
    import json  # a first frame reads no recording

    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or "recording" not in document:
        return None
    from aui_tui.checks.scoring import Labels, grade_card
    from aui_tui.model.observations import decode_recording

    recording = decode_recording(data)
    labels = Labels(name=recording.name, category=recording.category, seed=recording.seed)
    return grade_card(recording.observations, DEFAULT_METHOD, labels=labels), recording.observations


FIRST, LAST = "first", "last"
SHOWN: Final = 5
"""Times named when none fits."""


async def at(service: Service, host: str, when: str, *, method: str = "") -> HostReport:
    """Return the latest kept scan of ``host`` whose time begins with ``when``, or its ``first`` or ``last`` one.

    Raises NeverScanned, and BadValue naming the kept times when none fits.
    """
    latest = await report_of(service, host, method=method)
    times = [point.scanned_at for point in latest.history] or [latest.card.scanned_at]
    if when.casefold() == LAST:
        return latest
    if when.casefold() == FIRST:
        chosen = times[0]
    else:
        beginning = when.strip().upper().replace(" ", "T")
        fitting = [time for time in times if beginning and time.startswith(beginning)]
        if not fitting:
            named = ", ".join(reversed(times[-SHOWN:]))
            rest = f" and {len(times) - SHOWN} more" if len(times) > SHOWN else ""
            raise BadValue(f"No kept scan of {clean(host, 80)} begins with {clean(when, 40)!r}; kept: {named}{rest}.")
        chosen = fitting[-1]
    return latest if chosen == latest.card.scanned_at else await report_of(service, host, method=method, at=chosen)
