"""Validity in time: how it is read, what counts as out of date when asked, and where nothing says when."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime, timedelta, timezone

import polars as pl
import pytest

from rankgauge import Engine, evaluate
from rankgauge.errors import DataError, PlanError
from rankgauge.samples.sample_values import InvalidError
from rankgauge.samples.validity import Validity, read_moment, read_validity
from tables import rows

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def item(name, **known):
    return {"id": name, "metadata": known}


def sample(*retrieved, asked="2024-05-01", gold=("a",), name="q", **metadata):
    return {
        "id": name,
        "expected_output": gold if isinstance(gold, dict) else list(gold),
        "actual_output": list(retrieved),
        "metadata": {"asked_at": asked, **metadata},
    }


def run(*samples, metrics=("stale@3",), **policy):
    return Engine().dataset(list(samples)).with_metrics(list(metrics)).with_profile("default", **policy).run()


def scores(*samples, metrics=("stale@3",), **policy):
    columns = run(*samples, metrics=metrics, **policy).metrics.values()
    return [None if math.isnan(column.values[0]) else column.values[0] for column in columns]


class TestMoments:
    @pytest.mark.parametrize(
        ("written", "moment"),
        [
            ("2024-05-01T12:00:00Z", NOON),
            ("2024-05-01T12:00", NOON),
            ("2024-05-01 14:00:00+02:00", NOON),
            ("20240501T120000Z", NOON),
            ("2024-05-01", datetime(2024, 5, 1, tzinfo=UTC)),
            (date(2024, 5, 1), datetime(2024, 5, 1, tzinfo=UTC)),
            (datetime(2024, 5, 1, 14, tzinfo=timezone(timedelta(hours=2))), NOON),
        ],
    )
    def test_a_date_is_its_beginning_and_a_time_is_in_utc(self, written, moment):
        assert read_moment(written, "") == moment

    @rows("written", ["", "soon", "2024-13-01", "2024-05", 1714521600, True, ["2024-05-01"], {}])
    def test_anything_else_is_refused(self, written):
        with pytest.raises(InvalidError, match="expected a date or a time in ISO 8601"):
            read_moment(written, "")

    def test_what_ends_before_it_begins_is_refused(self):
        with pytest.raises(InvalidError, match="ends later than it begins"):
            read_validity({"valid_from": "2024-05-01", "valid_to": "2024-05-01"}, "")

    def test_a_stretch_holds_its_first_moment_and_not_its_last(self):
        stretch = read_validity({"valid_from": "2024-05-01", "valid_to": "2024-05-01T12:00"}, "")
        assert stretch.holds(datetime(2024, 5, 1, tzinfo=UTC))
        assert not stretch.holds(NOON)
        assert Validity(None, None).holds(NOON)

    def test_the_ends_of_time_can_be_compared(self):
        ends = read_validity({"valid_from": "0001-01-01T00:00+14:00", "valid_to": "9999-12-31T23:59-12:00"}, "")
        assert ends.holds(NOON)


class TestWhatIsStale:
    def test_by_the_metadata_of_results(self):
        """Of three results one ended before, one begins later, and one is valid."""
        results = [
            item("x", valid_to="2024-04-30"),
            item("y", valid_from="2024-06-01"),
            item("a", valid_to="2025-01-01"),
        ]
        assert scores(sample(*results), metrics=["stale@1", "stale@3", "stale@9", "stale"]) == [1, 2 / 3, 2 / 3, 2 / 3]

    def test_by_the_ground_truth_which_counts_first(self):
        gold = [
            {"id": "a", "valid_from": "2024-01-01"},
            {"id": "old", "gain": 0, "metadata": {"valid_to": "2024-01-01"}},
        ]
        assert scores(sample("old", "a", "x", gold=gold)) == [1 / 3]
        assert scores(sample(item("a", valid_to="2020-01-01"), gold=gold)) == [0]
        assert scores(sample("old", "a", gold=gold, asked="2023-12-31T23:59"), metrics=["stale@2", "hit@1"]) == [0.5, 0]

    def test_the_hour_and_the_zone_count(self):
        ends = item("a", valid_to="2024-05-01T12:00:00+02:00")
        assert scores(sample(ends, asked="2024-05-01T09:59Z")) == [0]
        assert scores(sample(ends, asked="2024-05-01T10:00Z")) == [1]

    def test_a_result_of_which_nobody_says_it_is_shown_and_counts_as_valid(self):
        assert scores(sample("x", item("y", valid_to="2020-01-01"), "z", "w")) == [1 / 3]

    def test_condensing_rankings_hides_nothing(self):
        assert scores(sample("x", item("y", valid_to="2020-01-01")), judged_only=True) == [0.5]

    def test_other_metrics_do_not_look_at_time(self):
        gold = [{"id": "a", "gain": 2, "valid_to": "2020-01-01"}]
        assert scores(sample("a", gold=gold), metrics=["recall@1", "ndcg@1"]) == [1, 1]


class TestWhereItCounts:
    def test_it_is_undefined_where_nothing_says_when(self):
        known = item("a", valid_to="2020-01-01")
        result = run(
            sample(known, name="q1"),
            sample(known, name="q2", asked=None),
            sample("a", name="q3"),
            sample("x", "y", "z", known, name="q4"),
            sample(name="q5"),
        )
        column = result["stale@3"]
        assert (column.n, column.mean) == (1, 1)
        assert column.reasons == {
            1: "the sample has no ground truth of the kind 'asked_at'",
            2: "nothing says when any of the results that count is valid",
            3: "nothing says when any of the results that count is valid",
            4: "the metric has no value for this ranking",
        }

    @pytest.mark.parametrize("no_gold", ["undefined", "zero", "error"])
    def test_no_policy_makes_a_figure_of_it(self, no_gold):
        result = run(sample(item("a", valid_to="2020-01-01")), sample("a", name="r", asked=None), no_gold=no_gold)
        assert (result["stale@3"].n, result["stale@3"].mean) == (1, 1)

    def test_unanswerable_questions_count_and_missing_outputs_do_not(self):
        old = item("x", valid_to="2020-01-01")
        missing = sample(name="r") | {"actual_output": None}
        column = run(sample(old, answerable=False), missing, sample("a", old, name="s"))["stale@3"]
        assert (column.mean, column.counts["missing"]) == (0.75, 1)

    def test_no_sample_with_a_time_is_an_error_before_scoring(self):
        with pytest.raises(DataError, match="kind asked_at, and no sample has any; add it to `metadata`"):
            run(sample("a", asked=None))

    def test_runs_have_no_times(self):
        with pytest.raises(PlanError, match="judged against asked_at, and a run has only ids"):
            evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "stale@5")

    def test_the_ground_truth_is_another_one_at_another_time(self):
        keys = {
            int(run(sample("a", asked=asked), metrics=["hit@1"]).gold_keys[0])
            for asked in (None, "2024-05-01", "2023-05-01")
        }
        assert len(keys) == 3

    def test_the_ground_truth_is_another_one_where_an_item_is_valid_at_another_time(self):
        gold = ([{"id": "a"}], [{"id": "a", "valid_to": "2020-01-01"}], [{"id": "a", "valid_to": "2021-01-01"}])
        keys = {int(run(sample("a", gold=each), metrics=["hit@1"]).gold_keys[0]) for each in gold}
        assert len(keys) == 3

    def test_the_ground_truth_is_the_same_in_every_spelling_of_the_same_time(self):
        """So that results of a Parquet file, which has times, compare with those of JSON lines, which has texts."""
        gold = [{"id": "a", "valid_from": datetime(2024, 1, 1, tzinfo=UTC)}]
        written = [{"id": "a", "valid_from": "2024-01-01T00:00:00+00:00"}]
        keys = {
            int(run(sample("a", asked=asked, gold={"relevant": own, "sets": [["a"]]}), metrics=["hit@1"]).gold_keys[0])
            for asked, own in [(NOON, gold), ("2024-05-01T12:00Z", written), ("2024-05-01 14:00+02:00", written)]
        }
        assert len(keys) == 1


class TestMistakes:
    @pytest.mark.parametrize(
        ("row", "path"),
        [
            (sample("a", asked="last week"), "metadata.asked_at"),
            (sample("a", gold=[{"id": "a", "valid_to": "2024-02-30"}]), "expected_output[0].valid_to"),
            (sample("a", gold=[{"id": "a", "metadata": {"valid_from": 7}}]), "expected_output[0].metadata.valid_from"),
            (
                sample("a", gold=[{"id": "a", "valid_from": "2024-05-01", "valid_to": "2023-05-01"}]),
                "expected_output[0].valid_to",
            ),
        ],
    )
    def test_the_dataset_has_problems_with_their_place(self, tmp_path, row, path):
        file = tmp_path / "s.jsonl"
        file.write_text(f"{json.dumps(sample('a', name='good'))}\n{json.dumps(row)}\n")
        with pytest.raises(DataError) as caught:
            Engine().dataset(file).with_metrics(["hit@1"]).run()
        assert [(problem.line, problem.path) for problem in caught.value.problems] == [(2, path)]

    def test_bounds_that_the_system_gives_fail_their_sample_and_no_other_metric(self):
        bad = sample(item("a"), item("b", valid_to="soon"))
        result = run(bad, sample(item("a", valid_to="2020-01-01"), name="r"), metrics=["stale@3", "hit@1"])
        assert result["stale@3"].reasons[0].startswith("retrieved[1].metadata.valid_to: expected a date or a time")
        assert (result["stale@3"].n, result["hit@1"].n_failed) == (1, 0)

    def test_an_item_that_is_listed_twice_has_all_that_is_said_of_it(self):
        """As for two intents; the second entry says when it was valid."""
        gold = [
            {"id": "a", "intent": "i", "metadata": {"page": 1}},
            {"id": "a", "intent": "j", "valid_to": "2024-01-01"},
        ]
        assert scores(sample("a", gold=gold)) == [1]
        assert scores(sample("a", gold=[gold[1], gold[0], gold[1]])) == [1]

    def test_an_item_cannot_be_valid_at_two_times(self):
        gold = [{"id": "a", "valid_to": "2024-01-01"}, "b", {"id": "a", "valid_from": "2024-03-01"}]
        with pytest.raises(
            DataError, match=r"expected_output\[2\], sample 'q': an earlier entry for the same id is valid"
        ):
            run(sample("a", gold=gold))

    def test_bounds_beside_the_metadata_of_a_result_are_named(self):
        notes = run(sample({"id": "a", "valid_to": "2024-01-01"}, item("b", valid_to="2024-01-01"))).notes
        assert any("retrieved[].valid_to is not read: did you mean 'metadata.valid_to'?" in note for note in notes)

    def test_no_time_of_pandas_is_none(self):
        nothing = pytest.importorskip("pandas").NaT
        with pytest.raises(InvalidError, match="found the NaTType NaT"):
            read_moment(nothing, "")

    def test_bounds_of_gold_must_agree_wherever_they_stand(self):
        gold = [{"id": "a", "valid_from": "2024-05-01", "metadata": {"valid_to": "2023-05-01"}}]
        with pytest.raises(DataError, match="ends later than it begins"):
            run(sample("a", gold=gold))


@pytest.mark.parametrize("form", ["jsonl", "yaml", "parquet"])
def test_every_file_format_holds_it(tmp_path, form):
    known = {"valid_from": "2020-01-01", "valid_to": "2024-05-01"}
    rows = [sample(item("x", **known)), sample(item("x", **known), name="r", asked="2023-05-01")]
    file = tmp_path / f"s.{form}"
    if form == "parquet":
        frame = pl.DataFrame(rows)
        at = pl.struct(pl.col("metadata").struct.field("asked_at").str.to_date())
        frame.with_columns(metadata=at).write_parquet(file)
    elif form == "yaml":
        text = json.dumps(rows).replace('"2023-05-01"', "2023-05-01")
        file.write_text(text)
    else:
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert Engine().dataset(file).with_metrics(["stale@1"]).run()["stale@1"].values.tolist() == [1, 0]


def test_explain_says_what_was_out_of_date():
    explained = run(sample(item("x", valid_to="2020-01-01"), item("a", valid_to="2025-01-01"))).explain("q", "stale@3")
    assert [rank.gold for rank in explained.ranks] == [
        ("what was not valid when asked",),
        ("what was valid when asked",),
    ]
    assert (explained.score, explained.missing, [rank.contribution for rank in explained.ranks]) == (0.5, (), [0.5, 0])
