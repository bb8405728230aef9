"""What gates say: on terminals, as JUnit, as annotations and as Markdown, whatever names hold."""

from __future__ import annotations

from datetime import UTC, datetime
from xml.etree import ElementTree as ET

import pytest

from rankgauge import Result
from rankgauge.gates.ci_reports import github_annotations, junit_xml, pull_request_markdown
from rankgauge.gates.grammar import read_gates
from rankgauge.gates.outcomes import GateOutcome, GateReport, baseline_line, gate_lines, outcome_line, summary_line
from rankgauge.gates.verdicts import judge_gates
from tables import rows

ROWS = [
    {"id": "q1", "expected_output": ["a"], "actual_output": ["a"], "metadata": {"tags": ["x"]}},
    {"id": "q2", "expected_output": ["a"], "actual_output": ["b"]},
    {"id": "q3", "expected_output": [], "actual_output": ["b"]},
]
GATES = ["hit@1 >= 0.5", "hit@1 >= 0.6", "hit@1 >= 0.7 level warn", "hit@1 >= 0 where tags=y"]
HOSTILE = "a\x1b[31m\n::error::|<b>&`\u202e\ufffe]]>"


@pytest.fixture(scope="module")
def result(engine) -> Result:
    return engine.dataset(ROWS).with_metrics(["hit@1"]).run()


@pytest.fixture(scope="module")
def report(result: Result) -> GateReport:
    return judge_gates({"mine": result}, GATES)


def told(result: Result, gate: str) -> str:
    (outcome,) = judge_gates(result, [gate]).outcomes
    return outcome_line(outcome)


@rows(
    ("gate", "line"),
    [
        ("hit@1 >= 0.5", "ok     hit@1: 0.5000 meets the minimum 0.5 (mean of n=2, 1 undefined)"),
        ("hit@1 <= 0.49999", "MISSED hit@1: 0.5000 is above the maximum 0.49999 (mean of n=2, 1 undefined)"),
        ("hit@1 >= 0.6 level warn", "warn   hit@1: 0.5000 is below the minimum 0.6 (mean of n=2, 1 undefined)"),
        ("hit@1 >= 1 where tags=x", "ok     hit@1 where tags=x: 1.0000 meets the minimum 1 (mean of n=1)"),
        ("hit@1 >= 1 of q1,q2", "MISSED hit@1 of q1, q2: 0.5000 is below the minimum 1 (mean of n=2)"),
        ("hit@1 >= 1 per_sample", "MISSED hit@1: 1 of 2 samples is below the minimum 1: q2 (0.0000)"),
        ("hit@1 >= 1 per_sample of q1", "ok     hit@1: the sample meets the minimum 1"),
        ("hit@1 >= 0 per_sample of q1,q3", "MISSED hit@1: 1 of 2 samples is below the minimum 0: q3 (no value)"),
        ("hit@1 >= 0 where tags=y", "ERROR  hit@1 where tags=y: cannot be judged: no sample has the tag 'y'"),
    ],
)
def test_a_line_says_value_bound_and_denominator(result: Result, gate: str, line: str) -> None:
    assert told(result, gate).startswith(line)


def test_the_last_line_counts_the_verdicts(result: Result, report: GateReport) -> None:
    lines = list(gate_lines(report))
    assert lines[-1].text == "1 of 4 gates cannot be judged, 1 of 4 gates failed, 1 warning"
    assert [(line.word, line.role) for line in lines] == [
        ("ok", "good"),
        ("MISSED", "bad"),
        ("warn", "open"),
        ("ERROR", "bad"),
        ("", "bad"),
    ]
    assert all(line.text.startswith(line.word) for line in lines)
    assert len({line.text.index(word) for line, word in zip(lines[:2], ("0.5", "0.5"), strict=False)}) == 1
    assert summary_line(judge_gates(result, GATES[:1])) == "the gate passed"
    assert summary_line(judge_gates(result, GATES[1:2])) == "the gate failed"
    assert summary_line(judge_gates(result, [GATES[0], "hit@1 <= 0.5"])) == "all 2 gates passed"
    warned = judge_gates(result, [GATES[0], "hit@1 >= 0.6 level warn"])
    assert summary_line(warned) == "no gate failed: 1 passed, 1 warning"


def test_lines_name_the_dataset_where_there_are_several(result: Result) -> None:
    several = judge_gates({"a": result, "b\x1b": result}, GATES[:1])
    assert [line.text.split(" hit")[0] for line in gate_lines(several)][:-1] == ["ok     a:", r"ok     b\x1b:"]


def suites(report: GateReport, results: dict[str, Result]) -> ET.Element:
    return ET.fromstring(junit_xml(report, results))  # noqa: S314  # our own


class TestJunit:
    def test_a_gate_is_a_case_with_its_verdict(self, result: Result, report: GateReport) -> None:
        (suite,) = suites(report, {"mine": result})
        assert {"name": "mine", "tests": "4", "failures": "1", "errors": "1", "skipped": "1"}.items() <= (
            suite.attrib.items()
        )
        cases = suite.findall("testcase")
        assert [case.get("name") for case in cases] == GATES
        assert {case.get("classname") for case in cases} == {"mine"}
        assert [[child.tag for child in case] for case in cases] == [[], ["failure"], ["skipped"], ["error"]]
        failure = cases[1][0].get("message")
        assert failure == "hit@1: 0.5000 is below the minimum 0.6 (mean of n=2, 1 undefined)"

    def test_properties_say_what_was_computed(self, result: Result, report: GateReport) -> None:
        (suite,) = suites(report, {"mine": result})
        found = {each.get("name"): each.get("value") for each in suite.iter("property")}
        assert found["policy"] == "profile default, unmodified"
        assert found["hit@1 fingerprint"] == result["hit@1"].info.fingerprint
        assert found["rankgauge"] == result.manifest["versions"]["rankgauge"]

    def test_hostile_names_stay_text(self, result: Result) -> None:
        report = judge_gates({HOSTILE: result}, ["hit@1 >= 0.9 of q1,q2"])
        (suite,) = suites(report, {HOSTILE: result})
        assert suite.get("name") == r"a\x1b[31m\n::error::|<b>&`\u202e\ufffe]]>"


class TestGithub:
    def test_what_is_wrong_is_annotated_the_worst_first(self, report: GateReport) -> None:
        lines = list(github_annotations(report))
        assert [line.split(" ")[0] for line in lines] == ["::error", "::error", "::warning"]
        assert lines[1] == (
            "::error title=rankgauge%3A hit@1 >= 0.6::hit@1: 0.5000 is below the minimum 0.6 (mean of n=2, 1 undefined)"
        )

    def test_a_gate_of_a_config_is_annotated_at_its_line(self, result: Result) -> None:
        (gate,) = read_gates("hit@1 >= 0.9", origin="eval/rankgauge.yaml:12")
        (line,) = github_annotations(judge_gates(result, [gate]))
        assert line.startswith("::error file=eval/rankgauge.yaml,line=12,title=")

    def test_at_most_ten_are_shown(self, result: Result) -> None:
        report = judge_gates(result, [f"hit@1 >= 0.{n}" for n in range(60, 75)])
        lines = list(github_annotations(report))
        assert len(lines) == 10
        assert "and 6 more gates" in lines[-1]

    def test_hostile_names_begin_no_other_command(self, result: Result) -> None:
        report = judge_gates({HOSTILE: result, "b": result}, ["hit@1 >= 0.9"])
        for line in github_annotations(report):
            assert "\n" not in line
            assert line.startswith("::error title=rankgauge%3A hit@1 >= 0.9::")
        (gate,) = read_gates({"metric": "hit@1", "min": 1, "of": ["q,1::\n%"]})
        outcome = GateOutcome(gate=gate, verdict="error", reason="100%")
        (line,) = github_annotations(GateReport((outcome,)))
        assert line.split("::")[1] == r'error title=rankgauge%3A hit@1 >= 1 of "q%2C1%3A%3A\n%25"'
        assert line.endswith("100%25")


class TestPullRequest:
    def test_the_verdict_comes_first_and_failures_before_successes(self, result: Result, report: GateReport) -> None:
        text = pull_request_markdown({"mine": result}, report)
        assert text.startswith("## rankgauge: 1 of 4 gates cannot be judged, 1 of 4 gates failed, 1 warning\n")
        marks = [line.split("|")[1].strip() for line in text.splitlines() if "hit@1 &gt;=" in line]
        assert marks == ["❌ cannot be judged", "❌ failed", "⚠️ warning", "✅ passed"]
        assert "| hit@1 | 0.5000 | 0.0945 to 0.9055 (Wilson) | 2 | 1 | 0 | 0 |" in text

    def test_where_ids_changed_there_is_no_number(self, result: Result) -> None:
        report = GateReport((), {"mine": "the ids changed, not the ranking: so it is"})
        text = pull_request_markdown({"mine": result}, report)
        assert text.startswith(
            "## rankgauge: the ids changed, not the ranking\n\nthe ids changed, not the ranking: so it"
        )
        assert "0.5" not in text

    def test_without_gates_it_is_named_by_its_data(self, result: Result) -> None:
        assert pull_request_markdown({"mine": result}, None).startswith("## rankgauge: mine: 3 samples\n")

    def test_an_interrupted_run_says_so_before_its_means(self, engine) -> None:
        part = engine.dataset(ROWS).with_metrics(["hit@1"]).run().with_manifest({"interrupted": True})
        text = pull_request_markdown({"mine": part}, None)
        assert text.index("The run was interrupted: only these samples were done") < text.index("| metric |")

    def test_hostile_names_stay_text(self, result: Result) -> None:
        text = pull_request_markdown({HOSTILE: result}, judge_gates({HOSTILE: result}, ["hit@1 >= 0.9"]))
        assert "\x1b" not in text
        assert "<b>" not in text
        assert r"\|" in text

    def test_it_fits_into_a_comment(self, result: Result) -> None:
        results = {f"dataset {n:05}": result for n in range(1_000)}
        text = pull_request_markdown(results, None)
        assert len(text.encode()) < 65_536
        assert text.endswith("the report in the log is complete\n")


@pytest.mark.parametrize(
    ("hours", "ago"),
    [(0, "just now"), (1.5, "1 hour ago"), (24 * 3.9, "3 days ago"), (0.25, "15 minutes ago")],
)
def test_a_baseline_tells_its_age_and_commit(result: Result, hours: float, ago: str) -> None:
    now = datetime(2024, 5, 6, 12, tzinfo=UTC)
    created = datetime.fromtimestamp(now.timestamp() - hours * 3600, UTC).isoformat(timespec="seconds")
    manifest = {"created_at": created, "commit": "0123456789abcdef", "baseline": "main.json"}
    old = Result(result.sample_ids, result.tags, result.metrics, manifest)
    assert baseline_line({"mine": old}, now=now) == f"baseline main.json: saved {ago}, commit 0123456789"
    bare = Result(result.sample_ids, result.tags, result.metrics, {"baseline": "main.json"})
    assert baseline_line({"mine": bare}, now=now) == "baseline main.json"
