"""
Entry points of installed distributions, read from their metadata: nothing of them is imported.

`importlib.metadata` takes as long to load as all that the help of the command line needs, so that it only reads what is
in a zip file.
"""

from __future__ import annotations

import functools
import importlib
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

__all__ = ["EntryPoint", "Unreadable", "installed_points", "normalized"]


class EntryPoint(NamedTuple):
    """
    An entry point.

    Attributes:
        distribution: Whose it is, as package indexes compare names.

        version: The version of that.

        group: The group.

        name: Its name in the group.

        target: A module, or an object as ``module:name``.
    """

    distribution: str
    version: str
    group: str
    name: str
    target: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version} ({self.target})"

    @property
    def module(self) -> str:
        """Return the module that has to be imported for it."""
        return self.target.partition("[")[0].partition(":")[0].strip()

    def load(self) -> object:
        """Import what it names; raise whatever that raises."""
        names = self.target.partition("[")[0].partition(":")[2].strip()
        return functools.reduce(getattr, filter(None, names.split(".")), importlib.import_module(self.module))


class Unreadable(NamedTuple):
    """A folder of metadata that cannot be read, and why."""

    folder: str
    why: str


def normalized(distribution: str) -> str:
    """Return a distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def installed_points(groups: Collection[str]) -> tuple[list[EntryPoint], list[Unreadable]]:
    """
    Return the entry points of some groups, by distribution and name, and the metadata that cannot be read.

    Of two distributions with one name the first on `sys.path` wins, as on import.
    """
    found: dict[str, list[EntryPoint]] = {}
    unreadable: list[Unreadable] = []
    for folder, read in _metadata():
        try:
            pairs = [pair for pair in _pairs(read("entry_points.txt")) if pair[0] in groups]
            if not pairs:
                continue
            name, version = _name_and_version(read("METADATA") or read("PKG-INFO"))
        except (OSError, ValueError, LookupError) as error:
            unreadable.append(Unreadable(folder, f"{type(error).__name__}: {error}"))
            continue
        found.setdefault(name, [EntryPoint(name, version, *pair) for pair in pairs])
    return sorted(point for points in found.values() for point in points), unreadable


_Read = Callable[[str], str]
"""Returns the text of a file beside the metadata of a distribution; an empty one if there is none."""


def _metadata() -> Iterator[tuple[str, _Read]]:
    """Yield where the metadata of each distribution on `sys.path` is, and what reads it."""
    for place in dict.fromkeys(sys.path):
        try:
            names = sorted(entry.name for entry in os.scandir(place or os.curdir))
        except NotADirectoryError:
            import importlib.metadata

            for distribution in importlib.metadata.distributions(path=[place]):
                yield place, lambda name, own=distribution: own.read_text(name) or ""  # type: ignore[misc]  # default
            continue
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                folder = os.path.join(place, name)  # noqa: PTH118  # pathlib takes longer to load
                yield folder, functools.partial(_text, folder)


def _text(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:  # noqa: PTH118, PTH123  # as above
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return ""


def _pairs(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield group, name and target of each line of ``entry_points.txt``."""
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1].strip()
        elif line and not line.startswith(("#", ";")):
            name, _, target = line.partition("=")
            yield group, name.strip(), target.strip()


def _name_and_version(text: str) -> tuple[str, str]:
    """Return what the head of a METADATA file says."""
    head = dict(line.partition(":")[::2] for line in text.partition("\n\n")[0].splitlines())
    return normalized(head.get("Name", "").strip() or "unknown"), head.get("Version", "").strip() or "unknown"
