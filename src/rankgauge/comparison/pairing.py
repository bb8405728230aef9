"""
Pairing: the columns and samples of two results that can be compared, and what cannot.

A difference of definitions, policies, judgments or cutoffs is not a difference of systems, and is refused.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress, islice
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.frozen import FrozenMap, freeze_fields, read_only
from rankgauge.base.plain_text import visible
from rankgauge.columns.judged_rows import Flags, Floats, Ints
from rankgauge.comparison.gold_edits import NO_EDITS, GoldEdits, gold_edits
from rankgauge.errors import ParameterError, ResultError, counted, did_you_mean, listed
from rankgauge.plugin.metric import POOLED, WHOLE_RUN
from rankgauge.result import MetricInfo, MetricSummary, Result
from rankgauge.result.column_info import ListEnds
from rankgauge.result.meaning import Differences, Meant, differences
from rankgauge.scoring.score import FAILED, UNDEFINED
from rankgauge.stats.repeats import mean_variance

__all__ = ["DROPPED", "UNJUDGED", "Common", "PairedColumn", "Pairing", "check_common", "counterpart_of", "pair_results"]

UNJUDGED = "retrieval-unjudged-at-k"
"""The metric that says how much of a ranking is unjudged."""

DROPPED = (
    "only_in_baseline",
    "only_in_run",
    "other_ground_truth",
    "undefined",
    "undefined_in_one",
    "excluded",
    "weightless",
)
"""Why a sample makes no pair: it is in one result only, was judged against other ground truth, or against documents
with another text, and only unchanged samples are compared, has no defined score in both or in one of them, the policy
leaves out samples whose output is missing or failed, or it has a score in both and a weight of 0."""

Common = Literal["all", "unchanged"]
"""Which of the samples that two results have in common are compared: `all`, which is refused if the ground truth of
any of them changed, or those whose ground truth is `unchanged`, and the texts of its documents if they are known."""

_SHOWN = 3


@dataclass(frozen=True, eq=False)
class PairedColumn:
    """One metric of two results over the samples that both have; NaN if a sample makes no pair; shape (samples,)."""

    info: MetricInfo  # what the column is, under the baseline's name
    baseline: Floats
    values: Floats  # those of the other result
    dropped: Mapping[str, int]  # how many samples make no pair, by a reason of `DROPPED`
    # where the rankings of both ended before a budget, over the whole runs; None without one, or if not counted
    ends: tuple[ListEnds | None, ListEnds | None] = (None, None)
    noise: Floats | None = None  # the part of each difference's variance that repeats show, if there are some
    edits: GoldEdits = NO_EDITS  # the gold documents of pairs whose text is another one in the other result
    weights: Floats | None = None  # how much each shared sample counts; None if all count the same

    def __post_init__(self) -> None:
        freeze_fields(self)

    def loser_is_short(self, difference: float) -> bool:
        """Return whether the run that is worse by a difference ended before the budget in too many samples."""
        loser = self.ends[(difference > 0) != self.info.higher_is_better] if difference else None
        return loser is not None and loser.are_short

    @property
    def name(self) -> str:
        """Return the baseline's name of the column."""
        return self.info.name

    @cached_property
    def is_pair(self) -> Flags:
        """Return which of the shared samples make a pair; shape (shared samples,)."""
        return read_only(~np.isnan(self.baseline))

    @cached_property
    def differences(self) -> Floats:
        """Return the other result's value minus the baseline's; NaN if there is no pair; shape (shared samples,)."""
        return read_only(self.values - self.baseline)

    def weights_of(self, kept: Flags) -> Floats | None:
        """Return the weights of some of the shared samples; None if all count the same."""
        return None if self.weights is None else self.weights[kept]


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two results, sample by sample."""

    sample_ids: tuple[str, ...]  # those that both have, in the baseline's order
    tags: tuple[tuple[str, ...], ...]  # the cohorts of each, as the baseline has them
    columns: Mapping[str, PairedColumn]  # the metrics that both have, by the baseline's names
    notes: tuple[str, ...] = ()  # what a reader of the comparison should know

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", FrozenMap(self.columns))  # the class is frozen, and the rest are tuples


def pair_results(
    baseline: Result,
    other: Result,
    metrics: Sequence[str] | None = None,
    *,
    names: tuple[str, str] = ("baseline", "run"),
    common: Common = "all",
) -> Pairing:
    """
    Pair the scores of two results by metric fingerprint and sample id.

    *metrics* are the baseline's columns in any spelling, None for every mean that both have, without `unjudged@k` if
    there are others. *common* says which of the shared samples are compared. Raises `ResultError` if the results
    were not made under the same definitions, policy, judgments and cutoffs, have no sample or no metric in common, or
    lack a metric that was asked for.
    """
    said = f"cannot compare {visible(names[1])} with {visible(names[0])}"
    if (queries := differences(Meant(baseline.manifest), Meant(other.manifest)).queries) is not None:
        one, another = queries
        policies = f"the policy queries={one} and the other with queries={another}"
        raise ResultError(f"{said}: one was evaluated with {policies}")
    notes: list[str] = []
    matched = _matched(baseline, other, metrics, said, notes)
    own = {sample_id: place for place, sample_id in enumerate(baseline.sample_ids)}
    its = {sample_id: place for place, sample_id in enumerate(other.sample_ids)}
    shared = [sample_id for sample_id in baseline.sample_ids if sample_id in its]
    if not shared:
        first, second = (_look(result.sample_ids) for result in (baseline, other))
        raise ResultError(f"{said}: they have no sample in common; one has {first}, the other {second}")
    lost = {"only_in_baseline": len(own) - len(shared), "only_in_run": len(its) - len(shared)}
    here = np.array([own[sample_id] for sample_id in shared], dtype=np.int64)
    there = np.array([its[sample_id] for sample_id in shared], dtype=np.int64)
    edits, unknown = gold_edits(baseline.manifest, other.manifest, shared, names)
    notes += filter(None, [unknown])
    same = _judged_alike(baseline, other, shared, (here, there), said, common)
    if common == "unchanged" and edits:
        same = _with_same_texts(same, shared, edits, said)
    shared, here, there = [shared[place] for place in same.tolist()], here[same], there[same]
    lost["other_ground_truth"] = len(its) - lost["only_in_run"] - len(same)
    tags = tuple(baseline.tags[place] for place in here.tolist())
    columns = {}
    for column, counterpart in matched:
        _check_weights(column, counterpart, shared, (here, there), said)
        pairs = _paired(column, counterpart, here, there, lost)
        kept = compress(shared, pairs.is_pair.tolist()) if edits else ()
        columns[column.name] = replace(pairs, edits=edits.among(kept)) if edits else pairs
    notes += _failures(names[0], [(column, column.codes[here]) for column, _ in matched])
    notes += _failures(names[1], [(column, counterpart.codes[there]) for column, counterpart in matched])
    notes += _unchecked(zip(names, (baseline, other), strict=True))
    notes += _left_out(names, (baseline, other), matched)
    return Pairing(tuple(shared), tags, columns, tuple(notes))


def check_common(common: object) -> None:
    """Raise `ParameterError` for what says nothing of which samples are compared."""
    if common not in get_args(Common):
        hint = did_you_mean(str(common), get_args(Common))
        raise ParameterError(f"common is {' or '.join(get_args(Common))}, not {common!r}{hint}")


def _judged_alike(
    baseline: Result,
    other: Result,
    shared: Sequence[str],
    places: tuple[Ints, Ints],
    said: str,
    common: Common,
) -> Ints:
    """Return which of the shared samples are compared; raise `ResultError` if the ground truth forbids it."""
    keys = [result.gold_keys for result in (baseline, other)]
    if keys[0] is None or keys[1] is None:
        if common == "unchanged":
            which = "the baseline" if keys[0] is None else "the other result"
            raise ResultError(f"{said}: which ground truth is unchanged is not known, since {which} does not record it")
        return np.arange(len(shared))
    is_same = keys[0][places[0]] == keys[1][places[1]]
    different = np.flatnonzero(~is_same)
    if len(different) and (common == "all" or len(different) == len(shared)):
        advice = (
            "evaluate both with the same judgments, or compare the samples whose ground truth is the same: "
            "--common unchanged; in a gate, common: unchanged"
        )
        raise ResultError(
            f"{said}: {len(different):,} of {counted(len(shared), 'sample')} were judged against different ground "
            f"truth or cutoffs, such as {_look([shared[place] for place in different[:_SHOWN].tolist()])}; "
            f"{'evaluate both with the same judgments' if len(different) == len(shared) else advice}"
        )
    return np.flatnonzero(is_same)


def _with_same_texts(same: Ints, shared: Sequence[str], edits: GoldEdits, said: str) -> Ints:
    """Return the samples none of whose gold documents changed; raise `ResultError` if there is none."""
    kept = np.array([place for place in same.tolist() if shared[place] not in edits.of_samples], dtype=np.int64)
    if not len(kept):
        raise ResultError(f"{said}: no sample is left whose ground truth is unchanged; {edits}")
    return kept


def _check_weights(
    column: MetricSummary, counterpart: MetricSummary, shared: Sequence[str], places: tuple[Ints, Ints], said: str
) -> None:
    """Raise `ResultError` if the two results weigh a shared sample differently."""
    if column.weights is None or counterpart.weights is None:
        return
    one, other = column.weights[places[0]], counterpart.weights[places[1]]
    different = np.flatnonzero(~np.isclose(one, other, rtol=1e-9, atol=0.0))
    if len(different):
        first = int(different[0])
        raise ResultError(
            f"{said}: {len(different):,} of {counted(len(shared), 'sample')} weigh something else in one, such as "
            f"{shared[first]!r}: {one[first]:g} and {other[first]:g}; give both the same weights"
        )


def _paired(
    column: MetricSummary,
    counterpart: MetricSummary,
    here: Ints,
    there: Ints,
    lost: Mapping[str, int],
) -> PairedColumn:
    sides = (column, here), (counterpart, there)
    first, second = (each.values[at] for each, at in sides)
    is_pair = ~(np.isnan(first) | np.isnan(second))
    undefined = [codes[~is_pair] == UNDEFINED for codes in (column.codes[here], counterpart.codes[there])]
    both = int(np.count_nonzero(undefined[0] & undefined[1]))
    one = int(np.count_nonzero(undefined[0] ^ undefined[1]))
    counts = {**lost, "undefined": both, "undefined_in_one": one}
    counts["excluded"] = int(np.count_nonzero(~is_pair)) - both - one
    weights = None if column.weights is None else column.weights[here]
    counts["weightless"] = 0 if weights is None else int(np.count_nonzero(is_pair & (weights == 0)))
    if weights is not None:
        is_pair &= weights > 0
    first, second = (np.where(is_pair, values, np.nan) for values in (first, second))
    noises = [mean_variance(each.repeats[at]) for each, at in sides if each.repeats is not None]
    noise = np.sum(noises, axis=0) if noises else None
    ends = column.info.list_ends, counterpart.info.list_ends
    return PairedColumn(
        column.info, first, second, {name: counts[name] for name in DROPPED}, ends, noise, weights=weights
    )


def _failures(name: str, columns: Sequence[tuple[MetricSummary, NDArray[np.uint8]]]) -> Iterator[str]:
    """Yield how many of the shared samples failed in a result, by the metrics that they failed for."""
    metrics: dict[int, list[str]] = {}
    for column, codes in columns:
        metrics.setdefault(int(np.count_nonzero(codes == FAILED)), []).append(column.name)
    for count, failed_for in metrics.items():
        if count:
            of = "" if len(failed_for) == len(columns) else f" for {', '.join(failed_for)}"
            n = counted(len(columns[0][1]), "sample")
            yield f"{count:,} of {n} failed in {name}{of}, and count as the policy says"


def _unchecked(results: Iterable[tuple[str, Result]]) -> Iterator[str]:
    """Yield what cannot be checked if another tool computed the scores."""
    given = [(visible(name), result.notes) for name, result in results if "scores" in result.manifest]
    if not given:
        return
    yield (
        f"another tool computed the scores of {' and '.join(name for name, _ in given)}: their judgments, policy "
        "(ties, depth, queries without output) and version are not recorded, so nothing checks that they were computed "
        "alike"
    )
    said: dict[str, list[str]] = {}
    for name, notes in given:
        for note in notes:
            said.setdefault(note, []).append(name)
    yield from (f"{', '.join(whose)}: {note}" for note, whose in said.items())


def _left_out(
    names: tuple[str, str],
    results: tuple[Result, Result],
    matched: Sequence[tuple[MetricSummary, MetricSummary]],
) -> Iterator[str]:
    """Yield what the queries would change that a file of another tool leaves out, if they count as rankgauge does."""
    known = [set(result.sample_ids) for result in results]
    for place, (name, result) in enumerate(zip(names, results, strict=True)):
        absent = known[1 - place] - known[place]
        if "scores" not in result.manifest or not absent:
            continue
        changes = [
            f"{columns[0].name} {change:+.4f}"
            for columns in matched
            if (change := _change_with(columns, results, known[0] | known[1])) is not None
        ]
        counts = f": the change is then {listed(changes, _SHOWN)}" if changes else ""
        yield (
            f"{visible(name)} has no score of {counted(len(absent), 'query', 'queries')}, such as "
            f"{_look(sorted(absent)[:1])}; trec_eval leaves out queries for which a run returned nothing, and "
            f"rankgauge and trec_eval -c count them as 0{counts}"
        )


def _change_with(
    columns: tuple[MetricSummary, MetricSummary], results: tuple[Result, Result], queries: Collection[str]
) -> float | None:
    """Return the difference of means over all queries, with the worst value for those that a side does not have."""
    info = columns[0].info
    worst = info.range[0 if info.higher_is_better else 1]
    if worst is None or any(np.isnan(column.values).any() for column in columns):
        return None
    sums = [
        math.fsum(column.values.tolist()) + worst * (len(queries) - len(result))
        for column, result in zip(columns, results, strict=True)
    ]
    return (sums[1] - sums[0]) / len(queries)


def _whole_run_difference(column: MetricSummary, other: Result) -> str:
    """Say how a metric of whole runs differs; it has no value for a sample, so that nothing can be tested."""
    counterpart = counterpart_of(column.info, other)
    if counterpart is None:
        return f"{column.name} is in the baseline only; left out"
    if column.mean is None or counterpart.mean is None:
        return f"{column.name} is one value of a whole run, and one of the two has none"
    return (
        f"{column.name} is one value of a whole run, which is not tested: from {column.mean:.4f} to "
        f"{counterpart.mean:.4f}, {counterpart.mean - column.mean:+.4f}"
    )


def _matched(
    baseline: Result, other: Result, metrics: Sequence[str] | None, said: str, notes: list[str]
) -> list[tuple[MetricSummary, MetricSummary]]:
    """Return the columns of both that mean the same; say what is left out."""
    found: dict[str, tuple[MetricSummary, MetricSummary]] = {}
    asked = _compared(baseline) if metrics is None else [_column(baseline, name, said) for name in metrics]
    for column in asked:
        info = column.info
        if info.aggregate == WHOLE_RUN and metrics is None:
            notes.append(_whole_run_difference(column, other))
            continue
        if info.aggregate != "mean":
            how = _AGGREGATES.get(info.aggregate, f"a {info.aggregate} over samples")
            reason = f"{info.name} is {how}, and only means are compared"
            if metrics is not None:
                raise ResultError(f"{said}: {reason}")
            notes.append(f"{reason}; left out")
            continue
        counterpart = _meant_alike(baseline, info, other, said)
        broken = column.broken or ("" if counterpart is None else counterpart.broken)
        if counterpart is not None and not broken:
            found[column.name] = (column, counterpart)
        elif metrics is not None:
            why = broken or f"it has no {info.name}; it has {', '.join(other.metrics) or 'no metric'}"
            raise ResultError(f"{said}: {why}")
        else:
            failed = f"failed for every sample of one of the two: {broken}"
            notes.append(f"{info.name} {failed if broken else 'is in the baseline only'}; left out")
    if not found:
        first, second = (", ".join(result.metrics) or "no metric" for result in (baseline, other))
        if first == second and notes:  # which says why of each
            raise ResultError(f"{said}: there is no mean to compare: {'; '.join(notes).removesuffix('; left out')}")
        raise ResultError(f"{said}: they have no mean in common; one has {first}, the other {second}")
    return list(found.values())


def _meant_alike(baseline: Result, info: MetricInfo, other: Result, said: str) -> MetricSummary | None:
    """Return the column of the other result that means the same; None if it has none of the name either."""
    counterpart = counterpart_of(info, other)
    if counterpart is None:
        namesake = next((each for each in (other.metrics.get(info.name), _spelled(info, other)) if each), None)
        if namesake is not None:
            raise ResultError(f"{said}: {_definition_difference(baseline, info, other, namesake.info)}")
        return None
    differing = differences(Meant(baseline.manifest, info), Meant(other.manifest, counterpart.info))
    if (difference := _data_bound_difference(info.name, differing)) is not None:
        raise ResultError(f"{said}: {difference}")
    return counterpart


def _compared(baseline: Result) -> list[MetricSummary]:
    """Return every column but `unjudged@k`, which is beside a comparison; these if there is nothing else."""
    columns = list(baseline.metrics.values())
    return [column for column in columns if column.info.alias != UNJUDGED] or columns


_AGGREGATES = {
    POOLED: "a pooled mean, whose samples count by what their scores are shares of",
    "sum": "a sum over samples",
    "geometric": "a geometric mean over samples",
    WHOLE_RUN: "one value of a whole run",
}


def _column(baseline: Result, name: str, said: str) -> MetricSummary:
    try:
        return baseline[name]
    except KeyError as error:
        raise ResultError(f"{said}: {error.args[0]}") from None


def counterpart_of(info: MetricInfo, other: Result) -> MetricSummary | None:
    """Return the column that means the same, the one of the same name first."""
    same = [column for column in other.metrics.values() if _is_same(column.info, info)]
    return next((column for column in same if column.name == info.name), same[0] if same else None)


def _is_same(one: MetricInfo, other: MetricInfo) -> bool:
    """Return whether two columns mean the same; of scores that another tool computed the name alone says that."""
    if one.is_given or other.is_given:
        return one.expression == other.expression and one.higher_is_better == other.higher_is_better
    return one.fingerprint == other.fingerprint


def _spelled(info: MetricInfo, other: Result) -> MetricSummary | None:
    """Return the column of the other result that the baseline's name would find there."""
    try:
        return other[info.name]
    except KeyError:
        return None


def _data_bound_difference(name: str, found: Differences) -> str | None:
    """Return how two columns of one definition differ by what was found in the data; None if they do not."""
    if found.judged is not None:
        one, other = found.judged
        return f"{name} was judged against different ground truth: {one}, and {other}; say which with gold=..."
    if found.inferred is not None:
        one, other = (", ".join(f"{key}={value:g}" for key, value in side.items()) for side in found.inferred)
        return (
            f"{name} took {one or 'nothing'} from the data of one and {other or 'nothing'} from that of the other; "
            "give it in the metric"
        )
    return None


def _definition_difference(baseline: Result, own: MetricInfo, other: Result, its: MetricInfo) -> str:
    """Return how two columns that go by one name differ in what they mean."""
    definition = differences(Meant(baseline.manifest, own), Meant(other.manifest, its)).definition
    if definition is None or not definition[0]:
        return (
            f"{own.name} does not mean the same in both (fingerprints {own.fingerprint} and {its.fingerprint}); "
            "evaluate both with the same version and profile"
        )
    one, another = (
        ", ".join(f"no {name}" if value is None else f"{name}={value}" for name, value in islice(side.items(), _SHOWN))
        for side in definition
    )
    more = f" and {len(definition[0]) - _SHOWN} more" if len(definition[0]) > _SHOWN else ""
    return f"{own.name} does not mean the same in both: {one} in one, {another} in the other{more}; evaluate both alike"


def _look(sample_ids: Sequence[str]) -> str:
    shown = ", ".join(repr(sample_id) for sample_id in sample_ids[:_SHOWN])
    return f"{shown}, ..." if len(sample_ids) > _SHOWN else shown or "none"
