"""
Format declarations: readers that turn a file into records, reporters that turn a result into a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any, NamedTuple, Protocol, TypeVar

from rankgauge.errors import DeclarationError
from rankgauge.plugin.authored import Authored

__all__ = ["Reader", "Record", "Reporter", "Source", "reader", "reporter"]


class Record(NamedTuple):
    """
    One record of a file.

    Attributes:
        value: The decoded record, usually a mapping.

        line: Its line, from 1, where the format has lines.

        path: Its place in the document, such as ``samples[3]``, where the format has one.
    """

    value: object
    line: int | None = None
    path: str = ""


class Source(Protocol):
    """A file that a reader is given: opened, decompressed and hashed by the caller."""

    @property
    def name(self) -> str:
        """Return the file's name as the user wrote it, for messages."""
        ...

    @property
    def path(self) -> str | None:
        """Return the path when the file is an uncompressed one on disk, else None."""
        ...

    @property
    def stream(self) -> IO[bytes]:
        """Return the decompressed bytes."""
        ...

    @property
    def offset(self) -> int:
        """Return how many bytes of the file come before the stream: those of a byte-order mark."""
        ...


ReaderFunction = Callable[[Source], Iterator[Record]]
R = TypeVar("R", bound=ReaderFunction)
ReporterFunction = Callable[[Any], str]
P = TypeVar("P", bound=ReporterFunction)


@dataclass(frozen=True, slots=True)
class Reader(Authored):
    """A file format that datasets and outputs can be read from."""

    name: str
    suffixes: tuple[str, ...]  # without compression endings
    function: ReaderFunction


@dataclass(frozen=True, slots=True)
class Reporter(Authored):
    """A text form of a result."""

    name: str
    suffix: str
    function: ReporterFunction


def reader(name: str, *, suffixes: Iterable[str]) -> Callable[[R], R]:
    """
    Declare a reader: ``(source: Source) -> Iterator[Record]``.

    Args:
        name: The name of the format, for listings.

        suffixes: File endings that select it, such as ``.jsonl``; compression endings are removed before. The function
            raises `rankgauge.errors.DataError` for a file that it cannot read.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: a suffix without a dot.
    """

    def decorate(function: R) -> R:
        endings = tuple(suffixes)
        if not endings or not all(re.fullmatch(r"\.[a-z0-9.]+", ending) for ending in endings):
            msg = f"the suffixes of reader {name!r} must look like '.jsonl', not {endings!r}"
            raise DeclarationError(msg)
        function.__rankgauge__ = Reader(name, endings, function)  # type: ignore[attr-defined]  # functions allow it
        return function

    return decorate


def reporter(name: str, *, suffix: str) -> Callable[[P], P]:
    """
    Declare a reporter: ``(result: Result) -> str``.

    Args:
        name: The name in config and for ``--format``.

        suffix: The ending of a file that holds such a text, with its dot. The function only lays out; it computes
            nothing.

    Returns:
        A decorator that leaves the function as it is.
    """

    def decorate(function: P) -> P:
        function.__rankgauge__ = Reporter(name, suffix, function)  # type: ignore[attr-defined]  # functions allow it
        return function

    return decorate
