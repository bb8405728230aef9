"""Reads the cases in tests/golden."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

GOLDEN = Path(__file__).parents[2] / "golden"
TOLERANCE = 1e-9


def cases(system: str, part: str = "cases") -> list[Any]:
    found = json.loads((GOLDEN / f"{system}.json").read_text(encoding="utf-8"))[part]
    assert len({case["case"] for case in found}) == len(found)
    return [pytest.param(case, id=case["case"]) for case in found]


def close(expected: Any) -> Any:
    """Return what compares equal to *expected*, but for the tolerance; null stands for NaN."""
    if isinstance(expected, list):
        return [close(value) for value in expected]
    if isinstance(expected, dict):
        return {name: close(value) for name, value in expected.items()}
    if expected is None:
        return pytest.approx(float("nan"), nan_ok=True)
    return pytest.approx(expected, rel=0, abs=TOLERANCE)
