"""
Drawn data on which tools are run and their profiles are held: `docs/tools/cases.json`.

Run ``python docs/tools/drawn.py`` to draw it again; every tool has to be recorded after that. With a seed it draws
wider data (longer lists, scores below 0, cutoffs of 7 and beyond every list) into the folder RANKGAUGE_TOOLS, where
``make hold-tools SEED=7`` records tools and holds their profiles to them.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["CASES", "FOLDER", "LABELS", "Case", "cases", "judgments_and_run"]

FOLDER = Path(os.environ.get("RANKGAUGE_TOOLS", Path(__file__).parent))
"""Where cases and what tools computed of them are kept."""
CASES = FOLDER / "cases.json"
_SEED = 20261128
_N = 60

LABELS = {
    "grades": float,
    "binary": lambda grade: float(grade > 0),
    "probabilities": lambda grade: (2.0**grade - 1) / 16,
}
"""What becomes of a drawn grade from 0 to 4."""


class Case(NamedTuple):
    """
    Some queries and a cutoff.

    Attributes:
        k: The cutoff.

        queries: Of each query the grades of its documents and their scores; of lists, what is recommended to each user
            and what the user likes, as numbers of items. Of runs, a document without a grade is not judged, and one
            without a score not retrieved.
    """

    k: int
    queries: list[tuple[list[Any], list[Any]]]


def cases(data: str) -> list[Case]:
    """
    Return drawn cases.

    Args:
        data: `ties` (scores of which some are equal), `noties`, `lists` (recommendations without scores), or `runs`
            (with documents that are not judged or not retrieved, and queries that are not in the run).

    Returns:
        The cases in order.
    """
    found = json.loads(CASES.read_text(encoding="utf-8"))[data]
    return [Case(case["k"], [(first, second) for first, second in case["queries"]]) for case in found]


def judgments_and_run(
    case: Case, data: str, labels: str
) -> tuple[Mapping[str, dict[str, float]], Mapping[str, dict[str, float]]]:
    """
    Return a case as rankgauge reads it.

    Args:
        case: The case.

        data: As in `cases`.

        labels: What grades become: `grades`, `binary` or `probabilities`; of lists `binary`, `ratings` from 1 to 4, or
            `retrieved`, as `binary` but only of users with recommendations.

    Returns:
        Judgments and a run; a user without recommendations is not in the run, and one who likes nothing has one item
        that is judged irrelevant.
    """
    qrels: dict[str, dict[str, float]] = {}
    run: dict[str, dict[str, float]] = {}
    for place, (first, second) in enumerate(case.queries):
        query = f"q{place}"
        if data == "lists":
            if labels == "retrieved" and not first:
                continue
            qrels[query] = {f"i{item:02}": _liked(item, labels) for item in second} or {"none": 0.0}
            if first:
                run[query] = {f"i{item:02}": float(len(first) - rank) for rank, item in enumerate(first)}
        else:
            qrels[query] = {f"d{row:02}": LABELS[labels](grade) for row, grade in enumerate(first) if grade is not None}
            if found := {f"d{row:02}": float(score) for row, score in enumerate(second) if score is not None}:
                run[query] = found
    return qrels, run


def _liked(item: int, labels: str) -> float:
    return 1.0 + item % 4 if labels == "ratings" else 1.0


class _Width(NamedTuple):
    """How far drawn data reaches."""

    longest: int
    lowest: int  # score, of which 0 is the lowest in most tools' own data
    cutoffs: tuple[int, ...]
    sizes: tuple[int, ...]  # of lists
    list_cutoffs: tuple[int, ...]


_USUAL = _Width(12, 0, (1, 2, 3, 5, 10), (0, 1, 2, 3, 5, 8, 12), (1, 2, 3, 5, 10))
_WIDE = _Width(40, -32, (1, 3, 7, 20, 60), (0, 1, 4, 7, 15, 16), (1, 3, 7, 12, 16))


def _graded(draw: random.Random, width: _Width, *, ties: bool) -> dict[str, Any]:
    queries = []
    for _ in range(draw.randint(1, 5)):
        n = draw.randint(2, width.longest)
        grades = [0] * n if draw.random() < 0.25 else [draw.choice([0, 0, 0, 1, 2, 3, 4]) for _ in range(n)]
        low = width.lowest
        tied = [draw.randint(low // 16, 4) / 4 for _ in range(n)] if ties else []
        scores = tied or [x / 64 for x in draw.sample(range(low, 64), n)]
        queries.append([grades, scores])
    return {"k": draw.choice(width.cutoffs), "queries": queries}


def _runs(draw: random.Random, width: _Width) -> dict[str, Any]:
    queries: list[list[list[Any]]] = []
    for _ in range(draw.randint(2, 6)):
        n = draw.randint(2, width.longest)
        grades = [draw.choice([None, None, 0, 0, 1, 2, 3]) for _ in range(n)]
        grades[0] = draw.choice([0, 1])
        is_missing = queries and draw.random() < 0.2
        scores = [
            None if is_missing or draw.random() < 0.3 else x / 64 for x in draw.sample(range(width.lowest, 64), n)
        ]
        queries.append([grades, scores])
    queries[0][1][1] = 0.25 + 1 / 128  # no tie
    return {"k": draw.choice(width.cutoffs), "queries": queries}


def _lists(draw: random.Random, width: _Width) -> dict[str, Any]:
    queries = []
    for _ in range(draw.randint(1, 5)):
        n = draw.choice(width.sizes)
        liked = [] if draw.random() < 0.2 else draw.sample(range(16), draw.randint(1, 7))
        queries.append([draw.sample(range(16), n), liked])
    if not any(listed for listed, _ in queries):
        queries[0][0] = [0]
    return {"k": draw.choice(width.list_cutoffs), "queries": queries}


def main() -> None:
    """Draw the cases, or wider ones by a seed."""
    seed, width = (int(sys.argv[1]), _WIDE) if sys.argv[1:] else (_SEED, _USUAL)
    draw = random.Random(seed)  # noqa: S311  # no secret
    drawn = {
        "ties": [_graded(draw, width, ties=True) for _ in range(_N)],
        "noties": [_graded(draw, width, ties=False) for _ in range(_N)],
        "lists": [_lists(draw, width) for _ in range(_N)],
        "runs": [_runs(draw, width) for _ in range(_N)],
    }
    FOLDER.mkdir(parents=True, exist_ok=True)
    CASES.write_text(json.dumps(drawn, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
