"""Gives MLflow what `traces scores --as mlflow` wrote, as the page about traces does, and prints it back."""

import json
from pathlib import Path

import mlflow
from mlflow.entities import AssessmentSource

mlflow.set_tracking_uri(f"sqlite:///{Path('mlflow.db').absolute()}")
scores = [json.loads(line) for line in Path("scores.jsonl").read_text(encoding="utf-8").splitlines()]
for score in scores:
    mlflow.log_feedback(**{**score, "source": AssessmentSource(**score["source"])})
for trace_id in dict.fromkeys(score["trace_id"] for score in scores):
    trace = mlflow.get_trace(trace_id)
    spans = {span.span_id: span.name for span in trace.data.spans}
    for each in trace.info.assessments:
        told = [
            each.name,
            spans[each.span_id],
            each.feedback.value,
            each.metadata["fingerprint"],
            each.source.source_type,
        ]
        print(json.dumps(told))
