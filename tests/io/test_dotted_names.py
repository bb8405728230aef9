"""Columns of flattened frames: names joined by dots lead into the record, on every road."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

from rankgauge import Engine
from rankgauge.errors import DataError
from rankgauge.io.dotted_names import nested

ROWS: list[dict[str, Any]] = [
    {
        "id": "q1", "expected_output.relevant": ["d1"], "expected_output.answer": None,
        "actual_output.retrieved": ["d9", "d1"], "metadata.k": 1, "metadata.source.lang": "de",
    },
    {
        "id": "q2", "expected_output.relevant": ["d2"], "expected_output.answer": "x",
        "actual_output.retrieved": ["d2"], "metadata.k": 2, "metadata.source.lang": "en",
    },
    {
        "id": "q3", "expected_output.relevant": None, "expected_output.answer": None,
        "actual_output.retrieved": ["d2"], "metadata.k": None, "metadata.source.lang": "en",
    },
]  # fmt: skip


def given(form: str, folder: Any) -> Any:
    if form == "frame":
        return pl.DataFrame(ROWS)
    if form == "dictionaries":
        return ROWS
    path = folder / f"rows.{form}"
    if form == "parquet":
        pl.DataFrame(ROWS).write_parquet(path)
    elif form == "jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    elif form == "json":
        path.write_text(json.dumps(ROWS))
    else:
        cells = [
            {key: json.dumps(item) if isinstance(item, list) else item for key, item in row.items()} for row in ROWS
        ]
        pl.DataFrame(cells).write_csv(path)
    return path


FORMS = ("parquet", "jsonl", "json", "csv", "frame", "dictionaries")


@pytest.mark.parametrize("form", FORMS)
def test_names_joined_by_dots_are_nested_fields(form, tmp_path):
    evaluation = Engine().dataset(given(form, tmp_path)).with_metrics(["RR", "retrieval-recall-at-k"])
    result = evaluation.with_cohorts(["metadata.source.lang"]).run()
    assert (result["RR"].mean, result["RR"].n_undefined) == (3 / 4, 1)
    assert result["retrieval-recall-at-k"].values[:2].tolist() == [0.0, 1.0]  # at the cutoffs 1 and 2
    assert [len(part) for part in result.by_tag().values()] == [1, 2]
    assert [str(name).rpartition("=")[2] for name in result.by_tag()] == ["de", "en"]


@pytest.mark.parametrize("form", FORMS)
def test_outputs_may_have_them(form, tmp_path):
    samples = [{"id": "q1", "expected_output": ["d1"]}, {"id": "q2", "expected_output": ["d2"]}]
    outputs = given(form, tmp_path)
    if form == "frame":
        outputs = outputs.to_dicts()
    evaluation = Engine().dataset(samples).with_metrics("RR").with_profile(queries="intersection")
    assert evaluation.run(outputs=outputs)["RR"].mean == 3 / 4


def test_a_preset_and_fields_read_them_nested(tmp_path):
    rows = [{"qid": "q1", "expected_output.relevant": ["d1"], "actual_output.retrieved": ["d9", "d1"]}]
    pl.DataFrame(rows).write_parquet(tmp_path / "rows.parquet")
    evaluation = Engine().dataset(tmp_path / "rows.parquet").with_fields({"id": "qid"}).with_metrics("RR")
    assert evaluation.run()["RR"].mean == 0.5
    assert evaluation.score(rows[0])["rr"].value == 0.5


def test_a_field_that_nothing_reads_is_said_with_its_place(tmp_path):
    pl.DataFrame([{"id": "q1", "expected_output.ids": ["d1"], "actual_output": ["d1"]}]).write_parquet(
        tmp_path / "a.parquet"
    )
    with pytest.raises(DataError, match=r"expected_output.*'ids'"):
        Engine().dataset(tmp_path / "a.parquet").with_metrics("RR").run()


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"id": "q", "url.host": 1}, {"id": "q", "url.host": 1}),
        ({"metadata.a.b": 1, "metadata.a.c": 2}, {"metadata": {"a": {"b": 1, "c": 2}}}),
        ({"metadata.a": 1, "metadata.a.b": 2}, {"metadata": {"a": 1}, "metadata.a.b": 2}),
        ({"metadata": {"k": 3}, "metadata.a": 1}, {"metadata": {"k": 3, "a": 1}}),
        ({"metadata": {"a": 3}, "metadata.a": 1}, {"metadata": {"a": 3}, "metadata.a": 1}),
        ({"metadata": "de", "metadata.a": 1}, {"metadata": "de", "metadata.a": 1}),
        ({"expected_output.relevant.d1.txt": 2, "expected_output.relevant.d2": float("nan")},
         {"expected_output": {"relevant": {"d1.txt": 2}}}),
        ({"expected_output.relevant": None}, {"expected_output": None}),
        ({"expected_output.": 1}, {"expected_output.": 1}),
    ],
)  # fmt: skip
def test_where_a_name_leads(record, expected):
    assert nested(record) == expected
