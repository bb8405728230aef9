"""
Options that several kinds of systems have, and the types of some.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationInfo
from pydantic.fields import FieldInfo

from rankgauge.cli.system_under_test import imported
from rankgauge_systems.engines import check_sizes, required

__all__ = [
    "APPROXIMATES",
    "ConfigPath",
    "Embed",
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

APPROXIMATES: Final = "approximates"
"""Marks an option that trades exactness for speed: it changes nothing where a search is exact."""

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
"""A path, relative to where the config stands."""

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


def embedding_of(name: str) -> Embed:
    """Return what makes vectors, its results checked."""
    embed = imported(name, "embed") if ":" in name else _semantic(name)
    return functools.partial(_embedded, embed, name)


def _semantic(name: str) -> Embed:
    find: Callable[[str], Any] = required("rankgauge_semantic.embedders", f"embed: {name}", "semantic").find_embedder
    embed: Embed = find(name).embed
    return embed


def _embedded(embed: Embed, name: str, texts: Sequence[str]) -> list[list[float]]:
    vectors: list[list[float]] = []
    for begin in range(0, len(texts), _BATCH):
        batch = list(texts[begin : begin + _BATCH])
        made = [list(map(float, vector)) for vector in embed(batch)]
        check_sizes(made, len(batch), f"embed {name}")
        vectors += made
    return vectors


def told(secret: SecretStr | None) -> str | None:
    """Return a secret as it is sent."""
    return None if secret is None else secret.get_secret_value()
