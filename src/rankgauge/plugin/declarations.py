"""
Declarations of aggregates, tokenizers, file formats, and measures of whole runs.
"""

from __future__ import annotations

import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import IO, Any, Literal, NamedTuple, Protocol, TypeVar

from rankgauge.errors import DeclarationError
from rankgauge.expression import Value
from rankgauge.plugin.metric import POOLED, WHOLE_RUN
from rankgauge.plugin.metric_decorators import metric
from rankgauge.plugin.signature import Authored, checked_laws, declaring, plain_name, plain_version

__all__ = [
    "Aggregate",
    "AggregateFunction",
    "Reader",
    "Record",
    "Reporter",
    "RunMeasure",
    "Source",
    "Tokenizer",
    "TokenizerLaw",
    "aggregate",
    "reader",
    "reporter",
    "run_metric",
    "tokenizer",
]

AggregateFunction = Callable[..., float]
A = TypeVar("A", bound=AggregateFunction)


@dataclass(frozen=True, slots=True)
class Aggregate(Authored):
    """A way to make one number of the scores of many samples; the fields are the arguments of `aggregate`."""

    name: str
    function: AggregateFunction
    version: str = "1"


def aggregate(name: str, *, version: str = "1") -> Callable[[A], A]:
    """
    Declare an aggregate, such as a median: ``(values: Sequence[float], *, higher_is_better: bool) -> float``.

    The function is given the scores that count, at least one, in ascending order, so that it cannot depend on the order
    of samples, and merged parts of a run aggregate to the same bits as the whole. Metrics ask for it by name,
    ``@metric(..., aggregate="median")``, and so does whoever uses a metric: ``ndcg(aggregate=median)@10``.

    The keyword `higher_is_better` is optional. If the function has it, it is given which end of the scores is the
    worse one:

        @aggregate("worst-decile")
        def worst_decile(values: Sequence[float], *, higher_is_better: bool) -> float:
            n = math.ceil(len(values) / 10)
            return fmean(values[:n] if higher_is_better else values[-n:])

    Args:
        name: Lower-case words joined by hyphens.

        version: Raise it when the definition changes.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the name cannot be used.
    """
    if name == POOLED:
        raise DeclarationError(f"the aggregate {POOLED!r} is built in: it needs the denominators of scores")
    return declaring(lambda function: Aggregate(plain_name(name), function, plain_version(version)))


TokenizerLaw = Literal["monotone", "subadditive"]
"""
A property that `rankgauge.testing` checks for every tokenizer that declares it.

`monotone`: a text with a line break and more text behind it never has fewer tokens. `subadditive`: two texts with a
line break between them never have more than one token more than apart.
"""


TokenizerFunction = Callable[[str], int]
T = TypeVar("T", bound=TokenizerFunction)


@dataclass(frozen=True, slots=True)
class Tokenizer(Authored):
    """A way of counting tokens; the fields are the arguments of `tokenizer`."""

    name: str
    function: TokenizerFunction
    version: str = "1"
    laws: frozenset[TokenizerLaw] = frozenset({"monotone"})


def tokenizer(name: str, *, version: str = "1", laws: Iterable[TokenizerLaw] = ("monotone",)) -> Callable[[T], T]:
    """
    Declare a tokenizer: ``(text: str) -> int``, how many tokens a text has.

        @tokenizer("my-model")
        def my_model(text: str) -> int:
            return len(encoding.encode(text))

    The same text always has the same number, of 0 or more; the empty text has none. Marks that a model puts around a
    whole prompt are not counted: texts of results are counted one by one.

    Args:
        name: Lower-case words joined by hyphens; `recall(tokenizer=NAME)@2000tok` uses it.

        version: Raise it when the definition changes.

        laws: Which laws hold; see `TokenizerLaw`.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the name cannot be used, or a law is unknown.
    """

    def declare(function: TokenizerFunction) -> Tokenizer:
        checked = checked_laws(f"tokenizer {name!r}", laws, typing.get_args(TokenizerLaw))
        return Tokenizer(plain_name(name), function, plain_version(version), checked)

    return declaring(declare)


class Record(NamedTuple):
    """
    One record of a file.

    Attributes:
        value: The decoded record, usually a mapping.

        line: Its line, from 1, if the format has lines.

        path: Its place in the document, such as ``samples[3]``, if the format has one.
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

    def declare(function: ReaderFunction) -> Reader:
        endings = tuple(suffixes)
        if not endings or not all(re.fullmatch(r"\.[a-z0-9.]+", ending) for ending in endings):
            raise DeclarationError(f"the suffixes of reader {name!r} must look like '.jsonl', not {endings!r}")
        return Reader(name, endings, function)

    return declaring(declare)


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
    return declaring(lambda function: Reporter(name, suffix, function))


RunMeasure = Callable[..., float | None]
F = TypeVar("F", bound=RunMeasure)


def run_metric(
    alias: str,
    *,
    aliases: Iterable[str] = (),
    short: Iterable[str] = (),
    range: tuple[float | None, float | None] = (0.0, 1.0),  # noqa: A002  # the field's word
    higher_is_better: bool = True,
    version: str = "1",
    check: Callable[..., None] | None = None,
    example: Mapping[str, Value] = MappingProxyType({}),
) -> Callable[[F], F]:
    """
    Declare a measure of a whole run: ``(rankings: Sequence[Sequence[str]], *, k: Cutoff, ...) -> float | None``.

    The function gets the ids that each sample retrieved, rank 1 first, after policy and cut at the sample's cutoff. A
    sample without an output is left out. Rankings come sorted, so that a value cannot depend on the order of samples,
    and merged parts of a run give the same value as the whole. None, or NaN, means that there is no value.

    A parameter `k` annotated ``Cutoff`` gives the metric a cutoff; its value is an int, the highest cutoff of any
    sample. Further
    keyword-only parameters need an annotation and a default.

    Args:
        alias: As in `metric`.

        aliases: As in `metric`.

        short: As in `metric`.

        range: Lowest and highest value; None for no bound.

        higher_is_better: Whether more is better.

        version: Raise it when the definition changes.

        check: ``(*, ...) -> None``, called when an evaluation is planned; a `ValueError` is the user's error.

        example: As in `metric`.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the declaration cannot be used.
    """
    return metric(
        alias,
        aliases=aliases,
        short=short,
        range=range,
        higher_is_better=higher_is_better,
        aggregate=WHOLE_RUN,
        version=version,
        gold=(),
        needs=("ids",),
        check=check,
        example=example,
        describes=True,
    )
