"""
`rankgauge traces scores`: the scores of a result folder go back to the spans that they are about.
"""

from __future__ import annotations

import argparse
from typing import Any

from rankgauge import Result
from rankgauge.errors import NothingToEvaluateError, ResultError
from rankgauge.files import check_new_file
from rankgauge.plugin import Console
from rankgauge.text import counted
from rankgauge_traces.read_command import write_lines
from rankgauge_traces.score_forms import FORMS
from rankgauge_traces.span_scores import scores_of

__all__ = ["run"]


def run(given: argparse.Namespace, console: Console) -> int:
    """Do what `traces scores` was given, and return its exit code."""
    check_new_file(given.output)
    result = Result.load(given.folder)
    if given.metric is not None and given.metric not in result:
        raise ResultError(f"{given.folder} has no column {given.metric!r}; it has {', '.join(result.metrics)}")
    write = FORMS[given.form]
    lines: list[dict[str, Any]] = []
    n_scores = n_traces = untraced = 0
    for _, scores in scores_of(result, given.metric, console.catalog()):
        untraced += not scores
        n_traces += bool(scores)
        n_scores += len(scores)
        lines += write(scores, result.manifest) if scores else []
    if not n_traces:
        message = f"no sample of {given.folder} names its trace; `rankgauge traces read` writes it to metadata.trace_id"
        raise NothingToEvaluateError(message, [])
    write_lines(given.output, lines)
    if given.as_json:
        counts = {"traces": n_traces, "scores": n_scores, "samples_without_a_trace": untraced}
        console.json({**counts, "form": given.form, "lines": len(lines), "output": str(given.output)})
        return 0
    if untraced:
        console.note(f"left out: {counted(untraced, 'sample')} that came from no trace")
    if left := n_scores - len(lines) if given.form != "otlp" else 0:
        lacking = "span" if given.form == "phoenix" else "value"
        console.note(f"left out: {counted(left, 'score')} without a {lacking}")
    console.echo(
        f"wrote {given.output} ({counted(n_scores, 'score')} of {counted(n_traces, 'trace')}, as {given.form})"
    )
    return 0
