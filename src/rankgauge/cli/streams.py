"""
The streams of a command: stdout carries its result and nothing else.

From the moment when code runs that is not ours, `sys.stdout` is stderr, so that what a plugin prints cannot end up in
the result. In a process of our own this holds for the file descriptors too: what C code or a subprocess prints.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

    from rankgauge.errors import ResultError

_RESULTS: ContextVar[TextIO | None] = ContextVar("rankgauge_results", default=None)


def results() -> TextIO:
    """Return the stream that a command writes its result to."""
    stream = _RESULTS.get() or sys.stdout
    if stream is None:
        raise _cannot_write("it is closed")
    return stream


@contextlib.contextmanager
def own_stdout() -> Iterator[None]:
    """Let what is stdout now take the result of one call."""
    before = sys.stdout
    token = _RESULTS.set(before)
    try:
        yield
    finally:
        sys.stdout = before
        _RESULTS.reset(token)


def keep_stdout() -> None:
    """Send to stderr whatever anyone prints from here on; to be called before code runs that is not ours."""
    if _RESULTS.get() is not None:
        sys.stdout = sys.stderr


def claim_process() -> bool:
    """
    Keep the process's stdout for results until it ends, and open what the process was started without.

    Returns whether that was possible: not if somebody has put something else in place of `sys.stdout`.
    """
    closed = sys.stdout is None
    for descriptor in range(3):  # else the next file that is opened would be taken for one of these
        with contextlib.suppress(OSError):
            os.fstat(descriptor)
            continue
        os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(2, "w", errors="backslashreplace", closefd=False)  # noqa: SIM115  # by its descriptor
    if closed:
        sys.stdout = _stream(_Stdout(os.dup(1), is_closed=True), "utf-8", "backslashreplace")
        return True
    before = sys.stdout
    if not isinstance(before, io.TextIOWrapper) or before is not sys.__stdout__ or before.fileno() != 1:
        return False  # somebody else has it already, such as pytest
    before.flush()
    errors = "backslashreplace" if before.errors == "strict" else before.errors
    sys.stdout = _stream(_Stdout(os.dup(1)), before.encoding, errors)
    os.dup2(2, 1)
    return True


def leave() -> None:
    """Let nothing follow the result: what plugins print at the exit goes to stderr, and Ctrl-C says nothing more."""
    import signal

    sys.stdout = sys.stderr
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def settle(stream: TextIO | None) -> None:
    """Flush a stream of messages; one that has no reader any more is closed quietly, and a plugin may remove it."""
    if stream is None:
        return
    try:
        stream.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):  # else the interpreter would fail when it flushes it at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class _Stdout(io.RawIOBase):
    """
    The process's stdout: a reader that has gone is no error; after any other error nothing more is written.

    It is an error only once, so that closing the stream does not raise it again.
    """

    def __init__(self, descriptor: int, *, is_closed: bool = False) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._is_closed = is_closed
        self._is_done = False

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        if self._is_done:
            return memoryview(data).nbytes
        self._is_done = True
        if self._is_closed:
            raise _cannot_write("it is closed")
        try:
            written = os.write(self._descriptor, data)
        except BrokenPipeError:
            return memoryview(data).nbytes
        except OSError as error:
            raise _cannot_write(error.strerror or str(error)) from error
        self._is_done = False
        return written


def _stream(raw: _Stdout, encoding: str, errors: str | None) -> TextIO:
    # Python's own stdout has no buffer under PYTHONUNBUFFERED, and then drops what one system call did not take.
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=raw.isatty())


def _cannot_write(why: str) -> ResultError:
    from rankgauge.errors import ResultError

    return ResultError(f"cannot write to standard output: {why}; what was printed there is incomplete")
