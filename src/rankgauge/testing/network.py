"""
The network, closed: while a check runs, every attempt to connect is refused and noted.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

__all__ = ["closed_network"]

_CALLS = ("connect", "connect_ex", "sendto")
_LOOKUPS = ("getaddrinfo", "gethostbyname", "gethostbyname_ex")


@contextlib.contextmanager
def closed_network() -> Iterator[list[str]]:
    """
    Refuse connections and name look-ups in every thread, and yield a list of what was tried, each attempt once.

    Unix sockets are allowed, and what is already connected stays connected.
    """
    attempts: list[str] = []

    def refuse(what: str, where: object) -> None:
        attempt = f"{what} {where!r}"
        if attempt not in attempts:
            attempts.append(attempt)
        msg = f"the network is closed while laws are checked: {attempt}"
        raise OSError(msg)

    with contextlib.ExitStack() as stack:
        for name in _CALLS:
            stack.enter_context(mock.patch.object(socket.socket, name, _guarded(name, refuse)))
        for name in _LOOKUPS:
            stack.enter_context(
                mock.patch.object(socket, name, lambda host, *_rest, **_options: refuse("look up", host))
            )
        yield attempts


def _guarded(name: str, refuse: Callable[[str, object], None]) -> Callable[..., Any]:
    """Return a method in place of one of `socket.socket` that lets Unix sockets through."""
    original = getattr(socket.socket, name)
    local = getattr(socket, "AF_UNIX", None)

    def method(self: socket.socket, *arguments: Any) -> Any:  # noqa: ANN401  # what the original takes and gives
        if self.family != local:
            refuse("connect to", arguments[-1] if arguments else None)
        return original(self, *arguments)

    return method
