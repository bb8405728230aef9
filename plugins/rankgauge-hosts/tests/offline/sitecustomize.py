"""
No network: connecting to anything but this machine raises, and is remembered.

Named so that a child process with this folder on its PYTHONPATH is offline from its start.
"""

from __future__ import annotations

import socket

ATTEMPTS: list[str] = []

_LOCAL = ("127.", "localhost", "::1")


def _refuse(host: object) -> None:
    name = host.decode() if isinstance(host, bytes) else str(host)
    if host is not None and name and not name.startswith(_LOCAL):
        ATTEMPTS.append(name)
        raise OSError(f"the tests are offline, and something tried to reach {name}")


def block() -> None:
    """Block the network for the rest of this process."""
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self, address):
        if isinstance(address, tuple):
            _refuse(address[0])
        return connect(self, address)

    def guarded_look_up(host, *rest, **options):
        _refuse(host)
        return look_up(host, *rest, **options)

    socket.socket.connect = guarded_connect
    socket.getaddrinfo = guarded_look_up


block()
