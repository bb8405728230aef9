"""
The part of `docs/reference/measures-by-tool.md` on tools with a profile: spellings, what computes them, how equal.

`docs/tools/record.py` recorded what the tools compute; `section` compares that with what rankgauge computes now.
"""

from __future__ import annotations

import json
import runpy
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rankgauge import evaluate
from rankgauge.catalog import Catalog
from rankgauge.catalog.tool_profiles import tool_names, tool_of
from rankgauge.tool_measures import Tool, ToolMeasure

__all__ = ["section"]

_HERE = Path(__file__).parent
_HELD = {
    "package": "the package",
    "documentation": "its documentation, and not to the tool itself",
}


class _Held(NamedTuple):
    """How far a measure was held to a tool."""

    n: int = 0
    largest: float = 0.0


def section() -> str:
    """
    Return the text of the section.

    Returns:
        A heading, and a table for each tool.
    """
    catalog = Catalog.discover(own_only=True)
    parts = [
        "",
        "## Tools that have a profile",
        "",
        'Under `profile="lightgbm"` a name of ours means what LightGBM computes by its defaults, and its own spelling',
        "is read, too: [reproduce another tool's number](../how-to/reproduce-a-number.md). A name that the tool",
        "lacks is ours, and the result says so. The numbers were recorded from the package in the version named here,",
        "on drawn data (`docs/tools/cases.json`: ties and none, queries with nothing relevant, short and long lists),",
        "and are compared whenever this page is made: **=** is equal to 14 digits, **≈** to 5, for tools that compute",
        "or print 32-bit floats, with the number of means compared. `{k}` is the cutoff.",
    ]
    for name in tool_names():
        parts += _table(name, tool_of(name), catalog)
    return "\n".join(parts) + "\n"


def _table(name: str, tool: Tool, catalog: Catalog) -> Iterator[str]:
    held = _held(name, catalog)
    what = f"{tool.package} {tool.version}" if tool.package else tool.version
    yield from ("", f"### {tool.title}", "", f"Profile `{name}`, held to {_HELD[tool.held]} ({what}).")
    yield from ("", f"| {tool.title} | under the profile | is | | |", "|---|---|---|---|---|")
    for measure in tool.measures:
        yield _row(measure, held)
    if tool.notes:
        yield ""
        yield from (f"- {note}" for note in tool.notes)


def _row(measure: ToolMeasure, held: Mapping[str, _Held]) -> str:
    known = [held[written] for written in measure.written if written in held]
    n, largest = sum(each.n for each in known), max((each.largest for each in known), default=0.0)
    mark = "" if not n else f"{'=' if largest <= 1e-14 else '≈' if largest <= 1e-5 else '≠'} {n}"
    ours = _ours(measure) if measure.name else ""
    cells = (
        ", ".join(f"`{written}`" for written in measure.written[:2]),
        f"`{ours}`" if ours and not measure.refused else "",
        "" if measure.refused else f"`{measure.expression}`",
        mark,
        "; ".join(
            filter(None, (measure.says, measure.differs, measure.refused and f"**not computed**: {measure.refused}"))
        ),
    )
    return f"| {' | '.join(cells)} |"


def _ours(measure: ToolMeasure) -> str:
    return f"{measure.name}@k" if any("{k}" in written for written in measure.written) else measure.name


def _held(name: str, catalog: Catalog) -> Mapping[str, _Held]:
    """Return how far each spelling of a tool was held to its package."""
    path = _HERE / f"recorded/{name}.json"
    if not path.exists():
        return {}
    drawn = runpy.run_path(str(_HERE / "drawn.py"))
    found: dict[str, _Held] = defaultdict(_Held)
    measures: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["measures"]
    for data, labels in sorted({(each["data"], each["labels"]) for each in measures}):
        here = [each for each in measures if (each["data"], each["labels"]) == (data, labels)]
        for place, case in enumerate(drawn["cases"](data)):
            wanted = [each for each in here if each["values"][place] is not None]
            asked = [each["spelling"].format(k=case.k) for each in wanted]
            if not asked:
                continue
            result = evaluate(*drawn["judgments_and_run"](case, data, labels), asked, profile=name, catalog=catalog)
            for spelling, each in zip(asked, wanted, strict=True):
                mean, known = result[spelling].mean, found[each["spelling"]]
                off = float("inf") if mean is None else abs(mean - each["values"][place])
                found[each["spelling"]] = _Held(known.n + 1, max(known.largest, off))
    return found
