"""
Comparing: results against a baseline, metric by metric, with intervals, p values and their corrections.

Which statistics, and why: docs/explanation/comparing.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from rankgauge.base.plain_text import visible
from rankgauge.columns.judged_rows import Ints
from rankgauge.comparison.differences import Comparison, RunComparison
from rankgauge.comparison.estimate import compare_metric, estimate_pairs, settled
from rankgauge.comparison.method import Method
from rankgauge.comparison.pairing import Pairing, pair_results
from rankgauge.errors import ParameterError, ResultError, counted, did_you_mean
from rankgauge.result import ResultValues
from rankgauge.stats.bootstrap import bootstrap_bca
from rankgauge.stats.effects import holm
from rankgauge.stats.paired_tests import flip_signs, wilcoxon

__all__ = ["compare_results"]


_MAX_T = "step-down max-T over metrics"


def compare_results(
    results: Mapping[str, ResultValues],
    *,
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    method: Method,
    all_pairs: bool = False,
    cluster: str | None = None,
    clusters: Mapping[str, object] | None = None,
) -> Comparison:
    """
    Compare results.

    Args:
        results: The results by name, two or more.

        baseline: The name of the one that the others are compared with; None for the first.

        metrics: The columns to compare, in any spelling; None for every mean that a pair has.

        method: How.

        all_pairs: Whether to compare every result with every other instead of with the baseline.

        cluster: What the clusters are called.

        clusters: The cluster of each sample by its id; None where samples are independent.

    Returns:
        The comparison.

    Raises:
        ParameterError: An argument that cannot be used.

        ResultError: Results that cannot be compared, as `pair_results` says; a sample without a cluster.
    """
    method.check()
    first = _baseline(results, baseline)
    if all_pairs:
        names = list(combinations([first, *(name for name in results if name != first)], 2))
    else:
        names = [(first, name) for name in results if name != first]
    pairings = [pair_results(results[one], results[two], metrics, names=(one, two)) for one, two in names]
    groups = [None if clusters is None else _codes(each.sample_ids, clusters, cluster) for each in pairings]
    tested = [_tested(pairing, codes, method) for pairing, codes in zip(pairings, groups, strict=True)]
    adjusted, correction = _corrected(tested, method)
    comparisons = []
    for (one, two), pairing, codes, p_values, corrected in zip(names, pairings, groups, tested, adjusted, strict=True):
        found = {}
        for place, (name, column) in enumerate(pairing.columns.items()):
            p = (p_values.p[place], corrected[place])
            found[name] = compare_metric(column, pairing, codes, method, p, p_values.intervals[place])
        comparisons.append(RunComparison(two, one, found, pairing.notes))
    return Comparison(
        baseline=first,
        comparisons=tuple(comparisons),
        confidence=method.confidence,
        test=method.test,
        correction=correction,
        resamples=method.resamples,
        seed=method.seed,
        cluster=None if clusters is None else cluster or "clusters",
    )


def _baseline(results: Mapping[str, ResultValues], name: str | None) -> str:
    """Return the name of the baseline; refuse what is not two or more results."""
    if not isinstance(results, Mapping) or not all(isinstance(each, ResultValues) for each in results.values()):
        msg = "compare takes results by name, such as {'bm25': first, 'rrf': second}"
        raise ParameterError(msg)
    if len(results) < 2:
        msg = f"comparing takes two or more results, and {len(results) or 'none'} is given"
        raise ParameterError(msg)
    if name is None:
        return next(iter(results))
    if name not in results:
        msg = f"no result is called {name!r}{did_you_mean(str(name), results)}; there are {', '.join(results)}"
        raise ParameterError(msg)
    return name


def _codes(sample_ids: Sequence[str], clusters: Mapping[str, object], cluster: str | None) -> Ints:
    """Return the cluster of each sample as an integer."""
    known: dict[object, int] = {}
    lost = [sample_id for sample_id in sample_ids if clusters.get(sample_id) is None]
    if lost:
        shown = ", ".join(visible(sample_id) for sample_id in lost[:3])
        msg = (
            f"cannot compare by clusters{f' of {cluster}' if cluster else ''}: {len(lost):,} of "
            f"{counted(len(sample_ids), 'sample')} {'has' if len(lost) == 1 else 'have'} none, such as {shown}"
        )
        raise ResultError(msg)
    return np.array([known.setdefault(clusters[sample_id], len(known)) for sample_id in sample_ids], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class _Tested:
    """The p of each metric of a pair, those corrected over its metrics, and intervals where the test has its own."""

    p: list[float | None]
    p_max_t: list[float]
    intervals: list[tuple[float, float] | None]


def _tested(pairing: Pairing, codes: Ints | None, method: Method) -> _Tested:
    columns = list(pairing.columns.values())
    nothing: list[tuple[float, float] | None] = [None] * len(columns)
    if method.test == "sign-flip":
        differences = np.stack([np.nan_to_num(column.differences) for column in columns], axis=1)
        flips = flip_signs(differences, clusters=codes, resamples=method.resamples, seed=method.seed)
        p = [float(p) if column.is_pair.any() else None for p, column in zip(flips.p, columns, strict=True)]
        return _Tested(p, flips.p_adjusted.tolist(), nothing)
    if codes is not None and method.test != "t":
        msg = f"the test {method.test} takes samples to be independent; use sign-flip or t with clusters"
        raise ParameterError(msg)
    kept = [settled(column.differences[column.is_pair]) for column in columns]
    if method.test == "t":
        estimates = [estimate_pairs(column, codes) for column in columns]
        return _Tested([None if each is None else each.p for each in estimates], [], nothing)
    if method.test == "wilcoxon":
        return _Tested([wilcoxon(each) if len(each) else None for each in kept], [], nothing)
    drawn = [
        bootstrap_bca(each, confidence=method.confidence, resamples=method.resamples, seed=method.seed)
        if len(each)
        else None
        for each in kept
    ]
    return _Tested(
        [None if each is None else each.p for each in drawn],
        [],
        [None if each is None else each.interval for each in drawn],
    )


def _corrected(tested: Sequence[_Tested], method: Method) -> tuple[list[list[float | None]], str]:
    """
    Return every p corrected for the number of metrics and of pairs of results, and by what.

    Holm over max-T p values would not hold the level, so pairs of results multiply them.
    """
    pairs = len(tested)
    if method.test == "sign-flip" and any(len(each.p) > 1 for each in tested):
        adjusted = [
            [
                None if p is None else min(1.0, pairs * corrected)
                for p, corrected in zip(each.p, each.p_max_t, strict=True)
            ]
            for each in tested
        ]
        return adjusted, _MAX_T if pairs == 1 else f"{_MAX_T}, times {pairs} comparisons"
    flat = [p for each in tested for p in each.p if p is not None]
    held = iter(holm(flat))
    adjusted = [[None if p is None else next(held) for p in each.p] for each in tested]
    return adjusted, f"Holm over {len(flat)} tests" if len(flat) > 1 else ""
