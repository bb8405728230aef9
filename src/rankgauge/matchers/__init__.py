"""The built-in normalizers, comparers, matchers and tokenizers; they enter the catalog by an entry point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from rankgauge.matchers import builtin, comparers, cover, escapes, normalizers, script_words, words
from rankgauge.plugin import hookimpl
from rankgauge.plugin.declarations import Tokenizer
from rankgauge.plugin.matching import Comparer
from rankgauge.plugin.signature import declared_in

__all__: list[str] = []


@hookimpl
def rankgauge_normalizers() -> Sequence[Callable[[str], str]]:
    """Return every built-in normalizer."""
    return declared_in(normalizers)


@hookimpl
def rankgauge_comparers() -> Sequence[Callable[..., Any]]:
    """Return every built-in comparer."""
    several = [declared_in(each, Comparer) for each in (words, script_words)]
    return [*declared_in(comparers), *declared_in(escapes), *declared_in(cover), *chain.from_iterable(several)]


@hookimpl
def rankgauge_matchers() -> Sequence[Callable[[], None]]:
    """Return every built-in named matcher."""
    return declared_in(builtin)


@hookimpl
def rankgauge_tokenizers() -> Sequence[Callable[[str], int]]:
    """Return every built-in tokenizer."""
    return [*declared_in(words, Tokenizer), *declared_in(script_words, Tokenizer)]
