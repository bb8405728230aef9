"""Agreement of the rankings of two runs: by hand, against plain Python, on every road, and what is refused."""

from __future__ import annotations

import itertools
import math
import random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import rank_agreement
from rankgauge.errors import DataError, NothingToEvaluateError, ParameterError, PolicyError, UnknownNameError

SCORES = st.sampled_from([3.0, 2.5, 2.0, 1.0, -0.5])
RANKINGS = st.dictionaries(st.sampled_from([f"d{number}" for number in range(9)]), SCORES, min_size=1, max_size=8)
RUNS = st.dictionaries(st.sampled_from(["q1", "q2", "q10", "é"]), RANKINGS, min_size=1, max_size=4)


def written(run, tag="t"):
    lines = [f"{query} Q0 {document} 0 {score} {tag}\n" for query in run for document, score in run[query].items()]
    return "".join(lines)


def value(name, first, second, **options):
    """Return a measure of two rankings, given as documents from the top."""
    runs = ({"q": {document: -float(rank) for rank, document in enumerate(one)}} for one in (first, second))
    return rank_agreement(*runs, name, **options)[name].values[0]


class Plain:
    """The measures of one query in plain Python, over two mappings of document to score."""

    def __init__(self, run, other, k=None):
        self.scores = run, other
        self.first, self.second = (
            sorted(scores, key=lambda each: (scores[each], each), reverse=True)[:k] for scores in (run, other)
        )
        self.shared = [document for document in self.first if document in self.second]

    def overlap(self):
        return len(self.shared) / max(len(self.first), len(self.second))

    def jaccard(self):
        return len(self.shared) / len({*self.first, *self.second})

    def tau_ap(self):
        if len(self.shared) < 2:
            return math.nan
        place = self.second.index
        right = [
            sum(place(above) < place(document) for above in self.shared[:rank]) / rank
            for rank, document in enumerate(self.shared)
            if rank
        ]
        return 2 * sum(right) / len(right) - 1

    def taus(self, items):
        """Return tau-a and tau-b, pair by pair; a document that a ranking lacks is worse than all it has."""
        chosen = self.shared if items == "shared" else sorted({*self.first, *self.second})
        worth = [
            {each: scores[each] if each in ranking else -math.inf for each in chosen}
            for scores, ranking in zip(self.scores, (self.first, self.second), strict=True)
        ]
        signs = [
            [(own[one] > own[other]) - (own[one] < own[other]) for one, other in itertools.combinations(chosen, 2)]
            for own in worth
        ]
        difference = sum(one * other for one, other in zip(*signs, strict=True))
        untied = [sum(sign != 0 for sign in own) for own in signs]
        tau_a = difference / len(signs[0]) if signs[0] else math.nan
        return tau_a, difference / math.sqrt(untied[0] * untied[1]) if all(untied) else math.nan


@given(run=RUNS, other=RUNS, k=st.none() | st.integers(1, 6))
def test_agrees_with_plain_python(run, other, k):
    at = "" if k is None else f"@{k}"
    names = [
        f"{name}{at}"
        for name in ("overlap", "jaccard", "tau_ap", "tau_a", "tau_b", "tau_a(items=all)", "tau_b(items=all)")
    ]
    if not set(run) & set(other):
        with pytest.raises(NothingToEvaluateError, match="no query in common"):
            rank_agreement(run, other, names)
        return
    found = rank_agreement(run, other, names)

    assert list(found.queries) == sorted(set(run) & set(other), key=str.encode)
    assert set(found.only) == set(run) - set(other)
    assert set(found.only_other) == set(other) - set(run)
    for place, query in enumerate(found.queries):
        plain = Plain(run[query], other[query], k)
        expected = [plain.overlap(), plain.jaccard(), plain.tau_ap(), *plain.taus("shared"), *plain.taus("all")]
        values = [measure.values[place] for measure in found.measures.values()]
        assert values == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


def test_rankings_worked_out_by_hand():
    first, second = ["a", "b", "c", "d"], ["b", "a", "e", "d"]

    assert value("overlap@2", first, second) == 1.0
    assert value("overlap", first, second) == 3 / 4
    assert value("jaccard", first, second) == 3 / 5
    assert value("tau", first, second) == pytest.approx(1 / 3)  # a, b, d: one of three pairs is turned
    assert value("tau_ap", first, second) == pytest.approx(2 / 2 * (0 / 1 + 2 / 2) - 1)
    assert value("tau_ap(symmetric=true)", first, second) == pytest.approx(0)
    # a c b against a b c: behind the top one of one, then one of two, from either side: 2 / 2 * (1 + 1/2) - 1.
    assert value("tau_ap(symmetric=true)", "abc", "acb") == pytest.approx(0.5)
    # c and e are each below everything where they are missing: 10 pairs, of which a-b, c-d, c-e and d-e are turned.
    assert value("tau_a(items=all)", first, second) == pytest.approx((6 - 4) / 10)
    # Agreement is 0, 1, 2/3, 3/4 at depths 1 to 4, and 3/4 below.
    expected = 0.5 * (0 / 1 + 0.5 * 2 / 2 + 0.25 * 2 / 3 + 0.125 * 3 / 4) + 0.5**4 * 3 / 4
    assert value("rbo(p=0.5)", first, second) == pytest.approx(expected)


def test_a_shorter_ranking_is_not_punished_by_what_it_might_have_had():
    # Both agree on a and b; the longer one goes on. What the shorter one would have had is not known.
    assert value("rbo", ["a", "b"], ["a", "b", "c", "d"]) == pytest.approx(1.0)
    assert value("rbo_min", ["a", "b"], ["a", "b", "c", "d"]) < 1.0
    assert value("overlap", ["a", "b"], ["a", "b", "c", "d"]) == 1 / 2


def test_equal_scores_tie_for_tau_and_are_settled_by_the_policy_elsewhere():
    run, other = {"q": {"a": 2.0, "b": 2.0, "c": 1.0}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    found = rank_agreement(run, other, ["tau_a", "tau_b", "tau_ap", "overlap@1"])

    assert found["tau_a"].mean == pytest.approx(2 / 3)
    assert found["tau_b"].mean == pytest.approx(2 / math.sqrt(2 * 3))
    assert found["tau_ap"].mean == pytest.approx(0)  # b is above a, as trec_eval breaks the tie: (0 / 1 + 2 / 2) - 1
    assert found["overlap@1"].mean == 0.0
    as_given = rank_agreement(run, other, ["tau_a", "tau_b", "tau_ap"], policy={"order": "given"})
    assert [each.mean for each in as_given.measures.values()] == [1.0, 1.0, 1.0]


def test_policy_and_judgments_decide_what_is_compared():
    run = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 1.0}}
    other = {"q1": {"a": 1.0, "x": 3.0, "b": 0.5}, "q2": {"a": 1.0}}

    assert rank_agreement(run, other, "overlap", policy={"depth": 1})["overlap"].values.tolist() == [0.0, 1.0]
    judged = rank_agreement(run, other, "overlap", qrels={"q1": {"a": 1}, "q3": {"a": 1}})
    assert (judged.queries, judged.only, judged.only_other) == (("q1",), (), ())


def test_every_road_gives_the_same(tmp_path):
    chance = random.Random(3)  # noqa: S311  # no secret
    pool = [f"document-{number}" for number in range(60)]
    runs = [
        {f"q{number}": {each: round(chance.gauss(0, 1), 1) for each in chance.sample(pool, 40)} for number in range(30)}
        for _ in range(2)
    ]
    names = ["tau_b", "tau_ap", "rbo(p=0.95)", "rbo_res", "overlap@10", "tau_b(items=all)"]
    expected = rank_agreement(*runs, names)
    paths = [tmp_path / f"{number}.run" for number in range(2)]
    for path, run in zip(paths, runs, strict=True):
        lines = written(run).splitlines(keepends=True)
        chance.shuffle(lines)  # the lines of a query are scattered
        path.write_text("".join(lines), encoding="utf-8")
    rows = [(query, document, score) for query, own in runs[1].items() for document, score in own.items()]
    table = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")

    for other in (paths[1], table):
        found = rank_agreement(paths[0], other, names)
        assert found.queries == expected.queries
        for name in names:
            assert found[name].values.tolist() == expected[name].values.tolist()


def test_a_query_without_a_value_is_counted_and_left_out_of_the_mean():
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 2.0, "b": 1.0}}
    found = rank_agreement(run, {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 1.0, "z": 2.0}}, ["tau", "overlap"])

    assert (found["tau"].mean, found["tau"].n, found["tau"].n_undefined) == (1.0, 1, 1)
    assert (found["overlap"].mean, found["overlap"].lowest, found["overlap"].highest) == (0.75, 0.5, 1.0)
    assert found.worst("overlap", 1) == [("q2", 0.5)]
    assert found.worst("tau", 5) == [("q1", 1.0)]
    assert repr(found) == "RankAgreement(2 queries: tau_b=1.0000, overlap=0.7500)"


def test_one_query_is_written_as_one():
    run = {"q": {"a": 2.0, "b": 1.0}}
    assert repr(rank_agreement(run, run, ["overlap"])) == "RankAgreement(1 query: overlap=1.0000)"


def test_a_measure_is_found_by_each_spelling():
    found = rank_agreement({"q": {"a": 1.0}}, {"q": {"a": 1.0}}, ["Tau-AP", "rbo(p=0.5)@10"])

    assert found["tauap"] is found.measures["tau_ap"]
    assert list(found) == ["tau_ap", "rbo(p=0.5)@10"]
    assert found["RBO( p = 0.5 )@10"] is found.measures["rbo(p=0.5)@10"]
    with pytest.raises(KeyError, match="not asked for"):
        found["rbo"]


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("ndcg@10", UnknownNameError, "unknown measure of agreement 'ndcg'.*need judgments"),
        ("rbo(p=1)", ParameterError, "above 0 and at most 0.9999, not 1"),
        ("rbo(q=1)", ParameterError, "no parameter 'q'.*known are p"),
        ("tau(items=both)", ParameterError, "choose from shared, all"),
        ("overlap@0", ParameterError, "from 1 to"),
        ("overlap@2.5", ParameterError, "from 1 to"),
    ],
)
def test_a_measure_that_cannot_be_used_is_refused_before_anything_is_read(name, error, message):
    with pytest.raises(error, match=message):
        rank_agreement("no-such.run", "neither.run", name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ties": "average"}, "one order each"),
        ({"duplicates": "keep"}, "document by document"),
        ({"judged_only": True}, "without judgments"),
    ],
)
def test_a_policy_without_one_order_of_documents_is_refused(options, message):
    with pytest.raises(PolicyError, match=message):
        rank_agreement("no-such.run", "neither.run", policy=options)


def test_ties_and_duplicates_are_refused_where_the_policy_says_so(tmp_path):
    path = tmp_path / "a.run"
    path.write_text("q Q0 a 1 2 t\nq Q0 b 2 1 t\nq Q0 a 3 0 t\nr Q0 a 1 1 t\nr Q0 b 2 1 t\n", encoding="utf-8")

    with pytest.raises(DataError, match=r"query 'q': document 'a' is retrieved 2 times \(ranks 1, 3\)"):
        rank_agreement(path, path)
    with pytest.raises(DataError, match="query 'r': ranks 1 to 2 have the same score"):
        rank_agreement(path, path, policy={"ties": "error", "duplicates": "first"})
    assert rank_agreement(path, path, "overlap", policy={"duplicates": "last"})["overlap"].mean == 1.0
    path.write_text("r Q0 c 1 2 t\nr Q0 a 2 1 t\nr Q0 b 3 1 t\n", encoding="utf-8")
    assert rank_agreement(path, path, "overlap", policy={"ties": "error", "depth": 1})["overlap"].mean == 1.0
