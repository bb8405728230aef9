"""
The guard around code that is not ours: whatever it raises becomes one error that says where, and only Ctrl-C passes.

::

    try:
        with guarded():
            values = function(judged)
    except ForeignError as error:
        reason = f"metric {name!r} (by {provider}) failed: {error}"

`sys.exit()`, `GeneratorExit`, a `raise KeyboardInterrupt` in a plugin and errors that cannot even be printed are errors
like any other. One guard goes around one call with a batch; inside it nothing is slower.
"""

from __future__ import annotations

import functools
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any

__all__ = ["ForeignError", "guarded", "shown", "told", "was_interrupted"]

_LONGEST = 2000
"""How many characters are shown of a message or value of somebody else."""

_OURS = f"{Path(__file__).parents[1]}{os.sep}"


class ForeignError(Exception):
    """
    What code raised that is not ours; the error itself is the `__cause__`.

    Attributes:
        kind: The name of its type.

        message: Its message; empty if it has none.

        told: Both, as messages show them.

        place: The file and line where it was raised, such as ``/site/plugin.py:12``; empty if that is unknown.
    """

    def __init__(self, error: BaseException) -> None:
        self.kind = _name(error)
        self.message = _message(error)
        self.told = _told(self.kind, self.message)
        self.place = _place(error) or _place(
            _own(error, "__cause__")
        )  # a generator's `StopIteration` is only the cause
        super().__init__(self.told)

    def __str__(self) -> str:
        return f"{self.told} ({self.place})" if self.place else self.told

    @property
    def reason(self) -> str:
        """Return only the message of an error that was raised to be read, else everything."""
        is_meant = issubclass(type(self.__cause__), Exception) and self.message
        return self.message if is_meant else str(self)


class guarded:  # noqa: N801  # a context manager reads like a word; as a class it costs a third of a function
    """
    Raises `ForeignError` for whatever the code inside raises, except for Ctrl-C and the kinds that are *passing*.

    What ends a generator or a coroutine from outside passes, too; a plugin that raises `KeyboardInterrupt` or
    `GeneratorExit` by itself neither interrupts nor ends anything.
    """

    __slots__ = ("_passing",)

    def __init__(self, *passing: type[BaseException]) -> None:
        self._passing = passing

    def __enter__(self) -> None:
        """Do nothing: the work is in what is raised."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind is None or error is None or issubclass(kind, self._passing):
            return
        if was_interrupted(error) or (issubclass(kind, GeneratorExit) and not _is_raised_by_code(error)):
            return
        raise ForeignError(error) from error


def was_interrupted(error: BaseException) -> bool:
    """
    Return whether an error comes from Ctrl-C, and not from a ``raise KeyboardInterrupt``.

    Python raises for a signal between any two instructions, or in a handler; code raises in a ``raise`` statement. The
    objects are the same, and only the instruction at which the traceback ends tells the two apart: without it, a plugin
    that raises `KeyboardInterrupt` would end a run of hours as if somebody had pressed Ctrl-C.
    """
    seen: set[int] = set()
    found: BaseException | None = error
    while found is not None and id(found) not in seen:
        seen.add(id(found))
        if issubclass(type(found), KeyboardInterrupt) and not _is_raised_by_code(found):
            return True
        found = _own(found, "__cause__") or _own(found, "__context__")
    return False


def told(error: BaseException) -> str:
    """Return the type and message of an error, also of one whose message cannot be had."""
    return _told(_name(error), _message(error))


def shown(value: object) -> str:
    """Return a value of somebody else as messages show it, also of one that cannot be printed."""
    try:
        return _short(repr(value))
    except BaseException as error:
        if was_interrupted(error):
            raise
        return f"<{_name(value)} object that cannot be printed>"


def _is_raised_by_code(error: BaseException) -> bool:
    """Return whether the innermost frame of the traceback is at a ``raise``, and no handler of Ctrl-C ran."""
    import dis  # only if somebody interrupts

    handler = _code(signal.getsignal(signal.SIGINT))
    innermost: TracebackType | None = None
    for innermost in _tracebacks(error):
        if innermost.tb_frame.f_code is handler:
            return False
    if innermost is None:
        return True  # made, never raised
    at = innermost.tb_lasti
    code = innermost.tb_frame.f_code.co_code
    return 0 <= at < len(code) and dis.opname[code[at]] == "RAISE_VARARGS"


def _code(handler: object) -> CodeType | None:
    """Return the code of a signal handler written in Python."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    found = getattr(getattr(handler, "__func__", handler), "__code__", None)
    return found if isinstance(found, CodeType) else None


def _message(error: BaseException) -> str:
    try:
        return _short(str(error))
    except BaseException as failure:
        if was_interrupted(failure):
            raise
        return f"(its message cannot be shown: __str__ raised {_name(failure)})"


def _told(kind: str, message: str) -> str:
    shown = kind.lstrip("_")
    return f"{shown}: {message}" if message else shown


def _place(error: BaseException | None) -> str:
    """Return where somebody else's module raised: of the first module that is not ours, the innermost frame."""
    if type(error) in {SyntaxError, IndentationError, TabError}:  # not `isinstance`, which asks the error for its class
        return f"{_own(error, 'filename')}:{_own(error, 'lineno')}"
    module, place = "", ""
    for each in _tracebacks(error):
        code, found = each.tb_frame.f_code, str(each.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        if not module and not _is_foreign(code.co_filename, found):
            continue
        module = module or found
        if found == module:
            place = f"{code.co_filename}:{each.tb_lineno}"
    return place


def _is_foreign(file: str, module: str) -> bool:
    ours = module == "pluggy" or module in sys.stdlib_module_names or file.startswith((_OURS, "<frozen "))
    return not ours


def _tracebacks(error: BaseException | None) -> Iterator[TracebackType]:
    found = None if error is None else _own(error, "__traceback__")
    while found is not None:
        yield found
        found = found.tb_next


def _own(error: BaseException | None, name: str) -> Any:  # noqa: ANN401  # a traceback or an error
    """Return an attribute of an error past what its class may have put in its place."""
    kind = BaseException if name in vars(BaseException) else SyntaxError
    return vars(kind)[name].__get__(error)


def _name(value: object) -> str:
    return str(vars(type)["__name__"].__get__(type(value)))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text):,} characters)"
