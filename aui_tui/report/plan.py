"""The way to a grade: the fixes of the card in its own order, worst harm first, until the grade is reached."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from aui_tui.checks import BY_FIX, Piece, Site
from aui_tui.checks.scoring import Labels, grade_card, site_of, what_if
from aui_tui.errors import BadValue, Unavailable
from aui_tui.files import check_new, create
from aui_tui.model import labels
from aui_tui.model.card import Recommendation, ReportCard
from aui_tui.model.methods import FLOORS, GRADE_FLOORS
from aui_tui.model.methods import method as method_called
from aui_tui.model.points import HARM, LACKING, Standing, asked_for, by_harm, foresees, raised
from aui_tui.model.report import HostReport
from aui_tui.model.vocabulary import GRADES, NO_GRADE, choose
from aui_tui.report.markdown import section_lines
from aui_tui.report.sections import Item, Section

README: Final = "README.md"
WhatIf = Callable[[frozenset[str]], Standing]
"""Reckons where a site would stand with the named fixes done."""


class PlanStep(msgspec.Struct, frozen=True, kw_only=True):
    """One fix of a plan, and where the site stands with it and those before it.

    ``promised``: False where somebody else must be asked for it, so that it counts for nothing. ``gain``: what the
    score becomes, in words.
    """

    fix: Recommendation
    score: int
    grade: str
    stance: str
    gain: str
    promised: bool = True


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The steps from where a site stands to ``target`` points; ``reached`` is False when no fixes lead there.

    ``granted``: the score where somebody else grants what is asked for, too. ``graded``: False where so little
    could be measured that it is not foreseen what the scores become. ``claims``: the fixes that are left out because
    the site must have something first.
    """

    host: str
    method: str
    score: int
    grade: str
    stance: str
    graded: bool = True
    target: int
    goal: str
    steps: tuple[PlanStep, ...] = ()
    reached: bool = True
    granted: int = 0
    claims: tuple[str, ...] = ()

    @property
    def after(self) -> tuple[int, str, str]:
        """Score, grade and stance with all steps done."""
        last = self.steps[-1] if self.steps else self
        return last.score, last.grade, last.stance


def plan_for(
    report: HostReport,
    *,
    grade: str = "",
    score: int | None = None,
    public_url: str = "",
    tester: str = "",
    with_claims: bool = False,
) -> tuple[Plan, Site]:
    """Return the plan for what is kept of a host, with advice for the given addresses, and the site as it was seen.

    ``public_url``: the address by which the public reaches a site that was scanned under another. ``tester``: the
    address from which the scan is repeated. ``with_claims`` and errors as for :func:`plan`.
    """
    card, observations = report.card, report.require_observations()
    method = method_called(card.method)
    words = Labels(name=card.name, category=card.category, seed=card.seed, public_url=public_url, tester=tester)
    fresh = grade_card(observations, card.method, labels=words)
    advised = msgspec.structs.replace(card, recommendations=fresh.recommendations)
    site = site_of(observations, words)
    made = plan(
        advised,
        what_if=lambda fixes: what_if(observations, fixes, method),
        grade=grade,
        score=score,
        with_claims=with_claims,
        asked=asked_for(fresh),
    )
    return made, site


def plan(
    card: ReportCard,
    *,
    what_if: WhatIf,
    grade: str = "",
    score: int | None = None,
    with_claims: bool = False,
    asked: frozenset[str] = frozenset(),
) -> Plan:
    """Return the plan from ``card`` to ``grade`` or ``score``; to the next grade when neither is named.

    ``with_claims``: also fixes that tell agents of something that the site must have first, such as a server.
    ``asked``: fixes that somebody else must be asked for; they come with no promise. The steps come worst harm first:
    the first one is the next step of the card.
    Raises BadValue for a wrong target and Unavailable for a card without a measurement.
    """
    if card.unreachable:
        raise Unavailable(f"{card.host} could not be measured, so there is nothing to plan from.")
    target, goal = _target(card, grade, score)
    known = [fix for fix in by_harm(card) if fix.k in BY_FIX]
    claims = [] if with_claims else [fix.k for fix in known if HARM.get(fix.k) == LACKING]
    fixes = [fix for fix in known if fix.k not in claims]
    chosen, reached = ([], True) if card.score >= target else _until(target, fixes, what_if)
    return Plan(
        host=card.host,
        method=card.method,
        score=card.score,
        grade=card.grade,
        stance=card.stance,
        graded=foresees(card),
        target=target,
        goal=goal,
        steps=tuple(_steps(card, chosen, asked, what_if)),
        reached=reached,
        granted=what_if(_keys(chosen)).score if chosen else card.score,
        claims=tuple(claims),
    )


def _target(card: ReportCard, grade: str, score: int | None) -> tuple[int, str]:
    if grade and score is not None:
        raise BadValue("A plan has one target: a grade or a score.")
    if score is not None:
        if not 0 <= score <= 100:
            raise BadValue(f"A plan takes a score from 0 to 100, not {score}.")
        return score, f"score {score}"
    if grade:
        letter = choose("grade", grade, GRADES)
        return FLOORS[letter], f"grade {letter}"
    better = [(floor, letter) for floor, letter in GRADE_FLOORS if floor > card.score]
    return (better[-1][0], f"grade {better[-1][1]}") if better else (100, "score 100")


def _until(target: int, fixes: Sequence[Recommendation], reckon: WhatIf) -> tuple[list[Recommendation], bool]:
    """Return the first of ``fixes`` that together reach ``target``; all of them, and False, where they do not."""
    for number in range(1, len(fixes) + 1):
        if reckon(_keys(fixes[:number])).score >= target:
            return [*fixes[:number]], True
    return [*fixes], False


def _keys(fixes: Iterable[Recommendation]) -> frozenset[str]:
    return frozenset(fix.k for fix in fixes)


def _steps(card: ReportCard, fixes: list[Recommendation], asked: frozenset[str], reckon: WhatIf) -> Iterator[PlanStep]:
    score = card.score
    for number, fix in enumerate(fixes, 1):
        done = _keys(fixes[:number]) - asked
        standing, promised = reckon(done), fix.k not in asked
        after = (standing if promised else reckon(done | {fix.k})).score if foresees(card) else None
        yield PlanStep(
            fix=fix,
            score=standing.score,
            grade=standing.grade,
            stance=standing.stance,
            gain=raised(score, after, fix.pts, asked=not promised),
            promised=promised,
        )
        score = standing.score


_BELOW: Final = re.compile(r"\b(\w+) below\b")


def sections(plan: Plan, *, written: bool = False) -> list[Section]:
    """Return the plan in words: where it starts and leads, then its steps. Key of a step: its fix's.

    The changes stand in the plan's files, which are ``written``, or are with --write.
    """
    now = f"Now {labels.standing(plan.score, plan.grade, plan.stance)}; goal {plan.goal}."
    parts = [Section("plan", plan.host, " ".join((now, *_outcome(plan))))]
    place = r"\1 of the plan" if written else r"\1 that --write DIR writes"
    steps = tuple(_step(plan, step, place) for step in plan.steps)
    if steps:
        parts.append(Section("steps", "Steps", items=steps, columns=("Step", "Score", "Then")))
    return parts


def _step(plan: Plan, step: PlanStep, place: str) -> Item:
    then = ""
    if step.promised:
        then = f"{labels.grade(step.grade)}, {step.stance}" if plan.graded else step.stance
    return Item((step.fix.title, step.gain, then), text=_BELOW.sub(place, step.fix.body), key=step.fix.k)


def _outcome(plan: Plan) -> Iterator[str]:
    """Yield where all steps lead, unless the last one says it, and what the plan cannot say or do."""
    if not plan.graded:
        yield "Only a part of the points could be measured: a scan after these steps tells the score."
    asked = any(not step.promised for step in plan.steps)
    if not plan.steps:
        none = "No other fix gains points here." if plan.claims else "No fix gains points here."
        yield "The goal is reached already." if plan.reached else none
    elif asked or not plan.reached:
        after = plan.granted if plan.graded else None
        points = sum(step.fix.pts for step in plan.steps)
        end = "" if plan.reached else f"; {plan.goal} cannot be reached"
        yield f"All steps together: {raised(plan.score, after, points, asked=asked)}{end}."
    if plan.claims and not plan.reached:
        yield "Fixes that need something you must have, such as an MCP server, need AUI_TUI_WITH_CLAIMS=1."


class FileAction(NamedTuple):
    """What a program does with a file of a plan.

    ``write`` puts it at ``target``, a path on the site. ``insert`` puts it ``position`` (before, after) the ``anchor``
    in the page at ``target``. ``configure`` is for the settings of a server, ``by-hand`` for a person; where it goes
    is then in words.
    """

    name: str
    target: str = ""
    position: str = ""
    anchor: str = ""


INSERTED: Final = {
    "homepage/head.html": FileAction("insert", "/", "before", "</head>"),
    "homepage/body-start.html": FileAction("insert", "/", "after", "<body>"),
    "homepage/body-end.html": FileAction("insert", "/", "before", "</body>"),
}


LOCAL: Final = (
    "The site was scanned on this machine, so the files name a local address. Set public_url of the site to write the"
    " address by which the public reaches it."
)
LEFT_OUT: Final = (
    "HTML allows a page to leave these tags out. Then put what belongs before </head> directly after </title>, what"
    " belongs after <body> directly before the first element that people see, and what belongs before </body> at"
    " the end of the file."
)


def action_of(path: str) -> FileAction:
    """Return what to do with the file of a plan at ``path`` (see ``Piece``)."""
    folder = path.rpartition("/")[0]
    if path in INSERTED:
        return INSERTED[path]
    if folder in ("", ".well-known"):
        return FileAction("write", f"/{path}")
    return FileAction("configure" if folder == "server" else "by-hand")


def as_json(plan: Plan, site: Site) -> str:
    """Return the plan as one JSON object that a program can carry out."""
    return msgspec.json.encode(members(plan, site)).decode() + "\n"


def members(plan: Plan, site: Site) -> dict[str, Any]:
    """Return the plan as plain members: the steps with a way to check each, the files, and how to scan again."""
    plain: dict[str, Any] = msgspec.to_builtins(plan)
    plain |= dict(zip(("score_after", "grade_after", "stance_after"), plan.after, strict=True))
    plain["grade"] = None if plan.grade == NO_GRADE else plan.grade
    if not plan.graded:
        plain["grade_after"] = None
    files = pieces(plan, site)
    owners = {path: [fix for fix, paths in _paths(plan, site).items() if path in paths] for path in files}
    plain["files"] = [_file(piece, owners[path]) for path, piece in files.items()]
    for step, made in zip(plan.steps, plain["steps"], strict=True):
        made["check"] = BY_FIX[step.fix.k].proof_at(site)
        made["files"] = [path for path, fixes in owners.items() if step.fix.k in fixes]
    plain["scan_again"] = _again(site)
    return plain


def _file(piece: Piece, fixes: list[str]) -> dict[str, Any]:
    action = action_of(piece.path)
    return {
        "path": piece.path,
        "fixes": fixes,
        "action": action.name,
        "target": action.target,
        "position": action.position,
        "anchor": action.anchor,
        "place": piece.place,
        "content": piece.text.strip("\n") + "\n",
    }


def pieces(plan: Plan, site: Site) -> dict[str, Piece]:
    """Return the files of the plan by their path; they agree with one another."""
    return {path: piece for parts in _paths(plan, site).values() for path, piece in parts.items()}


def _paths(plan: Plan, site: Site) -> dict[str, dict[str, Piece]]:
    """Return the files of each step by their path; steps that share a file have the same one."""
    together = replace(site, together=frozenset(step.fix.k for step in plan.steps))
    made = {step.fix.k: BY_FIX[step.fix.k].advise(together).pieces() for step in plan.steps}
    return {fix: {piece.path: piece for piece in parts if piece.text.strip()} for fix, parts in made.items()}


def write_files(plan: Plan, folder: Path, site: Site, *, force: bool = False) -> list[Path]:
    """Write the files of the plan and a README to ``folder`` and return their paths.

    None is written when one is there already. Raises BadValue naming the file that is there (``force`` replaces it),
    or a link that leads out of the folder, and ConfigError when a file cannot be written.
    """
    texts = {path: piece.text.strip("\n") + "\n" for path, piece in pieces(plan, site).items()}
    texts |= {README: "".join(section_lines(readme(plan, site)))}
    for name in texts:
        path = folder / name
        if path.parent != folder and path.parent.is_symlink():
            raise BadValue(f"{path.parent} is a link; name a folder that is not there yet, or remove the link.")
        if not force:
            check_new(path)
    for name, text in texts.items():
        create(folder / name, [text], force=force)
    return [folder / name for name in sorted(texts)]


def readme(plan: Plan, site: Site) -> list[Section]:
    """Return what stands beside the files of the plan: which file goes where, why, and how to check it."""
    first, *steps = sections(plan, written=True)
    scan_again = Item(("Scan again",), code=_again(site))
    lead = [first.text]
    if site.is_local:
        lead.append(LOCAL)
    files = list(pieces(plan, site).values())
    items = tuple(Item((piece.path, piece.place), key=piece.path) for piece in files)
    left_out = LEFT_OUT if any(piece.path in INSERTED for piece in files) else ""
    return [
        first._replace(title=f"Fixes for {urlsplit(site.origin).netloc}", text=" ".join(lead)),
        Section("files", "Files", left_out, items, ("File", "Where it goes")),
        *(part._replace(items=(*part.items, scan_again)) for part in steps),
    ]


def _again(site: Site) -> str:
    """Return the command that scans again as it was scanned."""
    private = " --allow-private" if "private" in site.observations.limits else ""
    return f"aui-tui scan {site.observations.origin}{private} --force"
