"""
Commands of plugins: what a function declares that stands on the command line beside ours.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from rankgauge.errors import DeclarationError
from rankgauge.plugin.signature import PLAIN_NAME, Authored, declaring

__all__ = ["OPEN_GROUPS", "Command", "command"]

OPEN_GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType({"judge": ("queue", "read"), "systems": (), "traces": ()})
"""The groups that commands of plugins can join, each with the built-in words of it, which nobody can replace."""

CommandFunction = Callable[[argparse.Namespace], int]
C = TypeVar("C", bound=CommandFunction)


@dataclass(frozen=True, slots=True)
class Command(Authored):
    """A command of a plugin; the fields are the arguments of `command`."""

    name: str
    usage: str
    options: Callable[[argparse.ArgumentParser], None]
    function: CommandFunction


def command(
    name: str, *, options: Callable[[argparse.ArgumentParser], None], usage: str = "[OPTIONS]"
) -> Callable[[C], C]:
    """
    Declare a command: ``(given: argparse.Namespace) -> int``, which returns its exit code.

    The first line of the docstring is the summary in listings, the rest stands in the command's help. Errors of
    `rankgauge.errors` are printed with their exit codes; what the function prints itself is the result (stdout) or
    about it (stderr). Its module is imported when the help of the group or a command of a plugin is asked for, so what
    is slow to import belongs into the function.

    Args:
        name: A group that is open to plugins and a new word in it, such as ``judge run``; open are ``judge``,
            ``systems`` and ``traces``.

        options: Adds options and arguments to a parser. ``-h`` and ``--help`` are there already.

        usage: What stands behind the name in the first line of the help; a further line is another way to use it.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the name cannot be used.
    """

    def declare(function: CommandFunction) -> Command:
        group, _, word = name.partition(" ") if isinstance(name, str) else ("", "", "")
        if group not in OPEN_GROUPS or PLAIN_NAME.fullmatch(word) is None:
            groups = ", ".join(OPEN_GROUPS)
            raise DeclarationError(f"{name!r} is not the name of a command: write an open group ({groups}) and a word")
        if word in OPEN_GROUPS[group]:
            raise DeclarationError(f"command {name!r} is built in and cannot be replaced; choose another word")
        return Command(name, usage, options, function)

    return declaring(declare)
