"""The registry fills every position of the specification, once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import msgspec
import pytest

from aui_tui.model.registry import PURPOSES, Agent, Crawler, fold, names_of, registry
from aui_tui.model.starter import Known, starter
from aui_tui.model.surfaces import SURFACES, surface_called
from aui_tui.model.vocabulary import AGENTS_TOTAL, CATEGORIES, CRAWLERS_TOTAL, LIVE_TOTAL, SURFACES_TOTAL
from aui_tui.scan.target import parse
from aui_tui.text import clean

KNOWN = registry()


def test_every_position_is_filled_in_order() -> None:
    assert [agent.key for agent in KNOWN.agents] == [f"agent_{n:02d}" for n in range(1, AGENTS_TOTAL + 1)]
    assert [crawler.key for crawler in KNOWN.crawlers] == [f"crawler_{n:02d}" for n in range(1, CRAWLERS_TOTAL + 1)]
    assert [surface.key for surface in SURFACES] == [f"matrix_key_{n}" for n in range(1, SURFACES_TOTAL + 1)]


def test_the_live_probed_agents_come_first() -> None:
    assert KNOWN.live == KNOWN.agents[:LIVE_TOTAL]
    assert all(agent.user_agent and agent.token in agent.user_agent for agent in KNOWN.live)
    assert not any("{" in agent.user_agent for agent in KNOWN.agents)
    assert KNOWN.chrome_version in KNOWN.browser_user_agent


def test_names_are_tokens_of_rfc_9309_and_differ() -> None:
    tokens = [entry.token for entry in (*KNOWN.agents, *KNOWN.crawlers)]
    assert all(re.fullmatch("[A-Za-z_-]+", token) for token in tokens)
    assert len(set(tokens)) == len(tokens)
    assert len({surface.slug for surface in SURFACES}) == SURFACES_TOTAL


@pytest.mark.parametrize(
    ("first", "second", "entries"),
    [(12, 13, KNOWN.agents), (14, 15, KNOWN.crawlers), (8, 9, KNOWN.crawlers)],
)
def test_two_casings_of_one_name_stand_where_the_specification_says(
    first: int, second: int, entries: Sequence[Agent | Crawler]
) -> None:
    one, other = entries[first - 1].token, entries[second - 1].token
    assert one != other
    assert one.lower() == other.lower()


def test_an_alias_of_a_crawler_names_it_as_one_of_an_agent_does() -> None:
    for entry in (KNOWN.agents[0], KNOWN.crawlers[0]):
        assert fold("New-Bot") in names_of(msgspec.structs.replace(entry, aliases=("New-Bot",)))


def test_surfaces_name_agents_that_exist() -> None:
    keys = {agent.key for agent in KNOWN.agents}
    for surface in SURFACES:
        assert set(surface.agents) <= keys
        assert surface.source in ("none", "live", "robots")
        assert bool(surface.live) == (surface.source == "live")
        assert surface.live in ("", *(agent.key for agent in KNOWN.live))
    assert {surface.live for surface in SURFACES if surface.live} == {agent.key for agent in KNOWN.live}


def test_look_up_by_slot_token_alias_and_casing() -> None:
    claude = KNOWN.agents[1]
    for name in ("agent_02", "Claude-User", "claude-user", "CLAUDE-USER"):
        assert KNOWN.agent(name) is claude
    assert KNOWN.agent("meta-externalfetcher") is KNOWN.agents[11]
    assert KNOWN.agent("Meta-ExternalFetcher") is KNOWN.agents[12]
    assert KNOWN.agent("nobody") is None
    assert surface_called("claude") is surface_called("matrix_key_3")
    assert surface_called("nobody") is None


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        (("gemini", "Google agents", "google agent", "matrix_key_4", "GOOGLE_AGENTS"), ["matrix_key_4"]),
        (("Google-Agent", "google-agent", "GoogleAgent-Mariner", "agent_03"), ["agent_03"]),
        (("claude", " Claude "), ["matrix_key_3"]),
        (("Alexa and Amazon agents", "amazon"), ["matrix_key_6"]),
        (("Alexa", "alexa (amazon)", "Amzn-User"), ["agent_06"]),
        (("Meta-ExternalFetcher",), ["agent_13"]),
        (("META-EXTERNALFETCHER", "meta-externalfetcher"), ["agent_12"]),
        (("Google",), ["matrix_key_4", "agent_03", "agent_09"]),
        (("openai",), ["matrix_key_1", "matrix_key_2", "agent_01", "agent_17"]),
        (("Anthropic",), ["matrix_key_3", "agent_02"]),
        (("nobody", "", "agent"), []),
    ],
)
def test_any_name_finds_its_entry_and_a_company_all_of_its_own(words: Sequence[str], keys: list[str]) -> None:
    for word in words:
        assert [entry.key for entry in KNOWN.named(word)] == keys


def test_the_surface_behind_any_name() -> None:
    for word in ("Google", "Google-Agent", "google agents", "gemini"):
        assert [surface.slug for surface in KNOWN.surfaces_of(word)] == ["gemini"]
    assert [surface.slug for surface in KNOWN.surfaces_of("OpenAI")] == ["chatgpt"]
    assert [surface.slug for surface in KNOWN.surfaces_of("chatgpt agent")] == ["chatgpt_agent"]
    assert [surface.slug for surface in KNOWN.surfaces_of("Alexa")] == ["amazon"]
    assert KNOWN.surfaces_of("Devin") == ()


def test_every_name_leads_to_its_own_entry_or_to_the_surface_it_is_asked_through() -> None:
    for entry in (*SURFACES, *KNOWN.agents):
        for name in names_of(entry):
            found = KNOWN.named(name)
            assert len(found) == 1
            assert found[0].operator == entry.operator


def test_a_product_has_one_name() -> None:
    """A live-probed agent and its surface are called alike, and nothing but the surface's own key says Gemini."""
    for surface in SURFACES:
        if surface.live:
            agent = KNOWN.agent(surface.live)
            assert agent is not None
            assert (agent.short, agent.operator) == (surface.label, surface.operator)
    assert {fold(entry.label) for entry in SURFACES} & {"gemini"} == set()


def test_the_starter_list_covers_every_category_and_writes_hosts_as_cards_are_kept() -> None:
    categories = Counter(known.category for known in starter().values())
    assert set(categories) == set(CATEGORIES)
    assert min(categories.values()) >= 10
    assert starter()["github.com"] == Known("GitHub", "Developer", True)
    for host, known in starter().items():
        assert parse(host).site == host
        assert known.seed
        assert known.name == clean(known.name).strip() != ""


def test_a_client_that_is_no_position_has_a_purpose_a_source_and_a_day() -> None:
    taken = {entry.token.lower() for entry in (*KNOWN.agents, *KNOWN.crawlers)}
    for other in KNOWN.others:
        assert other.token.lower() not in taken
        assert other.purpose in PURPOSES.values()
        assert other.doc.startswith("https://")
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", other.checked)
    assert {entry.purpose for entry in KNOWN.agents} == {"user"}
    assert {other.purpose for other in KNOWN.others} >= {"search", "training", "ads"}
