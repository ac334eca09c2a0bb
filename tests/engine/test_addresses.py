"""The address table against the boundaries of the IANA registries."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aui_tui.engine.target import is_public

CLOSED = """
0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 127.255.255.255 169.254.0.0
169.254.169.254 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 192.0.2.1 192.88.99.1 192.168.0.0 192.168.255.255
198.18.0.0 198.19.255.255 198.51.100.7 203.0.113.255 224.0.0.1 239.255.255.255 240.0.0.0 255.255.255.255
:: ::1 ::7f00:1 ::ffff:10.0.0.1 ::ffff:100.64.0.1 ::ffff:0:127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::808:808 100::1
2001::1 2001:2::1 2001:10::1 2001:20::1 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff 2001:db8::1 2002:7f00:1:: 2002:a00:1::1
3fff::1 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff 4000::1 5f00::1 fc00::1 fdff::1 fe80::1 febf::1 fec0::1 ff02::1
ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
"""
OPEN = """
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 169.253.255.255 169.255.0.0
172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.88.98.255 192.167.255.255 192.169.0.0 198.17.255.255
198.20.0.0 203.0.112.255 203.0.114.0 223.255.255.255 2000::1 2001:200::1 2001:db7:ffff::1 2001:db9::1 2400:cb00::1
2606:4700:4700::1111 3ffe:ffff::1 3fff:1000::1 64:ff9b::808:808 ::ffff:8.8.8.8
"""
NO_ADDRESS = ["", "localhost", "127.1", "0x7f.0.0.1", "2130706433", "01.1.1.1", "1.1.1.1 ", "1.1.1.1\n", "fe80::1%eth0"]


@pytest.mark.parametrize("address", CLOSED.split())
def test_special_purpose_addresses_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", OPEN.split())
def test_neighbours_of_special_ranges_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("text", NO_ADDRESS)
def test_other_notations_are_not_public(text: str) -> None:
    assert not is_public(text)


@given(st.integers(0, 2**32 - 1))
def test_an_embedded_address_is_judged_as_the_embedded_one(number: int) -> None:
    plain = str(IPv4Address(number))
    high, low = divmod(number, 65536)
    for form in (
        f"::ffff:{plain}",
        f"::{plain}",
        f"64:ff9b::{plain}",
        f"2002:{high:x}:{low:x}::1",
        f"::ffff:0:{plain}",
    ):
        assert is_public(form) == is_public(plain)
