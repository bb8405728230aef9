"""
Figures of ir_measures 0.4.3 and ranx 0.3.21 for a few small queries: to all digits, and from each spelling.

`docs/reference/measures-by-tool.md` compares means of a run; here are short rankings, ungraded items, and what was not
found. Documents are judged for intents, of which other measures see the highest grade.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rankgauge
from draws import in_thorough_suite
from tables import rows

FIGURES = json.loads((Path(__file__).parent / "peers/figures.json").read_text(encoding="utf-8"))
DIFFERENT = {
    "ir_measures IPrec@0.1": "levels are rounded up, as trec_eval 9 did",
    "ranx rbp.80": "multiplies by raw grades",
    "ranx rbp.95": "multiplies by raw grades",
    "ranx rbp.80-l2": "multiplies by raw grades",
}


@in_thorough_suite()
@rows("spelling", sorted({key for case in FIGURES["cases"] for key in case["values"]} - set(DIFFERENT)))
def test_the_figure_is_ours_too(spelling):
    written = spelling.partition(" ")[2].replace("RBP(rel=1)", "RBP(rel=1, p=0.8)")  # p has another default here
    for case in FIGURES["cases"]:
        run = {"q": {document: -float(rank) for rank, document in enumerate(case["ranking"])}}
        (column,) = rankgauge.evaluate({"q": case["intents"]}, run, [written]).metrics.values()
        assert column.values.tolist() == pytest.approx([case["values"][spelling]], rel=1e-9, abs=1e-12)
