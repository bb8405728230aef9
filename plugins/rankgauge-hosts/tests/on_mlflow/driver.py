"""How MLflow's users hand samples over: rows of a frame to `models.evaluate`, rows of a list to `genai.evaluate`."""

from __future__ import annotations

import functools

import mlflow
import pandas as pd
import pytest
from mlflow.entities import Feedback

from rankgauge.expression import safe_name
from rankgauge_hosts.mlflow import retrieval_metric, retrieval_scorer


def tracked(folder):
    """Track into an experiment of this test's own; the tests share a database, which takes seconds to make."""
    mlflow.set_tracking_uri(f"sqlite:///{folder.parent}/mlflow.db")
    made = mlflow.create_experiment(str(folder), artifact_location=(folder / "artifacts").as_uri())
    mlflow.set_experiment(experiment_id=made)


class Models:
    cannot_say = frozenset()

    def scores(self, samples, metrics, arguments, folder):
        tracked(folder)
        frame = pd.DataFrame(
            {
                "retrieved": [sample.get("actual_output") for sample in samples],
                "relevant": [sample["expected_output"] for sample in samples],
                "metadata": [sample.get("metadata", {}) for sample in samples],
            }
        )
        made = [retrieval_metric(metric, **arguments) for metric in metrics]
        given = {metric.name: watched(metric) for metric in made}
        with mlflow.start_run():
            result = mlflow.models.evaluate(data=frame, predictions="retrieved", targets="relevant", extra_metrics=made)
        table = result.tables["eval_results_table"]
        found = {sample["id"]: {} for sample in samples}
        for name, values in given.items():
            for sample, value, shown in zip(samples, values, table[f"{name}/score"], strict=True):
                found[sample["id"]][name] = value
                # MLflow writes the table to a file with 10 digits and reads it back.
                assert pd.isna(shown) if value is None else shown == pytest.approx(value, abs=1e-10)
        return found


def watched(metric):
    """Return the list that will hold the scores of all rows, as MLflow is given them."""
    scores, call = [], metric.eval_fn

    @functools.wraps(call)
    def watching(*arguments):
        value = call(*arguments)
        scores[:] = value.scores  # the first call is MLflow's trial on one row
        return value

    metric.eval_fn = watching
    return scores


class GenAI:
    cannot_say = frozenset()

    def scores(self, samples, metrics, arguments, folder):
        tracked(folder)
        rows = []
        for sample in samples:
            expectations = {**sample.get("metadata", {}), "gold": sample["expected_output"]}
            outputs = sample.get("actual_output")
            if outputs is None:
                outputs = {}
            elif "retrieved" not in outputs:
                outputs = {"retrieved": outputs}
            rows.append({"inputs": {"id": sample["id"]}, "outputs": outputs, "expectations": expectations})
        made = retrieval_scorer(metrics, gold="gold", **arguments)
        result = mlflow.genai.evaluate(data=rows, scorers=[made])
        found = {}
        for trace in mlflow.search_traces(run_id=result.run_id, return_type="list"):
            identity = trace.data.spans[0].inputs["id"]
            given = [each for each in trace.info.assessments if isinstance(each, Feedback)]
            found[identity] = {each.name: each.value if each.error is None else None for each in given}
        assert all(set(scores) == {safe_name(metric) for metric in metrics} for scores in found.values()), found
        return found


DRIVERS = {"mlflow.models": Models(), "mlflow.genai": GenAI()}
