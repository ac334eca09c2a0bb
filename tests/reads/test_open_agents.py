"""Open agents at the door: each client as it was measured, refusals controlled, and what each form says of them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.cli.cardview import lines
from aui_tui.cli.terminal import Paint
from aui_tui.errors import BadValue
from aui_tui.index.packed import columns_of
from aui_tui.model.agents import open_readers
from aui_tui.model.codec import encode_card
from aui_tui.model.observations import Observations, Recording, decode_recording, encode_recording
from aui_tui.model.open_agents import clients, table, tool_called
from aui_tui.model.query_line import parse
from aui_tui.model.report import HostReport
from aui_tui.report.export import write_cards
from aui_tui.report.sections import sections
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.scan import observe
from tests.faults.behaviours import sends
from tests.faults.site import GOOD, QUICK, Asked, Behaviour, Site, answer, good

REQUESTS = ("smolagents", "markitdown", "llama-index-readers-web", "strands-agents-tools")


def refusing(name: str) -> Behaviour:
    async def behave(asked: Asked, writer: object) -> None:
        refused = asked.path == "/" and name in asked.field("user-agent")
        await (sends(answer(b"<title>no</title>no", "403 Forbidden")) if refused else good)(asked, writer)  # type: ignore[arg-type]

    return behave


async def seen(site: Site, parser: ParserProcess, **more: object) -> Observations:
    access = replace(site.access(replace(QUICK, whole=40.0)), open_agents=True, **more)  # type: ignore[arg-type]
    return await observe(site.target, parser=parser, access=access)


def report_of(found: Observations) -> HostReport:
    return HostReport(card=grade_card(found), observations=found)


def words(found: Observations) -> dict[str, str]:
    assert found.open_door is not None
    return open_readers(found.open_door)


def part(found: Observations) -> str:
    [section] = [one for one in sections(report_of(found)) if one.name == "open-agents"]
    return "\n".join([section.text, *(f"{item.label} | {item.word} | {item.text}" for item in section.items)])


def test_tools_that_send_the_same_are_one_client() -> None:
    assert {tool for client in clients().values() for tool in client.tools} == {tool.key for tool in table().tool}
    assert clients()["smolagents"].tools == ("smolagents", "strands-agents-tools")
    assert len(clients()) == 12


async def test_each_client_asks_as_it_was_measured_and_all_get_in(parser: ParserProcess) -> None:
    async with Site() as site:
        found = await seen(site, parser)
    assert set(words(found).values()) == {"in"}
    assert len(words(found)) == 13
    asked = Counter((one.field("user-agent"), one.field("accept"), one.field("accept-encoding")) for one in site.asked)
    for client in clients().values():
        assert asked[client.user_agent, client.accept, client.encodings] == 1, client.name
    assert "13 of 13 open readers that we ran get the homepage" in part(found)
    assert any(one.id == "readers-in" for one in report_of(found).card.findings)


async def test_a_name_that_is_refused_is_refused_for_all_who_send_it(parser: ParserProcess) -> None:
    async with Site(default=refusing("python-requests")) as site:
        found = await seen(site, parser)
        plain = await observe(site.target, parser=parser, access=site.access())
    assert {key for key, word in words(found).items() if word == "refused"} == set(REQUESTS)
    assert found.open_door is not None
    for one in found.open_door.exchanges[1:]:
        assert (one.outcome == "refused") is (one.controls >= 2), one.name
    shown = part(found)
    assert "python-requests/2.34.2 is the name of smolagents, markitdown, llama-index-readers-web and" in shown
    assert "strands-agents-tools takes the words of a refusal for the page" in shown
    card, other = report_of(found).card, report_of(plain).card
    assert (card.score, card.stance, card.matrix, card.pillars) == (
        other.score,
        other.stance,
        other.matrix,
        other.pillars,
    )
    [away] = [one for one in card.findings if one.id == "readers-away"]
    assert "smolagents, strands-agents-tools, markitdown, llama-index-readers-web (403 Forbidden)." in away.text
    assert plain.open_door is None
    assert not [one for one in sections(report_of(plain)) if one.name == "open-agents"]
    again = decode_recording(encode_recording(Recording(observations=found))).observations
    assert words(again) == words(found)


async def test_a_client_stops_at_its_own_number_of_redirects(parser: ParserProcess) -> None:
    async def hops(asked: Asked, writer: object) -> None:
        left = int(asked.path.removeprefix("/hop/") or 0) if asked.path.startswith("/hop/") else 4
        if asked.path != "/" and not asked.path.startswith("/hop/"):
            await good(asked, writer)  # type: ignore[arg-type]
            return
        to = f"Location: /hop/{left - 1}\r\n".encode()
        page = answer(GOOD["/"][1]) if left == 0 else answer(b"", "302 Found", extra=to)
        await sends(page)(asked, writer)  # type: ignore[arg-type]

    async with Site(default=hops) as site:
        found = await seen(site, parser)
    assert {key for key, word in words(found).items() if word != "in"} == {"trafilatura"}
    assert "trafilatura | refused | it redirects more than 2 times" in part(found)


@pytest.mark.parametrize(
    ("status", "rules", "kept_out"),
    [
        ("200 OK", b"User-agent: ModelContextProtocol\nDisallow: /\n", True),
        ("200 OK", b"User-agent: *\nDisallow: /cart\n", False),
        ("403 Forbidden", b"", True),
        ("404 Not Found", b"", False),
    ],
)
async def test_a_reader_that_asks_robots_txt_is_kept_out_by_it(
    parser: ParserProcess, status: str, rules: bytes, kept_out: bool
) -> None:
    async with Site(faults={"robots": sends(answer(rules, status, "text/plain"))}) as site:
        found = await seen(site, parser)
    assert words(found)["mcp-server-fetch"] == ("told no" if kept_out else "in")
    assert Counter(words(found).values())["in"] == 13 - kept_out


async def test_where_nobody_is_served_nobody_else_is_asked(parser: ParserProcess) -> None:
    async with Site(default=sends(answer(b"no", "403 Forbidden"))) as site:
        found = await seen(site, parser)
    assert found.open_door is None
    assert "Open agents were not asked, because nobody was served the homepage" in found.warnings


async def test_the_query_finds_what_a_reader_gets(parser: ParserProcess) -> None:
    async with Site(default=refusing("DefaultLangchain")) as site:
        found = await seen(site, parser)
        plain = await observe(site.target, parser=parser, access=site.access())
    column = columns_of(report_of(found).card, found)["crawlers"]
    bare = columns_of(report_of(plain).card, plain)["crawlers"]

    def holds(line: str, column: str) -> bool:
        [term] = parse(line)
        have = [str(value) in column for value in term.values]
        return not any(have) if "= 0" in term.sql else any(have)

    assert holds("open:langchain=out", column)
    assert holds("open:any=out", column)
    assert not holds("open:smolagents=out", column)
    assert holds("open:smolagents,langchain=in", column)
    assert not holds("open:langchain=out", bare)
    assert holds("open:langchain=not-asked", bare)


@pytest.mark.parametrize(
    ("line", "words_of_error"),
    [
        ("open:langchain-comunity=out", "did you mean langchain-community?"),
        ("open:langchain", "open:langchain needs a verdict"),
        ("open:langchain=outt", "did you mean out?"),
        ("open:", "needs a value"),
    ],
)
def test_a_wrong_term_gets_one_sentence(line: str, words_of_error: str) -> None:
    with pytest.raises(BadValue, match=words_of_error.replace("?", r"\?")):
        parse(line)


def test_a_tool_is_known_by_its_beginning() -> None:
    assert tool_called("LangChain") == "langchain-community"
    with pytest.raises(BadValue):
        tool_called("mar kit")


async def test_every_form_of_the_report_says_it_and_the_record_keeps_its_fields(parser: ParserProcess) -> None:
    from aui_tui.web.toolset import card_result

    async with Site(default=refusing("python-requests")) as site:
        report = report_of(await seen(site, parser))
        plain = report_of(await observe(site.target, parser=parser, access=site.access()))
    paint = Paint(width=100, ascii=True)
    said = {form: "".join(write_cards(form, [report])) for form in ("markdown", "html")}
    said["command"] = "\n".join(lines(report, paint))
    said["mcp"] = str(card_result(report, "http://127.0.0.1").content)
    for form, text in said.items():
        assert "smolagents and strands-agents-tools" in " ".join(text.split()), form
        assert "refused (403), as python-requests/2.34.2" in " ".join(text.split()), form
    record, other = (json.loads(encode_card(one.card)) for one in (report, plain))
    assert record.keys() == other.keys()
    assert any("4 of 13 open readers that we ran" in line["text"] for line in record["evidence"])
    assert "open readers that we ran get" not in "\n".join(lines(plain, paint))
