"""
The JSON report, and the scores of every sample as JSON lines.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import orjson

from rankgauge.plugin import reporter
from rankgauge.result.wording import counts
from rankgauge.scoring.score import STATUSES

if TYPE_CHECKING:
    from rankgauge.result import MetricSummary, Result

__all__ = ["SCHEMA_VERSION", "json_report", "per_sample_jsonl", "summary"]

SCHEMA_VERSION = "rankgauge.report.v1"

_CONFIDENCE = 0.95


@reporter("json", suffix=".json")
def json_report(result: Result) -> str:
    """Lay the result out as one JSON object; keys are only ever added to its schema."""
    return orjson.dumps(summary(result), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


@reporter("jsonl", suffix=".jsonl")
def per_sample_jsonl(result: Result) -> str:
    """Lay out one JSON object a line: a sample with its scores, statuses and, where asked for, texts and details."""
    lines = []
    columns = [
        (column.name, column, column.values.tolist(), list(map(STATUSES.__getitem__, column.codes.tolist())))
        for column in result.metrics.values()
    ]
    for place, sample_id in enumerate(result.sample_ids):
        scores: dict[str, Any] = {}
        for name, column, values, statuses in columns:
            entry: dict[str, Any] = {"score": values[place], "status": statuses[place]}  # NaN is written as null
            if place in column.reasons:
                entry["reason"] = column.reasons[place]
            if column.details is not None:
                entry["details"] = column.details[place]
            scores[name] = entry
        texts = {} if result.texts is None else result.texts[place].to_dict()
        line = {"sample_id": sample_id, "tags": result.tags[place], **texts, "scores": scores}
        lines.append(orjson.dumps(line).decode())
    return "".join(f"{line}\n" for line in lines)


def summary(result: Result) -> dict[str, Any]:
    """Return the report as plain data, in the order in which `json_report` writes it."""
    manifest = result.manifest
    return {
        "schema_version": SCHEMA_VERSION,
        "rankgauge": manifest.get("versions", {}).get("rankgauge"),
        "dataset": manifest.get("dataset"),
        "outputs": manifest.get("outputs"),
        "profile": manifest.get("profile"),
        "policy": manifest.get("policy"),
        "relevance": manifest.get("relevance"),
        "samples": len(result),
        "unhealthy": result.n_unhealthy,
        "incomplete": result.is_incomplete,
        "interrupted": bool(manifest.get("interrupted")),
        "metrics": {name: _metric(column) for name, column in result.metrics.items()},
        "columns": {written: name for name, column in result.metrics.items() for written in column.info.spellings},
        "cohorts": [
            {
                "tag": tag,
                "samples": len(cohort),
                "metrics": {name: _counts(own) for name, own in cohort.metrics.items()},
            }
            for tag, cohort in (result.by_tag().items() if any(result.tags) else ())
        ],
        "notes": list(result.notes),
        **({"worst": [explanation.to_dict() for explanation in result.listed]} if result.listed else {}),
        "errors": [dataclasses.asdict(error) for error in result.errors],
    }


def _counts(column: MetricSummary) -> dict[str, Any]:
    n, *flaws = counts(column).items()
    return {"mean": column.mean, **dict([n]), **{f"n_{status}": count for status, count in flaws}}


def _budget(column: MetricSummary) -> dict[str, Any]:
    """Return the budget of a column, and how many ranks fitted into it."""
    spread = dict(zip(("min", "median", "max"), column.fitted or (None, None, None), strict=True))
    counts = {"none": (column.info.fitted or {}).get("0", 0), "samples": sum((column.info.fitted or {}).values())}
    return {**(column.info.budget or {}), "fitted": {**spread, **counts}}


def _metric(column: MetricSummary) -> dict[str, Any]:
    info = column.info
    return {
        **_counts(column),
        "aggregate": info.aggregate,
        "std": column.std,
        "standard_error": column.standard_error,
        "interval": column.interval(_CONFIDENCE),
        "confidence": _CONFIDENCE,
        "min": column.percentile(0),
        "p50": column.percentile(50),
        "p95": column.percentile(95),
        "max": column.percentile(100),
        "pass_rate": column.pass_rate(),
        "k": column.k,
        "k_sources": dict(info.k_sources),
        **({} if info.budget is None else {"budget": _budget(column)}),
        **{
            name: getattr(info, name)
            for name in ("alias", "expression", "safe_name", "judged", "matcher", "fingerprint")
        },
        "provider": dict(info.provider),
        "histogram": [{"min": low, "max": high, "count": count} for low, high, count in column.histogram()],
    }
