"""The documentation is read from one place by the command line, the dashboard and the pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aui_tui import docs
from aui_tui.errors import BadValue
from aui_tui.model import query_line
from tests.cli.runner import ROOT, here
from tests.tui.service import CardService
from tests.tui.stage import settle, stage, text_of

README = (ROOT / "README.md").read_text(encoding="utf-8")
FOLDER = ROOT / "aui_tui" / "docs"


@pytest.mark.parametrize("topic", docs.TOPICS)
def test_every_topic_is_a_page_with_one_title(topic: str) -> None:
    text = docs.read(topic)
    found = list(docs.blocks(text))
    assert [block.text for block in found if block.kind == "title"] == [docs.title(topic)]
    assert all(block.text or block.name for block in found)
    assert len(docs.title(topic)) <= 28, "the dashboard's list of topics is that wide"


def test_every_file_is_a_topic_and_an_unknown_topic_is_named() -> None:
    assert {path.stem.casefold() for path in FOLDER.glob("*.md")} == set(docs.TOPICS) - {
        docs.QUERY,
        docs.METHOD,
        docs.NAMES,
    }
    with pytest.raises(BadValue, match="scanning"):
        docs.read("../secrets")


def test_links_between_pages_and_from_the_readme_lead_to_files() -> None:
    for path in (ROOT / "README.md", *FOLDER.glob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
            assert "://" in target or (path.parent / target).is_file(), f"{path.name}: {target}"
    for topic in docs.TOPICS:
        assert f"docs/{docs.FILES.get(topic, topic + '.md')}" in README or f"aui-tui help {topic}`" in README, topic


def test_the_readme_takes_two_screens_and_a_half() -> None:
    assert len(README.splitlines()) <= 100


def test_a_recipe_names_files_and_code_that_are_there() -> None:
    folders = (".ci", ".github", "aui_tui", "tests", "themes")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts]
    files = [f"/{path.relative_to(ROOT)}" for path in (*paths, *ROOT.iterdir())]
    source = "\n".join(path.read_text(encoding="utf-8") for path in paths if path.suffix in (".py", ".sql", ".toml"))
    names = frozenset(re.findall(r"\w+", source))
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8").replace("NAME", "…")
    for code in re.findall(r"`([^`\n]+)`", text):
        for path in re.findall(r"[\w./-]+(?:/\w*|\.(?:py|sql|toml|md|yml))(?![\w./])", code):
            assert path == "/" or any(file.endswith(f"/{path.rstrip('/')}") for file in files), path
        if member := re.fullmatch(r"([A-Z]\w*[a-z])\.(\w+)", code):
            body = source.partition(f"\nclass {member[1]}(")[2].partition("\n\n\n")[0]
            assert member[2] in re.findall(r"\w+", body), code
        elif re.fullmatch(r"[A-Z]{2}[A-Z_]+|[A-Z][a-z]+[A-Z]\w+|_?[a-z]+_[a-z_]+", code):
            assert code in names, code


FORGE = [*(ROOT / ".github").rglob("*.yml"), *(ROOT / ".github").rglob("Dockerfile"), ROOT / ".pre-commit-hooks.yaml"]
SAID = [ROOT / "README.md", ROOT / ".github" / "CONTRIBUTING.md", *FOLDER.glob("*.md"), *FORGE]


def test_nothing_is_installed_by_a_name_that_anybody_may_take() -> None:
    """Nothing is published, so ``pip install aui-tui`` would run the code of whoever takes the name."""
    for path in (*SAID, *(ROOT / "aui_tui").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert not re.findall(r"pip install[^\n]*[\s\"'“](?:aui-tui(?:\[|\b(?![/.@])))[^\n]*", text), path.name
        assert not re.findall(r"default: aui-tui\s*$", text, re.MULTILINE), path.name


@pytest.mark.parametrize("path", [*FORGE, *FOLDER.glob("*.md")], ids=lambda path: path.name)
def test_actions_are_pinned_and_no_expression_reaches_a_shell(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for action in re.findall(r"uses: (\S+)", text):
        owner, _, revision = action.partition("@")
        assert owner.startswith("OWNER/") or re.fullmatch(r"[0-9a-f]{40}", revision), action
    for line in text.splitlines():
        assert "${{" not in line or re.match(r" *(?!run:)[\w-]+: ", line), line


@pytest.mark.parametrize("path", FORGE, ids=lambda path: path.name)
def test_images_are_named_by_their_digest(path: Path) -> None:
    for image in re.findall(r"^ *(?:image: |ARG BASE=|FROM )(\S+)", path.read_text(encoding="utf-8"), re.MULTILINE):
        assert image == "${BASE}" or re.search(r"@sha256:[0-9a-f]{64}$", image), image


def test_the_page_on_queries_has_every_term() -> None:
    text = docs.read("query")
    for term, meaning in (*query_line.terms(), *query_line.JOINING, *query_line.EXAMPLES):
        assert term in text
        assert meaning.replace("<", "\\<") in text


def test_a_table_keeps_its_cells_and_code_its_lines() -> None:
    text = "# T\n\n| a | b | c |\n|---|---|---|\n| `x` | two\\|2 | *three* |\n\n    one\n    two\n"
    assert list(docs.blocks(text)) == [
        ("title", "T", ""),
        ("row", "b · c", "a"),
        ("row", "two|2 · three", "x"),
        ("code", "one\ntwo", ""),
    ]


def test_help_lists_the_topics_and_prints_markdown_into_a_pipe(tmp_path: Path) -> None:
    listed = here(tmp_path, "help")
    assert [line.split()[2] for line in listed.out.splitlines()] == list(docs.TOPICS)
    shown = here(tmp_path, "help", "serving")
    assert shown.out.rstrip("\n") == docs.read("serving").rstrip("\n")
    unknown = here(tmp_path, "help", "cooking")
    assert (unknown.code, unknown.out) == (2, "")
    assert "scanning" in unknown.sentence


@pytest.mark.ci
async def test_the_dashboard_shows_a_topic() -> None:
    async with stage(CardService.of(3), (80, 24)) as pilot:
        await pilot.press("question_mark")
        await settle(pilot)
        assert "t topics" in text_of(pilot)
        await pilot.press("t")
        await settle(pilot)
        assert docs.title("scanning") in text_of(pilot)
        await pilot.press("enter")
        await settle(pilot)
        text = text_of(pilot)
        assert "aui-tui help scanning" in text
        assert "aui-tui scan example.com" in text
        await pilot.press("end")
        await settle(pilot)
        assert "the card says so" in " ".join(text_of(pilot).replace("│", " ").split())
