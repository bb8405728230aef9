"""Several searches for one question: how they are read, and that their union is judged as a ranking like any other."""

from __future__ import annotations

import json
import math

import polars as pl
import pytest

from rankgauge import Engine, evaluate, html_report
from rankgauge.columns import Searched
from rankgauge.errors import DataError, PlanError
from rankgauge.plugin import metric
from rankgauge.samples import Fault, Searches, read_output
from tables import rows

METRICS = ["first_search", "searches_per_found", "search_redundancy", "search_count", "search_characters"]


def sample(output, *, name="q", relevant=("a", "b")):
    return {"id": name, "expected_output": list(relevant), "actual_output": output}


def searched(*searches):
    return sample({"searches": list(searches)})


def scores(*samples, metrics=METRICS, **policy):
    result = Engine().dataset(list(samples)).with_metrics(metrics).with_profile("default", **policy).run()
    return [None if math.isnan(column.values[0]) else column.values[0] for column in result.metrics.values()]


class TestReading:
    def test_they_are_one_ranking_in_their_order(self):
        output = read_output(
            {"searches": [["x", "a"], {"query": "again", "retrieved": ["a", "b"]}, []], "answer": "yes"}
        )
        assert (output.ids, output.answer, output.unread) == (["x", "a", "a", "b"], "yes", ())
        assert output.searches == Searches(3, [1, 1, 2, 2])

    def test_items_may_have_different_forms(self):
        output = read_output(
            {"searches": [["x"], [{"id": "a", "text": "A", "score": 2, "metadata": {"n": 1}}, {"text": "B"}]]}
        )
        assert (output.ids, output.texts) == (["x", "a", None], [None, "A", "B"])
        assert (output.scores, output.metadata) == ([None, 2, None], [None, {"n": 1}, None])

    def test_no_search_retrieves_nothing(self):
        output = read_output({"searches": []})
        assert (list(output.ids), output.searches, output.is_ranked) == ([], Searches(0, []), True)

    @rows(
        ("output", "words"),
        [
            ({"searches": "a"}, "'searches' must be a list of lists"),
            ({"searches": {"retrieved": []}}, "'searches' must be a list of lists"),
            (
                {"searches": ["a"]},
                "searches[0] must be a list, or an object with a 'retrieved' list, not the string 'a'",
            ),
            ({"searches": [[], {"query": "x"}]}, "searches[1] must be a list, or an object with a 'retrieved' list"),
            ({"searches": [["a"], [""]]}, "searches[1].retrieved[0] is an empty id"),
            ({"searches": [["a"], [{"id": "b", "score": "x"}]]}, "searches[1].retrieved[0].score must be a finite"),
            ({"searches": [["a"]], "retrieved": ["a"]}, "and so does 'retrieved'; leave one out"),
            ({"searches": [["a"]], "stages": [{"name": "s", "retrieved": []}]}, "and so does 'stages'; leave one out"),
            ({"searches": [["a"]], "answer": 3.5}, "'answer' must be a string"),
        ],
    )
    def test_what_cannot_be_read_fails_its_sample(self, output, words):
        read = read_output(output)
        assert isinstance(read, Fault)
        assert words in read.reason

    def test_misspelt_keys_are_named(self):
        notes = Engine().dataset([sample({"searchs": [["a"]], "answer": "x"})]).with_metrics(["EM"])
        with pytest.raises(DataError):
            notes.run()
        result = Engine().dataset([searched({"retrieved": ["a"], "question": "x"})]).with_metrics(["hit@1"]).run()
        assert any("searches[].question is not read: did you mean 'query'?" in note for note in result.notes)

    @pytest.mark.parametrize(
        ("output", "words"),
        [
            (
                {"searches": [{"query": "x", "results": ["a"]}]},
                "searches[].results is not read: did you mean 'retrieved'?",
            ),
            ({"stages": [{"name": "s", "results": ["a"]}]}, "stages[].results is not read: did you mean 'retrieved'?"),
            ({"searches": 3, "own": "x"}, "nothing reads these keys: actual_output.own"),
        ],
    )
    def test_keys_are_named_where_the_output_cannot_be_read(self, output, words):
        result = Engine().dataset([sample(output), sample(["a"], name="r")]).with_metrics(["hit@1"]).run()
        assert result["hit@1"].n_failed == 1
        assert any(words in note for note in result.notes)

    @pytest.mark.parametrize("form", ["jsonl", "yaml", "parquet"])
    def test_every_file_format_holds_them(self, tmp_path, form):
        rows = [searched(["x"], ["b", "x"]), sample({"searches": [["a"]]}, name="r")]
        file = tmp_path / f"s.{form}"
        if form == "parquet":
            pl.DataFrame(rows).write_parquet(file)
        else:
            file.write_text("".join(f"{json.dumps(row)}\n" for row in rows) if form == "jsonl" else json.dumps(rows))
        result = Engine().dataset(file).with_metrics(["first_search", "recall@2"]).run()
        assert (result["first_search"].mean, result["recall@2"].mean) == (1.5, 0.5)


class TestTheUnion:
    def test_every_metric_counts_each_result_once_where_it_came_first(self):
        metrics = ["recall@3", "RR", "ndcg@3", "P@3"]
        union = scores(searched(["x", "a"], ["a", "x", "b"]), metrics=metrics)
        assert union == scores(sample(["x", "a", "b"]), metrics=metrics)

    def test_repeats_between_searches_are_no_news(self):
        result = Engine().dataset([searched(["a"], ["a"])]).with_metrics(["RR"]).run()
        assert list(result.notes) == []

    def test_scores_begin_anew_with_each_search(self):
        one, two = ([{"id": name, "score": score}] for name, score in (("x", 1.0), ("a", 9.0)))
        data = [searched(one, two)]
        assert list(Engine().dataset(data).with_metrics(["RR"]).run().notes) == []
        assert scores(*data, metrics=["RR", "first_search"], order="score") == [1, 2]

    def test_a_budget_counts_a_result_once(self):
        """Two words each: x, a and then b; the second x takes nothing."""
        items = {name: {"id": name, "text": f"text {name}"} for name in "xab"}
        data = searched([items["x"], items["a"]], [items["x"], items["b"]])
        assert scores(data, metrics=["recall@4tok", "recall@6tok"]) == [0.5, 1]
        assert scores(data, metrics=["recall@6tok"], duplicates="credit-once") == [0.5]  # it does here


class TestMetrics:
    def test_by_hand(self):
        """
        Of seven results the second search repeats x, the third a and x: 3 of 7. The first relevant one is a, in the
        second search; three searches found two items.
        """
        data = searched(["x", "y"], ["x", "a"], ["a", "b", "x"])
        assert scores(data, metrics=METRICS[:4]) == [2, 1.5, 3 / 7, 3]

    def test_a_single_ranking_is_one_search(self):
        assert scores(sample(["x", "a", "b", "x"]), metrics=METRICS[:4]) == [1, 0.5, 0, 1]

    def test_a_search_that_repeats_itself_repeats_no_other(self):
        assert scores(searched(["x", "x"], ["y"]), metrics=["search_redundancy"]) == [0]

    def test_nothing_found(self):
        assert scores(searched(["x"], []), metrics=METRICS[:4]) == [None, None, 0, 2]
        assert scores(sample({"searches": []}), metrics=METRICS[:4]) == [None, None, None, 0]

    def test_all_that_was_returned_has_to_be_read(self):
        texts = [{"id": "a", "text": "four"}, {"text": "seven, "}]
        assert scores(searched(texts, texts[:1]), metrics=["search_characters", "search_redundancy"]) == [15, 1 / 3]
        assert scores(searched(texts, ["b"]), metrics=["search_characters"]) == [None]

    def test_passages_are_looked_for_in_every_search(self):
        row = searched([{"text": "a boat"}], [{"text": "the lighthouse is 41 metres tall"}])
        row["expected_output"] = {"passages": ["The lighthouse is 41 metres tall."]}
        assert scores(row, metrics=["first_search", "searches_per_found"]) == [2, 2]

    def test_units_are_rolled_up(self):
        row = searched(["s9_1"], ["a_3", "b_1"])
        assert scores(row, metrics=['first_search(unit="(.+)_[0-9]+")']) == [2]

    def test_a_missing_output_counts_as_the_worst_share_and_as_no_number(self):
        data = [searched(["a"]), sample(None, name="r")]
        result = Engine().dataset(data).with_metrics(METRICS[:4]).run()
        assert [(column.mean, column.n) for column in result.metrics.values()] == [(1, 1), (1, 1), (0.5, 2), (1, 1)]

    def test_runs_have_no_searches(self):
        with pytest.raises(PlanError, match="needs the searches"):
            evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "first_search")

    def test_a_metric_of_ones_own_sees_them(self):
        seen = []

        @metric("last-search", gold=(), needs="searches", range=(0.0, None))
        def last(judged):
            """See the searches."""
            seen.extend(each.searches for each in judged.seen)
            return [0.0] * judged.n

        scores(searched(["a", "x"], ["x", "b"]), metrics=[last])
        assert seen[-1] == Searched(2, 4, 1, None, (1, 1, 2))


class TestExplaining:
    def test_a_missing_item_is_put_into_the_first_search(self):
        result = Engine().dataset([searched(["x"], ["a", "x"])]).with_metrics(["first_search"]).run()
        explained = result.explain("q", "first_search")
        assert [(trial.id, trial.score) for trial in explained.with_missing_on_top] == [("b", 1)]
        assert [(trial.id, trial.score) for trial in explained.without] == [("x", 2), ("a", None)]

    def test_a_missing_passage_is_put_there_too(self):
        row = searched([{"text": "a boat"}], [{"text": "The lighthouse is 41 metres tall."}])
        row["expected_output"] = {"passages": ["The lighthouse is 41 metres tall.", "It was built in 1887."]}
        explained = Engine().dataset([row]).with_metrics(["first_search"]).run().explain("q", "first_search")
        assert [trial.score for trial in explained.with_missing_on_top] == [1]

    def test_they_reach_the_html_report(self):
        page = html_report(Engine().dataset([searched(["<b>x"], ["a"])]).with_metrics(METRICS[:2]).run())
        assert "<b>x" not in page
