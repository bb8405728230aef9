"""
`rankgauge judge page`: pages on which people judge a queue.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rankgauge.errors import DataError, ParameterError, Problem
from rankgauge.files import check_new_file, write_whole
from rankgauge.plugin import Console
from rankgauge.text import counted
from rankgauge_judge.judging_page import judging_page, parts_of, shuffled
from rankgauge_judge.queue_input import read_text_queue
from rankgauge_judge.rubric import Rubric, read_rubric

__all__ = ["page"]

_SHIPPED = {"graded": {0, 1, 2, 3}, "binary": {0, 1}}
"""The rubrics that ship, with their grades."""


def page(given: argparse.Namespace, console: Console) -> int:
    """Do what `judge page` was given, and return its exit code."""
    if given.overlap and given.judges == 1:
        raise ParameterError("--overlap is what several judges have in common; give --judges, too")
    outputs = _outputs(given.output, given.judges)
    for output in outputs:
        check_new_file(output)
    queue = read_text_queue(given.queue)
    rows = [row for _, row in queue.open]
    if not rows:
        raise DataError("there is nothing to judge:", [Problem("every document has a grade", str(given.queue))])
    questions = shuffled(rows, given.seed)
    if given.judges > len(questions):
        few = f"{counted(len(questions), 'question')} cannot be shared by {given.judges:,} judges"
        raise ParameterError(f"{few}: each gets whole questions")
    parts = list(parts_of(questions, given.judges, given.overlap))
    rubric = _rubric(given.rubric, queue.header["grades"])
    pages = [judging_page(queue, part, rubric, given.queue.name).encode() for part in parts]
    write_whole(dict(zip(outputs, pages, strict=True)))
    counts = {str(output): len(part) for output, part in zip(outputs, parts, strict=True)}
    if given.as_json:
        console.json({"documents": len(rows), "questions": len(questions), "pages": counts})
    else:
        console.echo(f"{counted(len(rows), 'document')} of {counted(len(questions), 'question')} to judge")
        console.echo("\n".join(f"wrote {output}: {counted(n, 'document')}" for output, n in counts.items()))
    return 0


def _outputs(output: Path, judges: int) -> list[Path]:
    if judges == 1:
        return [output]
    return [output.with_name(f"{output.stem}-{number}{output.suffix}") for number in range(1, judges + 1)]


def _rubric(name: str | None, grades: Sequence[float]) -> Rubric | None:
    """Return the rubric that was named, or the one that ships for these grades; None if there is none."""
    if name is not None:
        return read_rubric(name, grades)
    shipped = next((name for name, scale in _SHIPPED.items() if scale == set(grades)), None)
    return None if shipped is None else read_rubric(shipped, grades)
