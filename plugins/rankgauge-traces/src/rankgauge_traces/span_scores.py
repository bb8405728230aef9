"""
Scores of spans: what a result says of each trace, with the span that it is about and what the metric means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isnan
from typing import Any, NamedTuple

from rankgauge import Catalog, MetricSummary, Result

__all__ = ["SpanScore", "scores_of"]


class SpanScore(NamedTuple):
    """One score, of the span whose results it is about: the last stage's, or that of the stage that is judged."""

    sample: str
    trace: str
    span: str
    metric: str  # the name of the column
    value: float | None  # what counts in the mean; None if nothing does
    status: str  # `scored`, `undefined`, `missing` or `failed`
    reason: str  # why there is no score
    definition: Mapping[str, str]  # what the metric means, in words and as a fingerprint

    @property
    def explanation(self) -> str:
        """Return what the score means, in one sentence."""
        said = ", ".join(f"{key} {value}" for key, value in self.definition.items() if key != "expression")
        why = f"; {self.status}: {self.reason}" if self.reason else ""
        return f"{self.definition['expression']} ({said}){why}"


def scores_of(result: Result, metric: str | None, catalog: Catalog) -> Iterator[tuple[str, list[SpanScore]]]:
    """
    Yield each sample of a result with the scores of its trace; none for one that came from no trace.

    The data are read again, for they have the trace of each sample. One column, or all but those of whole runs.
    """
    columns = [result[metric]] if metric is not None else list(result.metrics.values())
    chosen = [(column, _definition(column, result)) for column in columns if column.rankings is None]
    places = {name: place for place, name in enumerate(result.sample_ids)}
    for sample in result.samples(catalog=catalog):
        known = sample.metadata or {}
        place, trace = places[sample.id], known.get("trace_id")
        scores = []
        if isinstance(trace, str) and trace:
            for column, definition in chosen:
                value = float(column.values[place])
                scores.append(
                    SpanScore(
                        sample.id,
                        trace,
                        _span(known, column.info.stage),
                        column.name,
                        None if isnan(value) else value,
                        column.status(place),
                        column.reasons.get(place, ""),
                        definition,
                    )
                )
        yield sample.id, scores


def _span(known: Mapping[str, Any], stage: str | None) -> str:
    """Return the span of a stage, or of the last one; empty if the sample does not say."""
    spans = known.get("stage_spans")
    span = spans.get(stage) if stage is not None and isinstance(spans, Mapping) else known.get("span_id")
    return span if isinstance(span, str) else ""


def _definition(column: MetricSummary, result: Result) -> dict[str, str]:
    info = column.info
    meant = {"expression": info.expression, "judged": info.judged, "matcher": info.matcher or ""}
    meant |= {"profile": str(result.manifest["profile"]), "fingerprint": info.fingerprint}
    by = info.provider
    meant["by"] = " ".join(str(by[key]) for key in ("distribution", "version") if by.get(key))
    return {key: value for key, value in meant.items() if value}
