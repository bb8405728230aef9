"""Numbers, truth values and dates where a text is expected: answers and keywords."""

import datetime as dt
import json
import re

import numpy as np
import polars as pl
import pytest

from rankgauge import Engine
from rankgauge.errors import DataError
from rankgauge.samples import Fault, read_expected
from rankgauge.samples.sample_outputs import read_output
from rankgauge.samples.sample_values import InvalidError
from tables import rows

NOT_TEXTS = [
    (41.5, '"41.5"'),
    (1987.0, r'"1987\.0" or "1987" \(pandas makes floats'),
    (True, '"true"'),
    (False, '"false"'),
    (dt.date(1987, 5, 1), '"1987-05-01"'),
    (dt.datetime(1987, 5, 1, 12, 30, tzinfo=dt.UTC), r'"1987-05-01T12:30:00\+00:00"'),
]


def means(source, *metrics, preset=""):
    evaluation = Engine().dataset(source).with_metrics(list(metrics))
    result = (evaluation.with_preset(preset) if preset else evaluation).run()
    return [result[name].mean for name in result.metrics]


@pytest.mark.parametrize("number", [41, np.int64(41), -41, 10**30, 0])
def test_an_integer_is_its_digits(number):
    digits = str(number)
    assert read_expected({"answer": number}).answer == (digits,)
    assert read_expected({"answer": [number, "x"], "keywords": number}) == read_expected(
        {"answer": [digits, "x"], "keywords": [digits]}
    )
    assert read_expected(number) == read_expected(digits)
    assert read_output({"answer": number}).answer == digits


@rows(("value", "quoted"), NOT_TEXTS)
@rows("gold", [lambda value: {"answer": value}, lambda value: {"keywords": ["x", value]}, lambda value: value])
def test_other_values_are_refused_with_what_to_write(value, quoted, gold):
    with pytest.raises(InvalidError, match=f"; write it in quotes: {quoted}"):
        read_expected(gold(value))


@pytest.mark.parametrize(("value", "quoted"), NOT_TEXTS)
def test_an_answer_of_a_model_that_is_one_fails_its_sample(value, quoted):
    fault = read_output({"answer": value})
    assert isinstance(fault, Fault)
    assert re.search(f"'answer' must be a string, not .*; write it in quotes: {quoted}", fault.reason)


@pytest.mark.parametrize("kind", ["passages", "nuggets"])
def test_other_texts_are_no_numbers(kind):
    with pytest.raises(InvalidError):
        read_expected({kind: [41]})


ROW = {
    "id": "a",
    "expected_output": {"answer": 1987, "keywords": [41]},
    "actual_output": {"answer": 1987, "retrieved": [{"text": "41 m"}]},
}


def test_every_format_reads_them_alike(tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps(ROW))
    (tmp_path / "a.json").write_text(json.dumps([ROW]))
    (tmp_path / "a.yaml").write_text(
        "- id: a\n  expected_output: {answer: 1987, keywords: [41]}\n"
        "  actual_output: {answer: 1987, retrieved: [{text: 41 m}]}\n"
    )
    (tmp_path / "a.csv").write_text(
        "id,expected_output.answer,expected_output.keywords,actual_output.answer,actual_output.retrieved\n"
        'a,1987,[41],1987,"[{""text"": ""41 m""}]"\n'
    )
    pl.DataFrame([ROW]).write_parquet(tmp_path / "a.parquet")
    sources = [[ROW], *(tmp_path / f"a.{ending}" for ending in ("jsonl", "json", "yaml", "csv", "parquet"))]
    assert [means(source, "EM", "keyword_coverage@1") for source in sources] == [[1.0, 1.0]] * len(sources)


@pytest.mark.parametrize(
    ("sample", "quoted"),
    [
        ("expected_output: {answer: 2024-05-01}", "2024-05-01"),
        ("expected_output: {answer: [x, 2024-05-01]}", "2024-05-01"),
        ("expected_output: {keywords: [2024-05-01]}", "2024-05-01"),
        ("expected_output.answer: 2024-05-01", "2024-05-01"),
        ("expected_output: 2024-05-01", "2024-05-01"),
        ("expected_output: {answer: 2024-05-01 10:30:00}", "2024-05-01T10:30:00"),
    ],
)
def test_a_date_of_yaml_without_quotes_is_refused(sample, quoted, tmp_path):
    (tmp_path / "a.yaml").write_text(f"- id: a\n  {sample}\n  actual_output: {{answer: x}}\n")
    with pytest.raises(DataError, match=f'found the (date|time) .*; write it in quotes: "{quoted}"'):
        means(tmp_path / "a.yaml", "EM")


def test_other_dates_of_yaml_are_texts(tmp_path):
    (tmp_path / "a.yaml").write_text(
        "- id: 2024-05-01\n  input: 2024-05-01\n  metadata: {answer: 2024-05-01, asked_at: 2024-05-01}\n"
        "  expected_output: {answer: '2024-05-01', keywords: [2024-13-45]}\n"
        "  actual_output: {answer: '2024-05-01', retrieved: [{id: 2024-05-01, text: 2024-05-01}]}\n"
    )
    result = Engine().dataset(tmp_path / "a.yaml").with_metrics("EM").run()
    assert (result["EM"].mean, list(result.sample_ids)) == (1.0, ["2024-05-01"])


@pytest.mark.parametrize("form", ["{outputs: {a: {answer: 2024-05-01}}}", "[{id: a, answer: 2024-05-01}]"])
def test_an_answer_in_outputs_of_yaml_that_is_a_date_fails_its_sample(form, tmp_path):
    (tmp_path / "outputs.yaml").write_text(form)
    data = Engine().dataset([{"id": "a", "expected_output": "2024-05-01"}]).with_metrics("EM")
    result = data.run(outputs=tmp_path / "outputs.yaml")
    assert (result["EM"].mean, result["EM"].n_failed) == (0.0, 1)
    assert any('write it in quotes: "2024-05-01"' in note for note in result.notes)


@pytest.mark.parametrize(
    ("preset", "record"),
    [
        ("ragas", {"user_input": "x", "reference": 1987, "response": 1987, "retrieved_contexts": ["y"]}),
        ("deepeval", {"input": "x", "expected_output": 1987, "actual_output": 1987, "retrieval_context": ["y"]}),
        ("langfuse", {"id": "a", "input": "x", "expectedOutput": 1987, "output": {"answer": 1987}, "datasetId": "d"}),
        ("promptfoo", {"vars": {"expected": 1987}, "response": {"output": 1987}, "testIdx": 0}),
        ("trulens", {"query": "x", "expected_response": 1987, "output": 1987, "record_id": "r"}),
    ],
)
def test_so_does_every_preset(preset, record):
    """It is no silence either where the value cannot be a text."""
    assert means([record], "EM", preset=preset) == [1.0]
    wrong = json.loads(json.dumps(record).replace("1987", "19.5", 1))
    with pytest.raises(DataError, match=r'found the number 19\.5; write it in quotes: "19\.5"'):
        means([wrong], "EM", preset=preset)
