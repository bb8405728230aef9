"""`rankgauge metrics number`: what a published mean says without its data; and what metrics are in other tools."""

from __future__ import annotations

import json
import math

import pytest

from rankgauge import Engine
from rankgauge.comparison.one_number import number_facts
from tables import rows


def facts(written, metric, n, other=None):
    (column,) = Engine().dataset([]).with_profile("trec10").with_metrics([metric]).plan().metrics
    return number_facts(written, column, n, other)


@rows(
    ("written", "metric", "n", "possible"),
    [
        ("0.4167", "hit@5", 36, True),  # 15 of 36
        ("0.417", "hit@5", 36, True),
        ("0.43", "hit@5", 36, False),  # 15 are .4167 and 16 are .4444
        ("0.4", "hit@5", 36, True),  # at one digit 14 and 15 of 36 are near enough
        ("41.67%", "hit@5", 36, True),
        ("0.24", "P@5", 5, True),  # 6 of 25 ranks
        ("0.25", "P@5", 5, False),
        ("0.3667", "RR@5", 5, True),  # 1, 1/2, 1/3 and 0, 0
        ("0.3650", "RR@5", 5, False),
        ("1.2", "ndcg@5", 10, False),
        ("0.123456", "ndcg@5", 10, True),
        ("-0.1", "AP", 10, False),
    ],
)
def test_a_mean_is_possible_or_not(written, metric, n, possible):
    assert bool(facts(written, metric, n).impossible) is not possible


def test_the_interval_of_counts_is_wilsons_and_of_others_the_widest():
    z, n, p = 1.959963984540054, 36, 0.5
    middle, reach = (
        (p + z * z / (2 * n)) / (1 + z * z / n),
        z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)),
    )
    assert facts("0.5", "hit@5", n).interval == pytest.approx((middle - reach, middle + reach))
    low, high = facts("0.5", "ndcg@5", n).interval  # Student's, of 18 scores of 0 and 18 of 1
    assert (low, high) == pytest.approx((0.5 - 2.0301079 * 0.5070926 / 6, 0.5 + 2.0301079 * 0.5070926 / 6), rel=1e-6)


def test_two_numbers_of_counts_are_held_to_the_fewest_and_the_most_that_can_have_changed():
    other = facts("0.5", "hit@5", 40, "0.6").other
    assert other.best_p == pytest.approx(2 * 0.5**4)  # 20 and 24 of 40: four queries at least
    assert other.worst_p == pytest.approx(min(1, 2 * sum(math.comb(36, i) for i in range(20, 37)) / 2**36))


def test_a_difference_is_told_apart_however_unlike_the_scores():
    """A second mean at that distance, with scores that overlap as little as can be, is just significant."""
    found = facts("0.5", "ndcg@5", 100)
    assert facts("0.5", "ndcg@5", 100, str(0.5 + found.apart)).other.worst_p == pytest.approx(0.05, abs=1e-6)


def test_the_command_exits_with_1_where_no_queries_have_the_mean(rankgauge):
    done = rankgauge("metrics", "number", "0.43", "hit@5", "-n", "36")
    assert (done.code, "nothing between" in done.out) == (1, True)
    done = rankgauge("metrics", "number", "0.815", "ndcg@5", "-n", "250", "--as", "lightgbm", "--json")
    assert done.code == 0
    assert json.loads(done.out)["expression"] == "retrieval-ndcg-at-k(gain=exponential, undefined=1)@5"


@pytest.mark.parametrize("written", ["abc", "nan", "inf", ""])
def test_what_is_no_number_is_refused(rankgauge, written):
    done = rankgauge("metrics", "number", written, "hit@5", "-n", "3")
    assert (done.code, "a mean is a number such as" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "tool", "said"),
    [
        ("ndcg", "xgboost", "ndcg(gain=exponential, undefined=1)"),
        ("ndcg@5-", "xgboost", "counts 0"),
        ("ERR", "lightgbm", "LightGBM 4.7.0 has no ERR"),
        ("AUC", "implicit", "not computed here"),
        ("P", "implicit", "relative_P(aggregate=pooled)"),
    ],
)
def test_show_says_what_a_metric_is_in_a_tool(rankgauge, name, tool, said):
    done = rankgauge("metrics", "show", name, "--as", tool)
    assert (done.code, said in done.out, done.out.count("\n")) == (0, True, 1)


def test_diff_says_by_which_convention_a_tool_has_another_number(rankgauge, tmp_path):
    samples = [
        {"id": "q1", "expected_output": {"relevant": {"a": 3, "b": 1}}, "actual_output": ["b", "a"]},
        {"id": "q2", "expected_output": {"relevant": {"c": 0}}, "actual_output": ["c", "y"]},
    ]
    for sample in samples:
        ranked = [{"id": name, "score": 9 - rank} for rank, name in enumerate(sample["actual_output"])]
        sample["actual_output"] = ranked
    data = tmp_path / "data.jsonl"
    data.write_text("".join(f"{json.dumps(sample)}\n" for sample in samples), encoding="utf-8")
    done = rankgauge("metrics", "diff", "--as", "lightgbm", data, "-m", "ndcg@2", "--json")
    (metric,) = json.loads(done.out)["metrics"]
    assert [(each["id"], each["conventions"]) for each in metric["samples"]] == [
        ("q1", ["gain"]),
        ("q2", ["undefined"]),
    ]


def test_trec_reads_a_tools_spelling(rankgauge, tmp_path):
    (tmp_path / "qrels").write_text("q 0 a 1\nr 0 b 0\n", encoding="utf-8")
    (tmp_path / "run").write_text("q Q0 x 1 2 t\nq Q0 a 2 1 t\nr Q0 b 1 1 t\n", encoding="utf-8")
    done = rankgauge("trec", tmp_path / "qrels", tmp_path / "run", "--profile", "xgboost", "-m", "map@2-", "--json")
    assert done.code == 0
    assert json.loads(done.out)["metrics"]["map@2-"]["mean"] == 0.25
