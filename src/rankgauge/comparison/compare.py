"""
Comparing: results against a baseline, metric by metric, and repeats of one system against each other.

Which statistics, and why: docs/explanation/comparing.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice

import numpy as np

from rankgauge.columns.judged_rows import Ints
from rankgauge.comparison.builtin_tests import p_of
from rankgauge.comparison.clusters import cluster_codes
from rankgauge.comparison.differences import Comparison, MetricComparison, RunComparison
from rankgauge.comparison.estimate import Method, Tested, compare_metric, estimate_pairs, settled
from rankgauge.comparison.pairing import Common, PairedColumn, Pairing, check_common, pair_results
from rankgauge.comparison.sentences import contradiction
from rankgauge.errors import ParameterError, counted, did_you_mean
from rankgauge.result import Result
from rankgauge.result.column_info import find_column
from rankgauge.result.wording import check_results
from rankgauge.stats.effects import holm
from rankgauge.stats.estimates import MeanEstimate, affordable_resamples, bootstrap_bca, t_two_sided
from rankgauge.stats.paired_tests import SignFlips, flip_signs, wilcoxon

__all__ = ["compare_results", "is_itself", "tested_columns", "with_false_alarms"]


_MAX_T = "step-down max-T over metrics"


def compare_results(
    results: Mapping[str, Result],
    *,
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    method: Method,
    all_pairs: bool = False,
    cluster: str | None = None,
    clusters: Mapping[str, object] | None = None,
    common: Common = "all",
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """
    Compare results by name with a baseline, which is the first unless it is named, or each with each other.

    *metrics* are columns in any spelling, None for every mean that a pair has; *clusters* are by sample id, None if
    samples are independent, and *cluster* is what they are called; *common* says which shared samples are compared;
    *progress* is called with how many pairs of results are tested, and how many there are.

    Raises `ParameterError` for arguments that cannot be used, and `ResultError` for results that cannot be compared and
    for samples without a cluster.
    """
    method.check()
    check_common(common)
    first = _baseline(results, baseline)
    others = [name for name in results if name != first]
    names = list(combinations([first, *others], 2)) if all_pairs else [(first, name) for name in others]
    pairings = [
        pair_results(results[one], results[two], metrics, names=(one, two), common=common) for one, two in names
    ]
    method, notes = _affordable(method, max(len(pairing.sample_ids) for pairing in pairings))
    groups = [
        None if clusters is None else cluster_codes(pairing.sample_ids, clusters, cluster) for pairing in pairings
    ]
    tested = []
    for pairing, codes in zip(pairings, groups, strict=True):
        tested.append(tested_columns(pairing, codes, method, len(names)))
        if progress is not None:
            progress(len(tested), len(names))
    corrected, correction = _corrected(tested, method)
    comparisons = []
    for (one, two), pairing, codes, tests in zip(names, pairings, groups, corrected, strict=True):
        margins = _margins(method.matters, pairing)
        compared = {
            name: compare_metric(column, pairing, codes, method, test._replace(matters=margins.get(name)))
            for (name, column), test in zip(pairing.columns.items(), tests, strict=True)
        }
        explained = {name: _explained(metric, method, len(compared), len(names)) for name, metric in compared.items()}
        incomplete = tuple(f"{name}: {why}" for name in (one, two) if (why := results[name].incomplete_because))
        said = (*pairing.notes, *notes)
        comparisons.append(RunComparison(two, one, explained, said, incomplete=incomplete))
    return Comparison(
        baseline=first,
        comparisons=tuple(comparisons),
        confidence=method.confidence,
        test=method.test,
        test_facts=_facts(method),
        correction=correction,
        resamples=method.resamples,
        seed=method.seed,
        cluster=None if clusters is None else cluster or "clusters",
    )


def _facts(method: Method) -> dict[str, str]:
    """Return what is known of the test of a plugin; nothing for a built-in one."""
    if method.claim is None:
        return {}
    test, provider = method.declared, method.claim.provider
    by = f"{provider.distribution} {provider.version}".strip() or "this process"
    return {"summary": test.summary, "version": test.version, "by": by}


def _explained(metric: MetricComparison, method: Method, metrics: int, pairs: int) -> MetricComparison:
    """Return a metric with a first note, if its interval and its verdict seem to contradict each other."""
    if not metric.contradicts:
        return metric
    return replace(metric, notes=(contradiction(metric, method.test, metrics, pairs), *metric.notes))


def _margins(matters: float | Mapping[str, float] | None, pairing: Pairing) -> Mapping[str, float | None]:
    """Return what matters by column; refuse a name in no spelling of a metric that is compared."""
    if not isinstance(matters, Mapping):
        return dict.fromkeys(pairing.columns, matters)
    margins: dict[str, float | None] = {}
    for name, margin in matters.items():
        try:
            margins[find_column(pairing.columns, name).name] = margin
        except KeyError as error:
            raise ParameterError(f"matters: {error.args[0]}") from None
    return margins


def _affordable(method: Method, pairs: int) -> tuple[Method, Sequence[str]]:
    """Return a method of as many resamples as take seconds, and a note if that is fewer than were asked for."""
    resamples = affordable_resamples(method.resamples, pairs) if method.test == "bootstrap-bca" else method.resamples
    if resamples == method.resamples:
        return method, ()
    note = f"{resamples:,} resamples were drawn instead of {method.resamples:,}, which take minutes for {pairs:,} pairs"
    return replace(method, resamples=resamples), (f"{note}; sign-flip and t have no such limit",)


def _baseline(results: Mapping[str, Result], name: str | None) -> str:
    """Return the name of the baseline; refuse what is not two or more results."""
    check_results("compare", results)
    if len(results) < 2:
        raise ParameterError(f"comparing takes two or more results, and {len(results) or 'none'} is given")
    if name is not None and name not in results:
        hint = did_you_mean(str(name), results)
        raise ParameterError(f"no result is called {name!r}{hint}; there are {', '.join(results)}")
    return next(iter(results)) if name is None else name


def tested_columns(pairing: Pairing, codes: Ints | None, method: Method, pairs: int) -> list[Tested]:
    """Return the test of each metric in one of some *pairs*; its corrected p, so far, is that of max-T over metrics."""
    columns = list(pairing.columns.values())
    level = (1 - method.confidence) / pairs
    if method.test == "sign-flip":
        differences = np.stack([np.nan_to_num(column.differences) for column in columns], axis=1)
        flips = flip_signs(
            differences,
            clusters=codes,
            weights=columns[0].weights,  # as of all
            resamples=method.resamples,
            seed=method.seed,
            level=level,
        )
        p_values = zip(columns, flips.p.tolist(), flips.p_adjusted.tolist(), strict=True)
        levels = [
            _level(flips, at, estimate_pairs(column, codes), level / len(columns)) for at, column in enumerate(columns)
        ]
        tests = [Tested(p, max_t) if column.is_pair.any() else Tested(None) for column, p, max_t in p_values]
        return [test._replace(level=at) for test, at in zip(tests, levels, strict=True)]
    if codes is not None and not method.declared.takes_clusters:
        raise ParameterError(
            f"the test {method.test} takes samples to be independent; use sign-flip or t with clusters"
        )
    if columns[0].weights is not None and not method.declared.takes_weights:
        raise ParameterError(
            f"the test {method.test} counts all samples alike; with weights take sign-flip, t or bootstrap-bca"
        )
    level /= len(columns)
    return [_tested_alone(column, codes, method)._replace(level=level) for column in columns]


def _level(flips: SignFlips, metric: int, estimate: MeanEstimate | None, least: float) -> float:
    """
    Return the p of one metric alone from which on it is significant after correction; 0 if no p is.

    Where the pairs that differ are too few for that, others of as many pairs might not be: then it is *least*.
    """
    if estimate is None or (flips.resamples and math.isinf(flips.critical)):
        return 0.0
    if flips.levels is not None:
        return float(flips.levels[metric]) or least
    room = estimate.df + 1 - flips.critical**2
    return t_two_sided(flips.critical * math.sqrt(estimate.df / room), estimate.df) if room > 0 else least


def _tested_alone(column: PairedColumn, codes: Ints | None, method: Method) -> Tested:
    estimate = estimate_pairs(column, codes)
    if estimate is None:
        return Tested(None)
    if method.test == "t":
        return Tested(estimate.p)
    differences = settled(column.differences[column.is_pair])
    if not differences.any():
        return Tested(1.0)
    if method.claim is not None:
        settings = {"confidence": method.confidence, "resamples": method.resamples, "seed": method.seed}
        own = None if codes is None else codes[column.is_pair]
        p, failure = p_of(method.claim, differences, own, settings, column.weights_of(column.is_pair))
        return Tested(p, failure=failure)
    if method.test == "wilcoxon":
        return Tested(wilcoxon(differences))
    drawn = bootstrap_bca(
        differences,
        weights=column.weights_of(column.is_pair),
        confidence=method.confidence,
        resamples=method.resamples,
        seed=method.seed,
    )
    return Tested(drawn.p, interval=drawn.interval)


def _corrected(tested: Sequence[Sequence[Tested]], method: Method) -> tuple[list[list[Tested]], str]:
    """
    Return every test with its p corrected for the number of metrics and of pairs of results, and by what.

    Holm over max-T p values would not hold the level, so pairs of results multiply them.
    """
    pairs = len(tested)
    if method.test == "sign-flip" and any(len(tests) > 1 for tests in tested):
        name = _MAX_T if pairs == 1 else f"{_MAX_T}, times {pairs} comparisons"
        p_values = (
            None if test.adjusted is None else min(1.0, pairs * test.adjusted) for tests in tested for test in tests
        )
    else:
        known = [test.p for tests in tested for test in tests if test.p is not None]
        name, held = f"Holm over {len(known)} tests" if len(known) > 1 else "", iter(holm(known))
        p_values = (None if test.p is None else next(held) for tests in tested for test in tests)
    return [[test._replace(adjusted=next(p_values)) for test in tests] for tests in tested], name


_MOST_PAIRS = 50


def is_itself(one: Result, other: Result) -> bool:
    """Return whether two results are the same calls of one system that was called repeatedly."""
    columns = list(zip(one.metrics.values(), other.metrics.values(), strict=False))
    if one.sample_ids != other.sample_ids or not columns:
        return False
    pairs = [(its.repeats, others.repeats) for its, others in columns]
    return all(a is not None and b is not None and np.array_equal(a, b, equal_nan=True) for a, b in pairs)


def with_false_alarms(
    pair: RunComparison, result: Result, method: Method, compared: Callable[..., Comparison]
) -> RunComparison:
    """Return the comparison of a result with itself, with how often *compared* would call its repeats different."""
    most = max(column.repeats.shape[1] for column in result.metrics.values() if column.repeats is not None)
    alarms, by_metric, n = 0, dict.fromkeys(pair.metrics, 0), 0
    for first, second in islice(combinations(range(1, most + 1), 2), _MOST_PAIRS):
        single = {
            str(number): result.with_columns(column.repeat(number) for column in result.metrics.values())
            for number in (first, second)
        }
        verdicts = compared(single)[str(second)].metrics
        wrong = [name for name, metric in verdicts.items() if metric.verdict in {"better", "worse"}]
        for name in wrong:
            by_metric[name] += 1
        alarms, n = alarms + bool(wrong), n + 1
    rate, allowed = alarms / n, 1 - method.confidence
    note = (
        f"A against A: of {counted(n, 'pair')} of repeats {alarms:,} would be called different, a false-alarm rate of "
        f"{rate:.1%} where the tests allow {allowed:.1%}"
    )
    if rate > allowed and alarms > 1:
        note += "; repeats of one run differ by more than chance, so single runs are not to be compared"
    false_alarms = {"pairs": n, "alarms": alarms, "metrics": by_metric, "allowed": allowed, "rate": rate}
    return replace(pair, notes=(*pair.notes, note), false_alarms=false_alarms)
