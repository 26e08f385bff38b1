"""Whom a connection stands for, where requests are limited by address."""

from __future__ import annotations

import socket

import pytest

from service.server.connection import Connection


@pytest.mark.parametrize(
    ("client", "address"),
    [
        (("192.0.2.7", 40_000), "192.0.2.7"),
        (("::ffff:192.0.2.7", 40_000, 0, 0), "192.0.2.7"),
        (("2001:db8:1:2:3:4:5:6", 40_000, 0, 0), "2001:db8:1:2::"),
        (("fe80::1%eth0", 40_000, 0, 2), "fe80::"),
        ("", ""),
    ],
)
def test_all_addresses_of_a_client_are_one_and_those_of_others_are_not(client, address):
    with socket.socket() as sock:
        assert Connection(sock, client, None).address == address
