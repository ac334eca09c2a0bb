"""A check is one module and one line: a ninth one, added to a copy of the package, is known everywhere."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aui_tui.checks import BY_FIX, CHECKS, NAMES, _by_fix
from aui_tui.checks.check import Check
from aui_tui.checks.evidence import findings_of
from aui_tui.checks.judge import judge
from aui_tui.checks.llms import LlmsTxt
from aui_tui.model.methods import METHODS
from aui_tui.model.vocabulary import FIXES, SEVERITIES
from tests.cli.runner import ROOT
from tests.scan import situations

NINTH = '''\
"""A title: what an agent calls the page when it reports back."""

from msgspec.structs import replace

from aui_tui.checks.check import Advice, Check, Earned, Piece, sentence_list
from aui_tui.model.card import Finding


class Ninth(Check):
    fix = "ninth"
    label = "A title"
    earns = "the homepage has a title"
    lacking = "no title"
    title = "Give the homepage a title"
    takes = "minutes"
    proof = "View the source of {origin}/."
    points = {"v0.1": 2, "v0.2": 2}
    sentences = sentence_list(
        """
        warn ninth-none: No title
            The homepage has no title, so an agent has no name for it.
        good ninth: A title
            The homepage has a title.
        """
    )

    def measure(self, judgement, method):
        there = bool(judgement.observations.page.title)
        return Earned(2 if there else 0, "The homepage has a title." if there else "The homepage has no title.")

    def findings(self, judgement):
        yield Finding("ninth") if judgement.observations.page.title else Finding("ninth-none")

    def fixed(self, observations):
        page = observations.page
        return replace(observations, page=replace(page, title=page.title or "Home"))

    def advise(self, site):
        code = f"<title>{site.title}</title>"
        place = "in the head of the homepage"
        body = f"The homepage of {site.hostname} has no title. Name the site in it."
        return Advice(body, code, lambda: (Piece("homepage/title.html", place, code),))


CHECK = Ninth()
'''

ASKED = """
import json
from msgspec.structs import replace
from aui_tui.checks.judge import judge
from aui_tui.checks.scoring import sections
from aui_tui.checks.scoring import apply, what_if
from aui_tui.checks.scoring import ledger
from aui_tui.checks.scoring import Labels, grade_card, site_of
from aui_tui.report.plan import pieces, plan, readme
from aui_tui.model.methods import METHODS
from aui_tui.model.query_line import parse
from tests.scan import situations

bare = situations.plain()
bare = replace(bare, page=replace(bare.page, title=""))
named = replace(bare, page=replace(bare.page, title="Shop"))
method = METHODS["v0.2"]
card = grade_card(bare)
entry = next(entry for entry in ledger(judge(bare), method).entries if entry.component == "ninth")
fix = next(fix for fix in card.recommendations if fix.k == "ninth")
site = site_of(bare, Labels(name="Shop"))
steps = plan(card, score=100, what_if=lambda fixes: what_if(bare, fixes, method))
rows = [row for section in sections("v0.2") for row in section.rows]
print(json.dumps({
    "ledger": [entry.earned, entry.possible, entry.pillar, entry.reason, entry.fix],
    "evidence": [line.t for line in card.evidence if "has no title" in line.text],
    "good": [line.text for line in grade_card(named).evidence if "title" in line.text],
    "fix": [fix.pts, fix.pillar, fix.title, fix.code],
    "method": [row for row in rows if "title" in row[1]],
    "what_if": ledger(judge(apply(bare, ["ninth"])), method).earned - ledger(judge(bare), method).earned,
    "all": what_if(bare, [f.k for f in card.recommendations], method).score,
    "plan": pieces(steps, site)["homepage/title.html"],
    "readme": [item.cells for part in readme(steps, site) for item in part.items if item.key == "homepage/title.html"],
    "found": [(one.id, one.fix) for one in card.findings if one.fix == "ninth"],
    "detail": grade_card(named).detail["surface"] - card.detail["surface"],
    "query": [term.values for term in parse("fix:ninth")],
}))
"""


def test_a_ninth_check_is_one_module_and_two_words(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "aui_tui", tmp_path / "aui_tui", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    folder = tmp_path / "aui_tui" / "checks"
    (folder / "ninth.py").write_text(NINTH)
    for listing, name in (
        (folder / "__init__.py", "NAMES"),
        (tmp_path / "aui_tui" / "model" / "vocabulary.py", "FIXES"),
    ):
        listing.write_text(
            re.sub(rf"(?s)^({name}: Final = \(.*?),?\n?\)$", r'\1, "ninth")', listing.read_text(), flags=re.MULTILINE)
        )
    done = subprocess.run(
        [sys.executable, "-c", ASKED], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "ledger": [0, 2, "built", "The homepage has no title.", "ninth"],
        "evidence": ["warn"],
        "good": ["The homepage has a title."],
        "fix": [2, "Built", "Give the homepage a title", "<title>shop.example</title>"],
        "method": [["Built 2, ninth", "the homepage has a title"]],
        "what_if": 2,
        "all": 100,
        "plan": ["homepage/title.html", "in the head of the homepage", "<title>Shop</title>"],
        "readme": [["homepage/title.html", "in the head of the homepage"]],
        "found": [["ninth-none", "ninth"]],
        "detail": 2,
        "query": [[",ninth,"]],
    }


def test_the_checks_fill_the_published_pillars() -> None:
    assert tuple(BY_FIX) == FIXES
    for method in METHODS.values():
        for pillar in method.pillars:
            filled = sum(check.points[method.name] for check in CHECKS if check.pillar[method.name] == pillar.key)
            assert filled == (0 if pillar.by_tasks else pillar.maximum)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.fix)
def test_a_check_says_everything_about_its_component(check: Check) -> None:
    for words in (check.label, check.earns, check.lacking, check.title):
        assert words
    assert [line.t for line in check.sentences] == sorted((line.t for line in check.sentences), key=SEVERITIES.index)
    assert {line.t for line in check.sentences} >= {"warn", "good"}


def test_no_check_knows_another() -> None:
    folder = ROOT / "aui_tui" / "checks"
    names = set(NAMES)
    for path in folder.glob("*.py"):
        if path.stem in names:
            imported = {
                node.module for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)
            }
            assert not {f"aui_tui.checks.{name}" for name in names} & imported, path.name


def test_checks_with_the_same_sentences_or_other_keys_are_refused() -> None:
    with pytest.raises(ValueError, match="Two checks have the key llms"):
        _by_fix([BY_FIX["llms"], BY_FIX["llms"]])
    copied = LlmsTxt()
    copied.fix = "copied"
    with pytest.raises(ValueError, match="The sentence id llms-note of the check copied is also one of llms"):
        _by_fix([*CHECKS, copied])
    with pytest.raises(ValueError, match="One lacks: robots"):
        _by_fix([check for check in CHECKS if check.fix != "robots"])


def test_a_finding_in_the_words_of_another_check_is_refused() -> None:
    """A copied check whose table was renamed and whose findings were not."""
    copied = LlmsTxt()
    copied.fix, copied.sentences = "copied", tuple(line._replace(id=f"copied-{line.id}") for line in LlmsTxt.sentences)
    with pytest.raises(ValueError, match="The check copied yields the finding llms-none"):
        list(findings_of(copied, judge(situations.plain())))
