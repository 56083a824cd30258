"""Ports for programs that are told theirs before they start."""

import socket

import pytest

from horae.testing import ports
from horae.testing.ports import free_port


def test_a_free_port_can_be_taken():
    with socket.create_server(("127.0.0.1", free_port())):
        pass


def test_one_that_is_taken_is_not_given(monkeypatch: pytest.MonkeyPatch):
    with socket.create_server(("127.0.0.1", free_port())) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(ports, "BELOW_THE_SYSTEMS_OWN", range(port, port + 20))
        assert port not in {free_port() for _ in range(100)}
