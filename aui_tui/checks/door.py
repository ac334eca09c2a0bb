"""The door: whether an agent gets the homepage that a browser gets, and what refuses it if not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from typing import Final
from urllib.parse import urlsplit

from aui_tui.checks.check import WELCOME, Advice, Check, Earned, file_name, sentence_list
from aui_tui.checks.door_fix import REQUEST, door_advice, fields, is_fault, let_everybody_in
from aui_tui.checks.judge import Judgement, Probed
from aui_tui.checks.site import Site
from aui_tui.checks.wording import (
    NAMED,
    answer,
    answers,
    at_lines,
    clause,
    listed,
    name_of,
    quoted,
    silence_reason,
)
from aui_tui.model import labels
from aui_tui.model.card import QUOTE, Finding
from aui_tui.model.labels import status
from aui_tui.model.methods import round_half_up
from aui_tui.model.observations import (
    ACCEPTS_ANYTHING,
    ANOTHER_PAGE,
    BROWSER,
    FILE_PROBES,
    FORGERIES,
    LAX,
    NOT_VERIFIED,
    SIGNED_FORMS,
    UNFOLLOWED,
    VERIFIED,
    Attempt,
    Exchange,
    Observations,
    SignedProbe,
)
from aui_tui.model.registry import registry
from aui_tui.model.verdicts import AWAY, FORMAT, MORE, NEGOTIATED, REAL, REAL_AGENT
from aui_tui.model.vocabulary import CHALLENGED, INCONCLUSIVE, LIVE_TOTAL, REFUSED, SERVED, has_edge
from aui_tui.text import count, joined

PROOF: Final = ", asked again alone, with {control} served right before and after"
"""How it is known that a refusal is for the agent."""
VERSIONS: Final = {
    MORE: "more to read",
    FORMAT: "another format",
    NEGOTIATED: "another language or a choice of them, by what it accepts",
}
"""What differs in a page that serves an agent, by the outcome of its comparison."""
SENTENCES: Final = sentence_list(
    """
    critical shut-out: <<Agents>> <<gets|get>> <<what>> / AI agents are shut out
        AI agents are shut out: <<agents>> <<gets|get>> <<what>> while a browser gets the homepage
        (<<browser>>)<<proof>>. <<robots>>Users who send an agent see an error.
    critical everybody-challenged: Everybody meets a wall
        Everybody meets a wall: the browser probe and <<agents>> get <<what>>, which a person may pass and an agent
        cannot<<real>>.
    critical browser-walled: Everybody meets a wall
        The browser probe gets <<what>>, which a person may pass and an agent cannot, and no agent gets the
        homepage<<real>>.
    critical programs: Programs are shut out
        Programs are shut out, whatever their name: <<agents>> <<gets|get>> <<what>>, and so does this scan under a
        browser’s name, while a real browser (<<client>>) gets the homepage<<named>>. Users who send an agent see an
        error.
    critical agents-away: <<Agents>> <<gets|get>> <<what>> / <<Agents>> <<is|are>> turned away / Agents are turned away
        <<Agents>> <<gets|get>> <<what>><<contrast>><<proof>>. <<robots>>Users who send an agent see an error.
    critical page-away: Agents are turned away at <<path>> / Agents are turned away at another page
        At <<path>> <<agents>> <<gets|get>> <<what>> while a browser gets that page (<<browser>>)<<proof>>. Not scored.
    critical signed-anything: Any signature lets <<agent>> in / Any signature lets an agent in
        <<agent>> is let in by anything that looks signed: without a signature it is refused (<<unsigned>>), with
        <<false>> it is served. Check the signature itself with the key that its keyid names, and its times.
    critical tls: TLS fails before any page
        TLS fails before any page is asked for: a browser warns its user there, and an agent stops.
    warn note quote: What to quote to <<vendor>> / What to quote to the operator
        To ask <<vendor>> about it, quote the <<word>> <<ids>>.
    warn agent-payment: Agents are asked to pay (402)
        <<Agents>> <<is|are>> asked to pay: status 402 Payment Required with machine-readable terms.
    warn note probe-limit: Limit of this test
        Limit of this test: a probe borrows an agent's name without its address or signature, so a site that verifies
        agents may refuse the probe and still serve the agent.
    warn note address: Not known whether <<agents>> <<gets|get>> in / Not known whether some agents get in
        Not known whether <<agents>> <<gets|get>> in: here <<it gets|they get>> <<what>>, as a search engine’s name
        does, while an unknown name is served. The site seems to admit such names from their operators’ own addresses
        alone. aui-tui visits (your access log), AUI_TUI_SIGN=1, or letting this address in would show it.
    warn note cause-name: The name in User-Agent decides
        The site decides by the name in User-Agent (<<agents>>): the name is turned away with a browser's other header
        fields too, and a browser's name is served with the agent's other fields.
    warn note cause-field: <<field>> decides / A header field decides
        The site does not decide by the name of <<agents>> but by <<field>>: a browser's name is turned away too when
        it is sent as the agent sends it, and served when only that is changed to what a browser sends.
    warn cause-fault: The program fails without <<field>> / The program fails
        The homepage fails (<<what>>) for every client that does not send <<field>> as a browser does, whatever its
        name: a fault of the site's program, which <<agents>> <<meets|meet>>.
    warn note cause-fields: Other header fields decide
        The site does not decide by the name of <<agents>> but by other header fields: a browser's name with the
        agent's other fields is turned away too. It is not known which of them decides; possible are <<field>>.
    warn note cause-together: Name and header fields together decide
        The site decides by the name of <<agents>> together with the other header fields, by neither alone: the name
        with a browser's fields is served, and so is a browser's name with the agent's fields.
    warn note cause-either: Name or header fields decide, each alone
        The site decides by the name of <<agents>> and by the other header fields, by each alone: the name with a
        browser's fields is turned away, and so is a browser's name with the agent's fields.
    warn signed-not-verified: Signatures are not verified
        <<agent>> is turned away with a valid signature as without one (<<signed>>): the site does not verify
        signatures<<agentless>>, or does not know your key. Where an edge verifies known operators only, add the key or
        its directory there, on staging or for the test (aui-tui key directory).
    warn signed-form: One form of signature is not accepted
        <<agent>> is let in with <<works>>, not with <<fails>> (<<status>>); each of these is in use, so verify all.
    warn signed-lax: Signatures are checked too loosely
        <<agent>> is let in with a valid signature, and with <<false>> too: tie each key to the address that
        Signature-Agent names, and require that the signature covers it.
    warn note signature-asked: A signature is asked for
        <<Agents>> <<is|are>> turned away with a request for a signature (Accept-Signature): the site may let signed
        agents in. Scan again with AUI_TUI_SIGN=1 to see whether it does.
    warn note signed-unclear: Signed probes prove nothing
        The signed probes of <<agent>> prove nothing: <<why>>. Scan again to settle it.
    warn note second-answer: <<agent>>: the second answer counts / The second answer counts
        <<agent>> got <<first>> at first and <<second>> when asked again, alone and after a pause; the second answer
        counts.
    warn note cause-list: An invented name is turned away too
        An invented name in the form of an agent's is turned away as <<agents>> <<is|are>>: what decides may be a list
        of who may enter, or a word such as “bot” that both names hold.
    warn note limited-shared: Agents share a limit on requests
        The agents share a limit on requests that a browser does not meet, so who is served depends on who asks first.
        The result of <<agents>> (<<what>>) does not count; a scan with --force and AUI_TUI_PACE=15, one request every
        15 s, may bring a verdict.
    warn note limited: The site limits everybody
        The site limits everybody: asked alone, the browser was turned away too. So the result of <<agents>> (<<what>>)
        does not count; a scan with --force and AUI_TUI_PACE=10, one request every 10 s, may bring a verdict.
    warn note limited-random: No verdict: the site fails at random
        The result of <<agents>> (<<what>>) does not count, because the site fails at random. Scan again with --force
        when it answers every request.
    warn note limited-time: No verdict: the scan ended too early
        No verdict for <<agents>> (<<what>>): a browser was served each time, but the scan ended before the refusal was
        seen often enough to count. A scan with --force and AUI_TUI_PACE=15 has more time.
    warn note files-limited: Files not measured: requests are limited
        Not measured: <<files>> (<<what>>, again when asked alone). So <<it does|they do>> not count; a scan with
        --force and AUI_TUI_PACE=10, one request every 10 s, may bring <<it|them>>.
    warn random: The site fails at random
        The site fails at random: <<failed>> of <<asked>> requests for the homepage got a 5xx, from clients that were
        served at another time.
    warn edge-says-yes: robots.txt says no, the <<who>> says yes
        <<file>> says no, the <<who>> says yes: <<agents>> <<is|are>> disallowed<<where>>, but the homepage is served,
        so only agents that obey the file stay away.
    warn note browser-challenged: A browser is challenged here
        The browser probe gets <<what>> while <<agents>> <<gets|get>> the homepage: a fact about browsers, not about
        agents. The page facts below are those of <<facts>>.
    warn note browser-refused: A browser is refused here
        The browser probe gets <<what>> each time while <<agents>> <<gets|get>> the homepage: a fact about browsers, not
        about agents, which are judged by their own answers<<real>>.
    warn note browser-silent: No verdict on a browser
        The browser probe is inconclusive: <<reason>>.
    warn note door-silent: No agent gets an answer
        A browser gets the homepage (<<browser>>) and none of the <<total>> probed agents gets an answer. It may be an
        outage, or a site that leaves agents without an answer; this scan cannot tell, so it is not scored.
    warn note door-unmeasured: Access is not measured
        No agent got a usable answer, so access is not scored.
    warn note other-version: Agents get another version of the page
        <<Agents>> <<gets|get>> another version of the homepage than a browser: <<what>>.
    warn note agent-silent: No verdict for <<agents>> / No verdict for some agents
        <<agents>> <<is|are>> inconclusive and <<does|do>> not count: <<reason>>.
    warn redirect: A redirect was not followed
        A redirect was not followed for <<who>>: <<reason>> (last status <<status>>).
    good signed-verified: Signatures are verified
        <<agent>> gets the homepage with a valid signature, while a forged, an expired and no signature (<<unsigned>>)
        are refused: the site verifies who asks.
    good pages-served: Agents get the other pages too
        All <<total>> probed agents get <<pages>> too, as a browser does; not scored.
    good served: <<Agents>> <<gets|get>> in / Agents get in
        <<Agents>> <<gets|get>> the homepage<<like>>.
    """
)


def _turned_away(judgement: Judgement) -> Iterator[Finding]:
    """Yield one line for those who are treated alike: what happens, to whom, and how it is known."""
    observations = judgement.observations
    browser = observations.browser
    policies = {policy.token: policy.effective for policy in judgement.told}
    groups = _alike(judgement.turned_away)
    real = _real(observations, "passes it", "does not pass it by itself")
    same = any(_what(group[0][1]) == _what(browser) for group in groups)
    if browser.outcome == CHALLENGED and not judgement.served and not same:
        yield Finding("browser-walled", {"what": answer(browser), "real": real})
    for group in groups:
        first = group[0][1]
        why = judgement.readings[group[0][0].key].why
        facts = _group(group) | {
            "what": _what(first),
            "browser": str(browser.status),
            "contrast": f" while a browser gets the homepage ({browser.status})" if browser.outcome == SERVED else "",
            "proof": _proof(group, browser),
            "real": real,
            "robots": _invited(group, policies, observations, _front(observations, first)),
        }
        if why.startswith("programs"):
            named = ", but not under an agent’s name" if why == "programs-and-name" else ", under an agent’s name too"
            was_asked = observations.arm(REAL_AGENT) is not None
            yield Finding("programs", facts | {"client": _client(observations), "named": named if was_asked else ""})
        elif judgement.shut_out:
            yield Finding("shut-out", facts)
        elif why == "interstitial" and _what(browser) == facts["what"]:
            yield Finding("everybody-challenged", facts)
        else:
            yield Finding("agents-away", facts)


def _pages(judgement: Judgement) -> Iterator[Finding]:
    """Yield who is turned away at the other pages that were asked for, and which of these all agents get."""
    open_to_all = []
    for page in judgement.observations.pages:
        probes, readings = {exchange.name: exchange for exchange in page.exchanges}, page.readings
        if all(reading.outcome == SERVED for reading in readings.values()) and probes[BROWSER].outcome == SERVED:
            open_to_all.append(page.path)
        away = [
            (agent, probes[agent.key])
            for agent in registry().live
            if readings[agent.key].outcome in AWAY and probes[BROWSER].outcome == SERVED
        ]
        for group in _alike(away):
            facts = {"path": quoted(page.path), "what": _what(group[0][1]), "proof": _proof(group, probes[BROWSER])}
            yield Finding("page-away", _group(group) | facts | {"browser": str(probes[BROWSER].status)})
    if open_to_all:
        yield Finding("pages-served", {"total": str(LIVE_TOTAL), "pages": joined(map(quoted, open_to_all), NAMED)})


def _alike(away: Sequence[Probed]) -> list[list[Probed]]:
    """Return the agents that were turned ``away``, those who got the same together; offers to pay are left out."""
    groups: dict[tuple[str, str], list[Probed]] = {}
    for agent, probe in away:
        if not probe.asks_for_payment:
            signal = probe.challenge.signal if probe.challenge is not None else ""
            groups.setdefault((_what(probe), signal), []).append((agent, probe))
    return list(groups.values())


def _group(group: Sequence[Probed]) -> dict[str, str]:
    """Return the facts that name the agents of ``group``, one alone with its token."""
    agents = [agent for agent, _ in group]
    return _named([f"{agents[0].short} ({agents[0].token})"] if len(agents) == 1 else [entry.short for entry in agents])


def _named(agents: Sequence[str]) -> dict[str, str]:
    """Return the facts that name ``agents``, all that are probed by their number."""
    return listed(agents) | ({"agents": f"all {LIVE_TOTAL} probed agents"} if len(agents) == LIVE_TOTAL else {})


def _what(probe: Exchange) -> str:
    """Return what a probe that was turned away got, with what is special about it."""
    if probe.another_page and probe.challenge is not None:
        return f"{answer(probe).removesuffix(')')}, {clause(probe.challenge.signal)})"
    if probe.challenge is not None:
        return f"{answer(probe).removesuffix(')')}, known by {quoted(probe.challenge.signal)})"
    if probe.outcome == REFUSED and probe.status == 402 and not probe.terms:
        return "402 Payment Required (no machine-readable terms, so no agent can tell what to pay or how)"
    return answer(probe)


def _invited(group: Sequence[Probed], policies: Mapping[str, str], observations: Observations, who: str) -> str:
    """Return the contradiction with robots.txt, where there is one. ``who`` turns away: the edge or the server."""
    invited = [agent for agent, _ in group if policies[agent.token] in ("open", "partial")]
    if not invited or observations.robots.kind == "unknown":
        return ""
    file = file_name(observations, "robots")
    if observations.robots.kind != "rules":
        host = urlsplit(observations.site_origin).netloc
        return f"No robots.txt of {host} keeps {'it' if len(group) == 1 else 'them'} out. "
    if len(invited) < len(group):
        return f"{file} lets {joined(agent.short for agent in invited)} in, the {who} does not. "
    page = " to this page" if any(policies[agent.token] == "partial" for agent in invited) else ""
    return f"{file} says yes{page}, the {who} says no. "


def _front(observations: Observations, refused: Exchange | None = None) -> str:
    """Return what answers for the site: the edge, where a CDN or firewall is known, else the server."""
    wall = refused.challenge.vendor if refused is not None and refused.challenge is not None else ""
    return "edge" if has_edge(f"{observations.edge} {wall}") else "server"


def _proof(group: Sequence[Probed], browser: Exchange) -> str:
    """Return how it is known that a refusal is meant for the agent, as far as it was tried."""
    if all(probe.controls for _, probe in group):
        return PROOF.format(control="a browser" if browser.outcome == SERVED else "another agent")
    repeated = all(
        any((first.status, first.outcome) == (probe.status, probe.outcome) for first in probe.attempts[:1])
        for _, probe in group
    )
    return ", also when asked again, alone and after a pause" if repeated else ""


def _references(judgement: Judgement) -> Iterator[Finding]:
    """Yield the ids to give to the operator of a wall, those of one vendor together."""
    ids_by_vendor: dict[str, list[str]] = {}
    for _, probe in judgement.probed:
        if probe.challenge is not None and probe.challenge.reference:
            ids_by_vendor.setdefault(probe.challenge.vendor, []).append(clause(probe.challenge.reference))
    for key, ids in ids_by_vendor.items():
        vendor = labels.vendor(key)
        word = vendor.reference if len(set(ids)) == 1 else f"{vendor.reference}s"
        yield Finding(QUOTE, {"vendor": vendor.name, "word": word, "ids": ", ".join(dict.fromkeys(ids))})


def _client(observations: Observations) -> str:
    """Return the name of the real browser that was asked, empty for none."""
    arm = observations.arm(REAL)
    return arm.client if arm is not None else ""


def _real(observations: Observations, served: str, away: str) -> str:
    """Return a clause on what a real browser got, in the words ``served`` or ``away``; empty when it shows nothing."""
    arm = observations.arm(REAL)
    if arm is None or arm.outcome == INCONCLUSIVE:
        return ""
    return f"; a real browser ({arm.client}) {served if arm.outcome == SERVED else away}"


def _browser(judgement: Judgement) -> Iterator[Finding]:
    """Yield that the browser is turned away where an agent is served."""
    observations, probed = judgement.observations, judgement.probed
    browser = observations.browser
    served = [agent.short for agent, probe in probed if probe.outcome == SERVED]
    if browser.outcome in AWAY and served:
        kind = "browser-challenged" if browser.outcome == CHALLENGED else "browser-refused"
        shown = _real(observations, "gets the homepage", "is turned away too")
        if not (shown or browser.same_for_everybody):
            shown = "; a scan with Chromium (aui-tui help tasks) would show what people get"
        facts = {"": "the challenge", REAL: f"what a real browser ({_client(observations)}) gets"}
        by = observations.page.seen_by
        page = facts.get(by) or f"what {next((agent.short for agent, _ in probed if agent.key == by), 'an agent')} gets"
        yield Finding(kind, _named(served) | {"what": answer(browser), "real": shown, "facts": page})


def _other_names(judgement: Judgement) -> Iterator[Finding]:
    """Yield what was learnt by asking under other names than the agents'."""
    by_why: dict[str, list[Probed]] = {}
    for agent, probe in judgement.probed:
        by_why.setdefault(judgement.readings[agent.key].why, []).append((agent, probe))
    for why, kind in (("address", "address"), ("list", "cause-list")):
        group = by_why.get(why, ())
        if group:
            what = answers([probe for _, probe in group])
            yield Finding(kind, listed([agent.short for agent, _ in group]) | {"what": what})


def _payment(judgement: Judgement) -> Iterator[Finding]:
    """Yield who is offered the page for money."""
    names = [agent.short for agent, probe in judgement.probed if probe.asks_for_payment]
    if names:
        yield Finding("agent-payment", _named(names))


def _limit_of_test(judgement: Judgement) -> Iterator[Finding]:
    """Yield what a probe cannot show, where an agent was turned away."""
    if judgement.turned_away:
        yield Finding("probe-limit")


def _served(judgement: Judgement) -> Iterator[Finding]:
    """Yield who gets the homepage, and what differs where its address, its title or much of its text does."""
    observations, browser = judgement.observations, judgement.observations.browser
    alike: dict[str, list[str]] = {}
    like = {BROWSER: ", as a browser does", REAL: ", as a real browser does"}.get(observations.reference, "")
    like = like if browser.outcome == SERVED or observations.reference != BROWSER else ""
    for agent, probe in judgement.probed:
        if probe.outcome == SERVED:
            compared = browser.outcome == SERVED
            what = joined(_differences(probe, browser, observations.page.readable)) if compared else ""
            alike.setdefault(what, []).append(agent.short)
    for what, agents in alike.items():
        facts = _named(agents)
        yield Finding("other-version", facts | {"what": what}) if what else Finding("served", facts | {"like": like})


def _differences(probe: Exchange, browser: Exchange, readable: int) -> Iterator[str]:
    path, browser_path = (urlsplit(exchange.url).path or "/" for exchange in (probe, browser))
    if path != browser_path:
        yield f"the final address {quoted(path)} instead of {quoted(browser_path)}"
    if probe.title.casefold() != browser.title.casefold():
        title = f"the title {quoted(probe.title)}" if probe.title else "no title"
        yield f"{title} instead of {quoted(browser.title)}" if browser.title else title
    if probe.compared in VERSIONS:
        yield VERSIONS[probe.compared]
    elif probe.readable is not None and probe.readable < readable:
        yield f"{probe.readable:,} readable characters instead of {readable:,}"


def _signed(judgement: Judgement) -> Iterator[Finding]:
    """Yield what signed probes showed of the agents that were turned away, and whom the site asks for a signature."""
    for agent, probe in judgement.probed:
        if probe.signed is None:
            continue
        who, probe_by_name = (
            f"{agent.short} ({agent.token})",
            {signed_probe.name: signed_probe for signed_probe in probe.signed.probes},
        )
        valid = [probe_by_name[name] for name in SIGNED_FORMS if name in probe_by_name]
        if probe.signed.result == VERIFIED:
            yield Finding("signed-verified", {"agent": who, "unsigned": status(probe_by_name["unsigned"].status)})
            fails = [signed_probe for signed_probe in valid if signed_probe.outcome != SERVED]
            if fails:
                forms = joined(SIGNED_FORMS[signed_probe.name] for signed_probe in fails)
                words = {"works": SIGNED_FORMS[probe.signed.served[0]], "fails": forms}
                yield Finding("signed-form", {"agent": who, "status": status(fails[0].status)} | words)
            lax = joined(_accepted(probe_by_name, LAX))
            if lax:
                yield Finding("signed-lax", {"agent": who, "false": lax})
        elif probe.signed.result == ACCEPTS_ANYTHING:
            false = joined(_accepted(probe_by_name, FORGERIES.keys() - LAX))
            yield Finding(
                "signed-anything", {"agent": who, "unsigned": status(probe_by_name["unsigned"].status), "false": false}
            )
        elif probe.signed.result == NOT_VERIFIED:
            agentless = (
                ", asks for a Signature-Agent field (the setting signature_agent)" if "none" in probe_by_name else ""
            )
            facts = {"agent": who, "signed": status(valid[0].status), "agentless": agentless}
            yield Finding("signed-not-verified", facts)
        else:
            served = probe_by_name["unsigned"].outcome == SERVED
            why = "this time it was served without a signature" if served else "one of them got no answer"
            yield Finding("signed-unclear", {"agent": who, "why": why})
    unsigned = [
        agent.short
        for agent, probe in judgement.probed
        if probe.signed is None and probe.outcome in AWAY and "accept-signature" in probe.fields
    ]
    if unsigned:
        yield Finding("signature-asked", _named(unsigned))


def _accepted(probe_by_name: Mapping[str, SignedProbe], forgeries: Set[str]) -> Iterator[str]:
    """Yield, in words, the ``forgeries`` that were served."""
    for name, words in FORGERIES.items():
        if name in forgeries and name in probe_by_name and probe_by_name[name].outcome == SERVED:
            yield words


def _asked_again(judgement: Judgement) -> Iterator[Finding]:
    """Yield where an agent got something else when it was asked again, alone."""
    for agent, probe in judgement.probed:
        if probe.signed is not None and probe.signed.result == VERIFIED:
            continue
        for first in () if probe.limited or probe.controls else probe.attempts[:1]:
            if (first.status, first.outcome) == (probe.status, probe.outcome):
                continue
            before = status(first.status) if first.status else "no answer"
            before = _page(first) if first.outcome == CHALLENGED else before
            now = {SERVED: f"the homepage ({probe.status})", INCONCLUSIVE: silence_reason(probe)}.get(
                probe.outcome, answer(probe)
            )
            yield Finding("second-answer", {"agent": agent.short, "first": before, "second": now})


def _page(first: Attempt) -> str:
    another_page = first.challenge is not None and first.challenge.vendor == ANOTHER_PAGE
    return f"{'another page than the browser' if another_page else 'a challenge page'} ({first.status})"


def _cause(judgement: Judgement) -> Iterator[Finding]:
    """Yield by what the site decides when it turns agents away."""
    cause = judgement.observations.cause
    if cause is None:
        return
    names = joined(agent.short for agent in registry().live if agent.key in cause.agents)
    facts = {"agents": names, "field": fields(cause.fields), "number": str(len(cause.agents))}
    probes = [probe for agent, probe in judgement.probed if agent.key in cause.agents]
    fault = is_fault(cause, probes)
    yield Finding("cause-fault", facts | {"what": answers(probes)}) if fault else Finding(f"cause-{cause.by}", facts)


def _limited(judgement: Judgement) -> Iterator[Finding]:
    """Yield what the site's limits on requests, and its failures at random, left without a verdict."""
    observations = judgement.observations
    homepages = observations.homepages
    limited = [probe for probe in homepages if probe.limited]
    if limited:
        names = {agent.key: agent.short for agent in registry().live} | {BROWSER: "the browser"}
        agents = joined(names[probe.name] for probe in limited)
        shared = "-shared" if observations.shared_limit else ""
        why = shared or ("-random" if observations.random else "-time" if observations.unsettled else "")
        yield Finding(f"limited{why}", {"agents": agents, "what": answers(limited)})
    lost = [
        probe for probe in observations.exchanges if probe.limited and probe.name in FILE_PROBES and not probe.challenge
    ]
    if lost:
        files = joined(urlsplit(probe.url).path for probe in lost)
        yield Finding("files-limited", {"files": files, "number": str(len(lost)), "what": answers(lost)})
    if observations.random:
        yield _at_random(homepages)


def _at_random(homepages: Iterable[Exchange]) -> Finding:
    codes = [code for probe in homepages for code in (probe.status, *(attempt.status for attempt in probe.attempts))]
    failed = sum(500 <= code <= 599 for code in codes)
    return Finding("random", {"failed": str(failed), "asked": str(len(codes))})


def _inconclusive(judgement: Judgement) -> Iterator[Finding]:
    """Yield the probes that prove nothing, those of one reason together; and that none of them proves anything."""
    browser, probed = judgement.observations.browser, judgement.probed
    stopped: dict[tuple[str, int], list[str]] = {}
    if browser.error in UNFOLLOWED:
        stopped[silence_reason(browser), browser.status] = ["the browser"]
    elif browser.outcome == INCONCLUSIVE and not browser.limited:
        yield Finding("browser-silent", {"reason": silence_reason(browser)})
    silent: dict[str, list[str]] = {}
    for agent, probe in probed:
        if probe.error in UNFOLLOWED and not probe.controls:
            stopped.setdefault((silence_reason(probe), probe.status), []).append(agent.short)
        elif probe.outcome == INCONCLUSIVE and not probe.limited and not probe.dropped:
            silent.setdefault(silence_reason(probe), []).append(agent.short)
    for (reason, code), who in stopped.items():
        yield Finding("redirect", {"who": joined(who), "reason": reason, "status": str(code)})
    for reason, who in silent.items():
        yield Finding("agent-silent", listed(who) | {"reason": reason})
    if browser.error == "tls" or any(probe.error == "tls" for _, probe in probed):
        yield Finding("tls")
    if judgement.conclusive == 0:
        silence_of_all = not (judgement.observations.incomplete or any(probe.status for _, probe in probed))
        if browser.outcome == SERVED and silence_of_all:
            yield Finding("door-silent", {"browser": str(browser.status), "total": str(LIVE_TOTAL)})
        else:
            yield Finding("door-unmeasured")


def _contradictions(judgement: Judgement) -> Iterator[Finding]:
    """Yield where robots.txt says no and a live-probed agent is served all the same."""
    served = {agent.token for agent, probe in judgement.probed if probe.outcome == SERVED}
    unheeded = [policy for policy in judgement.told_no if policy.token in served]
    if unheeded:
        facts = listed([*map(name_of, unheeded)])
        facts |= {"who": _front(judgement.observations), "where": at_lines(entry.line for entry in unheeded)}
        facts["file"] = file_name(judgement.observations, "robots")
        yield Finding("edge-says-yes", facts)


EVIDENCE: Final = (
    _turned_away,
    _references,
    _browser,
    _other_names,
    _payment,
    _limit_of_test,
    _signed,
    _asked_again,
    _cause,
    _limited,
    _inconclusive,
    _served,
    _pages,
    _contradictions,
)
"""Everything that is looked at in a judgement, one function each."""


class Door(Check):
    fix = "wba"
    label = "agents let in"
    subject = "who gets in"
    puts = "Put this where the rule that refuses stands"
    loads = "Load the rule: save it at the edge, or reload the server."
    earns = "the share of conclusive agent probes that were served the homepage"
    lacking = "an agent is refused or challenged"
    title = "Verify agents instead of blocking them"
    takes = "an hour"
    proof = (
        "curl -sSI -A {agent} {origin}/ answers 200 from an address that the rule knows. The points show here"
        " when the rule knows the address that you scan from: its line for the tester, which you remove afterwards."
    )
    points = {"v0.1": 24, "v0.2": 12}
    pillar = WELCOME
    read_on = "https://www.rfc-editor.org/rfc/rfc9421"
    sentences = SENTENCES
    detail = "door"

    def measure(self, judgement: Judgement, method: str) -> Earned:
        if judgement.conclusive == 0:
            return Earned(None, f"No answer to the {LIVE_TOTAL} probed agents settles it: not measured.")
        named: dict[str, list[str]] = {}
        for agent, _ in judgement.probed:
            named.setdefault(judgement.readings[agent.key].outcome, []).append(agent.short)
        dropped = any(probe.dropped for _, probe in judgement.probed)
        served, silent = named.get(SERVED, []), named.get(INCONCLUSIVE, [])
        who = f" ({joined(served)})" if served else ""
        do = "does" if len(silent) == 1 else "do"
        tail = f"; {joined(silent)} got no usable answer and {do} not count" if silent else ""
        agents = count(judgement.conclusive, "agent")
        held = " with an answer, or dropped again and again," if dropped else " with an answer"
        return Earned(
            round_half_up(self.points[method] * judgement.served, judgement.conclusive),
            f"{judgement.served} of {agents}{held} got the homepage{who}{tail}.",
        )

    def findings(self, judgement: Judgement) -> Iterator[Finding]:
        """Yield what browser and agents got."""
        return chain.from_iterable(part(judgement) for part in EVIDENCE)

    def fixed(self, observations: Observations) -> Observations:
        return let_everybody_in(observations)

    def is_asked(self, site: Site) -> bool:
        return not site.was_scanned_here and all(piece.path == REQUEST for piece in door_advice(site).pieces())

    def advise(self, site: Site) -> Advice:
        return door_advice(site)


CHECK = Door()
