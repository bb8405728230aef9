"""
`Finding` and `Preflight`: the results of checking a run against its judgments, as values that print themselves.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rankgauge.base.frozen import freeze_fields, plain_fields
from rankgauge.base.plain_text import visible
from rankgauge.base.tables import preformatted
from rankgauge.errors import counted

__all__ = ["About", "Finding", "Preflight", "Severity"]

Severity = Literal["error", "warning", "info"]
About = Literal["judgments", "run", "both"]

_SHOWN, _SHOWN_LINES = 5, 50  # how many examples are printed, and how many unreadable lines
_SHORT = 24  # the longest examples that are printed side by side
_WIDTH = 110
_INDENT = " " * 9


@dataclass(frozen=True, slots=True)
class Finding:
    """
    One thing that was found.

    Attributes:
        code: A stable name, such as ``query-overlap``.

        severity: `error` if the evaluation would fail or mean nothing, `warning` if numbers may surprise, or `info`.

        about: What it is about: the `judgments`, the `run`, or `both`.

        message: What was found, with numbers.

        advice: What to do about it.

        counts: The numbers, by name.

        examples: Where to look: some places, or all lines that could not be read.
    """

    code: str
    severity: Severity
    about: About
    message: str
    advice: str = ""
    counts: Mapping[str, float] = field(default_factory=dict)
    examples: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        freeze_fields(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        plain: dict[str, Any] = plain_fields(self)
        return plain

    def lines(self) -> Iterator[str]:
        """Yield the lines of the finding as text."""
        mark = self.severity.upper() if self.severity == "error" else self.severity
        yield from _wrapped(f"{mark:<8} {self.code}: {self.message}", _INDENT)
        yield from self._example_lines()
        if self.advice:
            yield from _wrapped(f"{_INDENT}-> {self.advice}", f"{_INDENT}   ")

    def _example_lines(self) -> Iterator[str]:
        if self.examples and max(map(len, self.examples)) <= _SHORT:
            more = ["..."] if len(self.examples) > _SHOWN else []
            yield from _wrapped(f"{_INDENT}  {', '.join([*self.examples[:_SHOWN], *more])}", f"{_INDENT}  ")
            return
        are_lines = "problems" in self.counts and "other_format" not in self.counts
        shown = _SHOWN_LINES if are_lines else _SHOWN
        for example in self.examples[:shown]:
            yield f"{_INDENT}  {example}"
        if len(self.examples) > shown:
            yield f"{_INDENT}  ... and {len(self.examples) - shown:,} more" if are_lines else f"{_INDENT}  ..."


@dataclass(frozen=True, slots=True)
class Preflight:
    """
    What checking a run against its judgments found; `print` it for a report.

    Attributes:
        qrels: The name of the judgments.

        run: The name of the run.

        facts: Numbers by name, whether anything is wrong or not.

        findings: What was found: errors, then warnings, then the rest.
    """

    qrels: str
    run: str
    facts: Mapping[str, float]
    findings: tuple[Finding, ...]

    def __post_init__(self) -> None:
        freeze_fields(self)

    @property
    def ok(self) -> bool:
        """Return whether there is no error: the run can be evaluated, and its numbers will mean something."""
        return not self.errors

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Return the findings that make the evaluation fail or mean nothing."""
        return self._of("error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Return the findings that may make numbers surprising."""
        return self._of("warning")

    def _of(self, severity: Severity) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == severity)

    def find(self, code: str) -> Finding | None:
        """
        Return the finding of a certain kind.

        Args:
            code: Its name, such as ``query-overlap``.

        Returns:
            The finding; None if there is none.
        """
        return next((finding for finding in self.findings if finding.code == code), None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        findings = [finding.to_dict() for finding in self.findings]
        return {"qrels": self.qrels, "run": self.run, "ok": self.ok, "facts": dict(self.facts), "findings": findings}

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def __str__(self) -> str:
        lines = [*map(visible, self._summary()), ""]
        for finding in self.findings:
            lines += map(visible, finding.lines())
        if self.findings:
            lines.append("")
        n_errors, n_warnings = len(self.errors), len(self.warnings)
        n_infos = len(self.findings) - n_errors - n_warnings
        verdict = "can be evaluated" if self.ok else "should not be evaluated as it is"
        counts = f"{counted(n_errors, 'error')}, {counted(n_warnings, 'warning')}, {n_infos} info"
        lines.append(f"{visible(self.run) or 'the run'} {verdict}: {counts}")
        return "\n".join(lines)

    def _summary(self) -> Iterator[str]:
        facts = self.facts
        yield f"judgments  {self.qrels or 'given in memory'}"
        if "judgments" in facts:
            yield (
                f"           {counted(facts['queries_judged'], 'query', 'queries')}, "
                f"{counted(facts['judgments'], 'judgment')}, {facts['relevant']:,} relevant; grades "
                f"{facts['grade_min']:g} to {facts['grade_max']:g}"
            )
        yield f"run        {self.run or 'given in memory'}"
        if "results" in facts:
            yield (
                f"           {counted(facts['queries_run'], 'query', 'queries')}, "
                f"{counted(facts['results'], 'result')}; {facts['depth_min']:,} to {facts['depth_max']:,} a query, "
                f"median {facts['depth_median']:,g}"
            )
            yield f"ties       {_share(facts['results_tied'], facts['results'])} of the results share their score"
        if "queries_both" in facts:
            yield f"overlap    {facts['queries_both']:,} of {facts['queries_judged']:,} judged queries"
        if "judged_retrieved" in facts:
            yield (
                f"           {facts['judged_retrieved']:,} of their {facts['judged_expected']:,} judged documents are "
                f"retrieved ({_share(facts['judged_retrieved'], facts['judged_expected'])}), "
                f"{facts['relevant_retrieved']:,} of {facts['relevant_expected']:,} relevant ones "
                f"({_share(facts['relevant_retrieved'], facts['relevant_expected'])}); judged@10 "
                f"{facts['judged_at_10']:.3f}"
            )


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole if whole else 0.0:.1f} %"


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
