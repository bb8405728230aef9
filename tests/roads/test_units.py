"""Scores of units are those of ids that were rolled up by hand, to the last bit, on every road and under any policy."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draws import draws
from rankgauge import Policy
from roads.case import ANCHOR, METRICS, Case, Query, cases, profile_of
from roads.road import ROADS, Tools, in_memory
from roads.test_roads import difference

PARTS = ("#{}", ":{}", "_chunk_{}", "-passage-{}", "#p{}-x")


@pytest.fixture(scope="module")
def tools(catalog, tmp_path_factory):
    """Return rankgauge's own plugins and a folder; the command line finds no others either."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKGAUGE_NO_PLUGINS", "1")
        yield Tools(catalog, tmp_path_factory.mktemp("units"))


@st.composite
def cut(draw, query):
    """Cut the documents of a query into parts; no part is retrieved or judged twice."""
    ranking = query.ranking
    if ranking is not None:
        ranking = tuple(
            (f"{document}{draw(st.sampled_from(PARTS)).format(number)}", score)
            for number, (document, score) in enumerate(ranking)
        )
    grades = {}
    for document, grade in query.grades.items():
        for number in range(draw(st.integers(0, 2))):
            grades[f"{document}#{number}"] = grade - number
        if not any(name.startswith(f"{document}#") for name in grades):
            grades[document] = grade
    return query._replace(ranking=ranking, grades=grades)


def rolled(query, uncut, policy):
    """Roll a query up by hand: *uncut* is the same query with the document of each result."""
    ranking = uncut.ranking
    if ranking is not None and policy.duplicates in {"first", "error"}:
        if policy.order == "score":
            kind = np.float32 if policy.score_dtype == "float32" else np.float64
            with np.errstate(over="ignore"):
                ranking = tuple(sorted(ranking, key=lambda item: -kind(item[1])))
        ranking = tuple(item for at, item in enumerate(ranking) if item[0] not in {name for name, _ in ranking[:at]})
    return query._replace(ranking=ranking, grades=dict(uncut.grades))


@settings(max_examples=draws(60), deadline=None)  # each of them takes eleven roads
@given(data=st.data(), case=cases())
def test_units_are_what_rolling_up_by_hand_gives(tools, data, case):
    unit = data.draw(st.sampled_from(["document", "'^(.*?)(?:[#:]|_chunk_|-passage-).*'"]))
    policy = dataclasses.replace(case.profile.policy, filters=())  # which see what is rolled up afterwards
    case = case._replace(profile=dataclasses.replace(case.profile, policy=policy))
    by_hand = case._replace(
        queries=tuple(rolled(query, query, policy) for query in case.queries),
        wanted=tuple(metric for metric in METRICS if metric != "bpref"),
    )
    chunked = case._replace(
        queries=tuple(query if query == ANCHOR else data.draw(cut(query)) for query in case.queries),
        wanted=tuple(
            f"{name}(unit={unit}){at}{k}" for name, at, k in (metric.partition("@") for metric in by_hand.wanted)
        ),
    )
    expected = in_memory(by_hand, tools)
    for road in [None, *ROADS]:
        part = chunked if road is None else road.part_of(chunked)
        if road is not None and not road.takes(part):
            continue
        outcome = in_memory(part, tools) if road is None else road.go(part, tools)
        assert difference(plain(outcome), expected.of(part)) == {}, road


def plain(outcome):
    """Return an outcome with the names of the columns without their units."""
    scores = {
        query: {f"{name.partition('(')[0]}{name.rpartition(')')[2]}": score for name, score in found.items()}
        for query, found in outcome.scores.items()
    }
    return outcome._replace(scores=scores, totals=None)


def test_a_chunk_that_is_listed_twice_is_refused_and_another_of_its_document_is_not(tools):
    """Under duplicates=error: `a#1` twice is an error in the file, `a#1` and `a#2` are one unit."""
    twice = Query("q1", (("a#1", 3.0), ("a#1", 2.0)), {"a": 1})
    apart = Query("q2", (("b#1", 3.0), ("a#1", 2.0), ("b#2", 1.5), ("a#2", 1.0)), {"a": 1})
    for order in ("score", "given"):
        profile = profile_of(Policy(order=order, duplicates="error"))
        case = Case((twice, apart, ANCHOR), profile, ("RR(unit=document)", "P(unit=document)@2"))
        for road in ROADS:
            part = road.part_of(case)
            if not road.takes(part):
                continue
            outcome = road.go(part, tools)
            assert outcome.refused == {query.name for query in part.queries if query == twice}, road.name
            assert [float.fromhex(bits) for bits, _ in outcome.scores["q2"].values()] == [0.5, 0.5]


@pytest.mark.parametrize(("duplicates", "scores"), [("first", [1 / 2, 1.0]), ("credit-once", [1 / 3, 0.0])])
def test_a_cutoff_counts_what_the_policy_leaves(tools, duplicates, scores):
    """Of b#1, b#2, a#1, c#1, with a relevant: dropped repeats leave a at rank 2; where they keep theirs, it is at 3."""
    query = Query("q", (("b#1", 4.0), ("b#2", 3.0), ("a#1", 2.0), ("c#1", 1.0)), {"a": 1})
    metrics = ("RR(unit=document)", "recall(unit=document)@2")
    case = Case((query, ANCHOR), profile_of(Policy(duplicates=duplicates)), metrics)
    assert [float.fromhex(bits) for bits, _ in in_memory(case, tools).scores["q"].values()] == scores


@pytest.mark.parametrize("duplicates", ["first", "best", "error"])
def test_the_first_result_of_a_unit_is_the_first_in_rank_wherever_it_is_listed(tools, duplicates):
    """Of a#1 (1), x#1 (2), a#2 (3), by score: a is at rank 1, though its first line says otherwise."""
    query = Query("q", (("a#1", 1.0), ("x#1", 2.0), ("a#2", 3.0)), {"a": 1})
    case = Case((query, ANCHOR), profile_of(Policy(order="score", duplicates=duplicates)), ("RR(unit=document)",))
    for road in ROADS:
        assert [float.fromhex(bits) for bits, _ in road.go(case, tools).scores["q"].values()] == [1.0], road.name
