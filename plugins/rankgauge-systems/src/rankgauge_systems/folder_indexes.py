"""
Libraries that search in this process and keep nothing but an index: faiss, usearch and bm25s.

Each has a folder, with the documents beside the index; it is replaced whole.
"""

from __future__ import annotations

import json
import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from rankgauge.errors import ParameterError
from rankgauge_systems.engines import Document, Hit, Loaded, replaced_folder, required
from rankgauge_systems.options import (
    APPROXIMATES,
    ConfigPath,
    Embedder,
    SearchOptions,
    VectorOptions,
    embedding_of,
)

__all__ = ["Bm25sEngine", "Bm25sOptions", "FaissEngine", "FaissOptions", "UsearchEngine", "UsearchOptions"]

_DOCUMENTS, _INDEX = "documents.jsonl", "index"

Found = tuple[Sequence[int], Sequence[float]]
"""Numbers of documents, the best first, and their scores."""


class _FolderEngine(ABC):
    """What these libraries share: documents by their numbers, and an index that is loaded once."""

    def __init__(self, path: Path, *, texts: bool) -> None:
        self._path, self._texts = path, texts
        self._lock = threading.Lock()
        self._opened: tuple[Sequence[Document], Any] | None = None

    @abstractmethod
    def _search(self, index: Any, question: str, most: int, /) -> Found:  # noqa: ANN401  # of the library
        """Return at *most* so many documents."""

    @abstractmethod
    def _write(self, folder: Path, rows: Sequence[Document], /) -> tuple[Sequence[Document], tuple[str, ...]]:
        """Write an index; return its documents in order, and the ids of those that it leaves out."""

    @abstractmethod
    def _read(self, folder: Path, /) -> Any:  # noqa: ANN401  # of the library
        """Return an index."""

    def search(self, question: str, _given: object, most: int, /) -> Sequence[Hit]:
        """Return the best documents."""
        documents, index = self._open()
        numbers, scores = self._search(index, question, min(most, len(documents)))
        rows = [documents[number] for number in numbers]
        return [
            Hit(row.id, float(score), row.whole if self._texts else None)
            for row, score in zip(rows, scores, strict=True)
        ]

    def index(self, documents: Iterable[Document]) -> Loaded:
        """Write the folder anew, beside the old one until it is whole."""
        rows = list(documents)
        if not rows:
            raise ParameterError("there is no document to load")
        with replaced_folder(self._path, _OWN, "an index") as folder:
            kept, zeros = self._write(folder, rows)
            lines = (json.dumps(asdict(row), ensure_ascii=False) for row in kept)
            (folder / _DOCUMENTS).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        self._opened = None
        return Loaded(len(kept), zeros)

    def check(self) -> None:
        """Open the index."""
        self._open()

    def close(self) -> None:
        """Forget the index."""
        self._opened = None

    def _open(self) -> tuple[Sequence[Document], Any]:
        with self._lock:
            if self._opened is None:
                if not (self._path / _DOCUMENTS).is_file():
                    raise ParameterError(f"there is no index in {self._path}; `rankgauge systems index` makes it")
                with (self._path / _DOCUMENTS).open(encoding="utf-8") as lines:
                    documents = [Document(**json.loads(line)) for line in lines]
                self._opened = documents, self._read(self._path)
            return self._opened


_OWN = re.compile(rf"{re.escape(_DOCUMENTS)}|{_INDEX}|\w+(?:\.\w+)?\.index\.(?:json|npy)")
"""The files of these folders; bm25s has several."""


class _VectorFolder(_FolderEngine):
    """An index of vectors."""

    def __init__(self, options: Any) -> None:  # noqa: ANN401  # those of a library below
        super().__init__(options.path, texts=options.texts)
        self._embed: Embedder = embedding_of(options.embed)

    @abstractmethod
    def _build(self, vectors: NDArray[np.float32], /) -> Any:  # noqa: ANN401  # of the library
        """Return an index of unit vectors, which are numbered in order."""

    @abstractmethod
    def _save(self, index: Any, file: str, /) -> None:  # noqa: ANN401  # of the library
        """Write an index to a file."""

    def documents(self, _given: object, /) -> int:
        """Return how many documents the index has."""
        return len(self._open()[0])

    def _write(self, folder: Path, rows: Sequence[Document], /) -> tuple[Sequence[Document], tuple[str, ...]]:
        kept, vectors, zeros = self._embed.documents(rows)
        self._save(self._build(_units(vectors)), str(folder / _INDEX))
        return kept, zeros

    def _vector(self, question: str) -> NDArray[np.float32]:
        return _units([self._embed.question(question)])


def _units(vectors: Sequence[Sequence[float]]) -> NDArray[np.float32]:
    """Return vectors of length 1."""
    rows = np.array(vectors, dtype=np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float32)


class FaissOptions(VectorOptions):
    """Options of faiss."""

    path: ConfigPath = Field(description="The folder of the index, relative to the config.")
    index_kind: Literal["flat", "hnsw", "ivf"] = Field("flat", description="The index that `systems index` makes.")
    m: int = Field(32, ge=2, description="Neighbours of a vector in an hnsw index.")
    ef_construction: int = Field(100, ge=4, description="How carefully an hnsw index is made.")
    ef: Annotated[int, APPROXIMATES] = Field(
        16, ge=1, description="How many candidates a search of an hnsw index keeps; k where that is more."
    )
    lists: int = Field(16, ge=1, description="Parts of an ivf index.")
    nprobe: Annotated[int, APPROXIMATES] = Field(1, ge=1, description="Parts of an ivf index looked through.")


class FaissEngine(_VectorFolder):
    """An index of faiss, by inner products of unit vectors."""

    def __init__(self, options: FaissOptions) -> None:
        """Open nothing yet."""
        super().__init__(options)
        self._options = options
        self._faiss = required("faiss", "faiss", "faiss")

    def version(self) -> str:
        """Return that of the library, and which index it has."""
        return f"faiss {metadata.version('faiss-cpu')}, {self._options.index_kind}"

    def _search(self, index: Any, question: str, most: int, /) -> Found:  # noqa: ANN401  # of the library
        faiss, options, asked = self._faiss, self._options, {}
        if options.index_kind == "hnsw" and options.exact:
            index = faiss.downcast_index(index.storage)
        elif options.index_kind == "hnsw":  # which returns fewer and other documents where k is more than this
            asked["params"] = faiss.SearchParametersHNSW(efSearch=max(options.ef, most))
        elif options.index_kind == "ivf":
            asked["params"] = faiss.SearchParametersIVF(nprobe=index.nlist if options.exact else options.nprobe)
        (scores,), (numbers,) = index.search(self._vector(question), most, **asked)
        found = numbers >= 0  # -1 stands for a document that was not found
        return numbers[found].tolist(), scores[found].tolist()

    def _build(self, vectors: NDArray[np.float32], /) -> Any:  # noqa: ANN401  # of the library
        faiss, options = self._faiss, self._options
        count, size = vectors.shape
        index = faiss.IndexFlatIP(size)
        if options.index_kind == "hnsw":
            index = faiss.IndexHNSWFlat(size, options.m, faiss.METRIC_INNER_PRODUCT)
            index.hnsw.efConstruction = options.ef_construction
        elif options.index_kind == "ivf":
            index = faiss.IndexIVFFlat(index, size, min(options.lists, count), faiss.METRIC_INNER_PRODUCT)
            index.cp.min_points_per_centroid = 1  # it warns of small corpora on stderr
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)  # with several an index is another one each time
        try:
            index.train(vectors)
            index.add(vectors)
        finally:
            faiss.omp_set_num_threads(threads)
        return index

    def _save(self, index: Any, file: str, /) -> None:  # noqa: ANN401  # of the library
        self._faiss.write_index(index, file)

    def _read(self, folder: Path, /) -> Any:  # noqa: ANN401  # of the library
        return self._faiss.read_index(str(folder / _INDEX))


class UsearchOptions(VectorOptions):
    """Options of usearch."""

    path: ConfigPath = Field(description="The folder of the index, relative to the config.")
    dtype: Literal["f32", "f16", "i8"] = Field("f32", description="How `systems index` keeps numbers.")
    connectivity: int = Field(16, ge=2, description="Neighbours of a vector in the index.")
    expansion_add: int = Field(128, ge=4, description="How carefully the index is made.")
    expansion_search: Annotated[int, APPROXIMATES] = Field(
        64, ge=1, description="How many candidates a search keeps; k where that is more."
    )


class UsearchEngine(_VectorFolder):
    """An index of usearch, by cosines."""

    def __init__(self, options: UsearchOptions) -> None:
        """Open nothing yet."""
        super().__init__(options)
        self._options = options
        self._usearch = required("usearch.index", "usearch", "usearch")
        self._searching = threading.Lock()

    def version(self) -> str:
        """Return that of the library, and how numbers are kept."""
        return f"usearch {metadata.version('usearch')}, {self._options.dtype}"

    def _search(self, index: Any, question: str, most: int, /) -> Found:  # noqa: ANN401  # of the library
        (vector,) = self._vector(question)
        with self._searching:
            found = index.search(vector, most, exact=self._options.exact)
        return found.keys.tolist(), (1.0 - found.distances.astype(np.float64)).tolist()

    def _build(self, vectors: NDArray[np.float32], /) -> Any:  # noqa: ANN401  # of the library
        options = self._options
        index = self._usearch.Index(
            ndim=vectors.shape[1],
            metric="cos",
            dtype=options.dtype,
            connectivity=options.connectivity,
            expansion_add=options.expansion_add,
        )
        index.add(np.arange(len(vectors), dtype=np.uint64), vectors, threads=1)  # the same index each time
        return index

    def _save(self, index: Any, file: str, /) -> None:  # noqa: ANN401  # of the library
        index.save(file)

    def _read(self, folder: Path, /) -> Any:  # noqa: ANN401  # of the library
        index = self._usearch.Index.restore(str(folder / _INDEX))
        index.expansion_search = self._options.expansion_search
        return index


_WORD = r"[\w\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff]{2,}"
"""That of bm25s, with the marks of scripts that have vowels as signs; without them a word falls into consonants."""


class Bm25sOptions(SearchOptions):
    """Options of bm25s."""

    path: ConfigPath = Field(description="The folder of the index, relative to the config.")
    method: Literal["lucene", "robertson", "atire", "bm25l", "bm25+"] = Field(
        "lucene", description="Which BM25 `systems index` computes; by the same name other libraries may mean others."
    )
    k1: float = Field(1.5, gt=0, description="How soon more of a word counts no more, of `systems index`.")
    b: float = Field(0.75, ge=0, le=1, description="How much long documents count less, of `systems index`.")
    delta: float = Field(0.5, ge=0, description="What bm25l and bm25+ add, of `systems index`.")
    stopwords: Literal["english"] | None = Field(None, description="Which words are left out.")
    token_pattern: str = Field(_WORD, description="What a word is; this one leaves out single letters.")
    operator: Literal["and", "or"] = Field("or", description="Whether a document needs all words, or one.")

    @model_validator(mode="after")
    def _check_pattern(self) -> Bm25sOptions:
        try:
            re.compile(self.token_pattern)
        except re.error as error:
            raise ValueError(f"token_pattern is no regular expression: {error}") from error
        return self


class Bm25sEngine(_FolderEngine):
    """An index of bm25s, whose scores are computed when it is made."""

    def __init__(self, options: Bm25sOptions) -> None:
        """Open nothing yet."""
        super().__init__(options.path, texts=options.texts)
        self._options = options
        self._bm25s = required("bm25s", "bm25s", "bm25s")

    def documents(self, _given: object, /) -> None:
        """Return None: what has none of the words is not found."""

    def version(self) -> str:
        """Return that of the library, and which BM25 it computes."""
        return f"bm25s {metadata.version('bm25s')}, {self._options.method}"

    def _search(self, index: Any, question: str, most: int, /) -> Found:  # noqa: ANN401  # of the library
        (words,) = self._words([question])
        known = [word for word in words if word in index.vocab_dict]
        if not known:
            return [], []
        scores = index.get_scores(known)
        times = np.zeros(len(scores), np.int64)
        for word in set(known):
            begin, end = index.scores["indptr"][index.vocab_dict[word] :][:2]
            times[index.scores["indices"][begin:end]] += 1
        least = len(set(words)) if self._options.operator == "and" else 1
        found = np.flatnonzero(times >= least)  # bm25l and bm25+ score also documents that have none of the words
        best = found[np.lexsort((found, -scores[found]))][:most]
        return best.tolist(), scores[best].tolist()

    def _write(self, folder: Path, rows: Sequence[Document], /) -> tuple[Sequence[Document], tuple[str, ...]]:
        options = self._options
        index = self._bm25s.BM25(method=options.method, k1=options.k1, b=options.b, delta=options.delta)
        words = self._words(row.whole for row in rows)
        if not any(words):
            raise ParameterError(f"no document has a word by token_pattern {options.token_pattern!r}")
        index.index(words, show_progress=False)
        index.save(str(folder))
        return rows, ()

    def _read(self, folder: Path, /) -> Any:  # noqa: ANN401  # of the library
        return self._bm25s.BM25.load(str(folder))

    def _words(self, texts: Iterable[str]) -> list[list[str]]:
        options = self._options
        found: Iterator[list[str]] = self._bm25s.tokenize(
            list(texts),
            stopwords=options.stopwords,
            token_pattern=options.token_pattern,
            return_ids=False,
            show_progress=False,
        )
        return list(found)
