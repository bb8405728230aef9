"""
Gates for CI systems: JUnit XML, annotations for GitHub Actions, and what a pull request shows of a run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import visible
from rankgauge.base.tables import cell, markdown_table
from rankgauge.comparison.sentences import signed, span
from rankgauge.errors import counted
from rankgauge.gates.drop import ColumnChange
from rankgauge.gates.outcomes import GateOutcome, GateReport, baseline_line, headline, summary_line
from rankgauge.result import Result
from rankgauge.result.wording import cluster_line, interval_text, mean, number, policy_line, weights_line

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from rankgauge.result import Result

__all__ = ["github_annotations", "junit_xml", "pull_request_markdown"]

_ELEMENTS = {"failed": "failure", "warned": "skipped", "error": "error"}
_NOT_XML = re.compile("[\ufffe\uffff]")


def junit_xml(report: GateReport, results: Mapping[str, Result]) -> bytes:
    """
    Return a JUnit report: a suite for each dataset, a case for each gate.

    A broken gate is a failure, one that cannot be judged an error, and one that only warns is skipped, because JUnit
    has no warnings. The properties of a suite say what was computed, and how.
    """
    from xml.etree.ElementTree import Element, SubElement, indent, tostring  # loads only if a report is written

    root = Element("testsuites", {"name": "rankgauge"})
    for name in dict.fromkeys(outcome.dataset for outcome in report.outcomes):
        outcomes = [outcome for outcome in report.outcomes if outcome.dataset == name]
        suite = SubElement(root, "testsuite", {"name": _xml_text(name or "rankgauge"), "tests": str(len(outcomes))})
        for status, kind in _ELEMENTS.items():
            count = sum(outcome.status == status for outcome in outcomes)
            suite.set("errors" if kind == "error" else "skipped" if kind == "skipped" else "failures", str(count))
        _add_properties(suite, results.get(name))
        for outcome in outcomes:
            names = {"classname": _xml_text(name or "rankgauge"), "name": _xml_text(str(outcome.gate))}
            case = SubElement(suite, "testcase", names)
            if outcome.status in _ELEMENTS:
                message = _xml_text(headline(outcome))
                why = report.ids_changed.get(name, "") if outcome.status == "error" else ""
                SubElement(case, _ELEMENTS[outcome.status], {"message": message}).text = _xml_text(why) or message
    indent(root)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _add_properties(suite: Element, result: Result | None) -> None:
    """Say what was computed: the version, the policy, fingerprints of data and definitions, and notes."""
    from xml.etree.ElementTree import SubElement

    if result is None:
        return
    manifest = result.manifest
    values = {
        "rankgauge": (manifest.get("versions") or {}).get("rankgauge", ""),
        "policy": policy_line(result),
        "dataset fingerprint": (manifest.get("dataset") or {}).get("fingerprint") or "",
        "samples": str(len(result)),
        **({"weights": line} if (line := weights_line(result)) else {}),
        **({"clusters": line} if (line := cluster_line(result)) else {}),
        **{f"{name} interval": f"{interval_text(column)}, 95 %" for name, column in result.metrics.items()},
        **{f"{name} fingerprint": column.info.fingerprint for name, column in result.metrics.items()},
        **{f"note {number}": note for number, note in enumerate(result.notes, 1)},
    }
    properties = SubElement(suite, "properties")
    for name, value in values.items():
        SubElement(properties, "property", {"name": _xml_text(name), "value": _xml_text(value)})


def _xml_text(text: str) -> str:
    """Return a text without what XML cannot hold."""
    return _NOT_XML.sub(lambda found: f"\\u{ord(found[0]):04x}", visible(text))


_MOST = 10
"""How many annotations GitHub shows of one step."""

_PLACE = re.compile(r"(?P<file>.+\.(?:ya?ml)):(?P<line>\d+)")


def github_annotations(report: GateReport) -> Iterator[str]:
    """Yield a line for each gate that failed, cannot be judged or warns, the worst first; at most ten."""
    outcomes = [*report.of("error"), *report.of("failed"), *report.of("warned")]
    several = len({outcome.dataset for outcome in report.outcomes}) > 1
    shown = outcomes if len(outcomes) <= _MOST else outcomes[: _MOST - 1]
    yield from (_command(outcome, headline(outcome, of_dataset=several)) for outcome in shown)
    if len(outcomes) > len(shown):
        yield f"::error title=rankgauge::... and {len(outcomes) - len(shown):,} more gates; the log lists all of them"


def _command(outcome: GateOutcome, message: str) -> str:
    kind = "warning" if outcome.status == "warned" else "error"
    place = _PLACE.fullmatch(outcome.gate.origin)
    properties = {**(place.groupdict() if place else {}), "title": f"rankgauge: {outcome.gate}"}
    written = ",".join(f"{key}={_escaped(value, of_property=True)}" for key, value in properties.items())
    return f"::{kind} {written}::{_escaped(message)}"


def _escaped(text: str, *, of_property: bool = False) -> str:
    """Return a text that ends neither its line nor its property, and begins no other command."""
    text = visible(text).replace("%", "%25")
    return text.replace(":", "%3A").replace(",", "%2C") if of_property else text


_LARGEST = 64_000
"""How many bytes a comment on GitHub may have, and some to spare."""

_MARKS = {"passed": "✅ passed", "failed": "❌ failed", "warned": "⚠️ warning", "error": "❌ cannot be judged"}


def pull_request_markdown(
    results: Mapping[str, Result],
    report: GateReport | None,
    baseline: Mapping[str, Result] | None = None,
    changes: Mapping[str, Sequence[ColumnChange]] = MappingProxyType({}),
    *,
    first: str = "",
) -> str:
    """
    Lay out verdict, gates, changes and means of some results; where ids changed, that and no number.

    *first* is the name of a baseline that comes from no file or folder, which would know its own.
    """
    several = len(results) > 1
    lines = [f"## rankgauge: {_verdict(results, report)}", ""]
    if any(result.manifest.get("interrupted") for result in results.values()):
        lines += ["The run was interrupted: only these samples were done, and no gate was judged.", ""]
    if baseline:
        is_saved = "baseline" in next(iter(baseline.values())).manifest
        lines += [_cell(f"baseline {first}" if first and not is_saved else baseline_line(baseline)), ""]
    if report is not None:
        for name, why in report.ids_changed.items():
            lines += [f"{f'{_cell(name)}: ' if several else ''}{_cell(why)}", ""]
        lines += _gates(report, several=several)
    if report is None or not report.ids_changed:
        for name, result in results.items():
            lines += [*_means(name, result), *_changes(changes.get(name, ()))]
    return _cut(lines)


def _verdict(results: Mapping[str, Result], report: GateReport | None) -> str:
    if report is not None and report.ids_changed:
        return "the ids changed, not the ranking"
    if report is not None and report.outcomes:
        return summary_line(report)
    return f"{', '.join(map(_cell, results))}: {counted(sum(map(len, results.values())), 'sample')}"


def _gates(report: GateReport, *, several: bool) -> list[str]:
    """Return the table of all gates, the worst first."""
    rows = [
        (_MARKS[status], _cell(str(outcome.gate)), _cell(headline(outcome, of_dataset=several)))
        for status in ("error", "failed", "warned", "passed")
        for outcome in report.of(status)
    ]
    return markdown_table(("", "gate", "result"), rows, "---") if rows else []


def _means(name: str, result: Result) -> list[str]:
    rows = [
        (_cell(column.name), mean(column), interval_text(column), *(f"{count:,}" for count in column.counts.values()))
        for column in result.metrics.values()
    ]
    means = markdown_table(("metric", "mean", "95 % interval", "n", "undefined", "missing", "failed"), rows, "---")
    notes = [line for note in result.notes for line in (f"- {_cell(note)}", "")]
    of = f"{counted(len(result), 'sample')}, {_cell(policy_line(result))}"
    clusters = [text for line in (weights_line(result), cluster_line(result)) if line for text in (_cell(line), "")]
    return [f"### {_cell(name)}", "", *means, of, "", *clusters, *notes]


def _changes(changes: Sequence[ColumnChange]) -> list[str]:
    """Return the changes since the baseline, and the samples that fell most."""
    if not changes:
        return []
    rows = [
        (
            _cell(change.column),
            number(change.baseline),
            number(change.value),
            signed(change.difference),
            span(change.interval),
            f"{change.n:,}",
        )
        for change in changes
    ]
    lines = markdown_table(("since the baseline", "before", "now", "change", "95 % interval", "pairs"), rows, "---")
    for change in changes:
        if change.fallen:
            fallen = [(_cell(name), number(before), number(after)) for name, before, after in change.fallen]
            lines += [f"<details><summary>{_cell(change.column)}: what got worse most</summary>", ""]
            lines += [*markdown_table(("sample", "before", "now"), fallen, "---"), "</details>", ""]
    return lines


def _cell(text: str) -> str:
    return cell(visible(text))


def _cut(lines: Sequence[str]) -> str:
    """Return the lines that fit, and say where some do not."""
    kept, size = [], 0
    for line in lines:
        size += len(line.encode()) + 1
        if size > _LARGEST:
            kept += ["", "... cut here, because a comment cannot be longer; the report in the log is complete"]
            break
        kept.append(line)
    return "\n".join(kept).rstrip() + "\n"
