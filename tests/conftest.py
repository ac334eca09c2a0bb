"""What holds for every test, and the parser that those of the engine share."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from aui_tui.scan.parser_process import ParserProcess

signal.signal(signal.SIGINT, signal.default_int_handler)  # programs that tests start in the background hear ctrl+c too

SLOW = [HealthCheck.too_slow]  # how busy the machine is says nothing about the examples
settings.register_profile("project", deadline=None, max_examples=25, derandomize=True, suppress_health_check=SLOW)
settings.register_profile("long", deadline=None, max_examples=300, suppress_health_check=SLOW)
settings.load_profile("project")


def pytest_configure(config: pytest.Config) -> None:
    """Let property tests take the same examples whatever other tests have loaded; the long profile looks for new ones.

    Hypothesis mixes constants of the modules that are loaded at that moment into its examples.
    """
    if not config.getoption("--hypothesis-profile"):
        none = vars(providers).get("_local_constants")
        vars(providers)["_get_local_constants"] = lambda: none


def pytest_sessionfinish() -> None:
    """Look for garbage once, while this process still counts as one that works.

    pytest looks twice more after xdist was told that the process is done; one that takes five seconds then, as it may
    on a busy machine, is interrupted.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def parser() -> Iterator[ParserProcess]:
    """The worker that reads what servers send; it starts once."""
    found = ParserProcess()
    yield found
    asyncio.run(found.aclose())
