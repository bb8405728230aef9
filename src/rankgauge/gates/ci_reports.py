"""
Gates for CI systems: JUnit XML, and annotations for GitHub Actions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import visible
from rankgauge.gates.outcomes import GateOutcome, GateReport, headline
from rankgauge.result.wording import cluster_line, interval_text, policy_line

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from rankgauge.result import ResultValues

__all__ = ["github_annotations", "junit_xml"]

_ELEMENTS = {"failed": "failure", "warned": "skipped", "error": "error"}
_NOT_XML = re.compile("[\ufffe\uffff]")


def junit_xml(report: GateReport, results: Mapping[str, ResultValues]) -> bytes:
    """
    Return a JUnit report: a suite for each dataset, a case for each gate.

    A broken gate is a failure, one that cannot be judged an error, and one that only warns is skipped, because JUnit
    has no warnings. The properties of a suite say what was computed, and how.
    """
    from xml.etree.ElementTree import Element, SubElement, indent, tostring  # loads only where a report is written

    root = Element("testsuites", {"name": "rankgauge"})
    for name in dict.fromkeys(outcome.dataset for outcome in report.outcomes):
        outcomes = [outcome for outcome in report.outcomes if outcome.dataset == name]
        suite = SubElement(root, "testsuite", {"name": _text(name or "rankgauge"), "tests": str(len(outcomes))})
        for status, kind in _ELEMENTS.items():
            count = sum(outcome.status == status for outcome in outcomes)
            suite.set("errors" if kind == "error" else "skipped" if kind == "skipped" else "failures", str(count))
        _add_properties(suite, results.get(name))
        for outcome in outcomes:
            names = {"classname": _text(name or "rankgauge"), "name": _text(str(outcome.gate))}
            case = SubElement(suite, "testcase", names)
            if outcome.status in _ELEMENTS:
                told = _text(headline(outcome))
                why = report.ids_changed.get(name, "") if outcome.status == "error" else ""
                SubElement(case, _ELEMENTS[outcome.status], {"message": told}).text = _text(why) or told
    indent(root)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _add_properties(suite: Element, result: ResultValues | None) -> None:
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
        **({"clusters": line} if (line := cluster_line(result)) else {}),
        **{f"{name} interval": f"{interval_text(column)}, 95 %" for name, column in result.metrics.items()},
        **{f"{name} fingerprint": column.info.fingerprint for name, column in result.metrics.items()},
        **{f"note {number}": note for number, note in enumerate(result.notes, 1)},
    }
    properties = SubElement(suite, "properties")
    for name, value in values.items():
        SubElement(properties, "property", {"name": _text(name), "value": _text(value)})


def _text(text: str) -> str:
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
