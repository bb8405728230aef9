"""
`compare`: results against each other, with clusters and unjudged documents from the data that they came from.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from rankgauge.base.plain_text import visible
from rankgauge.comparison.compare import compare_results
from rankgauge.comparison.differences import Comparison, RunComparison, Unjudged
from rankgauge.comparison.estimate import Method, TestName
from rankgauge.comparison.pairing import UNJUDGED, Common
from rankgauge.comparison.self_comparison import is_itself, with_false_alarms
from rankgauge.engine.sample_clusters import named_clusters
from rankgauge.engine.sample_score import Progress
from rankgauge.engine.unjudged import bounds as bounds_of
from rankgauge.engine.unjudged import condensed as without_unjudged
from rankgauge.engine.unjudged import unjudged_share
from rankgauge.errors import ResultError
from rankgauge.policy import IntervalChoice
from rankgauge.pooling.bounds import Bounds
from rankgauge.result import ResultValues

__all__ = ["compare", "unjudged_of", "with_condensed"]


def unjudged_of(result: ResultValues, bounds: Mapping[str, Bounds | None] | None = None) -> Unjudged:
    """Return what is known of a result's unjudged documents: the columns of `unjudged@k` that it has, and bounds."""
    columns = [column for column in result.metrics.values() if column.info.alias == UNJUDGED]
    shares = {column.name.replace("(of=retrieved)", ""): unjudged_share(column) for column in columns}
    return Unjudged(
        shares, {name: (ends.worst, ends.best) for name, ends in (bounds or {}).items() if ends is not None}
    )


def with_condensed(comparison: Comparison, condensed: Comparison) -> Comparison:
    """Return a comparison whose metrics hold the same comparison over condensed lists."""
    pairs = zip(comparison.comparisons, condensed.comparisons, strict=True)
    return dataclasses.replace(comparison, comparisons=tuple(_with(pair, other) for pair, other in pairs))


def _with(pair: RunComparison, other: RunComparison) -> RunComparison:
    columns = pair.metrics.items()
    metrics = {name: dataclasses.replace(metric, condensed=other.metrics[name]) for name, metric in columns}
    return dataclasses.replace(pair, metrics=metrics)


_Found = TypeVar("_Found")


def compare(
    results: Mapping[str, ResultValues],
    *,
    baseline: str | None = None,
    metrics: Sequence[str] | str | None = None,
    test: TestName = "sign-flip",
    confidence: float = 0.95,
    resamples: int = 100_000,
    seed: int = 0,
    cluster: str | Mapping[str, object] | None = None,
    all_pairs: bool = False,
    condensed: bool = False,
    bounds: bool = False,
    common: Common = "all",
    interval: IntervalChoice = "standard",
    matters: float | Mapping[str, float] | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """
    Compare the scores of systems sample by sample.

        comparison = rankgauge.compare({"bm25": first, "rrf": second})
        comparison["rrf"]["ndcg@10"].interval

    Columns pair by fingerprint, so that `AP` meets `map`, and samples by id. Intervals are Student's; p is that of a
    sign-flip permutation test of the paired differences, corrected over metrics by step-down max-T.

    Args:
        results: Results by name, two or more: from `evaluate`, `Evaluation.run`, `Result.load` or `load_baseline`.

        baseline: The name of the one that the others are compared with; the first by default.

        metrics: The baseline's columns to compare, in any spelling; by default every mean that both have, but not
            `unjudged@k`, which stands beside the others.

        test: `sign-flip`, `t`, `wilcoxon` (whose null hypothesis is not about the mean) or `bootstrap-bca`.

        confidence: Of intervals, above 0 and below 1; 1 minus it is the level of the tests.

        resamples: How many random sign flips or bootstrap samples to take; up to 16 differences all signs are tried.

        seed: The seed of the random bits. The same seed gives the same bits on every machine.

        cluster: What samples share that are not independent: a field of their metadata, or the cluster by sample id.

        all_pairs: Whether to compare every result with every other, not only with the baseline.

        condensed: Whether to compare condensed lists, too. If one of the two comparisons finds a run better, and the
            other difference does not point the same way, the verdict is `depends on unjudged documents`. For TREC runs,
            which are read again.

        bounds: Whether to find the worst and the best case of each mean, as `Result.bounds` does; likewise.

        common: Which of the samples that both have are compared: `all`, an error where the ground truth of any of them
            changed, or `unchanged`, those whose ground truth is the same; how many are left out stands in `dropped`.

        interval: Which intervals differences have: `standard` is Student's t, within what the metric's range allows;
            `exact`, for metrics whose range has both ends, a betting interval that holds for any number of pairs.

        matters: The smallest difference that matters, for all metrics or by metric in any spelling. The verdict is then
            `equivalent` where two one-sided tests show that the true difference is smaller.

        progress: Called with how many pairs of results are tested, and how many there are.

    Returns:
        For each pair of results and metric: both means, the difference with its interval, p values, effect sizes, wins
        and losses, the smallest detectable difference, the samples that changed most, and differences by tag.

    Raises:
        ParameterError: An argument that cannot be used.

        ResultError: The results were not made under the same definitions, policy, judgments and cutoffs, or have no
            sample in common; the message names the difference. Also a cluster field that the samples lack.
    """
    method = Method(
        test=test, confidence=confidence, resamples=resamples, seed=seed, interval=interval, matters=matters
    )
    named, clusters = named_clusters(results, cluster)
    metrics = [metrics] if isinstance(metrics, str) else metrics
    single = partial(compare_results, metrics=metrics, method=method, cluster=named, clusters=clusters, common=common)
    compared = partial(single, baseline=baseline, all_pairs=all_pairs)
    comparison = compared(results, progress=progress)
    pairs = [
        with_false_alarms(pair, results[pair.run], method, single)
        if is_itself(results[pair.run], results[pair.baseline])
        else pair
        for pair in comparison.comparisons
    ]
    comparison = replace(comparison, comparisons=tuple(pairs))
    if condensed:
        again = {run: _read_again(run, own, without_unjudged) for run, own in results.items()}
        comparison = with_condensed(comparison, compared(again))
    found = {run: _read_again(run, own, bounds_of) for run, own in results.items()} if bounds else {}
    unjudged = {run: unjudged_of(own, found.get(run)) for run, own in results.items()}
    return replace(comparison, unjudged=unjudged)


def _read_again(run: str, result: ResultValues, read: Callable[[ResultValues], _Found]) -> _Found:
    """Return what is found in a run that is read again; say which one cannot be."""
    try:
        return read(result)
    except ResultError as error:
        raise ResultError(f"{visible(run)}: {error}") from error
