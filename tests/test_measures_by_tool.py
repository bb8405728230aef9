"""The table of measures by tool: complete, honest about differences, and held to what the tools computed."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from rankgauge import Engine
from rankgauge.catalog.trec_eval import MEASURES

ROOT = Path(__file__).parent.parent
TABLE = SimpleNamespace(**runpy.run_path(str(ROOT / "docs/measures_by_tool.py")))
ROWS = {row.name: row for row in TABLE.ROWS}


def aliases(*names: str) -> set[str]:
    return {column.metric.alias for column in Engine().dataset([]).with_metrics(names).plan().metrics}


@pytest.fixture(scope="module")
def lines() -> list[list[str]]:
    """Return the cells of the table: our name, the mean, one of each tool, and why."""
    page = (ROOT / "docs/reference/measures-by-tool.md").read_text(encoding="utf-8")
    page = page.partition("## Tools that have a profile")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| `")
    ]
    assert len(rows) == len(ROWS) > 50
    return rows


def test_whatever_is_not_plainly_equal_says_why(lines: list[list[str]]) -> None:
    marked = [row[0] for row in lines if re.search("[≠·†]", "".join(row[2:-1]))]
    assert marked
    assert marked == [row[0] for row in lines if row[-1]]


def test_most_spellings_are_equal_and_understood(lines: list[list[str]]) -> None:
    """A table that finds differences everywhere would compare something other than definitions."""
    cells = [cell for row in lines for cell in row[2:-1] if cell]
    assert sum(bool(re.fullmatch("`[^`]+`", cell)) for cell in cells) > 0.9 * len(cells)


def test_every_recorded_number_has_a_row() -> None:
    for tool, values in TABLE.recorded()["values"].items():
        assert set(values) <= {getattr(row, tool) for row in TABLE.ROWS}, f"run docs/record_tools.py: {tool}"


def test_every_measure_of_trec_eval_has_a_row() -> None:
    offered = {measure.alias for measure in MEASURES.values() if measure.alias}
    assert offered - aliases(*ROWS) == set()


@pytest.mark.parametrize("tool", ["ir_measures-0.4.3", "ranx-0.3.21"])
def test_every_measure_of_ir_measures_and_ranx_has_a_row(tool: str) -> None:
    names = (ROOT / f"tests/catalog/peers/{tool}.txt").read_text(encoding="utf-8").split()
    assert aliases(*names) - aliases(*ROWS) == set()


@pytest.mark.parametrize(
    ("ours", "theirs", "same"), [(0.25, 0.250001, True), (0.25, 0.25002, False), (0.0, None, False)]
)
def test_numbers_match_to_five_places(ours: float, theirs: float | None, *, same: bool) -> None:
    assert TABLE.matches(ours, theirs) is same


def test_a_spelling_that_is_another_measure_here_is_not_understood() -> None:
    assert TABLE.understood("hit@5", "Success@5")
    assert not TABLE.understood("hit@5", "Accuracy@5")
    assert not TABLE.understood("hit@5", "no such measure")


PAGES = {
    "trec_eval": "come-from-search-tools",
    "ir_measures": "come-from-search-tools",
    "ranx": "come-from-search-tools",
    "BEIR": "come-from-search-tools",
    "ragas": "come-from-rag-tools",
}


def spellings(tool: str) -> list[tuple[str, str, bool]]:
    """Return what the section on spellings lists: theirs, ours, and whether theirs is said to be read as ours."""
    page = (ROOT / f"docs/how-to/{PAGES[tool]}.md").read_text(encoding="utf-8")
    section = page.partition(f"\n### Spellings of {tool}\n")[2].partition("\n##")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| `")]
    return [
        (theirs, (re.findall("`([^`]+)`", row[1]) or [""])[0], len(row) == 2)
        for row in rows
        for theirs in re.findall("`([^`]+)`", row[0])
    ]


@pytest.mark.parametrize("tool", PAGES)
def test_spellings_are_read_as_the_page_says(tool: str) -> None:
    """One that has to be written differently here is really another measure under its old name, or none."""
    listed = spellings(tool)
    assert {is_read for *_, is_read in listed} == {True, False}
    for theirs, ours, is_read in listed:
        assert not ours or aliases(ours), ours
        assert TABLE.understood(ours or theirs, theirs) is is_read, theirs
