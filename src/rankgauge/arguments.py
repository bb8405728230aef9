"""
Values typed on the command line: types of options, which argparse is given as ``type=``.

    from rankgauge.arguments import path, whole_number

    parser.add_argument("queue", type=path, help="A queue.")
    parser.add_argument("--votes", type=whole_number(1), default=3, help="How many votes to ask for.")
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["add_json", "finite", "inner_share", "path", "share", "whole_number"]


def path(written: str) -> Path:
    """
    Read the name of a file or folder; completion in a shell offers files for options of this type.

    Raises:
        ArgumentTypeError: It is empty, or has a NUL character.
    """
    from pathlib import Path  # loads more than a parser needs

    if not written or "\0" in written:
        raise argparse.ArgumentTypeError(f"takes the name of a file or folder, not {written!r}")
    return Path(written)


def finite(written: str) -> float:
    """
    Read a finite number.

    Raises:
        ArgumentTypeError: It is no number, or infinite or NaN.
    """
    from rankgauge.base.plain_text import read_number

    number = read_number(written.strip().encode())
    if number != number:  # noqa: PLR0124  # NaN
        raise argparse.ArgumentTypeError(f"takes a finite number, not {written!r}")
    return number


def share(written: str) -> float:
    """
    Read a share, written as a number (``0.9``) or a percentage (``90%``); its bounds are for the command to check.

    Raises:
        ArgumentTypeError: It is neither.
    """
    from rankgauge.base.plain_text import read_share

    try:
        return read_share(written)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def inner_share(written: str) -> float:
    """
    Read a share above 0 and below 1.

    Raises:
        ArgumentTypeError: It is not.
    """
    value = share(written)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"takes a share between 0 and 1, not {written!r}")
    return value


def whole_number(least: int) -> Callable[[str], int]:
    """
    Return the type of a whole number that is at least *least*.

    Args:
        least: The lowest number that it takes; what it returns raises `ArgumentTypeError` for others.
    """

    def read(written: str) -> int:
        try:
            number = int(written)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(f"takes a whole number from {least} on, not {written!r}")
        return number

    return read


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option ``--json``, which every command of rankgauge has that prints an answer; as ``given.as_json``."""
    parser.add_argument("--json", action="store_true", dest="as_json", help="Print JSON.")
