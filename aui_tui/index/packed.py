"""What a scan fills of the index: the row of its host, made of a card or of a summary, and what is kept with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from aui_tui.index import compression
from aui_tui.index.rows import COLUMNS
from aui_tui.model.agents import directions, open_readers, outcome_of_each
from aui_tui.model.card import ReportCard
from aui_tui.model.codec import names_of
from aui_tui.model.decoding import to_json
from aui_tui.model.fates import words_of
from aui_tui.model.methods import METHODS
from aui_tui.model.observations import Observations
from aui_tui.model.points import asked_for, by_harm, task_points, totals, unknown, without_tasks
from aui_tui.model.summary import SiteSummary
from aui_tui.model.surfaces import SLUGS
from aui_tui.model.times import epoch_ms
from aui_tui.model.vocabulary import FATES, ROBOTS_READ, VERDICTS


class Packed(msgspec.Struct, frozen=True, kw_only=True):
    """A scan ready to be written, packed outside the transaction; ``columns`` are the values by COLUMNS.

    Without ``card`` only the summary of another index is known. ``aside``: as in ``ScanKey``.
    """

    columns: dict[str, Any]
    dead: bool = False
    card: bytes | None = None
    observations: bytes | None = None
    plain: int | None = None
    incomplete: bool = False
    aside: int = 0

    @classmethod
    def of(cls, card: ReportCard, observations: Observations | None, aside: int = 0) -> Packed:
        """Pack a card and what was seen; the key is ``observations.host``, else ``card.host``."""
        return cls(
            columns=columns_of(card, observations),
            dead=card.probe_dead,
            card=compression.pack_card(card),
            observations=None if observations is None else compression.pack_observations(observations),
            plain=without_tasks(card) if task_points(card) is not None else None,
            incomplete=observations is not None and observations.incomplete,
            aside=aside,
        )

    @classmethod
    def of_summary(cls, summary: SiteSummary, *, ranked: bool) -> Packed:
        """Pack a row that another index published; ``ranked`` says from which of its two lists."""
        return cls(columns=_of_summary(summary, ranked=ranked))

    @property
    def host(self) -> str:
        """The key of the host."""
        return str(self.columns["host"])


def columns_of(card: ReportCard, observations: Observations | None = None) -> dict[str, Any]:
    """Return the values by COLUMNS for a card; the key is ``seen.host``, else ``card.host``."""
    unseen = unknown(card)
    held = {
        "llms": "llms.txt" in card.files,
        "ai-plugin": "ai-plugin.json" in card.files,
        "jsonld": card.jsonld > 0 and "jsonld" not in unseen,
        "main": card.semantic.main > 0 and "landmarks" not in unseen,
        "nav": card.semantic.nav > 0 and "landmarks" not in unseen,
        "forms": card.semantic.forms > 0 and "landmarks" not in unseen,
        "signal": card.content_signal,
        "wildcard": card.wildcard_block,
        "shell": card.noscript_shell and "ssr" not in unseen,
    }
    best = next(iter(by_harm(card)), None)
    columns = _of_summary(card.summary(), ranked=not card.unreachable)
    assistants = tuple(outcome_of_each(card, observations))
    return columns | {
        "method": card.method,
        "host": observations.host if observations is not None else card.host,
        "tasks": int(bool(card.task_runs) or has_tasks(card)),
        "edge": card.edge,
        "server": server(() if observations is None else observations.browser.headers),
        "has": joined(word for word, holds in held.items() if holds),
        "fixes": joined(fix.k for fix in card.recommendations),
        "contradictions": joined(directions(assistants)),
        "words": letters(assistant.verdict for assistant in assistants),
        "measured": totals(card)[1],
        "crawlers": policies(card) + opens(observations),
        "best_fix": best.title if best else "",
        "best_points": best.pts if best and best.k not in asked_for(card) else 0,
        "live": to_json([access.status for access in card.agent_access.values()]),
    }


def _of_summary(summary: SiteSummary, *, ranked: bool) -> dict[str, Any]:
    """Return what a summary fills of COLUMNS; terms about a card find nothing there. ``ranked``: its list."""
    verdicts = {
        agent: word if word in VERDICTS else "" for agent, word in zip(SLUGS, verdicts_of(summary.matrix), strict=True)
    }
    ours = summary.matrix == verdicts and tuple(summary.matrix) == SLUGS
    return (
        dict.fromkeys(COLUMNS, "")
        | verdicts
        | {
            "host": summary.host,
            "name": summary.name,
            "folded": summary.name.casefold(),
            "ranked": int(ranked),
            "category": summary.category,
            "stance": summary.stance,
            "score": summary.score,
            "grade": summary.grade,
            "method": method_of(summary),
            "at": epoch_ms(summary.scanned_at),
            "tasks": int(has_tasks(summary)),
            "words": letters(words_of(summary.matrix)),
            "measured": 0,
            "matrix": "" if ours else to_json(summary.matrix),
            "pillars": to_json(summary.pillars),
            "top_evidence": summary.top_evidence,
            "url": summary.url,
            "best_points": 0,
            "live": "[]",
        }
    )


def letters(words: Iterable[str]) -> str:
    """Return what each assistant gets as the column ``words``."""
    return "".join(map(FATES.__getitem__, words))


def joined(words: Iterable[str]) -> str:
    """Return several words as one column, commas around each of them."""
    text = ",".join(sorted(words))
    return f",{text}," if text else ""


def verdicts_of(matrix: dict[str, str]) -> list[str]:
    """Return the verdicts of our surfaces in order; a matrix with other keys counts by position."""
    if tuple(matrix) == SLUGS:
        return list(matrix.values())
    values = [*matrix.values(), *("",) * len(SLUGS)]
    return [matrix.get(name, values[place]) for place, name in enumerate(SLUGS)]


def has_tasks(summary: SiteSummary | ReportCard) -> bool:
    """Say whether tasks were run and count for the score: the pillar that they fill has points."""
    return any(summary.pillars.get(method.task_pillar.key) is not None for method in METHODS.values())


def method_of(summary: SiteSummary) -> str:
    """Return the name of the method whose pillars a summary has, empty when it is not one of ours."""
    names = (
        method.name for method in METHODS.values() if {pillar.key for pillar in method.pillars} == set(summary.pillars)
    )
    return next(names, "")


def server(headers: Iterable[tuple[str, str]]) -> str:
    """Return the Server field of an answer, case folded; empty where there is none."""
    return next((value.casefold() for name, value in headers if name == "server"), "")


def policies(card: ReportCard) -> str:
    """Return what robots.txt says to the crawlers that it names, as the column ``crawlers``; positions count.

    With ROBOTS_READ where that is so: then it names no others.
    """
    named = zip(names_of("crawler_policy"), card.crawler_policy.values(), strict=False)
    words = [f"{token}={policy}" for token, policy in named if policy != "unlisted"]
    return joined([*words, ROBOTS_READ] if card.robots_whole else words)


def opens(observations: Observations | None) -> str:
    """Return what open readers that were asked for get, as part of the column ``crawlers``; empty for nobody."""
    door = observations.open_door if observations is not None else None
    return joined(f"open.{key}={word}" for key, word in open_readers(door).items()) if door is not None else ""
