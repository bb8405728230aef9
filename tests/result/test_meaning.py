"""Whether results mean the same: one answer, for those who merge and for those who compare."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from rankgauge import Engine, Result, compare
from rankgauge.engine.reopen import check_definitions
from rankgauge.errors import ResultError
from rankgauge.plugin import Judged, Scores, metric
from rankgauge.policy import PROFILES
from rankgauge.result.meaning import Differences, Meant, differences

ROWS = [{"id": name, "expected_output": ["a"], "actual_output": ["b", "a"]} for name in "pq"]


def run(rows: list[Any], *metrics: Any, **policy: Any) -> Result:
    return Engine().dataset(rows).with_metrics(metrics).with_profile(**policy).run()


def depth_with(**declaration: Any) -> Any:
    @metric("depth", **declaration)
    def depth(judged: Judged) -> Scores:
        """Count what was retrieved."""
        return judged.depth.astype(float)

    return depth


def differing(one: Result, other: Result) -> Differences:
    first, second = (next(iter(result.metrics.values())).info for result in (one, other))
    return differences(Meant(one.manifest, first), Meant(other.manifest, second))


def test_the_same_evaluated_twice_means_the_same() -> None:
    assert differing(run(ROWS, "MRR"), run(ROWS[:1], "MRR")) == Differences()


def test_what_differs_is_listed_with_both_sides() -> None:
    one, other = run(ROWS, "P@1"), run(ROWS, "P@2", no_gold="zero", queries="intersection")
    found = differing(one, other)
    assert found.queries == ("judged", "intersection")
    assert found.definition == (
        {"k": 1, "policy no_gold": "undefined"},
        {"k": 2, "policy no_gold": "zero"},
    )
    assert (found.judged, found.inferred, found.code) == (None, None, None)


def test_what_was_found_in_the_data_is_listed_though_fingerprints_are_equal() -> None:
    one = run([{"id": "p", "expected_output": {"a": 2}, "actual_output": ["a"]}], "err@5")
    other = run([{"id": "p", "expected_output": {"a": 3}, "actual_output": ["a"]}], "err@5")
    assert differing(one, other) == Differences(inferred=({"max_grade": 2.0}, {"max_grade": 3.0}))


def test_other_code_is_listed_without_what_both_use() -> None:
    one = run(ROWS, "MRR")
    info = one["MRR"].info
    moved = dataclasses.replace(info, provider={**info.provider, "version": "0.0.1"})
    found = differences(Meant(one.manifest, info), Meant(one.manifest, moved))
    assert found.code is not None
    assert found.code[1] == {"retrieval-mrr of rankgauge 0.0.1"}
    assert found._replace(code=None) == Differences()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"aggregate": "sum"}, None),
        ({"higher_is_better": False}, "higher_is_better=True in one, higher_is_better=False in the other"),
        ({"range": (0.0, 9.0)}, r"range=\(0\.0, 1\.0\) in one, range=\(0\.0, 9\.0\) in the other"),
    ],
)
def test_another_aggregate_direction_or_range_is_neither_merged_nor_compared(
    changed: dict[str, Any], said: str | None
) -> None:
    first, second = run(ROWS[:1], depth_with()), run(ROWS[1:], depth_with(**changed))
    with pytest.raises(ResultError, match="cannot merge: 'depth' does not mean the same in both"):
        Result.merge([first, second])
    whole, again = run(ROWS, depth_with()), run(ROWS, depth_with(**changed))
    with pytest.raises(ResultError, match=said or "aggregate=mean in one, aggregate=sum in the other"):
        compare({"old": whole, "new": again})


TEXTS = [{"id": "p", "expected_output": {"passages": ["a b"]}, "actual_output": [{"text": "a b"}]}]


def without_own_ranks(rows: list[Any], metric: str) -> Result:
    """Return what was saved before there were own ranks, as the profiles of other tools have it still."""
    profile = dataclasses.replace(PROFILES["default"], own_ranks=False)
    return Engine().dataset(rows).with_metrics([metric]).with_profile(profile).run()


def test_own_ranks_are_another_meaning_by_text() -> None:
    now, before = run(TEXTS, "AP"), without_own_ranks(TEXTS, "AP")

    assert differing(before, now).definition == ({"own_ranks": False}, {"own_ranks": True})
    with pytest.raises(ResultError, match="own_ranks=False in one, own_ranks=True in the other"):
        compare({"before": before, "now": now}, baseline="before")


def test_result_without_own_ranks_is_not_computed_again_with_them() -> None:
    plan = Engine().dataset(TEXTS).with_metrics(["AP"]).plan()
    now, before = run(TEXTS, "AP"), without_own_ranks(TEXTS, "AP")

    check_definitions(plan, now)
    check_definitions(plan, without_own_ranks(ROWS, "AP"))
    with pytest.raises(ResultError, match="'ap' cannot be computed as it was"):
        check_definitions(plan, before)


@pytest.mark.parametrize("metric", ["AP(gold=passages)", "AP(matcher=contains)"])
def test_own_ranks_are_locked_where_gold_is_text(metric: str) -> None:
    definitions = [
        Engine().dataset(TEXTS).with_metrics([metric]).with_profile(profile).plan().metrics[0].definition
        for profile in (PROFILES["default"], dataclasses.replace(PROFILES["default"], own_ranks=False))
    ]
    assert {"own_ranks": True, **definitions[1]} == definitions[0]


@pytest.mark.parametrize(("rows", "metric"), [(ROWS, "AP"), (ROWS, "ndcg@5"), (TEXTS, "recall@5"), (TEXTS, "P@5")])
def test_what_has_no_own_ranks_means_what_it_meant_before(rows: list[Any], metric: str) -> None:
    one, other = without_own_ranks(rows, metric), run(rows, metric)

    assert differing(one, other) == Differences()
    compare({"one": one, "other": other}, baseline="one")  # is not refused
