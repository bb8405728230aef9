"""
What laws draw: small rankings with their ground truth, and odd texts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from hypothesis import strategies as st

from rankgauge.features.testing.law import Draw, draw

__all__ = ["ANCHOR", "HUGE", "SAMPLES", "TEXT", "TOP_GRADE", "Case", "cases", "draw_ranking", "rankings"]

HUGE = 10**9
"""A cutoff beyond every list."""

TOP_GRADE = 100.0
_GRADES = (1.0, 2.0, 3.0, 4.0, 0.5, 2.75, 0.0, -1.0)
_LONGEST = 100
_MOST_GOLD = 6
_MOST_ITEMS = 12
_LONG_GOLD = 60
_LONG_RANKING = 200
_OFTEN = 4
"""How many short cases are drawn for a long one: most faults show in short ones, which are drawn faster."""


@dataclass(frozen=True, slots=True)
class Case:
    """
    A ranking with its ground truth.

    Attributes:
        grades: The ground truth: item 0 has the first grade, and so on; items beyond it are unjudged.

        ranking: The items retrieved, rank 1 first.

        scores: The retriever's score of each of them; None for descending ones, which no law looks at.

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
    def relevant(self) -> list[int]:
        """Return the items with a grade above 0, best first."""
        return [item for item in self.best_first if self.grades[item] > 0]

    @property
    def best_first(self) -> list[int]:
        """Return the items of the ground truth, best first."""
        return sorted(range(len(self.grades)), key=lambda item: -self.grades[item])

    @property
    def unused(self) -> int:
        """Return the first item that is neither judged nor retrieved."""
        return max((*self.ranking, len(self.grades) - 1)) + 1

    @property
    def gold(self) -> dict[str, float]:
        """Return the ground truth: the grade of each id, as listed."""
        order = range(len(self.grades)) if self.gold_order is None else self.gold_order
        return {_doc_id(item): self.grades[item] for item in order}

    @property
    def ids(self) -> list[str]:
        """Return the ids retrieved, rank 1 first."""
        return [_doc_id(item) for item in self.ranking]

    def is_judged(self, item: int) -> bool:
        """Return whether the ground truth names an item."""
        return item < len(self.grades)

    def grade(self, item: int) -> float:
        """Return an item's grade, 0 if it is unjudged."""
        return self.grades[item] if self.is_judged(item) else 0.0

    def ranked(self, ranking: Sequence[int]) -> Case:
        """Return the case with another ranking."""
        return replace(self, ranking=tuple(ranking))

    def padded(self, depth: int) -> Case:
        """Return the case with new unjudged items below, down to a depth of distinct items."""
        missing = max(0, depth - len(self.distinct))
        return self.ranked((*self.ranking, *range(self.unused, self.unused + missing)))

    def sample(self, name: str, k: int | None = None) -> dict[str, Any]:
        """Return a sample, in the form of the dataset contract, whose gold texts are those of the relevant items."""
        texts = [_doc_text(doc) for doc, grade in self.gold.items() if grade > 0]
        scores = range(len(self.ranking), 0, -1) if self.scores is None else self.scores
        known = {doc: {"valid_to": "2020-01-01"} for doc, grade in self.gold.items() if grade > 0}
        retrieved = [
            {"id": doc, "text": _doc_text(doc), "score": score, "metadata": known.get(doc, {}), **_place(doc)}
            for doc, score in zip(self.ids, scores, strict=True)
        ]
        best = [item for item, score in zip(self.ranking, scores, strict=True) if score == max(scores)]
        answer = _doc_text(_doc_id(min(best))) if best else ""  # in whatever order the tied ones are listed
        by_text = dict.fromkeys(("passages", "answer", "keywords", "nuggets"), texts)
        forbidden = [{"text": text} for text in texts]
        spans = [_place(doc) for doc, grade in self.gold.items() if grade > 0]
        needed = list(map(_doc_id, sorted(self.relevant)))
        sets = [{"all_of": needed[:2]}, {"any_of": needed[1:] or needed}] if needed else []
        return {
            "id": name,
            "input": f"The question of {name}?",
            "expected_output": {
                "relevant": self.gold,
                "spans": spans,
                "forbidden": forbidden,
                "sets": sets,
                **by_text,
            },
            "actual_output": {"retrieved": retrieved, "answer": answer},
            "metadata": {"k": k, "asked_at": "2021-01-01"},
        }

    def holding(self, results: Sequence[Sequence[int]], kind: str, k: int | None = None) -> dict[str, Any]:
        """Return a sample whose results hold some items each, in the order given; its gold is of a kind by text."""
        order = [*(item for held in results for item in held), *range(len(self.grades))]
        start = {item: _LONGEST * place for place, item in enumerate(dict.fromkeys(order))}
        gold = sorted(self.relevant)
        spans = [{**_stretch(start[item], start[item]), "grade": self.grades[item]} for item in gold]
        texts = [_doc_text(_doc_id(item)) for item in gold]
        retrieved = [
            {
                "id": f"result-{rank}",
                "text": " ".join(_doc_text(_doc_id(item)) for item in held),
                **_stretch(start[held[0]], start[held[-1]]),
            }
            for rank, held in enumerate(results, 1)
        ]
        return {
            "id": "s",
            "expected_output": {kind: spans if kind == "spans" else texts},
            "actual_output": {"retrieved": retrieved},
            "metadata": {"k": k},
        }


ANCHOR = Case((1.0,), (0, 7))
"""A case with gold of every kind, so that no part of a dataset lacks it."""


def _doc_id(item: int) -> str:
    return f"doc-{item}"


def _place(doc: str) -> dict[str, Any]:
    return {"document": doc, "start": 0, "end": len(_doc_text(doc))}


def _stretch(first: int, last: int) -> dict[str, Any]:
    """Return the place from the beginning of one item to the end of another, in a document that has all of them."""
    return {"document": "all", "start": first, "end": last + _LONGEST}


def _doc_text(doc: str) -> str:
    """Return the text of an id; none of them occurs in another."""
    return f"The text of {doc}, whole."


def _case(grades: Sequence[float], ranking: Sequence[int], depth: int | None = None) -> Case:
    return Case(tuple(grades), tuple(ranking[:depth]))


def _cut(case: Case, short: int) -> tuple[Case, int]:
    """Return a case with a cutoff within it: its depth, or up to seven less."""
    return case, max(1, len(case.ranking) - max(0, short - 4))


def _ordinary(*gains: float) -> st.SearchStrategy[Case]:
    grades = st.lists(st.sampled_from(gains), min_size=1, max_size=_MOST_GOLD)
    return st.builds(_case, grades, st.permutations(range(9)), st.integers(1, 8))


def _deep(grades: tuple[float, ...], n_gold: int, depth: int, seed: int) -> Case:
    """Return a long ranking, in which gold is as frequent at the end as at the top."""
    if not seed:  # what examples shrink to
        return Case(grades[:1] * n_gold, tuple(range(depth)))
    order = Random(seed)  # noqa: S311  # no secret; drawing each item would take hypothesis a hundred times longer
    items = order.sample(range(n_gold + depth), depth)
    chosen = order.sample(range(depth), min(depth, n_gold))
    for rank, item in zip(chosen, order.sample(range(n_gold), len(chosen)), strict=True):
        if item not in items:
            items[rank] = item
    return Case(tuple(order.choices(grades, k=n_gold)), tuple(items))


def _long(*grades: float) -> st.SearchStrategy[Case]:
    sizes = st.integers(1, _LONG_GOLD), st.integers(1, _LONG_RANKING)
    return st.builds(_deep, st.just(grades), *sizes, st.integers(0, 2**16))


def _odd() -> st.SearchStrategy[Case]:
    grades = st.lists(st.sampled_from(_GRADES), min_size=1, max_size=_MOST_GOLD)
    return st.builds(_case, grades, st.lists(st.integers(0, _MOST_ITEMS - 1), max_size=_MOST_ITEMS))


_LONG = _long(1.0, 2.0, 3.0, 5.0, 17.0, 100.0)
_ORDINARY_PLAIN = st.one_of(*(_ordinary(1.0) for _ in range(_OFTEN)), _long(1.0))
_ORDINARY = st.one_of(*(_ordinary(1.0, 2.0, 3.0) for _ in range(_OFTEN)), _LONG)
_CASES = st.one_of(*(_ordinary(1.0, 2.0, 3.0) for _ in range(_OFTEN)), *(_odd() for _ in range(_OFTEN)), _LONG)
_CUTOFFS = st.sampled_from([1, 2, 3, 4, 5, 7, 10, 12, 20, 50, 51, 100, HUGE])

SAMPLES = st.lists(st.tuples(_CASES, st.none() | _CUTOFFS), min_size=1, max_size=6)
"""What the samples of a run are drawn from, some with a cutoff of their own."""


def cases(subject: Any) -> st.SearchStrategy[Case]:  # noqa: ANN401  # a `MetricSubject`, which needs cases itself
    """
    Return what cases are drawn from.

    The engine takes anything: repeated items, gains of 0 and below, nothing retrieved. A function from elsewhere gets
    ordinary cases, so that an odd one comes only from the law that asks for it.
    """
    if not subject.slack:
        return _CASES
    return _ORDINARY if subject.graded else _ORDINARY_PLAIN


def rankings(subject: Any) -> st.SearchStrategy[tuple[Case, int]]:  # noqa: ANN401  # a `MetricSubject`, too
    """Return what a case and a cutoff are drawn from; for a function from elsewhere, one within the list."""
    within = st.builds(_cut, cases(subject), st.integers(0, 11))
    return within if subject.slack else st.one_of(within, st.tuples(_CASES, _CUTOFFS))


def draw_ranking(*more: st.SearchStrategy[Any] | Callable[[Any], st.SearchStrategy[Any]]) -> Draw:
    """Return what draws a case, a cutoff and *more*."""
    parts = draw(rankings, *more)
    return lambda subject: parts(subject).map(lambda drawn: (*drawn[0], *drawn[1:]))


_FOLDING = "aAbßẞ\u017fİ\u0131Σ\u03c3ς\u0345\u1fb3ﬁŉǅ \t\n\u00a0\u2003\u200b\x1c\ud800'\""
_PIECES = (
    *("a", " ", "b", "user: ", "User:", "assistant : ", "Date: 2023-05-20\n", "[20 May 2023] ", "2023-05-20", ":"),
    *("[", "]", "the cat", "sat ", "A", "é", "e\u0301", "漢字", "\U0001f600", "10", "3.5", "-", "...", "  ", "\n"),
    *("\u2003", "<b>", "</b>", "&amp;", "http://x.y/z", "\\", "\\n", '\\"', "\\u0041", "\\ud83d", "\x00"),
)

_WORDS = (
    *("the", "a", "of", "in", "was", "not", "running", "runs", "happily", "happiness", "organizations", "studies"),
    *("caresses", "conditional", "relational", "agreed", "hopping", "flies", "Hamlet", "Zürich", "naïve", "don't"),
    *("state-of-the-art", "3,500", "2023", "U.S.", "e.g.", "東京", "Müller's", "generalizations", "oscillators", "sky"),
)

TEXT = st.one_of(
    st.lists(st.sampled_from(_WORDS), min_size=1, max_size=40).map(" ".join),
    st.lists(st.sampled_from(_PIECES), max_size=8).map("".join),
    st.lists(st.sampled_from(_PIECES), min_size=1, max_size=3).map(lambda pieces: "".join(pieces) * 3),
    st.text("[]<>", max_size=6),
    st.text(_FOLDING, max_size=12),
    st.text("ab ", max_size=6),
    st.text(" \n", max_size=6),
    st.text(st.characters(exclude_categories=()), max_size=20),
)
"""What texts are drawn from: any characters, letters that fold oddly, and pieces that tools look for."""
