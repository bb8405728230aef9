"""
The process of a command: how it starts and ends, and the exit code that errors give it.

Exit codes: 0 done; 1 a check or gate failed; 2 usage, config, unreadable input or a plugin that fails where it is
needed; 3 the run is incomplete; 4 nothing to evaluate; 5 an internal error.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence

from rankgauge.cli.console import complain, debugging
from rankgauge.cli.streams import own_stdout, results, settle

INTERRUPTED = 3
"""The exit code of a call that Ctrl-C ended."""

_NEW_OBJECTS = 200_000
"""How many objects may be made before cycles are searched for; a start makes half as many, and nearly all stay."""

_LARGEST = (1 << 25) - (1 << 13)
"""Nearly the largest block that glibc learns from: 32 MB with what it adds for itself."""

_USUAL = gc.get_threshold()

_THREADS = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")
"""What OpenBLAS reads when it is loaded."""


def exit_code(call: Callable[[Sequence[str]], int], arguments: Sequence[str], *, debug: bool) -> int:
    """Make a call, print its error to stderr, with a traceback for *debug*, and return the exit code."""
    with own_stdout(), debugging(wanted=debug):
        try:
            code = call(arguments)
            if sys.stdout is not None:
                results().flush()
        except BrokenPipeError:
            code = 0  # whoever read the output has what they wanted
        except BaseException as error:  # noqa: BLE001  # also what is no `Exception` gets a message and a code
            code, message = _described(error)
            if debug and code != INTERRUPTED and sys.stderr is not None:
                import traceback

                traceback.print_exception(error)
            complain(message)
        finally:
            settle(sys.stderr)
    return code


def _described(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the message of an error."""
    from rankgauge.base.guard import told, was_interrupted
    from rankgauge.errors import RankgaugeError

    is_wrapped = type(error).__name__ == "SchemaError" and "KeyboardInterrupt: " in str(
        error
    )  # pydantic keeps no cause
    if isinstance(error, KeyboardInterrupt) or is_wrapped or was_interrupted(error):
        return INTERRUPTED, "interrupted"
    if isinstance(error, RankgaugeError):
        return error.exit_code, str(error)
    if isinstance(error, OSError):
        file = f" {error.filename}" if error.filename else ""
        return 2, f"cannot read or write{file}: {error.strerror or error}"
    if isinstance(error, MemoryError):
        return 2, f"there is not enough memory{f': {error}' if str(error) else ''}"
    if isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        return 2, "no thread can be started: this process may have no more threads or memory (ulimit -u, ulimit -v)"
    return 5, f"internal error: {told(error)}\nThis is a bug; run again with --debug and report it."


def begin() -> None:
    """
    Load modules without a search for cycles every few hundred objects, and keep memory that is freed.

    The first takes a twentieth off a short run. glibc returns blocks of 128 kB or more to the kernel, which clears
    every page before it comes back, until it learns from a large block that is freed. Without the one here, which
    nothing touches, a long run takes an eighth longer.
    """
    gc.set_threshold(_NEW_OBJECTS)
    bytes(_LARGEST)


def hand_over() -> None:
    """Search for cycles as Python usually does before a system under test runs, which may leave open files in them."""
    if gc.get_threshold()[0] == _NEW_OBJECTS:
        gc.freeze()
        gc.set_threshold(*_USUAL)


def end() -> None:
    """
    Spare the interpreter two searches for cycles among all that is loaded, right before the memory is given back.

    They would take a tenth of the time of a short run.
    """
    gc.freeze()


def load_numpy() -> None:
    """
    Load numpy without the threads that OpenBLAS starts, for a command that multiplies no large matrices.

    Who says how many threads there shall be gets them. Processes that this one starts see no difference.
    """
    if "numpy" in sys.modules or any(name in os.environ for name in _THREADS):
        return
    os.environ[_THREADS[0]] = "1"
    try:
        import numpy  # noqa: F401, ICN001  # for the other modules
    finally:
        del os.environ[_THREADS[0]]
