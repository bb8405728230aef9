"""The built-in normalizers, comparers and matchers; they enter the catalog through rankgauge's own entry point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rankgauge.matchers import builtin, comparers, normalizers
from rankgauge.plugin import hookimpl

__all__: list[str] = []


@hookimpl
def rankgauge_normalizers() -> Sequence[Callable[[str], str]]:
    """Return every built-in normalizer."""
    return (
        normalizers.casefold,
        normalizers.collapse_whitespace,
        normalizers.json_unescape,
        normalizers.lower,
        normalizers.strip_date_prefix,
        normalizers.strip_punctuation,
        normalizers.strip_role_prefix,
        normalizers.unicode_nfkc,
    )


@hookimpl
def rankgauge_comparers() -> Sequence[Callable[..., Any]]:
    """Return every built-in comparer."""
    return (
        comparers.contained,
        comparers.edit_ratio,
        comparers.equal,
        comparers.infix_edit,
        comparers.json_escaped,
        comparers.partial_ratio,
        comparers.remem,
        comparers.token_overlap,
    )


@hookimpl
def rankgauge_matchers() -> Sequence[Callable[[], None]]:
    """Return every built-in named matcher."""
    return (
        builtin.chunk,
        builtin.chunk_remem,
        builtin.contains,
        builtin.contains_cased,
        builtin.contains_lower,
        builtin.exact,
        builtin.folded,
        builtin.fuzzy_chunk,
        builtin.json_escaped,
        builtin.keyword,
        builtin.keyword_lower,
    )
