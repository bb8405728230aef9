"""Reports of gates as JSON objects: equal after a round trip for every kind of gate, and refused where they are odd."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from rankgauge import Catalog, Engine, GateReport, judge_gates
from rankgauge.errors import ResultError
from rankgauge.gates.ci_reports import github_annotations
from rankgauge.gates.grammar import read_gates
from rankgauge.gates.outcomes import gate_lines
from rankgauge.plugin import GateFinding, gate_kind, hookimpl


@gate_kind("median_at_least", version="3")
def median_at_least(values, number):
    """The middle score is at least a number."""
    middle = float(np.median(values))
    return GateFinding("passed" if middle >= number else "missed", f"the median is {middle:.2f}", middle)


@gate_kind("losses_at_most")
def losses_at_most(values, number, *, baseline):
    """At most so many got worse."""
    lost = int((values < baseline).sum())
    return GateFinding("passed" if lost <= number else "open", f"{lost} got worse")


def plugin(*kinds):
    return SimpleNamespace(__name__="held", rankgauge_gate_kinds=hookimpl(lambda: list(kinds)))


CATALOG = Catalog.discover(own_only=True, plugins={"held": plugin(median_at_least, losses_at_most)})
OWN = Catalog.discover(own_only=True)


def run(retrieved, metrics=("RR", "recall@2", {"metric": "P@2", "as": 'my "own" | column >= 1'}), **more):
    rows = [
        {
            "id": f"q {number}",
            "expected_output": {"relevant": ["a", "b"]},
            "metadata": {"tags": ["de"] if number % 2 else []},
            **({} if each is None else {"actual_output": list(each)}),
            **more,
        }
        for number, each in enumerate(retrieved)
    ]
    return Engine(catalog=OWN).dataset(rows).with_metrics(list(metrics)).run()


NOW = ["xa", "ab", "xx", "xxa", "bx", "ax", "xb", "ab", "xa", "bb", "xxb"]
BEFORE = ["ab", "ab", "xa", "xa", "bx", "ax", "ab", "ab", "ab", "ba", "xb"]
GATES = [
    "RR >= 0.4",
    "RR >= 0.9",
    "recall@2 <= 0.3 level warn",
    "RR >= 0.5 per_sample",
    'RR >= 0.5 per_sample of "q 2","q 0"',
    "RR >= 0.1 where tags=de",
    "RR >= 0.1 where tags=fr",
    {"metric": 'my "own" | column >= 1', "min": 0.5},
    "RR max_drop 0.05",
    "RR max_drop 12.345678901234567% confidence 0.9 inconclusive warn common unchanged",
    "RR max_drop 0.05 per_sample",
    "recall@2 not_worse 0.5 short_lists allow",
    "recall@2 max_drop 0",
    "RR median_at_least 0.4",
    "RR losses_at_most 1 inconclusive fail",
]


def through_json(report, **how):
    """Return a report after a round trip through the text of strict JSON, whose keys a database may sort."""
    return GateReport.from_dict(json.loads(json.dumps(report.to_dict(), allow_nan=False, sort_keys=True)), **how)


def shown(report):
    lines = [str(line) for line in gate_lines(report)]
    return report, report.exit_code, [each.status for each in report.outcomes], lines, list(github_annotations(report))


def judged(now=NOW, gates=GATES, **how):
    return judge_gates({"": run(now)}, gates, baseline={"": run(BEFORE)}, catalog=CATALOG, **how)


@pytest.mark.parametrize("inconclusive", ["fell", "fail", "pass"])
def test_a_report_is_equal_after_a_round_trip_through_json(inconclusive):
    report = judged(inconclusive=inconclusive)
    assert {outcome.verdict for outcome in report.outcomes} == {"pass", "fail", "inconclusive", "error"}
    assert shown(through_json(report, catalog=CATALOG)) == shown(report)


@pytest.mark.parametrize("gate", GATES, ids=str)
def test_each_gate_is_equal_alone(gate):
    report = judged(gates=gate)
    assert shown(through_json(report, catalog=CATALOG)) == shown(report)


def test_what_an_incomplete_run_would_have_passed_is_kept():
    report = judged([*NOW[:-1], None])
    assert "pass" in {outcome.by_numbers for outcome in report.outcomes}
    assert shown(through_json(report, catalog=CATALOG)) == shown(report)


def test_several_datasets_and_ids_that_changed_are_kept():
    """Of the second dataset the baseline found both relevant ids, and this run, of other ids, none."""
    now, before = (
        run(retrieved).with_manifest({"retrieved_ids": {"gold": 2, "found": found, "hashes": [f"{ord(digest):016x}"]}})
        for retrieved, found, digest in [(NOW, 0, "w"), (BEFORE, 2, "a")]
    )
    baseline = {"one": run(BEFORE), "two": before}
    report = judge_gates({"one": run(NOW), "two": now}, ["RR max_drop 0.9 dataset one", "RR >= 0.1"], baseline=baseline)
    assert (list(report.ids_changed), report.exit_code) == (["two"], 2)
    assert shown(through_json(report)) == shown(report)


def test_gold_documents_that_changed_are_kept():
    hashes = {"normalization": "n", "samples": {f"q {at}": ["a"] for at in (3, 2)}}
    now, before = (
        run(retrieved).with_manifest({"gold_documents": {**hashes, "hashes": {"a": digest}}})
        for retrieved, digest in [(NOW, "1"), (BEFORE, "2")]
    )
    report = judge_gates(now, ["RR max_drop 0.05", "RR max_drop 0.05 per_sample"], baseline=before)
    assert [outcome.drop.edits.documents for outcome in report.outcomes] == [("a",), ("a",)]
    assert shown(through_json(report)) == shown(report)


def test_forbidden_items_that_a_gate_counts_are_kept():
    rows = [{"id": "q", "expected_output": {"relevant": ["a"], "forbidden": ["x"]}, "actual_output": ["a", "x"]}]
    report = judge_gates(
        Engine(catalog=OWN).dataset(rows).with_metrics(["forbidden_count@5"]).run(), "forbidden_count@5 <= 0"
    )
    assert report.outcomes[0].leaks
    assert shown(through_json(report)) == shown(report)


def test_what_was_decided_before_every_sample_was_called_is_kept():
    rows = [{"id": f"q{at}", "input": "?", "expected_output": ["a"]} for at in range(400)]
    evaluation = Engine(catalog=OWN).dataset(rows).with_metrics(["RR"])
    result = evaluation.run(sut=lambda _: ["a"], until="RR >= 0.2")
    report = result.gate("RR >= 0.2")
    assert report.outcomes[0].decision.after < 400
    assert shown(through_json(report)) == shown(report)


def test_where_a_gate_was_written_is_kept_for_annotations():
    report = judge_gates(run(NOW), read_gates("RR >= 0.9", origin="rankgauge.yaml:7"))
    assert list(github_annotations(through_json(report))) == list(github_annotations(report))
    assert "file=rankgauge.yaml,line=7" in next(github_annotations(report))


def test_numbers_are_what_a_reader_of_json_expects():
    """Reciprocal ranks 1/2, 1 and 0 have the mean 1/2."""
    (outcome,) = judge_gates(run(["xa", "ab", "xx"]), "RR >= 0.75").to_dict()["outcomes"]
    assert outcome["value"] == 0.5
    assert outcome["minimum"] == 0.75
    assert outcome["rule"] == {"type": "bound", "number": 0.75, "side": "minimum"}
    assert (outcome["n"], outcome["status"], outcome["passed"]) == (3, "failed", False)


class TestKinds:
    GATE = "RR median_at_least 0.4"

    @pytest.mark.parametrize(
        "catalog",
        [
            OWN,
            Catalog.discover(
                own_only=True,
                plugins={
                    "held": plugin(
                        gate_kind("median_at_least", version="4")(lambda values, number: GateFinding("missed", "never"))
                    )
                },
            ),
        ],
        ids=["absent", "another version"],
    )
    def test_a_report_is_read_where_its_kind_is_not_at_hand(self, catalog):
        report = judged(gates=self.GATE)
        found = through_json(report, catalog=catalog)
        assert found.to_dict() == report.to_dict()
        assert shown(found)[1:] == shown(report)[1:]
        assert found.outcomes[0].gate.rule.claim.declaration.version == "3"
        (again,) = judge_gates(run(NOW), [found.outcomes[0].gate]).outcomes
        assert again.verdict == "error"
        assert "is not at hand; install it, or give its catalog" in again.reason

    def test_nothing_installed_is_looked_for_where_no_kind_is_needed(self, monkeypatch):
        report = judged(gates=GATES[:13])
        monkeypatch.setattr(Catalog, "installed", None)
        assert through_json(report) == report


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda stored: stored.update(schema_version="rankgauge.gates.v2"), "has the schema 'rankgauge.gates.v2'"),
        (lambda stored: stored.pop("schema_version"), "has the schema None; this version reads 'rankgauge.gates.v1'"),
        (lambda stored: stored.pop("outcomes"), "the report lacks 'outcomes'"),
        (lambda stored: stored["outcomes"][0].pop("rule"), "'outcomes' of the report lacks 'rule'"),
        (
            lambda stored: stored["outcomes"][0]["rule"].update(type="rumour"),
            "'rule' of 'outcomes' of the report cannot be",
        ),
        (lambda stored: stored["outcomes"][0].update(verdict="fine"), "'verdict' of .* cannot be 'fine'"),
        (lambda stored: stored["outcomes"][3]["missed"].pop("q 2"), "KeyError: 'q 2'"),
    ],
)
def test_what_is_no_report_is_refused(change, said):
    stored = json.loads(json.dumps(judged().to_dict()))
    change(stored)
    with pytest.raises(ResultError, match=said):
        GateReport.from_dict(stored)
