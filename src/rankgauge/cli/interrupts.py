"""
Ctrl-C in a process of the command line: kept when Python drops it, and held back when it would crash.

Nothing but what every process has loaded is imported here, so that this is in force before anything else is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

__all__ = ["kept_interrupts", "whole_loads"]

_REPEAT = 0.01
"""Seconds until an interrupt that Python had to ignore is sent again."""


@contextmanager
def kept_interrupts() -> Iterator[None]:
    """
    Send Ctrl-C again where Python drops it.

    In a callback of a weak reference, such as the one behind each import, what is raised is only printed as ignored:
    the command would run on as if no key had been pressed.
    """
    before = sys.unraisablehook

    def hook(unraisable: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            before(unraisable)
            return
        import signal
        import threading

        while True:
            again = threading.Timer(_REPEAT, os.kill, (os.getpid(), signal.SIGINT))
            again.daemon = True
            with suppress(KeyboardInterrupt):  # on a busy machine it may come before this has ended, and is dropped too
                again.start()
                return

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before


@contextmanager
def whole_loads() -> Iterator[None]:
    """
    Hold Ctrl-C back while a native module loads, until it is loaded.

    What Python raises within the first lines of such a module, some take for a failure that cannot be, and crash.
    """
    import signal
    from importlib.machinery import ExtensionFileLoader

    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = {name: getattr(ExtensionFileLoader, name) for name in ("create_module", "exec_module")}

    def held(load: Callable[..., object]) -> Callable[..., object]:
        def loaded(*arguments: object) -> object:
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                return load(*arguments)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)

        return loaded

    for name, load in before.items():
        setattr(ExtensionFileLoader, name, held(load))
    try:
        yield
    finally:
        for name, load in before.items():
            setattr(ExtensionFileLoader, name, load)
