"""
Gates in words: one line for each outcome, for terminals, test reports and Markdown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import visible
from rankgauge.errors import counted, listed
from rankgauge.gates.grammar import Bound, MaxDrop

if TYPE_CHECKING:
    from rankgauge.gates.drop import Drop
    from rankgauge.gates.outcomes import GateOutcome, GateReport
    from rankgauge.result import ResultValues

__all__ = ["apart", "baseline_line", "counts_text", "gate_lines", "headline", "outcome_line", "summary_line"]

_WORDS = {"passed": "ok", "failed": "MISSED", "warned": "warn", "error": "ERROR"}
_OPEN = "open"
_SAMPLES = 5


def gate_lines(report: GateReport) -> Iterator[str]:
    """Yield the verdict on all gates, then a line for each, by dataset where there are several."""
    yield summary_line(report)
    several = len({outcome.dataset for outcome in report.outcomes}) > 1
    for outcome in report.outcomes:
        yield outcome_line(outcome, of_dataset=several)


def summary_line(report: GateReport) -> str:
    """Say how many gates passed: ``1 of 3 gates failed, 1 warning``."""
    n = len(report.outcomes)
    parts = []
    if errors := len(report.of("error")):
        parts.append(f"{_share(errors, n)} cannot be judged")
    if failed := len(report.of("failed")):
        parts.append(f"{_share(failed, n)} failed")
    if warned := len(report.of("warned")):
        parts.append(counted(warned, "warning"))
    return ", ".join(parts) or ("the gate passed" if n == 1 else f"all {n} gates passed")


def _share(part: int, n: int) -> str:
    return "the gate" if n == 1 else f"{part} of {n} gates"


def outcome_line(outcome: GateOutcome, *, of_dataset: bool = False) -> str:
    """Say how a gate came out: ``MISSED ndcg@10: 0.3155 is below the minimum 0.42 (mean of n=3, 1 undefined)``."""
    word = _OPEN if outcome.verdict == "inconclusive" and outcome.status != "failed" else _WORDS[outcome.status]
    return visible(f"{word:<6} {headline(outcome, of_dataset=of_dataset)}")


def headline(outcome: GateOutcome, *, of_dataset: bool = False) -> str:
    """Say the same without the word in front."""
    gate = outcome.gate
    scope = [f"where {gate.where}"] if gate.where else []
    scope += [f"of {', '.join(gate.of)}"] if gate.of and not gate.per_sample else []
    place = f"{outcome.dataset}: " if of_dataset else ""
    about = f" {' '.join(scope)}" if scope else ""
    return f"{place}{gate.metric}{about}: {_told(outcome)}"


def _told(outcome: GateOutcome) -> str:
    rule = outcome.gate.rule
    if outcome.verdict == "error":
        return f"cannot be judged: {outcome.reason}"
    how = f"({outcome.aggregate} of {counts_text(outcome.counts)})"
    if isinstance(rule, MaxDrop):
        return _of_change(outcome, rule)
    side = "maximum" if rule.side == "maximum" else "minimum"
    if outcome.value is None:
        return f"no value for the {side} {rule.number:g}: {outcome.reason} {how}"
    beyond = "above" if rule.side == "maximum" else "below"
    if outcome.gate.per_sample:
        return _of_each(outcome, side, beyond, rule)
    value, limit = apart(outcome.value, rule.number)
    return f"{value} {'keeps' if outcome.verdict == 'pass' else f'is {beyond}'} the {side} {limit} {how}"


def _of_change(outcome: GateOutcome, rule: MaxDrop) -> str:
    """Say how a mean changed: what it was, what it is, and how sure that is."""
    drop = outcome.drop
    if drop is None:
        return outcome.reason
    if outcome.gate.per_sample:
        return _of_each_change(outcome, rule)
    digits = 4 if max(abs(drop.difference), drop.margin) >= 1e-4 or not drop.difference else 8
    told = f"{drop.value:.{digits}f} against {drop.baseline:.{digits}f}, {drop.difference:+.{digits}f}"
    margin = f"{drop.margin:.4g}" if not rule.is_relative else f"{rule} ({drop.margin:.4g})"
    sure = f"{rule.confidence * 100:g} %"
    n = f"n={drop.n}"
    if drop.worst is None or drop.best is None:
        within = {"pass": "within", "fail": "beyond", "inconclusive": "open at"}[outcome.verdict]
        return f"{told}, {within} the margin {margin} ({n}; {drop.note})"
    bounds = f"at {sure} it is {drop.worst:+.{digits}f} at worst and {drop.best:+.{digits}f} at best"
    note = f"; {drop.note}" if drop.note else ""
    if outcome.verdict == "pass":
        return f"{told}, within the margin {margin}: {bounds} ({n}{note})"
    if outcome.verdict == "fail":
        return f"{told}, worse by more than the margin {margin}: {bounds} ({n}{note})"
    more = "no number of samples decides" if drop.needed is None else _needed(drop)
    return f"{told}, too few samples to tell it from the margin {margin}: {bounds} ({n}{note}; {more})"


def _needed(drop: Drop) -> str:
    if drop.needed is None or drop.needed <= drop.n:
        return "the change lies close to the margin"
    return f"about {drop.needed:,} samples would decide"


def _of_each_change(outcome: GateOutcome, rule: MaxDrop) -> str:
    n = len(outcome.gate.of) or outcome.counts["n"]
    if not outcome.missed:
        return f"none of {counted(n, 'sample')} fell by more than {rule}"
    told = _listed(outcome, lambda change: "no pair of scores" if change is None else f"{change:+.4f}")
    return f"{len(outcome.missed):,} of {counted(n, 'sample')} fell by more than {rule}: {told}"


def _of_each(outcome: GateOutcome, side: str, beyond: str, rule: Bound) -> str:
    n = len(outcome.gate.of) or outcome.counts["n"]
    if not outcome.missed:
        return f"{'the sample keeps' if n == 1 else f'all {n:,} samples keep'} the {side} {rule.number:g}"
    are = "is" if len(outcome.missed) == 1 else "are"
    told = _listed(outcome, lambda value: "no value" if value is None else apart(value, rule.number)[0])
    return f"{len(outcome.missed):,} of {counted(n, 'sample')} {are} {beyond} the {side} {rule.number:g}: {told}"


def _listed(outcome: GateOutcome, shown: Callable[[float | None], str]) -> str:
    """Return the first samples that miss a gate, each with its value, and how many more there are."""
    return listed([f"{name} ({shown(value)})" for name, value in outcome.missed], _SAMPLES)


def counts_text(counts: Mapping[str, int]) -> str:
    """Return the denominator and what is not in it: ``n=3, 1 undefined``."""
    rest = [f"{count} {name}" for name, count in counts.items() if name != "n" and count]
    return ", ".join([f"n={counts['n']}", *rest])


def apart(value: float, bound: float) -> tuple[str, str]:
    """Return both numbers with enough digits to tell them apart, at least four for the value."""
    limit = f"{bound:g}"
    for digits in range(4, 17):
        shown = f"{value:.{digits}f}"
        if value == bound or float(shown) != bound:
            return shown, limit
    return repr(value), repr(bound)


def baseline_line(baseline: Mapping[str, ResultValues], *, now: datetime | None = None) -> str:
    """Say which baseline it is: ``baseline main.json: saved 3 days ago, commit 1a2b3c4d5e``."""
    manifest = next(iter(baseline.values())).manifest if baseline else {}
    parts = [f"saved {_ago(manifest['created_at'], now or datetime.now(UTC))}"] if manifest.get("created_at") else []
    parts += [f"commit {manifest['commit'][:10]}"] if manifest.get("commit") else []
    told = ", ".join(parts)
    return f"baseline {manifest.get('baseline', '')}{': ' if told else ''}{told}"


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
