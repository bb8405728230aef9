"""
Exits: how errors are printed, and the exit code of the command line.

Exit codes: 0 done; 1 a check or gate failed; 2 usage, config, unreadable input or a plugin that fails where it is
needed; 3 the run is incomplete; 4 nothing to evaluate; 5 an internal error.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence

from rankgauge.base.guard import told, was_interrupted
from rankgauge.cli import INTERRUPTED
from rankgauge.cli.console import complain, debugging
from rankgauge.cli.streams import own_stdout, results, settle
from rankgauge.errors import RankgaugeError

__all__ = ["exit_code"]


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
            if isinstance(error, KeyboardInterrupt) or was_interrupted(error):
                complain("interrupted")
                return INTERRUPTED
            if debug and sys.stderr is not None:
                traceback.print_exception(error)
            code, message = _described(error)
            complain(message)
        finally:
            settle(sys.stderr)
    return code


def _described(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the message of an error."""
    if isinstance(error, RankgaugeError):
        return error.exit_code, str(error)
    if isinstance(error, OSError):
        file = f" {error.filename}" if error.filename else ""
        return 2, f"cannot read or write{file}: {error.strerror or error}"
    return 5, f"internal error: {told(error)}\nThis is a bug; run again with --debug and report it."
