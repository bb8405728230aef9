"""
Asking a model: answers by a schema, kept or asked for, with one repair; and many questions at a time.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, Final, Generic, Protocol, TypeVar

from rankgauge_judge.answers import Answer, KeptAnswers, content_key
from rankgauge_judge.endpoint import BudgetSpentError, CallFailedError, Endpoint, StoppedError

__all__ = ["Count", "Model", "OtherModelError", "Outcome", "ask_all"]

T = TypeVar("T")

Count = Callable[[str], None]
"""Is called with where each answer came from: `asked`, `kept`, or `repaired` before that."""

_LONGEST_QUOTE: Final = 2_000
_GIVE_UP: Final = 3
"""After how many tasks in a row whose calls failed for good no further one is tried."""

_REPAIR: Final = "That is not the JSON object that was asked for: {flaw}. Answer with the object alone, {as_before}."


class OtherModelError(Exception):
    """An answer of a model that a lock does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """
    A model that answers by a schema.

    Attributes:
        name: Its name at the endpoint.

        endpoint: Where it is asked; None to use kept answers only.

        answers: Where answers are kept.

        temperature: Sent with each request.

        seed: Sent with the first vote, and raised by one for each further one.

        now: Returns the time, as answers are kept with it.

        served: What the endpoint may call the model that answers; None or nothing for any name.
    """

    name: str
    endpoint: Endpoint | None
    answers: KeptAnswers
    temperature: float = 0.0
    seed: int = 0
    now: Callable[[], str]
    served: Collection[str] | None = None

    def ask(
        self,
        messages: Sequence[Mapping[str, str]],
        schema: Mapping[str, Any],
        read: Callable[[str], T],
        count: Count,
        *,
        vote: int = 0,
        max_tokens: int = 300,
        as_before: str = "with what you would have answered",
    ) -> tuple[T, Answer]:
        """
        Return what *read* makes of an answer, and the answer.

        *read* raises a `ValueError` that says what is wrong with an answer, which the model is shown once. So does this
        where the second one is wrong, too; a `CallFailedError` if there is no answer; an `OtherModelError` if
        another model than those of `served` gave it.
        """
        request = self._request(messages, schema, vote, max_tokens)
        key = content_key(request)
        kept = self.answers.get(key)
        if kept is not None and self._is_served(kept.served):
            try:
                value = read(kept.text)
            except ValueError:
                pass  # kept by another version, perhaps
            else:
                count("kept")
                return value, kept
        if self.endpoint is None:
            raise CallFailedError("no answer to it is kept, and --offline asks no model", is_unreachable=False)
        try:
            value, answer = self._asked(request, read)
        except _UnusableError as unusable:
            count("repaired")
            said = {"role": "assistant", "content": unusable.text[:_LONGEST_QUOTE]}
            wanted = {"role": "user", "content": _REPAIR.format(flaw=unusable, as_before=as_before)}
            value, answer = self._asked({**request, "messages": [*request["messages"], said, wanted]}, read)
        count("asked")
        self.answers.put(key, answer)
        return value, answer

    def _asked(self, request: Mapping[str, Any], read: Callable[[str], T]) -> tuple[T, Answer]:
        assert self.endpoint is not None  # noqa: S101  # `ask` has looked
        reply = self.endpoint.ask(request)
        if not self._is_served(reply.model):
            named = " or ".join(map(repr, sorted(self.served or ())))
            raise OtherModelError(f"{self.name} is {reply.model!r} now, and the lock has {named}")
        try:
            value = read(reply.text)
        except ValueError as error:
            flaw = str(error) if reply.whole else f"it is cut off after {request['max_tokens']} tokens"
            raise _UnusableError(flaw, reply.text) from None
        answer = Answer(
            text=reply.text,
            served=reply.model,
            when=self.now(),
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
        )
        return value, answer

    def _is_served(self, name: str) -> bool:
        return not self.served or not name or name in self.served

    def _request(
        self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], vote: int, max_tokens: int
    ) -> dict[str, Any]:
        named = {"name": "judgment", "strict": True, "schema": schema}
        return {
            "model": self.name,
            "messages": list(messages),
            "temperature": self.temperature,
            "seed": self.seed + vote,
            "max_tokens": max_tokens,
            "response_format": {"type": "json_schema", "json_schema": named},
        }


class _UnusableError(ValueError):
    """An answer that does not fit the schema, with its text."""

    def __init__(self, flaw: str, text: str) -> None:
        super().__init__(flaw)
        self.text = text


class Done(Protocol):
    """What became of a task: its place, and why it failed, if it did."""

    @property
    def place(self) -> int: ...

    @property
    def failure(self) -> str: ...

    @property
    def is_unreachable(self) -> bool: ...


D = TypeVar("D", bound=Done)
W = TypeVar("W")


@dataclass(slots=True)
class Outcome(Generic[D]):
    """What became of tasks; `ended` says why it ended early, if it did, and `is_final` that it would again."""

    done: dict[int, D] = field(default_factory=dict)  # by place
    ended: str = ""
    is_final: bool = False
    kept: Counter[str] = field(default_factory=Counter)  # answers: asked, kept, repaired

    @property
    def failed(self) -> list[D]:
        """Return what failed, in order."""
        return [one for _, one in sorted(self.done.items()) if one.failure]


def ask_all(
    work: Callable[[W, Count], D],
    tasks: Sequence[W],
    *,
    concurrency: int = 4,
    stop: threading.Event,
    progress: Callable[[int], object] = bool,
) -> Outcome[D]:
    """
    Do *work* for tasks, in order, several at a time, until all are done or something ends it.

    The first Ctrl-C lets the calls that are under way end; the second leaves them behind.
    """
    outcome: Outcome[D] = Outcome()
    lock = threading.Lock()

    def count(what: str) -> None:
        with lock:
            outcome.kept[what] += 1

    rest = iter(tasks)
    running: set[Future[D]] = set()
    in_a_row = 0
    pool = ThreadPoolExecutor(max_workers=concurrency, thread_name_prefix="judge")
    try:
        while True:
            try:
                if not stop.is_set():
                    running |= {pool.submit(work, task, count) for task in _next(rest, concurrency - len(running))}
                if not running:
                    return outcome
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    in_a_row = _took(future, outcome, in_a_row)
                    running.discard(future)
                progress(len(outcome.done))
            except KeyboardInterrupt:
                if stop.is_set():
                    raise
                outcome.ended = "interrupted"
            if outcome.ended:
                stop.set()
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _took(future: Future[D], outcome: Outcome[D], in_a_row: int) -> int:
    """Take what became of a task; return how many in a row could not be reached."""
    try:
        done = future.result()
    except BudgetSpentError:
        outcome.ended = outcome.ended or "the budget is spent"
        return in_a_row
    except OtherModelError as error:
        outcome.ended, outcome.is_final = outcome.ended or str(error), True
        return in_a_row
    except StoppedError:
        return in_a_row
    outcome.done[done.place] = done
    in_a_row = in_a_row + 1 if done.is_unreachable else 0
    if in_a_row >= _GIVE_UP:
        outcome.ended = outcome.ended or f"{_GIVE_UP} in a row failed; the last: {done.failure}"
    return in_a_row


def _next(tasks: Iterator[W], most: int) -> Iterator[W]:
    for _ in range(most):
        task = next(tasks, None)
        if task is None:
            return
        yield task
