"""
Spellings of metric names: which declared name, and which cutoff, a spelling such as ``ndcg_cut_10`` stands for.
"""

from __future__ import annotations

import re

from rankgauge.expression import MetricExpression

__all__ = ["ends_in_number", "plain_template", "spellings"]

_MOST_DIGITS = 18
_TRAILING = re.compile(r"(?P<stem>.+?)(?P<at>_at)?_(?P<k>\d*\.?\d+)")
_TEMPLATE = re.compile(r"\{\w+\}")


def spellings(expression: MetricExpression) -> list[tuple[str, int | float | None]]:
    """Return what a spelling such as ``ndcg_cut_10`` may stand for, best first: (``ndcg_cut_{k}``, 10), ..."""
    found = [(expression.name, expression.k)]
    trailing = _TRAILING.fullmatch(expression.name)
    if trailing is not None and expression.k is None and len(trailing["k"]) <= _MOST_DIGITS:
        k = int(trailing["k"]) if trailing["k"].isdigit() else float(trailing["k"])
        if trailing["at"]:
            found.append((trailing["stem"], k))
        found.append((f"{trailing['stem']}{trailing['at'] or ''}_{{k}}", k))
    return found


def plain_template(name: str) -> str:
    """Return a name with ``{k}`` in place of any parameter, as `spellings` writes templates."""
    return _TEMPLATE.sub("{k}", name)


def ends_in_number(name: str) -> bool:
    """Return whether a name can be read as another one with a cutoff."""
    return _TRAILING.fullmatch(name) is not None
