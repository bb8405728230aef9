"""Rankings that end before a budget: counts, what reports say first, and what it does to verdicts and gates."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from rankgauge import Catalog, Engine, Result, compare, judge_gates, load_baseline, save_baseline
from rankgauge.comparison.layouts import comparison_lines, comparison_markdown
from rankgauge.errors import ParameterError
from rankgauge.gates.outcomes import outcome_line
from rankgauge.report.json import json_report
from rankgauge.report.markdown import markdown_report
from rankgauge.report.terminal import result_lines, terminal_report
from rankgauge.result.column_info import ListEnds

ENGINE = Engine(catalog=Catalog.discover(own_only=True))
METRIC = "recall@10tok"


def questions(depths: Sequence[int], *, found: int = 4, since: int = 0) -> list[dict[str, Any]]:
    """Return questions with so many results of two tokens each, of which the one at rank *found* is relevant."""
    return [
        {
            "id": f"q{number}",
            "expected_output": ["gold"],
            "actual_output": [
                {"id": "gold" if rank == found else f"d{rank}", "text": "two words"} for rank in range(1, depth + 1)
            ],
        }
        for number, depth in enumerate(depths, since)
    ]


def of_depths(depths: Sequence[int], metric: str = METRIC, *, found: int = 4) -> Result:
    return ENGINE.dataset(questions(depths, found=found)).with_metrics([metric]).run()


def ends_of(result: Result) -> ListEnds | None:
    (column,) = result.metrics.values()
    return column.info.list_ends


def test_each_column_counts_what_ended_before_its_budget_and_where() -> None:
    """
    Lists of 0, 3, 4, 5 and 9 results end at 0, 6, 8, 10 and 18 tokens.

    A budget of 10 is reached by the last two. The others had room for another two tokens. Of 9, four results are all
    that fit, and only lists of three or fewer had room for another.
    """
    assert ends_of(of_depths([0, 3, 4, 5, 9])) == ListEnds(10, "tok", 5, 3, 6.0, 3)
    assert ends_of(of_depths([0, 3, 4, 5, 9], "recall@9tok")) == ListEnds(9, "tok", 5, 3, 6.0, 2)
    assert ends_of(of_depths([3, 4, 5], "recall(partial=true)@9tok")) == ListEnds(9, "tok", 3, 2, 7.0, 2)
    assert ends_of(of_depths([1, 2], "recall@17char")) == ListEnds(17, "char", 2, 1, 9.0, 0)  # of nine characters each
    assert ends_of(of_depths([5], "recall@5")) is None


def test_failed_and_missing_outputs_have_no_list() -> None:
    sample = {"id": "q", "expected_output": ["a"]}
    outputs: list[dict[str, Any]] = [
        {"actual_output": [{"id": "a"}]},
        {},
        {"actual_output": [{"id": "a", "text": "a"}]},
    ]
    samples = [{**sample, "id": f"q{at}", **output} for at, output in enumerate(outputs)]
    result = ENGINE.dataset(samples).with_metrics([METRIC]).run()
    assert ends_of(result) == ListEnds(10, "tok", 1, 1, 1.0, 1)


def test_parts_add_up_and_are_saved(tmp_path) -> None:
    samples = ENGINE.dataset(questions([0, 3, 9, 9]))
    whole = samples.with_metrics([METRIC]).run()
    parts = [ENGINE.dataset(questions(depths, since=since)) for depths, since in (([0, 3], 0), ([9, 9], 2))]
    merged = Result.merge([part.with_metrics([METRIC]).run() for part in parts])
    whole.save(tmp_path / "out")
    assert ends_of(Result.load(tmp_path / "out")) == ends_of(merged) == ListEnds(10, "tok", 4, 2, 3.0, 2)


def test_every_report_says_it_first() -> None:
    said = (
        "recall@10tok: a budget of 10 tokens, and 3 of 4 rankings ended before it, at a median of 6 tokens; in 3 "
        "another result would have fitted, so that the score also depends on how many results were retrieved"
    )
    result = of_depths([3, 3, 4, 5])
    assert next(iter(result_lines(result, width=None))).text == said
    assert next(iter(result_lines(result, width=300))).text == said
    assert terminal_report(result).startswith(said)
    assert markdown_report(result).split("\n\n")[2].startswith(said)
    of_budget = json.loads(json_report(result))["metrics"][METRIC]["budget"]
    assert of_budget["ended"] == {"samples": 3, "median": 6.0, "short": 3}
    assert "3 of 4 rankings ended before it, at a median of 6 tokens" in terminal_report(result)


@pytest.mark.parametrize(("short", "others", "is_said"), [(1, 9, False), (2, 17, True)])
def test_a_tenth_is_few(short: int, others: int, *, is_said: bool) -> None:
    text = terminal_report(of_depths([3] * short + [9] * others))
    assert text.startswith("recall@10tok") is is_said


SHORT, DEEP = [3] * 12, [9] * 12
"""Lists that end before the relevant result, and lists that have it at rank 4."""


class TestComparison:
    def test_where_the_loser_ended_early_there_is_no_verdict(self) -> None:
        first, second = of_depths(SHORT), of_depths(DEEP)
        for results, sign in (({"a": first, "b": second}, 1), ({"a": second, "b": first}, -1)):
            (metric,) = compare(results)["b"].metrics.values()
            assert (metric.verdict, metric.difference) == ("depends on short lists", sign)
            assert metric.p is not None
            assert metric.p < 0.001
            assert compare(results, short_lists="allow")["b"][METRIC].verdict == ("better" if sign > 0 else "worse")

    def test_where_only_the_winner_ended_early_the_verdict_holds(self) -> None:
        """Lists of four end with the relevant result, at eight tokens; the others have it beyond the budget."""
        metric = compare({"a": of_depths(DEEP, found=9), "b": of_depths([4] * 12)})["b"][METRIC]
        assert metric.list_ends is not None
        assert [ends.short for ends in metric.list_ends] == [0, 12]
        assert metric.verdict == "better"

    def test_reports_say_it_first_and_where(self) -> None:
        comparison = compare({"top": of_depths(SHORT), "deep": of_depths(DEEP)})
        ended = (
            "top: 12 of 12 rankings ended before it, at a median of 6 tokens; deep: none of 12 rankings ended before it"
        )
        said = [
            f"recall@10tok: a budget of 10 tokens; {ended}; so that how much was retrieved is compared, too",
            "deep against top depends on short lists: recall@10tok +1.000; retrieve more, or --short-lists allow",
        ]
        assert [line.text for line in comparison_lines(comparison, width=None)][:2] == said
        assert [f"- {line}" for line in said] == comparison_markdown(comparison).splitlines()[2:4]
        plain = comparison.to_dict()["comparisons"][0]["metrics"][METRIC]
        assert plain["verdict"] == "depends on short lists"
        assert plain["list_ends"]["baseline"] == ListEnds(10, "tok", 12, 12, 6.0, 12)._asdict()

    def test_what_is_no_choice_is_refused(self) -> None:
        results = {"a": of_depths(SHORT), "b": of_depths(DEEP)}
        with pytest.raises(ParameterError, match="short_lists is open or allow, not 'deny'"):
            compare(results, short_lists="deny")  # type: ignore[arg-type]
        with pytest.raises(ParameterError, match="short_lists is open or allow, not 'deny'"):
            judge_gates(results["a"], "recall@10tok max_drop 0", baseline=results["b"], short_lists="deny")  # type: ignore[arg-type]


class TestGates:
    GATE = "recall@10tok max_drop 0.02"

    def test_a_rise_over_short_lists_is_open(self) -> None:
        """Six of twelve rise; without the rule the worst bound, above 0, would pass."""
        before, after = of_depths([3] * 6 + [9] * 6), of_depths(DEEP)
        (outcome,) = judge_gates(after, self.GATE, baseline=before).outcomes
        assert (outcome.verdict, outcome.status) == ("inconclusive", "warned")
        assert (
            "allowed -0.0200: not judged, because rankings ended before the budget (the baseline: 6 of 12 rankings "
            "ended before it, at a median of 6 tokens); retrieve more, or short_lists allow; one-sided"
        ) in outcome_line(outcome)
        for gate in (f"{self.GATE} short_lists allow", {"metric": METRIC, "max_drop": 0.02, "short_lists": "allow"}):
            assert judge_gates(after, [gate], baseline=before).outcomes[0].verdict == "pass"
        assert judge_gates(after, self.GATE, baseline=before, short_lists="allow").outcomes[0].verdict == "pass"

    def test_a_fall_with_short_lists_is_certain_and_its_size_is_open(self) -> None:
        before, after = of_depths(DEEP), of_depths([3] * 6 + [9] * 6)
        (outcome,) = judge_gates(after, self.GATE, baseline=before).outcomes
        assert (outcome.verdict, outcome.status) == ("inconclusive", "failed")
        assert (
            "by about 0.5000 (one-sided p 0.0156); whether by more than the margin 0.02 is open, because rankings"
            in (outcome_line(outcome))
        )
        assert outcome.to_dict()["change"]["short_lists"].startswith("this run: 6 of 12")

    def test_where_all_change_by_the_same_it_is_open_too(self) -> None:
        (outcome,) = judge_gates(of_depths(DEEP), self.GATE, baseline=of_depths(SHORT)).outcomes
        assert (outcome.verdict, outcome.status) == ("inconclusive", "warned")
        assert "open at the margin 0.02 (n=12; every sample changed by the same; because rankings ended" in (
            outcome_line(outcome)
        )

    def test_nothing_changed_passes(self) -> None:
        assert judge_gates(of_depths(SHORT), self.GATE, baseline=of_depths(SHORT)).exit_code == 0

    def test_a_baseline_file_knows_where_lists_ended(self, tmp_path) -> None:
        save_baseline({"": of_depths(SHORT)}, tmp_path / "base.json")
        report = judge_gates(of_depths(DEEP), self.GATE, baseline=load_baseline(tmp_path / "base.json"))
        assert report.outcomes[0].verdict == "inconclusive"
