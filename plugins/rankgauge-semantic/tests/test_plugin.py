"""The comparer, the matchers and the metric, on vectors whose cosines can be worked out by hand."""

import itertools
import math
import subprocess
import sys
from importlib.metadata import entry_points

import numpy as np
import pytest

from rankgauge import Catalog, Engine
from rankgauge.errors import PlanError
from rankgauge_semantic import Embedder, EmbedderError, plugin, semantic_plugin

TABLE = {
    "gold": [1.0, 0.0],
    "same way": [5.0, 0.0],
    "near": [4.0, 3.0],
    "half": [1.0, math.sqrt(3.0)],
    "across": [0.0, 2.0],
    "opposite": [-1.0, 0.0],
    "nothing": [0.0, 0.0],
}
"""Cosines with `gold`: 1, 0.8, 0.5, 0, -1, and none."""


class TestCosine:
    def test_is_the_cosine_and_0_where_that_is_negative(self, semantic_engine):
        engine, _ = semantic_engine(TABLE)
        compare = engine.catalog.matcher("house").compare
        scores = compare(["same way", "near", "half", "across", "opposite", "nothing", ""], ["gold"])
        assert scores[:, 0].tolist() == [1.0, 0.8, 0.5, 0.0, 0.0, 0.0, 0.0]

    def test_equal_texts_score_1_and_empty_ones_0(self, semantic_engine):
        engine, _ = semantic_engine(TABLE)
        compare = engine.catalog.matcher("house").compare
        assert compare(["nothing", "", "near"], ["nothing", "", "near"]).diagonal().tolist() == [1.0, 0.0, 1.0]
        assert compare([], ["gold"]).shape == (0, 1)
        assert compare([""], []).shape == (1, 0)

    def test_does_not_depend_on_what_else_is_compared(self, semantic_engine):
        engine, _ = semantic_engine()
        compare = engine.catalog.matcher("house").compare
        texts = [f"text number {number} of {number % 7}" for number in range(30)]
        block = compare(texts, texts[::3])
        alone = [[compare([found], [wanted])[0, 0] for wanted in texts[::3]] for found in texts]
        assert block.tolist() == alone
        assert (compare(texts, texts) == compare(texts, texts).T).all()


class TestMatcher:
    @pytest.mark.parametrize(("threshold", "found"), [(0.81, 0.0), (0.8, 1.0), (0.79, 1.0)])
    def test_matches_from_its_threshold_on(self, semantic_engine, sample, threshold, found):
        engine, _ = semantic_engine(TABLE, threshold=threshold)
        metrics = ["answer-containment-at-k(matcher=house)"]
        result = engine.dataset([sample(["across", "near"], ["gold"])]).with_metrics(metrics).run()
        assert [found] == [column.mean for column in result.metrics.values()]

    def test_judges_passages_by_meaning(self, semantic_engine):
        engine, _ = semantic_engine(TABLE)
        data = {
            "id": "s",
            "expected_output": {"passages": ["gold", "across"]},
            "actual_output": [{"text": "opposite"}, {"text": "near"}],
        }
        result = engine.dataset([data]).with_metrics(["recall(matcher=house)@2", "RR(matcher=house)"]).run()
        assert [0.5, 0.5] == [column.mean for column in result.metrics.values()]

    def test_white_space_is_collapsed_before_texts_are_embedded(self, semantic_engine):
        engine, record = semantic_engine(TABLE)
        matcher = engine.catalog.matcher("house")
        assert matcher.compare([matcher.normalize("  same\n way ")], ["gold"])[0, 0] == 1.0
        assert [["gold", "same way"]] == record.batches

    def test_thresholds_and_names_that_cannot_be_used_are_refused(self, recorder):
        embedder = Embedder("m", recorder())
        with pytest.raises(ValueError, match="threshold"):
            semantic_plugin(embedder, name="house", threshold=0.0)
        with pytest.raises(ValueError, match="not a usable name"):
            semantic_plugin(embedder, name="House 3")


class TestMetric:
    def score(self, engine, data, metric="answer-semantic-similarity(matcher=house-score)"):
        (column,) = engine.dataset([data]).with_metrics([metric]).run(details=True).metrics.values()
        return column

    @pytest.mark.parametrize(
        ("retrieved", "answers", "value", "rank"),
        [
            (["half", "near", "half"], ["gold"], 0.8, 2),
            (["half", "half"], ["gold"], 0.5, 1),
            (["across", "half"], ["gold", "across"], 1.0, 1),
            (["opposite", "across"], ["gold"], 0.0, None),
            ([], ["gold"], 0.0, None),
        ],
    )
    def test_is_the_best_score_of_any_result_with_any_answer(
        self, semantic_engine, sample, retrieved, answers, value, rank
    ):
        engine, _ = semantic_engine(TABLE)
        column = self.score(engine, sample(retrieved, answers))
        assert value == column.mean
        assert rank == column.details[0]["best_rank"]

    @pytest.mark.parametrize(("k", "value"), [(1, 0.0), (2, 0.5), (3, 0.8), (9, 0.8)])
    def test_looks_at_the_first_k_results(self, semantic_engine, sample, k, value):
        engine, _ = semantic_engine(TABLE)
        data = sample(["across", "half", "near"], ["gold"])
        assert value == self.score(engine, data, f"semantic_similarity(matcher=house-score)@{k}").mean

    def test_every_sample_has_its_own_cutoff_and_score(self, semantic_engine, sample):
        engine, _ = semantic_engine(TABLE)
        data = [
            sample(["half", "near"], ["gold"], name="a"),
            {"id": "b", "expected_output": {"relevant": ["x"]}, "actual_output": [{"id": "y", "text": "near"}]},
            sample(["near", "half"], ["half"], name="c"),
        ]
        spec = {"metric": "answer-semantic-similarity", "matcher": "house-score", "k": 1}
        (column,) = engine.dataset(data).with_metrics([spec]).run().metrics.values()
        np.testing.assert_array_equal([0.5, np.nan, round((4 + 3 * math.sqrt(3)) / 10, 6)], column.values)
        assert ["scored", "undefined", "scored"] == [column.status(place) for place in range(3)]

    def test_scores_below_a_matchers_threshold_are_0(self, semantic_engine, sample):
        engine, _ = semantic_engine(TABLE)
        data = sample(["half"], ["gold"])
        assert 0.0 == self.score(engine, data, "answer-semantic-similarity(matcher=house)").mean

    def test_its_laws_hold(self, semantic_engine, sample):
        """Bounds, the best order first, padding, the tail, duplicates, and k, over all orders of four texts."""
        engine, _ = semantic_engine()
        gold = "the tower is forty metres tall"
        texts = [gold, "a tower of forty metres", "something else", "zzz"]

        def value(retrieved, k):
            return self.score(engine, sample(retrieved, [gold]), f"semantic_similarity(matcher=house-score)@{k}").mean

        assert value(texts, 4) == 1.0
        for order in itertools.permutations(texts[1:]):
            by_k = [value(list(order), k) for k in (1, 2, 3)]
            assert by_k == sorted(by_k)
            assert all(0.0 <= each < 1.0 for each in by_k)
            assert value(texts[1:], 1) >= by_k[0]
            assert by_k[2] == value([*order, *order], 3)
            assert by_k[1] == value([*order[:2], "qqq"], 2)
            assert by_k[2] >= value([*order[:2], order[0]], 3)

    def test_embedder_chooses_the_matcher(self, semantic_engine, sample, install):
        install("house_model", HOUSE, house="house_model:EMBEDDER")
        engine, _ = semantic_engine()
        column = self.score(engine, sample(["b"], ["a"]), "semantic_similarity(embedder=house)@3")
        assert 0.6 == column.mean
        assert "semantic_similarity(embedder=house)@3" == column.name
        assert "embedding-cosine(embedder=house)" in column.info.matcher


HOUSE = """
from rankgauge_semantic import Embedder

TABLE = {"a": [1, 0], "b": [3, 4]}
EMBEDDER = Embedder("house-2", lambda texts: [TABLE[text] for text in texts])
"""


class TestInstalled:
    def test_a_catalog_that_is_only_listed_loads_neither_a_model_nor_the_cache(self):
        script = "import sys, rankgauge_semantic.plugin; print({'sqlite3', 'torch', 'transformers'} & set(sys.modules))"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert "set()" == done.stdout.strip()

    def test_the_entry_point_leads_to_the_plugin(self):
        (point,) = (point for point in entry_points(group="rankgauge") if point.dist.name == "rankgauge-semantic")
        assert plugin is point.load()

    def test_an_embedder_is_chosen_in_config_by_the_name_of_its_entry_point(self, install, sample, tmp_path):
        install("house_model", HOUSE, house="house_model:EMBEDDER")
        (tmp_path / "rankgauge.yaml").write_text(
            "version: 1\nmatchers:\n  ours: 'embedding-cosine(embedder=house) >= 0.6'\n"
            "metrics:\n  use: ['containment(matcher=ours)@3']\n"
        )
        catalog = Catalog.discover(own_only=True, plugins={"semantic": plugin})
        engine = Engine.from_config(tmp_path / "rankgauge.yaml", catalog=catalog)
        result = engine.dataset([sample(["b"], ["a"])]).run()
        assert [1.0] == [column.mean for column in result.metrics.values()]

    @pytest.mark.parametrize(
        ("points", "message"),
        [
            ({}, "no installed package offers an embedder 'house'.*known: minilm"),
            ({"house": "house_model:absent"}, "cannot be loaded: AttributeError"),
            ({"house": "house_model:TABLE"}, "house_model:TABLE of house_model 2.0.* must lead to an Embedder"),
        ],
    )
    def test_an_embedder_that_is_not_there_is_a_problem_of_the_plan(self, install, points, message):
        install("house_model", HOUSE, **points)
        engine = Engine(catalog=Catalog.discover(own_only=True, plugins={"semantic": plugin}))
        evaluation = engine.dataset([]).with_metrics(
            ["containment(matcher='embedding-cosine(embedder=house) >= 0.5')@3"]
        )
        with pytest.raises(PlanError, match=message):
            evaluation.plan()

    def test_a_name_that_two_packages_offer_is_none(self, install):
        install("house_model", HOUSE, house="house_model:EMBEDDER")
        install("other_model", HOUSE, house="other_model:EMBEDDER")
        with pytest.raises(EmbedderError, match=r"2 packages offer an embedder 'house'.*house_model 2\.0"):
            plugin.embedding_cosine(["a"], ["b"], embedder="house")

    def test_without_the_extra_the_plan_says_what_to_install(self, monkeypatch, sample):
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        engine = Engine(catalog=Catalog.discover(own_only=True, plugins={"semantic": plugin}))
        for metric in ("answer-semantic-similarity", "containment(matcher=semantic)@5"):
            evaluation = engine.dataset([sample(["x"], ["y"])]).with_metrics([metric])
            with pytest.raises(PlanError, match=r"pip install 'rankgauge-semantic\[minilm\]'"):
                evaluation.run()
        assert "embedding-cosine" in str(engine.catalog.matcher("semantic"))  # looking at it needs no model
