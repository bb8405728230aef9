"""Intervals of the means of a result: which one there is, where it is kept, and that parts and reports agree."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest

import rankgauge
from rankgauge import Engine, Result, html_report, judge_gates
from rankgauge.errors import ResultError
from rankgauge.gates.ci_reports import junit_xml, pull_request_markdown
from rankgauge.report.json import summary
from rankgauge.report.markdown import markdown_report
from rankgauge.report.terminal import terminal_report
from rankgauge.scale import Totals
from rankgauge.stats.intervals import betting_interval, clopper_pearson, wilson

SAMPLES = [
    {
        "id": f"q{place}",
        "expected_output": ["a"],
        "actual_output": [*["x", "y", "z"][:place], "a"],
        "metadata": {"tags": [tag]},
    }
    for place, tag in enumerate(("s", "s", "l", "l"))
]


def scored(samples=SAMPLES, **policy):
    return Engine().dataset(samples).with_metrics(["hit@2", "RR"]).with_profile(**policy).run()


def test_hits_have_wilsons_interval_and_other_scores_that_of_t() -> None:
    result = scored()
    assert result["hit@2"].interval_found() == (*wilson(0.5, 4), "wilson")
    assert result["RR"].interval_found().method == "t"
    assert result["RR"].interval()[1] <= 1.0
    assert scored(SAMPLES[:1])["hit@2"].interval() == wilson(1.0, 1)


def test_the_policy_asks_for_intervals_that_hold_for_few_samples() -> None:
    result = scored(interval="exact")
    assert result["hit@2"].interval_found() == (*clopper_pearson(0.5, 4), "clopper-pearson")
    assert result["RR"].interval_found() == (*betting_interval(result["RR"].values), "betting")


def test_the_choice_changes_no_fingerprint() -> None:
    one, other = scored(), scored(interval="exact")
    for name in one.metrics:
        assert one[name].info.fingerprint == other[name].info.fingerprint
    assert rankgauge.compare({"a": one, "b": other})["b"]["RR"].difference == 0.0


def test_a_saved_result_and_its_cohorts_keep_their_intervals(tmp_path) -> None:
    result = scored(interval="exact")
    result.save(tmp_path / "saved")
    loaded = Result.load(tmp_path / "saved")
    for name in result.metrics:
        assert loaded[name].interval_found() == result[name].interval_found()
    assert loaded.by_tag()["s"]["hit@2"].interval_found() == (*clopper_pearson(1.0, 2), "clopper-pearson")


def test_clusters_make_an_interval_wider() -> None:
    column = scored()["hit@2"]
    low, high, method = column.interval_found(clusters=["s", "s", "l", "l"])
    assert method == "wilson"
    assert low < column.interval()[0] < column.interval()[1] < high
    with pytest.raises(ValueError, match="zip"):
        column.interval_found(clusters=["s"])


def test_parts_merge_to_the_intervals_of_the_whole() -> None:
    for policy in ({}, {"interval": "exact"}):
        whole = scored(**policy)
        parts = [scored(SAMPLES[:1], **policy), scored(SAMPLES[1:], **policy)]
        merged = Result.merge(parts)
        for name in whole.metrics:
            assert merged[name].interval_found() == whole[name].interval_found()
        totals = Totals.merge([Totals.of(part) for part in parts])
        assert totals["hit@2"].interval_found() == whole["hit@2"].interval_found()
        assert (totals["RR"].interval() is None) == bool(policy)  # bets need every score


def test_parts_with_other_intervals_do_not_merge() -> None:
    with pytest.raises(ResultError, match="interval=standard in one part and interval=exact"):
        Result.merge([scored(SAMPLES[:1]), scored(SAMPLES[1:], interval="exact")])


def test_every_report_says_which_interval_it_is() -> None:
    result = scored()
    whole = summary(result)
    assert whole["metrics"]["hit@2"]["interval_method"] == "wilson"
    assert whole["cohorts"][0]["metrics"]["hit@2"]["interval_method"] == "wilson"
    json.dumps(whole)
    methods = "its 95 % interval (Wilson: hit@2; Student's t: rr)"
    assert methods in terminal_report(result)
    assert methods in markdown_report(result)
    ends = "0.1500 to 0.8500 (Wilson)"
    report = judge_gates(result, ["hit@2 >= 0.5"])
    assert ends in pull_request_markdown({"data": result}, report)
    junit = ET.fromstring(junit_xml(report, {"": result}))  # noqa: S314  # ours
    names = {each.get("name"): each.get("value") for each in junit.iter()}
    assert names["hit@2 interval"] == f"{ends}, 95 %"
    page = html_report(result)
    assert "Wilson: hit@2" in page
