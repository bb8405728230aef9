"""Runs whose results differ in length: what their metrics are where both may use as many tokens."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from draws import in_thorough_suite
from rankgauge import Catalog, Engine, Result, compare
from rankgauge.comparison.layouts import comparison_lines, comparison_markdown
from rankgauge.comparison.sentences import limit_lines
from rankgauge.plugin import Cutoff, Judged, Scores, metric

ENGINE = Engine(catalog=Catalog.discover(own_only=True))
GOLD = "the chain is stretched"


def samples(words: int, found: Sequence[int | None], *, by: str = "id", depth: int = 5) -> list[dict[str, Any]]:
    """Return questions with *depth* results of so many words each, the relevant one at rank *found*."""

    def text(rank: int, at: int | None) -> str:
        begin = GOLD.split() if rank == at else []
        return " ".join([*begin, *(f"w{rank}" for _ in range(words - len(begin)))])

    return [
        {
            "id": f"q{number}",
            "expected_output": ["gold"] if by == "id" else {"passages": [GOLD]},
            "actual_output": [
                {"id": "gold" if rank == at else f"d{rank}", "text": text(rank, at)} for rank in range(1, depth + 1)
            ],
        }
        for number, at in enumerate(found)
    ]


def scored(rows: list[dict[str, Any]], *metrics: str) -> Result:
    return ENGINE.dataset(rows).with_metrics(list(metrics) or ["recall@5"]).run()


@in_thorough_suite()
@pytest.mark.parametrize("by", ["id", "text"])
def test_longer_results_that_win_at_equal_k_may_lose_at_equal_tokens(by: str) -> None:
    """
    Five results of 10 words are 50 tokens, into which one of 36 words fits; the relevant one is at rank 4.

    Six of ten questions have it among the short ones. So at 5 results it is 1.0 against 0.6, and at 50 tokens 0.0.
    """
    short = scored(samples(10, [3] * 6 + [None] * 4, by=by))
    long = scored(samples(36, [4] * 10, by=by))
    pair = compare({"short": short, "long": long})["long"]
    metric = pair["recall@5"]
    assert metric.difference == pytest.approx(0.4)
    assert metric.equal_tokens is not None
    assert (metric.equal_tokens.baseline_mean, metric.equal_tokens.mean) == (0.6, 0.0)
    assert metric.equal_tokens.verdict == "worse"
    assert pair.lengths is not None
    assert pair.lengths.ratio == 3.6
    (line,) = limit_lines(pair)
    assert line == (
        "results of long are 3.6 times as long; at equal tokens (for each sample the smaller of both) recall@5 is "
        "worse, -0.600, 95 % CI -0.969 to -0.231"
    )
    (other,) = compare({"long": long, "short": short}).comparisons
    assert next(limit_lines(other)).startswith("results of long are 3.6 times as long; at equal tokens")
    assert other["recall@5"].equal_tokens is not None
    assert other["recall@5"].equal_tokens.difference == 0.6


def test_the_smaller_of_both_is_taken_for_each_sample() -> None:
    """
    Long results have the relevant one at rank 2, after 40 words. Five short ones of 20 are 100 tokens, and two fit.

    The second sample retrieved one short result only, 20 tokens, into which no long one fits; the third none at all, so
    that the long ones keep their cutoff.
    """
    short = [*samples(20, [1], depth=5), *samples(20, [1, 1], depth=1)[1:], *samples(20, [1] * 3, depth=0)[2:]]
    long = samples(40, [2, 2, 2])
    metric = compare({"short": scored(short), "long": scored(long)})["long"]["recall@5"]
    assert metric.equal_tokens is not None
    assert (metric.equal_tokens.baseline_mean, metric.equal_tokens.mean) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert (metric.equal_tokens.wins, metric.equal_tokens.losses) == (1, 1)


def test_reports_say_it_before_the_verdict() -> None:
    comparison = compare({"short": scored(samples(10, [3] * 8)), "long": scored(samples(36, [4] * 8))})
    said = (
        "results of long are 3.6 times as long; at equal tokens (for each sample the smaller of both) recall@5 is worse"
    )
    assert next(iter(comparison_lines(comparison, width=None))).text.startswith(said)
    assert comparison_markdown(comparison).splitlines()[2].startswith(f"- {said}")
    plain = comparison.to_dict()["comparisons"][0]
    assert plain["lengths"] == {"ratio": 3.6, "unknown": "", "limit": None}
    assert plain["metrics"]["recall@5"]["equal_tokens"]["difference"] == -1.0


@pytest.mark.parametrize(
    ("words", "metrics"), [(15, ["recall@5"]), (36, ["AP"]), (36, ["recall@40tok"])], ids=["1.5", "no cutoff", "budget"]
)
def test_where_nothing_misleads_nothing_is_read(words: int, metrics: list[str]) -> None:
    pair = compare({"a": scored(samples(10, [3]), *metrics), "b": scored(samples(words, [3]), *metrics)})["b"]
    assert pair.lengths is None
    assert all(metric.equal_tokens is None for metric in pair.metrics.values())


def test_metrics_that_find_nothing_are_not_compared_at_equal_tokens() -> None:
    """How many results there are is no gain of longer ones, and is not computed at equal tokens."""

    @metric("results-at-k", gold=(), range=(0, None))
    def own(judged: Judged, *, k: Cutoff) -> Scores:
        """How many results there are."""
        return np.minimum(judged.depth, k)

    of_words = {words: samples(words, [4] * 10) for words in (10, 36)}
    for metrics, expected in (([own, "recall@5"], ["recall@5"]), ([own], None)):
        runs = {
            str(words): ENGINE.dataset(rows).with_metrics(metrics).with_defaults(k=5).run()
            for words, rows in of_words.items()
        }
        pair = compare(runs)["36"]
        assert (pair.lengths is None) == (expected is None)
        assert [name for name, each in pair.metrics.items() if each.equal_tokens is not None] == (expected or [])


def test_results_without_texts_say_nothing() -> None:
    rows = [{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}]
    assert compare({"a": scored(rows), "b": scored(rows)})["b"].lengths is None


def test_a_result_without_a_text_is_told() -> None:
    rows = samples(36, [4, 4])
    del rows[1]["actual_output"][2]["text"]
    pair = compare({"short": scored(samples(10, [3, 3])), "long": scored(rows)})["long"]
    (line,) = limit_lines(pair)
    assert line == (
        "results of long are 3.6 times as long, which favours them at equal cutoffs; equal tokens could not be tried: "
        "sample 'q1' has a result without a text"
    )


def test_saved_results_are_read_again(tmp_path: Path) -> None:
    """And where their data are gone, nothing is known of lengths."""
    folders = {}
    for name, rows in (("short", samples(10, [3] * 3)), ("long", samples(36, [4] * 3))):
        file = tmp_path / f"{name}.jsonl"
        file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        ENGINE.dataset(file).with_metrics(["recall@5"]).run().save(tmp_path / name)
        folders[name] = tmp_path / name
    loaded = {name: Result.load(folder) for name, folder in folders.items()}
    metric = compare(loaded)["long"]["recall@5"]
    assert metric.equal_tokens is not None
    assert metric.equal_tokens.difference == -1.0
    (tmp_path / "short.jsonl").unlink()
    assert compare({name: Result.load(folder) for name, folder in folders.items()})["long"].lengths is None
