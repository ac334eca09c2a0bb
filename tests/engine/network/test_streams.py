"""What the streams change of asyncio, and when."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
from asyncio import sslproto
usual = sslproto.SSLProtocol.max_size
import aui_tui.crawl.worker, aui_tui.service.engine
from aui_tui.engine.network import save_tls_memory
print(sslproto.SSLProtocol.max_size == usual)
save_tls_memory()
print(sslproto.SSLProtocol.max_size < usual)
"""


def test_asyncio_is_changed_by_the_program_alone_and_not_by_an_import() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["True", "True"]
