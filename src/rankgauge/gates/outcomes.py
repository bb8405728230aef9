"""
Outcomes of gates: what became of each, as values and in one line of words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, Self

from rankgauge.base.frozen import freeze_fields
from rankgauge.base.plain_text import visible
from rankgauge.base.tables import Line
from rankgauge.catalog import Catalog
from rankgauge.comparison.gold_edits import GoldEdits
from rankgauge.comparison.sentences import p_value
from rankgauge.errors import counted, listed
from rankgauge.gates.asked import Decision
from rankgauge.gates.drop import Drop
from rankgauge.gates.grammar import Bound, Effect, Gate, MaxDrop, OfKind
from rankgauge.result import Result
from rankgauge.result.forms import as_json
from rankgauge.stats.estimates import TIED

__all__ = [
    "GateOutcome",
    "GateReport",
    "Status",
    "apart",
    "baseline_line",
    "counts_text",
    "edited_text",
    "gate_lines",
    "headline",
    "outcome_line",
    "summary_line",
]

Status = Literal["passed", "failed", "warned", "error"]

_ROUNDED = 1e-12
"""By how much `1 - confidence` may be off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateOutcome:
    """
    What became of one gate on one dataset.

    Attributes:
        gate: The gate; its metric is the name of a column, if there is one.

        dataset: The dataset or run.

        verdict: `pass` or `fail`; `inconclusive` for a change that too few samples leave open; `error` if the gate
            does not fit the data, so that it cannot be judged.

        value: The aggregate over the samples that the gate is for; None if there is none.

        aggregate: How samples become one number: `mean`, `sum`, `geometric` or the name of a plugin's.

        counts: How many samples count (`n`), and how many are `undefined`, `missing` and `failed`.

        reason: Why there is no value, or no verdict; or why the run is incomplete, so that no gate on it is passed.

        missed: With `per_sample`, the ids of the samples that miss the bound, with their values.

        drop: For a gate on a change, how the mean changed.

        leaks: For a gate on forbidden items that failed, the first that it counts, each with its sample and rank.

        decision: For a bound, what was decided while a system was called that was not called for every sample.

        finding: For a gate of a plugin's kind, what it says.

        by_numbers: What the verdict would be if the run were complete, if that alone makes it `fail`; else None.
    """

    gate: Gate
    dataset: str = ""
    verdict: Literal["pass", "fail", "inconclusive", "error"]
    value: float | None = None
    aggregate: str = "mean"
    counts: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""
    missed: tuple[tuple[str, float | None], ...] = ()
    drop: Drop | None = None
    leaks: tuple[str, ...] = ()
    decision: Decision | None = None
    by_numbers: Literal["pass", "inconclusive"] | None = None
    finding: str = ""

    def __post_init__(self) -> None:
        freeze_fields(self)

    @property
    def has_fallen(self) -> bool:
        """Return whether the mean of an open gate got worse for certain, by a one-sided test at the gate's level."""
        rule, p = self.gate.rule, None if self.drop is None else self.drop.p_fall
        return isinstance(rule, MaxDrop) and p is not None and p <= 1 - rule.confidence + _ROUNDED

    @property
    def is_open(self) -> bool:
        """Return whether too few samples leave it open, and that alone fails no run."""
        return self.verdict == "inconclusive" and self.status != "failed"

    @property
    def status(self) -> Status:
        """Return what the verdict does to a run, after the gate's `level` and `inconclusive`."""
        rule = self.gate.rule
        is_open = self.verdict == "inconclusive" and not isinstance(rule, Bound)
        effect: Effect = rule.inconclusive if is_open and not isinstance(rule, Bound) else "fail"
        if effect == "fell":
            effect = "fail" if self.has_fallen else "warn"
        if self.verdict == "error":
            return "error"
        if self.verdict == "pass" or effect == "pass":
            return "passed"
        return "warned" if "warn" in {effect, self.gate.level} else "failed"

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome in plain values, as reports hold it; `GateReport.json_schema` describes its keys."""
        from rankgauge.gates.stored import gate_by_name  # which start-up does not wait for

        rule = self.gate.rule
        bound: dict[str, Any] = {rule.word: str(rule)} if isinstance(rule, MaxDrop) else {}
        if isinstance(rule, Bound):
            bound = {rule.side: rule.number}
        elif isinstance(rule, OfKind):
            kind, provider = rule.claim.declaration, rule.claim.provider
            by = f"{provider.distribution} {provider.version}".strip() or "this process"
            bound = {rule.word: rule.number, "kind": {"version": kind.version, "by": by}, "finding": self.finding}
        return {
            "gate": str(self.gate),
            "dataset": self.dataset,
            "metric": self.gate.metric,
            **gate_by_name(self.gate),
            **bound,
            "value": self.value,
            "aggregate": self.aggregate,
            **{name if name == "n" else f"n_{name}": count for name, count in self.counts.items()},
            "verdict": self.verdict,
            "by_numbers": self.by_numbers,
            "status": self.status,
            "passed": self.verdict == "pass",
            "reason": self.reason,
            **({"missed": dict(self.missed)} if self.gate.per_sample else {}),
            **({"missed_ids": [name for name, _ in self.missed]} if self.gate.per_sample else {}),
            **({} if self.drop is None else {"change": self.drop.to_dict()}),
            **({"leaks": list(self.leaks)} if self.leaks else {}),
            **({} if self.decision is None else {"decision": self.decision._asdict()}),
        }


@dataclass(frozen=True, slots=True)
class GateReport:
    """
    What became of all gates.

    Attributes:
        outcomes: One outcome for each gate and dataset, in order.

        ids_changed: The datasets whose retrieved ids are new, so that nothing can be said of the ranking, with a
            sentence for each.
    """

    outcomes: tuple[GateOutcome, ...] = ()
    ids_changed: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        freeze_fields(self)

    def of(self, status: Status) -> tuple[GateOutcome, ...]:
        """Return the outcomes with a status."""
        return tuple(outcome for outcome in self.outcomes if outcome.status == status)

    @property
    def exit_code(self) -> int:
        """Return 2 if a gate cannot be judged or ids changed, 1 if one failed, else 0."""
        return 2 if self.ids_changed or self.of("error") else 1 if self.of("failed") else 0

    def to_dict(self) -> dict[str, Any]:
        """
        Return the report as one JSON object, for a column of a database or a request.

        Returns:
            `schema_version`, `exit_code`, `ids_changed`, and `outcomes` with what ``--json`` prints of each. Keys are
            only ever added; `json_schema` describes them.

        Raises:
            ResultError: A text in it is no Unicode.
        """
        from rankgauge.gates.stored import REPORT_VERSION  # as above

        found: dict[str, Any] = as_json(
            "the report of gates",
            {
                "schema_version": REPORT_VERSION,
                "exit_code": self.exit_code,
                "outcomes": [outcome.to_dict() for outcome in self.outcomes],
                "ids_changed": self.ids_changed,
            },
        )
        return found

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, catalog: Catalog | None = None) -> Self:
        """
        Return the report that `to_dict` wrote.

        Args:
            data: What it returned, also after a round trip through JSON, in whatever order of keys.

            catalog: Where kinds of gates that plugins declare are looked up; by default in everything that is
                installed. A report is also read where its kinds are not at hand, since nothing is judged again.

        Returns:
            The report, equal to the one that was stored.

        Raises:
            ResultError: It is not a stored report, is damaged, or was stored in the form of a later version.
        """
        from rankgauge.gates.stored import read_report  # as above

        outcomes, changed = read_report(data, catalog)
        return cls(tuple(GateOutcome(**fields) for fields in outcomes), changed)

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """Return the JSON Schema of what `to_dict` returns."""
        from rankgauge.gates.stored import report_schema  # as above

        return report_schema()


_WORDS = {"passed": "ok", "failed": "MISSED", "warned": "warn", "error": "ERROR"}
_OPEN = "open"
_SAMPLES = 5


_ALIGNED = 40
"""How long a subject may be to make room for others to be in a column with it."""

_ROLES = {"passed": "good", "failed": "bad", "warned": "open", "error": "bad"}


def gate_lines(report: GateReport) -> Iterator[Line]:
    """Yield a line for each gate, by dataset if there are several, and last the verdict on all of them."""
    several = len({outcome.dataset for outcome in report.outcomes}) > 1
    parts = [(_word(outcome), visible(_subject(outcome, of_dataset=several))) for outcome in report.outcomes]
    widest = max((len(subject) for _, subject in parts if len(subject) <= _ALIGNED), default=0)
    for outcome, (word, subject) in zip(report.outcomes, parts, strict=True):
        text = f"{word:<6} {f'{subject}:':<{widest + 1}} {visible(_finding(outcome))}"
        yield Line(text, _ROLES[outcome.status], word)
    worst = next(status for status in ("error", "failed", "warned", "passed") if report.of(status))
    yield Line(summary_line(report), _ROLES[worst])


def summary_line(report: GateReport) -> str:
    """Say how many gates passed: ``1 of 3 gates failed, 1 open``, or ``no gate failed: 2 passed, 1 open``."""
    n, passed = len(report.outcomes), len(report.of("passed"))
    if passed == n:
        return "the gate passed" if n == 1 else f"all {n} gates passed"
    counts = {"cannot be judged": len(report.of("error")), "failed": len(report.of("failed"))}
    parts = [f"{'the gate' if n == 1 else f'{count} of {n} gates'} {word}" for word, count in counts.items() if count]
    warned = report.of("warned")
    is_open = sum(outcome.is_open for outcome in warned)
    rest = [f"{is_open} open"] if is_open else []
    rest += [counted(len(warned) - is_open, "warning")] if len(warned) > is_open else []
    if parts:
        return ", ".join(parts + rest)
    return f"no gate failed: {', '.join([f'{passed} passed'] * bool(passed) + rest)}"


def outcome_line(outcome: GateOutcome, *, of_dataset: bool = False) -> str:
    """Say how a gate came out: ``MISSED ndcg@10: 0.3155 is below the minimum 0.42 (mean of n=3, 1 undefined)``."""
    return visible(f"{_word(outcome):<6} {headline(outcome, of_dataset=of_dataset)}")


def _word(outcome: GateOutcome) -> str:
    return _OPEN if outcome.is_open else _WORDS[outcome.status]


def headline(outcome: GateOutcome, *, of_dataset: bool = False) -> str:
    """Say the same without the word in front."""
    return f"{_subject(outcome, of_dataset=of_dataset)}: {_finding(outcome)}"


def _subject(outcome: GateOutcome, *, of_dataset: bool) -> str:
    """Return what a gate is about."""
    gate = outcome.gate
    dataset = f"{outcome.dataset}: " if of_dataset else ""
    where = f" where {gate.where}" if gate.where else ""
    of = f" of {', '.join(gate.of)}" if gate.of and not gate.per_sample else ""
    return f"{dataset}{gate.metric}{where}{of}"


def _finding(outcome: GateOutcome) -> str:
    """Say what the numbers are; the first rule that fits decides."""
    rule = outcome.gate.rule
    if outcome.by_numbers is not None:
        alone = replace(outcome, verdict=outcome.by_numbers, by_numbers=None, reason="")
        return f"{_finding(alone)}, but {outcome.reason}"
    if outcome.verdict == "error":
        return f"cannot be judged: {outcome.reason}"
    if isinstance(rule, MaxDrop) and outcome.drop is None:
        return outcome.reason
    if isinstance(rule, OfKind):
        held = f"{outcome.finding} ({counts_text(outcome.counts)})"
        return held if outcome.finding else f"no value for {rule.word} {rule}: {outcome.reason} {_denominator(outcome)}"
    if isinstance(rule, Bound) and outcome.value is None:
        return f"no value for {_bound(rule)}: {outcome.reason} {_denominator(outcome)}"
    if outcome.gate.per_sample:
        return _of_samples(outcome, rule)
    if isinstance(rule, MaxDrop):
        return _of_change(outcome, rule)
    if (decision := outcome.decision) is not None and decision.verdict != "open":
        return _of_decision(outcome, rule, decision)
    mean = outcome.value or 0.0
    if outcome.verdict == "pass" and abs(mean - rule.number) <= TIED:
        mean = rule.number  # what differs is rounding
    value, limit = apart(mean, rule.number)
    meets = "meets" if outcome.verdict == "pass" else f"is {_beyond(rule)}"
    leaks = f": {listed(outcome.leaks, _SAMPLES)}" if outcome.leaks else ""
    return f"{value} {meets} {_bound(rule, limit)} {_denominator(outcome)}{leaks}"


def _of_decision(outcome: GateOutcome, rule: Bound, decision: Decision) -> str:
    """Say what a part of the samples decided of all of them."""
    meets = "meets" if outcome.verdict == "pass" else f"is {_beyond(rule)}"
    looked = f"decided after {decision.after:,} in random order"
    sure = f"at most {decision.level * 100:.3g} % of such decisions are wrong"
    called = f"of those called, {outcome.value or 0.0:.4f} is the {outcome.aggregate} ({counts_text(outcome.counts)})"
    return f"the mean of all {counted(decision.of, 'sample')} {meets} {_bound(rule)}, {looked}: {sure}; {called}"


def _bound(rule: Bound, limit: str = "") -> str:
    return f"the {'maximum' if rule.side == 'maximum' else 'minimum'} {limit or f'{rule.number:g}'}"


def _beyond(rule: Bound) -> str:
    return "above" if rule.side == "maximum" else "below"


def _denominator(outcome: GateOutcome) -> str:
    decision = outcome.decision
    called = ""
    if decision is not None:
        part = "all" if decision.after == decision.of else f"{decision.after:,} of"
        called = f"; {part} {counted(decision.of, 'sample')} were called"
    return f"({outcome.aggregate} of {counts_text(outcome.counts)}{called})"


def _of_change(outcome: GateOutcome, rule: MaxDrop) -> str:
    """Say how a mean changed: what it was, what it is, and how sure that is."""
    drop = outcome.drop
    if drop is None:
        return outcome.reason
    digits = 4 if max(abs(drop.difference), drop.margin) >= 1e-4 or not drop.difference else 8
    change = f"{drop.value:.{digits}f} against {drop.baseline:.{digits}f}, {drop.difference:+.{digits}f}"
    margin = f"the margin {rule} ({drop.margin:.4g})" if rule.is_relative else f"the margin {drop.margin:.4g}"
    edited = drop.dropped.get("other_ground_truth", 0)
    left_out = f"{counted(edited, 'sample')} with other ground truth left out" if edited else ""
    notes = "; ".join(filter(None, [f"n={drop.n}", drop.note, left_out]))
    if drop.edits:
        return f"{change}, not judged against {margin}: {edited_text(drop.edits, drop.n)} ({notes})"
    if drop.worst is None or drop.best is None:
        within = {"pass": "within", "fail": "beyond", "inconclusive": "open at"}[outcome.verdict]
        notes += f"; {_needed(drop)}" if drop.short_lists else ""
        return f"{change}, {within} {margin} ({notes})"
    low, high = sorted((drop.worst, drop.best))
    sure = f"one-sided {rule.confidence * 100:g} % bounds: {low:+.{digits}f} to {high:+.{digits}f} ({notes})"
    fell = "fell" if drop.worst < drop.best else "rose"
    if outcome.has_fallen:
        change = f"{drop.value:.{digits}f} against {drop.baseline:.{digits}f}, {fell} for certain, by about"
        by = f"{abs(drop.difference):.{digits}f} (one-sided p {p_value(drop.p_fall)})"
        return f"{change} {by}; whether by more than {margin} is open, {_needed(drop)}; {sure}"
    if outcome.verdict == "inconclusive":
        allowed = f"{drop.margin if drop.worst > drop.best else -drop.margin:+.{digits}f}"
        change = f"{drop.value:.{digits}f} against {drop.baseline:.{digits}f}, observed {drop.difference:+.{digits}f}"
        allowed += f" ({rule})" if rule.is_relative else ""
        unknown = "not judged" if drop.short_lists else f"{counted(drop.n, 'sample')} cannot tell"
        if drop.p_fall is not None and not drop.short_lists:
            unknown += f", nor whether it {fell} at all (one-sided p {p_value(drop.p_fall)})"
        return f"{change}, allowed {allowed}: {unknown}, {_needed(drop)}; {sure}"
    return f"{change}, {'within' if outcome.verdict == 'pass' else 'worse by more than'} {margin}: {sure}"


def edited_text(edits: GoldEdits, n: int) -> str:
    """Say which gold documents of *n* pairs changed since the baseline, and what to do."""
    others = n - len(edits.of_samples)
    rest = f"judge the other {counted(others, 'sample')} with common unchanged, or " if others else ""
    return f"{edits} since the baseline, so that the corpus may be why; {rest}save a new baseline"


def _needed(drop: Drop) -> str:
    if drop.short_lists:
        advice = "retrieve more, or short_lists allow"
        return f"because rankings ended before the budget ({drop.short_lists}); {advice}"
    if drop.needed is None:
        return "and no number of samples decides"
    if drop.needed <= drop.n:
        return "because the change lies close to the margin"
    return f"about {drop.needed:,} samples would decide"


def _of_samples(outcome: GateOutcome, rule: Bound | MaxDrop) -> str:
    """Say how many samples miss a gate that each has to meet, and name the first with their values."""
    edits = None if outcome.drop is None else outcome.drop.edits
    if outcome.verdict == "inconclusive" and edits:
        return f"not judged: {edited_text(edits, outcome.counts['n'])}"
    missed = len(outcome.missed)
    n = len(outcome.gate.of) or outcome.counts["n"]
    if isinstance(rule, MaxDrop):
        kept = f"none of {counted(n, 'sample')} fell by more than {rule}"
        fell = f"fell by more than {rule}"
        values = ["no pair of scores" if change is None else f"{change:+.4f}" for _, change in outcome.missed]
    else:
        kept = f"{'the sample meets' if n == 1 else f'all {n:,} samples meet'} {_bound(rule)}"
        fell = f"{'is' if missed == 1 else 'are'} {_beyond(rule)} {_bound(rule)}"
        values = ["no value" if value is None else apart(value, rule.number)[0] for _, value in outcome.missed]
    if not missed:
        return kept
    samples = [f"{name} ({value})" for (name, _), value in zip(outcome.missed, values, strict=True)]
    shown = outcome.leaks or samples
    apart_from = f"; not judged: {edits}" if edits else ""
    return f"{missed:,} of {counted(n, 'sample')} {fell}: {listed(shown, _SAMPLES)}{apart_from}"


def counts_text(counts: Mapping[str, int]) -> str:
    """Return the denominator and what is not in it: ``n=3, 1 undefined``."""
    return ", ".join([f"n={counts['n']}", *(f"{n} {status}" for status, n in counts.items() if status != "n" and n)])


def apart(value: float, bound: float) -> tuple[str, str]:
    """Return both numbers with enough digits to tell them apart, at least four for the value."""
    for digits in range(4, 17):
        shown = f"{value:.{digits}f}"
        if value == bound or float(shown) != bound:
            return shown, f"{bound:g}"
    return repr(value), repr(bound)


def baseline_line(baseline: Mapping[str, Result], *, now: datetime | None = None) -> str:
    """Say which baseline it is: ``baseline main.json: saved 3 days ago, commit 1a2b3c4d5e``."""
    manifest = next(iter(baseline.values())).manifest if baseline else {}
    parts = [f"saved {_ago(manifest['created_at'], now or datetime.now(UTC))}"] if manifest.get("created_at") else []
    parts += [f"commit {manifest['commit'][:10]}"] if manifest.get("commit") else []
    if "scores" in manifest:
        parts = ["scores of another tool, whose judgments, policy and version are not recorded"]
    return f"baseline {manifest.get('baseline', '')}{': ' if parts else ''}{', '.join(parts)}"


def _ago(created_at: str, now: datetime) -> str:
    """Return how long ago something was, in the unit that a reader thinks in."""
    try:
        seconds = (now - datetime.fromisoformat(created_at)).total_seconds()
    except (ValueError, TypeError):  # a hand-written time, or one without a zone
        return visible(created_at)
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            return f"{counted(int(seconds // length), unit)} ago"
    return "just now"
