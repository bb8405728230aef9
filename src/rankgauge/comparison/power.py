"""
Power: how many questions a comparison needs to show a difference, from the results of a pilot.

The tests, their correction and what they can detect are those of `compare_results`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from rankgauge.base.frozen import freeze_fields, plain_fields
from rankgauge.base.tables import Line, aligned
from rankgauge.columns.judged_rows import Floats, Ints
from rankgauge.comparison.builtin_tests import BUILT_IN
from rankgauge.comparison.clusters import cluster_codes
from rankgauge.comparison.compare import tested_columns
from rankgauge.comparison.estimate import LEAST_MOVED, Method, detectable_errors, moved_units, settled
from rankgauge.comparison.pairing import pair_results
from rankgauge.comparison.sentences import percent
from rankgauge.errors import ParameterError, counted
from rankgauge.result import Result
from rankgauge.result.column_info import find_column
from rankgauge.result.wording import number
from rankgauge.stats import estimate_mean

__all__ = ["SIZES", "MetricPower", "Needed", "PowerPlan", "plan_power", "power_lines"]

SIZES = (0.01, 0.02, 0.05, 0.1)
"""The differences that are asked about by default."""

_CURVE = (10, 20, 30, 50, 100, 200, 300, 500, 1_000, 2_000, 5_000, 10_000)
_MOST = 10_000_000
_SURE = 0.80
"""With this confidence the true standard deviation is not above the bound that gives `Needed.at_most`."""


class Needed(NamedTuple):
    """
    How many questions show a difference.

    Attributes:
        difference: The true difference of means, in the unit of the metric.

        n: How many questions show it with a power of 80 %, if the spread is that of the pilot; None above ten million.

        at_most: The same for the upper 80 % bound of the spread, since a pilot knows it roughly; None likewise.
    """

    difference: float
    n: int | None
    at_most: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricPower:
    """
    What a comparison by one metric needs.

    Attributes:
        pilot: How many pairs, or scores of one result, the pilot has.

        std: Standard deviation of the differences, in the unit of the metric; None if the pilot is too small to say.

        level: From which p of this metric alone on it is significant after correction.

        needed: How many questions show each difference; empty if the pilot is too small to say.

        curve: The smallest difference that some numbers of questions show; None if these show none, whatever it is.

        note: Why the pilot is too small to say; empty if it is not.

        clusters: How many clusters the questions of the pilot are in; None if they are independent.
    """

    pilot: int
    std: float | None
    level: float
    needed: tuple[Needed, ...] = ()
    curve: tuple[tuple[int, float | None], ...] = ()
    note: str = ""
    clusters: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerPlan:
    """
    What a comparison needs, metric by metric.

    Attributes:
        results: The names of the pilot's results: two, or one.

        metrics: What each metric needs, by name.

        compared: For how many metrics p is corrected.

        systems: For how many systems, each compared with the baseline, p is corrected.

        test: The test.

        confidence: 1 minus it is the level of the tests after correction.

        correlation: How strongly scores of two systems are taken to correlate, of a pilot of one; None of two.
    """

    results: tuple[str, ...]
    metrics: Mapping[str, MetricPower]
    compared: int
    systems: int
    test: str
    confidence: float
    correlation: float | None = None

    def __post_init__(self) -> None:
        freeze_fields(self)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"schema_version": "rankgauge.power.v1", "power": 0.8, **plain_fields(self)}


def plan_power(
    results: Mapping[str, Result],
    *,
    method: Method,
    metrics: Sequence[str] | None = None,
    sizes: Sequence[float] = SIZES,
    compared: int | None = None,
    systems: int = 1,
    correlation: float = 0.5,
    clusters: Mapping[str, object] | None = None,
) -> PowerPlan:
    """
    Plan a comparison from a pilot of two results, or of one and the correlation of its scores with those of another.

    *metrics* are columns in any spelling, None for every mean; *compared* is for how many metrics p is corrected, by
    default these. With *clusters* by sample id, questions to come belong together as those of the pilot do. Raises
    `ParameterError` for what cannot be used and `ResultError` for results that do not compare.
    """
    method.check()
    if method.claim is not None:
        raise ParameterError(
            f"the test {method.test} (by {method.claim.provider}) gives a p alone, and which difference so many "
            f"questions show is known only for {', '.join(BUILT_IN)}; plan with the one of these that is nearest to it"
        )
    _check(results, sizes, compared, systems, correlation)
    if len(results) == 2:
        columns = _of_pair(results, metrics, method, systems, clusters)
    else:
        columns = _of_one(next(iter(results.values())), metrics, math.sqrt(2 * (1 - correlation)), clusters)
    wanted, alpha = max(len(columns), compared or 0), (1 - method.confidence) / systems
    planned = {}
    for name, (values, codes, known) in columns.items():
        # A level is that of max-T over the metrics of the pilot; what more there are share it as Bonferroni has it.
        level = max(known * len(columns) / wanted, alpha / wanted)
        planned[name] = _planned(values, codes, level, sizes, method)
    return PowerPlan(
        results=tuple(results),
        metrics=planned,
        compared=wanted,
        systems=systems,
        test=method.test,
        confidence=method.confidence,
        correlation=correlation if len(results) == 1 else None,
    )


_Column = tuple[Floats, Ints | None, float]


def _of_pair(
    results: Mapping[str, Result],
    metrics: Sequence[str] | None,
    method: Method,
    systems: int,
    clusters: Mapping[str, object] | None,
) -> dict[str, _Column]:
    """Return the differences of each metric, and the level that a comparison of these results leaves it."""
    (first, baseline), (second, other) = results.items()
    _refuse_weights(results)
    pairing = pair_results(baseline, other, metrics, names=(first, second))
    codes = None if clusters is None else cluster_codes(pairing.sample_ids, clusters, None, "plan")
    tests = tested_columns(pairing, codes, method, systems)
    return {
        name: (
            settled(column.differences[column.is_pair]),
            None if codes is None else codes[column.is_pair],
            test.level,
        )
        for (name, column), test in zip(pairing.columns.items(), tests, strict=True)
    }


def _of_one(
    result: Result, metrics: Sequence[str] | None, ratio: float, clusters: Mapping[str, object] | None
) -> dict[str, _Column]:
    """Return for each metric values with the spread that differences have, *ratio* times that of its scores."""
    _refuse_weights({"": result})
    columns = list(result.metrics.values())
    if metrics is not None:
        try:
            columns = [find_column(result.metrics, name) for name in metrics]
        except KeyError as error:
            raise ParameterError(str(error.args[0])) from None
    means = [column for column in columns if column.info.aggregate == "mean"]
    if not means:
        raise ParameterError("no metric of this result is a mean, and only means are compared")
    codes = None if clusters is None else cluster_codes(result.sample_ids, clusters, None, "plan")
    planned: dict[str, _Column] = {}
    for column in means:
        counts = ~np.isnan(column.values)
        values = column.values[counts]
        spread = ratio * (values - (values.mean() if len(values) else 0))
        planned[column.name] = (spread, None if codes is None else codes[counts], 0.0)
    return planned


def _refuse_weights(results: Mapping[str, Result]) -> None:
    """Refuse a pilot with weights: those of the questions to come are unknown."""
    if any(column.weights is not None for result in results.values() for column in result.metrics.values()):
        raise ParameterError("a pilot whose samples have weights cannot be planned by; give it without weights")


def _check(
    results: Mapping[str, Result], sizes: Sequence[float], compared: int | None, systems: int, correlation: float
) -> None:
    """Refuse what cannot be used."""
    if len(results) not in {1, 2}:
        raise ParameterError(f"a pilot is one result or two, and {len(results)} are given")
    for size in sizes:
        if not 0 < size < math.inf:
            raise ParameterError(f"a difference to detect is above 0, such as 0.02, not {size!r}")
    for name, count in (("metrics", compared), ("systems", systems)):
        if count is not None and count < 1:
            raise ParameterError(f"{name} is an integer of 1 or more, not {count!r}")
    if not -1 <= correlation < 1:
        raise ParameterError(f"correlation lies from -1 to below 1, not at {correlation!r}")


def _planned(values: Floats, codes: Ints | None, level: float, sizes: Sequence[float], method: Method) -> MetricPower:
    """Return what one metric needs whose differences have the spread of these."""
    n, moved = len(values), moved_units(values, codes)
    estimate = estimate_mean(values, codes) if n else None
    groups = None if codes is None or estimate is None else estimate.df + 1
    if estimate is None or moved < LEAST_MOVED or not estimate.standard_error:
        units = counted(n, "pair") if groups is None else counted(groups, "cluster")
        note = f"the pilot is too small to say: {moved:,} of {units} differ, and {LEAST_MOVED} are needed"
        note = note if moved < LEAST_MOVED else f"the pilot cannot say: all {units} differ by the same"
        return MetricPower(pilot=n, std=None, level=level, note=note, clusters=groups)
    spread = estimate.standard_error * math.sqrt(n)
    size = 1.0 if groups is None else n / groups
    upper = spread * _spread_at_most(estimate.df)
    needed = tuple(
        Needed(one, *(_questions(one, each, size, level, method) for each in (spread, upper))) for one in sizes
    )
    curve = tuple((count, _detects(count, spread, size, level, method)) for count in _CURVE)
    return MetricPower(pilot=n, std=estimate.std, level=level, needed=needed, curve=curve, clusters=groups)


def _detects(n: int, spread: float, size: float, level: float, method: Method) -> float | None:
    """Return the smallest true difference that *n* questions in clusters of a *size* show."""
    errors = detectable_errors(math.floor(n / size) - 1, level, method)
    return None if errors is None else errors * spread / math.sqrt(n)


def _questions(difference: float, spread: float, size: float, level: float, method: Method) -> int | None:
    """Return the smallest number of questions that shows a difference; None above ten million."""

    def shows(n: int) -> bool:
        detected = _detects(n, spread, size, level, method)
        return detected is not None and detected <= difference

    low, high = 1, _MOST
    if not shows(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high


def _spread_at_most(df: int) -> float:
    """
    Return the upper bound of a true standard deviation over that of a sample, at a confidence of 80 %.

    By Wilson and Hilferty's approximation of the chi-square quantile (1931), within 1 % from nine degrees on.
    """
    part = 2 / (9 * df)
    quantile = df * (1 - part + NormalDist().inv_cdf(1 - _SURE) * math.sqrt(part)) ** 3
    return math.sqrt(df / quantile)


_WIDTH = 40


def power_lines(plan: PowerPlan) -> Iterator[Line]:
    """Yield a table of how many questions show some differences, a curve for each metric, and how they were found."""
    sizes = [needed.difference for metric in plan.metrics.values() for needed in metric.needed]
    sizes = list(dict.fromkeys(sizes))
    yield Line("questions needed to show a difference of", "verdict")
    if sizes:
        rows = [["metric", "pilot", "std", *(f"{size:g}" for size in sizes)]]
        for name, metric in plan.metrics.items():
            if metric.needed:
                cells = [_cell(needed) for needed in metric.needed]
                groups = "" if metric.clusters is None else f" in {counted(metric.clusters, 'cluster')}"
                rows.append([name, f"{metric.pilot:,}{groups}", number(metric.std), *cells])
        yield from (Line(line, "row") for line in aligned(rows))
    yield from (Line(f"{name}: {metric.note}") for name, metric in plan.metrics.items() if metric.note)
    for name, metric in plan.metrics.items():
        if metric.curve:
            yield Line("")
            yield Line(f"{name}: smallest difference that so many questions show")
            yield from _curve(metric)
    yield Line("")
    yield Line(_method_line(plan), "small")


def _cell(needed: Needed) -> str:
    """Return ``198 to 240``: by the pilot's spread, and by what it may be."""
    n, at_most = (f">{_MOST:,}" if count is None else f"{count:,}" for count in (needed.n, needed.at_most))
    return n if n == at_most else f"{n} to {at_most}"


def _curve(metric: MetricPower) -> Iterator[Line]:
    top = max((size for _, size in metric.curve if size is not None), default=math.inf)
    for n, size in metric.curve:
        bar = "" if size is None else "#" * max(1, round(_WIDTH * size / top))
        yield Line(f"{n:>6,}  {number(size):>8}  {bar}".rstrip(), "row")


def _method_line(plan: PowerPlan) -> str:
    level = f"two-sided {plan.test} at {percent(1 - plan.confidence)}"
    share = f"{counted(plan.compared, 'metric')} and {counted(plan.systems, 'system')}"
    spread = "n to the n for the upper 80 % bound of the spread"
    pilot = "spread of differences: that of the pilot's pairs"
    if plan.correlation is not None:
        pilot = f"spread of differences: of scores that correlate by {plan.correlation:g} with these (--correlation)"
    return f"power 80 %; {level}, corrected for {share}; {spread}; {pilot}"
