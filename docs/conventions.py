"""
Write the table of `docs/reference/policy.md`: the same rankings, scored in every system's convention.

Every column is an evaluation of ours under a profile or with options; run ``python docs/conventions.py`` when one of
them changes. A test fails while the page differs from what this script would write.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from rankgauge.catalog import Catalog
from rankgauge.engine.engine import Engine
from rankgauge.policy import PROFILES, Profile

__all__ = ["COLUMNS", "RANKINGS", "Ranking", "main", "scores", "with_table"]

PAGE = Path(__file__).parent / "reference" / "policy.md"
_BEGIN = "<!-- table: written by docs/conventions.py -->\n"
_END = "<!-- end of table -->\n"


class Ranking(NamedTuple):
    """
    One query.

    Attributes:
        gold: The relevant ids, all with grade 1.

        retrieved: The retrieved ids, rank 1 first.

        k: The cutoff.
    """

    gold: Sequence[str]
    retrieved: Sequence[str]
    k: int


class Column(NamedTuple):
    """
    One convention.

    Attributes:
        title: The system.

        metric: What is computed, without the cutoff.

        profile: The profile, for a ranking that is cut at k.
    """

    title: str
    metric: str
    profile: Callable[[int], Profile]


def _named(name: str) -> Callable[[int], Profile]:
    return lambda k: PROFILES[name]  # noqa: ARG005  # the same for every cutoff


def _first_k(k: int) -> Profile:
    """Return Haystack's profile for a ranking that was cut before it was handed over, as Haystack cuts nothing."""
    haystack = PROFILES["haystack"]
    return dataclasses.replace(haystack, policy=dataclasses.replace(haystack.policy, depth=k))


RANKINGS = (
    Ranking("ABC", "Axyzw", 5),
    Ranking("AB", "xAB", 3),
    Ranking("A", "xA", 2),
    Ranking(("doc-3", "doc-9"), ("doc-7", "doc-3", "doc-1", "doc-9", "doc-2"), 5),
    Ranking("A", "AA", 2),
    Ranking("AB", "xyAB", 3),
    Ranking("ABCD", "AB", 2),
    Ranking("ABC", "C", 5),
)

COLUMNS = (
    Column("REMem", "ndcg_any", _named("remem")),
    Column("LongMemEval", "ndcg_any(discount=log2-from-2)", _named("default")),
    Column("classic", "ndcg_any", _named("classic")),
    Column("keyword", "keyword_ndcg", _named("keyword")),
    Column("classic, graded", "ndcg", _named("classic")),
    Column("Haystack, first k", "ndcg", _first_k),
    Column("eval-harness", "ndcg", _named("eval-harness")),
    Column("rankgauge", "ndcg", _named("default")),
    Column("recall", "recall", _named("default")),
    Column("precision", "P", _named("classic")),
)


def scores(ranking: Ranking, engine: Engine) -> dict[str, float | None]:
    """
    Score one query in every convention.

    Args:
        ranking: The query.

        engine: What computes.

    Returns:
        The scores by column title.
    """
    found = {}
    for column in COLUMNS:
        cut = f"{column.metric}@{ranking.k}"
        evaluation = engine.dataset([]).with_metrics([cut]).with_profile(column.profile(ranking.k))
        (score,) = evaluation.score(_sample(ranking)).values()
        found[column.title] = score.value
    return found


def with_table(page: str) -> str:
    """
    Return the page with a fresh table.

    Args:
        page: Its text, with the two marks around the table.

    Returns:
        The text.
    """
    before, _, rest = page.partition(_BEGIN)
    after = rest.partition(_END)[2]
    return f"{before}{_BEGIN}\n{_table()}\n{_END}{after}"


def main() -> None:
    """Write the page when it differs."""
    page = PAGE.read_text(encoding="utf-8")
    if (fresh := with_table(page)) != page:
        PAGE.write_text(fresh, encoding="utf-8")
        print(f"wrote {PAGE}")


def _sample(ranking: Ranking) -> Mapping[str, object]:
    """Return the query as a sample; the word `relevant` is in the texts that the keyword column is to find."""
    retrieved = [
        {"id": name, "text": "relevant" if name in ranking.gold else "something else"} for name in ranking.retrieved
    ]
    expected = {"relevant": list(ranking.gold), "keywords": ["relevant"]}
    return {"id": "q", "expected_output": expected, "actual_output": retrieved}


def _table() -> str:
    engine = Engine(catalog=Catalog.discover(own_only=True))
    rows = [["gold", "retrieved", "k", *(column.title for column in COLUMNS)], ["---"] * (3 + len(COLUMNS))]
    for ranking in RANKINGS:
        values = ["" if score is None else f"{score:.4f}" for score in scores(ranking, engine).values()]
        rows.append([" ".join(ranking.gold), " ".join(ranking.retrieved), str(ranking.k), *values])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


if __name__ == "__main__":
    main()
