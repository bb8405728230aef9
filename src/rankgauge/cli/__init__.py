"""
The command line, the only place that prints or configures logging; nothing here is public.

What can be typed is in the files of options, which ``--help`` loads, and which import nothing that is slow to load.
What a command does is in other files, which are loaded once it runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

__all__ = ["call", "main"]


def main(argv: Sequence[str] | None = None) -> None:
    """
    Run the command line and exit.

    Args:
        argv: The arguments; those of the process by default.
    """
    try:
        code = _process(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:  # outside of a command, such as while modules load
        os.write(2, b"error: interrupted\n")
        code = 3  # `own_process.INTERRUPTED`, which may not be loaded yet
    sys.exit(code)


def _process(arguments: Sequence[str]) -> int:
    """Run the command line as all that this process does, unless somebody calls it from Python."""
    from rankgauge.cli.interrupts import kept_interrupts, whole_loads

    with kept_interrupts(), whole_loads():
        from rankgauge.base.address_space import heed_limit
        from rankgauge.cli import own_process
        from rankgauge.cli.streams import claim_process, leave

        is_ours = claim_process()
        if is_ours:
            own_process.begin()
            heed_limit()
        code = call(arguments)
        if is_ours:
            leave()
            own_process.end()
    return code


def call(arguments: Sequence[str], *, debug: bool = False) -> int:
    """Return the exit code of one call; errors go to stderr, with a traceback only under ``--debug``."""
    from rankgauge.cli.console import plain
    from rankgauge.cli.own_process import exit_code

    debug = debug or "--debug" in arguments
    rest = [argument for argument in arguments if argument not in {"--debug", "--plain"}]
    with plain(wanted="--plain" in arguments):
        return exit_code(_limited, rest, debug=debug)


def _limited(arguments: Sequence[str]) -> int:
    """Run a command under the limit that ``--max-line`` names, wherever that is."""
    from rankgauge.cli.command_line import run_command_line

    place = next((at for at, argument in enumerate(arguments) if argument.partition("=")[0] == "--max-line"), None)
    if place is None:
        return run_command_line(arguments)
    from rankgauge.io.problems import limited

    _, equals, size = arguments[place].partition("=")
    rest = place + (1 if equals else 2)
    with limited(size if equals else "".join(arguments[place + 1 : rest]), "--max-line"):
        return run_command_line([*arguments[:place], *arguments[rest:]])
