"""
`SampleText`: the question of a sample and its top results, for those who read scores beside texts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SampleText", "text_columns"]


class SampleText(NamedTuple):
    """
    The question of a sample and its top results.

    Attributes:
        input: The sample's input; any JSON value.

        retrieved: Id and text of each result after policy, rank 1 first; None for what it lacks.
    """

    input: Any
    retrieved: tuple[tuple[str | None, str | None], ...]

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON values: `input`, and `retrieved` as a list of ``{id, text}``."""
        return {"input": self.input, "retrieved": [{"id": name, "text": text} for name, text in self.retrieved]}


def text_columns(texts: Sequence[SampleText]) -> dict[str, pl.Series]:
    """Return the columns `input`, an input that is no text as JSON, and `retrieved`, a list of ``{id, text}``."""
    import polars as pl

    inputs = [_written(each.input) for each in texts]
    retrieved = [each.as_dict()["retrieved"] for each in texts]
    kind = pl.List(pl.Struct({"id": pl.String, "text": pl.String}))
    return {"input": pl.Series(inputs, dtype=pl.String), "retrieved": pl.Series(retrieved, dtype=kind)}


def _written(given: Any) -> str | None:  # noqa: ANN401  # any JSON value: the system under test defines it
    if given is None or isinstance(given, str):
        return given
    return json.dumps(given, ensure_ascii=False, default=repr)
