"""
Forms of scores: events of OpenTelemetry as OTLP JSON, annotations of Phoenix, and assessments of MLflow.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from rankgauge_traces.other_records import nanoseconds
from rankgauge_traces.span_scores import SpanScore

__all__ = ["FORMS", "Form"]

EVENT = "gen_ai.evaluation.result"
SOURCE = "rankgauge"

Form = Callable[[Sequence[SpanScore], Mapping[str, Any]], list[dict[str, Any]]]
"""Makes lines of the scores of one sample; what it leaves out has no value in that form."""

_HEX = re.compile(r"[0-9a-f]+")


def otlp(scores: Sequence[SpanScore], manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one export request with an event of each score, parented to the span that it is about."""
    created = datetime.fromisoformat(str(manifest["created_at"]))
    version = str(manifest["versions"]["rankgauge"])
    records = [_event(score, str(nanoseconds(created))) for score in scores]
    scope = {"name": SOURCE, "version": version}
    resource = {"attributes": [_attribute("service.name", SOURCE)]}
    return [{"resourceLogs": [{"resource": resource, "scopeLogs": [{"scope": scope, "logRecords": records}]}]}]


def phoenix(scores: Sequence[SpanScore], manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return annotations, as `phoenix.client.Client().spans.log_span_annotations` takes them."""
    del manifest
    return [
        {
            "name": score.metric,
            "span_id": _hex_id(score.span, 8),
            "annotator_kind": "CODE",
            "identifier": SOURCE,  # a later score of the same metric takes the place of an earlier one
            "result": {
                **({} if score.value is None else {"score": score.value}),
                **({} if score.status == "scored" else {"label": score.status}),
                "explanation": score.explanation,
            },
            "metadata": {**score.definition, "sample": score.sample},
        }
        for score in scores
        if score.span
    ]


def mlflow(scores: Sequence[SpanScore], manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return assessments, as `mlflow.log_feedback` takes them but for the source; it takes none without a value."""
    del manifest
    return [
        {
            "trace_id": score.trace,
            "name": score.metric,
            "value": score.value,
            "rationale": score.explanation,
            "metadata": {**score.definition, "sample": score.sample, "status": score.status},
            "source": {"source_type": "CODE", "source_id": SOURCE},
            **({"span_id": _hex_id(score.span, 8)} if score.span else {}),
        }
        for score in scores
        if score.value is not None
    ]


FORMS: Mapping[str, Form] = {"otlp": otlp, "phoenix": phoenix, "mlflow": mlflow}
"""The forms by name."""


def _event(score: SpanScore, time: str) -> dict[str, Any]:
    attributes: list[dict[str, Any]] = [_attribute("gen_ai.evaluation.name", score.metric)]
    if score.value is not None:
        attributes.append({"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": score.value}})
    if score.status != "scored":
        attributes.append(_attribute("gen_ai.evaluation.score.label", score.status))
    attributes.append(_attribute("gen_ai.evaluation.explanation", score.explanation))
    attributes += [_attribute(f"rankgauge.{key}", value) for key, value in score.definition.items()]
    attributes.append(_attribute("rankgauge.sample", score.sample))
    ids = {"traceId": _hex_id(score.trace.removeprefix("tr-"), 16), "spanId": _hex_id(score.span, 8)}
    return {
        "timeUnixNano": time,
        "observedTimeUnixNano": time,
        "severityNumber": 9,  # INFO
        "eventName": EVENT,
        "attributes": attributes,
        **{key: value for key, value in ids.items() if value},
    }


def _attribute(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


def _hex_id(name: str, size: int) -> str:
    """Return an id of so many bytes in hex, as OTLP writes it in JSON; MLflow's own JSON has base64."""
    if _HEX.fullmatch(name) and len(name) == 2 * size:
        return name
    try:
        raw = base64.b64decode(name, validate=True)
    except ValueError:
        return name
    return raw.hex() if len(raw) == size else name
