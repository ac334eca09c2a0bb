"""Whose scans are counted: the peer, or the hop that a trusted proxy names."""

from __future__ import annotations

import ipaddress

import pytest

from aui_tui.service.api.identity import identify
from tests.memory_service import MemoryService
from tests.service.serving import serving

PROXIES = tuple(ipaddress.ip_network(text) for text in ("10.0.0.0/8", "fd00::/8"))


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("203.0.113.7", (), "203.0.113.7"),
        ("203.0.113.7", ("198.51.100.1",), "203.0.113.7"),
        ("10.0.0.1", ("198.51.100.1",), "198.51.100.1"),
        ("10.0.0.1", ("6.6.6.6, 198.51.100.1",), "198.51.100.1"),
        ("10.0.0.1", ("6.6.6.6, 198.51.100.1, 10.9.9.9",), "198.51.100.1"),
        ("10.0.0.1", ("6.6.6.6", "198.51.100.1"), "198.51.100.1"),
        ("10.0.0.1", ("198.51.100.1:5431",), "198.51.100.1"),
        ("10.0.0.1", ("[2001:db8:1:2::9]:443",), "2001:db8:1:2::/64"),
        ("10.0.0.1", ("198.51.100.1, unknown",), "10.0.0.1"),
        ("10.0.0.1", ("198.51.100.1, unknown, 10.2.2.2",), "10.2.2.2"),
        ("10.0.0.1", ("",), "10.0.0.1"),
        ("10.0.0.1", ("10.3.3.3, 10.2.2.2",), "10.3.3.3"),
        ("2001:db8:1:2:3:4:5:6", (), "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", (), "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.7", (), "203.0.113.7"),
        ("fe80::1%eth0", (), "fe80::/64"),
        ("fd00::1", ("2001:db8::5",), "2001:db8::/64"),
        ("", (), "local"),
    ],
)
def test_client_is_the_peer_or_the_right_most_untrusted_hop(peer: str, forwarded: tuple[str, ...], client: str) -> None:
    assert identify(peer, forwarded, PROXIES) == client


def test_without_trusted_proxies_a_hundred_forwarded_names_share_ten_scans() -> None:
    with serving(MemoryService.of()) as running:
        codes = [
            running.get(
                "/api/scan",
                params={"url": f"s{number}.example"},
                headers={
                    "X-Forwarded-For": f"198.51.100.{number}",
                    "Forwarded": f"for=198.51.100.{number}",
                    "X-Real-IP": f"198.51.100.{number}",
                },
            ).status_code
            for number in range(100)
        ]
    assert codes.count(200) == 10
    assert codes.count(429) == 90


def test_behind_a_trusted_proxy_each_client_has_ten_scans() -> None:
    service = MemoryService.of()
    with serving(service, trusted_proxies=("127.0.0.0/8",)) as running:
        for number in range(12):
            running.get(
                "/api/scan",
                params={"url": f"s{number}.example"},
                headers={"X-Forwarded-For": f"6.6.6.{number}, 198.51.100.{number % 2}"},
            )
    assert dict(service.spent) == {"198.51.100.0": 6, "198.51.100.1": 6}
