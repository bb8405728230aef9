"""
The JSON report, and the scores of every sample as JSON lines.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import orjson

from rankgauge.plugin import reporter
from rankgauge.result import MetricInfo, MetricSummary, Result
from rankgauge.result.label_doubts import LABEL_DOUBTS
from rankgauge.result.repeat_facts import repeat_facts
from rankgauge.result.wording import json_text
from rankgauge.scoring.score import STATUSES

__all__ = ["SCHEMA_VERSION", "json_report", "per_sample_jsonl", "summary"]

SCHEMA_VERSION = "rankgauge.report.v1"

_CONFIDENCE = 0.95
_OF_RUN = ("dataset", "outputs", "profile", "policy", "relevance")
_OF_SOME = ("until", "cluster", "weights", "places", LABEL_DOUBTS)
_OF_METRIC = ("alias", "expression", "safe_name", "judged", "matcher", "fingerprint")


@reporter("json", suffix=".json")
def json_report(result: Result) -> str:
    """Lay the result out as one JSON object; keys are only ever added to its schema."""
    return json_text(summary(result))


@reporter("jsonl", suffix=".jsonl")
def per_sample_jsonl(result: Result) -> str:
    """Lay out one JSON object a line: a sample with its scores, statuses and, if asked for, texts and details."""
    columns = [
        (column, column.values.tolist(), [STATUSES[code] for code in column.codes.tolist()])
        for column in result.metrics.values()
    ]
    lines = []
    for place, sample_id in enumerate(result.sample_ids):
        scores: dict[str, Any] = {}
        for column, values, statuses in columns:
            entry: dict[str, Any] = {"score": values[place], "status": statuses[place]}  # NaN is written as null
            if place in column.reasons:
                entry["reason"] = column.reasons[place]
            if column.details is not None:
                entry["details"] = column.details[place]
            scores[column.name] = entry
        texts = {} if result.texts is None else result.texts[place].to_dict()
        line = {"sample_id": sample_id, "tags": result.tags[place], **texts, "scores": scores}
        lines.append(f"{orjson.dumps(line).decode()}\n")
    return "".join(lines)


def summary(result: Result) -> dict[str, Any]:
    """Return the report as plain data, in the order in which `json_report` writes it."""
    manifest = result.manifest
    cohorts = result.by_tag() if any(result.tags) else {}
    return {
        "schema_version": SCHEMA_VERSION,
        "rankgauge": manifest.get("versions", {}).get("rankgauge"),
        **{fact: manifest.get(fact) for fact in _OF_RUN},
        "samples": len(result),
        "unhealthy": result.n_unhealthy,
        "incomplete": result.is_incomplete,
        "interrupted": bool(manifest.get("interrupted")),
        **{fact: manifest[fact] for fact in _OF_SOME if fact in manifest},
        "metrics": {name: _metric(column, result.sample_ids) for name, column in result.metrics.items()},
        "columns": {written: name for name, column in result.metrics.items() for written in column.info.spellings},
        "cohorts": [
            {
                "tag": tag,
                "samples": len(part),
                "metrics": {name: {**_mean(own), **_interval(own)} for name, own in part.metrics.items()},
            }
            for tag, part in cohorts.items()
        ],
        "notes": list(result.notes),
        **({"worst": [explanation.to_dict() for explanation in result.listed]} if result.listed else {}),
        "errors": [dataclasses.asdict(error) for error in result.errors],
    }


def _mean(column: MetricSummary) -> dict[str, Any]:
    """Return the mean of a column, and what is in it."""
    counts = {status if status == "n" else f"n_{status}": count for status, count in column.counts.items()}
    return {"mean": column.mean, **counts}


def _interval(column: MetricSummary) -> dict[str, Any]:
    """Return the interval of a mean, how it was found, and its confidence."""
    known = column.interval_found(_CONFIDENCE)
    return {
        "interval": None if known is None else (known.low, known.high),
        "interval_method": None if known is None else known.method,
        "confidence": _CONFIDENCE,
    }


def _metric(column: MetricSummary, sample_ids: tuple[str, ...]) -> dict[str, Any]:
    info, repeats = column.info, repeat_facts(column, sample_ids)
    ranks = {name: column.percentile(p) for name, p in (("min", 0), ("p5", 5), ("p50", 50), ("p95", 95), ("max", 100))}
    return {
        **_mean(column),
        "aggregate": info.aggregate,
        "std": column.std,
        "standard_error": column.standard_error,
        **_interval(column),
        **ranks,
        "pass_rate": column.pass_rate(),
        "k": column.k,
        "k_sources": dict(info.k_sources),
        **(
            {} if info.budget is None else {"budget": {**info.budget, "fitted": _fitted(column), "ended": _ended(info)}}
        ),
        **{name: getattr(info, name) for name in _OF_METRIC},
        **({} if repeats is None else {"repeats": repeats.to_dict()}),
        "provider": dict(info.provider),
        "histogram": [{"min": low, "max": high, "count": count} for low, high, count in column.histogram()],
    }


def _ended(info: MetricInfo) -> dict[str, Any] | None:
    """Return how many rankings ended before the budget of a column; None if that was not counted."""
    ends = info.list_ends
    return None if ends is None else {"samples": ends.ended, "median": ends.at, "short": ends.short}


def _fitted(column: MetricSummary) -> dict[str, Any]:
    """Return how many ranks of a sample fit into the budget of a column."""
    samples = column.info.fitted or {}
    spread = dict(zip(("min", "median", "max"), column.fitted or (None, None, None), strict=True))
    return {**spread, "none": samples.get("0", 0), "samples": sum(samples.values())}
