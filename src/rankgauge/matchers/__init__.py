"""The built-in normalizers, comparers and matchers; they enter the catalog through rankgauge's own entry point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rankgauge.matchers import builtin, comparers, normalizers, tokens
from rankgauge.plugin import hookimpl
from rankgauge.plugin.authored import declared_in

__all__: list[str] = []


@hookimpl
def rankgauge_normalizers() -> Sequence[Callable[[str], str]]:
    """Return every built-in normalizer."""
    return declared_in(normalizers)


@hookimpl
def rankgauge_comparers() -> Sequence[Callable[..., Any]]:
    """Return every built-in comparer."""
    return [*declared_in(comparers), *declared_in(tokens)]


@hookimpl
def rankgauge_matchers() -> Sequence[Callable[[], None]]:
    """Return every built-in named matcher."""
    return declared_in(builtin)
