"""
Cases: a small ranking with its ground truth, as a sample with every kind of gold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["ANCHOR", "GRADES", "HUGE", "MOST_GOLD", "TOP_GRADE", "Case", "doc_id", "doc_text"]

HUGE = 10**9
"""A cutoff beyond every list."""

TOP_GRADE = 4.0
GRADES = (1.0, 2.0, 3.0, 4.0, 0.5, 2.75, 0.0, -1.0)
MOST_GOLD = 6


@dataclass(frozen=True, slots=True)
class Case:
    """
    A ranking with its ground truth.

    Attributes:
        grades: The ground truth: item 0 has the first grade, and so on; items beyond it are unjudged.

        ranking: The items retrieved, rank 1 first.

        scores: The retriever's score of each of them; None where it gives none.

        gold_order: The order in which the ground truth is listed; None for the order of the items.
    """

    grades: tuple[float, ...]
    ranking: tuple[int, ...]
    scores: tuple[float, ...] | None = None
    gold_order: tuple[int, ...] | None = None

    @property
    def distinct(self) -> tuple[int, ...]:
        """Return the items retrieved, each once."""
        return tuple(dict.fromkeys(self.ranking))

    @property
    def n_relevant(self) -> int:
        """Return how many items of the ground truth have a grade above 0."""
        return sum(grade > 0 for grade in self.grades)

    @property
    def best_first(self) -> list[int]:
        """Return the items of the ground truth, best first."""
        return sorted(range(len(self.grades)), key=lambda item: -self.grades[item])

    @property
    def gold(self) -> dict[str, float]:
        """Return the ground truth: the grade of each id, as listed."""
        order = range(len(self.grades)) if self.gold_order is None else self.gold_order
        return {doc_id(item): self.grades[item] for item in order}

    @property
    def ids(self) -> list[str]:
        """Return the ids retrieved, rank 1 first."""
        return [doc_id(item) for item in self.ranking]

    def is_judged(self, item: int) -> bool:
        """Return whether the ground truth names an item."""
        return item < len(self.grades)

    def grade(self, item: int) -> float:
        """Return an item's grade, 0 where it is unjudged."""
        return self.grades[item] if self.is_judged(item) else 0.0

    def ranked(self, ranking: Sequence[int]) -> Case:
        """Return the case with another ranking."""
        return replace(self, ranking=tuple(ranking))

    def padded(self, depth: int) -> Case:
        """Return the case with new unjudged items below, down to a depth of distinct items."""
        missing = max(0, depth - len(self.distinct))
        start = max((*self.ranking, len(self.grades) - 1)) + 1
        return self.ranked((*self.ranking, *range(start, start + missing)))

    def sample(self, name: str, k: int | None = None) -> dict[str, Any]:
        """Return a sample, in the form of the dataset contract, whose gold texts are those of the relevant items."""
        gold = self.gold
        texts = [doc_text(name) for name, grade in gold.items() if grade > 0]
        retrieved: list[dict[str, Any]] = [
            {"id": doc_id(item), "text": doc_text(doc_id(item))} for item in self.ranking
        ]
        if self.scores is not None:
            retrieved = [{**each, "score": score} for each, score in zip(retrieved, self.scores, strict=True)]
        answer = retrieved[0]["text"] if retrieved else ""
        return {
            "id": name,
            "expected_output": {"relevant": gold, "passages": texts, "answer": texts, "keywords": texts},
            "actual_output": {"retrieved": retrieved, "answer": answer},
            "metadata": {"k": k},
        }


ANCHOR = Case((1.0,), (0, 7))
"""A case with gold of every kind, so that no part of a dataset lacks it."""


def doc_id(item: int) -> str:
    """Return the id of an item."""
    return f"doc-{item}"


def doc_text(name: str) -> str:
    """Return the text of an id; none of them occurs in another."""
    return f"The text of {name}, whole."
