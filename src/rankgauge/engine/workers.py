"""
Worker processes that judge parts of a dataset: what each of them does, and the order in which their answers are taken.
"""

from __future__ import annotations

import io
import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.errors import Problem, RankgaugeError, WorkerError
from rankgauge.io.datasets import DatasetReader
from rankgauge.io.file_records import Lines
from rankgauge.judging.filtered import narrowed
from rankgauge.samples import Block, BlockKind, PlacedBlock
from rankgauge.scoring.collect import Collector, JudgedPart
from rankgauge.scoring.sighting import Sighting

if TYPE_CHECKING:
    from rankgauge.engine.evaluation import Evaluation

__all__ = ["ENOUGH", "READY", "JudgedLines", "LineJudge", "judging_lines", "main"]

ENOUGH = 1 << 25
"""How many bytes of data a worker is started for: to judge fewer takes less time than to start an interpreter."""

READY = b"\0rankgauge-worker\0"
"""What a worker says first. Anything before it was printed while its interpreter started."""

_PATIENCE = 5
"""Seconds that a process which closed its answers has to end."""

_START = "import sys; sys.path[:] = sys.argv[1:]; from rankgauge.engine.workers import main; main()"


class JudgedLines(NamedTuple):
    """What a worker has judged of some lines."""

    part: JudgedPart  # the judged samples
    places: Mapping[str, int | str]  # the line of each id
    is_labelled: bool  # whether one of them has ground truth
    unlabelled: list[Problem]  # of those without any, if none has some


Judging = Callable[[Iterator[Lines]], Iterator[tuple[Lines, JudgedLines | None]]]
"""Yields lines in their order, each with what was judged of them, or None if they have to be judged here."""


@contextmanager
def judging_lines(evaluation: object, count: int, *, label: str) -> Iterator[Judging]:
    """Start worker processes for an evaluation of data called *label*; at the end they are ended, whatever they do."""
    data = pickle.dumps(evaluation, pickle.HIGHEST_PROTOCOL)
    workers: list[_Worker] = []
    try:
        workers += (_Worker(label) for _ in range(count))
        for worker in workers:
            worker.tell(data)
        yield lambda pieces: _judged(workers, pieces)
    finally:
        for worker in workers:
            worker.end()


def _judged(workers: list[_Worker], pieces: Iterator[Lines]) -> Iterator[tuple[Lines, JudgedLines | None]]:
    waiting: deque[tuple[_Worker, Lines]] = deque()
    for worker, piece in zip(workers, islice(pieces, len(workers)), strict=False):
        worker.begin()
        worker.ask(piece)
        waiting.append((worker, piece))
    while waiting:
        worker, piece = waiting.popleft()
        judged_lines: JudgedLines | None = worker.answer()
        following = next(pieces, None)
        if following is not None:
            worker.ask(following)
            waiting.append((worker, following))
        yield piece, judged_lines


class _Worker:
    """One process; whatever goes wrong with it is a `WorkerError`."""

    def __init__(self, label: str) -> None:
        if not sys.executable:
            msg = "worker processes need a Python interpreter, and sys.executable names none; use one worker"
            raise WorkerError(msg)
        self._label = label
        self._doing = ""
        # In a session of its own, so that Ctrl-C reaches this process only, which then ends the others.
        self._process = subprocess.Popen(  # noqa: S603  # this interpreter, with our own code
            [sys.executable, "-c", _START, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self._questions = cast("IO[bytes]", self._process.stdin)  # of a pipe, so never None
        self._answers = cast("IO[bytes]", self._process.stdout)

    def begin(self) -> None:
        """Wait until it can judge; raise the reason why it cannot."""
        said = b""
        while said != READY:
            letter = self._answers.read(1)
            if not letter:
                raise self._ended()
            said = (said + letter)[-len(READY) :]
        refusal = self.answer()
        if isinstance(refusal, RankgaugeError):
            raise refusal
        if refusal is not None:
            hint = "what a script or notebook defines has to be in a module that can be imported, or use one worker"
            raise WorkerError(f"a worker process cannot evaluate {self._label}: {refusal}; {hint}")

    def ask(self, piece: Lines) -> None:
        """Send some lines to be judged."""
        self._doing = piece.name
        self.tell(pickle.dumps((b"".join(piece.lines), piece.first, piece.offset), pickle.HIGHEST_PROTOCOL))

    def tell(self, data: bytes) -> None:
        """Send what it waits for."""
        try:
            self._questions.write(data)
            self._questions.flush()
        except BrokenPipeError as error:
            raise self._ended() from error

    def answer(self) -> Any:  # noqa: ANN401  # whatever was asked for
        """Return what comes back."""
        try:
            return pickle.load(self._answers)  # noqa: S301  # from a process that this one started
        except EOFError as error:
            raise self._ended() from error
        except Exception as error:  # bytes that are no answer can raise anything
            msg = f"the answer of a worker process that judged {self._doing} of {self._label} cannot be read: {error}"
            raise WorkerError(msg) from error

    def end(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._answers.close()
        try:
            self._questions.close()
        except BrokenPipeError:  # what it did not read
            pass
        finally:
            self._process.wait()

    def _ended(self) -> WorkerError:
        try:
            code = self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        named = {each.value: each.name for each in signal.Signals}
        how = f"by {named.get(-code, f'signal {-code}')}" if code < 0 else f"with code {code}"
        doing = f"while it judged {self._doing} of {self._label}" if self._doing else "before it judged anything"
        hint = "; it may have run out of memory, and fewer workers need less" if -code == signal.SIGKILL else ""
        return WorkerError(f"a worker process was ended {how} {doing}{hint}")


class LineJudge:
    """Judges pieces of a dataset, and remembers what decides about all samples."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._plan = evaluation.plan()
        self._data = evaluation.data
        self._sighting = Sighting()

    def judged(self, data: bytes, first: int, offset: int) -> JudgedLines | None:
        """Return what was judged of some lines; None if something is wrong with them."""
        problems: list[Problem] = []
        plan = self._plan
        how: dict[str, Any] = {"contract": plan.profile.contract, "needs_gold": plan.needs_gold}
        reader = DatasetReader(self._data, catalog=plan.catalog, **how)
        collector = Collector(self._plan, batch_size=sys.maxsize, sighting=self._sighting)
        kinds = collector.block_kinds if reader.has_blocks else frozenset[BlockKind]()
        for samples in reader.read_lines(Lines(io.BytesIO(data), first, offset), problems, kinds):
            if isinstance(samples, Block):
                collector.add_block(samples)
            elif isinstance(samples, PlacedBlock):
                collector.add_placed(samples)
            else:
                collector.add([narrowed(sample, plan.profile.policy) for sample in samples])
        if problems:
            return None
        part = collector.part()
        self._sighting |= part.sighting
        return JudgedLines(part, reader.places, reader.is_labelled, reader.unlabelled)


def main() -> None:
    """Answer what comes in until nothing more comes."""
    # What a plugin prints must not be among the answers, and what it reads must not be a question.
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
        judged_lines = None
        try:
            with guarded():
                judged_lines = judge.judged(*lines)
        except ForeignError:
            pass  # it is raised again where the piece is judged next
        _answer(answers, judged_lines)


def _answer(answers: BinaryIO, value: object) -> None:
    try:
        pickle.dump(value, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()
    except BrokenPipeError:
        os._exit(1)  # the parent process is gone, so there is no one to report to
