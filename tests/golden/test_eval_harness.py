"""Profile eval-harness gives the numbers, the details and the refusals of the harness that it is named after."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankgauge.errors import PlanError
from tables import rows

CASES = json.loads(Path(__file__).with_name("eval_harness.json").read_text(encoding="utf-8"))["cases"]
TOLERANCE = 1e-9


def _score(engine: Any, case: dict[str, Any]) -> Any:
    spec = {"metric": case["metric"], **case.get("options", {})}
    if "metric_k" in case:
        spec["k"] = case["metric_k"]
    evaluation = engine.dataset([]).with_metrics([spec]).with_profile("eval-harness")
    if "default_k" in case:
        evaluation = evaluation.with_defaults(k=case["default_k"])
    (only,) = evaluation.score(case["sample"], details=True).values()
    return only


def _close(value: Any) -> Any:
    return pytest.approx(value, rel=0, abs=TOLERANCE) if isinstance(value, float) else value


def _of(*kinds: str) -> list[Any]:
    return [pytest.param(case, id=case["case"]) for case in CASES if any(kind in case for kind in kinds)]


@rows("case", _of("score"))
def test_score_and_details_are_the_same(engine, case):
    found = _score(engine, case)

    assert found.status != "failed", found.reason
    assert _close(case["score"]) == found.value
    assert {name: _close(value) for name, value in case["details"].items()} == dict(found.details)


@rows("case", _of("fails"))
def test_what_raises_there_is_a_failed_score_with_a_reason(engine, case):
    found = _score(engine, case)

    assert (found.value, found.status) == (None, "failed")
    assert found.reason.strip()


@pytest.mark.parametrize("case", _of("refused"))
def test_impossible_cutoff_of_the_metric_is_refused_in_the_plan(engine, case):
    with pytest.raises(PlanError, match=repr(case["metric_k"])):
        _score(engine, case)


def test_every_case_says_what_is_to_come_of_it():
    assert len(CASES) == len(_of("score")) + len(_of("fails")) + len(_of("refused"))
    assert len({case["case"] for case in CASES}) == len(CASES)


def test_failed_pair_leaves_the_other_metrics_of_its_sample_alone(engine):
    retrieved = '{"retrieved": [{"id": "doc-3", "text": "It is doc-3."}]}'
    metrics = ["retrieval-recall-at-k", "answer-containment-at-k"]
    evaluation = engine.dataset([]).with_metrics(metrics).with_profile("eval-harness")

    by_list = evaluation.score({"id": "s", "expected_output": ["doc-3"], "actual_output": retrieved})
    by_text = evaluation.score({"id": "s", "expected_output": "doc-3", "actual_output": retrieved})

    assert [score.status for score in by_list.values()] == ["scored", "failed"]
    assert [score.status for score in by_text.values()] == ["failed", "scored"]
    assert [score.value for score in (*by_list.values(), *by_text.values())] == [1.0, None, None, 1.0]


def test_failed_pairs_are_left_out_of_the_mean_and_counted(engine):
    samples = [
        {"id": "good", "expected_output": ["a"], "actual_output": '["a"]'},
        {"id": "bad-output", "expected_output": ["a"], "actual_output": "nonsense"},
        {"id": "bad-gold", "expected_output": [], "actual_output": '["a"]'},
        {"id": "poor", "expected_output": ["a"], "actual_output": "[]"},
    ]

    column = engine.dataset(samples).with_metrics(["retrieval-hit-at-k"]).with_profile("eval-harness").run()

    only = column["retrieval-hit-at-k"]
    assert (only.mean, only.n, only.n_failed) == (0.5, 2, 2)
