"""
Declarations as authors write them, and calls of users; `make check` holds that type checkers understand them.

A wrong call has a type ignore, and mypy reports one that is not needed: a decorator that forgot the signature fails.
"""

from collections.abc import Iterator, Sequence
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from rankgauge import Preflight, Result, evaluate, preflight, rank_agreement
from rankgauge.columns import Judged, JudgedSample, Scores
from rankgauge.plugin import (
    Cutoff,
    Record,
    Source,
    aggregate,
    comparer,
    metric,
    normalizer,
    reader,
    reporter,
    sample_metric,
    tokenizer,
)

__all__ = ["check_calls", "check_other_calls", "check_runs"]


@metric("typed-waste-at-k")
def waste(judged: Judged, *, k: Cutoff, strict: bool = False) -> Scores:
    """Share of the first *k* ranks that hold nothing relevant."""
    return 1 - judged.relevant_ranks(k) / k if strict else np.zeros(judged.n)


@sample_metric("typed-depth-at-k")
def depth(ranking: JudgedSample, *, k: int, scale: float = 1.0) -> float | None:
    """Number of retrieved items, at most *k*."""
    return min(ranking.depth, k) * scale


@aggregate("typed-middle")
def middle(values: Sequence[float]) -> float:
    """Return the middle score."""
    return values[len(values) // 2]


@normalizer("typed-lower", stage="fold")
def lower(text: str) -> str:
    """Lower letters."""
    return text.lower()


@comparer("typed-same")
def same(retrieved: Sequence[str], gold: Sequence[str], *, weight: float = 1.0) -> NDArray[np.float64]:
    """Score equal texts."""
    return np.array([[weight * (a == b) for b in gold] for a in retrieved], dtype=np.float64)


@tokenizer("typed-words")
def words(text: str) -> int:
    """Count words."""
    return len(text.split())


@reader("typed-lines", suffixes=(".typed",))
def lines(source: Source) -> Iterator[Record]:
    """Read a record a line."""
    for number, line in enumerate(source.stream, 1):
        yield Record(line.decode(), number)


@reporter("typed-means", suffix=".txt")
def means(result: Any) -> str:  # a result
    """Print the means."""
    return str(result)


def check_calls(judged: Judged) -> None:
    """Call what was declared, rightly and wrongly."""
    assert_type(waste(judged, k=3, strict=True), Scores)
    assert_type(depth(judged, k=3, scale=2.0), Scores)  # over a batch, as it was lifted
    assert_type(middle([1.0]), float)
    assert_type(lower("A"), str)
    assert_type(same(["a"], ["a"], weight=0.5), NDArray[np.float64])
    assert_type(words("a b"), int)


def check_other_calls(judged: Judged, source: Source) -> None:
    """Call what was declared wrongly; nothing here is run."""
    waste(judged, k=3, strikt=True)  # type: ignore[call-arg]  # misspelled
    depth(judged, k="3")  # type: ignore[arg-type]  # not a number
    depth(judged)  # type: ignore[call-arg]  # without its cutoff
    lower(3)  # type: ignore[arg-type]  # not a text
    same(["a"], ["a"], wait=1.0)  # type: ignore[call-arg]  # misspelled
    assert_type(next(lines(source)), Record)
    assert_type(means(None), str)


def check_runs() -> None:
    """Evaluate and check one run or several; nothing here is run."""
    assert_type(evaluate({"q": {"d": 1}}, "run.txt", "AP"), Result)
    assert_type(evaluate("qrels.txt", runs={"bm25": "run.txt"}, metrics="AP"), dict[str, Result])
    assert_type(preflight("qrels.txt", "run.txt"), Preflight)
    assert_type(preflight("qrels.txt", runs={"bm25": "run.txt"}), dict[str, Preflight])
    evaluate(3, 4, "AP")  # type: ignore[call-overload]  # neither judgments nor a run
    preflight(3, 4)  # type: ignore[call-overload]  # as above
    rank_agreement("run.txt", 4)  # type: ignore[arg-type]  # no run
