"""The owner's loop: a gate fails, the written snippets are applied, the gate passes, and diff names what changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.runner import aui, here
from tests.e2e.shops import NGINX, NginxShop, PythonShop, Shop

WITH_NGINX = pytest.param(NginxShop, marks=pytest.mark.skipif(NGINX is None, reason="needs nginx"))


def apply(shop: Shop, fixes: Path) -> None:
    """Do what each written snippet says."""
    for snippet in fixes.iterdir():
        text = snippet.read_text(encoding="utf-8")
        if snippet.name == "llms.txt":
            (shop.folder / "llms.txt").write_text(text, encoding="utf-8")
        elif snippet.name == "front-door.json":
            (shop.folder / ".well-known").mkdir()
            (shop.folder / ".well-known" / "mcp.json").write_text(text, encoding="utf-8")
        elif snippet.name == "jsonld.html":
            page = shop.folder / "index.html"
            page.write_text(page.read_text(encoding="utf-8").replace("</head>", text + "</head>"), encoding="utf-8")
        elif snippet.name == "robots.txt":
            (shop.folder / "robots.txt").write_text(text, encoding="utf-8")
        elif snippet.name == "wba.txt":
            shop.let_agents_in(text)
        else:
            raise AssertionError(f"no way to apply {snippet.name}")


@pytest.mark.parametrize("kind", [PythonShop, WITH_NGINX])
def test_gate_fails_snippets_are_applied_gate_passes(tmp_path: Path, kind: type[PythonShop | NginxShop]) -> None:
    with kind(tmp_path) as shop:
        url = f"http://{shop.host}"
        before = aui(tmp_path, "scan", url, *shop.rules, "--fail-grade", "C", "--json", "-q")
        assert before.code == 1
        assert "gate fail-grade failed: shop.test: The grade is F" in before.err
        assert json.loads(before.out)["stance"] == "Walled"

        planned = here(tmp_path, "plan", shop.host, "--score", "100", "--write", "fixes")
        assert planned.code == 0, planned.err
        apply(shop, tmp_path / "fixes")

        after = aui(
            tmp_path, "scan", url, *shop.rules, "--force", "--fail-grade", "C", "--no-regress", "last", "--json", "-q"
        )
        assert (after.code, after.err) == (0, "")
        card = json.loads(after.out)
        assert (card["score"], card["grade"], card["stance"], card["live_served"]) == (100, "A", "Open", 4)

    changed = json.loads(here(tmp_path, "diff", shop.host, "--format", "json").out)
    fields = {change["field"] for change in changed["changes"]}
    assert {"ua_policy.Claude-User", "agents_disallowed"} <= fields
    served = {f"matrix.{name}" for name in ("chatgpt", "claude", "gemini", "perplexity")}
    assert served <= fields
    assert {"files", "content_signal", "jsonld"} <= {field.partition(".")[0] for field in fields}
    assert not [change for change in changed["changes"] if change["direction"] == "worse"]
    assert not {"semantic.main", "semantic.nav", "noscript_shell", "human_title", "edge"} & fields
    assert changed["new"] == []
    text = here(tmp_path, "diff", shop.host).out
    assert "Claude: blocked -> allowed" in text
