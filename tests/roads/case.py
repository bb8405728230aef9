"""A case: queries with rankings and judgments, and the policy to score them under; with a strategy that draws one."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Mapping
from typing import NamedTuple

from hypothesis import assume
from hypothesis import strategies as st

from rankgauge import Policy, Profile
from rankgauge.errors import PolicyError
from rankgauge.policy import PROFILES

__all__ = ["ANCHOR", "DOCUMENTS", "GRADES", "SCORES", "STRAY", "Case", "Item", "Query", "cases", "profile_of"]

Item = tuple[str, float]
"""A retrieved document and its score."""

METRICS = ("P@3", "recall@2", "ndcg@3", "ndcg", "AP", "RR", "hit@1", "judged@2", "rbp", "bpref")

DOCUMENTS = ("a", "b", "c", "é", "x", "D")
"""What rankings are made of, beside the query's own id; `x` is never judged."""

_NAMES = ("q2", "q10", "q1", "é", "q3")

SCORES = (3.0, 2.0, 2.00000001, 1.0, 0.0, -0.0, -1.5, 1e39, 2e39)
"""2 and 2.00000001 are one C float, and so are the last two, which no C float can hold."""

GRADES = (-1, 0, 1, 2, 3)

FILTERS = (
    *[()] * 3,
    ("every-other",),
    ("every-other(first=2)",),
    ("score-at-least(least=1.0)",),
    ("every-other", "score-at-least"),
)
"""Those of `roads.filters`; most policies have none."""


class Query(NamedTuple):
    """A query: what was retrieved for it, None for a query that has no output, and its judgments."""

    name: str
    ranking: tuple[Item, ...] | None
    grades: Mapping[str, int]
    is_broken: bool = False

    @property
    def has_repeats(self) -> bool:
        """Return whether a document is retrieved more than once."""
        documents = [document for document, _ in self.ranking or ()]
        return len(set(documents)) < len(documents)


ANCHOR = Query("anchor", (("a", 1.0),), {"a": 4})
"""A query that no policy refuses, so that there is always something to evaluate."""


STRAY = "stray"
"""The id of a query of every run that is not judged."""


class Case(NamedTuple):
    """
    Queries with the profile to score them under, and the metrics.

    Where judgments are mappings, they may list queries *without_judgments*, ``{"q2": {}}``, which are no topics.
    """

    queries: tuple[Query, ...]
    profile: Profile
    wanted: tuple[str, ...] = METRICS
    without_judgments: tuple[str, ...] = ()

    @property
    def metrics(self) -> list[str]:
        """Return the metrics that the policy allows: bpref cannot be averaged over the orders of a tie."""
        policy = self.profile.policy
        averaged = policy.order == "score" and policy.ties == "average"
        return [metric for metric in self.wanted if not (averaged and metric == "bpref")]

    def without(self, names: Container[str]) -> Case:
        """Return the case without some of its queries."""
        return self._replace(queries=tuple(query for query in self.queries if query.name not in names))


def profile_of(policy: Policy, **conventions: object) -> Profile:
    """Return the default profile with another policy and other conventions."""
    return dataclasses.replace(PROFILES["default"], policy=policy, **conventions)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a case: up to five queries and the anchor, under any policy that there can be."""
    names = _NAMES[: draw(st.integers(1, 5))]
    queries = (*(draw(_queries(name)) for name in names), ANCHOR)
    unjudged = draw(st.sampled_from([(), (STRAY,), ("nowhere", STRAY, "a")]))
    return Case(queries, draw(_profiles()), without_judgments=unjudged)


@st.composite
def _queries(draw: st.DrawFn, name: str) -> Query:
    documents = st.sampled_from([*DOCUMENTS, name])
    rankings = st.lists(st.tuples(documents, st.sampled_from(SCORES)), max_size=6).map(tuple)
    few_scores = st.lists(st.tuples(documents, st.sampled_from(SCORES[:3])), min_size=2, max_size=6).map(tuple)
    kind = draw(st.sampled_from(["any", "any", "tied", "tied", "tied", "tied", "missing", "broken"]))
    ranking = {"any": rankings, "tied": few_scores}.get(kind, st.none())
    judged = st.sampled_from([name, "not-retrieved", *(each for each in DOCUMENTS if each != "x")])
    grades = st.dictionaries(judged, st.sampled_from(GRADES), min_size=1, max_size=6)
    return Query(name, draw(ranking), draw(grades), is_broken=kind == "broken")


@st.composite
def _profiles(draw: st.DrawFn) -> Profile:
    options = draw(
        st.fixed_dictionaries(
            {
                "order": st.sampled_from(["score", "given"]),
                "ties": st.sampled_from(["docno", "given", "average", "error"]),
                "score_dtype": st.sampled_from(["float64", "float32"]),
                "duplicates": st.sampled_from(["first", "last", "best", "credit-once", "keep", "error"]),
                "no_gold": st.sampled_from(["undefined", "zero", "error"]),
                "missing_output": st.sampled_from(["zero", "exclude", "error"]),
                "failed_output": st.sampled_from(["zero", "exclude", "error"]),
                "max_failed": st.sampled_from([0.0, 0.5, 1.0]),
                "queries": st.sampled_from(["judged", "intersection"]),
                "depth": st.sampled_from([None, 1, 2, 3, 5]),
                "judged_only": st.booleans(),
                "exclude_self": st.booleans(),
                "filters": st.sampled_from(FILTERS),
                "excluded": st.none() | st.dictionaries(st.sampled_from(_NAMES), st.sets(st.sampled_from(DOCUMENTS))),
            }
        )
    )
    try:
        policy = Policy(**options)
    except PolicyError:  # no closed form: ties=average with depth, or where repeats keep their rank
        assume(False)
        raise
    return profile_of(
        policy,
        relevance=draw(st.sampled_from(["positive", "listed", 0.0, 1.0, 2.0])),
        negatives=draw(st.sampled_from(["judged", "unjudged"])),
    )
