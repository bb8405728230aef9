"""
What all engines share: documents that go in, hits that come out, and the call of a system under test around a search.
"""

from __future__ import annotations

import contextlib
import importlib
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from rankgauge.errors import ParameterError

__all__ = ["Document", "Engine", "Hit", "Pool", "Searching", "check_sizes", "question_of", "required"]

R = TypeVar("R")

_QUESTIONS = ("question", "query", "text", "input")


@dataclass(frozen=True, slots=True)
class Document:
    """A document of a corpus."""

    id: str
    title: str
    text: str

    @property
    def whole(self) -> str:
        """Return title and text, the title once."""
        return f"{self.title}\n{self.text}" if self.title and not self.text.startswith(self.title) else self.text


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found; a higher score is a better one."""

    id: str
    score: float | None = None
    text: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return it as an item of `retrieved`."""
        item: dict[str, Any] = {"id": self.id}
        if self.score is not None:
            item["score"] = self.score
        if self.text is not None:
            item["text"] = self.text
        if self.metadata:
            item["metadata"] = dict(self.metadata)
        return item


class Engine(Protocol):
    """A search engine; several threads may search at a time."""

    def search(self, question: str, given: object, /) -> Sequence[Hit]:
        """Return what is found, the best first; *given* is the whole input of the sample."""
        ...

    def index(self, documents: Iterable[Document]) -> int:
        """Load documents in place of what is there; return how many."""
        ...

    def check(self) -> None:
        """Raise what is wrong before anything is searched."""
        ...

    def close(self) -> None:
        """Let go of connections and files."""
        ...


class Searching:
    """An engine as a system under test."""

    def __init__(self, engine: Engine) -> None:
        """Take the engine, which is closed with this."""
        self.engine = engine

    def __call__(self, given: object) -> dict[str, Any]:
        """Return what the engine finds for a sample's input, and how long that took."""
        begun = time.perf_counter()
        hits = self.engine.search(question_of(given), given)
        seconds = time.perf_counter() - begun
        return {"retrieved": [hit.to_dict() for hit in hits], "seconds": round(seconds, 6)}

    def index(self, documents: Iterable[Document]) -> int:
        """Load documents into the engine; return how many."""
        return self.engine.index(documents)

    def check(self) -> None:
        """Raise what is wrong with the engine before anything is searched."""
        self.engine.check()

    def close(self) -> None:
        """Close the engine."""
        self.engine.close()


def question_of(given: object) -> str:
    """Return the question of a sample's input: a text, or an object with one under a usual name."""
    if isinstance(given, Mapping):
        given = next((given[key] for key in _QUESTIONS if isinstance(given.get(key), str)), None)
    if not isinstance(given, str) or not given.strip():
        named = ", ".join(_QUESTIONS[:-1])
        raise ValueError(f"the sample's input has no question: it is a text, or an object with one of {named}")
    return given


def required(module: str, what: str, extra: str) -> Any:  # noqa: ANN401  # a module
    """Return a module of an extra; a `ParameterError` says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        msg = f"{what} needs {module}, which is not installed: pip install 'rankgauge-systems[{extra}]'"
        raise ParameterError(msg) from error


class Pool(Generic[R]):
    """
    Connections or processes that one call uses at a time; there are as many as calls at once.

    One that a call failed with is thrown away.
    """

    def __init__(self, make: Callable[[], R], close: Callable[[R], object]) -> None:
        """Take how one is made, and how it is closed."""
        self._make, self._close = make, close
        self._idle: queue.LifoQueue[R] = queue.LifoQueue()
        self._all: list[R] = []
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def taken(self) -> Iterator[R]:
        """Lend one for a call."""
        try:
            one = self._idle.get_nowait()
        except queue.Empty:
            one = self._make()
            with self._lock:
                self._all.append(one)
        try:
            yield one
        except BaseException:
            with self._lock, contextlib.suppress(ValueError):
                self._all.remove(one)
            with contextlib.suppress(Exception):
                self._close(one)
            raise
        with self._lock:
            if one in self._all:  # it was not closed meanwhile
                self._idle.put(one)

    def close(self) -> None:
        """Close all of them, also those that a call still uses; a later call makes new ones."""
        with self._lock:
            every, self._all, self._idle = self._all, [], queue.LifoQueue()
        for one in every:
            with contextlib.suppress(Exception):
                self._close(one)


def check_sizes(vectors: Sequence[Sequence[float]], wanted: int, what: str) -> None:
    """Refuse vectors that are not as many as texts, or of different lengths."""
    if len(vectors) != wanted or len({len(vector) for vector in vectors}) > 1:
        lengths = sorted({len(vector) for vector in vectors})
        raise ParameterError(f"{what} returned {len(vectors)} vectors of lengths {lengths} for {wanted} texts")
