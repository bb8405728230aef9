"""
`Comparison`: what comparing results found, as values that a report lays out and JSON can hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from rankgauge.base.frozen import freeze_fields, plain, plain_fields
from rankgauge.base.tables import html_table
from rankgauge.comparison.gold_edits import NO_EDITS, GoldEdits
from rankgauge.result.column_info import ListEnds
from rankgauge.result.label_doubts import LabelDoubts
from rankgauge.stats.estimates import TIED
from rankgauge.stats.intervals import IntervalMethod

__all__ = [
    "SCHEMA_VERSION",
    "Change",
    "CohortDifference",
    "Comparison",
    "Lengths",
    "MetricComparison",
    "RunComparison",
    "ShortLists",
    "Unjudged",
    "Verdict",
]

SCHEMA_VERSION = "rankgauge.comparison.v1"

Verdict = Literal[
    "better",
    "worse",
    "equivalent",
    "undecided",
    "same",
    "depends on unjudged documents",
    "depends on short lists",
    "depends on changed documents",
]

ShortLists = Literal["open", "allow"]
"""What a change is whose loser ended before the budget in more than a tenth of the samples: `open`, or as any other."""


@dataclass(frozen=True, slots=True)
class Change:
    """One sample whose score changed, from the baseline's to the run's `value`, by their `difference`."""

    sample_id: str
    baseline: float
    value: float
    difference: float


@dataclass(frozen=True, slots=True)
class CohortDifference:
    """
    The difference over the samples with one tag.

    Attributes:
        tag: The tag; None for samples without any.

        n: How many pairs.

        difference: Mean difference, in the unit of the metric.

        interval: As `MetricComparison.interval`, over these pairs.

        interval_method: As `MetricComparison.interval_method`.
    """

    tag: str | None
    n: int
    difference: float
    interval: tuple[float, float] | None
    interval_method: IntervalMethod | None = None


@dataclass(frozen=True, slots=True)
class Unjudged:
    """What is known of the unjudged documents of a run, by column."""

    shares: Mapping[str, float | None]  # the means of its `unjudged@k`, from 0 to 1; empty if it has none
    bounds: Mapping[str, tuple[float, float]]  # the worst and the best case of means; empty if not asked for

    def __post_init__(self) -> None:
        freeze_fields(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricComparison:
    """
    One metric of a run against the baseline.

    Attributes:
        name: The baseline's name of the column.

        safe_name: The same in letters, digits and ``_``.

        higher_is_better: Whether more is better.

        n: How many samples make a pair.

        baseline_mean: The baseline's mean over the pairs; None without any pair.

        mean: The run's mean over the pairs.

        difference: `mean` minus `baseline_mean`.

        interval: Lower and upper end for the true mean difference; None if there is none, which `notes` explain.

        interval_method: How: `t`, `betting`, `bca`, or `unseen` if no pair differs; None without an interval.

        matters: The smallest difference that matters; None if that was not said.

        equivalence: The interval that two one-sided tests compare with `matters`, at the corrected level; None without.

        confidence: The confidence of the interval; 1 minus it is the level of the tests.

        p: Two-sided p of the test that was asked for.

        p_t: Two-sided p of the paired t test; None if differences do not vary.

        p_adjusted: `p`, corrected for the number of metrics and of runs.

        dz: Cohen's d_z, the difference over the standard deviation of differences; None if that is 0.

        g: Hedges' g, which is d_z without its bias in small sets; None below three pairs.

        wins: Pairs in which the run is better.

        ties: Pairs that differ by at most 1e-12.

        losses: Pairs in which the run is worse.

        detectable: Smallest true difference that as many pairs show with a power of 80 %, by the same test at the level
            that its correction leaves; None if differences do not vary, if no difference could be shown, and if fewer
            than ten pairs differ, whose spread says little.

        dropped: How many samples make no pair, by reason.

        notes: What limits these numbers, in sentences.

        worst: The samples that lost most, the worst first.

        best: The samples that won most, the best first.

        cohorts: The difference by tag; empty if no sample has a tag.

        list_ends: Where the rankings of the baseline and of the run ended before the budget; None if the cutoff is
            none, and where that was not counted.

        short_lists: Whether a verdict is given although the loser ended before the budget in more than a tenth of the
            samples (`allow`); by default (`open`) it depends on short lists then.

        equal_tokens: The same if both runs may use as many tokens, for each sample the smaller number of those that
            their results within the cutoff have; None if results are about as long, or that is not known.

        condensed: The same over condensed lists, without unjudged documents; None if that was not asked for.

        edits: The gold documents of the pairs whose text changed between the runs, as far as their hashes are known.
    """

    name: str
    safe_name: str
    higher_is_better: bool
    n: int
    baseline_mean: float | None
    mean: float | None
    difference: float | None
    interval: tuple[float, float] | None
    confidence: float
    p: float | None
    p_t: float | None
    p_adjusted: float | None
    dz: float | None
    g: float | None
    wins: int
    ties: int
    losses: int
    detectable: float | None
    dropped: Mapping[str, int]
    notes: tuple[str, ...]
    worst: tuple[Change, ...]
    best: tuple[Change, ...]
    cohorts: tuple[CohortDifference, ...]
    condensed: MetricComparison | None = None
    interval_method: IntervalMethod | None = None
    matters: float | None = None
    equivalence: tuple[float, float] | None = None
    list_ends: tuple[ListEnds, ListEnds] | None = None
    short_lists: ShortLists = "open"
    equal_tokens: MetricComparison | None = None
    edits: GoldEdits = NO_EDITS

    def __post_init__(self) -> None:
        freeze_fields(self)

    @property
    def verdict(self) -> Verdict:
        """
        Return `better` or `worse` if `p_adjusted` says so, `same` if no pair differs, else `undecided`.

        `equivalent` comes before these: the true difference, 0 or not, is shown to be smaller than what matters.

        It depends on short lists where it would be `better` or `worse`, and the loser's rankings ended before the
        budget in more than a tenth of the samples.

        It depends on changed documents where it would be any of these three, and the text of a gold document of a pair
        is not what it was.

        It depends on unjudged documents if condensed lists were compared too, one of the two comparisons says
        `better` or `worse`, and the differences do not point the same way.
        """
        verdict = self._verdict
        if self.edits and verdict in {"better", "worse", "equivalent", "depends on short lists"}:
            return "depends on changed documents"
        if self.condensed is None or not {verdict, self.condensed.verdict} & {"better", "worse"}:
            return verdict
        return verdict if _direction(self) == _direction(self.condensed) else "depends on unjudged documents"

    @property
    def _verdict(self) -> Verdict:
        """Return the verdict on the list as it is."""
        if self.matters and self.equivalence and max(-self.equivalence[0], self.equivalence[1]) < self.matters:
            return "equivalent"
        if self.n and not self.wins + self.losses:
            return "same"
        if not self.difference or self.p_adjusted is None or self.p_adjusted > 1 - self.confidence + 1e-12:
            return "undecided"
        is_better = (self.difference > 0) == self.higher_is_better
        loser = None if self.list_ends is None else self.list_ends[not is_better]
        if self.short_lists == "open" and loser is not None and loser.are_short:
            return "depends on short lists"
        return "better" if is_better else "worse"

    @property
    def contradicts(self) -> bool:
        """Return whether interval and verdict seem to contradict: one says that the means differ, the other not."""
        if self.p is None or self.interval is None or self.verdict not in {"better", "worse", "undecided"}:
            return False
        return (self.interval[0] > 0 or self.interval[1] < 0) == (self.verdict == "undecided")

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            **{fact: plain(getattr(self, fact)) for fact in _ESTIMATES},
            "effect": {"dz": self.dz, "g": self.g},
            **{fact: plain(getattr(self, fact)) for fact in _SAMPLES},
            **({} if self.list_ends is None else {"list_ends": _ends(self.list_ends)}),
            **({"changed_documents": self.edits.to_dict()} if self.edits else {}),
            **({} if self.equal_tokens is None else {"equal_tokens": self.equal_tokens.to_dict()}),
            **({} if self.condensed is None else {"condensed": self.condensed.to_dict()}),
        }


_ESTIMATES = (
    *("n", "baseline_mean", "mean", "difference", "interval", "interval_method", "confidence"),
    *("p", "p_t", "p_adjusted"),
)
_SAMPLES = (
    *("wins", "ties", "losses", "detectable", "matters", "equivalence", "dropped", "notes"),
    *("verdict", "higher_is_better", "worst", "best", "cohorts"),
)


def _ends(list_ends: tuple[ListEnds, ListEnds]) -> dict[str, Any]:
    return {run: ends._asdict() for run, ends in zip(("baseline", "run"), list_ends, strict=True)}


def _direction(metric: MetricComparison) -> int:
    """Return the sign of a difference; 0 if it is no more than a tie of two scores may be."""
    difference = metric.difference or 0.0
    return (difference > TIED) - (difference < -TIED)


class Lengths(NamedTuple):
    """How much longer the results of a run are than the baseline's."""

    ratio: float  # tokens (words) of a result, in the mean, over those of the baseline
    unknown: str = ""  # why no metric was compared at equal tokens; empty if some were
    limit: int | None = None  # over how many samples of the data that was, the first ones; None for all


@dataclass(frozen=True, slots=True)
class RunComparison:
    """
    One run against its baseline.

    Attributes:
        run: The run's name.

        baseline: The baseline's name.

        metrics: The metrics that both have, by the baseline's names.

        notes: What was left out, and why.

        false_alarms: Of a system that is compared with itself over its repeats: how many `pairs` of repeats there are,
            the `alarms` among them, some metric being called better or worse, these by metric in `metrics`, their
            `rate`, and what the tests allow, `allowed`. Empty otherwise.

        lengths: How much longer the results of one run are; None if they are about as long, no metric has a
            cutoff by rank, or that is not known.

        incomplete: Why a run is incomplete, for each of the two that is.
    """

    run: str
    baseline: str
    metrics: Mapping[str, MetricComparison]
    notes: tuple[str, ...] = ()
    false_alarms: Mapping[str, Any] = field(default_factory=dict)
    lengths: Lengths | None = None
    incomplete: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        freeze_fields(self)

    def __getitem__(self, name: str) -> MetricComparison:
        """Return a metric by its column's name or safe name, in any case; a `KeyError` lists what there is."""
        for metric in self.metrics.values():
            if name.casefold() in {metric.name.casefold(), metric.safe_name.casefold()}:
                return metric
        raise KeyError(f"no metric {name!r} was compared; there are {', '.join(self.metrics)}")

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the metrics."""
        return iter(self.metrics)

    def __repr__(self) -> str:
        verdicts = ", ".join(f"{name} {metric.verdict}" for name, metric in self.metrics.items())
        incomplete = f"INCOMPLETE, {'; '.join(self.incomplete)}: " if self.incomplete else ""
        return f"<{self.run} against {self.baseline}: {incomplete}{verdicts}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """
    Runs against a baseline, or every run against every other.

    Attributes:
        baseline: The baseline's name; of all pairs, the first run's.

        comparisons: One for each pair of runs.

        confidence: Of the intervals; 1 minus it is the level of the tests.

        test: The test that gave `p`.

        test_facts: Of the test of a plugin its `summary`, its `version` and `by` whom it is; empty for a built-in one.

        correction: How p values were corrected for their number; empty for one alone.

        resamples: How many random resamples the test was asked for.

        seed: The seed of the random bits; the same seed gives the same bits on every machine.

        cluster: The metadata field by which samples are clustered; None if they count as independent.

        unjudged: What is known of each run's unjudged documents, by its name.

        label_doubts: What the rankings of all runs say about the labels; None if that is not known.
    """

    baseline: str
    comparisons: tuple[RunComparison, ...]
    confidence: float
    test: str
    correction: str
    resamples: int
    seed: int
    cluster: str | None = None
    unjudged: Mapping[str, Unjudged] = field(default_factory=dict)
    label_doubts: LabelDoubts | None = None
    test_facts: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        freeze_fields(self)

    def __getitem__(self, run: str) -> RunComparison:
        """Return the comparison of a run with the baseline; a `KeyError` lists the runs."""
        for pair in self.comparisons:
            if pair.run == run:
                return pair
        raise KeyError(f"no run {run!r} was compared; there are {', '.join(self)}")

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the runs that are compared with another one, each once."""
        return iter(dict.fromkeys(pair.run for pair in self.comparisons))

    def __repr__(self) -> str:
        return "\n".join([f"<Comparison with {self.baseline}>", *map(repr, self.comparisons)])

    def _repr_html_(self) -> str:
        def shown(value: float | None, form: str = ".4f") -> str:
            return "-" if value is None else format(value, form)

        header = ("run", "against", "metric", "verdict", "before", "now", "difference", "interval", "corrected p", "n")
        rows = [
            (
                *(pair.run, pair.baseline, name, metric.verdict, shown(metric.baseline_mean), shown(metric.mean)),
                shown(metric.difference, "+.4f"),
                "-" if metric.interval is None else " to ".join(shown(end, "+.4f") for end in metric.interval),
                *(shown(metric.p_adjusted), f"{metric.n:,}"),
            )
            for pair in self.comparisons
            for name, metric in pair.metrics.items()
        ]
        incomplete = dict.fromkeys(why for pair in self.comparisons for why in pair.incomplete)
        return html_table("; ".join([f"comparison with {self.baseline}", *incomplete]), header, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values; keys are only ever added to this schema."""
        return {"schema_version": SCHEMA_VERSION, **plain_fields(self)}
