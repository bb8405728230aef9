"""
Worker processes that judge parts of a dataset, and the order in which their answers are taken.

They are fresh interpreters, because a process whose libraries have threads cannot be forked safely. Lines are dealt
out in turn and answers are taken in the same turn. A worker has one piece at a time and reads all of it before it
answers, so that neither side waits for the other to empty a pipe.
"""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import IO, Any, NamedTuple, cast

from rankgauge.errors import RankgaugeError, WorkerError
from rankgauge.io.file_records import Lines
from rankgauge.scoring.judged_parts import JudgedPart

__all__ = ["ENOUGH", "READY", "JudgedLines", "judging_lines"]

ENOUGH = 1 << 25
"""How many bytes of data a worker is started for: to judge fewer takes less time than to start an interpreter."""

READY = b"\0rankgauge-worker\0"
"""What a worker says first. Anything before it was printed while its interpreter started."""

_PATIENCE = 5
"""Seconds that a process which closed its answers has to end."""

_START = "import sys; sys.path[:] = sys.argv[1:]; from rankgauge.engine.worker_process import main; main()"


class JudgedLines(NamedTuple):
    """What a worker has judged of some lines."""

    part: JudgedPart  # the judged samples
    places: Mapping[str, int | str]  # the line of each id


Judging = Callable[[Iterator[Lines]], Iterator[tuple[Lines, JudgedLines | None]]]
"""Yields lines in their order, each with what was judged of them, or None where they have to be judged here."""


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
        found: JudgedLines | None = worker.answer()
        following = next(pieces, None)
        if following is not None:
            worker.ask(following)
            waiting.append((worker, following))
        yield piece, found


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
            hint = "what a script or notebook defines has to stand in a module that can be imported, or use one worker"
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
        hint = "; it may have run out of memory, of which fewer workers need less" if -code == signal.SIGKILL else ""
        return WorkerError(f"a worker process was ended {how} {doing}{hint}")
