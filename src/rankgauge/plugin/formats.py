"""
Format declarations: readers that turn a file into records, reporters that turn a result into a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any, NamedTuple, Protocol

from rankgauge.errors import DeclarationError
from rankgauge.plugin.authored import Authored

__all__ = ["Reader", "Record", "Reporter", "Source", "reader", "reporter"]


class Record(NamedTuple):
    """
    One record of a file.

    Attributes:
        value: What stands there, decoded: usually a mapping.

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
        """Return how many bytes of the file stand before the stream: those of a byte-order mark."""
        ...


ReaderFunction = Callable[[Source], Iterator[Record]]
ReporterFunction = Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class Reader(Authored):
    """
    A file format that datasets and outputs can be read from.

    Attributes:
        name: What listings call it.

        suffixes: File endings that select it, such as ``.jsonl``; compression endings are taken off before.

        function: ``(Source) -> records``; raises `rankgauge.errors.DataError` for a file it cannot read.
    """

    name: str
    suffixes: tuple[str, ...]
    function: ReaderFunction


@dataclass(frozen=True, slots=True)
class Reporter(Authored):
    """
    A text form of a result.

    Attributes:
        name: What config and ``--format`` call it.

        suffix: The usual ending of a file that holds such a text.

        function: ``(Result) -> text``; it only lays out, it computes nothing.
    """

    name: str
    suffix: str
    function: ReporterFunction


def reader(name: str, *, suffixes: Iterable[str]) -> Callable[[ReaderFunction], ReaderFunction]:
    """
    Declare a reader: ``(source: Source) -> Iterator[Record]``.

    Args:
        name: The name of the format.

        suffixes: File endings, each with its dot.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: a suffix without a dot.
    """

    def decorate(function: ReaderFunction) -> ReaderFunction:
        endings = tuple(suffixes)
        if not endings or not all(re.fullmatch(r"\.[a-z0-9.]+", ending) for ending in endings):
            msg = f"the suffixes of reader {name!r} look like '.jsonl', not {endings!r}"
            raise DeclarationError(msg)
        function.__rankgauge__ = Reader(name, endings, function)  # type: ignore[attr-defined]  # see metric
        return function

    return decorate


def reporter(name: str, *, suffix: str) -> Callable[[ReporterFunction], ReporterFunction]:
    """
    Declare a reporter: ``(result: Result) -> str``.

    Args:
        name: What ``--format`` calls it.

        suffix: The ending of its file, with its dot.

    Returns:
        A decorator that leaves the function as it is.
    """

    def decorate(function: ReporterFunction) -> ReporterFunction:
        function.__rankgauge__ = Reporter(name, suffix, function)  # type: ignore[attr-defined]  # see metric
        return function

    return decorate
