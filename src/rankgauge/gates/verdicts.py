"""
Verdicts of gates: what scores, and those of a baseline, say of each gate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from rankgauge.base.plain_text import visible
from rankgauge.catalog import Catalog
from rankgauge.columns.judged_rows import Ints
from rankgauge.comparison.differences import ShortLists
from rankgauge.comparison.estimate import check_short_lists
from rankgauge.comparison.pairing import PairedColumn
from rankgauge.errors import ParameterError, ResultError, counted, did_you_mean
from rankgauge.gates.asked import decision_of, flaw, resolved
from rankgauge.gates.drop import baseline_of, clusters_of_pairs, ids_changed, judge_drop, pair_with_baseline
from rankgauge.gates.grammar import EFFECTS, Bound, Defaults, Effect, Gate, MaxDrop, OfKind, read_gates
from rankgauge.gates.kinds import found_by
from rankgauge.gates.outcomes import GateOutcome, GateReport, edited_text
from rankgauge.io.judgment_sources import is_model
from rankgauge.judging import Leak
from rankgauge.result import MetricSummary, Result
from rankgauge.result.health import incomplete_value
from rankgauge.result.wording import check_results
from rankgauge.stats.estimates import TIED

__all__ = ["judge_gates", "judge_resolved", "samples_of"]


def judge_gates(
    results: Mapping[str, Result] | Result,
    gates: Iterable[Gate | str | Mapping[str, Any]] | Gate | str | Mapping[str, Any],
    *,
    baseline: Mapping[str, Result] | Result | None = None,
    inconclusive: Effect = "fell",
    short_lists: ShortLists = "open",
    catalog: Catalog | None = None,
) -> GateReport:
    """
    Judge gates.

        report = judge_gates(result, ["ndcg@10 >= 0.6", {"metric": "recall@5", "max_drop": 0.02}], baseline=old)
        assert report.exit_code == 0

    Args:
        results: Results by dataset, or one result.

        gates: One gate or several, in any form. Each holds for every dataset, unless it names one.

        baseline: What changes are judged against: results by dataset, as `rankgauge.load_baseline` returns them, or one
            result.

        inconclusive: What changes do that too few samples leave open, for gates that do not say: `fail`, `warn`,
            `pass`, or `fell`, which fails if the mean got worse for certain (one-sided sign-flip test at the gate's
            level) and warns elsewhere.

        short_lists: Whether changes are judged under a budget (`recall@1500tok`) before which the rankings of the worse
            run ended in more than a tenth of the samples: `open` leaves them open, `allow` judges them; for gates that
            do not say.

        catalog: Where kinds of gates that plugins declare are looked up; by default in what the results were loaded
            with, or in everything that is installed.

    Returns:
        One outcome for each gate and dataset.

    Raises:
        ParameterError: A gate that cannot be read, that names no column of the results or no dataset, or that no value
            can meet; or a gate on a change without a baseline.
    """
    results = {"": results} if isinstance(results, Result) else results
    earlier = {"": baseline} if isinstance(baseline, Result) else baseline
    check_results("judge_gates", results)
    if earlier is not None:
        check_results("baseline", earlier)
    gates = [gates] if isinstance(gates, Gate | str | Mapping) else gates
    if inconclusive not in EFFECTS:
        raise ParameterError(f"inconclusive is {', '.join(EFFECTS)}, not {inconclusive!r}")
    check_short_lists(short_lists)
    known = next(filter(None, (result.catalog for result in results.values())), None)
    defaults = Defaults(inconclusive, short_lists, catalog=catalog or known)
    every = [
        one for gate in gates for one in ([gate] if isinstance(gate, Gate) else read_gates(gate, defaults=defaults))
    ]
    problems = [f"{gate}: {problem}" for gate in every for problem in _problems(gate, results, earlier)]
    if problems:
        raise ParameterError("; ".join(dict.fromkeys(problems)))
    by_dataset = {name: [gate for gate in every if gate.dataset in {"", name}] for name in results}
    return judge_resolved(results, by_dataset, earlier)


def _problems(gate: Gate, results: Mapping[str, Result], baseline: Mapping[str, Result] | None) -> Iterator[str]:
    """Yield what keeps a gate from being judged on these results."""
    if gate.dataset and gate.dataset not in results:
        known = f"; there are {', '.join(results)}" if list(results) != [""] else ""
        yield f"no dataset {gate.dataset!r}{did_you_mean(gate.dataset, results)}{known}"
    if gate.is_change and baseline is None:
        yield "a change is judged against a baseline, and none is given"
    for result in results.values():
        try:
            problem = flaw(gate, gate.metric, result[gate.metric].info)
        except KeyError as error:
            problem = str(error.args[0])
        if problem:
            yield problem


def judge_resolved(
    results: Mapping[str, Result],
    gates: Mapping[str, Sequence[Gate]],
    baseline: Mapping[str, Result] | None,
) -> GateReport:
    """Judge gates by dataset, each of which names a column of it and fits its metric."""
    changed = {} if baseline is None else ids_changed(results, baseline)
    if any(gates.values()):  # gates on metrics that are judged by text go on where ids changed
        by_id = {name for name in changed for gate in gates[name] if results[name][gate.metric].info.by_id}
        changed = {name: why for name, why in changed.items() if name in by_id}
    outcomes = []
    for name, result in results.items():
        earlier = None if baseline is None else baseline_of(name, baseline, results)
        for gate in gates.get(name, ()):
            column = result[gate.metric]
            decided = resolved(gate, column.name, column.info)
            try:
                outcome = _outcome(decided, name, result, earlier, changed.get(name, ""))
                why = result.incomplete_because or incomplete_value(result, column)
                outcome = _missed_where_incomplete(outcome, why)
            except ResultError as error:
                outcome = GateOutcome(gate=decided, verdict="error", reason=str(error.args[0]))
            outcomes.append(replace(outcome, dataset=name))
    return GateReport(tuple(outcomes), changed)


def _outcome(gate: Gate, dataset: str, result: Result, baseline: Result | None, changed: str) -> GateOutcome:
    """Judge one gate on one dataset; raise `ResultError` if that is not possible."""
    if why := _unverified(result):
        raise ResultError(why)
    if changed and result.metrics[gate.metric].info.by_id:
        raise ResultError(changed.partition(":")[0])
    decision = decision_of(gate, result)
    samples = samples_of(gate, result.sample_ids, result.tags)
    if len(samples) < len(result):
        result = result.take(samples)
    column = result.metrics[gate.metric]
    if column.broken:
        raise ResultError(column.broken)
    if isinstance(gate.rule, Bound):
        outcome = _of_bound(gate, gate.rule, column, result.sample_ids)
        if decision is not None and decision.verdict != "open":
            outcome = replace(outcome, verdict=decision.verdict)
        return replace(outcome, decision=decision)
    if isinstance(gate.rule, OfKind) and not gate.is_change:
        return replace(_of_kind(gate, gate.rule, column), decision=decision)
    return _against(gate, gate.rule, dataset, result, baseline)


def _against(gate: Gate, rule: MaxDrop | OfKind, dataset: str, result: Result, baseline: Result | None) -> GateOutcome:
    """Judge a gate on a change; raise `ResultError` if the baseline does not allow that."""
    column = result.metrics[gate.metric]
    again = "save it again with --save-baseline"
    if baseline is None:
        raise ResultError(f"the baseline has no dataset {dataset!r}; {again}")
    if why := baseline.incomplete_because:
        raise ResultError(f"nothing is judged against this baseline: {why}; {again}")
    try:
        sample_ids, pairs = pair_with_baseline(column, result, baseline, rule.common)
    except ResultError as error:
        raise ResultError(f"{error}; {again}") from None
    if isinstance(rule, OfKind):
        outcome = _of_kind(gate, rule, column, pairs)
        return _open_where_edited(outcome, pairs)
    return _of_change(gate, rule, sample_ids, pairs, clusters_of_pairs(column, result, sample_ids))


def _open_where_edited(outcome: GateOutcome, pairs: PairedColumn) -> GateOutcome:
    """Return an outcome that is open where scores changed and so did gold documents."""
    changed = pairs.edits and bool((abs(pairs.differences[pairs.is_pair]) > TIED).any())
    if not changed or outcome.verdict == "error":
        return outcome
    why = edited_text(pairs.edits, int(np.count_nonzero(pairs.is_pair)))
    return replace(outcome, verdict="inconclusive", finding=f"not judged: {why}; by numbers alone: {outcome.finding}")


_VERDICTS: Mapping[str, Literal["pass", "fail", "inconclusive"]] = {
    "passed": "pass",
    "missed": "fail",
    "open": "inconclusive",
}


def _of_kind(gate: Gate, rule: OfKind, column: MetricSummary, pairs: PairedColumn | None = None) -> GateOutcome:
    """Judge a gate of a plugin's kind, by the scores that count or by those of *pairs*."""
    counts = column.counts
    if column.weights is not None or column.denominators is not None:
        why = "these have weights" if column.denominators is None else "a pooled mean weighs them"
        raise ResultError(f"gates of a plugin's kind are given scores that count the same, and {why}")
    if not column.n:
        return GateOutcome(gate=gate, verdict="fail", counts=counts, reason=_without_value(column))
    values, baseline = np.array(column.counted, dtype=np.float64), None
    if pairs is not None:
        values, baseline, counts = (
            pairs.values[pairs.is_pair],
            pairs.baseline[pairs.is_pair],
            {**counts, "n": int(np.count_nonzero(pairs.is_pair))},
        )
    higher_is_better = column.info.higher_is_better
    found = found_by(
        rule.claim, values, rule.number, baseline=baseline, counts=counts, higher_is_better=higher_is_better
    )
    return GateOutcome(
        gate=gate,
        verdict=_VERDICTS[found.state],
        value=found.value,
        aggregate=column.info.aggregate,
        counts=counts,
        finding=found.words,
    )


def _missed_where_incomplete(outcome: GateOutcome, why: str) -> GateOutcome:
    """Return an outcome that is no pass, whatever the numbers are, if the run is incomplete."""
    if not why:
        return outcome
    if outcome.verdict in {"pass", "inconclusive"}:
        return replace(outcome, verdict="fail", by_numbers=outcome.verdict, reason=why)
    return replace(outcome, reason="; ".join(filter(None, [outcome.reason, why])))


def _unverified(result: Result) -> str:
    """Return why a result is no ground for a gate: a model gave judgments, and that is not allowed; else nothing."""
    judged = result.manifest.get("judged_by")
    if judged is None or result.manifest["policy"].get("unverified_judges") == "allow":
        return ""
    models = {judge: count for judge, count in judged["judges"].items() if is_model(judge)}
    if not models:
        return ""
    share = f"{sum(models.values()):,} of {counted(judged['judgments'], 'judgment')}"
    advice = "see how far people agree (rankgauge judge agree), then allow it: --policy unverified_judges=allow"
    return f"{share} are by {', '.join(map(visible, models))}, which no person has confirmed; {advice}"


def samples_of(gate: Gate, sample_ids: Sequence[str], tags: Sequence[Sequence[str]]) -> list[int]:
    """Return the samples that a gate is for, by their places; raise `ResultError` if there are none."""
    samples = list(range(len(sample_ids)))
    if gate.where is not None:
        name, value = gate.where
        tag = value if name == "tags" else f"{name.removeprefix('metadata.')}={value}"
        samples = [sample for sample in samples if tag in tags[sample]]
        if not samples:
            known = sorted({tag for several in tags for tag in several})
            listed = f"; there are {', '.join(known[:20])}" if known else "; no sample has a tag"
            raise ResultError(f"no sample has the tag {tag!r}{did_you_mean(tag, known)}{listed}")
    if gate.of:
        by_id = {sample_ids[sample]: sample for sample in samples}
        lost = next((name for name in gate.of if name not in by_id), None)
        if lost is not None:
            within = "" if gate.where is None else f" where {gate.where}"
            raise ResultError(f"there is no sample {lost!r}{within}{did_you_mean(lost, by_id)}")
        samples = [by_id[name] for name in gate.of]
    return samples


def _of_bound(gate: Gate, rule: Bound, column: MetricSummary, sample_ids: Sequence[str]) -> GateOutcome:
    """Judge a bound of the mean; with `per_sample`, of every sample, also of one without a value if it was named."""
    value = column.mean if column.n else None  # a sum over nothing is 0, which is not a value either
    missed: tuple[tuple[str, float | None], ...] = ()
    if gate.per_sample:
        scores = zip(sample_ids, column.values.tolist(), strict=True)
        missed = tuple(
            (name, None if math.isnan(score) else score)
            for name, score in scores
            if (gate.of if math.isnan(score) else not rule.holds(score))
        )
        has_value, is_kept = bool(column.n), not missed
    else:
        has_value = value is not None
        is_mean = column.info.aggregate == "mean"
        is_plain = is_mean and column.weights is None
        is_kept = value is not None and rule.holds(value, column.counted if is_plain else ())
    among = set(sample_ids)
    leaks = () if has_value and is_kept else [leak for leak in column.info.leaks if leak["sample"] in among]
    return GateOutcome(
        gate=gate,
        leaks=tuple(str(Leak(**leak)) for leak in leaks),
        verdict="pass" if has_value and is_kept else "fail",
        value=value,
        aggregate=column.info.aggregate,
        counts=column.counts,
        reason="" if has_value else _without_value(column),
        missed=missed,
    )


def _without_value(column: MetricSummary) -> str:
    if column.failure:
        return column.failure
    n = len(column.values)
    first = next(iter(column.reasons.values()), "")
    none = "the only sample has no value" if n == 1 else f"none of the {counted(n, 'sample')} has a value"
    return f"{none}: {first}" if first else none


def _of_change(
    gate: Gate, rule: MaxDrop, sample_ids: Sequence[str], pairs: PairedColumn, clusters: Ints | None
) -> GateOutcome:
    """Judge a change of the mean; with `per_sample`, of every sample."""
    verdict, drop = judge_drop(rule, pairs, higher_is_better=pairs.info.higher_is_better, clusters=clusters)
    missed: tuple[tuple[str, float | None], ...] = ()
    if gate.per_sample:
        fallen = _fallen(gate, rule, sample_ids, pairs)
        missed = tuple((name, change) for name, change in fallen if name not in drop.edits.of_samples)
        verdict = "fail" if missed else "inconclusive" if drop.edits else "pass"
    return GateOutcome(gate=gate, verdict=verdict, value=drop.value, counts={"n": drop.n}, missed=missed, drop=drop)


def _fallen(
    gate: Gate, rule: MaxDrop, sample_ids: Sequence[str], pairs: PairedColumn
) -> tuple[tuple[str, float | None], ...]:
    """Return the samples that fell by more than the margin, with their differences; those named by id need a pair."""
    sign = 1.0 if pairs.info.higher_is_better else -1.0
    fallen: dict[str, float | None] = dict.fromkeys(gate.of)
    for name, before, difference in zip(sample_ids, pairs.baseline.tolist(), pairs.differences.tolist(), strict=True):
        margin = rule.margin * abs(before) if rule.is_relative else rule.margin
        if math.isnan(difference):
            continue
        if sign * difference < -margin - TIED:
            fallen[name] = difference
        else:
            fallen.pop(name, None)
    return tuple(fallen.items())
