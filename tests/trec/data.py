"""Generated judgments and runs, as the texts of TREC files, and what a line-by-line reading makes of them."""

from __future__ import annotations

import random

from hypothesis import strategies as st

__all__ = ["generated", "qrels_of", "run_of", "texts", "written"]

DOCUMENTS = [f"d{number}" for number in range(12)] + ["D1", "é", "a-document-of-many-letters"]


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, str]:
    """Draw judgments and a run: graded, negative, tied, short, missing and unjudged queries, in any order."""
    queries = draw(st.lists(st.sampled_from(["q1", "q2", "q10", "Q1", "301"]), min_size=1, max_size=4, unique=True))
    judged = {
        query: draw(st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-2, 4), min_size=1, max_size=10))
        for query in queries
    }
    run_queries = draw(st.lists(st.sampled_from([*queries, "x9"]), min_size=1, max_size=5, unique=True))
    scores = st.sampled_from([3.0, 2.5, 2.0, 1.0, 0.25, -1.5])
    run = {
        query: draw(st.dictionaries(st.sampled_from(DOCUMENTS), scores, min_size=1, max_size=12))
        for query in run_queries
    }
    if not set(run) & set(judged):
        run[queries[0]] = {"d1": 1.0}
    return written(judged, run)


def generated(seed: int, *, queries: int = 30, depth: int = 60, ties: bool = True) -> tuple[str, str]:
    """Return judgments and a run from a seed: what `texts` has, larger."""
    chance = random.Random(seed)  # noqa: S311  # no secret
    pool = [f"doc-{number:04d}" for number in range(4 * depth)]
    judged, run = {}, {}
    for number in range(queries):
        query = f"q{number * 7 % 101}"
        retrieved = chance.sample(pool, chance.randint(1, depth))
        levels = depth // 3 if ties else 10**9
        if number % 10 != 3:
            run[query] = {document: chance.randrange(levels) / 8 for document in retrieved}
        if number % 10 != 7:
            known = chance.sample(retrieved, min(len(retrieved), 20)) + chance.sample(pool, 10)
            highest = 0 if number % 10 == 5 else 3
            judged[query] = {document: chance.randint(-1, highest) for document in known}
    return written(judged, run)


def written(judged: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> tuple[str, str]:
    """Return judgments and a run as TREC files write them."""
    qrels = "".join(f"{q} 0 {d} {grade}\n" for q, own in judged.items() for d, grade in own.items())
    lines = "".join(f"{q} Q0 {d} 1 {score!r} tag\n" for q, own in run.items() for d, score in own.items())
    return qrels, lines


def qrels_of(text: str) -> dict[str, dict[str, int]]:
    """Read judgments line by line."""
    found: dict[str, dict[str, int]] = {}
    for line in text.splitlines():
        query, _, document, grade = line.split()
        found.setdefault(query, {})[document] = int(grade)
    return found


def run_of(text: str) -> dict[str, dict[str, float]]:
    """Read a run line by line."""
    found: dict[str, dict[str, float]] = {}
    for line in text.splitlines():
        query, _, document, _, score, _ = line.split()
        found.setdefault(query, {})[document] = float(score)
    return found
