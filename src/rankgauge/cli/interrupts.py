"""
Ctrl-C without a traceback, whatever it interrupts: a run, an import, or what Python does behind our back.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Protocol

__all__ = ["INTERRUPTED", "quiet_interrupts"]

INTERRUPTED = 3
"""The exit code of a call that Ctrl-C ended."""

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
def quiet_interrupts() -> Iterator[None]:
    """End the process with one line where Ctrl-C comes outside of a command, such as while modules load."""
    before = sys.unraisablehook

    def hook(unraisable: _Unraisable) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            _send_again()  # it came in a callback, such as one of a weak reference, and would be lost
        else:
            before(unraisable)  # type: ignore[arg-type]  # the class that it names exists for type checkers only

    sys.unraisablehook = hook
    try:
        yield
    except KeyboardInterrupt:
        os.write(2, b"error: interrupted\n")
        sys.exit(INTERRUPTED)
    finally:
        sys.unraisablehook = before


def _send_again() -> None:
    import threading

    again = threading.Timer(_REPEAT, os.kill, (os.getpid(), signal.SIGINT))
    again.daemon = True
    again.start()
