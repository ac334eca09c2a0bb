"""Sites that software of others makes: the tasks say what somebody with a keyboard and a screen reader can do there.

What is missing on this machine is named and skipped; packages of PyPI and npm are installed where the network is there.
"""

from __future__ import annotations

import pytest

from aui_tui.tasks.browser import Browser
from aui_tui.tasks.run import run_tasks
from tests.tasks.real_sites import SITES, Missing
from tests.tasks.running import HOST, differences, leading_to, opened, seen_at

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.real_server,
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.timeout(1200),
]


@pytest.mark.parametrize("name", SITES)
async def test_the_tasks_say_what_a_person_can_do(
    browser: Browser, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    serve, truth = SITES[name]
    folder = tmp_path_factory.getbasetemp() / "real" / name
    folder.mkdir(parents=True)
    try:
        with serve(folder) as port:
            async with opened(browser, port) as page:
                assert await differences(page) == []
            run = await run_tasks(seen_at(f"http://{HOST}"), browser, access=leading_to(port))
    except Missing as error:
        pytest.skip(f"needs {error}")
    outcomes = {result.task: result.outcome for result in run.report.results}
    assert outcomes == truth._asdict(), [(result.task, result.note) for result in run.report.results]
