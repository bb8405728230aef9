"""Records without ids, which are called by their place where that is asked for."""

import json

import pytest

from rankgauge import Engine
from rankgauge.cli import call
from rankgauge.errors import DataError

AZURE = [
    {"query": "one", "context": "c", "response": "Paris", "ground_truth": "Paris"},
    {"query": "two", "context": "c", "response": "x", "ground_truth": "Rome"},
]
FIELDS = {"input": "query", "expected_output.answer": "ground_truth", "actual_output.answer": "response"}


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"{json.dumps(row)}\n" for row in AZURE)
    (tmp_path / "rows.jsonl").write_text(lines)
    (tmp_path / "rows.json").write_text(json.dumps(AZURE))
    (tmp_path / "rows.csv").write_text("query,response,ground_truth\none,Paris,Paris\ntwo,x,Rome\n")


def evaluation(source, **options):
    return Engine().dataset(source).with_fields(FIELDS).with_metrics("EM").with_reader(**options)


@pytest.mark.parametrize(
    ("source", "ids"),
    [("rows.jsonl", ("1", "2")), ("rows.json", ("0", "1")), ("rows.csv", ("1", "2")), (AZURE, ("0", "1"))],
)
def test_rows_are_called_by_their_place(source, ids):
    result = evaluation(source, number_rows=True).run()
    assert result.sample_ids == ids
    assert result["em"].mean == 0.5
    with pytest.raises(DataError, match=r"the field is missing.*--number-rows calls it by its place"):
        evaluation(source).run()


def test_an_id_that_is_there_stays(tmp_path):
    rows = [{**AZURE[0], "id": "mine"}, {**AZURE[1], "id": None}]
    assert evaluation(rows, number_rows=True).run().sample_ids == ("mine", "1")


def test_outputs_are_numbered_alike(tmp_path):
    gold = "".join(f'{{"expected_output": "{row["ground_truth"]}"}}\n' for row in AZURE)
    (tmp_path / "gold.jsonl").write_text(gold)
    (tmp_path / "out.jsonl").write_text('{"actual_output": {"answer": "Paris"}}\n{"actual_output": {"answer": "x"}}\n')
    plain = Engine().dataset("gold.jsonl").with_metrics("EM").with_reader(number_rows=True)
    assert plain.run(outputs="out.jsonl")["em"].mean == 0.5


def test_the_command_line_and_a_config_take_it(tmp_path, capsys):
    fields = [each for ours, theirs in FIELDS.items() for each in ("--field", f"{ours}={theirs}")]
    assert call(["run", "--data", "rows.jsonl", *fields, "-m", "EM", "--number-rows", "-o", "kept"]) == 0
    assert "0.5000" in capsys.readouterr().out
    assert call(["validate", "rows.jsonl", *fields, "--number-rows"]) == 0
    assert call(["validate", "rows.jsonl", *fields]) == 2
    assert call(["rescore", "kept", "-o", "again", "-m", "EM"]) == 0
    (tmp_path / "config.yaml").write_text(
        "version: 1\nmetrics: {use: [EM]}\ndatasets:\n  mine:\n    path: rows.jsonl\n    number_rows: true\n"
        f"    fields: {json.dumps(FIELDS)}\n"
    )
    capsys.readouterr()
    assert call(["run", "config.yaml"]) == 0
    assert "0.5000" in capsys.readouterr().out
