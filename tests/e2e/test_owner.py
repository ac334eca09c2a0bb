"""The owner's loop: a gate fails, the written snippets are applied, the gate passes, and diff names what changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.runner import aui, here
from tests.e2e.shops import NGINX, NginxShop, PythonShop, Shop

WITH_NGINX = pytest.param(NginxShop, marks=pytest.mark.skipif(NGINX is None, reason="needs nginx"))


def apply(shop: Shop, fixes: Path) -> None:
    """Do what the written files say."""
    page = shop.folder / "index.html"
    for path in sorted(path for path in fixes.rglob("*") if path.is_file()):
        text, name = path.read_text(encoding="utf-8"), str(path.relative_to(fixes))
        if name in ("llms.txt", "robots.txt", ".well-known/mcp.json"):
            (shop.folder / name).parent.mkdir(exist_ok=True)
            (shop.folder / name).write_text(text, encoding="utf-8")
        elif name == "homepage/head.html":
            page.write_text(page.read_text(encoding="utf-8").replace("</head>", text + "</head>"), encoding="utf-8")
        elif path.parent.name == "server":
            shop.let_agents_in(path.name, text)
        else:
            assert name == "README.md", f"no way to apply {name}"
    shop.restart()


@pytest.mark.ci
@pytest.mark.parametrize("kind", [PythonShop, WITH_NGINX])
def test_gate_fails_snippets_are_applied_gate_passes(tmp_path: Path, kind: type[PythonShop | NginxShop]) -> None:
    with kind(tmp_path) as shop:
        url = f"http://{shop.host}"
        before = aui(tmp_path, "scan", url, *shop.rules, "--fail-grade", "C", "--json", "-q")
        assert before.code == 1
        assert "gate fail-grade failed: shop.test: The grade is F" in before.err
        assert json.loads(before.out)["stance"] == "Walled"

        (tmp_path / "own.toml").write_text(f'with_claims = true\n[sites."{shop.host}"]\ntester = "127.0.0.1"\n')
        written = ("--write", "fixes", "--config", "own.toml")
        planned = here(tmp_path, "plan", shop.host, "--grade", "100", *written)
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
    assert all("REPLACE THIS" in one["text"] for one in changed["new"])  # what only the owner can write
    text = here(tmp_path, "diff", shop.host).out
    assert "Claude: refused -> in" in text
