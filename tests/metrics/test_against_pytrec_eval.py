"""
Every measure that pytrec_eval has too, per query, through the engine, on data that the tests make.

pytrec_eval-terrier wraps the C code of trec_eval 9: it compares scores as 32-bit floats, rounds recall levels up, and
hands out the logarithm of gm_map and gm_bpref for a query.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import random
from collections.abc import Mapping
from typing import Any

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from draws import draws, some
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.policy import PROFILES

ENGINE = Engine(catalog=Catalog.discover(own_only=True))
FLOOR = 1e-5
CUTOFFS = (1, 2, 3, 5, 10, 30, 1000)
LEVELS = (0.0, 0.1, 0.25, 0.3, 0.5, 0.75, 1.0)
MULTIPLES = (0.2, 0.5, 1.0, 2.0, 7.0)

Qrels = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Mapping[str, float]]

PLAIN = [
    "num_q",
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "num_nonrel_judged_ret",
    "map",
    "gm_map",
    "Rprec",
    "bpref",
    "gm_bpref",
    "recip_rank",
    "11pt_avg",
    "ndcg",
    "infAP",
    "set_P",
    "set_recall",
    "set_map",
    "set_F",
    "set_relative_P",
    "utility",
    "binG",
    "G",
    "ndcg_rel",
    "Rndcg",
]
CUT = {
    "P": "P_{k}",
    "relative_P": "relative_P_{k}",
    "recall": "recall_{k}",
    "success": "success_{k}",
    "ndcg_cut": "ndcg_cut_{k}",
    "map_cut": "map_cut_{k}",
}
OURS = {name: name for name in PLAIN}
OURS |= {form.format(k=k): form.format(k=k) for form in CUT.values() for k in CUTOFFS}
OURS |= {f"Rprec_mult_{multiple:.2f}": f"Rprec_mult_{multiple}" for multiple in MULTIPLES}
OURS |= {f"iprec_at_recall_{level:.2f}": f"iprec_at_recall_{level}" for level in LEVELS}
"""pytrec_eval's keys with the spellings that we are asked by."""

THEIRS = {
    *PLAIN,
    *(f"{name}.{','.join(map(str, CUTOFFS))}" for name in CUT),
    f"iprec_at_recall.{','.join(map(str, LEVELS))}",
    f"Rprec_mult.{','.join(map(str, MULTIPLES))}",
}


def level_profile(level: int = 1, **options: Any) -> Any:
    """Return the profile of trec_eval 9 with every judged topic in it, as a test compares topics."""
    profile = PROFILES["trec9"]
    policy = dataclasses.replace(profile.policy, queries="judged", **options)
    return dataclasses.replace(profile, policy=policy, relevance=float(level))


@functools.cache
def planned(names: tuple[str, ...], level: int) -> Any:
    return ENGINE.dataset([]).with_metrics(list(names)).with_profile(level_profile(level))


def scores(qrels: Qrels, run: Run, names: Mapping[str, str], level: int = 1) -> dict[str, dict[str, float]]:
    """Return our scores by topic, under their names."""
    samples = [
        {
            "id": topic,
            "expected_output": {"relevant": dict(judgments)},
            "actual_output": [{"id": name, "score": score} for name, score in run[topic].items()],
        }
        for topic, judgments in qrels.items()
        if topic in run
    ]
    evaluation = planned(tuple(names.values()), level)
    result = dataclasses.replace(evaluation, data=ENGINE.dataset(samples).data).run()
    columns = {theirs: result[ours].values.tolist() for theirs, ours in names.items()}
    return {topic: {name: columns[name][at] for name in names} for at, topic in enumerate(result.sample_ids)}


def readable(qrels: Qrels, level: int) -> Qrels:
    """Return judgments that the C code can read: its bpref reads past the end where all grades are below level - 1."""
    return {
        topic: judgments if max(judgments.values()) >= level - 1 else {**judgments, "never retrieved": level - 1}
        for topic, judgments in qrels.items()
    }


def compare(qrels: Qrels, run: Run, level: int = 1) -> None:
    """Fail where a score differs by more than 1e-9."""
    qrels = readable(qrels, level)
    expected = pytrec_eval.RelevanceEvaluator(qrels, THEIRS, relevance_level=level).evaluate(run)
    found = scores(qrels, run, OURS, level)

    assert set(expected) == set(found)
    assert expected
    for topic, theirs in expected.items():
        for name in OURS:
            ours = found[topic][name]
            if name.startswith("gm_"):
                ours = math.log(max(ours, FLOOR))
            assert ours == pytest.approx(theirs[name], rel=1e-9, abs=1e-9), (topic, name, qrels[topic], run[topic])


def drawn(seed: int, *, topics: int, depth: int, judged: int) -> tuple[Qrels, Run]:
    """Make graded data with negative grades, ties that straddle cutoffs, unjudged topics and missing ones."""
    random_ = random.Random(seed)  # noqa: S311  # drawn data, not secrets
    documents = [f"d{number}" for number in range(max(depth, judged) * 2)]
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(topics):
        grades = random_.choice([(0, 1), (0, 0, 0, 1), (-1, 0, 1, 2, 3), (-2, -1, 0), (0, 0, 200, 1)])
        names = random_.sample(documents, random_.randint(1, judged))
        if number % 7 != 6:
            qrels[f"q{number}"] = {name: random_.choice(grades) for name in names}
        if number % 5 != 4:
            levels = random_.choice([2, 5, 10**6])
            names = random_.sample(documents, random_.randint(1, depth))
            run[f"q{number}"] = {name: random_.randint(0, levels) / 8 for name in names}
    return qrels, run


@pytest.mark.parametrize("level", some([1, 2, 3], first=1))
@pytest.mark.parametrize(("seed", "depth", "judged"), [(1, 8, 5), (2, 60, 40), (3, 1100, 90)])
def test_every_measure_agrees_on_drawn_data(seed, depth, judged, level):
    compare(*drawn(seed, topics=20, depth=depth, judged=judged), level)


def test_scores_that_only_a_32_bit_float_ties_stand_by_id():
    # The two differ by 1e-9, below what a 32-bit float can tell at 1; by id, descending, b stands first.
    run = {"q": {"a": 1.000000001, "b": 1.0}}
    qrels = {"q": {"a": 1, "b": 0}}
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)["q"]["recip_rank"]

    assert expected == 0.5
    assert scores(qrels, run, {"recip_rank": "recip_rank"})["q"]["recip_rank"] == 0.5
    exact = level_profile(score_dtype="float64")
    sample = {"id": "q", "expected_output": {"a": 1, "b": 0}}
    sample["actual_output"] = [{"id": name, "score": score} for name, score in run["q"].items()]
    (found,) = ENGINE.dataset([]).with_metrics(["RR"]).with_profile(exact).score(sample).values()
    assert found.value == 1.0


def test_topic_without_anything_relevant_agrees():
    compare({"q": {"a": -1, "b": -2, "d": 0}, "z": {"a": 0, "c": 0}}, {"q": {"a": 2.0, "b": 1.0}, "z": {"a": 1.0}})


DOCUMENTS = st.sampled_from([f"d{number}" for number in range(14)] + ["é", "z", "Z", "d-1"])


@st.composite
def cases(draw: st.DrawFn) -> tuple[Qrels, Run]:
    topics = draw(st.lists(st.sampled_from(["1", "2", "10", "q"]), min_size=1, max_size=3, unique=True))
    judgments = st.dictionaries(DOCUMENTS, st.integers(-2, 4), min_size=1, max_size=10)
    ranked = st.dictionaries(DOCUMENTS, st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0, -1.0]), min_size=1, max_size=14)
    return {topic: draw(judgments) for topic in topics}, {topic: draw(ranked) for topic in topics}


@settings(max_examples=draws(80))
@given(case=cases(), level=st.sampled_from([1, 2]))
def test_every_measure_agrees(case, level):
    compare(*case, level)


@pytest.mark.parametrize("x", [0.25, 1.0, 4.0])
def test_set_f_takes_the_root_of_their_parameter(x):
    qrels, run = drawn(12, topics=35, depth=30, judged=20)
    qrels = readable(qrels, 1)
    expected = pytrec_eval.RelevanceEvaluator(qrels, {f"set_F.{x}"}).evaluate(run)
    found = scores(qrels, run, {"f": f"set_F(beta={math.sqrt(x)})"})

    for topic, values in expected.items():
        assert found[topic]["f"] == pytest.approx(next(iter(values.values())), abs=1e-9)


def test_the_judged_only_option_drops_what_is_unjudged_and_negative():
    qrels, run = drawn(13, topics=35, depth=30, judged=20)
    qrels = readable(qrels, 1)
    names = {"P_5": "P_5", "map": "map", "num_ret": "num_ret"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"P.5", "map", "num_ret"}, judged_docs_only_flag=True).evaluate(run)
    evaluation = ENGINE.dataset(
        [
            {
                "id": topic,
                "expected_output": {"relevant": dict(judgments)},
                "actual_output": [{"id": name, "score": score} for name, score in run[topic].items()],
            }
            for topic, judgments in qrels.items()
            if topic in run
        ]
    )
    result = evaluation.with_metrics(list(names.values())).with_profile(level_profile(judged_only=True)).run()

    for at, topic in enumerate(result.sample_ids):
        for name, ours in names.items():
            assert result[ours].values[at] == pytest.approx(theirs[topic][name], abs=1e-9), (topic, name)
