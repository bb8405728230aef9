"""The mean over datasets that count the same, and its standard error, against values by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

import rankgauge
from rankgauge import Engine, Result
from rankgauge.errors import ParameterError


def _dataset(hits: list[int], metrics: Any = ("hit@1",)) -> Result:
    samples = [
        {"id": f"q{number}", "expected_output": ["a"], "actual_output": ["a" if hit else "b"]}
        for number, hit in enumerate(hits)
    ]
    return Engine().dataset(samples).with_metrics(list(metrics)).run()


def test_each_dataset_counts_the_same_however_large() -> None:
    over = rankgauge.over_datasets({"small": _dataset([1, 0]), "large": _dataset([1, 1, 0, 0, 0, 0, 0, 0])})["hit@1"]
    assert over.mean == (1 / 2 + 1 / 4) / 2
    assert over.means == {"small": 1 / 2, "large": 1 / 4}
    # variances of the samples: 1/2 and 3/14, over n: 1/4 and 3/112
    assert over.standard_error == pytest.approx(math.sqrt(1 / 4 + 3 / 112) / 2, rel=1e-12)


def test_a_dataset_without_a_mean_leaves_none_and_is_named() -> None:
    samples = [
        {"id": "q1", "expected_output": ["a"], "actual_output": ["a"], "metadata": {"answerable": False}},
    ]
    none = Engine().dataset(samples).with_metrics(["hit@1"]).run()
    over = rankgauge.over_datasets({"one": _dataset([1, 0]), "none": none})["hit@1"]
    assert (over.mean, over.standard_error, over.without) == (None, None, ("none",))


def test_one_sample_has_no_standard_error_but_a_mean() -> None:
    over = rankgauge.over_datasets({"one": _dataset([1]), "two": _dataset([1, 0])})["hit@1"]
    assert (over.mean, over.standard_error) == (3 / 4, None)


def test_only_means_that_all_datasets_have_are_there() -> None:
    first = _dataset([1, 0], ["hit@1", "rr", "num_rel"])
    assert list(rankgauge.over_datasets({"a": first, "b": _dataset([1], ["num_rel", "rr"])})) == ["rr"]


def test_one_result_is_no_several() -> None:
    with pytest.raises(ParameterError, match="two or more"):
        rankgauge.over_datasets({"a": _dataset([1])})
