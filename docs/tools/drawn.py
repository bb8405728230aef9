"""
Drawn data on which tools are run and their profiles are held: `docs/tools/cases.json`.

Run ``python docs/tools/drawn.py`` to draw it again; every tool has to be recorded after that.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["CASES", "LABELS", "Case", "cases", "judgments_and_run"]

CASES = Path(__file__).parent / "cases.json"
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
            and what the user likes, as numbers of items.
    """

    k: int
    queries: list[tuple[list[Any], list[Any]]]


def cases(data: str) -> list[Case]:
    """
    Return drawn cases.

    Args:
        data: `ties` (scores of which some are equal), `noties`, or `lists` (recommendations without scores).

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
            qrels[query] = {f"d{row:02}": LABELS[labels](grade) for row, grade in enumerate(first)}
            run[query] = {f"d{row:02}": float(score) for row, score in enumerate(second)}
    return qrels, run


def _liked(item: int, labels: str) -> float:
    return 1.0 + item % 4 if labels == "ratings" else 1.0


def _graded(draw: random.Random, *, ties: bool) -> dict[str, Any]:
    queries = []
    for _ in range(draw.randint(1, 5)):
        n = draw.randint(2, 12)
        grades = [0] * n if draw.random() < 0.25 else [draw.choice([0, 0, 0, 1, 2, 3, 4]) for _ in range(n)]
        scores = [draw.randint(0, 4) / 4 for _ in range(n)] if ties else [x / 64 for x in draw.sample(range(64), n)]
        queries.append([grades, scores])
    return {"k": draw.choice([1, 2, 3, 5, 10]), "queries": queries}


def _lists(draw: random.Random) -> dict[str, Any]:
    queries = []
    for _ in range(draw.randint(1, 5)):
        n = draw.choice([0, 1, 2, 3, 5, 8, 12])
        liked = [] if draw.random() < 0.2 else draw.sample(range(16), draw.randint(1, 7))
        queries.append([draw.sample(range(16), n), liked])
    if not any(listed for listed, _ in queries):
        queries[0][0] = [0]
    return {"k": draw.choice([1, 2, 3, 5, 10]), "queries": queries}


def main() -> None:
    """Draw the cases."""
    draw = random.Random(_SEED)  # noqa: S311  # no secret
    drawn = {
        "ties": [_graded(draw, ties=True) for _ in range(_N)],
        "noties": [_graded(draw, ties=False) for _ in range(_N)],
        "lists": [_lists(draw) for _ in range(_N)],
    }
    CASES.write_text(json.dumps(drawn, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
