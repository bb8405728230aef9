"""Dictionaries come to the same result by the kernel, one by one and in columns, to the last bit."""

from __future__ import annotations

import dataclasses
import random
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankgauge
from rankgauge import kernel as loading
from rankgauge.engine.run_result import FewEvaluator
from rankgauge.engine.runs import plan_run
from rankgauge.policy import PROFILES
from rankgauge.scoring.usual import packed_discounts

pytest.importorskip("rankgauge_fast._kernel", reason="rankgauge-fast is not compiled here: `make test-fast` does it")

USUAL = (
    *("recall@100", "recall@2", "recall_all@3", "hit@1", "P@1", "P@5", "f1@3", "RR", "rr@2", "AP", "map@2"),
    *("ndcg", "ndcg@3", "ndcg@100", "recall(rel=2)@3", "AP(rel=2)", "hit(rel=0)@2"),
)
OTHERS = ("bpref", "err(max_grade=4)@3", "judged@3", "ndcg(gain=exponential)@2")
IDS = ("a", "b", "c", "d10", "d2", "é", "ß", "日本", "\U0001f600", "\uffff", "x" * 40, "")
ODD_IDS = ("\udc80", "\ud800", "\udfff")
GRADES = (0, 0, 1, 1, 1, 2, 3, -1, 5)
ODD_GRADES = (0.5, 0.0, -0.0, 1.0, 2.0, 10**15, 2**53, 2**53 + 1, 10**400, 1e308, float("nan"), True, "1", None, 1e-320)
SCORES = (1.0, 1.0, 2.0, 0.5, 0.1, 1e-9, 3.25)
ODD_SCORES = (
    *(0.0, -0.0, 1e300, -1e300, 1.0 + 1e-9, 5, 2**53, 2**53 + 1, 10**400, True, np.float64(1.0), np.float32(1.0)),
    *(float("inf"), float("nan"), "1.0", None),
)


@st.composite
def pairs(draw):
    """Judgments and a run, mostly plain; also what is hostile."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    odd = draw(st.sampled_from((0.0, 0.0, 0.01, 0.1)))
    spread = draw(st.booleans())  # scores that are hardly ever the same
    ids = IDS if chance.random() < 0.8 else (*IDS, *ODD_IDS)

    def pick(usual, unusual):
        return chance.choice(unusual if chance.random() < odd else usual)

    def of(kinds, values):
        found = defaultdict(int) if chance.random() < 0.2 else {}
        found.update({chance.choice(ids): values() for _ in range(chance.randint(0, kinds))})
        if chance.random() < odd:
            found[chance.choice((7, None, b"a"))] = values()
        return pick([found], [None, [], 1.0, tuple(found)])

    queries = chance.sample(ids, chance.randint(0, 8))
    qrels = {query: of(6, lambda: pick(GRADES, ODD_GRADES)) for query in queries}
    run = {
        query: of(14, lambda: chance.random() if spread else pick(SCORES, ODD_SCORES))
        for query in chance.sample(ids, chance.randint(0, 10))
    }
    return chance.choice((qrels, defaultdict(dict, qrels))), run


@st.composite
def profiles(draw):
    policy = dataclasses.replace(
        PROFILES["trec10"].policy,
        score_dtype=draw(st.sampled_from(["float64", "float32"])),
        queries=draw(st.sampled_from(["judged", "intersection"])),
        duplicates=draw(st.sampled_from(["first", "keep", "error"])),
        no_gold=draw(st.sampled_from(["undefined", "zero"])),
        missing_output=draw(st.sampled_from(["zero", "exclude"])),
        failed_output=draw(st.sampled_from(["zero", "exclude"])),
    )
    relevance = draw(st.sampled_from(["positive", "listed", 0.0, 1.0, 2.0]))
    return dataclasses.replace(PROFILES["trec10"], policy=policy, relevance=relevance)


def everything(results):
    """Return all that results say, with scores to the last bit, but for the time at which they were made."""
    if results is None:
        return None
    return [
        (
            {
                name: (column.info, column.values.tobytes(), column.codes.tolist(), dict(column.reasons), column.mean)
                for name, column in result.metrics.items()
            },
            {name: value for name, value in result.manifest.items() if name != "created_at"},
            (result.sample_ids, result.tags, result.notes, result.gold_keys.tolist(), result.unscored),
        )
        for result in results.values()
    ]


def outcome(function, *arguments):
    try:
        return everything(function(*arguments))
    except rankgauge.RankgaugeError as error:
        return type(error), str(error)


def few(wanted, profile, *, compiled):
    with pytest.MonkeyPatch.context() as patch:
        if not compiled:
            patch.setattr(loading, "_loaded", lambda: None)
        return FewEvaluator.of(plan_run(wanted, profile=profile))


def in_columns(wanted, profile, qrels, run):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FewEvaluator, "evaluate", lambda *_: None)
        return rankgauge.evaluate(qrels, runs={"run": run}, metrics=wanted, profile=profile)


@pytest.mark.parametrize("wanted", [USUAL, (*USUAL, *OTHERS)], ids=["usual", "others"])
@given(pair=pairs(), profile=profiles())
def test_dictionaries_come_to_the_same_by_every_road(wanted, pair, profile):
    by_kernel = few(wanted, profile, compiled=True).evaluate(pair[0], {"run": pair[1]})
    one_by_one = few(wanted, profile, compiled=False).evaluate(pair[0], {"run": pair[1]})
    if by_kernel is None and one_by_one is None:
        return  # columns decide
    expected = everything(in_columns(wanted, profile, *pair))
    assert by_kernel is None or everything(by_kernel) == expected
    assert one_by_one is None or everything(one_by_one) == expected


TREC = PROFILES["trec10"]


def judged(qrels, run, *wanted, profile=TREC):
    (result,) = few(wanted or USUAL, profile, compiled=True).evaluate(qrels, {"run": run}).values()
    return result


def values(result):
    return {name: column.values.tolist() for name, column in result.metrics.items()}


def test_what_is_plain_is_not_handed_back():
    chance = random.Random(3)
    for size in (1, 2, 30, 300):
        documents = [f"d{number}" for number in range(40)]
        qrels = {f"q{at}": {name: chance.randint(0, 3) for name in chance.sample(documents, 9)} for at in range(size)}
        run = {query: {name: chance.random() for name in chance.sample(documents, 20)} for query in qrels}
        assert everything({"run": judged(qrels, run)}) == everything(in_columns(USUAL, TREC, qrels, run))


def test_equal_scores_stand_by_id_descending():
    """Behind `y`, the ids d, b and a share ranks 2 to 4; é follows z, as its first byte is c3."""
    run = {"q": {"a": 1.0, "d": 1.0, "y": 2.0, "b": 1.0}}
    assert judged({"q": {"a": 1, "b": 1}}, run, "RR", "AP").metrics["rr"].values.tolist() == [1 / 3]
    assert values(judged({"q": {"a": 1, "b": 1}}, run, "AP")) == {"ap": [(1 / 3 + 2 / 4) / 2]}
    assert values(judged({"q": {"z": 1}}, {"q": {"z": 1.0, "é": 1.0}}, "RR")) == {"rr": [0.5]}
    assert values(judged({"q": {"ab": 1}}, {"q": {"a": 1.0, "ab": 1.0}}, "RR")) == {"rr": [1.0]}


def test_scores_that_differ_as_doubles_may_tie_as_floats():
    run, narrow = {"q": {"a": 1.0 + 1e-9, "b": 1.0}}, TREC.adapted({"score_dtype": "float32"}, None)
    wide = TREC.adapted({"score_dtype": "float64"}, None)
    assert values(judged({"q": {"a": 1}}, run, "RR", profile=wide)) == {"rr": [1.0]}
    assert values(judged({"q": {"a": 1}}, run, "RR", profile=narrow)) == {"rr": [0.5]}


def test_whole_scores_and_those_of_numpy_are_plain():
    run = {"q": {"a": 1, "b": np.float64(2.0), "c": 1.5}}
    assert values(judged({"q": {"a": 1, "b": 1}}, run, "P@2", "RR")) == {"p@2": [0.5], "rr": [1.0]}


def test_judgments_are_those_of_the_time_at_which_they_were_given():
    qrels = {"q": {"a": 1}}
    results = few(["RR"], TREC, compiled=True).evaluate(qrels, {"one": {"q": {"a": 1.0}}, "two": {"q": {"b": 1.0}}})
    before = everything(results)
    qrels["q"]["b"] = 1
    assert everything(results) == before
    assert [result.origin.evaluation.qrels.n_judgments for result in results.values()] == [1, 1]


def test_what_lacks_a_score_is_told_as_columns_tell_it():
    qrels = {"none": {"a": 0}, "missing": {"a": 1}, "found": {"a": 1}}
    result = judged(qrels, {"none": {"a": 1.0}, "found": {"a": 1.0}, "other": {}}, "RR", "ndcg@3")
    assert result.sample_ids == ("found", "missing", "none")
    assert [result["RR"].status(place) for place in range(3)] == ["scored", "missing", "undefined"]
    assert result.notes[0].startswith("1 of 3 judged queries without results")


def test_many_ties_and_many_queries_without_scores_are_handed_back():
    documents = [f"d{number}" for number in range(400)]
    evaluator = few(["RR"], TREC, compiled=True)
    compiled = evaluator._scores.judge
    assert compiled({"q": dict.fromkeys(documents[:40], 1)}, {"q": dict.fromkeys(documents, 1.0)}) is not None
    assert compiled({"q": dict.fromkeys(documents, 1)}, {"q": dict.fromkeys(documents, 1.0)}) is None
    qrels = {f"q{number}": {"a": int(number >= 100)} for number in range(300)}
    assert compiled(qrels, {query: {"a": 1.0} for query in qrels}) is not None
    qrels = {query: {"a": 0} for query in qrels}
    assert compiled(qrels, {query: {"a": 1.0} for query in qrels}) is None


def test_arguments_that_do_not_fit_are_refused():
    kernel = loading.installed_kernel()
    rest = (packed_discounts(), 0.0, True, False, False, 1e100, 1e-12)
    assert kernel.score_few([], {}, (dict, float), b"", *rest) is None
    with pytest.raises(TypeError):
        kernel.score_few({}, {}, (dict,), b"", *rest)
    with pytest.raises(TypeError):
        kernel.score_few({}, {}, (dict, float), None, *rest)
