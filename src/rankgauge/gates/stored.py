"""
The form in which reports of gates are stored: what `GateReport.to_dict` writes, read again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal, NoReturn, NotRequired, TypedDict

from rankgauge.catalog import Catalog, Claim
from rankgauge.catalog.claims import Provider
from rankgauge.comparison.differences import ShortLists
from rankgauge.comparison.gold_edits import NO_EDITS, GoldEdits
from rankgauge.comparison.pairing import DROPPED, Common
from rankgauge.errors import CatalogError, ResultError
from rankgauge.gates.asked import Decision
from rankgauge.gates.drop import Drop
from rankgauge.gates.grammar import Bound, Effect, Gate, MaxDrop, OfKind, Side, Where, Word
from rankgauge.plugin.gate_kind import GateKind
from rankgauge.result.forms import DAMAGED, check_version, read, schema

__all__ = ["REPORT_VERSION", "StoredReport", "gate_by_name", "read_report", "report_schema"]

REPORT_VERSION = "rankgauge.gates.v1"


class _Bound(TypedDict):
    """
    A bound of a mean.

    Attributes:
        type: Which rule it is.

        number: The bound, which is within.

        side: Whether it is a `minimum` or a `maximum`.
    """

    type: Literal["bound"]
    number: float
    side: Side


class _Change(TypedDict):
    """
    A bound of a change against a baseline.

    Attributes:
        type: Which rule it is.

        word: How it is written: `max_drop`, or `not_worse`, which asks for proof.

        margin: By how much the mean may get worse, in the unit of the metric, or as a share of the baseline's mean.

        is_relative: Whether it is a share.

        confidence: Of the one-sided bound of the difference.

        inconclusive: What an open gate does.

        common: Which samples are compared.

        short_lists: Whether a change is judged whose loser does not fill the budget.
    """

    type: Literal["change"]
    word: Word
    margin: float
    is_relative: bool
    confidence: float
    inconclusive: Effect
    common: Common
    short_lists: ShortLists


class _Provider(TypedDict):
    """
    Who provides something.

    Attributes:
        distribution: The distribution; empty for what was given in Python.

        version: Its version.

        plugin: The name of its entry point.

        file: Where it is defined.

        line: On which line.
    """

    distribution: str
    version: str
    plugin: str
    file: str
    line: int


class _OfKind(TypedDict):
    """
    A rule of a kind that a plugin declares.

    Attributes:
        type: Which rule it is.

        word: The word in gates.

        version: The version that the kind declares.

        takes: What it is given beside the scores and the number.

        provider: Who provides it.

        number: What scores are held to.

        inconclusive: What an open gate does.

        common: Which samples are compared, for a kind that compares.
    """

    type: Literal["kind"]
    word: str
    version: str
    takes: tuple[str, ...]
    provider: _Provider
    number: float
    inconclusive: Effect
    common: Common


class _Ends(TypedDict):
    """
    One-sided bounds of a difference.

    Attributes:
        worst: In the direction that is worse; null without spread.

        best: In the direction that is better.
    """

    worst: float | None
    best: float | None


class _Edits(TypedDict):
    """
    Gold documents whose text changed since the baseline.

    Attributes:
        documents: Each document once.

        samples: The samples that have any.

        of_samples: Each of these samples with its documents.
    """

    documents: tuple[str, ...]
    samples: tuple[str, ...]
    of_samples: tuple[tuple[str, tuple[str, ...]], ...]


class _Drop(TypedDict):
    """
    How a mean changed against a baseline, over the samples that both have.

    Attributes:
        n: How many pairs of scores.

        baseline_mean: The baseline's mean.

        mean: The mean now.

        difference: The mean now minus the baseline's.

        margin: By how much it may be worse, in the unit of the metric.

        bounds: The one-sided bounds of the difference.

        needed: With how many samples the gate would be decided; null if no number would do.

        p_fall: Of an open gate on a mean that got worse, the one-sided p that it did; else null.

        short_lists: Where rankings ended before the budget, if that leaves the gate open.

        changed_documents: The gold documents whose text changed, if that leaves the gate open.

        dropped: How many samples make no pair, by reason.

        note: What a reader should know of the bounds.
    """

    n: int
    baseline_mean: float
    mean: float
    difference: float
    margin: float
    bounds: _Ends
    needed: int | None
    p_fall: float | None
    short_lists: NotRequired[str]
    changed_documents: NotRequired[_Edits]
    dropped: Mapping[str, int]
    note: str


class _Outcome(TypedDict):
    """
    What became of one gate on one dataset.

    Attributes:
        gate: The gate, as it is written.

        dataset: The dataset or run.

        metric: The name of the column.

        rule: What the metric is held to.

        for_dataset: The dataset that the gate names; empty if it holds for each.

        where: The field and the value that samples have which the gate is for; null for all.

        of: The ids of the samples that it is for; empty for all.

        per_sample: Whether each sample has to meet it.

        level: What a miss does.

        until: Whether a system was called only until it was decided.

        origin: Where it was written; empty if that is not known.

        minimum: Of a bound, the lowest mean that passes.

        maximum: Of a bound, the highest mean that passes.

        max_drop: Of a change, the margin as it is written.

        not_worse: The same, of a gate that asks for proof.

        value: The aggregate; null if there is none.

        aggregate: How samples become one number.

        n: How many samples count.

        n_undefined: How many are undefined.

        n_missing: How many have no output.

        n_failed: How many failed.

        verdict: What the numbers say.

        by_numbers: What they would say if the run were complete, if that alone makes it fail; else null.

        status: What the verdict does to a run.

        passed: Whether the verdict is `pass`.

        reason: Why there is no value or verdict, or why the run is incomplete.

        missed: With `per_sample`, the samples that miss it, with their values.

        missed_ids: With `per_sample`, the same samples in order.

        change: Of a change, how the mean changed.

        leaks: Forbidden items that it counts.

        decision: What was decided before every sample was called.

        finding: Of a plugin's kind, what it says.
    """

    gate: str
    dataset: str
    metric: str
    rule: _Bound | _Change | _OfKind
    for_dataset: str
    where: tuple[str, str] | None
    of: tuple[str, ...]
    per_sample: bool
    level: Literal["fail", "warn"]
    until: bool
    origin: str
    minimum: NotRequired[float]
    maximum: NotRequired[float]
    max_drop: NotRequired[str]
    not_worse: NotRequired[str]
    value: float | None
    aggregate: str
    n: NotRequired[int]
    n_undefined: NotRequired[int]
    n_missing: NotRequired[int]
    n_failed: NotRequired[int]
    verdict: Literal["pass", "fail", "inconclusive", "error"]
    by_numbers: Literal["pass", "inconclusive"] | None
    status: Literal["passed", "failed", "warned", "error"]
    passed: bool
    reason: str
    missed: NotRequired[Mapping[str, float | None]]
    missed_ids: NotRequired[tuple[str, ...]]
    change: NotRequired[_Drop]
    leaks: NotRequired[tuple[str, ...]]
    decision: NotRequired[Decision]
    finding: NotRequired[str]


class StoredReport(TypedDict):
    """
    What became of all gates, as `GateReport.to_dict` writes it; keys are only ever added.

    Attributes:
        exit_code: 2 if a gate cannot be judged or ids changed, 1 if one failed, else 0.

        outcomes: One outcome for each gate and dataset, in order.

        ids_changed: The datasets whose retrieved ids are new, with a sentence for each.
    """

    exit_code: int
    outcomes: tuple[_Outcome, ...]
    ids_changed: Mapping[str, str]


def report_schema() -> dict[str, Any]:
    """Return the JSON Schema of a stored report."""
    return schema("gate-report:1", "rankgauge gate report", StoredReport, version=REPORT_VERSION)


def gate_by_name(gate: Gate) -> dict[str, Any]:
    """Return the parts of a gate by name, as an outcome has them."""
    rule = gate.rule
    if isinstance(rule, OfKind):
        kind = rule.claim.declaration
        parts: dict[str, Any] = {
            "type": "kind",
            "word": kind.name,
            "version": kind.version,
            "takes": sorted(kind.takes),
            "provider": asdict(rule.claim.provider),
            "number": rule.number,
            "inconclusive": rule.inconclusive,
            "common": rule.common,
        }
    else:
        parts = {"type": "bound" if isinstance(rule, Bound) else "change", **asdict(rule)}
    return {
        "rule": parts,
        "for_dataset": gate.dataset,
        "where": None if gate.where is None else list(gate.where),
        "of": list(gate.of),
        "per_sample": gate.per_sample,
        "level": gate.level,
        "until": gate.until,
        "origin": gate.origin,
    }


def read_report(data: object, catalog: Catalog | None) -> tuple[list[dict[str, Any]], Mapping[str, str]]:
    """Return the fields of each outcome of a stored report, and the datasets whose ids changed."""
    check_version("the stored report of gates", data, REPORT_VERSION)
    try:
        report = read("the report", data, StoredReport)
        return [_fields(outcome, catalog) for outcome in report["outcomes"]], report["ids_changed"]
    except DAMAGED as error:
        why = f"{type(error).__name__}: {error}"
        raise ResultError(f"this is not a stored report of gates that can be read: {why}") from error


def _fields(stored: Mapping[str, Any], catalog: Catalog | None) -> dict[str, Any]:
    """Return the fields of an outcome."""
    shared = ("dataset", "verdict", "value", "aggregate", "reason", "by_numbers")
    of_gate = ("metric", "of", "per_sample", "level", "until", "origin")
    where = None if stored["where"] is None else Where(*stored["where"])
    rule, dataset = _rule(stored["rule"], catalog), stored["for_dataset"]
    gate = Gate(rule=rule, dataset=dataset, where=where, **{name: stored[name] for name in of_gate})
    counts = {name: f"n_{name}" for name in ("undefined", "missing", "failed")}
    missed = stored.get("missed", {})
    return {
        **{name: stored[name] for name in shared},
        "gate": gate,
        "counts": {name: stored[key] for name, key in {"n": "n", **counts}.items() if key in stored},
        "missed": tuple((name, missed[name]) for name in stored.get("missed_ids", ())),
        "drop": _drop(stored["change"]) if "change" in stored else None,
        "leaks": stored.get("leaks", ()),
        "decision": stored.get("decision"),
        "finding": stored.get("finding", ""),
    }


def _rule(stored: Mapping[str, Any], catalog: Catalog | None) -> Bound | MaxDrop | OfKind:
    parts = {name: part for name, part in stored.items() if name != "type"}
    if stored["type"] == "bound":
        return Bound(**parts)
    if stored["type"] == "change":
        return MaxDrop(**parts)
    return OfKind(_kind(parts, catalog), parts["number"], parts["inconclusive"], parts["common"])


def _kind(stored: Mapping[str, Any], catalog: Catalog | None) -> Claim[GateKind]:
    """Return the kind of gates that a report was judged by; one that is not at hand is known, but cannot be called."""
    by = Provider(**stored["provider"])
    try:
        here = (catalog or Catalog.installed()).gate_kind(stored["word"])
    except CatalogError:
        pass
    else:
        there = (here.provider.distribution, here.provider.version, here.declaration.version)
        if there == (by.distribution, by.version, stored["version"]):
            return here

    def absent(*_: object, **__: object) -> NoReturn:
        raise ResultError(
            f"the kind of gates {stored['word']!r} of {by} is not at hand; install it, or give its catalog"
        )

    return Claim(GateKind(stored["word"], absent, stored["version"], frozenset(stored["takes"])), by, "gate kind")


def _drop(stored: Mapping[str, Any]) -> Drop:
    same = ("n", "difference", "margin", "needed", "p_fall", "note")
    return Drop(
        **{name: stored[name] for name in same},
        baseline=stored["baseline_mean"],
        value=stored["mean"],
        worst=stored["bounds"]["worst"],
        best=stored["bounds"]["best"],
        short_lists=stored.get("short_lists", ""),
        edits=GoldEdits(dict(stored["changed_documents"]["of_samples"])) if "changed_documents" in stored else NO_EDITS,
        dropped={reason: stored["dropped"].get(reason, 0) for reason in DROPPED},
    )
