import json

import pytest

from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.errors import DataError
from rankgauge.io.files import digest
from rankgauge.io.output_files import read_outputs
from rankgauge.io.preset_records import Shape
from rankgauge.policy import DEFAULT_CONTRACT
from rankgauge.samples import Fault, Output

CATALOG = Catalog.discover(own_only=True)


def outputs_of(source, fields=None):
    return read_outputs(source, catalog=CATALOG, contract=DEFAULT_CONTRACT, shape=Shape(CATALOG, fields=fields))


def write(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def problems_of(path, fields=None):
    with pytest.raises(DataError) as caught:
        outputs_of(path, fields)
    assert str(path) in str(caught.value)
    return caught.value.problems


ROWS = [{"id": "q1", "actual_output": ["a"]}, {"id": 2, "actual_output": {"retrieved": [], "answer": "x"}}]
MAP = {"q1": ["a"], "2": {"retrieved": [], "answer": "x"}}
WANTED = {"q1": Output(["a"]), "2": Output([], None, None, "x")}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.jsonl", "".join(f"{json.dumps(row)}\n" for row in ROWS)),
        ("rows.json", json.dumps(ROWS)),
        ("rows.yaml", json.dumps({"outputs": ROWS})),
        ("map.json", json.dumps({"outputs": MAP})),
        ("bare.json", json.dumps(MAP)),
        ("bare.yaml", json.dumps(MAP)),
        ("bare.jsonl", json.dumps(MAP)),
    ],
)
def test_rows_and_maps_hold_the_same(tmp_path, name, text):
    path = write(tmp_path, name, text)
    found = outputs_of(path)
    assert found.by_id == WANTED
    assert (str(path), digest(path)) == (found.source, found.fingerprint)


def test_a_map_of_integers_in_yaml_is_read_as_decimal_text(tmp_path):
    assert {"7": Output(["8"])} == outputs_of(write(tmp_path, "a.yaml", "outputs:\n  7: [8]\n")).by_id


def test_outputs_may_be_a_mapping_in_python():
    found = outputs_of(MAP)
    assert found.by_id == WANTED
    assert (found.source, found.fingerprint) == ("", "")


def test_a_malformed_output_is_a_fault_of_its_sample_only(tmp_path):
    rows = [{"id": "q1", "actual_output": "[oops"}, {"id": "q2", "actual_output": ["a"]}]
    found = outputs_of(write(tmp_path, "a.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))).by_id
    assert isinstance(found["q1"], Fault)
    assert Output(["a"]) == found["q2"]


def test_an_output_may_be_a_json_string(tmp_path):
    path = write(tmp_path, "a.jsonl", json.dumps({"id": "q1", "actual_output": '["a"]'}))
    assert {"q1": Output(["a"])} == outputs_of(path).by_id


def test_field_names_are_mapped_in_rows(tmp_path):
    path = write(tmp_path, "a.jsonl", json.dumps({"qid": 1, "hits": ["a"]}))
    assert {"1": Output(["a"])} == outputs_of(path, {"id": "qid", "actual_output": "hits"}).by_id


def test_all_problems_of_an_outputs_file_come_in_one_report(tmp_path):
    lines = [
        '{"id": "q1", "actual_output": ["a"]}',
        '{"id": "q1", "actual_output": ["b"]}',
        '{"id": "q2"}',
        '{"actual_output": ["a"]}',
        '{"id": "", "actual_output": ["a"]}',
        '{"id": true, "actual_output": ["a"]}',
        "[1, 2]",
        "{oops",
        '{"retrieved": ["a"]}',
    ]
    problems = problems_of(write(tmp_path, "a.jsonl", "\n".join(lines)))
    assert [problem.line for problem in problems] == [2, 3, 4, 5, 6, 7, 8, 9]
    words = ["two outputs", "'actual_output' is missing", "null", "''", "True", "list", "not valid JSON", "a row needs"]
    for problem, word in zip(problems, words, strict=True):
        assert word in problem.message


def test_an_integer_and_its_decimal_text_are_the_same_sample(tmp_path):
    rows = [{"id": 1, "actual_output": ["a"]}, {"id": "1", "actual_output": ["b"]}]
    (problem,) = problems_of(write(tmp_path, "a.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows)))
    assert "two outputs" in problem.message
    assert problem.sample == "1"


def test_an_empty_outputs_file_has_no_outputs(tmp_path):
    assert outputs_of(write(tmp_path, "a.jsonl", "")).by_id == {}


@pytest.mark.parametrize("beside", [{}, {"answer": "b"}, {"input": "?", "metadata": {"k": 1}}])
def test_an_output_may_stand_beside_the_id_of_its_sample(beside, tmp_path):
    rows = [{"id": "q", "retrieved": ["b", "a"], **beside}, {"id": "r", "answer": "an a", **beside}]
    path = write(tmp_path, "a.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    samples = [{"id": name, "expected_output": {"relevant": ["a"], "answer": "a"}} for name in ("q", "r")]
    result = Engine().dataset(samples).with_metrics(["RR"]).with_outputs(path).run()
    assert result["RR"].values[0] == 0.5


@pytest.mark.parametrize(
    ("row", "advice"),
    [
        ({"id": "q", "actual_ouput": ["a"]}, "is it 'actual_ouput'? rename it, or map it: --field actual_output="),
        ({"id": "q", "output": ["a"]}, "is it 'output'? rename it, or map it: --field actual_output=output"),
        ({"id": "q", "retreived": ["a"]}, "put 'retreived' into it, or map it: --field retrieved=retreived"),
        ({"id": "q", "contexts": ["a"]}, "put 'contexts' into it, or map it: --field retrieved=contexts"),
        ({"qid": "q", "actual_output": ["a"]}, "found null; is it 'qid'? rename it, or map it: --field id=qid"),
    ],
)
def test_a_row_that_lacks_a_field_says_what_it_has_instead(row, advice, tmp_path):
    path = tmp_path / "outputs.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    evaluation = Engine().dataset([{"id": "q", "expected_output": ["a"]}]).with_metrics(["RR"])
    misread = evaluation.with_outputs(path)
    with pytest.raises(DataError) as caught:
        misread.run()
    assert advice in str(caught.value)
    ours, _, theirs = advice.partition("--field ")[2].partition("=")
    fields = {ours: theirs or "actual_ouput", **({"id": "qid"} if "qid" in row else {})}
    assert evaluation.with_fields(fields).with_outputs(path).run()["RR"].mean == 1.0


def test_a_record_of_another_tool_is_no_map_of_outputs(tmp_path):
    document = {"page_content": "It opened in 1932.", "metadata": {}}
    path = write(tmp_path, "a.jsonl", json.dumps({"query": "?", "result": "x", "source_documents": [document]}))
    (problem,) = problems_of(path)
    assert problem.message.endswith("this looks like a record of langchain: read it with --preset langchain")
