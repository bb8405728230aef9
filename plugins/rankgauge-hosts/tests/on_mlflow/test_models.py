"""The metric inside `mlflow.models`: rows, aggregates with their counts, and MLflow's thresholds."""

from __future__ import annotations

import mlflow
import numpy as np
import pandas as pd
import pytest
from mlflow.models import MetricThreshold
from mlflow.models.evaluation.validation import ModelValidationFailedException

from rankgauge.errors import ParameterError, PlanError
from rankgauge_hosts.mlflow import retrieval_metric

FRAME = pd.DataFrame(
    {
        "retrieved": [["a", "x"], ["a"], {"results": []}, None, ["x"]],
        "relevant": [["a", "b"], [], ["a"], ["a"], ["a"]],
    }
)


@pytest.fixture
def evaluated(driver, tmp_path):
    driver.tracked(tmp_path)
    with mlflow.start_run():
        return mlflow.models.evaluate(
            data=FRAME, predictions="retrieved", targets="relevant", extra_metrics=[retrieval_metric("recall@5")]
        )


def test_aggregates_say_what_is_in_the_mean(evaluated):
    found = {name: value for name, value in evaluated.metrics.items() if name.startswith("recall")}
    assert found == {
        "recall_at_5/mean": 0.5 / 4,
        "recall_at_5/n": 4,
        "recall_at_5/n_undefined": 1,
        "recall_at_5/n_missing": 1,
        "recall_at_5/n_failed": 1,
    }


def test_a_row_without_a_score_says_why(evaluated):
    table = evaluated.tables["eval_results_table"]
    assert [None if pd.isna(score) else score for score in table["recall_at_5/score"]] == [0.5, None, 0.0, 0.0, 0.0]
    told = list(table["recall_at_5/justification"])
    assert told[0] == "recall@5 is 0.5 (k 5, relevant_count 2, found 1)"
    assert told[1].startswith("recall@5 is undefined, nothing counts")
    assert told[2].startswith("recall@5 is failed, 0 counts")


def test_mlflow_validates_against_it(evaluated):
    passing = {"recall_at_5/mean": MetricThreshold(threshold=0.1, greater_is_better=True)}
    mlflow.validate_evaluation_results(validation_thresholds=passing, candidate_result=evaluated)
    failing = {"recall_at_5/mean": MetricThreshold(threshold=0.2, greater_is_better=True)}
    with pytest.raises(ModelValidationFailedException, match="recall_at_5/mean"):
        mlflow.validate_evaluation_results(validation_thresholds=failing, candidate_result=evaluated)


def test_without_any_value_there_is_no_mean():
    value = retrieval_metric("recall@5").eval_fn(pd.Series([["a"]]), pd.Series([[]]))
    assert value.scores == [None]
    assert value.aggregate_results == {"n": 0, "n_undefined": 1, "n_missing": 0, "n_failed": 0}


def test_frames_may_hold_arrays_and_nothing():
    predictions = pd.Series([np.array(["x", "a"]), float("nan"), [{"id": "a", "score": np.float64(1.5)}]])
    targets = pd.Series([np.array(["a"]), {"a": np.int64(2)}, {"relevant": ["a"]}])
    value = retrieval_metric("retrieval-mrr").eval_fn(predictions, targets, pd.Series([None, {}, {"k": 1}]))
    assert value.scores == [0.5, 0.0, 1.0]


def test_the_name_is_one_that_mlflow_takes():
    metric = retrieval_metric("P(rel=2)@5", k=3)
    assert (metric.name, metric.long_name, metric.greater_is_better) == ("p_rel2_at_5", "p(rel=2)@5", True)
    assert metric.metric_details == "retrieval-precision-at-k(rel=2)@5"


def test_where_less_is_better_mlflow_knows(lateness):
    assert retrieval_metric(lateness).greater_is_better is False


def test_mistakes_surface_when_the_metric_is_made():
    with pytest.raises(PlanError, match="unknown metric"):
        retrieval_metric("ndgc@10")
    with pytest.raises(ParameterError, match="one score at a time"):
        retrieval_metric("recall@1,5")
