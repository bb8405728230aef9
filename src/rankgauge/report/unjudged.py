"""
Unjudged results in reports of runs: means over condensed lists, and the worst and best case of each mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import orjson

if TYPE_CHECKING:
    from rankgauge.comparison.bounds import Bounds
    from rankgauge.result import Result

__all__ = ["NOTES", "Further", "add_to_json", "further_means"]

Further = Mapping[str, Mapping[str, float | None]]
"""For each column its further means: `condensed`, `worst` and `best`, those that were asked for."""

NOTES: Mapping[str, str] = MappingProxyType(
    {
        "condensed": "condensed: documents without a judgment are dropped before ranks are counted",
        "bounds": "worst, best: retrieved documents without a judgment may have any grade of the judgments; - where no "
        "bounds are known",
    }
)
"""What the further means are, by the option that asks for them."""


def further_means(
    result: Result, *, condensed: Result | None = None, bounds: Mapping[str, Bounds | None] | None = None
) -> Further:
    """Return the further means of each column of a result."""
    found: dict[str, dict[str, float | None]] = {}
    for name in result.metrics:
        found[name] = {} if condensed is None else {"condensed": condensed[name].mean}
        if bounds is not None:
            worst, best = bounds[name] or (None, None)
            found[name] |= {"worst": worst, "best": best}
    return found


def add_to_json(report: str, further: Further) -> str:
    """Return a JSON report with the further means of each metric."""
    document = orjson.loads(report)
    for name, means in further.items():
        document["metrics"][name] |= means
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
