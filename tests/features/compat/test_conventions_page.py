"""docs/reference/policy.md shows what our options compute, and that is what the systems compute."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(DOCS / "conventions.py"))


def test_the_table_is_fresh(script):
    page = (DOCS / "reference" / "policy.md").read_text(encoding="utf-8")

    assert page == script["with_table"](page), "run python docs/conventions.py"


def test_the_table_has_the_numbers_that_the_systems_gave(script, engine):
    """REMem, LongMemEval, classic and keyword, graded classic, Haystack, eval-harness, recall, precision."""
    expected = [
        (1.0, 0.3801, 1.0, 0.4693, 0.4693, 0.4693, 0.3333, 0.2),
        (0.8155, 0.8155, 0.6934, 0.6934, 0.6934, 0.6934, 1.0, 0.6667),
        (1.0, 1.0, 0.6309, 0.6309, 0.6309, 0.6309, 1.0, 0.5),
        (0.75, 0.75, 0.6509, 0.6509, 0.6509, 0.6509, 1.0, 0.4),
        (1.0, 1.0, 1.0, 1.6309, 1.0, 1.0, 1.0, 1.0),
        (0.3155, 0.3155, 0.5, 0.3066, 0.3066, 0.3066, 0.5, 0.3333),
        (1.0, 1.0, 1.0, 1.0, 0.6367, 1.0, 0.5, 1.0),
        (1.0, 0.3801, 1.0, 0.4693, 0.4693, 0.4693, 0.3333, 0.2),
    ]
    found = [script["scores"](ranking, engine) for ranking in script["RANKINGS"]]

    for row, scores in zip(expected, found, strict=True):
        assert scores["keyword"] == scores["classic"]
        assert scores["rankgauge"] == scores["eval-harness"]
        rounded = [round(value, 4) for title, value in scores.items() if title not in {"keyword", "rankgauge"}]
        assert list(row) == rounded
