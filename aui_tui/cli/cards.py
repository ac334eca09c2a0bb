"""Commands on report cards that are kept or lie in files: ``site``, ``diff``, ``plan``, ``badge``, ``regrade``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Final

import typer

from aui_tui.cli import complete, options, sources, streams
from aui_tui.cli.gating import Gating
from aui_tui.cli.output import CardForm, emit, format_for, path_of
from aui_tui.cli.parser import App, run_for
from aui_tui.cli.run import Run, fail
from aui_tui.cli.site_options import site_of
from aui_tui.cli.sources import opened, report_of
from aui_tui.cli.terminal import Paint
from aui_tui.errors import AuiError, BadValue, ConfigError, RecordError
from aui_tui.files import user_path
from aui_tui.model.card import ReportCard
from aui_tui.model.observations import Observations
from aui_tui.model.report import HostReport
from aui_tui.model.vocabulary import GRADES, choose
from aui_tui.report.formats import HostResult
from aui_tui.report.gates import GateOutcome, worst
from aui_tui.text import clean

app = App()

DIFF_FORMATS: Final = ("text", "json", "markdown")
"""Their writers are not loaded for a help."""


@app.command("site", epilog="Example: aui-tui site example.com --text")
def site(
    context: typer.Context,
    host: options.Host,
    when: Annotated[
        str,
        typer.Argument(
            metavar="[TIME]",
            help="A kept scan by its time or the beginning of it, such as 2026-11-20; or first, last.",
        ),
    ] = sources.LAST,
    method: options.Method = "",
    fail_under: options.FailUnder = None,
    fail_grade: options.FailGrade = None,
    require_stance: options.RequireStance = None,
    must_serve: options.MustServe = None,
    must_block: options.MustBlock = None,
    fail_on: options.FailOn = None,
    no_regress: options.NoRegress = None,
    as_json: options.Json = False,
    text: options.Text = False,
    details: options.Details = False,
    format_name: options.Format = "",
    output: options.Files = None,
    fields: options.Fields = "",
) -> int:
    """Print the stored report card of a host, without scanning."""
    run = run_for(context)
    form = CardForm.of(run, context.params)
    gating = Gating.of(run, context.params)

    async def work() -> tuple[HostReport, GateOutcome]:
        async with opened(run) as service:
            report = await sources.at(service, host, when, method=method)
            return report, await gating.judge(service, report)

    report, outcome = run.wait(work())
    scans = len(report.history)
    note = f"scan {scans} of this host" if scans > 1 else ""
    form.write([HostResult(report, note=note, outcome=outcome if gating.gates else None)])
    return outcome.exit_code


USAGE = "diff takes HOST, or HOST TIME TIME, or two names: a host or a file each."


def _card_in(name: str) -> ReportCard:
    """Return the one card in the file ``name``. Raises BadValue for several."""
    cards = sources.read(name)
    if len(cards) != 1:
        raise BadValue(f"{name} holds {len(cards)} cards; diff takes files with one card each.")
    return cards[0]


@app.command("diff", epilog="Example: aui-tui diff example.com 2026-11-01 last --format markdown")
def diff(
    context: typer.Context,
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="HOST [TIME TIME] | A B", help="A host, a host with two times, or two names: a host or a file each."
        ),
    ],
    method: options.Method = "",
    as_json: options.Json = False,
    form: Annotated[
        str, typer.Option("--format", "-f", metavar="NAME", **options.words(DIFF_FORMATS, "Print as"))
    ] = "",
    output: options.File = "",
) -> None:
    """Show field by field what changed between two cards: a host's last two scans, or any two.

    TIME is the beginning of a kept scan's time, such as 2026-11-20, or first, or last.
    """
    from aui_tui.cli.cardview import in_order
    from aui_tui.report.diff import diff as difference
    from aui_tui.report.diff import of_last_scans, write

    run = run_for(context)
    options.one_of(json=as_json, format=form)
    path = path_of(output)
    form = format_for(path, "json" if as_json else form, DIFF_FORMATS) or "text"
    if len(what) > 3 or (len(what) != 2 and sources.is_file(what[0])):
        raise BadValue(USAGE)
    if len(what) != 2 and run.settings.source:
        raise ConfigError("A published index has no earlier scans; name two hosts or files.")
    names, times = (what, (sources.LAST, sources.LAST)) if len(what) == 2 else (what[:1] * 2, what[1:])
    files = {name: _card_in(name) for name in names if sources.is_file(name)}

    async def work() -> list[ReportCard]:
        async with opened(run) as service:
            if not times:
                last, advice = of_last_scans(await report_of(service, names[0], method=method))
                if advice:
                    streams.say(advice)
                return [last.before, last.after]
            return [
                files.get(name) or (await sources.at(service, name, when, method=method)).card
                for name, when in zip(names, times, strict=True)
            ]

    pair = run.wait(work()) if set(names) - set(files) else [files[name] for name in names]
    if method:
        from aui_tui.service.grading import only_under

        pair = [only_under(card, method) for card in pair]
    changes, deterministic = difference(*pair), run.settings.deterministic
    if form == "text":
        parts = changes.sections(times=not deterministic)
        paint = Paint.for_output(ascii_only=run.settings.ascii) if path is None else Paint()
        emit(in_order(parts, paint, text=run.settings.text), path)
    else:
        emit(write(changes, form, deterministic=deterministic), path)


def _report(run: Run, host: str, method: str = "") -> HostReport:
    async def work() -> HostReport:
        async with opened(run) as service:
            return await report_of(service, host, method=method)

    return run.wait(work())


PARTLY = 1
"""Exit code when no set of fixes reaches the goal."""


def _advice(run: Run, host: str) -> dict[str, str]:
    """Return the addresses that advice is written for, by the settings of the site. Raises ConfigError."""
    from aui_tui.scan import target

    site = site_of(run, host)
    if site is None:
        return {}
    if site.tester and target.parse_address(site.tester) is None:
        raise ConfigError(f"tester takes an IP address such as 198.51.100.7, not “{clean(site.tester, 60)}”.")
    public = str(target.parse(site.public_url, allow_private=True).origins[0]) if site.public_url else ""
    return {"public_url": public, "tester": site.tester}


@app.command("plan", epilog="Example: aui-tui plan example.com --grade B --write fixes/")
def plan(
    context: typer.Context,
    host: options.Host,
    grade: Annotated[
        str,
        typer.Option(
            "--grade",
            metavar="GRADE|SCORE",
            help="The goal: A, B, C, D, F, or a score from 0 to 100; default: the next grade.",
            autocompletion=complete.of(GRADES),
        ),
    ] = "",
    method: options.Method = "",
    folder: Annotated[str, typer.Option("--write", metavar="DIR", help="Write the files and a README there.")] = "",
    replace: options.Replace = False,
    as_json: options.Json = False,
) -> int:
    """Show the fixes that reach a grade, and write their files on request."""
    from aui_tui.cli.cardview import in_order
    from aui_tui.report.plan import as_json as plan_json
    from aui_tui.report.plan import plan_for, sections, write_files

    run = run_for(context)
    score = int(grade) if re.fullmatch(r"\d{1,3}", grade) and int(grade) <= 100 else None
    goal = choose("goal", grade, (*GRADES, "a score from 0 to 100")) if grade and score is None else ""
    stored = _report(run, host, method)
    plan, site = plan_for(stored, grade=goal, score=score, with_claims=run.settings.with_claims, **_advice(run, host))
    written = write_files(plan, user_path(folder), site, force=replace) if folder else []
    if as_json:
        emit([plan_json(plan, site)], None)
    else:
        paint = Paint.for_output(ascii_only=run.settings.ascii)
        emit(in_order(sections(plan, written=bool(folder)), paint, text=run.settings.text), None)
    for path in () if run.quiet else written:
        streams.say(f"wrote {path}")
    return 0 if plan.reached else PARTLY


BadgeFile = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Write to FILE.")]


@app.command("badge", epilog="Example: aui-tui badge example.com -o badge.svg")
def badge(context: typer.Context, host: options.Host, output: BadgeFile = "") -> None:
    """Write the grade and score of a host as a self-contained SVG badge."""
    run = run_for(context)
    from aui_tui.report.page import badge as drawn

    path = path_of(output)
    emit([drawn(_report(run, host).card)], path)


def _again(card: ReportCard, observations: Observations, method: str, base_url: str) -> ReportCard:
    """Return ``card`` graded again from its observations. Raises RecordError when they are of another host."""
    from aui_tui.service.grading import Grading

    if observations.host != card.host:
        raise RecordError(f"The observations are of {observations.host}, the card is of {card.host}.")
    return Grading(method, base_url).again(card, observations)


@app.command("regrade", epilog="Example: aui-tui regrade shop.recording --method v0.1 --json")
def regrade_cards(
    context: typer.Context,
    what: Annotated[
        list[str],
        typer.Argument(metavar="HOST|FILE...", help="Stored hosts, or files of cards or recordings; - reads stdin."),
    ],
    method: options.Method = "",
    as_json: options.Json = False,
    output: options.Files = None,
) -> int:
    """Grade cards again under a method, from what was seen then; nothing is stored."""
    from aui_tui.service.grading import only_under

    run = run_for(context)
    form = CardForm.of(run, context.params)
    method = method or run.settings.method
    results: list[HostResult] = []
    codes: list[int] = []

    def of_file(name: str) -> None:
        for card, observations in sources.read_scans(name):
            try:
                base = run.settings.base_url.rstrip("/")
                card = only_under(card, method) if observations is None else _again(card, observations, method, base)
                results.append(HostResult(HostReport(card=card, observations=observations)))
            except AuiError as error:
                codes.append(fail(error))

    async def of_hosts(names: Sequence[str]) -> None:
        async with opened(run) as service:
            for name in names:
                try:
                    results.append(HostResult(await report_of(service, name, method=method)))
                except AuiError as error:
                    codes.append(fail(error))

    hosts = [name for name in what if not sources.is_file(name)]
    for name in what:
        if sources.is_file(name):
            of_file(name)
    if hosts:
        run.wait(of_hosts(hosts))
    if results:
        form.write(results, many=len(results) > 1)
    return worst(codes)
