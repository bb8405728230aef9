"""Gold in sets: how they are read, when they are complete, and that other metrics see plain gold."""

import json
import math

import polars as pl
import pytest

from rankgauge import Engine, Evaluation, evaluate, funnel, html_report
from rankgauge.errors import DataError, PlanError
from rankgauge.report.json import json_report
from rankgauge.samples import GoldSet, read_expected

METRICS = ["complete_sets@2", "complete_sets@4", "first_complete"]


def sample(sets, *retrieved, relevant=("a", "b", "c", "d"), name="q", **more):
    expected = {"sets": sets} | ({} if relevant is None else {"relevant": relevant})
    return {"id": name, "expected_output": expected, "actual_output": list(retrieved), **more}


def evaluation(*samples, metrics=METRICS) -> Evaluation:
    return Engine().dataset(list(samples)).with_metrics(list(metrics))


def scores(sets, *retrieved, metrics=METRICS, **options):
    result = evaluation(sample(sets, *retrieved, **options), metrics=metrics).run()
    return [None if math.isnan(column.values[0]) else column.values[0] for column in result.metrics.values()]


class TestCompleteness:
    def test_all_of_is_complete_with_its_last_item(self):
        """Both of a and b stand within rank 3, so the set is complete at 3."""
        assert scores([{"all_of": ["a", "b"]}], "b", "x", "a", "y") == [0, 1, 3]

    def test_any_of_is_complete_with_its_first_item(self):
        assert scores([{"any_of": ["a", "b"]}], "x", "b", "y", "a") == [1, 1, 2]

    def test_a_list_needs_all_of_its_items(self):
        assert scores([["a", "b"]], "b", "x", "a") == scores([{"all_of": ["a", "b"]}], "b", "x", "a")

    def test_the_share_is_of_the_sets_of_the_sample(self):
        """Of three sets, {c} is complete at 1, {a, b} at 4 and {d} never."""
        assert scores([["a", "b"], ["c"], ["d"]], "c", "a", "x", "b") == [1 / 3, 2 / 3, 1]

    @pytest.mark.parametrize(
        "again",
        [["b", "a"], [["a", "b"]], {"all_of": ["a", {"any_of": ["b"]}]}, {"any_of": [["b", "a"]]}, ["a", ["b", "a"]]],
    )
    def test_a_set_that_is_given_in_two_ways_counts_once(self, again):
        """The sets are {a, b}, twice, and {c}: of two sets one is complete."""
        assert scores([["a", "b"], again, ["c"]], "a", "b", metrics=["complete_sets@2"]) == [0.5]

    def test_sets_that_differ_in_what_completes_them_all_count(self):
        """Of (a and b), (a or b), (a), and ((a and b) or c), the second and the third are complete at 1."""
        sets = [["a", "b"], {"any_of": ["a", "b"]}, ["a"], {"any_of": [["a", "b"], "c"]}]
        assert scores(sets, "a", metrics=["complete_sets@1"]) == [0.5]

    def test_each_of_several_hops_may_have_several_sources(self):
        """(a or b) and (c or d): b at 1 and c at 3."""
        hops = [{"all_of": [{"any_of": ["a", "b"]}, {"any_of": ["c", "d"]}]}]
        assert scores(hops, "b", "a", "c") == [0, 1, 3]

    def test_one_of_several_chains_suffices(self):
        """(a and b) or (c and d): c and d at 2 and 3, before b at 4."""
        assert scores([{"any_of": [["a", "b"], ["c", "d"]]}], "a", "c", "d", "b") == [0, 1, 3]

    def test_nothing_complete_scores_0_and_has_no_rank(self):
        assert scores([["a", "b"]], "a", "x") == [0, 0, None]
        assert scores([["a", "b"]]) == [0, 0, None]

    def test_a_repeat_brings_nothing(self):
        assert scores([["a", "b"]], "a", "a", "a", "b") == [1, 1, 2]  # later duplicates are dropped before the cut

    def test_samples_without_sets_are_undefined(self):
        result = evaluation(sample([["a"]], "a", name="q1"), sample([], "a", name="q2")).run()
        assert (result["complete_sets@2"].n, result["complete_sets@2"].mean) == (1, 1.0)
        assert result["complete_sets@2"].reasons[1] == "the sample has no ground truth of the kind 'sets'"

    def test_a_missing_output_counts_as_0(self):
        data = [sample([["a"]], "a", name="q1"), sample([["a"]], name="q2") | {"actual_output": None}]
        assert evaluation(*data).run()["complete_sets@2"].mean == 0.5

    def test_units_are_rolled_up_in_sets(self):
        """Turns become sessions: s1 at rank 1, s2 at 2."""
        metrics = ['complete_sets(unit="(.+)_[0-9]+")@2', "complete_sets@2"]
        turns = [["s1_1", "s2_4"], ["s3_1"]]
        assert scores(turns, "s1_9", "s2_2", relevant=None, metrics=metrics) == [0.5, 0]

    def test_sets_of_one_unit_are_one(self):
        """Of the sets {s1}, {s1} and {s2}, which are two, one is complete."""
        metrics = ['complete_sets(unit="(.+)_[0-9]+")@2']
        assert scores([["s1_1"], ["s1_2"], ["s2_1"]], "s1_9", relevant=None, metrics=metrics) == [0.5]

    def test_cohorts_of_hops(self):
        data = [
            sample([["a"]], "a", name="q1", metadata={"hop": 1}),
            sample([["a", "b"]], "a", name="q2", metadata={"hop": 2}),
        ]
        result = evaluation(*data).with_cohorts("metadata.hop").run()
        cohorts = json.loads(json_report(result))["cohorts"]
        assert [(each["tag"], each["metrics"]["complete_sets@2"]["mean"]) for each in cohorts] == [
            ("hop=1", 1),
            ("hop=2", 0),
        ]


class TestOtherMetrics:
    def test_they_see_plain_items_with_grades(self):
        metrics = ["recall@2", "ndcg@3", "AP", "recall_all@4", "hit@1"]
        gold = {"a": 3, "b": 1, "c": 2, "d": 0}
        plain = {"id": "q", "expected_output": gold, "actual_output": ["b", "x", "a"]}
        with_sets = sample([["a", "b"], {"any_of": ["c"]}], "b", "x", "a", relevant=gold)
        found = [evaluation(row, metrics=metrics).run().metrics for row in (plain, with_sets)]
        assert [column.mean for column in found[0].values()] == [column.mean for column in found[1].values()]

    def test_what_is_in_a_set_is_relevant_where_nothing_else_is_said(self):
        expected = read_expected({"sets": [["b", "a"], {"any_of": ["a", "c"]}]})
        assert (expected.relevant, expected.repeats) == ({"b": 1.0, "a": 1.0, "c": 1.0}, None)

    def test_the_ground_truth_is_another_one_with_other_sets(self):
        keys = [evaluation(sample(sets, "a")).run().gold_keys[0] for sets in ([["a"]], [["b"]], [{"any_of": ["a"]}])]
        assert len({int(key) for key in keys}) == 3


class TestMistakes:
    @pytest.mark.parametrize(
        ("sets", "path", "words"),
        [
            ("a", ".sets", "expected a list of sets"),
            (["a"], ".sets[0]", "a set is {'all_of'"),
            ([[]], ".sets[0]", "the set is empty"),
            ([{"any_of": []}], ".sets[0].any_of", "the set is empty"),
            ([{"all_of": ["a", "zz"]}], ".sets[0].all_of[1]", "'zz' is not in 'relevant'; add it there"),
            ([{"all_of": "a"}], ".sets[0].all_of", "expected a list of items or of sets"),
            ([{}], ".sets[0]", "a set is {'all_of'"),
            ([{"all_of": ["a"], "any_of": ["b"]}], ".sets[0]", "a set is {'all_of'"),
            ([[""]], ".sets[0][0]", "an id must not be empty"),
            ([[None]], ".sets[0][0]", "an id must be"),
            ([[["a", ["b"]]]], ".sets[0][0][1]", "a set inside another one has items only"),
            ([["e"]], ".sets[0][0]", "'e' has gain 0 in 'relevant'"),
        ],
    )
    def test_a_bad_set_is_a_problem_of_the_file(self, tmp_path, sets, path, words):
        good = sample([["a"]], "a", name="good")
        bad = sample(sets, "a", relevant={"a": 1, "b": 1, "e": 0}, name="bad")
        file = tmp_path / "s.jsonl"
        file.write_text(f"{json.dumps(good)}\n{json.dumps(bad)}\n")
        with pytest.raises(DataError) as caught:
            Engine().dataset(file).with_metrics(METRICS).run()
        (problem,) = caught.value.problems
        assert (problem.line, problem.path, problem.sample) == (2, f"expected_output{path}", "bad")
        assert words in problem.message

    def test_a_similar_id_is_suggested(self):
        with pytest.raises(DataError, match=r"'doc-11' is not in 'relevant' \(did you mean 'doc-1'"):
            evaluation(sample([["doc-11"]], relevant=["doc-1"])).run()

    def test_nesting_without_end_is_refused(self):
        sets = ["a"]
        for _ in range(500):
            sets = [sets]
        with pytest.raises(DataError, match="items only"):
            evaluation(sample(sets)).run()

    def test_a_misspelt_key_is_named(self):
        notes = evaluation(sample([{"all_of": ["a"], "anyof": ["b"]}], "a")).run().notes
        assert any("expected_output.sets[].anyof is not read: did you mean 'any_of'?" in note for note in notes)

    @pytest.mark.parametrize("sets", [{"all_of": ["a"], "anyof": ["b"]}, [[{"all_of": ["a"], "anyof": ["b"]}, "b"]]])
    def test_a_misspelt_key_is_named_wherever_a_set_stands(self, sets):
        notes = evaluation(sample(sets, "a")).run().notes
        assert any("expected_output.sets[].anyof is not read: did you mean 'any_of'?" in note for note in notes)

    @pytest.mark.parametrize(("key", "meant"), [("allof", "all_of"), ("any", "any_of")])
    def test_a_set_without_a_key_that_is_read_has_a_hint(self, key, meant):
        with pytest.raises(DataError, match=f"found the object .*; did you mean '{meant}'?"):
            evaluation(sample([{key: ["a"]}])).run()

    def test_no_sample_with_sets_is_an_error_before_scoring(self):
        with pytest.raises(DataError, match="ground truth of the kind sets"):
            evaluation(sample([], "a")).run()

    def test_judgments_of_runs_have_none(self):
        with pytest.raises(PlanError, match="judged against sets, and a run has only ids"):
            evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "complete_sets@5")

    def test_a_bad_set_fails_its_metrics_alone_where_the_profile_says_so(self):
        data = [sample([["zz"]], "a", name="q1"), sample([["a"]], "a", name="q2")]
        result = evaluation(*data, metrics=["complete_sets@2", "recall@2"]).with_profile("eval-harness").run()
        assert "expected_output.sets[0][0] 'zz' is not in 'relevant'" in result["complete_sets@2"].reasons[0]
        assert result["recall@2"].n == 2


@pytest.mark.parametrize("form", ["jsonl", "yaml", "parquet"])
def test_every_file_format_holds_them(tmp_path, form):
    chains = [{"all_of": ["a", "b"], "any_of": None}, {"all_of": None, "any_of": ["c", "d"]}]
    rows = [sample(chains, "a", "c", name="q1"), sample(chains, "b", "a", "d", name="q2")]
    file = tmp_path / f"s.{form}"
    if form == "parquet":
        pl.DataFrame(rows).write_parquet(file)
    else:
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows) if form == "jsonl" else json.dumps(rows))
    assert Engine().dataset(file).with_metrics(["complete_sets@3"]).run()["complete_sets@3"].values.tolist() == [0.5, 1]


def test_another_field_may_hold_them(tmp_path):
    (tmp_path / "s.jsonl").write_text(json.dumps({"id": "q", "hops": [["a"]], "actual_output": ["a"]}))
    config = "datasets: {d: {path: s.jsonl, fields: {sets: hops}}}\nmetrics: {use: [complete_sets@1]}\n"
    (tmp_path / "c.yaml").write_text(f"version: 1\n{config}")
    assert Engine.from_config(tmp_path / "c.yaml").dataset("d").run()["complete_sets@1"].mean == 1


class TestExplaining:
    def test_missing_sets_are_named_with_what_would_complete_them(self):
        result = evaluation(sample([["a", "b"], {"any_of": ["c", "d"]}], "x", "b", "c", "a")).run()
        explained = result.explain("q", "complete_sets@2")
        assert [(each.id, each.rank, each.ideal_rank) for each in explained.missing] == [
            ("all of a, b", 4, None),
            ("any of c, d", 3, None),
        ]
        assert [(trial.id, trial.score) for trial in explained.with_missing_on_top] == [
            ("all of a, b", 0.5),
            ("any of c, d", 0.5),
        ]
        assert "all of a, b" in str(explained)

    def test_an_item_shows_the_set_that_it_completes(self):
        explained = evaluation(sample([["a", "b"]], "a", "b")).run().explain("q", "complete_sets@2")
        assert [held.gold for held in explained.ranks] == [(), ("all of a, b",)]

    def test_hostile_ids_stay_text_in_the_report(self):
        name = "<img src=x onerror=alert(1)>\u202e"
        page = html_report(evaluation(sample([[name]], "a", relevant=None)).run())
        assert "<img src=x onerror" not in page
        assert "\u202e" not in page


def test_a_funnel_follows_sets_and_claims_no_ceiling_for_them():
    """The reranker drops b, and so the set; no order of results tells where a set could be complete."""
    row = sample([["a", "b"], ["c"]]) | {
        "actual_output": {
            "stages": [{"name": "dense", "retrieved": ["a", "b", "c"]}, {"name": "rerank", "retrieved": ["c", "a"]}]
        }
    }
    found = funnel(evaluation(row, metrics=["complete_sets@3"]).run(), "complete_sets@3")
    assert [(stage.held, stage.lost, stage.score.mean, stage.ceiling) for stage in found.stages] == [
        (2, 0, 1.0, None),
        (1, 1, 0.5, None),
    ]


def test_the_fewest_items_that_complete_a_set():
    chains = GoldSet("any", (GoldSet("all", ("a", "b", "c")), GoldSet("all", ("d", "e")), GoldSet("all", ("f", "g"))))
    assert chains.fewest() == ("d", "e")
    assert GoldSet("all", (GoldSet("any", ("a", "b")), "a", "c")).fewest() == ("a", "c")
    assert GoldSet("all", (GoldSet("any", ("a", "b")), "b")).fewest() == ("b",)
    assert GoldSet("all", (GoldSet("any", ("a", "b")), GoldSet("all", ("b", "c")))).fewest() == ("b", "c")
