"""A run inside a network namespace where every address leads to loopback: whatever leaves the fence is seen.

``python -m tests.tasks.namespace`` is started inside the namespace by test_fence; it prints the packets that went
anywhere but to 127.0.0.1 and ::1, the same after the browser has ended, and those of a control that it sends itself.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections import Counter

from aui_tui.tasks.browser import Browser
from aui_tui.tasks.proxy import Allowance
from aui_tui.tasks.run import run_tasks
from tests.tasks.pages import Site, hosted, readable
from tests.tasks.running import HOST, leading_to, seen_at

FAR = "203.0.113.7"
"""An address of documentation (RFC 5737); here it leads to loopback like every other."""
NAMES = """<link rel="dns-prefetch" href="//prefetch.example"><link rel="preconnect" href="https://preconnect.example">
<link rel="prefetch" href="https://early.example/page"><script type="speculationrules">{"prefetch":[{"source":"list",
"urls":["https://spec.example/a"],"eagerness":"immediate","requires":["anonymous-client-ip-when-cross-origin"]}]}</script>
<img src="https://img.example/a.png"><script>for (const go of [() => fetch("https://tls.example/x"),
() => navigator.sendBeacon("https://beacon.example/", "x"), () => new WebSocket("wss://ws.example/"),
() => new WebTransport("https://transport.example/")]) try { const r = go();
r && r.catch && r.catch(() => 0); } catch {}
const p = new RTCPeerConnection({iceServers: [{urls: "stun:stun.example:3478"}, {urls: "stun:203.0.113.7:3478"},
{urls: "turn:203.0.113.7:3478?transport=tcp", username: "u", credential: "c"}]});
p.createDataChannel("x"); p.createOffer().then(o => p.setLocalDescription(o));</script>"""
OUTGOING = 4


def listen(seen: Counter[str]) -> None:
    """Count the packets of the interface by destination, those to loopback left out. Needs root."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3)) as every:
        while True:
            data, address = every.recvfrom(65535)
            if address[2] != OUTGOING:
                continue
            four = address[1] == 0x0800
            if not four and address[1] != 0x86DD:
                continue
            goal = socket.inet_ntop(*((socket.AF_INET, data[16:20]) if four else (socket.AF_INET6, data[24:40])))
            if not goal.startswith("127.") and goal != "::1":
                seen[goal] += 1


async def main() -> None:
    from tests.tasks.test_fence import ESCAPES

    seen: Counter[str] = Counter()
    threading.Thread(target=listen, args=(seen,), daemon=True).start()
    escapes = ESCAPES.format(tcp=8080, udp=3478).replace("127.0.0.1", FAR).replace("localhost", "far.example")
    browser = Browser()
    async with hosted(Site({"/": readable(escapes + NAMES), "/room/1": readable(title="Harbour room 1")})) as port:
        limits = Allowance(host=40.0, task=20.0, settle=6.0)
        ran = await run_tasks(seen_at(f"http://{HOST}"), browser, access=leading_to(port), allowance=limits)
    await asyncio.sleep(1)
    during = dict(seen)
    await browser.aclose()
    await asyncio.sleep(1)
    after = dict(seen)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        control.sendto(b"x", (FAR, 9))
    await asyncio.sleep(0.5)
    print(json.dumps([ran.report.results[0].outcome, during, after, seen[FAR]]))


if __name__ == "__main__":
    asyncio.run(main())
