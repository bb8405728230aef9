"""
`compare`: results against each other, with clusters and unjudged documents from the data that they came from.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TypedDict, TypeVar, Unpack

from rankgauge.base.plain_text import visible
from rankgauge.catalog import Catalog
from rankgauge.comparison.clusters import clustered
from rankgauge.comparison.compare import compare_results, is_itself, with_false_alarms
from rankgauge.comparison.differences import Comparison, RunComparison, ShortLists, Unjudged
from rankgauge.comparison.estimate import Method
from rankgauge.comparison.pairing import UNJUDGED, Common
from rankgauge.engine.doubting import label_doubts, sways
from rankgauge.engine.equal_tokens import with_equal_tokens
from rankgauge.engine.metadata import metadata_of, weights_from
from rankgauge.engine.reopen import bounds as bounds_of
from rankgauge.engine.reopen import condensed as without_unjudged
from rankgauge.engine.reopen import evaluation_of, is_of_run, unjudged_share
from rankgauge.engine.sample_score import Progress
from rankgauge.errors import DataError, ParameterError, ResultError
from rankgauge.explain.bounds import Bounds
from rankgauge.expression import as_written
from rankgauge.named_options import check_names, listing
from rankgauge.policy import IntervalChoice
from rankgauge.result import Result
from rankgauge.result.query_weights import Weights, weighted
from rankgauge.result.wording import check_results

__all__ = [
    "Cluster",
    "MethodOptions",
    "compare",
    "named_clusters",
    "unjudged_of",
    "with_clusters",
    "with_condensed",
    "with_weights",
]


class MethodOptions(TypedDict, total=False):
    """How `compare` tests and judges differences; it describes each option."""

    test: str
    confidence: float
    resamples: int
    seed: int
    interval: IntervalChoice
    matters: float | Mapping[str, float] | None
    short_lists: ShortLists
    catalog: Catalog | None


@listing(MethodOptions, {**{field.name: field.default for field in fields(Method)}, "catalog": None})
def compare(
    results: Mapping[str, Result],
    *,
    baseline: str | None = None,
    metrics: Sequence[str] | str | None = None,
    cluster: str | Mapping[str, object] | None = None,
    all_pairs: bool = False,
    condensed: bool = False,
    bounds: bool = False,
    common: Common = "all",
    progress: Progress | None = None,
    **method: Unpack[MethodOptions],
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
            `unjudged@k`, which is beside the others.

        cluster: What samples share that are not independent: a field of their metadata, or the cluster by sample id.

        all_pairs: Whether to compare every result with every other, not only with the baseline.

        condensed: Whether to compare condensed lists, too. If one of the two comparisons finds a run better, and the
            other difference does not point the same way, the verdict is `depends on unjudged documents`. For TREC runs,
            which are read again.

        bounds: Whether to find the worst and the best case of each mean, as `Result.bounds` does; likewise.

        common: Which of the samples that both have are compared: `all`, an error if the ground truth of any of them
            changed, or `unchanged`, those whose ground truth is the same; how many are left out is in `dropped`.

        progress: Called with how many pairs of results are tested, and how many there are.

        test: `sign-flip`, `t`, `wilcoxon` (whose null hypothesis is not about the mean), `bootstrap-bca`, or one of a
            plugin.

        confidence: Of intervals, above 0 and below 1; 1 minus it is the level of the tests.

        resamples: How many random sign flips or bootstrap samples to take; up to 16 differences all signs are tried.

        seed: The seed of the random bits. The same seed gives the same bits on every machine.

        interval: Which intervals differences have: `standard` is Student's t, within what the metric's range allows;
            `exact`, for metrics whose range has both ends, a betting interval that holds for any number of pairs.

        matters: The smallest difference that matters, for all metrics or by metric in any spelling. The verdict is then
            `equivalent` if two one-sided tests show that the true difference is smaller.

        short_lists: What the verdict on a metric with a budget (`recall@1500tok`) is where the rankings of the loser
            ended before it in more than a tenth of the samples: `open` makes it `depends on short lists`, because
            retrieving more might have changed it; `allow` gives the verdict.

        catalog: What plugins offer, for a test that is not built in and for data that are read again; by default what
            the results were loaded with, or everything that is installed.

    Returns:
        For each pair of results and metric: both means, the difference with its interval, p values, effect sizes, wins
        and losses, the smallest detectable difference, the samples that changed most, and differences by tag. Where
        the results of one are more than half as long again as those of the other, also what metrics with a cutoff by
        rank are at equal tokens; the data are read again for that.

    Raises:
        ParameterError: An argument that cannot be used.

        ResultError: The results were not made under the same definitions, policy, judgments and cutoffs, or have no
            sample in common; the message names the difference. Also a cluster field that the samples lack.
    """
    check_names("compare", method, [*inspect.signature(compare).parameters])
    check_results("compare", results)
    catalog = method.pop("catalog", None)
    if catalog is None:
        catalog = next(filter(None, (result.catalog for result in results.values())), None)
    else:
        results = {name: result.read_with(catalog) for name, result in results.items()}
    how = Method(**method).with_test_of(catalog or Catalog.installed())  # type: ignore[misc]  # without *catalog*
    named, clusters = named_clusters(results, cluster)
    if isinstance(spec := as_written(metrics), str):
        metrics = [spec]
    single = partial(compare_results, metrics=metrics, method=how, cluster=named, clusters=clusters, common=common)
    compared = partial(single, baseline=baseline, all_pairs=all_pairs)
    comparison = compared(results, progress=progress)
    pairs = [
        with_false_alarms(pair, results[pair.run], how, single)
        if is_itself(results[pair.run], results[pair.baseline])
        else pair
        for pair in comparison.comparisons
    ]
    again = partial(compare_results, method=replace(how, matters=None), clusters=clusters, common=common)
    pairs = with_equal_tokens(pairs, results, again)
    doubts = label_doubts(list(results.values()))
    if doubts is not None:
        said = tuple(doubts.of_doubts())
        pairs = [replace(pair, notes=(*said, *sways(pair, results, doubts), *pair.notes)) for pair in pairs]
    comparison = replace(comparison, comparisons=tuple(pairs), label_doubts=doubts)
    if condensed:
        condensed_results = {run: _read_again(run, own, without_unjudged) for run, own in results.items()}
        comparison = with_condensed(comparison, compared(condensed_results))
    ends = {run: _read_again(run, own, bounds_of) for run, own in results.items()} if bounds else {}
    unjudged = {run: unjudged_of(own, ends.get(run)) for run, own in results.items()}
    return replace(comparison, unjudged=unjudged)


def unjudged_of(result: Result, bounds: Mapping[str, Bounds | None] | None = None) -> Unjudged:
    """Return what is known of a result's unjudged documents: the columns of `unjudged@k` that it has, and bounds."""
    columns = [column for column in result.metrics.values() if column.info.alias == UNJUDGED]
    shares = {
        column.name.replace("(of=retrieved)", "").replace("of=retrieved, ", ""): unjudged_share(column)
        for column in columns
    }
    return Unjudged(
        shares, {name: (ends.worst, ends.best) for name, ends in (bounds or {}).items() if ends is not None}
    )


def with_condensed(comparison: Comparison, condensed: Comparison) -> Comparison:
    """Return a comparison whose metrics hold the same comparison over condensed lists."""
    pairs = zip(comparison.comparisons, condensed.comparisons, strict=True)
    return replace(comparison, comparisons=tuple(_with(pair, other) for pair, other in pairs))


def _with(pair: RunComparison, other: RunComparison) -> RunComparison:
    columns = pair.metrics.items()
    metrics = {name: replace(metric, condensed=other.metrics[name]) for name, metric in columns}
    return replace(pair, metrics=metrics)


_Found = TypeVar("_Found")


def _read_again(run: str, result: Result, read: Callable[[Result], _Found]) -> _Found:
    """Return what is found in a run that is read again; say which one cannot be."""
    try:
        return read(result)
    except ResultError as error:
        raise ResultError(f"{visible(run)}: {error}") from error


Cluster = str | Mapping[str, object]
"""A field of the samples' metadata, or the cluster by sample id."""


def named_clusters(
    results: Mapping[str, Result], cluster: Cluster | None
) -> tuple[str | None, Mapping[str, object] | None]:
    """Return the field that names clusters, if one does, and the cluster of each sample; None for no clusters."""
    if isinstance(cluster, str):
        return cluster, _of_results(results, cluster) if results else None
    slip: object = cluster
    if slip is not None and not isinstance(slip, Mapping):
        msg = f"cluster is a field of the samples' metadata, or a mapping from sample ids to clusters, not {slip!r}"
        raise ParameterError(msg)
    return None, cluster


def with_clusters(result: Result, cluster: Cluster) -> Result:
    """Return a result with standard errors and intervals of clusters; see `Result.with_clusters`."""
    named, clusters = named_clusters({"": result}, cluster)
    return clustered(result, clusters or {}, named)


def with_weights(results: Mapping[str, Result], weights: Weights) -> dict[str, Result]:
    """Return results with weights of samples, which are read once; see `Result.with_weights`."""
    found, by = weights_from(weights, lambda field: _of_results(results, field, "weigh samples", "weights"))
    return {name: weighted(result, found, by) for name, result in results.items()}


def _of_results(
    results: Mapping[str, Result], field: str, act: str = "cluster", what: str = "cluster"
) -> dict[str, object]:
    """Return a field of each sample's metadata, as the data of the first result that can be read again has it."""
    why: Exception | None = None
    for result in results.values():
        if is_of_run(result) or "queries" in (result.manifest.get("dataset") or {}):
            raise ResultError(
                f"cannot {act} by {field!r}: queries of a TREC run have no metadata; give what each query "
                f"has in a file (--{what} FILE) or as a mapping ({what}={{...}})"
            )
        try:
            evaluation = evaluation_of(result)
        except (ResultError, DataError) as error:
            why = error
            continue
        return metadata_of(evaluation, field, act)
    raise ResultError(f"cannot {act} by {field!r}: the samples of these results cannot be read again: {why}")
