"""Runs judged by a model and in part by people: values by hand, what counts, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import rankgauge
from rankgauge.engine.runs import plan_run
from rankgauge.errors import DataError, NothingToEvaluateError, ParameterError
from rankgauge.features.labels.human_judged import powered_by_plan
from rankgauge.features.labels.powered_lines import powered_lines

Judged = dict[str, dict[str, float]]
TRUTH = [(1, 0, 1), (1, 0, 0), (0, 1, 1), (0, 0, 1), (1, 1, 0), (0, 1, 0), (1, 1, 1), (0, 0, 1)]
"""Whether a, b and c are relevant, for eight questions; the model takes every fourth document for the opposite."""


def judgments(wrong: int = 4) -> tuple[Judged, Judged]:
    """Return what a model and what people say."""
    people = {
        f"q{at}": {name: float(grade) for name, grade in zip("abc", row, strict=True)} for at, row in enumerate(TRUTH)
    }
    count, model = 0, {}
    for query, grades in people.items():
        model[query] = {}
        for name, grade in grades.items():
            count += 1
            model[query][name] = 1 - grade if count % wrong == 0 else grade
    return model, people


RUNS: dict[str, Any] = {
    "old": {query: {"b": 3.0, "c": 2.0, "a": 1.0} for query in judgments()[1]},
    "new": {query: {"a": 3.0, "c": 2.0, "b": 1.0} for query in judgments()[1]},
}


def some(people: Judged, queries: int) -> Judged:
    return {query: grades for query, grades in people.items() if int(query[1:]) < queries}


def test_whole_questions_by_hand() -> None:
    """
    P@1 is the grade of b for the old run and of a for the new one.

    The model is wrong about a of q1 and q5, and b of q2 and q6: the fourth, sixteenth, eighth and twentieth document.
    """
    model, people = judgments()
    assert [grades["a"] for grades in model.values()] == [1, 0, 0, 0, 1, 1, 1, 0]
    assert [grades["b"] for grades in model.values()] == [0, 0, 0, 0, 1, 1, 0, 0]
    found = rankgauge.prediction_powered(RUNS, "P@1", judgments=model, human=some(people, 6))
    means = found["p@1"].means
    assert (means["new"].people.mean, means["new"].model.mean) == (0.5, 0.5)
    assert (means["old"].people.mean, means["old"].model.mean) == (0.5, 0.25)
    apart = np.array([1, 0, 0, 0, 0, 0, 1, 0])
    slope, start = np.polyfit(apart[:6], [1, 1, -1, 0, 0, -1], 1)
    estimate = found["p@1"].differences["new"].estimate
    assert estimate.both.mean == pytest.approx(start + slope * apart.mean())
    assert (estimate.people.n, estimate.both.n) == (6, 8)
    assert (found.baseline, found["p@1"].is_linear, list(found)) == ("old", True, ["p@1"])


def test_parts_of_questions_count_for_the_whole() -> None:
    """Of three documents one is judged, so that what people say of it counts three times."""
    model, people = judgments()
    part = {query: {name: grades[name]} for (query, grades), name in zip(people.items(), "abcabcab", strict=True)}
    found = rankgauge.prediction_powered(RUNS, "P@2", judgments=model, human=part)
    of_new = {"a": 3 / 2, "b": 0.0, "c": 3 / 2}  # P@2 of the new run sees a and c
    expected = [of_new[name] * grade for grades in part.values() for name, grade in grades.items()]
    assert found["p@2"].means["new"].people.mean == pytest.approx(sum(expected) / 8)
    assert any("people judged 33% of the documents of 8 questions" in note for note in found.notes)


def test_metrics_that_do_not_add_up_take_whole_questions_only() -> None:
    model, people = judgments()
    del people["q7"]["c"]
    found = rankgauge.prediction_powered(RUNS, ["ndcg@3", "P@3"], judgments=model, human=people)
    assert (found["ndcg@3"].means["old"].people.n, found["p@3"].means["old"].people.n) == (7, 8)
    assert not found["ndcg@3"].is_linear
    assert any(note.startswith("1 question of which people judged a part") for note in found.notes)
    for query in list(people)[3:]:
        people[query].pop("b")
    with pytest.raises(DataError, match=r"ndcg@3: 3 questions are judged whole .* metrics that add up, such as P@10"):
        rankgauge.prediction_powered(RUNS, ["ndcg@3", "P@3"], judgments=model, human=people)


@pytest.mark.parametrize("policy", [{"judged_only": True}, {}])
def test_nothing_adds_up_where_ranks_depend_on_what_is_judged(policy: dict[str, Any]) -> None:
    model, people = judgments()
    found = rankgauge.prediction_powered(RUNS, "P@2", judgments=model, human=people, policy=policy)
    assert found["p@2"].is_linear is not bool(policy)


def test_where_people_agree_with_the_model_both_are_the_model() -> None:
    _, people = judgments()
    found = rankgauge.prediction_powered(RUNS, "AP", judgments=people, human=some(people, 6))
    mean = found["ap"].means["new"]
    assert mean.both.mean == pytest.approx(mean.model.mean)
    assert mean.bias.mean == 0


def test_a_real_difference_is_found_with_fewer_judgments_of_people_than_they_need_alone() -> None:
    """The new run has the relevant document of each question first, the old one second, but for a tenth."""
    chance = np.random.default_rng(11)
    truth: Judged = {f"q{at:03}": {"x": 1.0, "y": float(chance.random() < 0.8)} for at in range(200)}
    model = {
        query: {**grades, "y": 1 - grades["y"] if chance.random() < 0.05 else grades["y"]}
        for query, grades in truth.items()
    }
    runs: dict[str, Any] = {
        "old": {query: {"y": 1.0} for query in truth},
        "new": {query: {"x": 1.0} for query in truth},
    }
    few = {query: truth[query] for query in list(truth)[:15]}
    found = rankgauge.prediction_powered(runs, "P@1", judgments=model, human=few)
    difference = found["p@1"].differences["new"]
    assert (difference.verdict, difference.verdict_of_people) == ("better", "undecided")
    swapped = rankgauge.prediction_powered(dict(reversed(runs.items())), "P@1", judgments=model, human=few)
    assert swapped["p@1"].differences["old"].verdict == "worse"


def test_p_values_are_corrected_for_metrics_and_runs() -> None:
    model, people = judgments()
    runs = RUNS | {"third": {query: {"c": 1.0} for query in people}}
    found = rankgauge.prediction_powered(runs, ["P@1", "P@2"], judgments=model, human=people)
    differences = [each for metric in found.metrics.values() for each in metric.differences.values()]
    p_values = [each.p for each in differences if each.p is not None]
    assert found.correction == f"Holm over {len(p_values)} tests"
    smallest = min(differences, key=lambda each: each.p or 1)
    assert smallest.p_adjusted == pytest.approx(min(1, (smallest.p or 0) * len(p_values)))


def test_what_people_judged_beside_the_model_is_left_out() -> None:
    model, people = judgments()
    people["q0"]["z"] = 1.0
    people["q9"] = {"a": 1.0}
    found = rankgauge.prediction_powered(RUNS, "P@1", judgments=model, human=people)
    assert found["p@1"].means["old"].people.n == 8
    assert "2 judgments of people left out, of documents that the model did not judge" in found.notes


def test_a_question_without_a_score_counts_as_nothing_and_is_told() -> None:
    model, people = judgments()
    runs = {"old": {query: rows for query, rows in RUNS["old"].items() if query != "q6"}}
    for profile in ("default", "trec10"):  # the model finds nothing in q1, q3 and q7, and q6 is missing
        found = rankgauge.prediction_powered(runs, "P@1", judgments=model, human=people, profile=profile)
        assert found["p@1"].means["old"].model.n == 8
        told = "4 values of a question counted as 0, where a metric is undefined or missing"
        assert told in found.notes


@pytest.mark.parametrize("policy", [{"queries": "intersection"}, {"missing_output": "exclude"}])
def test_policies_that_leave_questions_out_are_refused(policy: dict[str, str]) -> None:
    model, people = judgments()
    with pytest.raises(ParameterError, match="every question counts here, and policy"):
        rankgauge.prediction_powered(RUNS, "P@1", judgments=model, human=people, policy=policy)


@pytest.mark.parametrize(
    ("metric", "why"),
    [
        ("gm_map", "has no mean over questions"),
        ("num_rel_ret", "has no mean over questions"),
        ("unjudged(of=retrieved)@3", "does not say how good a ranking is"),
        ("alpha_ndcg@3", "is judged by intents"),
    ],
)
def test_metrics_that_people_cannot_correct_are_refused(metric: str, why: str) -> None:
    model, people = judgments()
    with pytest.raises(ParameterError, match=why):
        rankgauge.prediction_powered(RUNS, metric, judgments=model, human=people)


def test_other_mistakes_are_told() -> None:
    model, people = judgments()
    with pytest.raises(ParameterError, match="confidence lies between 0 and 1, not at 95"):
        rankgauge.prediction_powered(RUNS, "P@1", judgments=model, human=people, confidence=95)
    with pytest.raises(ParameterError, match="name at least one run"):
        rankgauge.prediction_powered({}, "P@1", judgments=model, human=people)
    with pytest.raises(NothingToEvaluateError, match="no document of a question is in both"):
        rankgauge.prediction_powered(RUNS, "P@1", judgments=model, human={"q0": {"z": 1}})


def test_it_is_plain_json_and_cannot_be_changed() -> None:
    model, people = judgments()
    found = powered_by_plan(plan_run(["P@1"]), RUNS, model, some(people, 6))
    told = json.loads(json.dumps(found.to_dict()))
    estimate = told["metrics"]["p@1"]["differences"]["new"]["estimate"]
    low, high = found["p@1"].differences["new"].estimate.both.interval() or (0, 0)
    assert estimate["both"]["interval"] == [low, high]
    assert told["metrics"]["p@1"]["means"]["old"]["worth"] == found["p@1"].means["old"].worth
    with pytest.raises(TypeError):
        found.metrics["p@1"] = found["p@1"]  # type: ignore[index]


def test_intervals_of_means_lie_within_the_range_of_the_metric() -> None:
    """By people P@1 of new is 1 for five of six questions: 5/6, and t * sd / sqrt(6) = 2.57 * .41 / 2.45 = .43."""
    people = {f"q{at}": {"a": float(at > 0), "b": 1.0, "c": 1.0} for at in range(6)}
    model = {f"q{at}": {"a": float(at % 2), "b": 1.0, "c": 1.0} for at in range(8)}
    runs = {"new": {query: {"a": 1.0} for query in model}}
    found = rankgauge.prediction_powered(runs, ["P@1"], judgments=model, human=people)
    low, high = found.to_dict()["metrics"]["p@1"]["means"]["new"]["people"]["interval"]
    assert (round(low, 2), high) == (0.40, 1.0)
    row = next(line.text for line in powered_lines(found, width=None) if line.text.startswith("  new "))
    assert "0.8333 (0.4049 to 1.0000)" in row


def test_lines_say_what_follows() -> None:
    model, people = judgments()
    found = rankgauge.prediction_powered(RUNS, ["P@1"], judgments=model, human=some(people, 6))
    text = "\n".join(line.text for line in powered_lines(found, width=None))
    assert "p@1: 8 questions judged by the model's judgments, 6 of them also by people (those of people)" in text
    assert "new against old by p@1: undecided" in text
    assert "people judged fewer than 20 questions" in text
    alone = rankgauge.prediction_powered({"old": RUNS["old"]}, ["P@1"], judgments=model, human=people)
    assert "old: it follows people with a correlation of" in "\n".join(
        line.text for line in powered_lines(alone, width=60)
    )
