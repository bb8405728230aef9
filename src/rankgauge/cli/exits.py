"""
Exits: how errors are printed, and the exit code of the command line.

Exit codes: 0 done; 1 a check or gate failed; 2 usage, config or unreadable input; 3 the run is incomplete; 4 nothing
to evaluate; 5 an internal error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from rankgauge.cli.console import complain
from rankgauge.errors import RankgaugeError

__all__ = ["INTERRUPTED", "exit_code"]

INTERRUPTED = 130
"""What a call returns that Ctrl-C ended."""


def exit_code(call: Callable[[Sequence[str]], int], arguments: Sequence[str], *, debug: bool) -> int:
    """Make a call, print its error to stderr unless *debug* is to show a traceback, and return the exit code."""
    try:
        code = call(arguments)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader of the output has gone
        return 0
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:
        if debug:
            raise
        code, message = _described(error)
        complain(message)
    if code == INTERRUPTED:
        complain("interrupted; nothing was scored")
        return 3
    return code


def _described(error: Exception) -> tuple[int, str]:
    """Return the exit code and the message of an error."""
    if isinstance(error, RankgaugeError):
        return error.exit_code, str(error)
    if isinstance(error, OSError):
        return 2, f"cannot read or write: {error.strerror or error}"
    what = f"{type(error).__name__}: {error}"
    return 5, f"internal error: {what}\nThis is a bug; run again with --debug and report it."
