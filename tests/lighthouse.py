"""Lighthouse from npm, run on one page with the installed Chromium."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.service.browser import BROWSER

LIGHTHOUSE = "lighthouse@13.5.0"


def lighthouse(url: str, folder: Path, only: str) -> dict[str, Any]:
    """Return the report of Lighthouse on ``url``, as far as ``only`` asks for; skip where npm cannot install it."""
    made = folder / "report.json"
    line = ["npx", "--yes", LIGHTHOUSE, url, "--quiet", "--output=json", only]
    line += [f"--output-path={made}", "--chrome-flags=--headless=new --no-sandbox"]
    env = {**os.environ, "CHROME_PATH": str(BROWSER), "npm_config_yes": "true"}
    done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=170, check=False)
    if not made.exists() and "npm error" in done.stderr:
        pytest.skip("Lighthouse cannot be installed from npm here")
    report: dict[str, Any] = json.loads(made.read_text())
    return report
