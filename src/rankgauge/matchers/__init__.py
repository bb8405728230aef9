"""The built-in normalizers, comparers and matchers; they enter the catalog through rankgauge's own entry point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rankgauge.matchers.builtin import contains, contains_cased, contains_lower, exact, folded
from rankgauge.matchers.comparers import contained, equal
from rankgauge.matchers.normalizers import casefold, collapse_whitespace, lower
from rankgauge.plugin import hookimpl

__all__: list[str] = []


@hookimpl
def rankgauge_normalizers() -> Sequence[Callable[[str], str]]:
    """Return every built-in normalizer."""
    return (casefold, collapse_whitespace, lower)


@hookimpl
def rankgauge_comparers() -> Sequence[Callable[..., Any]]:
    """Return every built-in comparer."""
    return (contained, equal)


@hookimpl
def rankgauge_matchers() -> Sequence[Callable[[], None]]:
    """Return every built-in named matcher."""
    return (contains, contains_cased, contains_lower, exact, folded)
