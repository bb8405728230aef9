"""A history in MLflow's own store: numbers, names and times of its entries, once each."""

from __future__ import annotations

import mlflow
import pytest
from mlflow.tracking import MlflowClient

from rankgauge import Engine
from rankgauge.errors import ParameterError, ResultError
from rankgauge.history import History
from rankgauge_hosts.mlflow_history import log_history


def samples(hits):
    return [
        {
            "id": f"q{number}",
            "expected_output": ["a"],
            "actual_output": ["a" if hit else "b"],
            "metadata": {"tags": ["odd/even" if number % 2 else "even"]},
        }
        for number, hit in enumerate(hits)
    ]


@pytest.fixture
def history(tmp_path):
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    kept = History(tmp_path / "history")
    for name, hits in (("monday", [1, 1, 0, 0]), ("tuesday", [1, 1, 1, 0])):
        result = Engine().dataset(samples(hits)).with_metrics(["hit@1", "ndcg@10"]).run()
        kept.add(result.save(tmp_path / name), commit=f"{name}1", tags=["nightly"], passed=True)
    return kept


def test_each_entry_is_a_run_with_its_numbers(history):
    ids = log_history(history, experiment="retrieval")
    client = MlflowClient()
    first, second = map(client.get_run, ids)
    entry = history.entries()[0]
    assert [run.info.run_name for run in (first, second)] == ["monday", "tuesday"]
    assert (first.data.metrics["hit_at_1"], second.data.metrics["hit_at_1"]) == (0.5, 0.75)
    assert first.data.metrics["hit_at_1/low"] == entry.means["hit@1"].low
    assert first.data.metrics["hit_at_1/cohort/odd_even/n"] == 2
    assert (first.data.metrics["samples"], first.data.metrics["failed"]) == (4, 0)
    assert first.data.tags["mlflow.source.git.commit"] == "monday1"
    assert first.data.tags["rankgauge.gates"] == "passed"
    assert first.data.tags["rankgauge.tags"] == "nightly"
    assert first.data.tags["rankgauge.definition.hit_at_1"] == entry.fingerprints["hit@1"]
    assert first.info.start_time <= second.info.start_time
    assert first.info.status == "FINISHED"


def test_what_is_logged_is_not_logged_again(history):
    ids = log_history(history.path, experiment="retrieval")
    assert log_history(history.path, experiment="retrieval") == ids
    assert len(MlflowClient().search_runs([mlflow.get_experiment_by_name("retrieval").experiment_id])) == 2


def test_a_selection_is_logged_and_an_unknown_one_refused(history, tmp_path):
    assert len(log_history(history, tag="nightly")) == 2
    with pytest.raises(ParameterError, match="no tag 'daily'"):
        log_history(history, tag="daily")
    with pytest.raises(ResultError, match="there is no history"):
        log_history(tmp_path / "none")
