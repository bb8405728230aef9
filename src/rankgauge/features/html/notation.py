"""
How the HTML report writes numbers and names.

Names that are read from right to left are kept apart: a number behind one would be shown before it.
"""

from __future__ import annotations

import unicodedata

from markupsafe import Markup, escape

from rankgauge.base.plain_text import visible

__all__ = ["difference", "isolated", "named", "p_value", "percent", "plain", "score"]

_MINUS = "\N{MINUS SIGN}"
_NONE = "\N{EN DASH}"


def score(value: float | None, decimals: int = 3) -> str:
    """Return a score; a dash if there is none."""
    return _NONE if value is None else f"{value:.{decimals}f}".replace("-", _MINUS)


def difference(value: float | None, decimals: int = 3) -> str:
    """Return a difference with its sign; an exact tie has none."""
    if value is None:
        return _NONE
    return score(value, decimals) if value == 0 else f"{value:+.{decimals}f}".replace("-", _MINUS)


def p_value(p: float | None) -> str:
    """Return a p value: three decimals, four below .001, and a bound below .0001."""
    if p is None:
        return _NONE
    return "<\N{NO-BREAK SPACE}0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.001 else f"{p:.3f}"


def percent(share: float | None) -> str:
    """Return a share as a percentage without decimals."""
    return _NONE if share is None else f"{100 * share:.0f} %"


_BEGIN, _END = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"
"""Around names from right to left in sentences; `page.py` writes them as elements, so that no file holds them."""


def named(name: str) -> str:
    """Return a name made safe to show; one from right to left is kept apart, as numbers beside it would turn round."""
    shown = visible(name)
    is_plain = shown.isascii() or not {"R", "AL", "AN"} & set(map(unicodedata.bidirectional, shown))
    return shown if is_plain else f"{_BEGIN}{shown}{_END}"


def plain(text: str) -> str:
    """Return a sentence without the marks of `named`, for where no element can be."""
    return text.replace(_BEGIN, "").replace(_END, "")


def isolated(value: object) -> object:
    """Return a text with elements in place of the marks of `named`."""
    if not isinstance(value, str) or _BEGIN not in value:
        return value
    return Markup(escape(value).replace(_BEGIN, Markup("<bdi>")).replace(_END, Markup("</bdi>")))  # noqa: S704
