"""
A worker process: judges the lines of a dataset that it is sent, until there are no more.

Its standard input holds pickles: the evaluation, then pieces of the data. The first answer on standard output is None,
or why it cannot judge; each further one is what was judged, or None where the sender has to judge the piece itself and
so finds out what is wrong with it.
"""

from __future__ import annotations

import io
import os
import pickle
import sys
from typing import TYPE_CHECKING, BinaryIO

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.engine.workers import READY, JudgedLines
from rankgauge.errors import Problem, RankgaugeError
from rankgauge.io.datasets import DatasetReader
from rankgauge.io.file_records import Lines
from rankgauge.samples import Block
from rankgauge.scoring.collect import Collector
from rankgauge.scoring.judged_parts import Sighting

if TYPE_CHECKING:
    from rankgauge.engine.setup import Setup

__all__ = ["LineJudge", "main"]


class LineJudge:
    """Judges pieces of a dataset, and remembers what decides about all samples."""

    def __init__(self, evaluation: Setup) -> None:
        self._plan = evaluation.plan()
        self._data = evaluation.data
        self._sighting = Sighting()

    def judged(self, data: bytes, first: int, offset: int) -> JudgedLines | None:
        """Return what was judged of some lines; None where something is wrong with them."""
        problems: list[Problem] = []
        reader = DatasetReader(self._data, catalog=self._plan.catalog, contract=self._plan.profile.contract)
        collector = Collector(self._plan, batch_size=sys.maxsize, sighting=self._sighting)
        as_blocks = collector.takes_blocks and reader.has_blocks
        for samples in reader.read_lines(Lines(io.BytesIO(data), first, offset), problems, as_blocks=as_blocks):
            if isinstance(samples, Block):
                collector.add_block(samples)
            else:
                collector.add(samples)
        if problems:
            return None
        part = collector.part()
        self._sighting |= part.sighting
        return JudgedLines(part, reader.places)


def main() -> None:
    """Answer what comes in until nothing more comes."""
    # What a plugin prints must not stand among the answers, and what it reads must not be a question.
    answers, questions = os.fdopen(os.dup(1), "wb"), os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    answers.write(READY)
    try:
        with guarded(RankgaugeError):
            judge = LineJudge(pickle.load(questions))  # noqa: S301  # from the process that started this one
    except RankgaugeError as error:
        return _answer(answers, error)
    except ForeignError as error:
        return _answer(answers, str(error))
    _answer(answers, None)
    while True:
        try:
            lines = pickle.load(questions)  # noqa: S301  # as above
        except EOFError:
            return None
        found = None
        try:
            with guarded():
                found = judge.judged(*lines)
        except ForeignError:
            pass  # it is raised again where the piece is judged next
        _answer(answers, found)


def _answer(answers: BinaryIO, value: object) -> None:
    try:
        pickle.dump(value, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()
    except BrokenPipeError:
        os._exit(1)  # nobody is there any more to whom anything could be told
