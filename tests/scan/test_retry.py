"""When a refusal counts: the policy alone, against limits on requests in simulated time."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Container
from datetime import UTC, datetime
from email.utils import format_datetime
from importlib import resources

import pytest
from hypothesis import settings

from aui_tui.model.observations import BROWSER, FILE_PROBES
from aui_tui.model.vocabulary import CHALLENGED, INCONCLUSIVE, REFUSED, SERVED
from aui_tui.scan.policy import Limits
from aui_tui.scan.retry import PHASES, WELL_KNOWN, ProbeAnswer, Retry, retry_after
from tests.faults.site import AGENTS, PLACES
from tests.limiters.models import ANSWERS, COUNTS, LIMITERS, WINDOWS, FixedWindow, LeakyBucket, Limiter, any_limiter

LONG = settings.get_current_profile_name() == "long"
SEEDS = range(20 if LONG else 3)
"""Seeds of each case; ``--hypothesis-profile=long`` takes more, as it does of every other example."""
Site = Callable[[str], int]
"""What a site answers to a probe behind the limit, as a status."""


class World:
    """A site behind ``limiter`` and a network with some delay, in simulated time.

    ``site`` says 0 where it drops the connection. ``answer``: how the limit says no. ``early``: whom the site refuses
    before the limit is asked, as nginx does. ``layers``: several limits, each behind the one before, with answers.
    ``asked``: who was asked after the first requests.
    """

    def __init__(self, limiter: Limiter | None, answer: str, site: Site, seed: int, early: Container[str] = ()) -> None:
        self.random = random.Random(seed)
        self.now = self.random.uniform(0, 100)
        self.began = self.now
        self.layers = [(limiter, answer)] if limiter is not None else []
        self.site = site
        self.early = early
        self.asked: list[str] = []
        self.delay = self.random.choice((0.005, 0.03, 0.12))

    def burst(self) -> dict[str, ProbeAnswer]:
        """Ask every probe at once, as a scan does."""
        arrivals = sorted((self.now + self.random.uniform(0, self.delay), name) for name in PLACES)
        found = {}
        ends: list[float] = []
        for at, name in arrivals:
            while ends and ends[0] <= at:
                ends.pop(0)
                self._leave()
            found[name], admitted = self._answer(name, at)
            if admitted:
                ends = sorted([*ends, at + self.delay])
        for _ in ends:
            self._leave()
        self.now += 3 * self.delay
        return {name: found[name]._replace(at=self.now) for name in PLACES}

    def ask(self, name: str, pause: float) -> ProbeAnswer:
        self.asked.append(name)
        self.now += pause + self.random.uniform(0.5, 1.5) * self.delay
        found, admitted = self._answer(name, self.now)
        if admitted:
            self._leave()
        self.now += self.delay
        return found._replace(at=self.now, elapsed=self.delay)

    def ask_together(self, names: list[str], pause: float) -> list[ProbeAnswer]:
        """Ask ``names`` side by side: all go out after the pause, and the slowest ends it."""
        began, ends, answers = self.now, [], []
        for name in names:
            self.now = began
            answers.append(self.ask(name, pause))
            ends.append(self.now)
        self.now = max(ends)
        return answers

    def _leave(self) -> None:
        for limiter, _ in self.layers:
            limiter.leave()

    def _answer(self, name: str, at: float) -> tuple[ProbeAnswer, bool]:
        if name in self.early:
            return ProbeAnswer(REFUSED, self.site(name)), False
        for number, (limiter, answer) in enumerate(self.layers):
            if not limiter.admit(at):
                for passed, _ in self.layers[:number]:
                    passed.leave()
                return _no(answer), False
        status = self.site(name)
        if not status:
            return _no("drop"), True
        return ProbeAnswer(SERVED if status < 300 else REFUSED, status), True


def _no(answer: str) -> ProbeAnswer:
    if answer == "drop":
        return ProbeAnswer(INCONCLUSIVE, 0, "protocol")
    if answer == "challenge":
        return ProbeAnswer(CHALLENGED, 403)
    return ProbeAnswer(REFUSED, int(answer[:3]), retry_after=5.0 if "Retry" in answer else 0.0)


def look_again(world: World) -> tuple[Retry, dict[str, ProbeAnswer]]:
    """Scan ``world`` and return the policy after its second look, and the last answers."""
    latest = world.burst()
    limits = Limits()
    policy = Retry(latest, limits, world.now, world.now + limits.budget)
    steps = policy.steps()
    asks = next(steps, None)
    while asks is not None:
        answers = world.ask_together([ask.name for ask in asks], asks[0].pause)
        for ask, found in zip(asks, answers, strict=True):
            if latest[ask.name].outcome != SERVED:
                latest[ask.name] = found
        try:
            asks = steps.send(tuple(answers))
        except StopIteration:
            break
    assert world.now - world.began <= Limits().whole
    return policy, latest


def accused(policy: Retry, latest: dict[str, ProbeAnswer]) -> list[str]:
    """Return the agents whose refusal or silence is held against them; where nobody is served, none is."""
    if not policy.history.somebody:
        return []
    refused = [name for name in AGENTS if latest[name].outcome == REFUSED and name not in policy.limited]
    return refused + [name for name in AGENTS if latest[name].status == 0 and policy.controls.get(name)]


def missing(policy: Retry, latest: dict[str, ProbeAnswer]) -> list[str]:
    """Return the files that would be called missing, or robots.txt that would be called broken.

    An ai-plugin.json is never recommended, and nothing is where nobody is served.
    """
    if not policy.history.somebody:
        return []
    return [
        name
        for name in FILE_PROBES
        if name != "ai-plugin" and latest[name].outcome != SERVED and name not in policy.limited
    ]


def healthy(name: str) -> int:
    return 200


@pytest.mark.parametrize("kind", LIMITERS)
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_limit_for_everybody_accuses_nobody(kind: str, answer: str) -> None:
    for count, window, seed in itertools.product(COUNTS, WINDOWS, SEEDS):
        offset = random.Random(seed).uniform(0, window)
        policy, latest = look_again(World(LIMITERS[kind](count, window, offset), answer, healthy, seed))
        case = (count, window, seed, policy.limited)
        assert not accused(policy, latest), case
        assert not missing(policy, latest), case


@pytest.mark.parametrize("ban", [20, 200])
def test_a_ban_whose_first_refusals_are_files_with_a_dot_does_not_make_them_missing(ban: float) -> None:
    for seed in SEEDS:
        world = World(None, "", healthy, seed)
        began = world.now

        def site(name: str, world: World = world, began: float = began) -> int:
            burst = world.now == began
            return 403 if (name in WELL_KNOWN if burst else world.now < began + ban) else 200

        world.site = site
        policy, latest = look_again(world)
        assert not missing(policy, latest), (seed, policy.limited)
        assert not accused(policy, latest)


def test_a_server_that_keeps_names_with_a_dot_to_itself_is_asked_for_one_of_them() -> None:
    world = World(None, "", lambda name: 403 if name in WELL_KNOWN else 200, 1)
    policy, latest = look_again(world)
    assert world.asked == ["ai-plugin", BROWSER] * 2
    assert missing(policy, latest) == ["ucp", "mcp"]


class Tarpit(World):
    """A site that lets agents wait for ``hold`` seconds before it answers them with 500."""

    def __init__(self, hold: float, seed: int) -> None:
        super().__init__(None, "", lambda name: 500 if name in AGENTS else 200, seed)
        self.hold = hold

    def burst(self) -> dict[str, ProbeAnswer]:
        found = super().burst()
        self.now += self.hold
        return {
            name: seen._replace(elapsed=self.hold if name in AGENTS else self.delay) for name, seen in found.items()
        }

    def ask(self, name: str, pause: float) -> ProbeAnswer:
        hold = self.hold if name in AGENTS else 0.0
        self.now += hold
        found = super().ask(name, pause)
        return found._replace(elapsed=hold + self.delay)


@pytest.mark.parametrize("hold", [0.5, 2, 3, 5, 9])
def test_agents_that_wait_long_for_a_refusal_are_judged_side_by_side_in_time(hold: float) -> None:
    for seed in SEEDS:
        policy, latest = look_again(Tarpit(hold, seed))
        assert accused(policy, latest) == list(AGENTS), (seed, policy.limited)
        assert not policy.unsettled


class ForATime(World):
    """Turns agents away for ``seconds`` from the first request on, and says for how long by Retry-After or a cache."""

    def __init__(self, seconds: float, seed: int, *, cached: bool) -> None:
        super().__init__(None, "", healthy, seed)
        self.until, self.cached = self.now + seconds, cached

    def _answer(self, name: str, at: float) -> tuple[ProbeAnswer, bool]:
        left = self.until - at
        if name not in AGENTS or left <= 0:
            return super()._answer(name, at)
        if self.cached:
            return ProbeAnswer(REFUSED, 403, cached=True, fresh=left), False
        return ProbeAnswer(REFUSED, 503, retry_after=left), False


@pytest.mark.parametrize("cached", [False, True])
def test_what_all_agents_are_asked_to_wait_for_is_waited_for_once(cached: bool) -> None:
    for seed in SEEDS:
        world = ForATime(9, seed, cached=cached)
        _, latest = look_again(world)
        assert all(latest[name].outcome == SERVED for name in AGENTS)
        assert world.now - world.began < 14


@pytest.mark.parametrize("status", [429, 503])
def test_what_may_be_a_shared_limit_is_told_from_a_rule_in_half_a_minute(status: int) -> None:
    for seed in SEEDS:
        world = World(None, "", lambda name: status if name in AGENTS else 200, seed)
        policy, latest = look_again(world)
        assert accused(policy, latest) == list(AGENTS)
        assert world.now - world.began < 30


def layered(seed: int) -> World:
    """Return a healthy site behind one to three limits of any kind."""
    chance = random.Random(seed)
    world = World(None, "", healthy, seed)
    answers = (*ANSWERS, "403", "challenge")
    world.layers = [(any_limiter(chance), chance.choice(answers)) for _ in range(chance.choice((1, 1, 2, 2, 3)))]
    return world


def test_limits_of_any_kind_behind_one_another_accuse_nobody() -> None:
    for seed in range(7000 if LONG else 1000):
        policy, latest = look_again(layered(seed))
        assert not (policy.history.served and accused(policy, latest)), seed


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("answer", ANSWERS)
def test_behind_a_limit_agents_that_are_refused_still_are_where_the_control_passes(answer: str, early: bool) -> None:
    turned_away = {AGENTS[1], AGENTS[3]}
    found = total = 0
    for kind, count, window, seed in itertools.product(LIMITERS, COUNTS, WINDOWS[:2], SEEDS):
        offset = random.Random(seed).uniform(0, window)
        limiter = LIMITERS[kind](count, window, offset)
        site = lambda name: 403 if name in turned_away else 200  # noqa: E731
        policy, latest = look_again(World(limiter, answer, site, seed, turned_away if early else ()))
        assert set(accused(policy, latest)) <= turned_away
        total += 1
        found += set(accused(policy, latest)) == turned_away
    # where the limit's answer is the refusal's, more rounds are needed to tell them apart
    assert found >= (0.7 if answer == "403" else 0.95) * total


class Shared(World):
    """A limit that holds for agents alone, or for all but ``free``; ``early``: refused before the limit is asked."""

    def __init__(self, limiter: Limiter, answer: str, site: Site, seed: int, early: Container[str] = ()) -> None:
        super().__init__(None, answer, site, seed, early)
        self.budget, self.says = limiter, answer

    def _answer(self, name: str, at: float) -> tuple[ProbeAnswer, bool]:
        if name in AGENTS and name not in self.early and not self.budget.admit(at):
            return _no(self.says), False
        return super()._answer(name, at)


RATES, BURSTS = (5, 10, 20), range(1, 6)
"""Budgets of all agents together, in requests a minute, and the burst that they let through."""


def shared(answer: str, refused: Container[str], rate: int, burst: int, seed: int, *, early: bool = True) -> Shared:
    site = lambda name: 403 if name in refused else 200  # noqa: E731
    return Shared(LeakyBucket(rate, 60.0, burst - 1), answer, site, seed, refused if early else ())


@pytest.mark.parametrize("answer", ["429", "429 with Retry-After", "503", "403"])
def test_agents_that_share_a_budget_are_served_and_none_is_accused(answer: str) -> None:
    for rate, burst, seed in itertools.product(RATES, BURSTS, SEEDS):
        policy, latest = look_again(shared(answer, (), rate, burst, seed))
        assert not accused(policy, latest), (rate, burst, seed)
        assert not policy.limited & set(AGENTS), (rate, burst, seed)


@pytest.mark.parametrize("answer", ["429", "429 with Retry-After", "503"])
def test_beside_a_shared_budget_a_refusal_by_name_is_found(answer: str) -> None:
    for rate, burst, seed, number in itertools.product(RATES, BURSTS, SEEDS, range(1, 5)):
        named = set(random.Random(seed).sample(AGENTS, number))
        policy, latest = look_again(shared(answer, named, rate, burst, seed))
        assert set(accused(policy, latest)) == named, (rate, burst, seed, named)


class Politely(World):
    """Refuses every agent by name with 403, and says each time when to come again, as Varnish does."""

    def _answer(self, name: str, at: float) -> tuple[ProbeAnswer, bool]:
        if name in AGENTS:
            return ProbeAnswer(REFUSED, 403, retry_after=5.0), False
        return super()._answer(name, at)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_refusal_that_says_when_to_come_again_is_found(seed: int) -> None:
    policy, latest = look_again(Politely(None, "", healthy, seed))
    assert set(accused(policy, latest)) == set(AGENTS)
    assert sum(map(len, policy.history.answers.values())) < 40


def test_a_budget_that_is_asked_before_the_name_accuses_nobody_who_is_served_alone() -> None:
    for rate, burst, seed in itertools.product(RATES, BURSTS, SEEDS):
        named = set(random.Random(seed).sample(AGENTS, 2))
        policy, latest = look_again(shared("429", named, rate, burst, seed, early=False))
        assert set(accused(policy, latest)) <= named


def test_agents_whose_budget_does_not_settle_have_no_verdict() -> None:
    policy, latest = look_again(Shared(FixedWindow(2, 600.0), "429", healthy, 1))
    assert not accused(policy, latest)
    assert policy.shared
    assert len(policy.limited & set(AGENTS)) == 2


@pytest.mark.parametrize("status", [403, 500, 406])
def test_a_browser_that_is_refused_by_name_is_no_control_and_costs_no_minute(status: int) -> None:
    refused = {BROWSER, AGENTS[2]}
    world = World(None, "", lambda name: status if name in refused else 200, 1)
    policy, latest = look_again(world)
    assert world.now - world.began < 20
    assert accused(policy, latest) == [AGENTS[2]]
    assert BROWSER not in policy.limited


@pytest.mark.parametrize("status", [401, 403, 404, 451, 500, 503])
@pytest.mark.parametrize("robots", [200, 404, 0])
def test_what_everybody_gets_is_known_after_three_answers(status: int, robots: int) -> None:
    for files in (404, status):
        world = World(None, "", lambda name, files=files: files if name in FILE_PROBES[1:] else status, 1)  # type: ignore[misc]
        inner = world.site
        world.site = lambda name, inner=inner: robots or status if name == "robots" else inner(name)  # type: ignore[misc]
        policy, latest = look_again(world)
        assert world.now - world.began < 8
        assert len(policy.history.answers[BROWSER]) == (3 if status in (403, 500, 503) else 1)
        assert not policy.limited & {BROWSER, *AGENTS}
        assert not accused(policy, latest)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_random_502_accuses_nobody_and_is_named(share: float) -> None:
    blamed = named = failed = 0
    for seed in range(40):
        chance = random.Random(1000 + seed)
        failures = 0

        def site(name: str, chance: random.Random = chance) -> int:
            nonlocal failures
            bad = chance.random() < share
            failures += bad and name not in FILE_PROBES
            return 502 if bad else 200

        policy, latest = look_again(World(None, "", site, seed))
        blamed += bool(accused(policy, latest))
        failed += failures > 0
        named += policy.history.random
    assert blamed <= (2 if share == 0.5 else 0)
    assert named >= 0.9 * failed


class Balancer:
    """A limit that is none: of ``servers`` that answer in turn, those numbered ``broken`` turn everybody away."""

    def __init__(self, servers: int, broken: Container[int], first: int) -> None:
        self.turns = itertools.count(first)
        self.servers, self.broken = servers, broken

    def admit(self, now: float) -> bool:
        return next(self.turns) % self.servers not in self.broken

    def leave(self) -> None: ...


@pytest.mark.parametrize("answer", [*ANSWERS, "502"])
@pytest.mark.parametrize(("servers", "broken"), [(2, {0}), (3, {0}), (4, {0, 2}), (3, {0, 1}), (5, {1, 4})])
def test_servers_that_answer_in_turn_and_one_of_them_broken_accuse_nobody(
    servers: int, broken: Container[int], answer: str
) -> None:
    for seed in range(30):
        policy, latest = look_again(World(Balancer(servers, broken, seed), answer, healthy, seed))
        assert not accused(policy, latest), (seed, policy.controls)
        assert not missing(policy, latest), (seed, policy.limited)


@pytest.mark.parametrize("status", [403, 503, 0])
@pytest.mark.parametrize(("servers", "broken"), [(2, {0}), (3, {0}), (4, {0}), (4, {0, 1}), (5, {0, 1})])
def test_servers_of_the_homepage_alone_that_answer_in_turn_accuse_nobody(
    servers: int, broken: Container[int], status: int
) -> None:
    for seed in range(30):
        balancer = Balancer(servers, broken, seed)

        def site(name: str, balancer: Balancer = balancer) -> int:
            return 200 if name in FILE_PROBES or balancer.admit(0) else status

        policy, latest = look_again(World(None, "", site, seed))
        assert not accused(policy, latest), (seed, policy.controls)


@pytest.mark.parametrize("status", [403, 429, 451, 500, 502, 503])
def test_agents_that_are_refused_alone_are_refused(status: int) -> None:
    policy, latest = look_again(World(None, "", lambda name: status if name in AGENTS else 200, 1))
    assert accused(policy, latest) == list(AGENTS)
    assert set(policy.controls) == set(AGENTS)
    assert not policy.limited


def test_dropped_agents_count_and_a_dropped_file_is_not_measured() -> None:
    policy, latest = look_again(World(None, "", lambda name: 0 if name in (AGENTS[0], "llms") else 200, 1))
    assert accused(policy, latest) == [AGENTS[0]]
    assert policy.limited == {"llms"}


def test_a_healthy_site_is_asked_nothing_more() -> None:
    world = World(None, "", lambda name: 200 if name in (BROWSER, *AGENTS) else 404, 1)
    policy = Retry(world.burst(), Limits(), world.now, world.now + 60)
    assert next(policy.steps(), None) is None


def test_a_site_that_gives_no_answer_at_all_is_asked_nothing_more() -> None:
    silent = dict.fromkeys(PLACES, ProbeAnswer(INCONCLUSIVE, 0, "timeout"))
    assert next(Retry(silent, Limits(), 0.0, 60.0).steps(), None) is None


def test_files_are_asked_again_after_a_control_that_failed() -> None:
    world = World(LIMITERS["leaky bucket with a burst"](1, 2.0, 0.0), "503", healthy, 3)
    policy, latest = look_again(world)
    assert BROWSER in world.asked
    assert set(world.asked) & set(FILE_PROBES)
    assert len(policy.limited) < len(FILE_PROBES)
    assert latest["robots"].outcome == SERVED


def test_retry_after_is_read_in_both_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
    monkeypatch.setattr("time.time", now.timestamp)
    assert retry_after("7") == 7
    for endless in (
        "Mon, 01 Jan 2026 99999999999999999999:00:00 GMT",
        "Mon, 01 Jan 2026 00:00:00 +99999999999999999999",
    ):
        assert retry_after(endless) == 0
    assert retry_after(format_datetime(now.replace(second=20), usegmt=True)) == 20
    assert retry_after(format_datetime(now.replace(hour=1), usegmt=True)) == 0
    assert retry_after("") == retry_after("soon") == retry_after("-5") == 0


def test_the_architecture_page_has_the_table_of_phases() -> None:
    page = resources.files("aui_tui.docs").joinpath("architecture.md").read_text(encoding="utf-8")
    for name, phase in PHASES.items():
        assert re.search(rf"^\| {name} \|.*\| {phase.rounds} \|$", page, re.MULTILINE)
