"""
A result as notebooks show it: one small HTML table, with everything that comes from data escaped.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import visible
from rankgauge.errors import counted
from rankgauge.result.wording import FACTS, facts, policy_line

if TYPE_CHECKING:
    from rankgauge.result import ResultValues

__all__ = ["notebook_table"]


def notebook_table(result: ResultValues) -> str:
    """Return the metrics of a result as an HTML table without script or style."""
    dataset = result.manifest.get("dataset") or {}
    title = (
        f"{dataset.get('name') or 'samples given in Python'}: {counted(len(result), 'sample')}; {policy_line(result)}"
    )
    rows = (_row("td", (name, *facts(column).values())) for name, column in result.metrics.items())
    unhealthy = ""
    if result.n_unhealthy:
        unhealthy = (
            f"<p>{counted(result.n_unhealthy, 'sample')} missing or failed; <code>errors</code> has the reasons.</p>"
        )
    return (
        f"<table><caption>{_text(title)}</caption><thead>{_row('th', ('metric', *FACTS))}</thead>"
        f"<tbody>{''.join(rows)}</tbody></table>{unhealthy}"
    )


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{_text(cell)}</{tag}>' for cell in cells)}</tr>"


def _text(text: str) -> str:
    return html.escape(visible(text))
