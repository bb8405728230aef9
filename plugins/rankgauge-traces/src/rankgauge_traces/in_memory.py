"""
Samples without a file between: of an open file, and of spans that another library returned.

    frame = phoenix.client.Client().spans.get_spans_dataframe(project_identifier="default")
    samples = samples_of(frame.to_dict("records"))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rankgauge.errors import Problem
from rankgauge.files import refuse
from rankgauge.plugin import Source
from rankgauge.text import counted
from rankgauge_traces.samples import samples_of_traces
from rankgauge_traces.span_files import read_lines, spans_of_records
from rankgauge_traces.spans import Span
from rankgauge_traces.traces import Reading, check_there, traces_of

__all__ = ["samples_of", "samples_of_source"]


def samples_of(
    records: Iterable[Mapping[str, Any]], *, id_key: str = "", root: str = "", names: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """
    Return samples with stages, one of each trace, as `rankgauge traces read` writes them without ground truth.

    Args:
        records: Spans or traces in any form that files have: export requests of OTLP, ``trace.to_dict()`` of MLflow,
            spans of Phoenix or rows of its data frames, traces and observations of Langfuse.

        id_key: The key of a document's metadata that is its id, instead of its own.

        root: The name of the span that each sample begins with, where a trace has several questions.

        names: What to call stages, by the names of their spans.

    Returns:
        Samples, in the order of their start, for `Engine.dataset`; add `expected_output` to judge them.

    Raises:
        DataError: Some records are no spans, or spans contradict each other; it names each by its place.
        NothingToEvaluateError: No trace has a retrieval.
    """
    problems: list[Problem] = []
    reading = Reading(id_key, root, names or {})
    return _samples(spans_of_records(records, problems), reading, problems, "the traces")


def samples_of_source(source: Source) -> list[dict[str, Any]]:
    """Return the traces of an open file of lines as samples."""
    problems: list[Problem] = []
    return _samples(read_lines(source, problems), Reading(), problems, f"the traces of {source.name}")


def _samples(spans: Iterable[Span], reading: Reading, problems: list[Problem], what: str) -> list[dict[str, Any]]:
    traces, counts = traces_of(spans, reading, problems)
    refuse(f"{what} cannot be used ({counted(len(problems), 'problem')}):", problems)
    check_there(traces, counts, reading)
    return samples_of_traces(traces)
