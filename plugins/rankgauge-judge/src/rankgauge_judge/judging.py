"""
Judging a queue: one document after the other by a model, with votes, one repair, and answers that are kept.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, Final

from rankgauge_judge.answers import Answer, KeptAnswers, content_key, read_answer
from rankgauge_judge.endpoint import BudgetSpentError, CallFailedError, Endpoint, StoppedError
from rankgauge_judge.rubric import Rubric

__all__ = ["Judge", "Judged", "Outcome", "Task", "judge_all"]

_LONGEST_QUOTE: Final = 2_000
_GIVE_UP: Final = 3
"""After how many documents in a row whose calls failed for good no further one is tried."""

_REPAIR: Final = (
    "That is not the JSON object that was asked for: {flaw}. Answer with the object alone, with the grade that you "
    "would have given."
)


@dataclass(frozen=True, slots=True)
class Task:
    """A document to judge: its place in the queue, and the texts."""

    place: int
    query: str
    document: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What became of a task: a grade with its votes, or why there is none."""

    task: Task
    grade: float | None = None
    answers: tuple[Answer, ...] = ()
    failure: str = ""
    is_unreachable: bool = False


@dataclass(slots=True)
class Outcome:
    """What became of a queue; `ended` says why it ended early, if it did."""

    judged: dict[int, Judged] = field(default_factory=dict)  # by place
    ended: str = ""
    kept: Counter[str] = field(default_factory=Counter)  # votes: kept, called, repaired

    @property
    def failed(self) -> list[Judged]:
        """Return the documents without a grade."""
        return [one for _, one in sorted(self.judged.items()) if one.grade is None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """
    A model as a judge.

    Attributes:
        model: Its name at the endpoint.

        rubric: What it is told.

        endpoint: Where it is asked; None to use kept answers only.

        answers: Where answers are kept.

        votes: How many answers make a grade: their median, the lower one of two.

        temperature: Sent with each request.

        seed: Sent with the first vote, and raised by one for each further one.

        max_tokens: How long an answer may be.

        now: Returns the time, as answers are kept with it.
    """

    model: str
    rubric: Rubric
    endpoint: Endpoint | None
    answers: KeptAnswers
    votes: int = 1
    temperature: float = 0.0
    seed: int = 0
    max_tokens: int = 300
    now: Callable[[], str]

    def judge(self, task: Task, count: Callable[[str], None]) -> Judged:
        """Return the grade of a document; *count* is told where each vote came from."""
        answers: list[Answer] = []
        failure = ""
        for vote in range(self.votes):
            try:
                answers.append(self._vote(task, vote, count))
            except CallFailedError as error:
                return Judged(task=task, failure=str(error), is_unreachable=True)
            except ValueError as error:
                failure = str(error)
        if 2 * len(answers) <= self.votes:
            return Judged(task=task, answers=tuple(answers), failure=f"the answer cannot be used: {failure}")
        grades = sorted(answer.grade for answer in answers)
        return Judged(task=task, grade=grades[(len(grades) - 1) // 2], answers=tuple(answers))

    def _vote(self, task: Task, vote: int, count: Callable[[str], None]) -> Answer:
        """Return one answer, kept or asked for; a `ValueError` says why it cannot be used, after one repair."""
        request = self._request(task, vote)
        key = content_key(request)
        answer = self.answers.get(key)
        if answer is not None and answer.grade in self.rubric.grades:
            count("kept")
            return answer
        if self.endpoint is None:
            raise CallFailedError("no answer to it is kept, and --offline asks nobody")
        try:
            answer = self._asked(request)
        except _UnusableError as unusable:
            count("repaired")
            said = {"role": "assistant", "content": unusable.text[:_LONGEST_QUOTE]}
            wanted = {"role": "user", "content": _REPAIR.format(flaw=unusable)}
            answer = self._asked({**request, "messages": [*request["messages"], said, wanted]})
        count("asked")
        self.answers.put(key, answer)
        return answer

    def _asked(self, request: Mapping[str, Any]) -> Answer:
        assert self.endpoint is not None  # noqa: S101  # `_vote` has looked
        reply = self.endpoint.ask(request)
        try:
            grade, reason = read_answer(reply.text, self.rubric.grades)
        except ValueError as error:
            flaw = str(error) if reply.whole else f"it is cut off after {self.max_tokens} tokens"
            raise _UnusableError(flaw, reply.text) from None
        return Answer(
            grade=grade,
            reason=reason,
            served=reply.model,
            when=self.now(),
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
        )

    def _request(self, task: Task, vote: int) -> dict[str, Any]:
        schema = {"name": "judgment", "strict": True, "schema": self.rubric.schema_of_answers}
        return {
            "model": self.model,
            "messages": self.rubric.messages(task.query, task.document),
            "temperature": self.temperature,
            "seed": self.seed + vote,
            "max_tokens": self.max_tokens,
            "response_format": {"type": "json_schema", "json_schema": schema},
        }


class _UnusableError(ValueError):
    """An answer that does not fit the schema, with its text."""

    def __init__(self, flaw: str, text: str) -> None:
        super().__init__(flaw)
        self.text = text


def judge_all(
    judge: Judge,
    tasks: Sequence[Task],
    *,
    concurrency: int = 4,
    stop: threading.Event,
    progress: Callable[[int], object] = bool,
) -> Outcome:
    """
    Judge documents, in order, several at a time, until all are judged or something ends it.

    The first Ctrl-C lets the calls that are under way end; the second leaves them behind.
    """
    outcome = Outcome()
    lock = threading.Lock()

    def count(what: str) -> None:
        with lock:
            outcome.kept[what] += 1

    rest = iter(tasks)
    running: set[Future[Judged]] = set()
    in_a_row = 0
    pool = ThreadPoolExecutor(max_workers=concurrency, thread_name_prefix="judge")
    try:
        while True:
            try:
                if not stop.is_set():
                    running |= {
                        pool.submit(judge.judge, task, count) for task in _next(rest, concurrency - len(running))
                    }
                if not running:
                    return outcome
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    in_a_row = _took(future, outcome, in_a_row)
                    running.discard(future)
                progress(len(outcome.judged))
            except KeyboardInterrupt:
                if stop.is_set():
                    raise
                outcome.ended = "interrupted"
            if outcome.ended:
                stop.set()
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _took(future: Future[Judged], outcome: Outcome, in_a_row: int) -> int:
    """Take what became of a task; return how many in a row could not be reached."""
    try:
        judged = future.result()
    except BudgetSpentError:
        outcome.ended = outcome.ended or "the budget is spent"
        return in_a_row
    except StoppedError:
        return in_a_row
    outcome.judged[judged.task.place] = judged
    in_a_row = in_a_row + 1 if judged.is_unreachable else 0
    if in_a_row >= _GIVE_UP:
        outcome.ended = outcome.ended or f"{_GIVE_UP} documents in a row failed; the last: {judged.failure}"
    return in_a_row


def _next(tasks: Iterator[Task], most: int) -> Iterator[Task]:
    for _ in range(most):
        task = next(tasks, None)
        if task is None:
            return
        yield task
