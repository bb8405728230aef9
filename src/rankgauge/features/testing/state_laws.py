"""
The law on what belongs to the whole process, such as warning filters: a function leaves it as it was.
"""

from __future__ import annotations

import contextlib
import decimal
import functools
import gc
import io
import locale
import logging
import os
import random
import signal
import socket
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.features.testing.law import BrokenError, Trial, law

__all__ = ["ProcessState", "demand_no_trace", "text_state", "texts_state"]


def _set_environment(value: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(value)


def _set_filters(value: list[Any]) -> None:
    warnings.filters[:] = value  # type: ignore[index]  # it is a list, which typeshed does not promise
    warnings._filters_mutated()  # type: ignore[attr-defined]  # noqa: SLF001  # as `catch_warnings` does


def _numpy_random() -> tuple[Any, ...]:
    name, keys, *rest = np.random.get_state()  # noqa: NPY002  # plugins may use it
    return (name, tuple(np.asarray(keys).tolist()), *rest)


def _collector() -> tuple[bool, tuple[int, int, int]]:
    return gc.isenabled(), gc.get_threshold()


def _set_collector(value: tuple[bool, tuple[int, int, int]]) -> None:
    gc.set_threshold(*value[1])
    (gc.enable if value[0] else gc.disable)()


def _logging() -> tuple[int, int, list[logging.Handler]]:
    root = logging.getLogger()
    return root.level, root.manager.disable, list(root.handlers)


def _set_logging(value: tuple[int, int, list[logging.Handler]]) -> None:
    root = logging.getLogger()
    root.setLevel(value[0])
    logging.disable(value[1])
    root.handlers[:] = value[2]


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _set_signals(value: list[Any]) -> None:
    for number, handler in zip(_SIGNALS, value, strict=True):
        signal.signal(number, handler)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


_STATE: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {
    "the error handling of numpy (np.seterr)": (np.geterr, lambda value: np.seterr(**value)),
    "the warning filters": (lambda: list(warnings.filters), _set_filters),
    "the locale": (lambda: locale.setlocale(locale.LC_ALL), lambda value: locale.setlocale(locale.LC_ALL, value)),
    "the state of `random`": (random.getstate, random.setstate),
    "the state of `numpy.random`": (_numpy_random, np.random.set_state),  # plugins may use it
    "the decimal context": (lambda: decimal.getcontext().copy(), decimal.setcontext),
    "the working directory": (os.getcwd, os.chdir),
    "the environment": (lambda: dict(os.environ), _set_environment),
    "sys.stdout": (lambda: vars(sys)["stdout"], lambda value: setattr(sys, "stdout", value)),
    "sys.stderr": (lambda: sys.stderr, lambda value: setattr(sys, "stderr", value)),
    "the recursion limit": (sys.getrecursionlimit, sys.setrecursionlimit),
    "how numpy prints": (np.get_printoptions, lambda value: np.set_printoptions(**value)),
    "sys.path": (lambda: list(sys.path), lambda value: sys.path.__setitem__(slice(None), value)),
    "sys.excepthook": (lambda: sys.excepthook, lambda value: setattr(sys, "excepthook", value)),
    "the garbage collector": (_collector, _set_collector),
    "the settings of logging": (_logging, _set_logging),
    "the handlers of signals": (lambda: [signal.getsignal(number) for number in _SIGNALS], _set_signals),
    "the umask": (_umask, os.umask),
    "the default timeout of sockets": (socket.getdefaulttimeout, socket.setdefaulttimeout),
}
"""What belongs to the whole process: how it is read, and how it is put back."""


_SEED = 748_163


class ProcessState:
    """What belongs to the whole process, as it was when this was made."""

    def __init__(self) -> None:
        self._before = {name: read() for name, (read, _) in _STATE.items()}

    def changed(self) -> list[str]:
        """Return what has changed since, in words."""
        now = {name: read() for name, (read, _) in _STATE.items()}
        unequal = [name for name, value in now.items() if value != self._before[name]]
        return [name for name in unequal if repr(now[name]) != repr(self._before[name])]  # decimal contexts equal none

    def restore(self) -> None:
        """Put everything back."""
        for name in self.changed():
            _STATE[name][1](self._before[name])


@law(name="global-state")
def text_state(trial: Trial[Any]) -> None:
    """The function leaves alone what belongs to the whole process, such as warning filters, and prints nothing."""
    demand_no_trace(trial, functools.partial(trial.subject.function, "Two cats, and 1 dog."))


@text_state.checked_otherwise(None)
def texts_state(trial: Trial[Any]) -> None:
    """Hold a comparer to the same law."""
    demand_no_trace(trial, functools.partial(trial.subject.function, ["Two cats.", "A dog."], ["Two dogs."]))


def demand_no_trace(trial: Trial[Any], call: Callable[[], object]) -> None:
    """Demand that a call leaves the state of the process as it was; one that raises is left to other laws."""
    for last in (False, True):  # the first may import something, which may add a filter of warnings
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            before = ProcessState()
            random.seed(_SEED)  # hypothesis seeds with 0, and so do many who should not
            np.random.seed(_SEED)  # noqa: NPY002  # plugins may use it
            state = ProcessState()
            try:
                with contextlib.suppress(BrokenError, ForeignError), guarded(BrokenError):
                    call()
                names = state.changed()
            finally:
                before.restore()
        if not names and not printed.getvalue():
            return
        if last:
            said = "it printed to standard output; log instead" if printed.getvalue() else ""
            left = f"it changed {', '.join(names)}, which belongs to the whole process" if names else ""
            trial.fail("; ".join(filter(None, [left, said])))
