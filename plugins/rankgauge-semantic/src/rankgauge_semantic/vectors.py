"""
`Vectors`: the unit vectors of texts, each distinct text embedded once, in batches.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from rankgauge_semantic.embedders import Embedder, EmbedderError

if TYPE_CHECKING:
    from rankgauge_semantic.cache import DiskCache

__all__ = ["Vectors"]

_DIGITS = 6
"""Decimals of a cosine: beyond them, a vector depends on the other texts in its batch."""


_HALVES = re.compile("[\ud800-\udfff]")


class Vectors:
    """The unit vectors of the texts that one embedder has embedded, and a disk cache for them; thread-safe."""

    def __init__(self, embedder: Embedder, cache: DiskCache | None = None) -> None:
        self._embedder = embedder
        self._cache = cache
        self._known: dict[str, NDArray[np.float32]] = {}
        self._lock = threading.Lock()

    def add(self, texts: Sequence[str]) -> None:
        """Embed the texts that are neither empty nor known; raise `EmbedderError` if the embedder fails."""
        with self._lock:
            missing = [text for text in dict.fromkeys(texts) if text and text not in self._known]
            if missing and self._cache is not None:
                kept = self._cache.get(missing)
                size = self._size()
                self._known |= {text: vector for text, vector in kept.items() if size in {None, len(vector)}}
                missing = [text for text in missing if text not in self._known]
            if missing:
                self._embed(missing)

    def cosines(self, retrieved: Sequence[str], gold: Sequence[str]) -> NDArray[np.float64]:
        """
        Return cosines to six decimals, shape (retrieved, gold).

        Negative ones, and those of empty texts, are 0; equal texts have 1.
        """
        self.add([*retrieved, *gold])
        if not any(retrieved) or not any(gold):
            return np.zeros((len(retrieved), len(gold)))
        scores = self._rows(retrieved) @ self._rows(gold).T
        scores = np.round(scores.clip(0.0, 1.0), _DIGITS)
        for row, found in enumerate(retrieved):
            for column, wanted in enumerate(gold):
                if found == wanted and found:
                    scores[row, column] = 1.0
        return scores

    def _rows(self, texts: Sequence[str]) -> NDArray[np.float64]:
        nothing = np.zeros(self._size() or 0, dtype=np.float32)
        return np.stack([self._known.get(text, nothing) for text in texts]).astype(np.float64)

    def _size(self) -> int | None:
        return next((len(vector) for vector in self._known.values()), None)

    def _embed(self, texts: list[str]) -> None:
        texts = sorted(texts, key=len)  # a batch is padded to its longest text
        size = self._embedder.batch_size
        with _progress(len(texts), wanted=len(texts) > size) as report:
            for start in range(0, len(texts), size):
                batch = texts[start : start + size]
                vectors = dict(zip(batch, self._checked(batch), strict=True))
                self._known |= vectors
                if self._cache is not None:
                    self._cache.put(vectors)
                report(start + len(batch))

    def _checked(self, batch: list[str]) -> NDArray[np.float32]:
        model = self._embedder.model
        try:
            vectors = np.asarray(self._embedder.embed([_whole(text) for text in batch]), dtype=np.float64)
        except EmbedderError:
            raise
        except Exception as error:
            raise EmbedderError(f"the embedder of {model!r} failed: {type(error).__name__}: {error}") from error
        known = self._size()
        if vectors.ndim != 2 or len(vectors) != len(batch) or not vectors.shape[1]:
            raise EmbedderError(f"the embedder of {model!r} returned the shape {vectors.shape} for {len(batch)} texts")
        if known is not None and vectors.shape[1] != known:
            msg = (
                f"the embedder of {model!r} returned vectors of {vectors.shape[1]} dimensions, but of {known} before; "
                "another model needs another name"
            )
            raise EmbedderError(msg)
        if not np.isfinite(vectors).all():
            raise EmbedderError(f"the embedder of {model!r} returned a vector with a value that is not finite")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return (vectors / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)


def _whole(text: str) -> str:
    """Return a text without lone surrogates, which JSON can hold but tokenizers refuse."""
    return text if text.isascii() else _HALVES.sub("\ufffd", text)


class _Report(Protocol):
    def __call__(self, done: int) -> None: ...


@contextmanager
def _progress(total: int, *, wanted: bool) -> Iterator[_Report]:
    """Show progress on stderr while embedding, if that is a terminal."""
    if not wanted or not sys.stderr.isatty():
        yield lambda done: None  # noqa: ARG005  # the protocol's
        return
    width = 24

    def report(done: int) -> None:
        filled = width * done // total
        sys.stderr.write(f"\r\x1b[Kembedding {'#' * filled}{'.' * (width - filled)} {done:,}/{total:,} texts")
        sys.stderr.flush()

    try:
        report(0)
        yield report
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
