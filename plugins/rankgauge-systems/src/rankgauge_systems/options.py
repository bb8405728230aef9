"""
Options that several kinds of systems have, and the types of some.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationInfo
from pydantic.fields import FieldInfo

from rankgauge.errors import ParameterError
from rankgauge.systems import import_function
from rankgauge.text import counted
from rankgauge_systems.engines import Document, check_sizes, required

__all__ = [
    "APPROXIMATES",
    "ConfigPath",
    "Embed",
    "Embedded",
    "Embedder",
    "Embedding",
    "Function",
    "SearchOptions",
    "SystemOptions",
    "VectorOptions",
    "embedding_of",
    "is_approximating",
    "told",
]

_BATCH = 64
_SMALLEST = 2.0**-126  # the smallest number of 32 bits that has all its digits

APPROXIMATES: Final = "approximates"
"""Marks an option that trades exactness for speed: it changes nothing if a search is exact."""

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Returns a vector for each text."""


class SystemOptions(BaseModel):
    """Options of a system; unknown keys are refused."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)


class SearchOptions(SystemOptions):
    """Options of every engine."""

    k: int = Field(10, ge=1, description="How many documents a search returns.")
    texts: bool = Field(True, description="Whether their texts are returned, too.")


def _at_config(path: Path, info: ValidationInfo) -> Path:
    """Return a path relative to the config."""
    folder: Path = (info.context or {}).get("folder", Path())
    return folder / path.expanduser()


def _named_at_config(name: str, info: ValidationInfo) -> str:
    """Return ``file.py:function`` with the file relative to the config; ``module:function`` stays as it is."""
    module, _, attribute = name.rpartition(":")
    if not module or not attribute:
        raise ValueError("write module:function, or file.py:function")
    return f"{_at_config(Path(module), info)}:{attribute}" if module.endswith(".py") else name


def _embedding_at_config(name: str, info: ValidationInfo) -> str:
    return _named_at_config(name, info) if ":" in name else name


ConfigPath = Annotated[Path, AfterValidator(_at_config)]
"""A path, relative to where the config is."""

Function = Annotated[str, AfterValidator(_named_at_config)]
"""A function, as ``module:function`` or ``file.py:function``."""

Embedding = Annotated[str, AfterValidator(_embedding_at_config)]
"""A function, or the name of an embedder."""


class VectorOptions(SearchOptions):
    """Options of engines that search vectors."""

    embed: Embedding = Field(
        description="What makes vectors of texts: module:function, which takes and returns a list; or an embedder of "
        "rankgauge-semantic, such as minilm."
    )
    exact: bool = Field(False, description="Whether to compare every vector, and use no index.")


def is_approximating(field: FieldInfo) -> bool:
    """Return whether a field of a model is an option of an approximation."""
    return APPROXIMATES in field.metadata


class Embedded(NamedTuple):
    """Documents with their vectors, and the ids of those whose vectors are all zeros, which are left out."""

    documents: Sequence[Document]
    vectors: Sequence[Sequence[float]]
    zeros: tuple[str, ...]


class Embedder:
    """What makes vectors of documents and questions, its results checked."""

    def __init__(self, embed: Embed, name: str) -> None:
        """Take a function and what the config calls it."""
        self._embed, self._name = embed, name

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector of finite numbers for each text; all of a batch have the same length."""
        vectors: list[list[float]] = []
        for begin in range(0, len(texts), _BATCH):
            batch = list(texts[begin : begin + _BATCH])
            made = [list(map(float, vector)) for vector in self._embed(batch)]
            check_sizes(made, len(batch), f"embed {self._name}")
            for text, vector in zip(batch, made, strict=True):
                if not all(map(math.isfinite, vector)):
                    raise ParameterError(f"embed {self._name} returned a number that is not finite for {text[:60]!r}")
            vectors += made
        return vectors

    def question(self, text: str) -> list[float]:
        """Return the vector of a question; a `ValueError` for one of zeros, to which no document is near."""
        (vector,) = self([text])
        if _has_no_direction(vector):
            raise ValueError("the embedding of the question is all zeros, so no document is nearer than another")
        return vector

    def documents(self, rows: Sequence[Document]) -> Embedded:
        """
        Return documents with their vectors, except those whose vectors are all zeros.

        Nothing is near a vector without a direction, and engines differ in what they make of one: NaN, a cosine of 0,
        an error, or nothing.
        """
        vectors = self([row.whole for row in rows])
        kept = [pair for pair in zip(rows, vectors, strict=True) if not _has_no_direction(pair[1])]
        zeros = tuple(row.id for row, vector in zip(rows, vectors, strict=True) if _has_no_direction(vector))
        if zeros and not kept:
            raise ParameterError(f"embed {self._name} returned only zeros, for {counted(len(rows), 'document')}")
        return Embedded([row for row, _ in kept], [vector for _, vector in kept], zeros)


def _has_no_direction(vector: Sequence[float]) -> bool:
    """Return whether the square of a vector's length is 0 for engines, which count in 32 bits."""
    return sum(value * value for value in vector) < _SMALLEST


def embedding_of(name: str) -> Embedder:
    """Return what makes vectors."""
    return Embedder(import_function(name, "embed") if ":" in name else _semantic(name), name)


def _semantic(name: str) -> Embed:
    find: Callable[[str], Any] = required("rankgauge_semantic.embedders", f"embed: {name}", "semantic").find_embedder
    embed: Embed = find(name).embed
    return embed


def told(secret: SecretStr | None) -> str | None:
    """Return a secret as it is sent."""
    return None if secret is None else secret.get_secret_value()
