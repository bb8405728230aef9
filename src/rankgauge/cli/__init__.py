"""
The command line: one file a command; the only place that prints or configures logging.

`rankgauge trec` runs without the framework of the other commands, which takes longer to load than a small run takes to
evaluate.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> None:
    """
    Run the command line and exit.

    Args:
        argv: The arguments; those of the process by default.
    """
    sys.exit(call(list(sys.argv[1:] if argv is None else argv)))


def call(arguments: Sequence[str], *, debug: bool = False) -> int:
    """Return the exit code of one call; errors go to stderr, with a traceback only under ``--debug``."""
    from rankgauge.cli.exits import exit_code

    debug = debug or "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    if arguments[:1] == ["trec"]:
        from rankgauge.cli.trec import trec

        return exit_code(trec, arguments[1:], debug=debug)
    from rankgauge.cli.app import run_app

    return exit_code(run_app, arguments, debug=debug)
