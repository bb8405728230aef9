"""
`rankgauge judge run`: a model fills in a queue.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from rankgauge.files import check_new_file, json_lines, write_whole
from rankgauge.plugin import Console
from rankgauge.text import counted
from rankgauge_judge.asking import Count, Model, Outcome
from rankgauge_judge.judge_lock import check_lock, write_lock
from rankgauge_judge.judging import Judge, Judged, Task
from rankgauge_judge.model_calls import INCOMPLETE, ask_given, check_folder, told_of_calls, told_of_end
from rankgauge_judge.queue_input import TextQueue, is_given, read_text_queue
from rankgauge_judge.rubric import Rubric, read_rubric

__all__ = ["run"]

_PINNED = ("temperature", "seed", "votes", "max_chars")
"""Which options a lock pins, beside the model and the rubric."""

_SHOWN = 5


def run(given: argparse.Namespace, console: Console) -> int:
    """Do what `judge run` was given, and return its exit code."""
    check_new_file(given.output)
    if given.lock is not None:
        check_folder(given.lock)
    queue = read_text_queue(given.queue)
    rubric = read_rubric(given.rubric, queue.header["grades"])
    pinned = {"model": given.model, "rubric": rubric.hash, **{name: getattr(given, name) for name in _PINNED}}
    served = None if given.lock is None else check_lock(given.lock, pinned)
    tasks = _tasks(queue, given, console)

    def judge(model: Model) -> Callable[[Task, Count], Judged]:
        return Judge(model=model, rubric=rubric, votes=given.votes).judge

    outcome, took = ask_given(given, console, judge, tasks, served=served)
    is_complete = not outcome.ended and not outcome.failed and len(outcome.done) == len(tasks)
    is_written = is_complete or given.partial
    if is_written:
        write_whole({given.output: json_lines(_lines(queue, outcome, given.model, rubric))})
    names = {answer.served for one in outcome.done.values() for answer in one.answers if answer.served}
    is_locked = given.lock is not None and served is None and any(one.answers for one in outcome.done.values())
    if is_locked:
        write_lock(given.lock, pinned, names)
    graded = sum(one.grade is not None for one in outcome.done.values())
    summary = {"model": given.model, "rubric": rubric.hash, "documents": len(tasks), "graded": graded, **took}
    if given.lock is not None:
        summary["lock"] = str(given.lock) if is_locked or served is not None else None
    if given.as_json:
        console.json(summary | {"queue": str(given.output) if is_written else None})
    else:
        console.echo("\n".join(_told(summary, outcome, is_written=is_written)))
        if is_locked:
            console.echo(f"wrote {given.lock}, which pins this judge{_named(names)}")
        console.echo(f"wrote {given.output}" if is_written else _unwritten(given.output))
    return 0 if is_complete else INCOMPLETE


def _tasks(queue: TextQueue, given: argparse.Namespace, console: Console) -> list[Task]:
    """Return the documents without a grade; say how many are cut off."""
    rows = queue.open
    if cut := sum(len(row["document_text"]) > given.max_chars for _, row in rows):
        console.note(f"{counted(cut, 'document')} shown up to character {given.max_chars:,} only (--max-chars)")
    return [Task(place, row["query_text"], row["document_text"][: given.max_chars]) for place, row in rows]


def _lines(queue: TextQueue, outcome: Outcome[Judged], model: str, rubric: Rubric) -> Iterator[dict[str, Any]]:
    """Yield the queue with its grades; documents without one are left out, as a judge leaves them out."""
    yield dict(queue.header)
    for place, row in enumerate(queue.rows):
        judged = outcome.done.get(place)
        if judged is not None and judged.grade is not None:
            yield row | _filled(judged, judged.grade, model, rubric)
        elif is_given(row.get("grade")):
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


def _told(summary: Mapping[str, Any], outcome: Outcome[Judged], *, is_written: bool) -> Iterator[str]:
    yield (f"{summary['graded']:,} of {counted(summary['documents'], 'document')} graded by model:{summary['model']}")
    yield from told_of_calls(summary, summary["graded"], "document")
    for one in outcome.failed[:_SHOWN]:
        yield f"no grade for document {one.place + 1:,} of the queue: {one.failure}"
    if len(outcome.failed) > _SHOWN:
        yield f"and {len(outcome.failed) - _SHOWN:,} more without a grade"
    yield from told_of_end(outcome, is_written=is_written)


def _named(served: Collection[str]) -> str:
    if served:
        return f"; the endpoint calls it {', '.join(sorted(served))}"
    return "; the endpoint does not say what it is, so a change behind the name would not be noticed"


def _unwritten(output: Path) -> str:
    return f"{output} is not written, because grades are missing; answers are kept, and --partial writes it anyway"
