"""The report card of observations under any method, and what its fixes gain. Pure.

The same observations give the same card.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec.structs import replace

from aui_tui.checks import BY_FIX, Site, by_fix
from aui_tui.checks.judge import Judgement, judge
from aui_tui.checks.ledger import TASKS, detail, findings, ledger, pillars
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
from aui_tui.model.methods import DEFAULT_METHOD, Method, capped
from aui_tui.model.methods import method as method_named
from aui_tui.model.observations import BROWSER, CHALLENGED, Observations, OtherPage
from aui_tui.model.points import Standing, letter, percent
from aui_tui.model.registry import registry
from aui_tui.model.tasks import runs_of
from aui_tui.model.vocabulary import AGENTS_TOTAL, CRAWLERS_TOTAL, LIVE_TOTAL


def apply(observations: Observations, fixes: Iterable[str]) -> Observations:
    """Return ``observations`` with exactly the facts of ``fixes`` (specification 2.6) changed, each to its best.

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
    """Return the fixes that gain points under ``method``, most points first, then in the specification's order.

    A fix gains what its component lacks: exactly its fact is changed.
    """
    gains = {entry.fix: entry.possible - entry.earned for entry in book.entries if entry.fix}
    found = []
    for key in sorted((key for key in BY_FIX if key in gains), key=lambda key: -gains[key]):
        check = BY_FIX[key]
        advice = check.advise(site)
        pillar = method.pillar(check.pillar[method.name]).label
        body = f"{advice.body} {check.proof_for(site)}"
        found.append(Recommendation(key, pillar, gains[key], check.title, body, advice.code))
    return tuple(found)


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
    chosen, labels = method_named(method), labels or Labels()
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
    asked = {entry.fix for entry in book.entries if entry.fix and BY_FIX[entry.fix].is_asked(site)}
    book = replace(book, entries=tuple(replace(entry, asked=entry.fix in asked) for entry in book.entries))
    browser, earned = observations.browser, book.points
    found = {"llms.txt": observations.files.llms, "ai-plugin.json": observations.files.ai_plugin}
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
        files=tuple(file for file, present in found.items() if present),
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
    probes = {one.name: one for one in page.exchanges}
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
