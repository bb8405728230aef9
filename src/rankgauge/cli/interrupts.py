"""
Ctrl-C that is not lost, also where it interrupts what Python does behind our back.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Protocol

__all__ = ["kept_interrupts"]

_REPEAT = 0.01
"""Seconds until an interrupt that Python had to ignore is sent again."""


class _Unraisable(Protocol):
    @property
    def exc_type(self) -> type[BaseException]: ...
    @property
    def exc_value(self) -> BaseException | None: ...
    @property
    def exc_traceback(self) -> TracebackType | None: ...
    @property
    def err_msg(self) -> str | None: ...
    @property
    def object(self) -> object: ...


@contextmanager
def kept_interrupts() -> Iterator[None]:
    """Send an interrupt again where Python ignores what is raised, such as in a callback of a weak reference."""
    before = sys.unraisablehook

    def hook(unraisable: _Unraisable) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            _send_again()
        else:
            before(unraisable)  # type: ignore[arg-type]  # the class that it names exists for type checkers only

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


def _send_again() -> None:
    import threading

    again = threading.Timer(_REPEAT, os.kill, (os.getpid(), signal.SIGINT))
    again.daemon = True
    again.start()
