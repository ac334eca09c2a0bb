"""What sites declare for agents: every row of the table, the traps, the budget, and an agent turned away there."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

import msgspec
import pytest

from aui_tui.checks.scoring import grade_card
from aui_tui.model.card import ReportCard
from aui_tui.model.codec import decode_card, encode_card
from aui_tui.model.observations import (
    Declaration,
    Declared,
    Observations,
    Recording,
    decode_recording,
    encode_recording,
)
from aui_tui.scan.declaration_rules import rows
from aui_tui.scan.declared import MAX_REQUESTS, look
from aui_tui.scan.parser_process import ParserProcess
from aui_tui.scan.policy import ConnectTo, ScanPolicy
from aui_tui.scan.scan import observe
from tests.faults.lab import CARD, check_clean, responsive, settled
from tests.faults.site import GOOD, PAGE, QUICK, Asked, Behaviour, Site, answer, good

JSON = "application/json"
AGENT = "ChatGPT-User"
A2A = {
    "name": "Shop agent",
    "version": "1.0.0",
    "supportedInterfaces": [{"url": "https://shop.test/a2a", "protocolBinding": "JSONRPC"}],
    "capabilities": {"extensions": [{"uri": "https://github.com/google-agentic-commerce/ap2/tree/v0.1"}]},
    "skills": [{"id": "order", "name": "Order"}],
}
TERMS = base64.b64encode(json.dumps({"x402Version": 2, "accepts": [{"scheme": "exact"}]}).encode())
DOCUMENTS: Mapping[str, object] = {
    "/.well-known/agent-card.json": A2A,
    "/.well-known/agent-skills/index.json": {"skills": [{"name": "order", "type": "skill-md", "url": "/s"}]},
    "/.well-known/acp.json": {"protocol": {"name": "acp", "version": "2026-01-30"}, "api_base_url": "https://x"},
    "/.well-known/ard.json": {"specVersion": "0.91", "entries": [{"identifier": "urn:air:shop.test:a"}]},
    "/openapi.json": {"openapi": "3.1.0", "info": {"title": "Shop API", "version": "1"}, "paths": {}},
    "/.well-known/x402": {"x402Version": 2, "resources": ["https://shop.test/paid"]},
    "/ask": {"query_id": "1", "results": []},
    "/.well-known/oauth-protected-resource": {"resource": "https://shop.test/", "scopes_supported": ["read"]},
    "/.well-known/http-message-signatures-directory": {"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "AA"}]},
}
Files = dict[str, bytes]
"""Whole answers by path."""


def everything() -> Files:
    """Return the answers of a site that declares all there is."""
    files = {path: answer(json.dumps(data).encode(), content_type=JSON) for path, data in DOCUMENTS.items()}
    files["/.well-known/api-catalog"] = answer(
        b'{"linkset":[{"anchor":"https://shop.test/api","service-desc":[{"href":"/openapi.json"}]}]}',
        content_type="application/linkset+json",
    )
    files["/rsl.xml"] = answer(b'<?xml version="1.0"?><rsl xmlns="https://rslstandard.org/rsl"></rsl>')
    files["/llms-full.txt"] = answer(b"# Shop\n\nAll of it.\n", content_type="text/markdown")
    files["/auth.md"] = answer(
        b"# auth.md\n\nThis service supports agentic registration.\n", content_type="text/markdown"
    )
    return files


PAGE_WITH_TOOLS = PAGE.replace(
    b"<main>", b'<main><form toolname="search_products" tooldescription="Find"><input name=q aria-label=q></form>'
)


def serving(files: Mapping[str, bytes], page: bytes = PAGE_WITH_TOOLS, extra: bytes = b"") -> Behaviour:
    """Return the behaviour of a healthy site that also has ``files``, and negotiates Markdown where ``extra`` says."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path == "/" and "text/markdown" in asked.field("accept") and extra:
            writer.write(answer(b"# Shop\n\nAs Markdown.\n", content_type="text/markdown; charset=utf-8", extra=extra))
        elif asked.path == "/":
            writer.write(answer(page, content_type="text/html; charset=utf-8", extra=extra))
        elif asked.path in files:
            writer.write(files[asked.path])
        else:
            await good(asked, writer)
        await writer.drain()

    return behave


def is_agent(asked: Asked) -> bool:
    return AGENT in asked.field("user-agent")


def except_where(when: Callable[[Asked], bool], reply: bytes, inner: Behaviour) -> Behaviour:
    """Return ``inner`` with ``reply`` where ``when`` says; an empty one closes the connection."""

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if not when(asked):
            await inner(asked, writer)
            return
        writer.write(reply)
        await writer.drain()
        if not reply:
            writer.close()

    return behave


def turning_away(
    inner: Behaviour, path: str, reply: bytes, *, also_browser: Callable[[int], bool] = lambda n: False
) -> Behaviour:
    """Return ``inner`` with ``reply`` for the agent at ``path``; ``also_browser`` by the browser's number there."""
    seen = itertools.count(1)
    return except_where(
        lambda asked: asked.path == path and (is_agent(asked) or also_browser(next(seen))), reply, inner
    )


async def found(
    site: Site, parser: ParserProcess, access: ScanPolicy | None = None, **more: object
) -> tuple[Declared, Observations]:
    """Return what ``site`` declares, after a scan of it; the requests of the scan are forgotten."""
    access = access or site.access()
    seen = await observe(access.target(site.url), parser=parser, access=access)
    site.forget()
    async with responsive():
        declared = await look(seen, access=access, **more)  # type: ignore[arg-type]
    assert declared.requests == len(site.asked) <= MAX_REQUESTS
    assert [entry.key for entry in declared.entries] == [row.key for row in rows()]
    check_clean(json.loads(encode_card(with_card(seen, declared))))
    return declared, seen


async def declared_by(behave: Behaviour, parser: ParserProcess) -> Declared:
    """Return what a site that behaves so declares."""
    async with Site(default=behave) as site:
        return (await found(site, parser))[0]


def with_card(seen: Observations, declared: Declared) -> ReportCard:
    return grade_card(msgspec.structs.replace(seen, declared=declared))


def entry(declared: Declared, key: str) -> Declaration:
    return next(entry for entry in declared.entries if entry.key == key)


def keys(declared: Declared, state: str = "declared") -> set[str]:
    return {entry.key for entry in declared.of(state)}


def test_the_table_says_of_each_row_what_it_is_and_where_that_is_written() -> None:
    assert len({row.key for row in rows()}) == len({row.name for row in rows()}) == len(rows()) == 18
    for row in rows():
        assert row.what.endswith(".")
        assert row.recognised
        assert row.source.startswith("https://")
        assert row.places or row.accept or row.header or row.markup or row.within
        assert all(place.startswith("/") for place in row.places)


async def test_a_site_that_declares_everything(parser: ParserProcess) -> None:
    server = {"identifier": "urn:air:shop.test:a", "type": "application/mcp-server-card+json"}
    catalogue = answer(json.dumps({"entries": [server]}).encode(), content_type="application/json")
    files = everything() | {"/.well-known/ard.json": catalogue}
    async with Site(default=serving(files, extra=b"Content-Usage: train-ai=n\r\n")) as site:
        declared, seen = await found(site, parser)
    assert keys(declared) == {row.key for row in rows()}
    assert {entry.agent for entry in declared.entries if entry.agent} == {"served"}
    assert entry(declared, "a2a") == Declaration(
        key="a2a",
        name="A2A agent card",
        state="declared",
        where="/.well-known/agent-card.json",
        detail="Shop agent",
        agent="served",
        status=200,
    )
    assert entry(declared, "aipref").detail == "train-ai=n"
    assert entry(declared, "webmcp").detail == "search_products"
    assert entry(declared, "openapi").detail == "Shop API"
    assert entry(declared, "skills").detail == "1 entry"
    assert declared.agent == AGENT
    card = with_card(seen, declared)
    plain = grade_card(seen)
    assert (card.score, card.grade, card.stance) == (plain.score, plain.grade, plain.stance)
    assert card.evidence == plain.evidence
    assert b'"declared"' not in encode_card(plain)
    assert decode_card(encode_card(card)) == msgspec.structs.replace(card, ledger=msgspec.UNSET)
    assert json.loads(encode_card(card, "slots"))["declared"]["agent"] == "agent_01"
    foreign = encode_card(card).replace(b'"declared":{', b'"declared":{"of":"another index"},"other":{', 1)
    assert decode_card(foreign) == msgspec.structs.replace(card, declared=msgspec.UNSET, ledger=msgspec.UNSET)
    CARD.validate(json.loads(encode_card(card)))
    kept = Recording(observations=msgspec.structs.replace(seen, declared=declared))
    assert decode_recording(encode_recording(kept)) == kept


async def test_a_site_that_declares_nothing_is_asked_once_for_each_place(parser: ParserProcess) -> None:
    async with Site() as site:
        declared, _ = await found(site, parser)
    assert keys(declared, "absent") == {row.key for row in rows()}
    assert sorted(asked.path for asked in site.asked) == sorted(["/", *(path for row in rows() for path in row.places)])
    assert not any(is_agent(asked) for asked in site.asked)


LINES = b"User-agent: *\nDisallow: /cart\n\nLicense: http://shop.test/terms.xml\nAgentmap: http://other.test/ard.json\n"
LINES += b"Content-Usage: train-ai=n\nSchemamap: /feeds.xml\n# License: https://comment.test/\n"


async def test_lines_of_robots_txt_declare_and_say_where_to_ask(parser: ParserProcess) -> None:
    files = {
        "/robots.txt": answer(LINES, content_type="text/plain"),
        "/terms.xml": answer(
            b"<!-- terms -->\n<rsl:rsl xmlns:rsl='https://rslstandard.org/rsl'/>", content_type="text/xml"
        ),
    }
    async with Site(default=serving(files, page=PAGE)) as site:
        declared, _ = await found(site, parser)
    assert keys(declared) == {"rsl", "ard", "aipref", "nlweb"}
    assert entry(declared, "rsl").where == "/terms.xml, named in robots.txt, line 4"
    assert entry(declared, "rsl").agent == "served"
    assert entry(declared, "ard").where == "robots.txt, line 5"
    assert "/ask" not in {asked.path for asked in site.asked}
    assert {asked.field("host") for asked in site.asked} == {"shop.test"}


async def test_links_of_the_homepage_say_where_to_ask(parser: ParserProcess) -> None:
    page = PAGE.replace(
        b"</head>",
        b"<link rel='license' type='application/rsl+xml' href='/l.xml'><link rel=license href=/cc>"
        b"<script>document.modelContext?.registerTool({})</script></head>",
    )
    files = {
        "/api.json": answer(json.dumps(DOCUMENTS["/openapi.json"]).encode(), content_type=JSON),
        "/l.xml": answer(b"nothing of the kind", content_type="text/plain"),
    }
    extra = b'Link: </api.json>; rel="service-desc"; type="application/json", <https://other.test/a>; rel=ard\r\n'
    declared = await declared_by(serving(files, page=page, extra=extra), parser)
    assert entry(declared, "openapi").where == "/api.json"
    assert entry(declared, "rsl").where == "link element of the homepage"
    assert entry(declared, "rsl").why == "/l.xml does not have it"
    assert entry(declared, "ard").where == "Link field of the homepage"
    assert entry(declared, "webmcp").detail == "registered by a script"
    assert keys(declared) == {"openapi", "rsl", "ard", "webmcp", "markdown"}


async def test_older_places_and_forms_count(parser: ParserProcess) -> None:
    files = {
        "/.well-known/agent.json": answer(b'{"name":"A","url":"https://x","capabilities":{"streaming":true}}'),
        "/license.xml": answer(b"<rsl/>"),
        "/ask": answer(b'data: {"query_id":"1","message_type":"begin"}\n\n', content_type="text/event-stream"),
        "/.well-known/x402": answer(b'{"x402Version":1,"accepts":[{}]}', "402 Payment Required", JSON),
    }
    declared = await declared_by(serving(files, page=PAGE), parser)
    assert {"a2a", "nlweb", "x402"} <= keys(declared)
    assert entry(declared, "a2a").where == "/.well-known/agent.json"
    assert entry(declared, "x402").agent == "payment"
    assert not any(entry.contradicted for entry in declared.entries)


async def test_a_402_of_a_homepage_declares_its_terms(parser: ParserProcess) -> None:
    reply = answer(b"pay", "402 Payment Required", extra=b"PAYMENT-REQUIRED: " + TERMS + b"\r\n")
    declared = await declared_by(turning_away(good, "/", reply), parser)
    assert entry(declared, "x402").where == "the homepage (402)"


HTML = answer(b"<!doctype html><title>Shop</title><p>The same page for every path", content_type="text/html")
HOSTILE = "\x1b]0;owned\x07[link=x]<b>" + "A" * 5000
TRAPS: dict[str, bytes] = {
    "a page for every path": HTML,
    "a page called JSON": answer(b"<!doctype html><title>Shop</title>", content_type=JSON),
    "a soft 404": answer(b"<!doctype html><title>Not found</title><h1>404</h1>", content_type="text/html"),
    "a soft 404 as Markdown": answer(b"# 404 Not found\n", content_type="text/markdown"),
    "one text for every path": answer(b"# Welcome\n\nto our shop\n", content_type="text/markdown"),
    "an error as JSON": answer(b'{"error":"not found","status":404}', content_type=JSON),
    "an empty object": answer(b"{}", content_type=JSON),
    "one document for every path": answer(
        json.dumps(A2A | {"openapi": "3.1.0", "info": {"title": "x"}}).encode(), content_type=JSON
    ),
    "a list": answer(b'[{"name":"x"}]', content_type=JSON),
    "nothing": answer(b"", content_type=JSON),
    "the homepage by redirect": answer(b"", "302 Found", extra=b"Location: /\r\n"),
    "a page to log in": answer(b"", "302 Found", extra=b"Location: /login?next=x\r\n"),
    "another site": answer(b"", "301 Moved", extra=b"Location: https://other.test/.well-known/agent-card.json\r\n"),
    "a redirect to itself": answer(b"", "307 Temporary", extra=b"Location: ?again\r\n"),
    "deep JSON": answer(b"[" * 200_000, content_type=JSON),
    "wrong kinds": answer(
        b'{"name":[1],"url":{},"skills":"x","linkset":{},"openapi":3,"entries":[]}', content_type=JSON
    ),
    "a block page": answer(
        b"<title>Attention Required! | Cloudflare</title>", "403 Forbidden", extra=b"cf-mitigated: challenge\r\n"
    ),
}


@pytest.mark.parametrize("trap", TRAPS)
async def test_what_a_site_answers_to_every_path_declares_nothing(parser: ParserProcess, trap: str) -> None:
    declared = await declared_by(except_where(lambda asked: asked.path not in GOOD, TRAPS[trap], good), parser)
    assert keys(declared) == set()
    assert not any(entry.contradicted for entry in declared.entries)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/markdown", "# Oops\n\nThere is nothing at {path}.\n"),
        (JSON, '{{"openapi":"3.1.0","info":{{"title":"{path}"}},"name":"{path}","url":"x","skills":[1]}}'),
    ],
    ids=["text", "JSON"],
)
async def test_an_answer_to_every_path_that_names_the_path_declares_nothing(
    parser: ParserProcess, kind: str, body: str
) -> None:
    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path in GOOD:
            await good(asked, writer)
        else:
            writer.write(answer(body.format(path=asked.path).encode(), content_type=kind))
            await writer.drain()

    declared = await declared_by(behave, parser)
    assert keys(declared) == set()


async def test_a_long_body_is_read_as_far_as_the_limits_allow(parser: ParserProcess) -> None:
    padding = b'"x-padding":"' + b"a" * (600 << 10) + b'"'
    files = {
        "/openapi.json": answer(b'{"openapi":"3.1.0","info":{"title":"Long"},' + padding + b"}", content_type=JSON),
        "/.well-known/agent-card.json": answer(
            b'{"name":"Long","url":"https://x",' + padding + b"}", content_type=JSON
        ),
        "/llms-full.txt": answer(b"# Long\n" + b"words " * (100 << 10), content_type="text/plain"),
    }
    declared = await declared_by(serving(files, page=PAGE), parser)
    assert keys(declared) == {"openapi", "llms-full"}
    assert entry(declared, "a2a").why == "/.well-known/agent-card.json is longer than is read"


async def test_hostile_text_is_cleaned(parser: ParserProcess) -> None:
    card = {"name": HOSTILE, "url": "https://x", "skills": [1]}
    page = PAGE.replace(b"<main>", b'<main><form toolname="' + HOSTILE.replace('"', "").encode() + b'">')
    files = {
        "/.well-known/agent-card.json": answer(json.dumps(card).encode(), content_type=JSON),
        "/robots.txt": answer(b"License: https://x/" + HOSTILE.encode() + b"\n", content_type="text/plain"),
    }
    declared = await declared_by(serving(files, page=page, extra=b"Content-Usage: train-ai=n \x1b[2J\r\n"), parser)
    assert {"a2a", "webmcp"} <= keys(declared)
    assert all(len(entry.detail) <= 80 for entry in declared.entries)


async def test_hostile_sizes_do_not_hold_the_event_loop(parser: ParserProcess) -> None:
    page = b"<!doctype html><title>x</title>" + b"<link rel=\"a b=' href=<form toolname=" * 20_000
    lines = b"a:b\n" * 16_000
    files = {path: answer(b'{"a":' * 50_000, content_type=JSON) for path in DOCUMENTS} | {
        "/robots.txt": answer(lines, content_type="text/plain"),
        "/rsl.xml": answer(b"<!-- " * 50_000, content_type="text/xml"),
        "/llms-full.txt": answer(b"#" * (256 << 10), content_type="text/plain"),
    }
    extra = b"Link: " + b"<a" * 8_000 + b"\r\nContent-Usage: " + b"a" * 8_000 + b"\r\n"
    declared = await declared_by(serving(files, page=page, extra=extra), parser)  # asserts that the loop stays free
    assert keys(declared) == {"markdown"}


PATH = "/.well-known/agent-card.json"
REFUSAL = answer(b"no", "403 Forbidden")
ELSEWHERE = answer(b"", "302 Found", extra=b"Location: https://agents.shop.test/card.json\r\n")
CHALLENGE = answer(b"<title>Just a moment...</title>", "403 Forbidden", extra=b"cf-mitigated: challenge\r\n")


@pytest.mark.parametrize(
    ("reply", "verdict", "status"),
    [
        (REFUSAL, "refused", 403),
        (CHALLENGE, "challenged", 403),
        (b"", "refused", 0),
        (answer(b"", "401 No"), "refused", 401),
    ],
    ids=["refused", "challenged", "dropped", "sign-in"],
)
async def test_an_agent_that_is_turned_away_where_the_site_declares(
    parser: ParserProcess, reply: bytes, verdict: str, status: int
) -> None:
    async with Site(default=turning_away(serving(everything()), PATH, reply)) as site:
        declared, _ = await found(site, parser)
    assert [(entry.key, entry.agent, entry.status) for entry in declared.entries if entry.contradicted] == [
        ("a2a", verdict, status)
    ]
    rounds = [is_agent(asked) for asked in site.asked if asked.path == PATH]
    assert rounds == [False, True, False, True, False]  # found; two rounds, the browser after the agent each time


async def test_a_site_that_shuts_agents_out_and_declares_for_them(parser: ParserProcess) -> None:
    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        files = {PATH: answer(json.dumps(A2A).encode(), content_type=JSON)}
        await (serving({}, page=PAGE) if asked.place == "browser" and asked.path not in files else serving(files))(
            asked, writer
        )

    async with Site(default=except_where(is_agent, REFUSAL, behave)) as site:
        declared, seen = await found(site, parser)
    assert next(probe for probe in seen.live if probe.name == "agent_01").controls
    assert [entry.key for entry in declared.entries if entry.contradicted] == ["a2a"]


@pytest.mark.parametrize(
    ("also_browser", "reply", "why"),
    [
        (lambda number: True, REFUSAL, "answers the browser 403"),
        (lambda number: number > 1, REFUSAL, "the browser was turned away too"),
        (lambda number: False, answer(b"", "503 Busy"), "it answers 503, as a limit on requests may"),
        (lambda number: False, answer(b"", "429 Slow down"), "it answers 429, as a limit on requests may"),
        (lambda number: False, answer(b"", "404 Not Found"), "it gets another answer than the browser"),
        (lambda number: False, HTML, "it gets another answer than the browser"),
        (lambda number: False, ELSEWHERE, "it is sent to another address"),
    ],
    ids=["refused to all", "refused to all later", "busy", "limited", "not there", "another page", "sent elsewhere"],
)
async def test_without_a_control_nobody_is_accused(
    parser: ParserProcess, also_browser: Callable[[int], bool], reply: bytes, why: str
) -> None:
    behave = turning_away(serving(everything()), PATH, reply, also_browser=also_browser)
    declared = await declared_by(behave, parser)
    assert not any(entry.contradicted for entry in declared.entries)
    assert entry(declared, "a2a").agent in ("", "inconclusive")
    assert why in entry(declared, "a2a").why


async def test_an_agent_that_is_let_in_later_was_met_by_chance(parser: ParserProcess) -> None:
    refusals = iter([True])
    behave = except_where(
        lambda asked: asked.path == PATH and is_agent(asked) and next(refusals, False), REFUSAL, serving(everything())
    )
    declared = await declared_by(behave, parser)
    assert entry(declared, "a2a").agent == "served"


async def test_a_site_that_turns_the_agent_away_everywhere_is_asked_as_often_as_allowed(parser: ParserProcess) -> None:
    behave = except_where(lambda asked: is_agent(asked) and asked.path not in GOOD, REFUSAL, serving(everything()))
    async with Site(default=behave) as site:
        declared, _ = await found(site, parser)
    assert len(site.asked) == MAX_REQUESTS
    assert any(entry.contradicted for entry in declared.entries)
    left = [entry for entry in declared.entries if entry.agent == "inconclusive"]
    assert left
    assert all(entry.why == f"the limit of {MAX_REQUESTS} requests was reached" for entry in left)


async def test_robots_txt_that_disallows_a_declared_path(parser: ParserProcess) -> None:
    rules = answer(b"User-agent: *\nDisallow: /.well-known/\n", content_type="text/plain")
    declared = await declared_by(serving(everything() | {"/robots.txt": rules}), parser)
    assert entry(declared, "a2a").agent == "disallowed"
    assert entry(declared, "openapi").agent == "served"
    assert not any(entry.contradicted for entry in declared.entries)


async def test_requests_keep_the_pace_and_the_time_of_the_scan(parser: ParserProcess) -> None:
    times: list[float] = []

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        times.append(time.monotonic())
        await good(asked, writer)

    async with Site(default=behave) as site:
        access = site.access()
        seen = await observe(access.target(site.url), parser=parser, access=access)
        times.clear()
        await look(seen, access=replace(access, limits=replace(QUICK, pace=0.1)))
        assert min(b - a for a, b in itertools.pairwise(times)) >= 0.09
        site.forget()
        declared = await look(seen, access=access, spent=QUICK.whole)
    assert not site.asked
    assert keys(declared, "declared") == set()
    assert entry(declared, "a2a").why.endswith("the time of the scan ended")


async def test_cancelling_ends_the_requests_and_the_connections(parser: ParserProcess) -> None:
    reached = asyncio.Event()

    async def behave(asked: Asked, writer: asyncio.StreamWriter) -> None:
        if asked.path == PATH:
            reached.set()
            await asyncio.sleep(60)
        await good(asked, writer)

    async with Site(default=behave) as site:
        access = site.access()
        seen = await observe(access.target(site.url), parser=parser, access=access)
        task: asyncio.Task[Declared] = asyncio.create_task(look(seen, access=access))
        await reached.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await settled(site) == 0


async def test_private_fields_go_to_the_scanned_origin_alone_and_into_no_record(parser: ParserProcess) -> None:
    files = {PATH: answer(json.dumps(A2A | {"name": "echo s3cret-token"}).encode(), content_type=JSON)}
    async with Site(default=serving(files, page=PAGE)) as site:
        access = site.access(headers=(("X-Key", "s3cret-token"),))
        declared, _ = await found(site, parser, access)
        assert {asked.field("x-key") for asked in site.asked} == {"s3cret-token"}
    assert entry(declared, "a2a").detail == "echo …"


@pytest.mark.parametrize(
    ("to", "secret", "host"),
    [
        ("www.shop.test", (), "www.shop.test"),
        ("login.test", (), "shop.test"),
        ("www.shop.test", (("X-Key", "s3cret-token"),), "shop.test"),
    ],
    ids=["www", "another site", "with a secret"],
)
async def test_the_places_are_asked_where_the_homepage_is(
    parser: ParserProcess, to: str, secret: tuple[tuple[str, str], ...], host: str
) -> None:
    moved = answer(b"", "301 Moved", extra=f"Location: http://{to}/\r\n".encode())
    behave = except_where(
        lambda asked: asked.path == "/" and asked.field("host") == "shop.test", moved, serving(everything(), page=PAGE)
    )
    async with Site(default=behave) as site:
        access = site.access(connect_to=(ConnectTo(to, 80, "127.0.0.1", site.port),), headers=secret)
        declared, _ = await found(site, parser, access)
    assert {asked.field("host") for asked in site.asked} == {host}
    assert "a2a" in keys(declared)


MCP_CARD = json.dumps({"name": "test.shop/mcp", "version": "1", "remotes": [{"url": "http://shop.test/mcp"}]}).encode()
WELCOME = {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-11-25", "serverInfo": {"name": "shop"}}}


@pytest.mark.parametrize(
    ("reply", "said", "broken"),
    [
        (answer(b"gone", "404 Not Found", "text/plain"), "its server /mcp does not answer initialize (404)", True),
        (answer(b"<h1>Shop</h1>"), "its server /mcp does not answer initialize (200)", True),
        (answer(json.dumps(WELCOME).encode(), content_type=JSON), "its server /mcp answers initialize", False),
        (
            answer(
                b"event: message\ndata: " + json.dumps(WELCOME).encode() + b"\n\n", content_type="text/event-stream"
            ),
            "its server /mcp answers initialize",
            False,
        ),
        (answer(b"", "401 Unauthorized", "text/plain"), "its server /mcp asks for authorization (401)", False),
        (answer(b"", "503 Service Unavailable", "text/plain"), "", False),
    ],
)
async def test_the_server_of_an_mcp_card_is_greeted(
    parser: ParserProcess, reply: bytes, said: str, broken: bool
) -> None:
    greeted: list[Asked] = []

    def is_greeting(asked: Asked) -> bool:
        greeted.extend([asked] if asked.path == "/mcp" else [])
        return asked.path == "/mcp"

    files = {"/.well-known/mcp.json": answer(MCP_CARD, content_type=JSON)}
    async with Site(default=except_where(is_greeting, reply, serving(files, page=PAGE))) as site:
        access = site.access()
        seen = await observe(access.target(site.url), parser=parser, access=access)
        declared = await look(seen, access=access)
    assert [(one.said, one.broken) for one in declared.tried] == ([(said, broken)] if said else [])
    assert [asked.line.split(" ")[0] for asked in greeted] == ["POST"]
    card, plain = with_card(seen, declared), grade_card(seen)
    assert (card.score, card.pillars) == (plain.score, plain.pillars)
    assert [bool(said) and said in line.text for line in card.evidence].count(True) == int(broken)
    CARD.validate(json.loads(encode_card(card)))


async def test_what_a_document_promises_and_lacks_is_said(parser: ParserProcess) -> None:
    page = PAGE.replace(b"</head>", b"<script>navigator.modelContext.provideContext({tools: []})</script></head>")
    skills = {"skills": [{"name": name, "url": f"/skills/{name}.md"} for name in ("order", "pay", "track", "more")]}
    files = {
        "/.well-known/agent-skills/index.json": answer(json.dumps(skills).encode(), content_type=JSON),
        "/skills/pay.md": answer(b"# Pay\n", content_type="text/markdown"),
        "/openapi.json": answer(b'{"openapi": "3.1.0", "info": {', content_type=JSON),
    }
    async with Site(default=serving(files, page=page)) as site:
        access = site.access()
        seen = await observe(access.target(site.url), parser=parser, access=access)
        declared = await look(seen, access=access)
    (tried,) = declared.tried
    assert (tried.where, tried.broken) == ("/.well-known/agent-skills/index.json", True)
    assert tried.said == "2 of 3 entries tried are not there: /skills/order.md, /skills/track.md"
    assert entry(declared, "openapi").state == "inconclusive"
    assert entry(declared, "openapi").why == "/openapi.json is no valid JSON"
    assert entry(declared, "webmcp").detail == "registered by a script, by an outdated name: provideContext"
