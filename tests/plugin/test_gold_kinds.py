"""
Kinds of ground truth of plugins: boxes on pages, whose parts add up, weighted facts, and scores.
"""

import json
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from rankgauge import Engine, funnel, html_report
from rankgauge.catalog import Catalog
from rankgauge.errors import DataError, DeclarationError, MetricFailedError, NameClashError, PlanError
from rankgauge.features.pytest_plugin.logged_samples import make_record
from rankgauge.io.datasets import DatasetReader
from rankgauge.planning.lock import lock_columns
from rankgauge.plugin import Covers, GoldItem, Judged, RetrievedItem, Scores, gold_kind, hookimpl, metric
from rankgauge.policy import Contract
from rankgauge.testing import check_plugin
from tables import rows


def cells(box, gold):
    """Yield where a box meets a gold box, row by row, as stretches of its cells."""
    (left, top, right, bottom), (x, y, right_end, bottom_end) = box["at"], gold["at"]
    start, end = max(left, x) - x, min(right, right_end) - x
    if box["page"] == gold["page"] and start < end:
        for row in range(max(top, y) - y, min(bottom, bottom_end) - y):
            yield row * (right_end - x) + start, row * (right_end - x) + end


def covered(retrieved, gold):
    parts = [
        (row, column, *stretch)
        for row, item in enumerate(retrieved)
        for column, wanted in enumerate(gold)
        for box in item.metadata.get("boxes", ())
        for stretch in cells(box, wanted)
    ]
    rows, columns, start, end = np.array(parts, dtype=np.int64).reshape(-1, 4).T
    sizes = [(right - left) * (bottom - top) for left, top, right, bottom in (wanted["at"] for wanted in gold)]
    return Covers(rows, columns, start, end, np.array(sizes), len(retrieved))


@gold_kind("boxes", judge=covered, covers=True, describe="boxes on pages")
def boxes(raw):
    """Boxes on pages that should be shown."""
    if not isinstance(raw, list):
        raise ValueError("expected a list of boxes")  # noqa: TRY004  # what the reader of samples expects
    for number, box in enumerate(raw):
        if not isinstance(box, dict) or not {"page", "at"} <= box.keys():
            raise ValueError(f"box {number} needs 'page' and 'at'")
    return [GoldItem(box, f"page {box['page']} {box['at']}", box.get("grade", 1)) for box in raw]


@gold_kind("facts", matcher="keyword")
def facts(raw):
    """Facts by their weight."""
    if not isinstance(raw, dict) or not all(isinstance(weight, int | float) for weight in raw.values()):
        raise ValueError("expected a map of facts to weights")
    return [GoldItem(text, text, weight) for text, weight in raw.items()]


def scored(retrieved, gold):
    return np.array([[item.score == wanted for wanted in gold] for item in retrieved], dtype=np.float64)


@gold_kind("scores", judge=scored, version="2")
def scores(raw):
    """Scores that should occur."""
    return [GoldItem(score, f"score {score}") for score in raw]


@hookimpl
def rankgauge_gold_kinds():
    return [boxes, facts, scores]


PLUGIN = SimpleNamespace(__name__="ours", rankgauge_gold_kinds=rankgauge_gold_kinds)


@pytest.fixture(scope="module")
def catalog():
    return Catalog.discover(own_only=True, plugins={"ours": PLUGIN})


def offering(*kinds, **hooks):
    def rankgauge_gold_kinds():
        return list(kinds)

    offered = {"rankgauge_gold_kinds": hookimpl(rankgauge_gold_kinds)} if kinds else {}
    return SimpleNamespace(__name__="ours", **offered, **hooks)


def reading():
    """Return another function each time, since a declaration is put on its function."""
    return lambda raw: [GoldItem(each, str(each)) for each in raw]


def box(page, left, top, right, bottom, **more):
    return {"page": page, "at": [left, top, right, bottom], **more}


def item(name, *own, **more):
    return {"id": name, "metadata": {"boxes": list(own)}, **more}


def sample(gold, *retrieved, **more):
    return {"id": "q", "expected_output": gold, "actual_output": {"retrieved": list(retrieved), **more}}


WANTED = [box(1, 0, 0, 10, 10), box(2, 0, 0, 4, 5)]
"""100 cells, and 20."""

PARTS = (
    item("a", box(1, 0, 0, 10, 3)),  # 30 cells
    item("x", box(3, 0, 0, 10, 10)),
    item("b", box(1, 5, 2, 15, 8)),  # 5 x 6 = 30 cells, 5 of them those of a: 55 together
    item("c", box(2, 0, 0, 4, 5), box(1, 0, 9, 1, 10)),  # all of the second
)


@pytest.fixture
def means(catalog):
    def run(metrics, *samples, **options):
        evaluation = Engine(catalog=catalog).dataset(samples).with_metrics(metrics)
        return [column.mean for column in evaluation.run(**options).metrics.values()]

    return run


class TestBoxes:
    def test_parts_of_several_results_find_a_box_together(self, means):
        asked = [f"recall(gold=boxes)@{k}" for k in (1, 2, 3, 4)]
        assert means(asked, sample({"boxes": WANTED}, *PARTS)) == [0, 0, 0.5, 1]

    def test_one_result_alone(self, means):
        asked = ["recall(gold=boxes,joint=false)@4", "mrr(gold=boxes, joint=false)"]
        assert means(asked, sample({"boxes": WANTED}, *PARTS)) == [0.5, 0.25]

    def test_rank_of_the_first_that_is_found(self, means):
        assert means(["mrr(gold=boxes)", "hit(gold=boxes)@2"], sample({"boxes": WANTED}, *PARTS)) == [1 / 3, 0]

    def test_items_that_one_result_finds_take_ranks_of_their_own(self, means):
        both = item("a", *WANTED)
        dcg = 1 + 1 / np.log2(3)
        assert means(["dcg(gold=boxes)@2", "ndcg(gold=boxes)@2"], sample({"boxes": WANTED}, both)) == [dcg, 1]

    def test_grades(self, means):
        gold = [box(1, 0, 0, 2, 2, grade=3), box(2, 0, 0, 2, 2), box(3, 0, 0, 2, 2, grade=0)]
        found = item("a", gold[1]), item("b", gold[2]), item("c", gold[0])
        ideal = 3 + 1 / np.log2(3)
        expected = [(1 + 3 / 2) / ideal, 1]
        assert means(["ndcg(gold=boxes)@3", "recall(gold=boxes)@3"], sample({"boxes": gold}, *found)) == expected

    def test_repeats_are_dropped_as_everywhere(self, means):
        first, again = item("a", box(1, 0, 0, 10, 3)), item("a", box(1, 0, 0, 10, 3))
        rest = item("b", box(1, 0, 3, 10, 6))
        assert means(["mrr(gold=boxes)"], sample({"boxes": WANTED[:1]}, first, again, rest)) == [1 / 2]

    def test_beside_ids_of_the_same_sample(self, means):
        gold = {"relevant": ["x"], "boxes": WANTED}
        assert means(["mrr", "mrr(gold=boxes)"], sample(gold, *PARTS)) == [1 / 2, 1 / 3]

    def test_a_sample_without_any_is_undefined(self, catalog):
        samples = [sample({"boxes": WANTED}, *PARTS), {**sample(["a"], *PARTS), "id": "r"}]
        column = Engine(catalog=catalog).dataset(samples).with_metrics(["mrr(gold=boxes)"]).run()["mrr(gold=boxes)"]
        assert (column.mean, column.n) == (1 / 3, 1)
        assert column.reasons == {1: "the sample has no ground truth of the kind 'boxes'"}

    def test_at_a_stage(self, means):
        stages = [{"name": "search", "retrieved": PARTS[::-1]}, {"name": "rerank", "retrieved": list(PARTS)}]
        asked = ["mrr(gold=boxes,stage=search)", "mrr(gold=boxes,stage=rerank)"]
        assert means(asked, sample({"boxes": WANTED}, *PARTS, stages=stages)) == [1, 1 / 3]

    def test_it_is_explained_by_the_names_of_its_items(self, catalog):
        evaluation = Engine(catalog=catalog).dataset([sample({"boxes": WANTED}, *PARTS[:3])])
        explanation = evaluation.with_metrics(["recall(gold=boxes)@3"]).run().explain("q", "recall(gold=boxes)@3")
        assert explanation.judged == "boxes on pages, several results together"
        assert [(held.rank, held.gold, held.match) for held in explanation.ranks if held.gold] == [
            (3, ("page 1 [0, 0, 10, 10]",), 0.55)
        ]
        assert [gold.id for gold in explanation.missing] == ["page 2 [0, 0, 4, 5]"]
        assert {trial.id: trial.score for trial in explanation.without} == {"a": 0, "x": 0.5, "b": 0}
        assert explanation.with_missing_on_top == ()

    def test_a_funnel_follows_its_items(self, catalog):
        stages = [
            {"name": "search", "retrieved": [PARTS[0], PARTS[3], PARTS[2]]},
            {"name": "rerank", "retrieved": [PARTS[0], PARTS[2]]},
        ]
        gold = sample({"boxes": WANTED}, PARTS[0], PARTS[2], stages=stages)
        result = Engine(catalog=catalog).dataset([gold]).with_metrics(["recall(gold=boxes)@3"]).run()
        assert "page 2 [0, 0, 4, 5]" in str(funnel(result))

    def test_a_report_shows_them(self, catalog):
        evaluation = Engine(catalog=catalog).dataset([sample({"boxes": WANTED}, *PARTS)])
        page = html_report({"ours": evaluation.with_metrics(["recall(gold=boxes)@3"]).run()})
        assert "boxes on pages, several results together" in page

    def test_all_samples_alone_and_in_batches_score_the_same(self, catalog):
        draw = np.random.default_rng(7)
        samples = []
        for number in range(40):
            gold = [box(int(page), 0, 0, 6, 6) for page in draw.choice(4, 2, replace=False)]
            lists = [
                item(f"d{at}", *(box(int(draw.integers(4)), *sorted_box(draw)) for _ in range(2))) for at in range(5)
            ]
            samples.append({**sample({"boxes": gold}, *lists), "id": f"q{number}"})
        evaluation = Engine(catalog=catalog).dataset(samples).with_metrics(["ndcg(gold=boxes)@4"])
        values = evaluation.run(batch_size=7)["ndcg(gold=boxes)@4"].values
        assert [evaluation.score(each)["ndcg(gold=boxes)@4"].value for each in samples] == list(values)
        assert sum(values) > 0
        by_hand = [brute_force(each, 4) for each in samples]
        assert list(values) == pytest.approx(by_hand, abs=1e-12)


def sorted_box(draw):
    (left, right), (top, bottom) = (sorted(draw.choice(8, 2, replace=False).tolist()) for _ in range(2))
    return left, top, right, bottom


def brute_force(sample, k):
    """Return nDCG by sets of cells: what is found at a rank takes one rank after the other."""
    found = []
    for wanted in sample["expected_output"]["boxes"]:
        inside, union, size = area(wanted), set(), len(area(wanted))
        for rank, one in enumerate(sample["actual_output"]["retrieved"], 1):
            union |= set().union(*(area(each) for each in one["metadata"]["boxes"])) & inside
            if len(union) * 2 >= size:
                found.append(rank)
                break
    taken, gain = 0, 0.0
    for rank in sorted(found):
        taken = max(rank, taken + 1)
        gain += 1 / np.log2(taken + 1) if rank <= k else 0
    ideal = sum(1 / np.log2(rank + 1) for rank in range(1, 3))
    return gain / ideal


def area(one):
    left, top, right, bottom = one["at"]
    return {(one["page"], x, y) for x in range(left, right) for y in range(top, bottom)}


FACTS = {"facts": {"oak": 3, "ash": 1, "elm": 0}}


class TestFacts:
    def test_a_matcher_finds_them_by_their_weights(self, means):
        retrieved = {"text": "an Ash"}, {"text": "elm and oak"}
        ideal = 3 + 1 / np.log2(3)
        values = means(["ndcg(gold=facts)@2", "recall(gold=facts)@1"], sample(FACTS, *retrieved))
        assert values == [pytest.approx((1 + 3 / np.log2(3)) / ideal), 1 / 2]

    def test_another_matcher(self, means):
        retrieved = {"text": "oak tree"}, {"text": "ash"}
        assert means(["mrr(gold=facts, matcher=exact)", "mrr(gold=facts)"], sample(FACTS, *retrieved)) == [0.5, 1]

    def test_the_matcher_of_an_evaluation(self, catalog):
        evaluation = Engine(catalog=catalog).dataset([sample(FACTS, {"text": "oak tree"}, {"text": "ash"})])
        evaluation = evaluation.with_metrics(["mrr(gold=facts)"])
        assert evaluation.with_matchers({"facts": "exact"}).run()["mrr(gold=facts)"].mean == 0.5
        with pytest.raises(PlanError, match=r"kinds of gold that are text .*, not 'boxes'"):
            evaluation.with_matchers({"boxes": "exact"}).run()

    def test_a_metric_of_its_own_of_the_answer(self):
        @metric("weight-stated", gold="facts", judges="answer")
        def stated(judged: Judged) -> Scores:
            """Weight of the facts that the answer states."""
            found, gold = judged.finds(), judged.gold
            total = np.bincount(gold.sample, gold.grade, judged.n)
            return np.bincount(found.sample, found.grade, judged.n) / total

        plugin = offering(facts, rankgauge_metrics=hookimpl(lambda: [stated]))
        catalog = Catalog.discover(own_only=True, plugins={"ours": plugin})
        evaluation = Engine(catalog=catalog).dataset([sample(FACTS, answer="Elm or oak?")])
        evaluation = evaluation.with_metrics(["weight-stated"])
        assert "judged    facts of the generated answer by text, matcher keyword" in evaluation.plan().describe()
        assert evaluation.run()["weight-stated"].mean == 3 / 4

    def test_the_one_that_is_missing_is_tried_on_top(self, catalog):
        evaluation = Engine(catalog=catalog).dataset([sample(FACTS, {"text": "ash"})])
        explanation = evaluation.with_metrics(["recall(gold=facts)@2"]).run().explain("q", "recall(gold=facts)@2")
        assert [(gold.id, gold.grade, gold.ideal_rank) for gold in explanation.missing] == [("oak", 3, 1)]
        assert [(trial.id, trial.score) for trial in explanation.with_missing_on_top] == [("oak", 1)]

    def test_items_called_by_something_else_than_their_texts(self):
        kind = gold_kind("rules", matcher="keyword")(lambda raw: [GoldItem(text, name) for name, text in raw.items()])
        engine = Engine(catalog=Catalog.discover(own_only=True, plugins={"ours": offering(kind)}))
        given = sample({"rules": {"r1": "oak", "r2": "ash"}}, {"text": "an oak tree"})
        result = engine.dataset([given]).with_metrics(["recall(gold=rules)@2"]).run()
        explanation = result.explain("q", "recall(gold=rules)@2")
        assert [(held.gold, held.matched) for held in explanation.ranks] == [(("r1",), "oak")]
        assert [(trial.id, trial.score) for trial in explanation.with_missing_on_top] == [("r2", 1)]


class TestScores:
    def test_a_function_may_return_scores(self, means):
        retrieved = {"id": "a", "score": 9}, {"id": "b", "score": 7}, {"id": "c"}
        asked = ["recall(gold=scores)@1", "recall(gold=scores)@3", "mrr(gold=scores)"]
        assert means(asked, sample({"scores": [7, 1, 2, 3]}, *retrieved)) == [0, 1 / 4, 1 / 2]

    def test_of_the_answer_it_sees_only_that(self):
        seen = []

        def noted(retrieved, gold):
            seen.append((retrieved, gold))
            return np.ones((len(retrieved), len(gold)))

        @metric("said-at-all", gold="said", judges="answer")
        def said(judged: Judged) -> Scores:
            """Whether anything was found."""
            return judged.found().astype(float)

        kind = gold_kind("said", judge=noted)(lambda raw: [GoldItem(each, each) for each in raw])
        kind.__doc__ = "What should be said."
        plugin = offering(kind, rankgauge_metrics=hookimpl(lambda: [said]))
        engine = Engine(catalog=Catalog.discover(own_only=True, plugins={"ours": plugin}))
        given = sample({"said": ["x", "y"]}, {"id": "a", "score": 3}, answer="no")
        assert engine.dataset([given]).with_metrics(["said-at-all"]).run()["said-at-all"].mean == 2
        assert seen == [([RetrievedItem(None, "no")], ["x", "y"])]

    def test_what_it_sees_of_a_result(self):
        seen = []

        def noted(retrieved, gold):
            seen.extend(retrieved)
            return np.zeros((len(retrieved), len(gold)))

        kind = gold_kind("seen", judge=noted)(lambda raw: [GoldItem(raw, "one")])
        engine = Engine(catalog=Catalog.discover(own_only=True, plugins={"ours": offering(kind)}))
        low = {"id": "low", "text": "t", "score": 1, "metadata": {"a": 1}}
        high = {"id": "high", "score": 2, "document": "d", "start": 3, "end": 5}
        evaluation = engine.dataset([sample({"seen": {}}, low, high, "bare")]).with_metrics(["mrr(gold=seen)"])
        evaluation.run()
        assert seen == [
            RetrievedItem("low", "t", 1.0, {"a": 1}),
            RetrievedItem("high", None, 2.0, {}, ("d", 3, 5)),
            RetrievedItem("bare"),
        ]


class TestWhatCannotBeUsed:
    @pytest.mark.parametrize(
        ("gold", "why"),
        [
            ({"page": 1}, "cannot read it: expected a list of boxes; found the object {'page': 1}"),
            ([{"page": 1}], "cannot read it: box 0 needs 'page' and 'at'; found the list [{'page': 1}]"),
            ([box(1, 0, 0, 1, 1)] * 2, "returned two items called the string 'page 1 [0, 0, 1, 1]'; give each its own"),
            ([box(1, 0, 0, 1, 1, grade="x")], "returned the grade the string 'x'; a grade is a finite number"),
        ],
    )
    def test_ground_truth_is_a_problem_of_its_file(self, catalog, gold, why, tmp_path):
        path = tmp_path / "s.jsonl"
        path.write_text(json.dumps(sample({"boxes": gold}, *PARTS)) + "\n")
        with pytest.raises(DataError) as error:
            Engine(catalog=catalog).dataset(path).with_metrics(["mrr(gold=boxes)"]).run()
        assert "s.jsonl:1" in str(error.value)
        assert "expected_output.boxes, sample 'q': gold kind 'boxes' (by this process (plugin ours)" in str(error.value)
        assert why in str(error.value)

    def test_a_profile_that_fails_the_pair_fails_that_kind_alone(self, catalog):
        evaluation = Engine(catalog=catalog).dataset([sample({"boxes": [{}], "relevant": ["a"]}, *PARTS)])
        result = evaluation.with_profile("eval-harness", max_failed=1).with_metrics(["mrr", "mrr(gold=boxes)"]).run()
        assert result["mrr"].mean == 1
        assert "box 0 needs 'page' and 'at'" in result["mrr(gold=boxes)"].reasons[0]

    def test_a_judge_that_raises_fails_its_sample(self, catalog):
        samples = [sample({"scores": [1]}, {"id": "a", "score": 1}), {**sample({"scores": [1]}, "b"), "id": "r"}]
        wrong = gold_kind("wrong", judge=lambda retrieved, gold: 1 / (retrieved[0].score or 0))(reading())
        engine = Engine(catalog=Catalog.discover(own_only=True, plugins={"ours": offering(wrong)}))
        samples = [{**each, "expected_output": {"wrong": [1]}} for each in samples]
        evaluation = engine.dataset(samples).with_metrics(["mrr(gold=wrong)"]).with_profile(max_failed=1)
        with pytest.raises(MetricFailedError, match="gold kind 'wrong'") as raised:  # as it fails for both
            evaluation.run()
        column = raised.value.result["mrr(gold=wrong)"]
        assert "gold kind 'wrong' (by this process (plugin ours)" in column.reasons[1]
        assert "ZeroDivisionError" in column.reasons[1]
        assert "returned the shape ()" in column.reasons[0]

    def test_an_unknown_key_names_those_of_plugins(self, catalog):
        with pytest.raises(DataError, match=r"ground truth \(did you mean 'boxes'\?\); known are .*boxes"):
            Engine(catalog=catalog).dataset([sample({"boxs": []}, "a")]).with_metrics(["mrr"]).run()

    def test_an_unknown_kind_of_a_metric(self, catalog):
        with pytest.raises(PlanError, match=r"not against gold='boxs' \(did you mean 'boxes'\?\)"):
            Engine(catalog=catalog).dataset([]).with_metrics(["mrr(gold=boxs)"]).plan()

    def test_a_metric_for_a_kind_that_nobody_declares(self):
        @metric("pages-found", gold="pages")
        def pages(judged: Judged) -> Scores:
            """Whether a page was found."""
            return judged.found().astype(float)

        plugin = offering(rankgauge_metrics=hookimpl(lambda: [pages]))
        catalog = Catalog.discover(own_only=True, plugins={"ours": plugin})
        with pytest.raises(PlanError, match="unknown gold kind 'pages'"):
            Engine(catalog=catalog).dataset([]).with_metrics(["pages-found"]).plan()

    def test_a_matcher_has_no_effect_on_a_function(self, catalog):
        with pytest.raises(PlanError, match="judged by boxes here, where a matcher has no effect"):
            Engine(catalog=catalog).dataset([]).with_metrics(["mrr(gold=boxes, matcher=exact)"]).plan()

    def test_two_plugins_with_one_name(self):
        other = gold_kind("boxes", judge=covered, covers=True)(lambda raw: [])
        catalog = Catalog.discover(own_only=True, plugins={"ours": PLUGIN, "theirs": offering(other)})
        with pytest.raises(PlanError, match="boxes"):
            Engine(catalog=catalog).dataset([]).with_metrics(["mrr(gold=boxes)"]).plan()
        with pytest.raises(NameClashError, match="gold kind 'boxes'"):
            Engine(catalog=catalog).dataset([sample({"boxes": []}, "a")]).with_metrics(["mrr"]).run()

    @rows(
        ("name", "arguments", "why"),
        [
            ("spans", {"judge": covered}, "gold kind 'spans' is built in and cannot be replaced"),
            ("documents", {"judge": covered}, "gold kind 'documents' is built in and cannot be replaced"),
            ("Boxes", {"judge": covered}, "'Boxes' is not a usable name"),
            ("mine", {}, "needs one of `judge` and, if its values are texts, `matcher`"),
            ("mine", {"judge": covered, "matcher": "exact"}, "needs one of `judge` and"),
            ("mine", {"matcher": "exact", "covers": True}, "covers=True, which is about what `judge` returns"),
            ("mine", {"judge": covered, "threshold": 0}, "above 0 and at most 1, not 0"),
            ("mine", {"judge": covered, "threshold": float("nan")}, "above 0 and at most 1, not nan"),
            ("mine", {"judge": covered, "version": 2}, "a version is a text such as '2', not 2"),
        ],
    )
    def test_declarations(self, name, arguments, why):
        with pytest.raises(DeclarationError) as error:
            gold_kind(name, **arguments)(lambda raw: [])
        assert why in str(error.value)


class TestWhatItMeans:
    def of(self, **arguments):
        """Return the fingerprint of a metric against a kind, and the ground truth's hash."""
        kind = gold_kind("mine", judge=covered, **{"covers": True, **arguments})(reading())
        engine = Engine(catalog=Catalog.discover(own_only=True, plugins={"ours": offering(kind)}))
        return engine.dataset([]).with_metrics(["mrr(gold=mine)"]).plan().metrics[0].fingerprint

    def test_version_and_threshold_are_in_the_fingerprint(self):
        found = {self.of(), self.of(version="2"), self.of(threshold=0.75), self.of(covers=False)}
        assert len(found) == 4
        assert self.of() == self.of(describe="other words")

    def test_built_in_kinds_mean_what_they_meant(self, catalog):
        plan = Engine(catalog=catalog).dataset([]).with_metrics(["mrr", "mrr(gold=spans)"]).plan()
        assert all("kinds" not in column.definition for column in plan.metrics)

    def test_samples_have_the_same_ground_truth_where_the_key_holds_the_same(self, catalog):
        evaluation = Engine(catalog=catalog)
        golds = (
            {"boxes": WANTED},
            {"boxes": WANTED[:1]},
            {"boxes": WANTED[1:]},
            {"boxes": json.loads(json.dumps(WANTED))},
        )
        one, two, three, again = (
            int(evaluation.dataset([sample(gold, "a")]).with_metrics(["mrr(gold=boxes)"]).run().gold_keys[0])
            for gold in golds
        )
        assert len({one, two, three}) == 3
        assert one == again

    def test_a_lock_holds_who_provides_it(self, catalog):
        plan = Engine(catalog=catalog).dataset([]).with_metrics(["mrr(gold=scores)"]).plan()
        (entry,) = (entry for entry in lock_columns(plan.metrics, "here", "").entries if entry.kind == "metric")
        (part,) = (part for part in entry.parts if part.kind == "gold kind")
        assert (part.name, entry.declared(part)) == ("scores", "2")
        assert part.source

    def test_a_plan_says_who_provides_it(self, catalog):
        plan = Engine(catalog=catalog).dataset([]).with_metrics(["mrr(gold=boxes)"]).plan()
        assert "gold      boxes by this process (plugin ours)" in plan.describe()

    def test_a_read_sample_holds_it(self, catalog):
        evaluation = Engine(catalog=catalog).dataset([sample({"boxes": WANTED}, "a")]).with_metrics(["mrr(gold=boxes)"])
        assert evaluation.check().gold["boxes"] == 1
        ((read,),) = DatasetReader(evaluation.data, catalog=catalog, contract=Contract()).batches()
        held = read.expected.others["boxes"]
        assert [item.name for item in held.items] == ["page 1 [0, 0, 10, 10]", "page 2 [0, 0, 4, 5]"]
        assert held.raw == WANTED
        assert pickle.loads(pickle.dumps(read)) == read  # noqa: S301  # its own

    def test_it_is_written_back_by_the_fixture_of_pytest(self, catalog):
        evaluation = Engine(catalog=catalog).dataset([sample({"boxes": WANTED, "relevant": ["a"]}, "a")])
        ((read,),) = DatasetReader(evaluation.data, catalog=catalog, contract=Contract()).batches()
        assert make_record(read, {}, Contract(), catalog.gold_kinds)["expected_output"]["boxes"] == WANTED

    def test_its_laws(self):
        report = check_plugin(PLUGIN)
        assert report.broken == {"scores": ("odd-values",)}
        assert "for a number: gold kind 'scores'" in report["scores"]["odd-values"].reason


def test_the_keys_of_ground_truth_are_those_of_kinds() -> None:
    built_in = ("relevant", "passages", "answer", "keywords", "nuggets", "spans", "forbidden", "sets")
    assert Catalog.discover(own_only=True).gold_keys == built_in
    assert Catalog.discover(own_only=True, plugins={"ours": PLUGIN}).gold_keys == (
        *built_in,
        "boxes",
        "facts",
        "scores",
    )
