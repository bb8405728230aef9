"""
Embedders: models that turn texts into vectors, found by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

__all__ = ["DEFAULT", "GROUP", "Embedder", "EmbedderError", "find_embedder"]

DEFAULT = "minilm"
"""The default embedder."""

GROUP = "rankgauge_semantic.embedders"
"""The group of entry points that name embedders."""


class EmbedderError(ValueError):
    """An embedder that cannot be found or used, or that does not return vectors."""


@dataclass(frozen=True, slots=True)
class Embedder:
    """
    A model that turns texts into vectors.

    Attributes:
        model: The model's name and version: embeddings are stored on disk under it, so two models that embed
            differently must not share it.

        embed: ``(texts) -> vectors`` of shape (texts, dimensions): a list of lists, a numpy array, or whatever numpy
            makes one of. Called with distinct texts that are not empty, at most `batch_size` of them.

        batch_size: How many texts are embedded at once.

        check: Raises where the model cannot be used, without loading it: called before any data is read.

    Raises:
        EmbedderError: The name is empty, or the batch size is not an integer of 1 or more.
    """

    model: str
    embed: Callable[[Sequence[str]], Any]  # anything that `numpy.asarray` takes
    batch_size: int = 64
    check: Callable[[], None] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.model, str) or not self.model.strip():
            raise EmbedderError(f"an embedder needs a name for its model, with its version; not {self.model!r}")
        embed: object = self.embed
        if not callable(embed):
            raise EmbedderError(f"the embedder of {self.model!r} needs a function from texts to vectors, not {embed!r}")
        size = self.batch_size
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise EmbedderError(f"the batch size of embedder {self.model!r} is an integer of 1 or more, not {size!r}")


def find_embedder(name: str) -> Embedder:
    """Return the embedder behind an entry point, its model not loaded; raise `EmbedderError` if there is none."""
    found = entry_points(group=GROUP)
    points = list({point.value: point for point in found if point.name == name}.values())
    if not points:
        known = ", ".join(sorted({point.name for point in found})) or "none"
        msg = f"no installed package offers an embedder {name!r} (entry points of the group {GROUP!r}); known: {known}"
        raise EmbedderError(msg)
    if len(points) > 1:
        msg = f"{len(points)} packages offer an embedder {name!r}, so none is used: {'; '.join(map(_told, points))}"
        raise EmbedderError(msg)
    (point,) = points
    try:
        embedder = point.load()
    except Exception as error:
        msg = f"the embedder {name!r} ({_told(point)}) cannot be loaded: {type(error).__name__}: {error}"
        raise EmbedderError(msg) from error
    if not isinstance(embedder, Embedder):
        msg = f"the entry point of embedder {name!r} ({_told(point)}) must lead to an Embedder, not to {embedder!r}"
        raise EmbedderError(msg)
    return embedder


def _told(point: EntryPoint) -> str:
    distribution = "" if point.dist is None else f" of {point.dist.name} {point.dist.version}"
    return f"{point.value}{distribution}"
