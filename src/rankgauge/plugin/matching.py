"""
Matching declarations: normalizers, comparers, and matchers composed of them.

A matcher is a frozen value made of names; the catalog turns it into functions. It prints as, and is read from,
``collapse-whitespace | casefold > contained(direction=gold-in-retrieved) >= 1``.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.frozen import frozen
from rankgauge.errors import DeclarationError, ExpressionError, MatcherError, did_you_mean
from rankgauge.expression import QUOTED, MetricExpression, Value, parse
from rankgauge.plugin.signature import PLAIN_NAME, Authored, checked_laws, declaring, plain_name, plain_version

__all__ = [
    "Comparer",
    "Covers",
    "Matcher",
    "NamedMatcher",
    "Normalizer",
    "comparer",
    "named_matcher",
    "normalizer",
    "parse_matcher",
]

ComparerLaw = Literal["reflexive", "empty-scores-zero", "symmetric"]
"""
A property that `rankgauge.testing` checks for every comparer that declares it.

`reflexive`: a text that is not empty scores 1 against itself. `empty-scores-zero`: an empty text scores 0 against
everything. `symmetric`: two texts score the same in either order.
"""


Stage = Literal["decode", "strip", "fold"]
STAGES: tuple[Stage, ...] = ("decode", "strip", "fold")


class Covers(NamedTuple):
    """
    What a comparer may return in place of scores: which parts of each gold text every retrieved text has.

    Where a comparer is declared with ``covers=True``, what the first results have of a gold text adds up. The score of
    one pair is the share of the gold text that its parts are. Texts are measured in units of the comparer's own, such
    as the letters of their words.

    Attributes:
        row: The retrieved text of each part, by its number; shape (parts,), in order of row, then column, then start.

        column: The gold text of each part; shape (parts,).

        start: The first unit of the gold text that is covered; shape (parts,).

        end: The last one, exclusive; shape (parts,). Parts of one pair do not overlap.

        size: How many units each gold text has, 1 or more; shape (gold,).

        n_retrieved: How many retrieved texts there are.
    """

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    size: NDArray[np.int64]
    n_retrieved: int

    def scores(self) -> NDArray[np.float64]:
        """Return the share of each gold text that each retrieved text has; shape (retrieved, gold)."""
        shape = self.n_retrieved, len(self.size)
        covered = np.bincount(self.row * shape[1] + self.column, self.end - self.start, shape[0] * shape[1])
        return covered.reshape(shape) / self.size


NormalizerFunction = Callable[[str], str]
N = TypeVar("N", bound=NormalizerFunction)
ComparerFunction = Callable[..., NDArray[np.float64] | Covers]
C = TypeVar("C", bound=ComparerFunction)


@dataclass(frozen=True, slots=True)
class Normalizer(Authored):
    """A text transformation."""

    name: str
    function: NormalizerFunction
    stage: Stage
    version: str = "1"
    cache: bool = True
    batch: Callable[[Sequence[str]], Sequence[str]] | None = None


@dataclass(frozen=True, slots=True)
class Comparer(Authored):
    """A comparison of retrieved texts with gold texts; the fields are the arguments of `comparer`."""

    name: str
    function: ComparerFunction
    version: str = "1"
    check: Callable[..., None] | None = None
    prepare: Callable[..., None] | None = None
    batch: Callable[..., Sequence[NDArray[np.float64] | Covers]] | None = None
    laws: frozenset[ComparerLaw] = frozenset({"reflexive", "empty-scores-zero"})
    covers: bool = False
    gone: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Matcher:
    """
    Normalizers in order, a comparer, and the lowest score at which two texts match.

    Attributes:
        normalizers: Names of normalizers.

        comparer: Name of a comparer.

        params: The comparer's parameters.

        threshold: From 0 (exclusive) to 1.

    Raises:
        MatcherError: The threshold is outside (0, 1].
    """

    normalizers: tuple[str, ...]
    comparer: str
    params: tuple[tuple[str, Value], ...] = ()
    threshold: float = 1.0

    def __post_init__(self) -> None:
        threshold = self.threshold
        number = isinstance(threshold, int | float) and not isinstance(threshold, bool) and math.isfinite(threshold)
        if not number or not 0 < threshold <= 1:
            raise MatcherError(f"the threshold of a matcher must be above 0 and at most 1, not {threshold!r}")

    def __str__(self) -> str:
        compare = MetricExpression(self.comparer, dict(self.params))
        prefix = f"{' | '.join(self.normalizers)} > " if self.normalizers else ""
        short = f"{self.threshold:g}"
        return f"{prefix}{compare} >= {short if float(short) == self.threshold else repr(self.threshold)}"


@dataclass(frozen=True, slots=True)
class NamedMatcher(Authored):
    """A matcher with its own name."""

    name: str
    function: Callable[[], None]  # its docstring says when to use the matcher
    matcher: Matcher


def normalizer(
    name: str,
    *,
    stage: Stage,
    version: str = "1",
    cache: bool = True,
    batch: Callable[[Sequence[str]], Sequence[str]] | None = None,
) -> Callable[[N], N]:
    """
    Declare a normalizer: ``(text: str) -> str``, pure and total, and idempotent but for the stage `decode`.

    Args:
        name: Lower-case words joined by hyphens.

        stage: `decode` undoes an encoding, `strip` removes parts, `fold` makes spellings equal; in that order.

        version: Raise it when the definition changes.

        cache: Whether to call it once for each distinct text of a batch. Say False for one that only looks at the
            beginning of a text, which takes less time than finding out whether the text was there before.

        batch: For a normalizer that is faster at many texts at once: ``(texts: Sequence[str]) -> Sequence[str]``, what
            the function itself returns for each of them.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the declaration cannot be used.
    """

    def declare(function: NormalizerFunction) -> Normalizer:
        if stage not in STAGES:
            msg = f"the stage of normalizer {name!r} must be one of {', '.join(STAGES)}, not {stage!r}"
            raise DeclarationError(msg)
        return Normalizer(plain_name(name), function, stage, plain_version(version), cache, batch)

    return declaring(declare)


def comparer(
    name: str,
    *,
    version: str = "1",
    check: Callable[..., None] | None = None,
    prepare: Callable[..., None] | None = None,
    batch: Callable[..., Sequence[NDArray[np.float64] | Covers]] | None = None,
    laws: Iterable[ComparerLaw] = ("reflexive", "empty-scores-zero"),
    covers: bool = False,
    gone: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[C], C]:
    """
    Declare a comparer: ``(retrieved: Sequence[str], gold: Sequence[str], **params) -> scores``.

    Scores have the shape (retrieved, gold) and lie between 0 and 1.

    Args:
        name: Lower-case words joined by hyphens.

        version: Raise it when the definition changes.

        check: For a comparer that needs more than its arguments, such as a model: ``(**params) -> None``, called
            before any data is read. If it raises, the evaluation cannot be planned, for that reason.

        prepare: For a comparer that is faster at many texts at once: ``(texts: Sequence[str], **params) -> None``,
            called with the distinct normalized texts of many samples before each of them is compared. Scores must not
            depend on it, and what it raises is ignored: the sample's own comparison then fails by itself.

        batch: For a comparer that is faster at many samples at once: ``(retrieved: Sequence[Sequence[str]], gold:
            Sequence[Sequence[str]], **params) -> blocks``, with the texts of each sample on both sides, and for each
            the scores that the function itself returns, to the last bit. If it raises, samples are compared one by
            one, so that the one to blame fails alone.

        laws: Which laws hold; see `ComparerLaw`.

        covers: Whether it returns `Covers` rather than scores, so that pieces of a gold text in several results add up
            until the matcher's threshold is reached.

        gone: Parameters that it had in earlier versions, and what to write instead of each.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the name cannot be used, or a law is unknown.
    """

    def declare(function: ComparerFunction) -> Comparer:
        checked = checked_laws(f"comparer {name!r}", laws, typing.get_args(ComparerLaw))
        return Comparer(
            plain_name(name), function, plain_version(version), check, prepare, batch, checked, covers, frozen(gone)
        )

    return declaring(declare)


def named_matcher(name: str, spec: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """
    Declare a named matcher; the decorated function's docstring says when to use it.

    Args:
        name: Lower-case words joined by hyphens.

        spec: The matcher as it prints, such as ``casefold > equal >= 1``.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        MatcherError: When applied: *spec* cannot be read.
    """
    return declaring(lambda function: NamedMatcher(plain_name(name), function, parse_matcher(spec)))


def parse_matcher(spec: str | Mapping[str, Any]) -> Matcher:
    """Read a matcher from its printed form or from config's ``{normalize: [a, b], compare: c, threshold: 1.0}``."""
    names, compare, threshold = _parts_of_mapping(spec) if isinstance(spec, Mapping) else _parts_of_text(spec)
    try:
        expression = parse(compare)
    except ExpressionError as error:
        msg = f"cannot read matcher {spec!r}: expected `normalizer | ... > comparer >= threshold`"
        raise MatcherError(msg) from error
    if expression.k is not None:
        raise MatcherError(f"cannot read matcher {spec!r}: a comparer has no cutoff")
    if not all(isinstance(name, str) and PLAIN_NAME.fullmatch(name) for name in names):
        raise MatcherError(f"cannot read matcher {spec!r}: normalizers are names joined by |")
    return Matcher(tuple(names), expression.name, expression.params, threshold)


def _parts_of_mapping(spec: Mapping[str, Any]) -> tuple[Sequence[str], object, float]:
    known = ("normalize", "compare", "threshold")
    if unknown := [key for key in spec if key not in known]:
        msg = f"a matcher has no {unknown[0]!r}{did_you_mean(str(unknown[0]), known)}; known are {', '.join(known)}"
        raise MatcherError(msg)
    names = spec.get("normalize") or ()
    if not isinstance(names, list | tuple):
        raise MatcherError(f"'normalize' of a matcher is a list of normalizers, not {names!r}")
    return names, spec.get("compare", "equal"), spec.get("threshold", 1.0)


def _parts_of_text(spec: str) -> tuple[Sequence[str], object, float]:
    masked = QUOTED.sub(lambda quoted: " " * len(quoted[0]), spec)  # marks inside quotes do not count
    end = masked.find(">=")
    head = len(spec) if end < 0 else end
    arrow = masked.rfind(">", 0, head)
    names = [name.strip() for name in spec[:arrow].split("|")] if arrow >= 0 else []
    try:
        threshold = 1.0 if end < 0 else float(spec[end + 2 :])
    except ValueError:
        msg = f"cannot read the threshold of matcher {spec!r}: {spec[end + 2 :].strip()!r} is not a number"
        raise MatcherError(msg) from None
    return names, spec[arrow + 1 : head].strip(), threshold
