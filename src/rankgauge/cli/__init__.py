"""
The command line: one file a command; the only place that prints or configures logging.

`rankgauge trec` runs without the framework of the other commands, which takes longer to load than a small run takes to
evaluate.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 3
"""The exit code of a call that Ctrl-C ended."""


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
        code = INTERRUPTED
    sys.exit(code)


def _process(arguments: Sequence[str]) -> int:
    """Run the command line as all that this process does, unless somebody calls it from Python."""
    from rankgauge.cli.interrupts import kept_interrupts

    with kept_interrupts():
        from rankgauge.cli import process
        from rankgauge.cli.streams import claim_process, leave

        is_ours = claim_process()
        if is_ours:
            process.begin()
        code = call(arguments)
        if is_ours:
            leave()
            process.end()
    return code


def call(arguments: Sequence[str], *, debug: bool = False) -> int:
    """Return the exit code of one call; errors go to stderr, with a traceback only under ``--debug``."""
    from rankgauge.cli.console import plain
    from rankgauge.cli.exits import exit_code

    debug = debug or "--debug" in arguments
    rest = [argument for argument in arguments if argument not in {"--debug", "--plain"}]
    with plain(wanted="--plain" in arguments):
        return exit_code(_limited, rest, debug=debug)


def _limited(arguments: Sequence[str]) -> int:
    """Run a command under the limit that ``--max-line`` names, wherever that stands."""
    place = next((at for at, argument in enumerate(arguments) if argument.partition("=")[0] == "--max-line"), None)
    if place is None:
        return _command(arguments)
    from rankgauge.io.problems import limited

    _, equals, size = arguments[place].partition("=")
    rest = place + (1 if equals else 2)
    with limited(size if equals else "".join(arguments[place + 1 : rest]), "--max-line"):
        return _command([*arguments[:place], *arguments[rest:]])


def _command(arguments: Sequence[str]) -> int:
    if arguments[:1] == ["trec"]:
        from rankgauge.cli.trec import trec

        return trec(arguments[1:])
    from rankgauge.cli.app import run_app

    return run_app(arguments)
