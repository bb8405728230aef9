"""
What the commands that argparse reads share: how a parser is set up, and what is made of its end.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence

from rankgauge.cli.console import terminal_width

__all__ = ["command_parser", "read_arguments"]


def command_parser(name: str, usage: str, description: str) -> argparse.ArgumentParser:
    """Return the parser of a command without its options; ``--help`` is added when it reads, so that it stands last."""
    return argparse.ArgumentParser(
        prog=f"rankgauge {name}",
        usage=usage,
        description=description,
        formatter_class=functools.partial(argparse.RawDescriptionHelpFormatter, width=terminal_width() - 2),
        allow_abbrev=False,
        add_help=False,
    )


def read_arguments(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace | int:
    """Return what was typed, or the exit code after help or a usage error, which argparse has printed."""
    parser.add_argument("-h", "--help", action="help", help="Show this message and exit.")
    try:
        return parser.parse_args(arguments)
    except SystemExit as done:
        return int(done.code or 0)
