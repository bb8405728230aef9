"""A case comes to the same scores to the last bit however it is handed in, or the same queries are refused."""

import dataclasses
import itertools
import math
import random

import pytest
from hypothesis import given, settings

from draws import draws, in_thorough_suite, some
from rankgauge import Catalog, Policy
from rankgauge.errors import PolicyError
from roads import filters
from roads.case import ANCHOR, DOCUMENTS, GRADES, SCORES, Case, Query, cases, profile_of
from roads.plain import is_relevant, plain_scores
from roads.road import ROADS, Tools, in_memory


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """Return rankgauge's own plugins, one with filters, and a folder; the command line finds rankgauge's own alone."""
    catalog = Catalog.discover(own_only=True, plugins={"filters": filters})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RANKGAUGE_NO_PLUGINS", "1")
        yield Tools(catalog, tmp_path_factory.mktemp("roads"))


def differing(case, tools, expected, roads=ROADS):
    """Return the roads that come to something else than samples in memory, each with the queries that differ."""
    found = {}
    for road in roads:
        part = road.part_of(case)
        if not road.takes(case):
            continue
        outcome, wanted = road.go(part, tools), expected if part == case else expected.of(part)
        if outcome.totals is None or wanted.totals is None:
            outcome, wanted = outcome._replace(totals=None), wanted._replace(totals=None)
        if outcome != wanted:
            found[road.name] = difference(outcome, wanted) or (outcome.totals, wanted.totals)
    return found


def difference(outcome, wanted):
    """Return what two outcomes say of each query of which they do not say the same."""
    said = [{**each.scores, **dict.fromkeys(each.refused, "refused")} for each in (outcome, wanted)]
    both = [{query: each.get(query) for query in {*said[0], *said[1]}} for each in said]
    return {query: (both[0][query], both[1][query]) for query in both[0] if both[0][query] != both[1][query]}


def check_against_plain(case, found):
    """Assert that samples have come to what the policy restated in plain Python does."""
    profile = case.profile
    for query in case.queries:
        if query.ranking is None:
            continue
        expected = plain_scores(query, profile)
        has_relevant = any(is_relevant(query, document, profile) for document in query.grades)
        if expected is None or (not has_relevant and profile.policy.no_gold == "error"):
            assert query.name in found.refused, query
        elif has_relevant and query.name not in found.refused:
            scores = found.scores[query.name]
            wrong = {
                name: value
                for name, value in expected.items()
                if not math.isclose(float.fromhex(scores[name][0]), value, rel_tol=1e-12)
            }
            assert not wrong, query


def scored(tools, ranking, grades, policy, **conventions):
    """Return the scores of one query by column, or None where it is refused, after every road has come to the same."""
    case = Case((Query("q", ranking, grades), ANCHOR), profile_of(policy, **conventions))
    outcome = in_memory(case, tools)
    assert differing(case, tools, outcome) == {}
    if outcome.refused == {"q"}:
        return None
    return {name: float.fromhex(bits) for name, (bits, _) in outcome.scores["q"].items()}


@settings(max_examples=draws(30))  # each of them takes eleven roads
@given(case=cases())
def test_every_road_comes_to_the_same(tools, case):
    assert differing(case, tools, in_memory(case, tools)) == {}


@given(case=cases())
def test_samples_come_to_what_the_policy_says(tools, case):
    check_against_plain(case, in_memory(case, tools))


def test_given_order_has_no_ties_to_average(tools):
    """
    `a` at ranks 1 and 3, of two relevant documents: P@3 is 2/3, AP (1 + 2/3) / 2.

    nDCG is (1 + 1/log2(4)) / (1 + 1/log2(3)), 0.920. That all scores are equal changes nothing.
    """
    ranking = (("a", 1.0), ("x", 1.0), ("a", 1.0))
    found = scored(tools, ranking, {"a": 1, "b": 1}, Policy(ties="average", duplicates="keep"))
    assert found["p@3"] == 2 / 3
    assert found["ap"] == pytest.approx(5 / 6, rel=1e-12)
    assert found["ndcg"] == pytest.approx(1.5 / (1 + 1 / math.log2(3)), rel=1e-12)


@in_thorough_suite()
@pytest.mark.parametrize("order", ["given", "score"])
def test_a_repeat_below_the_depth_is_refused_unless_it_is_the_query_itself(tools, order):
    """Duplicates act before the depth, and after the query itself is dropped."""
    refusing = Policy(order=order, duplicates="error", depth=2)
    assert scored(tools, (("a", 3.0), ("x", 2.0), ("a", 1.0)), {"a": 1}, refusing) is None
    dropping = dataclasses.replace(refusing, exclude_self=True)
    ranking = (("q", 4.0), ("x", 3.0), ("a", 2.0), ("q", 1.0))
    assert scored(tools, ranking, {"a": 1}, dropping)["rr"] == 1 / 2


@in_thorough_suite()
def test_the_best_of_repeats_has_the_highest_score_in_given_order_too(tools):
    """The second `a` stays, behind `x`; as C floats both have one score, and the first stays."""
    ranking = (("a", 2.0), ("x", 1.0), ("a", 2.00000001))
    best = Policy(duplicates="best")
    assert scored(tools, ranking, {"a": 1}, best)["rr"] == 1 / 2
    assert scored(tools, ranking, {"a": 1}, dataclasses.replace(best, score_dtype="float32"))["rr"] == 1


@pytest.mark.parametrize(("depth", "refused"), some([(2, False), (1, False), (4, True), (3, True), (None, True)]))
def test_a_tie_is_refused_where_it_begins_within_the_depth(tools, depth, refused):
    """`b` and the unjudged `y` share ranks 3 and 4."""
    ranking = (("a", 3.0), ("x", 2.0), ("b", 1.0), ("y", 1.0))
    found = scored(tools, ranking, {"a": 1, "b": 1}, Policy(order="score", ties="error", depth=depth))
    assert (found is None) == refused


@in_thorough_suite()
def test_a_tie_is_refused_where_its_documents_earn_differently(tools):
    """Grade 0 earns nothing, as an unjudged document does, unless every listed document is relevant."""
    policy = Policy(order="score", ties="error")
    ranking = (("b", 1.0), ("y", 1.0))
    assert scored(tools, ranking, {"a": 1, "b": 0}, policy)["rr"] == 0
    assert scored(tools, ranking, {"a": 1, "b": 0}, policy, relevance="listed") is None
    assert scored(tools, ranking, {"a": 1, "b": 0}, policy, relevance=0.0) is None
    grades = {"a": 3, "b": 1, "y": 1}
    assert scored(tools, ranking, {"a": 3, "b": 1}, policy, relevance=2.0) is None  # a gain, though not relevant
    assert scored(tools, ranking, grades, policy, relevance=2.0)["rr"] == 0
    assert scored(tools, (("b", 2.0), ("y", 2.00000001)), {"b": 1}, policy)["rr"] == 1 / 2
    assert (
        scored(
            tools, (("b", 2.0), ("y", 2.00000001)), {"b": 1}, Policy(order="score", ties="error", score_dtype="float32")
        )
        is None
    )


def test_scores_that_no_c_float_holds_are_tied(tools):
    """Both are infinite as C floats, so that `b` stands first by its id."""
    policy = Policy(order="score", score_dtype="float32")
    assert scored(tools, (("a", 2e39), ("b", 1e39)), {"a": 1}, policy)["rr"] == 1 / 2


TINY = (
    Query("repeat", (("a", 3.0), ("x", 2.0), ("a", 1.0), ("b", 0.5)), {"a": 1, "b": 2}),
    Query("best-below", (("a", 1.0), ("x", 2.0), ("b", 2.0), ("a", 3.0)), {"a": 2, "b": 1}),
    Query("tied", (("x", 1.0), ("a", 1.0), ("b", 1.0)), {"a": 1, "b": 0}),
    Query("tied-below", (("a", 3.0), ("x", 2.0), ("b", 1.0), ("y", 1.0)), {"a": 1, "b": 1}),
    Query("self", (("self", 2.0), ("a", 2.0), ("self", 1.0), ("n", 1.0)), {"a": 1, "self": 1, "n": -1}),
)

METRICS = ("P@3", "hit@1", "RR", "AP", "ndcg@3", "judged@2", "rbp")
"""Those that plain Python restates, and those whose last bit tells the formula over ties from the other one."""

SHORTCUTS = [road for road in ROADS if road.name in {"TREC text", "mappings", "mappings in columns"}]


def random_queries(chance, count):
    """Return queries with up to six items of few ids and scores."""
    return tuple(
        Query(
            f"r{number}",
            tuple(
                (chance.choice([*DOCUMENTS, f"r{number}"]), chance.choice(SCORES[:-2]))
                for _ in range(chance.randint(1, 6))
            ),
            {document: chance.choice(GRADES) for document in chance.sample([*DOCUMENTS, f"r{number}"], 4)},
        )
        for number in range(count)
    )


POLICIES = itertools.product(
    ("given", "score"),
    ("docno", "given", "average", "error"),
    ("first", "last", "best", "credit-once", "keep", "error"),
)


@pytest.mark.parametrize(("order", "ties", "duplicates"), some(list(POLICIES), of=5))
def test_text_and_mappings_come_to_what_samples_do(tools, order, ties, duplicates):
    """Five rankings and twenty random ones under every policy that acts on rankings; the conventions are random."""
    chance = random.Random(f"{order} {ties} {duplicates}")  # noqa: S311  # no secret
    queries = (*TINY, *random_queries(chance, 20), ANCHOR)
    every = list(itertools.product((None, 2), (False, True), (False, True)))
    for depth, judged_only, exclude_self in some(every, of=4, first=chance.randrange(4)):
        options = {"depth": depth, "judged_only": judged_only, "exclude_self": exclude_self}
        options["score_dtype"] = chance.choice(["float64", "float32"])
        try:
            policy = Policy(order=order, ties=ties, duplicates=duplicates, **options)
        except PolicyError:
            continue
        profile = profile_of(
            policy,
            relevance=chance.choice(["positive", "listed", 1.0]),
            negatives=chance.choice(["judged", "unjudged"]),
        )
        case = Case(queries, profile, METRICS)
        expected = in_memory(case, tools)
        assert differing(case, tools, expected, SHORTCUTS) == {}, f"{policy} relevance={profile.relevance}"
        check_against_plain(case, expected)
