"""Points, ledger and report card of observations under any method, what fixes gain, and the method in words. Pure.

The same observations give the same card; sums are integers throughout.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from aui_tui.checks import BY_FIX, CHECKS, Check, Earned, Site, by_fix
from aui_tui.checks.evidence import findings
from aui_tui.checks.judge import Judgement, judge
from aui_tui.checks.wording import fill
from aui_tui.model.card import (
    AgentAccess,
    Evidence,
    Ledger,
    LedgerEntry,
    PageAccess,
    PageAnswer,
    Recommendation,
    ReportCard,
    Semantic,
    site_url,
)
from aui_tui.model.methods import (
    DEFAULT_METHOD,
    GRADE_FLOORS,
    MOST_AGENTS,
    REVISION,
    WALLED_CEILING,
    Method,
    Pillar,
    capped,
    grade_of,
)
from aui_tui.model.methods import method as method_called
from aui_tui.model.observations import BROWSER, Observations, OtherPage
from aui_tui.model.points import Standing, letter, percent
from aui_tui.model.registry import registry
from aui_tui.model.summary import Points
from aui_tui.model.tasks import DONE, pillar_points, runs_of
from aui_tui.model.vocabulary import AGENTS_TOTAL, CHALLENGED, CRAWLERS_TOTAL, LIVE_TOTAL
from aui_tui.packaged import read_table
from aui_tui.text import count

TASKS: Final = "tasks"
"""The component of the ledger that a run of the tasks fills."""


def task_entries(observations: Observations, pillar: Pillar) -> Iterator[LedgerEntry]:
    """Yield the entry of the tasks in the ledger when enough of them count."""
    runs = runs_of(observations.tasks)
    points = pillar_points(runs, pillar.maximum)
    if points is None or observations.unreachable:
        return
    counting = [run for run in runs if run.possible]
    done, lost = sum(run.outcome == DONE for run in counting), len(runs) - len(counting)
    rest = f"; {lost} had no clear result, or nothing to try: not measured" if lost else ""
    yield LedgerEntry(
        component=TASKS,
        pillar=pillar.key,
        earned=points[0],
        possible=points[1],
        reason=f"An agent in a browser completed {done} of {count(len(counting), 'task')}{rest}.",
    )


def ledger(judgement: Judgement, method: Method) -> Ledger:
    """Return every component of the score with its reason, and the score itself.

    Of an unreachable site nothing is measured: every component counts on neither side and the score is 0.
    """
    observations = judgement.observations
    nothing = Earned(None, "The site gave no usable answer, so nothing was measured.")
    unknown = nothing if observations.unreachable else None
    entries = (
        *(_entry(check, unknown or check.earned(judgement, method.name), method.name) for check in CHECKS),
        *task_entries(observations, method.task_pillar),
    )
    earned = sum(entry.earned for entry in entries)
    possible = sum(entry.possible for entry in entries if entry.measured)
    raw = percent(earned, possible)
    score = capped(raw, judgement.stance)
    return Ledger(
        method=method.name,
        entries=entries,
        earned=earned,
        possible=possible,
        raw=raw,
        score=score,
        capped=score < raw,
        grade=grade_of(score),
        conclusive=judgement.conclusive,
        revision=REVISION,
    )


def _entry(check: Check, earned: Earned, method: str) -> LedgerEntry:
    possible, (points, reason) = check.points[method], earned
    return LedgerEntry(
        component=check.fix,
        pillar=check.pillar[method],
        earned=points or 0,
        possible=possible,
        reason=reason,
        measured=points is not None,
        fix=check.fix if points is not None and points < possible else "",
    )


def pillars(earned: Mapping[str, int], method: Method, tasks: int | None = None) -> Points:
    """Return the points per pillar key from those ``earned`` per component and those of the ``tasks``.

    None stands for the pillar of the tasks when they were not run.
    """
    return {pillar.key: tasks if pillar.by_tasks else _pillar(earned, method, pillar.key) for pillar in method.pillars}


def _pillar(earned: Mapping[str, int], method: Method, key: str) -> int:
    return sum(earned.get(check.fix, 0) for check in CHECKS if check.pillar[method.name] == key)


def detail(earned: Mapping[str, int]) -> Points:
    """Return the numbers of ``detail`` from the points ``earned`` per component."""
    sums: Points = dict.fromkeys(("robots", "door", "signal", "surface", "protocols"), 0)
    for check in CHECKS:
        sums[check.detail] = (sums[check.detail] or 0) + earned.get(check.fix, 0)
    return sums


def apply(observations: Observations, fixes: Iterable[str]) -> Observations:
    """Return ``observations`` with exactly the facts of ``fixes`` changed, each to its best.

    An inconclusive probe stays inconclusive: no fix makes a silent site speak. Raises BadValue for an unknown key.
    """
    for fix in fixes:
        observations = by_fix(fix).fixed(observations)
    return observations


def what_if(observations: Observations, fixes: Iterable[str], method: Method) -> Standing:
    """Return score, grade and stance under ``method`` once ``fixes`` are carried out."""
    judgement = judge(apply(observations, fixes))
    book = ledger(judgement, method)
    return Standing(book.score, book.grade, judgement.stance)


def _whole(judgement: Judgement, method: Method) -> Ledger:
    """Return the ledger with the findings, the score after each fix, and the score with all of them.

    A fix completes its own component and changes no other; those of door and robots.txt change the stance.
    """
    observations, book = judgement.observations, ledger(judgement, method)

    def score_with(*done: LedgerEntry) -> int:
        after = apply(observations, (entry.fix for entry in done))
        same = after.exchanges is observations.exchanges and after.robots is observations.robots
        stance = judgement.stance if same else judge(after).stance
        gained = sum(entry.possible - entry.earned for entry in done)
        return capped(percent(book.earned + gained, book.possible), stance)

    entries = tuple(replace(entry, after=score_with(entry)) if entry.fix else entry for entry in book.entries)
    best = score_with(*(entry for entry in entries if entry.fix))
    return replace(book, entries=entries, best=best, findings=findings(judgement, book))


def recommendations(site: Site, book: Ledger, method: Method) -> tuple[Recommendation, ...]:
    """Return the fixes that gain points under ``method``, most points first, then in the order of the checks.

    A fix gains what its component lacks: exactly its fact is changed.
    """
    gains = {entry.fix: entry.possible - entry.earned for entry in book.entries if entry.fix}
    results = []
    for key in sorted((key for key in BY_FIX if key in gains), key=lambda key: -gains[key]):
        check = BY_FIX[key]
        advice = check.advise(site)
        pillar = method.pillar(check.pillar[method.name]).label
        body = f"{advice.body} {check.proof_for(site)}"
        results.append(Recommendation(key, pillar, gains[key], check.title, body, advice.code))
    return tuple(results)


DEFAULT_BASE_URL: Final = "http://127.0.0.1:8000"


class Labels(msgspec.Struct, frozen=True, kw_only=True):
    """What a card says of a site that no scan can see: name, category, starter-list flag, address of the service.

    ``public_url``: the address of the site for the public, ``tester``: the address from which the scan is repeated;
    both are for the snippets alone.
    """

    name: str = ""
    category: str = "Uncategorized"
    seed: bool = False
    base_url: str = DEFAULT_BASE_URL
    public_url: str = ""
    tester: str = ""


def grade_card(observations: Observations, method: str = DEFAULT_METHOD, *, labels: Labels | None = None) -> ReportCard:
    """Return the report card of ``observations`` under ``method``. Raises BadValue for an unknown method."""
    chosen, labels = method_called(method), labels or Labels()
    judgement = judge(observations)
    book = _whole(judgement, chosen)
    card = _card(judgement, book, chosen, labels)
    card = replace(card, grade=letter(card))
    if chosen.name != "v0.2":
        return card
    return replace(
        card,
        detail=detail(book.points),
        provisional=card.pillars[chosen.task_pillar.key] is None,
        task_runs=runs_of(observations.tasks),
    )


def _card(judgement: Judgement, book: Ledger, method: Method, labels: Labels) -> ReportCard:
    observations = judgement.observations
    page, robots = observations.page, observations.robots
    site = _site(judgement, labels)
    requested_fixes = {entry.fix for entry in book.entries if entry.fix and BY_FIX[entry.fix].is_asked(site)}
    book = replace(book, entries=tuple(replace(entry, asked=entry.fix in requested_fixes) for entry in book.entries))
    browser, earned = observations.browser, book.points
    files = {"llms.txt": observations.files.llms, "ai-plugin.json": observations.files.ai_plugin}
    return ReportCard(
        found=True,
        method=method.name,
        host=observations.host,
        input_host=observations.input_host,
        name=site.name,
        category=labels.category,
        scanned_at=observations.scanned_at,
        vantage=observations.vantage,
        elapsed_ms=observations.elapsed_ms,
        score=book.score,
        grade=book.grade,
        stance=judgement.stance,
        pillars=pillars(earned, method, earned.get(TASKS)),
        pillar_max={pillar.key: pillar.maximum for pillar in method.pillars},
        evidence=tuple(Evidence(finding.severity, finding.text) for finding in book.findings),
        ledger=book,
        matrix=dict(judgement.verdicts),
        files=tuple(file for file, present in files.items() if present),
        jsonld=page.jsonld,
        semantic=Semantic(
            main=page.semantic.main, nav=page.semantic.nav, aria=page.semantic.aria, forms=page.semantic.forms
        ),
        noscript_shell=page.noscript_shell,
        content_signal=robots.signal_line > 0,
        wildcard_block=robots.wildcard_block,
        robots_status=observations.exchange("robots").status,
        robots_ua_rules=robots.names,
        agents_disallowed=len(judgement.blocked),
        agents_partial=len(judgement.restricted),
        agents_total=AGENTS_TOTAL,
        crawlers_blocked=sum(policy.policy == "blocked" for policy in judgement.crawlers),
        crawlers_total=CRAWLERS_TOTAL,
        ua_policy={
            policy.token: "unlisted" if policy.policy == "allowed" else policy.policy for policy in judgement.agents
        },
        crawler_policy={policy.token: policy.policy for policy in judgement.crawlers},
        live_served=judgement.served,
        live_total=LIVE_TOTAL,
        agent_access={
            agent.token: AgentAccess(
                status=probe.status, challenged=probe.outcome == CHALLENGED, title=probe.title if probe.status else ""
            )
            for agent, probe in judgement.probed
        },
        human_status=browser.status,
        human_title=browser.title,
        human_challenged=browser.outcome == CHALLENGED,
        edge=observations.edge,
        probe_dead=observations.probe_dead,
        seed=labels.seed,
        url=site_url(labels.base_url.rstrip("/"), observations.host),
        recommendations=recommendations(site, book, method),
        declared=observations.declared or msgspec.UNSET,
        pages=tuple(map(_page_access, observations.pages)) or msgspec.UNSET,
    )


def _page_access(page: OtherPage) -> PageAccess:
    """Return who gets another page than the homepage."""
    probes = {exchange.name: exchange for exchange in page.exchanges}
    agents = {
        agent.token: PageAnswer(status=probes[agent.key].status, outcome=page.readings[agent.key].outcome)
        for agent in registry().live
    }
    browser = probes[BROWSER]
    return PageAccess(path=page.path, status=browser.status, outcome=browser.outcome, agents=agents)


def site_of(observations: Observations, labels: Labels) -> Site:
    """Return the site that the advice is written for."""
    return _site(judge(observations), labels)


def _site(judgement: Judgement, labels: Labels) -> Site:
    """Return the site; its display name is the given one, else og:site_name, else the host."""
    observations = judgement.observations
    name = labels.name or observations.page.site_name.strip() or observations.host
    return Site(judgement, name, labels.category, public_url=labels.public_url, tester=labels.tester)


class MethodSection(NamedTuple):
    """A heading, paragraphs, and a table whose first column names what the second explains."""

    title: str
    paragraphs: tuple[str, ...] = ()
    rows: tuple[tuple[str, str], ...] = ()


@cache
def _explanation() -> list[dict[str, Any]]:
    """Return the packaged sections (``method.toml``)."""
    return read_table("checks/method.toml", dict[str, list[dict[str, Any]]])["section"]


def sections(method: str) -> tuple[MethodSection, ...]:
    """Return the explanation of ``method``. Raises BadValue naming the known methods."""
    chosen = method_called(method)
    facts = {
        "name": chosen.name,
        "revision": str(REVISION),
        "live": ", ".join(agent.label for agent in registry().live),
        "agents": str(AGENTS_TOTAL),
        "crawlers": str(CRAWLERS_TOTAL),
        "probed": str(LIVE_TOTAL),
        "most": str(MOST_AGENTS),
        "ceiling": str(WALLED_CEILING),
        "unscored": chosen.task_pillar.label,
        "grades": ", ".join(f"{letter} from {floor}" if floor else f"{letter} below" for floor, letter in GRADE_FLOORS),
    }
    return tuple(
        MethodSection(
            fill(section["title"], facts),
            tuple(fill(text, facts) for text in section.get("paragraphs", ())),
            _points(chosen)
            if section.get("points")
            else tuple((word, fill(meaning, facts)) for word, meaning in section.get("rows", ())),
        )
        for section in _explanation()
    )


def _points(method: Method) -> tuple[tuple[str, str], ...]:
    rows = []
    for check in CHECKS:
        name = f"{method.pillar(check.pillar[method.name]).label} {check.points[method.name]}"
        earns = check.earns.replace("{part}", str(check.part.get(method.name, "")))
        rows.append((f"{name}, {check.fix}", earns))
    return tuple(rows)
