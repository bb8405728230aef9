"""
Numbers as the HTML report writes them: three decimals, a real minus sign, and parts that add up to their sum.
"""

from __future__ import annotations

__all__ = ["difference", "p_value", "percent", "score"]

_MINUS = "\N{MINUS SIGN}"
_NONE = "\N{EN DASH}"


def score(value: float | None, decimals: int = 3) -> str:
    """Return a score; a dash where there is none."""
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
