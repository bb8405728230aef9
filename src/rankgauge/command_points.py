"""
The commands of plugins: entry points of the group `rankgauge.commands`.

The name of an entry point is the command, its words joined by a dot: ``judge.run`` is ``rankgauge judge run``. So what
is listed, misspelled, claimed twice or disabled is known before anything of a plugin is imported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from rankgauge.base.entry_points import EntryPoint, installed_points, normalized
from rankgauge.commands import COMMANDS, GROUPS, words

__all__ = ["GROUP", "PluginCommands", "disabled_plugins", "installed_commands", "no_plugins", "settled"]

GROUP = "rankgauge.commands"
"""The group of entry points whose names are commands."""

_PROJECT = "rankgauge"


class PluginCommands(NamedTuple):
    """
    The commands of plugins.

    Attributes:
        usable: Those that can be run, as they are typed.

        faults: What is wrong with others: each with its entry point, which may be there several times.

        disabled: Those of distributions that are disabled, as they are typed.
    """

    usable: Mapping[str, EntryPoint]
    faults: tuple[tuple[EntryPoint, str], ...]
    disabled: Mapping[str, EntryPoint]

    @property
    def groups(self) -> dict[str, str]:
        """Return the groups that only plugins have, each with its one line in listings."""
        found: dict[str, list[EntryPoint]] = {}
        for name, point in self.usable.items():
            group, space, _ = name.partition(" ")
            if space and group not in GROUPS:
                found.setdefault(group, []).append(point)
        return {
            group: f"Commands of {' and '.join(dict.fromkeys(point.distribution for point in points))}: "
            f"{', '.join(point.name.partition('.')[2] for point in points)}."
            for group, points in found.items()
        }


def disabled_plugins() -> list[str]:
    """Return the distributions that RANKGAUGE_DISABLE_PLUGINS lists, separated by commas."""
    return [name.strip() for name in os.environ.get("RANKGAUGE_DISABLE_PLUGINS", "").split(",") if name.strip()]


def no_plugins() -> bool:
    """Return whether RANKGAUGE_NO_PLUGINS disables every plugin except rankgauge's own."""
    return os.environ.get("RANKGAUGE_NO_PLUGINS", "") not in {"", "0"}


def installed_commands(disable: Iterable[str] = ()) -> PluginCommands:
    """Return the commands of the plugins that are installed, as the environment and what else is disabled allow."""
    off, none = set(map(normalized, [*disabled_plugins(), *disable])), no_plugins()
    points, _ = installed_points((GROUP,))
    return settled(points, lambda point: none or point.distribution in off)


def settled(points: Iterable[EntryPoint], is_off: Callable[[EntryPoint], bool]) -> PluginCommands:
    """Return which of some entry points are commands that can be run, and what is wrong with the others."""
    claims: dict[str, list[EntryPoint]] = {}
    disabled = {}
    for point in sorted(points):
        if point.distribution == _PROJECT:
            continue
        if is_off(point):
            disabled[words(point.name)] = point
        else:
            claims.setdefault(words(point.name), []).append(point)
    faults = {name: fault for name, own in claims.items() if (fault := _fault(name, own, claims))}
    usable = {name: own[0] for name, own in claims.items() if name not in faults}
    told = tuple((point, fault) for name, fault in faults.items() for point in claims[name])
    return PluginCommands(usable, told, disabled)


def _fault(name: str, own: list[EntryPoint], claims: Mapping[str, list[EntryPoint]]) -> str:
    """Return why a command cannot be run; nothing if it can."""
    group, space, _ = name.partition(" ")
    who = "; ".join(map(str, own))
    if not _is_name(own[0].name):
        form = "one word, or a group and a word joined by a dot, in lower-case letters, digits and hyphens"
        return f"{own[0].name!r} is not the name of a command ({who}); write {form}, such as 'judge.run'"
    if name in COMMANDS or name in GROUPS:
        kind = "command" if name in COMMANDS else "group"
        return f"{kind} {name!r} is built in and cannot be replaced ({who}); choose another name"
    if space and group in COMMANDS:
        return f"command {name!r} has no place, because {group!r} is a built-in command ({who}); choose another name"
    rivals = [*own, *_meeting(name, claims)]
    if len(rivals) > 1:
        listed = "; ".join(map(str, rivals))
        many = len({point.distribution for point in rivals}) > 1
        who = f"{len(rivals)} {'plugins' if many else 'entry points'}"
        return f"command {name!r} is claimed by {who}, so it works for none of them: {listed}"
    return ""


def _meeting(name: str, claims: Mapping[str, list[EntryPoint]]) -> Iterator[EntryPoint]:
    """Yield the commands in the group that has the name of a command, and the command with that of a group."""
    group, space, _ = name.partition(" ")
    for other, points in claims.items():
        if (other == group) if space else other.startswith(f"{name} "):
            yield from points


def _is_name(name: str) -> bool:
    """Return whether a name is one or two words of lower-case letters and digits, which may have hyphens inside."""
    parts = [part for word in name.split(".") for part in word.split("-")]
    return name.count(".") <= 1 and all(part.isascii() and part.isalnum() and part == part.lower() for part in parts)
