"""
Entry points of installed distributions, read from their metadata: nothing of them is imported.

`importlib.metadata` takes as long to load as all that the help of the command line needs, so that it only reads what is
in a zip file.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

__all__ = ["EntryPoint", "installed_points", "normalized"]


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


def normalized(distribution: str) -> str:
    """Return a distribution's name as package indexes compare it."""
    return "-".join(filter(None, distribution.replace("_", "-").replace(".", "-").lower().split("-")))


def installed_points(groups: Collection[str]) -> tuple[list[EntryPoint], list[tuple[str, str]]]:
    """
    Return the entry points of some groups, by distribution and name; and folders that cannot be read, each with why.

    Of two distributions with one name the first on `sys.path` wins, as on import.
    """
    found: dict[str, list[EntryPoint]] = {}
    unreadable: list[tuple[str, str]] = []
    marks = [group.encode() for group in groups]
    for folder, read in _metadata():
        try:
            written = read("entry_points.txt")
            if not any(mark in written for mark in marks):
                continue
            pairs = [pair for pair in _pairs(written.decode()) if pair[0] in groups]
            if not pairs:
                continue
            name, version = _name_and_version((read("METADATA") or read("PKG-INFO")).decode(errors="replace"))
        except (OSError, ValueError) as error:
            unreadable.append((folder, f"{type(error).__name__}: {error}"))
            continue
        found.setdefault(name, [EntryPoint(name, version, *pair) for pair in pairs])
    return sorted(point for points in found.values() for point in points), unreadable


_Read = Callable[[str], bytes]
"""Returns the content of a file beside the metadata of a distribution; nothing if there is no such file."""


def _metadata() -> Iterator[tuple[str, _Read]]:
    """Yield where the metadata of each distribution on `sys.path` is, and what reads it."""
    for place in dict.fromkeys(sys.path):
        try:
            found = os.listdir(place or os.curdir)  # noqa: PTH208  # pathlib takes longer to load
        except NotADirectoryError:
            yield from _zipped(place)
            continue
        except OSError:
            continue
        for name in sorted(name for name in found if name.endswith((".dist-info", ".egg-info"))):
            folder = f"{place or os.curdir}{os.sep}{name}"
            yield folder, functools.partial(_content, folder)


def _zipped(place: str) -> Iterator[tuple[str, _Read]]:
    import importlib.metadata

    for distribution in importlib.metadata.distributions(path=[place]):
        yield place, lambda name, own=distribution: (own.read_text(name) or "").encode()  # type: ignore[misc]  # default


def _content(folder: str, name: str) -> bytes:
    try:
        with open(f"{folder}{os.sep}{name}", "rb", buffering=0) as file:  # noqa: PTH123  # pathlib takes longer to load
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return b""


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
