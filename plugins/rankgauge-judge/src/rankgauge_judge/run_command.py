"""
`rankgauge judge run`: a model fills in a queue.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rankgauge.cli.console import echo, print_json, remark
from rankgauge.errors import counted
from rankgauge.pooling.queue_files import lines_of, write_files
from rankgauge_judge.asking import Outcome
from rankgauge_judge.judging import Judge, Judged, Task
from rankgauge_judge.model_calls import INCOMPLETE, ask_given, check_output, told_of_calls
from rankgauge_judge.queue_input import TextQueue, read_text_queue
from rankgauge_judge.rubric import Rubric, read_rubric

__all__ = ["run"]

_SHOWN = 5


def run(given: argparse.Namespace) -> int:
    """Do what `judge run` was given, and return its exit code."""
    check_output(given.output)
    queue = read_text_queue(given.queue)
    rubric = read_rubric(given.rubric, queue.header["grades"])
    tasks = _tasks(queue, given)
    outcome, took = ask_given(given, lambda model: Judge(model=model, rubric=rubric, votes=given.votes).judge, tasks)
    is_complete = not outcome.ended and not outcome.failed and len(outcome.done) == len(tasks)
    is_written = is_complete or given.partial
    if is_written:
        write_files({given.output: lines_of(_lines(queue, outcome, given.model, rubric))})
    graded = sum(one.grade is not None for one in outcome.done.values())
    summary = {"model": given.model, "rubric": rubric.hash, "documents": len(tasks), "graded": graded, **took}
    if given.as_json:
        print_json(summary | {"queue": str(given.output) if is_written else None})
    else:
        echo("\n".join(_told(summary, outcome)))
        echo(f"wrote {given.output}" if is_written else _unwritten(given.output))
    return 0 if is_complete else INCOMPLETE


def _tasks(queue: TextQueue, given: argparse.Namespace) -> list[Task]:
    """Return the documents without a grade; say how many are cut off."""
    rows = queue.open
    if cut := sum(len(row["document_text"]) > given.max_chars for _, row in rows):
        remark(f"{counted(cut, 'document')} shown up to character {given.max_chars:,} only (--max-chars)")
    return [Task(place, row["query_text"], row["document_text"][: given.max_chars]) for place, row in rows]


def _lines(queue: TextQueue, outcome: Outcome[Judged], model: str, rubric: Rubric) -> Iterator[dict[str, Any]]:
    """Yield the queue with its grades; documents without one are left out, as a judge leaves them out."""
    yield dict(queue.header)
    for place, row in enumerate(queue.rows):
        judged = outcome.done.get(place)
        if judged is not None and judged.grade is not None:
            yield row | _filled(judged, judged.grade, model, rubric)
        elif row.get("grade") not in {None, ""}:
            yield row


def _filled(judged: Judged, grade: float, model: str, rubric: Rubric) -> dict[str, Any]:
    """Return what a line says of the judge: who, by which rubric, when, and every vote."""
    return {
        "grade": int(grade) if grade.is_integer() else grade,
        "judge": f"model:{model}",
        "rubric": rubric.hash,
        "when": max(answer.when for answer in judged.answers),
        "votes": list(judged.votes),
        "served": sorted({answer.served for answer in judged.answers if answer.served}),
        "reason": judged.reason,
    }


def _told(summary: Mapping[str, Any], outcome: Outcome[Judged]) -> Iterator[str]:
    yield (f"{summary['graded']:,} of {counted(summary['documents'], 'document')} graded by model:{summary['model']}")
    yield from told_of_calls(summary, summary["graded"], "document")
    for one in outcome.failed[:_SHOWN]:
        yield f"no grade for document {one.place + 1:,} of the queue: {one.failure}"
    if len(outcome.failed) > _SHOWN:
        yield f"and {len(outcome.failed) - _SHOWN:,} more without a grade"
    if outcome.ended:
        yield f"ended early: {outcome.ended}; run the same command again to go on"


def _unwritten(output: Path) -> str:
    return f"{output} is not written, because grades are missing; answers are kept, and --partial writes it anyway"
