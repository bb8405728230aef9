"""
What all engines share: documents that go in, hits that come out, and the call of a system under test around a search.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import queue
import re
import tempfile
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from rankgauge.errors import ParameterError

__all__ = [
    "ENDS_IN_TIE",
    "IS_SHORT",
    "Document",
    "Engine",
    "Hit",
    "Loaded",
    "Pool",
    "Searching",
    "check_sizes",
    "made_whole",
    "question_of",
    "replaced_folder",
    "required",
    "words_of",
]

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


class Loaded(NamedTuple):
    """What was loaded into an engine."""

    documents: int
    zeros: tuple[str, ...] = ()  # ids of documents that a search of vectors lacks: their embeddings are all zeros


class Engine(Protocol):
    """A search engine; several threads may search at a time."""

    def search(self, question: str, given: object, most: int, /) -> Sequence[Hit]:
        """Return at *most* so many documents, the best first; *given* is the whole input of the sample."""
        ...

    def documents(self, given: object, /) -> int | None:
        """Return how many documents a search of vectors chooses from; None if not all documents are found."""
        ...

    def index(self, documents: Iterable[Document]) -> Loaded:
        """Load documents in place of what is there."""
        ...

    def version(self) -> str:
        """Return which engine it is."""
        ...

    def check(self) -> None:
        """Raise what is wrong before anything is searched."""
        ...

    def close(self) -> None:
        """Let go of connections and files."""
        ...


ENDS_IN_TIE: Final = "the ranking ends inside a tie: a document that is left out has the score of the last"
IS_SHORT: Final = "fewer than k documents were found although there are more, as approximate indexes do"


class Searching:
    """
    An engine as a system under test.

    It asks for one document more than it returns, which shows whether the ranking ends inside a tie. Neighbours with
    equal scores are ordered by id, so that their order is the same in each process.
    """

    def __init__(self, engine: Engine, k: int) -> None:
        """Take the engine, which is closed with this, and how many documents are returned at most."""
        self.engine, self.k = engine, k

    def __call__(self, given: object) -> dict[str, Any]:
        """Return what the engine finds for a sample's input, how long that took, and what is to be said of it."""
        begun = time.perf_counter()
        found = self.engine.search(question_of(given), given, self.k + 1)
        seconds = time.perf_counter() - begun
        hits = _by_id_in_ties(found)
        output = {"retrieved": [hit.to_dict() for hit in hits[: self.k]], "seconds": round(seconds, 6)}
        remarks = []
        if len(hits) < self.k and (self.engine.documents(given) or 0) > len(hits):
            remarks.append(IS_SHORT)
        if len(hits) > self.k and hits[self.k].score == hits[self.k - 1].score is not None:
            remarks.append(ENDS_IN_TIE)
        return {**output, "remarks": remarks} if remarks else output

    def index(self, documents: Iterable[Document]) -> Loaded:
        """Load documents into the engine."""
        return self.engine.index(documents)

    def check(self) -> None:
        """Raise what is wrong with the engine before anything is searched."""
        self.engine.check()

    def close(self) -> None:
        """Close the engine."""
        self.engine.close()


def _by_id_in_ties(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits in their order, but neighbours with equal scores by id."""
    ordered: list[Hit] = []
    for score, neighbours in itertools.groupby(hits, lambda hit: hit.score):
        tied = list(neighbours)
        ordered += tied if score is None else sorted(tied, key=lambda hit: hit.id)
    return ordered


@contextlib.contextmanager
def made_whole(path: Path) -> Iterator[None]:
    """Remove a file that was not there before and was begun in vain."""
    is_new = not path.exists()
    try:
        yield
    except BaseException:
        if is_new:
            path.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def replaced_folder(path: Path, own: re.Pattern[str], what: str) -> Iterator[Path]:
    """
    Lend an empty folder, which takes the place of another one at the end.

    A `ParameterError` says that something else is there: a file whose name is none of the engine's *own*.
    """
    if path.exists():
        names = sorted(file.name for file in path.iterdir()) if path.is_dir() else [path.name]
        if strange := [name for name in names if own.fullmatch(name) is None or not path.is_dir()]:
            raise ParameterError(f"{path} has {strange[0]}, which is no part of {what}; it needs a folder of its own")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        new = Path(folder) / "new"
        new.mkdir()
        yield new
        if path.exists():
            path.rename(Path(folder) / "old")
        new.rename(path)


def question_of(given: object) -> str:
    """Return the question of a sample's input: a text, or an object with one under a usual name."""
    if isinstance(given, Mapping):
        given = next((given[key] for key in _QUESTIONS if isinstance(given.get(key), str)), None)
    if not isinstance(given, str) or not given.strip():
        named = ", ".join(_QUESTIONS[:-1])
        raise ValueError(f"the sample's input has no question: it is a text, or an object with one of {named}")
    return given


def words_of(question: str) -> list[str]:
    """
    Return the words of a question, each whole: letters, digits and the marks that belong to them.

    An engine cuts each by its own tokenizer, and looks for the parts as a phrase. Marks are vowels in Indic scripts;
    words that are cut there fall into single consonants.
    """
    kept = (char if unicodedata.category(char)[0] in "LNM" or char == "_" else " " for char in question)
    return "".join(kept).split()


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
