"""What must not be retrieved: by id, metadata and text, where it counts, and how leaks are named."""

import json

import pytest

from rankgauge import Engine, html_report
from rankgauge.errors import DataError, SampleRefusedError
from rankgauge.gates.verdicts import judge_gates
from rankgauge.result import Result

METRICS = ["forbidden_count@3", "forbidden_rate@3", "forbidden_any@3"]


def sample(forbidden, *retrieved, name="q", **more):
    expected = {"relevant": ["a"]} | ({} if forbidden is None else {"forbidden": forbidden})
    return {"id": name, "expected_output": expected, "actual_output": {"retrieved": list(retrieved)}, **more}


def scores(forbidden, *retrieved, metrics=METRICS, **options):
    evaluation = Engine().dataset([sample(forbidden, *retrieved)]).with_metrics(metrics)
    return [column.mean for column in evaluation.run(**options).metrics.values()]


def item(name, **metadata):
    return {"id": name, "text": f"This is {name}.", "metadata": metadata}


class TestRules:
    def test_an_id(self):
        """Of a, x, b, y the first three hold one of the forbidden x and y."""
        assert scores(["x", {"id": "y"}], "a", "x", "b", "y") == [1, 1 / 3, 1]

    def test_metadata_of_a_single_object_or_of_a_list(self):
        retrieved = [item("a", tenant="a"), item("b", tenant="b", level=3), item("c", tenant="b", level=1)]
        assert scores({"metadata": {"tenant": "b"}}, *retrieved) == [2, 2 / 3, 1]
        assert scores([{"metadata": {"tenant": "b", "level": 3}}], *retrieved) == [1, 1 / 3, 1]

    @pytest.mark.parametrize(
        ("held", "wanted", "leaks"),
        [
            ({"tenant": ["a", "b"]}, {"tenant": "b"}, 1),
            ({"acl": {"tenant": "b"}}, {"acl.tenant": "b"}, 1),
            ({"level": 1.0}, {"level": 1}, 1),
            ({"level": True}, {"level": 1}, 0),
            ({"level": "1"}, {"level": 1}, 0),
            ({}, {"tenant": None}, 0),
            ({"tenant": None}, {"tenant": None}, 1),
        ],
    )
    def test_values_of_metadata_are_equal_or_in_a_list(self, held, wanted, leaks):
        assert scores([{"metadata": wanted}], item("a", **held), metrics=METRICS[:1]) == [leaks]

    def test_a_rule_that_nothing_retrieved_could_break_is_told(self):
        """A gate that passes because the system returns no metadata would be a false one."""
        rules = [{"metadata": {"tenant": "b"}}, {"text": "is b."}, "x"]
        samples = [
            sample(rules, item("a", owner="b"), name="q1"),
            sample(rules, "a", "b", name="q2"),
            sample(rules, {"text": "This is a."}, name="q3"),
            sample(rules, item("a", tenant=None), "b", "c", name="q4"),
            sample(rules, name="q5"),
            sample(None, "a", name="q6"),
        ]
        result = Engine().dataset(samples).with_metrics(METRICS).run()
        lacking = [("3 samples", "metadata.tenant"), ("1 sample", "a text"), ("1 sample", "an id")]
        why = "by which something is forbidden there: leaks by it cannot be seen"
        assert list(result.notes) == [f"nothing that was retrieved for {n} has {what}, {why}" for n, what in lacking]

    def test_a_text_that_the_matcher_finds(self):
        assert scores([{"text": "is b."}], item("a"), item("b"), "c") == [1, 1 / 3, 1]

    def test_another_matcher_may_be_asked_for(self):
        retrieved = [{"text": "THE SALARY"}, {"text": "the salary of Ms Doe"}]
        named = ["forbidden_count(matcher=exact)@3", "forbidden_count@3"]
        assert scores([{"text": "the salary"}], *retrieved, metrics=named) == [0, 2]

    def test_an_item_that_breaks_several_rules_counts_once(self):
        assert scores(["b", {"metadata": {"tenant": "b"}}, {"text": "is b"}], item("b", tenant="b")) == [1, 1, 1]

    def test_a_rule_that_several_items_break_counts_for_each(self):
        assert scores([{"metadata": {"tenant": "b"}}], *(item(name, tenant="b") for name in "cde")) == [3, 1, 1]

    def test_the_share_is_of_what_is_shown(self):
        assert scores(["x"], "x", "a", metrics=["forbidden_rate@10", "forbidden_rate"]) == [0.5, 0.5]
        assert scores(["x"]) == [0, 0, 0]  # an empty ranking shows nothing

    def test_condensing_rankings_hides_no_leak(self):
        evaluation = Engine().dataset([sample(["x"], "y", "x")]).with_metrics(METRICS[:1])
        assert evaluation.with_profile("default", judged_only=True).run()[METRICS[0]].mean == 1


class TestWhereItCounts:
    def test_samples_for_which_nothing_is_forbidden_count_nowhere(self):
        data = [sample(["x"], "x", name="q1"), sample(None, "x", name="q2"), sample(["x"], "y", name="q3")]
        for policy in ("undefined", "zero", "error"):
            result = Engine().dataset(data).with_metrics(METRICS[1:]).with_profile("default", no_gold=policy).run()
            assert [(column.n, column.mean) for column in result.metrics.values()] == [(2, 0.5)] * 2

    def test_an_unanswerable_question_may_leak(self):
        data = [sample(["x"], "x", name="q1", metadata={"answerable": False}), sample(["x"], "y", name="q2")]
        assert Engine().dataset(data).with_metrics(METRICS[1:]).run()["forbidden_any@3"].mean == 0.5

    def test_a_missing_output_is_no_leak(self):
        data = [sample(["x"], "a", name="q1"), sample(["x"], name="q2") | {"actual_output": None}]
        column = Engine().dataset(data).with_metrics(METRICS[2:]).run()["forbidden_any@3"]
        assert (column.mean, column.counts["missing"]) == (0, 1)

    def test_a_missing_output_is_refused_where_the_policy_refuses_it(self):
        data = [sample(["x"], "a", name="q1"), sample(["x"], name="q2") | {"actual_output": None}]
        evaluation = Engine().dataset(data).with_metrics(METRICS[2:]).with_profile("default", missing_output="error")
        with pytest.raises(SampleRefusedError, match="no output"):
            evaluation.run()


class TestMistakes:
    @pytest.mark.parametrize(
        ("forbidden", "words"),
        [
            ("x", "expected a list of ids"),
            ([{}], "one of 'id', 'text' and 'metadata'"),
            ([{"id": "x", "text": "y"}], "one of 'id', 'text' and 'metadata'"),
            ([{"text": " "}], "not blank"),
            ([{"metadata": {}}], "expected an object such as"),
            ([{"metadata": "b"}], "expected an object such as"),
            (["a"], "'a' is relevant, too"),
        ],
    )
    def test_what_cannot_be_meant_is_refused(self, forbidden, words):
        with pytest.raises(DataError, match=words):
            Engine().dataset([sample(forbidden, "a")]).with_metrics(METRICS).run()

    def test_a_judgment_of_0_may_be_forbidden(self):
        row = sample(["b"], "b") | {"expected_output": {"relevant": {"a": 1, "b": 0}, "forbidden": ["b"]}}
        assert Engine().dataset([row]).with_metrics(METRICS[:1]).run()[METRICS[0]].mean == 1

    def test_a_misspelt_key_is_named(self):
        row = sample([{"doc_id": "x", "text": "x"}], "a")
        notes = Engine().dataset([row]).with_metrics(METRICS).run().notes
        assert any("expected_output.forbidden[].doc_id" in note for note in notes)


class TestLeaks:
    DATA = (
        sample(["x"], "a", "x", name="q1"),
        sample(
            [{"metadata": {"tenant": "b"}}], item("c", tenant="b"), item("d"), "e", item("f", tenant="b"), name="q2"
        ),
    )

    @pytest.fixture
    def result(self):
        return Engine().dataset(list(self.DATA)).with_metrics(METRICS).run()

    def test_a_note_and_the_column_name_each_within_the_cutoff(self, result):
        leaks = "q1: x at rank 2 (id x), q2: c at rank 1 (metadata.tenant 'b')"
        assert list(result.notes) == [f"2 forbidden items retrieved for 2 samples: {leaks}"]
        info = result["forbidden_count@3"].info
        assert (info.n_leaks, [leak["item"] for leak in info.leaks]) == (2, ["x", "c"])

    def test_a_gate_names_document_and_question(self, result):
        report = judge_gates(result, ["forbidden_count@3 <= 0", "forbidden_any@3 <= 0 of q2 per_sample"])
        first, second = report.outcomes
        assert first.leaks == ("q1: x at rank 2 (id x)", "q2: c at rank 1 (metadata.tenant 'b')")
        assert second.leaks == first.leaks[1:]
        assert first.to_dict()["leaks"] == list(first.leaks)

    def test_a_gate_that_is_kept_names_none(self, result):
        (outcome,) = judge_gates(result, "forbidden_count@3 <= 1").outcomes
        assert (outcome.verdict, outcome.leaks) == ("pass", ())

    def test_they_are_saved_and_merged(self, result, tmp_path):
        result.save(tmp_path / "r")
        assert Result.load(tmp_path / "r")["leak@3"].info == result["leak@3"].info

    def test_workers_find_the_same(self, result, tmp_path):
        file = tmp_path / "s.jsonl"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in self.DATA))
        again = Engine().dataset(file).with_metrics(METRICS).run(workers=2)
        assert again["leak@3"].info.leaks == result["leak@3"].info.leaks

    def test_explain_says_which_rule_an_item_breaks(self, result):
        explanation = result.explain("q2", "forbidden_rate@3")
        assert explanation.ranks[0].gold == ("metadata.tenant 'b'",)
        assert (explanation.score, explanation.missing) == (1 / 3, ())

    def test_hostile_names_stay_text_in_the_report(self):
        name = "<img src=x onerror=alert(1)>\u202e"
        page = html_report(Engine().dataset([sample([name], name)]).with_metrics(METRICS).run())
        banner = page[page.index('class="trouble leak">') :].partition("</p>")[0]
        assert "&lt;img src=x" in banner
        assert "<img" not in banner
        assert "\u202e" not in banner
