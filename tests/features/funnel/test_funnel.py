"""Where a pipeline loses what is relevant: against plain Python over drawn pipelines, and by hand."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from draws import some
from rankgauge import Engine, funnel
from rankgauge.base.tables import text_width
from rankgauge.errors import DataError, NothingToEvaluateError, ResultError
from rankgauge.features.funnel.funnel import funnel_headline, funnel_lines
from tables import rows

SOURCES = {"dense": [], "sparse": [], "fused": ["dense", "sparse"], "rerank": ["fused"]}


def stages(**rankings):
    return [{"name": name, "from": SOURCES[name], "retrieved": items} for name, items in rankings.items()]


def sample(name, gold, told, **metadata):
    return {"id": name, "expected_output": gold, "actual_output": {"stages": told}, "metadata": metadata}


def drawn(seed):
    """Return samples with rankings of a pipeline of four stages, which find, add, drop and reorder at random."""
    draw = random.Random(seed)  # noqa: S311  # test data
    samples = []
    for number in range(draw.randint(1, 6)):
        pool = [f"d{at}" for at in range(9)]
        gold = {name: draw.choice([0, 1, 1, 2]) for name in draw.sample(pool, draw.randint(1, 4))}
        told = {name: draw.sample(pool, draw.randint(0, 6)) for name in SOURCES}
        samples.append(sample(f"q{number}", gold, stages(**told), tags=draw.sample(["x", "y"], draw.randint(0, 2))))
    return samples


def followed(samples, metric="recall@2", **options):
    return funnel(Engine().dataset(samples).with_metrics([metric]).run(), **options)


def value(gold, ranking, metric):
    """Return the score of one ranking, in plain Python."""
    relevant = {name: grade for name, grade in gold.items() if grade > 0}
    if metric == "recall@2":
        return sum(name in relevant for name in ranking[:2]) / len(relevant)
    best = sorted(relevant.values(), reverse=True)
    dcg = sum(relevant.get(name, 0) / math.log2(rank + 1) for rank, name in enumerate(ranking, 1))
    return dcg / sum(grade / math.log2(rank + 1) for rank, grade in enumerate(best, 1))


def mean(values):
    return math.fsum(values) / len(values)


@rows("seed", some(range(30)))
@rows("metric", ["recall@2", "ndcg"])
def test_a_funnel_is_what_plain_python_counts(seed, metric):
    samples = [each for each in drawn(seed) if any(each["expected_output"].values())]
    if not samples:
        return
    told = [{one["name"]: one["retrieved"] for one in each["actual_output"]["stages"]} for each in samples]
    golds = [each["expected_output"] for each in samples]
    relevant = [(at, name) for at, gold in enumerate(golds) for name, grade in gold.items() if grade > 0]
    funnel = followed(samples, metric)
    assert (funnel.samples, funnel.items) == (len(samples), len(relevant))

    def held(stage, item):
        return item[1] in told[item[0]][stage]

    for stage in funnel.stages:
        sources = SOURCES[stage.name]
        others = sources or [name for name in ("dense", "sparse") if name != stage.name]
        before = [any(held(source, item) for source in others) for item in relevant]
        now = [held(stage.name, item) for item in relevant]
        assert stage.held == sum(now)
        assert stage.added == sum(here and not there for here, there in zip(now, before, strict=True))
        lost = sum(there and not here for here, there in zip(now, before, strict=True))
        assert stage.lost == (lost if sources else 0)
        assert stage.results == pytest.approx(mean([len(each[stage.name]) for each in told]))
        rankings = [each[stage.name] for each in told]
        pairs = list(zip(golds, rankings, strict=True))
        assert stage.score.mean == pytest.approx(mean([value(*pair, metric) for pair in pairs]))
        ceilings = [max(value(gold, each, metric) for each in itertools.permutations(items)) for gold, items in pairs]
        assert stage.ceiling.mean == pytest.approx(mean(ceilings))
        if len(sources) == 1:
            given = [
                sorted(items, key=lambda name, order=each[sources[0]]: order.index(name) if name in order else 99)
                for items, each in zip(rankings, told, strict=True)
            ]
            as_given = mean([value(gold, items, metric) for gold, items in zip(golds, given, strict=True)])
            assert stage.as_given.mean == pytest.approx(as_given)
        else:
            assert stage.as_given is None

    after = {"dense": "fused", "sparse": "fused", "fused": "rerank", "rerank": "found"}
    fates = dict.fromkeys(["found", *SOURCES, "never"], 0)
    for at, name in relevant:
        had = [stage for stage in SOURCES if name in told[at][stage]]
        within = [stage for stage in had if metric == "ndcg" or name in told[at][stage][:2]]
        fate = after[within[-1]] if within else f"below since {had[0]}" if had else "never"
        fates[fate] = fates.get(fate, 0) + 1
    assert funnel.fates == fates
    assert sum(funnel.fates.values()) == funnel.items

    means = {stage.name: stage.score.mean for stage in funnel.stages}
    falls = {(one, two): means[two] - means[one] for one, into in SOURCES.items() for two in into}
    most = max(falls.values())
    assert (funnel.blamed() is None) == (most <= 1e-12)
    if (blamed := funnel.blamed()) is not None:
        assert falls[blamed[:2]] == pytest.approx(most)


SAMPLES = [
    sample(
        "q1",
        {"a": 2, "b": 1, "c": 1},
        stages(dense=["a", "x", "b"], sparse=["c", "y"], fused=["a", "c", "x", "b"], rerank=["x", "a", "c"]),
        tags=["long"],
    ),
    sample("q2", {"d": 2, "e": 1, "z": 1}, stages(dense=["x", "d"], sparse=["e"], fused=["e", "x", "d"], rerank=["d"])),
]


def test_lost_items_are_traced_with_their_ranks_on_both_sides():
    funnel = followed(SAMPLES)
    assert [f"{item.sample} {item.sentence}" for item in funnel.traced] == [
        "q1 c: sparse 1, fused 2, lost in rerank (rank 3 of 3)",
        "q2 e: sparse 1, fused 1, lost in rerank (not among its 1 results)",
        "q1 b: dense 3, fused 4, ranked below 2 since dense",
        "q2 z: never retrieved",
    ]
    assert len(followed(SAMPLES, items=1).traced) == 3


def test_cohorts_have_their_own_fates():
    funnel = followed(SAMPLES)
    stages_of_all = {"dense": 0, "sparse": 0, "fused": 0}
    assert funnel.fates == {"found": 2, **stages_of_all, "rerank": 2, "below since dense": 1, "never": 1}
    assert funnel.cohorts == {"long": {"found": 1, **stages_of_all, "rerank": 1, "below since dense": 1, "never": 0}}


def test_each_stage_is_tested_against_what_it_was_given():
    samples = [
        sample(f"q{at}", ["a"], stages(dense=["x", "a"], sparse=[], fused=["x", "a"], rerank=["a", "x"]))
        for at in range(12)
    ]
    steps = {(stage, source): metric for stage, source, metric in followed(samples, "recall@1").steps()}
    assert list(steps) == [("fused", "dense"), ("fused", "sparse"), ("rerank", "fused")]
    assert steps["rerank", "fused"].difference == 1.0
    assert steps["rerank", "fused"].verdict == "better"
    assert steps["fused", "dense"].verdict == "same"


def test_texts_are_followed_by_a_matcher():
    gold = {"passages": ["the tower is forty-one metres tall", "it was built of granite blocks in 1811"]}
    first = [{"text": "the tower is forty-one metres tall"}, {"text": "it was built of granite blocks in 1811"}]
    told = [{"name": "dense", "retrieved": first}, {"name": "rerank", "retrieved": first[1:]}]
    funnel = followed([sample("q", gold, told)], "recall@5")
    assert (funnel["dense"].held, funnel["rerank"].held, funnel["rerank"].lost) == (2, 1, 1)
    assert list(funnel) == ["dense", "rerank"]
    assert [item.id for item in funnel.traced] == [gold["passages"][0]]


def test_a_passage_that_results_hold_together_is_found_again_in_every_order():
    """Two of three pieces are more than half of it; which orders bring them to the top is not tried out in full."""
    pieces = [
        "The ferry to Bergen leaves from",
        "the old pier at nine, and",
        "the trip takes almost two hours in calm weather.",
    ]
    other = ["Nothing of interest stands here.", "Other words about something else."]
    rankings = {"dense": [pieces[0], *other, *pieces[1:]], "rerank": [pieces[1], pieces[0], *other], "cut": [pieces[1]]}
    told = [{"name": name, "retrieved": [{"text": text} for text in texts]} for name, texts in rankings.items()]
    funnel = followed([sample("q", {"passages": [" ".join(pieces)]}, told)])
    assert [stage.score.mean for stage in funnel.stages] == [0.0, 1.0, 0.0]
    assert [(stage.ceiling.mean, stage.ceiling_is_exact) for stage in funnel.stages[:2]] == [(1.0, False)] * 2
    assert funnel.blamed()[:2] == ("cut", "rerank")
    assert ">=1.0000" in "\n".join(map(str, funnel_lines(funnel, width=200)))


def test_what_cannot_be_followed_is_counted_and_left_out():
    samples = [
        *SAMPLES,
        sample("q3", ["a"], stages(dense=["a"])),
        {"id": "q4", "expected_output": ["a"]},
        {"id": "q5", "expected_output": ["a"], "actual_output": ["a"]},
        sample("q6", [], stages(dense=["a"], sparse=[], fused=["a"], rerank=["a"])),
    ]
    funnel = followed(samples)
    assert funnel.samples == 2
    assert funnel.left_out == {"no stage 'sparse'": 1, "no output": 1, "no stage 'dense'": 1, "no ground truth": 1}


def test_a_metric_that_sees_texts_has_no_ceiling():
    told = [{"name": "dense", "retrieved": [{"id": "a", "text": "one two three"}]}]
    funnel = followed([sample("q", ["a"], told)], "recall@2tok")
    assert funnel["dense"].ceiling is None


def test_a_column_that_cannot_be_followed_is_refused():
    with pytest.raises(ResultError, match="is of one stage; a funnel follows"):
        followed(SAMPLES, "recall(stage=dense)@2")
    output = {"stages": stages(dense=["a"]), "answer": "yes"}
    answered = [{"id": "q", "expected_output": {"answer": "yes"}, "actual_output": output}]
    with pytest.raises(ResultError, match="name a metric that does"):
        followed(answered, "EM")
    with pytest.raises(ResultError, match="is no mean over questions"):
        followed(SAMPLES, "gm_map")


def test_several_pipelines_are_refused_with_both_ways():
    other = {"stages": [{"name": "dense", "retrieved": []}, {"name": "sparse", "retrieved": [], "from": []},
                        {"name": "fused", "retrieved": [], "from": ["dense"]}]}  # fmt: skip
    samples = [*SAMPLES, {"id": "q9", "expected_output": ["a"], "actual_output": other}]
    with pytest.raises(DataError, match="comes from dense, sparse in sample 'q1'"):
        followed(samples)


def test_outputs_without_stages_are_refused_with_advice():
    with pytest.raises(DataError, match=r"give `actual_output\.stages`"):
        followed([{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}])


def test_nothing_to_follow_says_why():
    samples = [sample("q1", ["a"], stages(dense=["a"])), sample("q2", ["a"], stages(sparse=["a"]))]
    with pytest.raises(NothingToEvaluateError, match="1 sample with no stage 'sparse'"):
        followed(samples)


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width):
    for line in funnel_lines(followed(SAMPLES), width=width):
        assert text_width(line.text) <= width


def test_the_first_line_names_the_largest_loss():
    """The questions have recalls of 2/3 and 1/3 after fused, and of 1/3 and 1/3 after rerank."""
    first = next(iter(funnel_lines(followed(SAMPLES), width=None)))
    assert first.text == "rerank lowers recall@2 by 0.1667, from 0.5000 in fused to 0.3333 (undecided, 2 questions)"


def headline(told, metric="recall@5", gold=("a", "b")):
    lists = [{"name": name, "retrieved": items} for name, items in told.items()]
    return funnel_headline(followed([sample("q", list(gold), lists)], metric))


FIRST = ["a", *"uvwxy", "b"]
"""a at rank 1, b at rank 7."""


def test_a_stage_that_passes_on_the_same_list_is_blamed_for_nothing():
    said = headline({"dense": FIRST, "pass": FIRST, "rerank": FIRST})
    assert said == "no stage lowers recall@5; ranked below 5 since dense: 1 of 2 relevant items (50.0%), 1 question"


def test_a_cut_that_leaves_the_metric_alone_loses_nothing():
    said = headline({"dense": FIRST, "cut": FIRST[:5], "rerank": FIRST[4::-1]})
    assert said == "no stage lowers recall@5; ranked below 5 since dense: 1 of 2 relevant items (50.0%), 1 question"
    assert (
        headline({"dense": ["a", "b"], "cut": ["a", "b"]}) == "nothing is lost: recall@5, 1 question, 2 relevant items"
    )


def test_a_cut_that_costs_the_metric_is_blamed():
    """Of a deeper recall, the cut loses b; the reranker, which has the same, loses nothing."""
    said = headline({"dense": FIRST, "cut": FIRST[:5], "rerank": FIRST[4::-1]}, "recall@10")
    assert said == "cut lowers recall@10 by 0.5000, from 1.0000 in dense to 0.5000 (undecided, 1 question)"


def test_a_stage_that_only_demotes_is_blamed_by_what_the_metric_sees():
    """a falls from rank 1 to 4: RR from 1 to 1/4, while every item is still there; recall@5 sees nothing."""
    told = {"dense": ["a", "x", "y", "z"], "rerank": ["x", "y", "z", "a"]}
    said = headline(told, "RR", ["a"])
    assert said == "rerank lowers rr by 0.7500, from 1.0000 in dense to 0.2500 (undecided, 1 question)"
    assert headline(told, gold=["a"]) == "nothing is lost: recall@5, 1 question, 1 relevant item"


def test_a_fusion_is_held_to_its_best_source():
    """dense has a and b, sparse none: fused, which has only a among the first two, is better than sparse alone."""
    told = stages(dense=["a", "b"], sparse=["x", "y"], fused=["a", "x", "b", "y"], rerank=["a", "x", "b", "y"])
    funnel = followed([sample("q", ["a", "b"], told)])
    assert funnel_headline(funnel) == (
        "fused lowers recall@2 by 0.5000, from 1.0000 in dense to 0.5000 (undecided, 1 question)"
    )
    assert [item.sentence for item in funnel.traced] == ["b: dense 2, lost in fused (rank 3 of 4), rerank 3"]
    plain = funnel.to_dict()
    assert (plain["headline"], plain["blamed"]) == (funnel_headline(funnel), {"stage": "fused", "source": "dense"})


def test_the_first_line_adds_what_more_items_suffer_than_the_blamed_stage_loses():
    said = headline({"dense": FIRST, "rerank": FIRST[1:]}, gold=["a", "b", "m", "n"])
    assert said == (
        "rerank lowers recall@5 by 0.2500, from 0.2500 in dense to 0.0000 (undecided, 1 question); never retrieved: 2 "
        "of 4 relevant items (50.0%)"
    )
