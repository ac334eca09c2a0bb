"""The owner's loop: a gate fails, the written snippets are applied, the gate passes, and diff names what changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.applied.apply import apply
from tests.applied.servers import Folder, Nginx
from tests.cli.runner import here
from tests.e2e.shops import FILES, HOST, PythonShop, rules

WITH_NGINX = pytest.param(
    lambda home: Nginx(home, FILES), marks=pytest.mark.skipif(not shutil.which("nginx"), reason="needs nginx")
)


@pytest.mark.ci
@pytest.mark.parametrize("made", [PythonShop, WITH_NGINX], ids=["python", "nginx"])
def test_gate_fails_snippets_are_applied_gate_passes(tmp_path: Path, made: Callable[[Path], Folder]) -> None:
    with made(tmp_path) as shop:
        url = f"http://{HOST}"
        before = here(tmp_path, "scan", url, *rules(shop), "--fail-grade", "C", "--json", "-q")
        assert before.code == 1
        assert "gate fail-grade failed: shop.test: The grade is F" in before.err
        assert json.loads(before.out)["stance"] == "Walled"

        (tmp_path / "own.toml").write_text(f'with_claims = true\n[sites."{HOST}"]\ntester = "127.0.0.1"\n')
        written = ("--write", "fixes", "--config", "own.toml")
        planned = here(tmp_path, "plan", HOST, "--grade", "100", *written)
        assert planned.code == 0, planned.err
        apply(tmp_path / "fixes", shop)
        shop.stop()
        shop.start()

        after = here(
            tmp_path, "scan", url, *rules(shop), "--force", "--fail-grade", "C", "--no-regress", "last", "--json", "-q"
        )
        assert (after.code, after.err) == (0, "")
        card = json.loads(after.out)
        assert (card["score"], card["grade"], card["stance"], card["live_served"]) == (100, "A", "Open", 4)

    changed = json.loads(here(tmp_path, "diff", HOST, "--format", "json").out)
    fields = {change["field"] for change in changed["changes"]}
    assert {"ua_policy.Claude-User", "agents_disallowed"} <= fields
    served = {f"matrix.{name}" for name in ("chatgpt", "claude", "gemini", "perplexity")}
    assert served <= fields
    assert {"files", "content_signal", "jsonld"} <= {field.partition(".")[0] for field in fields}
    assert not [change for change in changed["changes"] if change["direction"] == "worse"]
    assert not {"semantic.main", "semantic.nav", "noscript_shell", "human_title", "edge"} & fields
    assert all("REPLACE THIS" in one["text"] for one in changed["new"])  # what only the owner can write
    text = here(tmp_path, "diff", HOST).out
    assert "Claude: refused -> in" in text
