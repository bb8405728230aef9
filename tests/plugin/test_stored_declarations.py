"""What cannot be stored is refused where it is written; details become plain values, and cost themselves only."""

from __future__ import annotations

import json
from types import MappingProxyType

import numpy as np
import pytest

from rankgauge import Engine, Result
from rankgauge.errors import DeclarationError
from rankgauge.plugin import (
    Judged,
    Scores,
    aggregate,
    comparer,
    metric,
    normalizer,
    run_metric,
    sample_metric,
    tokenizer,
)
from tables import rows

SAMPLES = [{"id": name, "expected_output": ["a"], "actual_output": ["a"]} for name in ("q1", "q2")]


def declared(**values):
    @metric("made", **values)
    def made(judged: Judged) -> Scores:
        """Return 1."""
        return np.ones(judged.n)

    return made


@rows(
    ("values", "told"),
    [
        ({"version": 2}, "has version=2, which is a text such as '2'"),
        ({"version": " "}, "has version=' ', which is a text"),
        ({"higher_is_better": "no"}, "has higher_is_better='no', which is True or False"),
        ({"higher_is_better": np.True_}, "which is True or False"),
        ({"describes": 1}, "has describes=1, which is True or False"),
        ({"needs_max_grade": "no"}, "has needs_max_grade='no', which is True or False"),
        ({"own_ranks": "yes"}, "has own_ranks='yes', which is True or False"),
        ({"range": (np.float32(0), np.float32(1))}, "which is two plain numbers, or None for no bound"),
        ({"range": (np.float64(0), 1.0)}, "which is two plain numbers, or None for no bound"),
        ({"range": (0.0, float("inf"))}, "has range=(0.0, inf), which is two plain numbers"),
        ({"range": (0.0,)}, "has range=(0.0,), which is two plain numbers"),
        ({"range": (True, 2)}, "has range=(True, 2), which is two plain numbers"),
        ({"uses_rel": "foo"}, "has uses_rel='foo', which is True, False or 'binary'"),
        ({"judges": "everything"}, "has judges='everything', which is 'retrieved' or 'answer'"),
        ({"undefined": 5}, "has undefined=5, which is a text"),
        ({"aggregate": 5}, "has aggregate=5, which is a name"),
        ({"joins": ["texts"]}, "has joins=('texts',), which is some of relevant, top_k, expected_span"),
        ({"matcher": "nope"}, "has matcher='nope', which has no effect: none of its ground truth is text"),
        ({"gold": "passages", "matcher": 5}, "has matcher=5, which is a name, or a function"),
    ],
)
def test_a_value_that_no_result_can_hold_is_refused_where_it_is_written(values, told):
    with pytest.raises(DeclarationError) as refused:
        declared(**values)
    assert told in str(refused.value)
    assert str(refused.value).startswith("metric 'made' ")


@pytest.mark.parametrize(
    "values",
    [{"range": (0, None)}, {"range": (None, 1.5)}, {"uses_rel": "binary"}, {"uses_rel": False}, {"version": "2.1"}],
)
def test_what_can_be_stored_is_taken_and_read_again(values, tmp_path):
    result = Engine().dataset(SAMPLES).with_metrics(declared(**values)).run()
    result.save(tmp_path / "out")
    assert Result.load(tmp_path / "out")["made"].info == result["made"].info


@pytest.mark.parametrize(
    ("kind", "more"), [(normalizer, {"stage": "fold"}), (comparer, {}), (tokenizer, {}), (aggregate, {})]
)
def test_versions_of_other_declarations_are_texts_too(kind, more):
    with pytest.raises(DeclarationError, match="a version is a text such as '2', not 2"):
        kind("made", version=2, **more)(lambda *_: None)


def test_the_other_forms_of_metrics_are_held_to_the_same():
    with pytest.raises(DeclarationError, match="has version=2"):
        sample_metric("made", version=2)(lambda ranking: 1.0)
    with pytest.raises(DeclarationError, match="has higher_is_better='no'"):
        run_metric("made", higher_is_better="no")(lambda rankings: 1.0)


def detailed(details):
    """Return the details of two samples, as they are and as a folder has them."""

    @metric("with-details", details=lambda judged: details)
    def made(judged: Judged) -> Scores:
        """Return 1."""
        return np.ones(judged.n)

    return Engine().dataset(SAMPLES).with_metrics([made, "RR"]).run(details=True)


@pytest.mark.parametrize(
    ("values", "plain"),
    [
        ([np.arange(3), np.arange(2)], [[0, 1, 2], [0, 1]]),
        (np.arange(4).reshape(2, 2), [[0, 1], [2, 3]]),
        (np.arange(8).reshape(2, 2, 2)[:, :, ::-1], [[[1, 0], [3, 2]], [[5, 4], [7, 6]]]),
        ([np.float32(0.5), np.int64(3)], [0.5, 3]),
        ([np.True_, None], [True, None]),
        ([{"a": np.array([1.0])}, MappingProxyType({"b": (1, 2)})], [{"a": [1.0]}, {"b": [1, 2]}]),
        (["text", range(2)], ["text", [0, 1]]),
    ],
)
def test_details_become_plain_values(values, plain, tmp_path):
    result = detailed({"fact": values})
    assert [dict(fact)["fact"] for fact in result["with-details"].details] == plain
    result.save(tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out" / "per_sample.jsonl").read_text().splitlines()]
    assert [line["scores"]["with-details"]["details"]["fact"] for line in lines] == plain
    assert Result.load(tmp_path / "out")["RR"].mean == 1.0


@pytest.mark.parametrize("odd", [object(), {1, 2}, 2**70, "\ud800", 1j, b"bytes", {"deep": object()}])
def test_what_cannot_be_written_costs_that_detail_and_not_the_folder(odd, tmp_path):
    result = detailed({"odd": [odd, 1], "fine": [2, 3]})
    first, second = result["with-details"].details
    assert "odd" not in first
    assert first["details_failed"].startswith("the detail 'odd' of 'with-details' (by ")
    assert (first["fine"], second["odd"], second["fine"], "details_failed" in second) == (2, 1, 3, False)
    result.save(tmp_path / "out")
    assert Result.load(tmp_path / "out")["with-details"].mean == 1.0


def test_a_detail_whose_name_is_no_text_is_left_out(tmp_path):
    result = detailed({5: [1, 2], "fine": [2, 3]})
    assert "its name is a int, not a text" in result["with-details"].details[0]["details_failed"]
    result.save(tmp_path / "out")
