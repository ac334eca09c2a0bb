"""Commands on report cards that are kept or lie in files: ``site``, ``diff``, ``plan``, ``badge``, ``regrade``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from aui_tui.cli import complete, sources, streams
from aui_tui.cli.gating import GateOptions, Gating
from aui_tui.cli.options import Host, Method, example, method_of, one_of, run_of, taking, words
from aui_tui.cli.output import READABLE, RECORD, TEXT, CardForm, Deterministic, File, FormOptions, Report, emit, path_of
from aui_tui.cli.run import Run, fail
from aui_tui.cli.sources import only_under, opened, report_of
from aui_tui.errors import AuiError, BadValue, ConfigError, RecordError, Unavailable
from aui_tui.model.card import ReportCard
from aui_tui.model.observations import Observations
from aui_tui.model.view import HostReport
from aui_tui.model.vocabulary import GRADES, choose
from aui_tui.report.gates import Outcome, worst
from aui_tui.service.protocol import Service
from aui_tui.text import clean

app = typer.Typer()

DIFF_FORMATS: Final = ("text", "json", "markdown")
"""Their writers are not loaded for a help."""


def _exchanges(report: HostReport, form: CardForm) -> Iterator[str]:
    """Yield the exchanges of a scan: as one line of JSON, else side by side. Raises BadValue or Unavailable."""
    from aui_tui.model.exchanges import as_text, compared, encode_exchanges, names

    if form.name not in (READABLE, TEXT, RECORD):
        raise BadValue("--exchanges can be used with --json or --text only; leave --format out.")
    seen = report.observations
    if seen is None:
        raise Unavailable(f"This source keeps no exchanges of {report.card.host}; scan it here to record them.")
    if form.name == RECORD:
        yield encode_exchanges(seen).decode() + "\n"
        return
    live = {exchange.name for exchange in seen.live}
    yield "\n".join(as_text(compared(seen, name)) for name in names(seen) if name in live)


@app.command("site", cls=taking(FormOptions, GateOptions), epilog=example("aui-tui site example.com --text"))
def site(
    context: typer.Context,
    host: Host,
    method: Method = "",
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="TIME",
            help="Show the kept scan whose time begins with TIME.",
            autocompletion=complete.times,
        ),
    ] = "",
    exchanges: Annotated[
        bool, typer.Option("--exchanges", help="Print each request and answer beside the browser's.")
    ] = False,
) -> int:
    """Print the stored report card of a host, without scanning."""
    run = run_of(context)
    form = CardForm.of(context)
    gating = Gating.of(context)
    method = method_of(method)

    async def work() -> tuple[HostReport, Outcome]:
        async with opened(run) as service:
            report = await sources.at(service, host, at or sources.LAST, method=method)
            return report, await gating.judge(service, report.card, report)

    report, outcome = run.wait(work())
    card = report.card
    if exchanges:
        emit(_exchanges(report, form), form.path)
        return outcome.exit_code
    scans = len(report.history)
    notes = {card.host: f"scan {scans} of this host"} if scans > 1 else {}
    emit(form.chunks(run, [report], notes=notes, gates=gating.by_host([outcome])), form.path)
    return outcome.exit_code


USAGE = "diff takes HOST, or HOST TIME TIME, or two names: a host or a file each."


def _one(name: str) -> ReportCard:
    found = sources.read(name)
    if len(found) != 1:
        raise BadValue(f"{name} holds {len(found)} cards; diff takes files with one card each.")
    return found[0]


async def _of_host(service: Service, host: str, times: Sequence[str], method: str) -> tuple[ReportCard, ReportCard]:
    if times:
        first, second = [(await sources.at(service, host, when, method=method)).card for when in times]
        return first, second
    report = await report_of(service, host, method=method)
    return sources.before(report), report.card


async def _side(service: Service, side: str | ReportCard, method: str) -> ReportCard:
    return side if isinstance(side, ReportCard) else (await report_of(service, side, method=method)).card


@app.command("diff", cls=taking(), epilog=example("aui-tui diff example.com 2026-11-01 last --format markdown"))
def diff(
    context: typer.Context,
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="HOST [TIME TIME] | A B", help="A host, a host with two times, or two names: a host or a file each."
        ),
    ],
    form: Annotated[str, typer.Option("--format", "-f", metavar="NAME", **words(DIFF_FORMATS, "Format"))] = "",
    method: Method = "",
    output: File = "",
    deterministic: Deterministic = False,
    as_json: Report = False,
) -> None:
    """Show field by field what changed between two cards: a host's last two scans, or any two.

    TIME is the beginning of a kept scan's time, such as 2026-11-20, or first, or last.
    """
    from aui_tui.report.changes import diff as difference
    from aui_tui.report.diff import write

    run = run_of(context)
    one_of(json=as_json, format=form)
    form, path = choose("format", form or ("json" if as_json else "text"), DIFF_FORMATS), path_of(output)
    method = method_of(method)
    if len(what) not in (1, 2, 3) or (len(what) != 2 and sources.is_file(what[0])):
        raise BadValue(USAGE)
    if len(what) != 2 and run.settings.source:
        raise ConfigError("A published index has no earlier scans; name two hosts or files.")
    sides = [_one(name) if sources.is_file(name) else name for name in what] if len(what) == 2 else []

    async def work() -> tuple[ReportCard, ReportCard]:
        match sides:
            case [ReportCard() as before, ReportCard() as after]:
                return before, after
        async with opened(run) as service:
            match sides:
                case [one, other]:
                    return await _side(service, one, method), await _side(service, other, method)
            return await _of_host(service, what[0], what[1:], method)

    pair = run.wait(work())
    if method:
        pair = (only_under(pair[0], method), only_under(pair[1], method))
    emit(write(difference(*pair), form, deterministic=deterministic), path)


def _report(run: Run, host: str, method: str = "") -> HostReport:
    async def work() -> HostReport:
        async with opened(run) as service:
            return await report_of(service, host, method=method)

    return run.wait(work())


PARTLY = 1
"""Exit code when no set of fixes reaches the goal."""


def _checked(public_url: str, tester: str) -> tuple[str, str]:
    """Return the addresses that advice is written for, in their usual form. Raises BadValue for a bad one."""
    from aui_tui.scan import target

    if tester and target.parse_address(tester) is None:
        raise BadValue(f"--tester takes an IP address such as 198.51.100.7, not “{clean(tester, 60)}”.")
    if public_url:
        public_url = str(target.parse(public_url, allow_private=True).origins[0])
    return public_url, tester


@app.command("plan", cls=taking(), epilog=example("aui-tui plan example.com --grade B --write fixes/"))
def plan(
    context: typer.Context,
    host: Host,
    grade: Annotated[
        str,
        typer.Option(
            "--grade",
            metavar="A|B|C|D|F",
            help="The goal as a grade; default: the next one.",
            autocompletion=complete.of(GRADES),
        ),
    ] = "",
    score: Annotated[
        int | None, typer.Option("--score", metavar="N", min=0, max=100, help="The goal as a score.")
    ] = None,
    method: Method = "",
    folder: Annotated[str, typer.Option("--write", metavar="DIR", help="Write the files and a README there.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
    public_url: Annotated[
        str, typer.Option("--public-url", metavar="URL", help="The site's public address, for a local scan.")
    ] = "",
    tester: Annotated[
        str, typer.Option("--tester", metavar="ADDRESS", help="The address you scan from, for server rules.")
    ] = "",
    with_claims: Annotated[
        bool, typer.Option("--with-claims", help="Also fixes that need something you must have, such as an MCP server.")
    ] = False,
    json_out: Report = False,
) -> int:
    """Name the cheapest set of fixes that reaches a grade, and write their files on request."""
    from aui_tui.report.plan import as_json, lines, plan_for, write_files

    run = run_of(context)
    method = method_of(method)
    grade = choose("grade", grade, GRADES) if grade else ""
    one_of(grade=grade, score=score is not None)

    public_url, tester = _checked(public_url, tester)
    found, site = plan_for(
        _report(run, host, method),
        grade=grade,
        score=score,
        public_url=public_url,
        tester=tester,
        with_claims=with_claims,
    )
    written = write_files(found, Path(folder).expanduser(), site, force=force) if folder else []
    emit([as_json(found, site)] if json_out else (line + "\n" for line in lines(found)), None)
    for path in () if run.quiet else written:
        streams.say(f"wrote {path}")
    return 0 if found.reached else PARTLY


@app.command("badge", cls=taking(), epilog=example("aui-tui badge example.com -o badge.svg"))
def badge(context: typer.Context, host: Host, output: File = "") -> None:
    """Write the grade and score of a host as a self-contained SVG badge."""
    run = run_of(context)
    from aui_tui.report.page import badge as drawn

    path = path_of(output)
    emit([drawn(_report(run, host).card)], path)


def _again(card: ReportCard, seen: Observations, method: str) -> ReportCard:
    """Return what was seen by the scan of ``card``, graded again. Raises RecordError when it is of another host."""
    from aui_tui.service.grading import Grading

    if seen.host != card.host:
        raise RecordError(f"The observations are of {seen.host}, the card is of {card.host}.")
    return Grading(method, card.url.partition("/site/")[0]).again(card, seen)


@app.command("regrade", cls=taking(FormOptions), epilog=example("aui-tui regrade cards.ndjson --method v0.1 --json"))
def regrade_cards(
    context: typer.Context,
    what: Annotated[
        list[str], typer.Argument(metavar="HOST|FILE...", help="Stored hosts, or files of cards; - reads stdin.")
    ],
    method: Method,
) -> int:
    """Grade cards again under a method, from what was seen then; nothing is stored."""
    run = run_of(context)
    form = CardForm.of(context)
    method = method_of(method)
    found: list[ReportCard] = []
    codes: list[int] = []

    def of_file(name: str) -> None:
        for card, seen in sources.read_scans(name):
            try:
                found.append(only_under(card, method) if seen is None else _again(card, seen, method))
            except AuiError as error:
                codes.append(fail(error))

    async def of_hosts(names: Sequence[str]) -> None:
        async with opened(run) as service:
            for name in names:
                try:
                    found.append((await report_of(service, name, method=method)).card)
                except AuiError as error:
                    codes.append(fail(error))

    hosts = [name for name in what if not sources.is_file(name)]
    for name in what:
        if sources.is_file(name):
            of_file(name)
    if hosts:
        run.wait(of_hosts(hosts))
    if found:
        emit(form.chunks(run, [HostReport(card=card) for card in found], many=len(found) > 1), form.path)
    return worst(codes)
