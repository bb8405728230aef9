"""
A result as notebooks show it: one small HTML table, with everything that comes from data escaped.
"""

from __future__ import annotations

import html
from collections.abc import Iterable

from rankgauge.base.plain_text import visible
from rankgauge.errors import counted
from rankgauge.result import ResultValues
from rankgauge.result.wording import FACTS, dataset_name, facts, policy_line

__all__ = ["notebook_table"]


def notebook_table(result: ResultValues) -> str:
    """Return the metrics of a result as an HTML table without script or style."""
    title = f"{dataset_name(result)}: {counted(len(result), 'sample')}; {policy_line(result)}"
    rows = "".join(_row("td", (name, *facts(column).values())) for name, column in result.metrics.items())
    table = (
        f"<table><caption>{_text(title)}</caption><thead>{_row('th', ('metric', *FACTS))}</thead>"
        f"<tbody>{rows}</tbody></table>"
    )
    if not result.n_unhealthy:
        return table
    unhealthy = counted(result.n_unhealthy, "sample")
    return f"{table}<p>{unhealthy} missing or failed; <code>errors</code> has the reasons.</p>"


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{_text(cell)}</{tag}>' for cell in cells)}</tr>"


def _text(text: str) -> str:
    return html.escape(visible(text))
