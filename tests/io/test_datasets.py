import json

import pytest

from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.errors import DataError, NothingToEvaluateError, UnreadableError
from rankgauge.io.datasets import DatasetReader, DataSource
from rankgauge.io.field_names import remapped
from rankgauge.io.files import digest
from rankgauge.policy import DEFAULT_CONTRACT
from rankgauge.samples import Expected, Output, Sample

CATALOG = Catalog.discover(own_only=True)


def reader_of(source, **options):
    fields = options.pop("fields", {})
    return DatasetReader(DataSource(source, None, fields), catalog=CATALOG, contract=DEFAULT_CONTRACT, **options)


def samples_of(source, **options):
    return [sample for batch in reader_of(source, **options).batches() for sample in batch]


def lines(tmp_path, *rows, name="data.jsonl"):
    path = tmp_path / name
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def problems_of(source, **options):
    with pytest.raises(DataError) as caught:
        samples_of(source, **options)
    return caught.value


def sample(name, **more):
    return {"id": name, "expected_output": ["a"], **more}


def test_samples_come_in_order_and_in_batches(tmp_path):
    reader = reader_of(lines(tmp_path, *(sample(f"q{n}") for n in range(5))))
    assert [[item.id for item in batch] for batch in reader.batches(2)] == [["q0", "q1"], ["q2", "q3"], ["q4"]]
    assert reader.count == 5


def test_all_problems_of_a_file_come_in_one_report_with_file_line_and_sample(tmp_path):
    path = lines(
        tmp_path,
        sample("q1"),
        '{"id": "q2", "expected_output": ["a"}',
        {"id": "q3", "expected_output": 1.2},
        sample("q1"),
        {"expected_output": ["a"]},
        {"id": "q4", "expected_outputs": ["a"]},
        sample("q5", metadata={"k": "5"}),
        '{"id": "q6", "expected_output": {"a": NaN}}',
    )
    error = problems_of(path)
    found = [(problem.line, problem.path, problem.sample) for problem in error.problems]
    assert found == [
        (2, "", None),
        (3, "expected_output", "q3"),
        (4, "", "q1"),
        (5, "id", None),
        (6, "expected_output", "q4"),
        (7, "metadata.k", "q5"),
        (8, "expected_output['a']", "q6"),
    ]
    assert all(str(path) == problem.file for problem in error.problems)
    text = str(error)
    assert "7 problems" in text
    assert f"{path}:3, expected_output, sample 'q3': " in text
    assert "duplicate sample id 'q1'" in text
    assert "did you mean 'expected_outputs'?" in text
    assert "a gain must be finite, not the number nan" in text


def test_many_problems_are_counted_and_the_first_ones_shown(tmp_path):
    error = problems_of(lines(tmp_path, *({"id": f"q{n}", "expected_output": n + 0.5} for n in range(1234))))
    assert len(error.problems) == 1234
    text = str(error)
    assert "(1,234 problems)" in text
    assert text.endswith("\n  ... and 1,229 more of this kind")  # 1,234 less the five that are shown
    assert len(text.splitlines()) == 7


def test_nothing_is_yielded_behind_the_first_problem(tmp_path):
    path = lines(tmp_path, sample("q1"), sample("q2"), {"id": "q3"}, sample("q4"), sample("q5"), sample("q6"))
    seen = []
    with pytest.raises(DataError):
        seen.extend(item.id for batch in reader_of(path).batches(2) for item in batch)
    assert seen == ["q1", "q2"]


def test_duplicate_ids_are_found_across_batches(tmp_path):
    path = lines(tmp_path, sample("q1"), sample("q2"), sample("q3"), sample("q1"))
    with pytest.raises(DataError, match="duplicate sample id 'q1'"):
        list(reader_of(path).batches(1))


def test_a_duplicate_id_is_told_with_the_line_that_has_it_first(tmp_path):
    """Plain lines are read many at once; those that follow a plain one are looked at one by one where ids repeat."""
    path = lines(tmp_path, *(sample(f"q{number}") for number in range(150)), sample("q69"))
    with pytest.raises(DataError, match=r"duplicate sample id 'q69'.*first in line 70"):
        Engine().dataset(path).with_metrics("recall@5").run()


def test_an_integer_id_and_its_decimal_text_are_the_same_id(tmp_path):
    assert "duplicate sample id '1'" in str(problems_of(lines(tmp_path, sample(1), sample("1"))))


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_a_file_without_samples_is_nothing_to_evaluate(tmp_path, text):
    path = tmp_path / "data.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(NothingToEvaluateError, match="nothing to evaluate") as caught:
        samples_of(path)
    assert str(path) in str(caught.value)
    assert caught.value.exit_code == 4


@pytest.mark.parametrize(("name", "text"), [("a.json", "[]"), ("a.yaml", "samples: []"), ("a.json", '{"samples": []}')])
def test_an_empty_document_is_nothing_to_evaluate(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(NothingToEvaluateError):
        samples_of(path)


def test_an_empty_list_is_nothing_to_evaluate():
    with pytest.raises(NothingToEvaluateError):
        samples_of([])


def test_a_missing_file_is_unreadable(tmp_path):
    with pytest.raises(UnreadableError, match="no such file"):
        samples_of(tmp_path / "data.jsonl")


def test_a_limit_stops_reading_before_later_problems(tmp_path):
    path = lines(tmp_path, sample("q1"), sample("q2"), "{")
    assert [item.id for item in samples_of(path, limit=2)] == ["q1", "q2"]


def test_the_fingerprint_of_a_file_is_its_digest(tmp_path):
    path = lines(tmp_path, sample("q1"))
    reader = reader_of(path)
    list(reader.batches())
    assert digest(path) == reader.fingerprint


def test_equal_samples_given_in_python_have_equal_fingerprints():
    prints = []
    for rows in ([{"id": "q", "expected_output": ["a"]}], [{"expected_output": ["a"], "id": "q"}], [sample("r")]):
        reader = reader_of(rows)
        list(reader.batches())
        prints.append(reader.fingerprint)
    assert prints[0] == prints[1]
    assert prints[0] != prints[2]


def test_samples_may_be_values_already():
    given = Sample("q", None, Expected(relevant={"a": 1.0}), Output(["a"]))
    assert [given] == samples_of([given])


def test_problems_of_samples_given_in_python_know_their_place():
    error = problems_of([sample("q1"), {"id": "q2", "expected_output": {"relevant": "a"}}])
    (problem,) = error.problems
    assert problem.path == "samples[1].expected_output.relevant"
    assert problem.sample == "q2"


def test_problems_of_yaml_know_line_and_path(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("samples:\n  - id: q1\n    expected_output: [a]\n  - id: q2\n    expected_output: 3.5\n", "utf-8")
    (problem,) = problems_of(path).problems
    assert (problem.line, problem.path, problem.sample) == (4, "samples[1].expected_output", "q2")


def test_gains_that_are_not_finite_are_problems_in_yaml(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("- {id: q1, expected_output: {a: .nan}}\n- {id: q2, expected_output: {a: .inf}}\n", "utf-8")
    assert [problem.sample for problem in problems_of(path).problems] == ["q1", "q2"]


def test_field_names_are_mapped(tmp_path):
    row = {"qid": 7, "question": "?", "gold": {"ids": ["a"]}, "contexts": ["b"], "span": "x", "group": "g"}
    fields = {"id": "qid", "input": "question", "actual_output": "contexts", "expected_output.answer": "span"}
    fields |= {"metadata.tags": "group"}
    (found,) = samples_of(lines(tmp_path, row), fields=fields)
    assert Sample("7", "?", Expected(answer=("x",)), Output(["b"]), None, ("g",), metadata={"tags": "g"}) == found


def test_a_mapped_field_that_is_absent_is_reported(tmp_path):
    error = problems_of(lines(tmp_path, {"qid": "q1", "id": "x"}), fields={"expected_output": "gold"})
    assert [problem.path for problem in error.problems] == ["expected_output"]


def test_a_duplicate_id_is_told_on_a_line_that_has_another_problem_too(tmp_path):
    broken = {"id": "q1", "expected_output": 5.5}
    problems = problems_of(lines(tmp_path, sample("q1"), broken, {"id": "q2"}, sample("q2"))).problems
    assert [(each.line, each.message.partition(";")[0]) for each in problems if "duplicate" in each.message] == [
        (2, "duplicate sample id 'q1'"),
        (4, "duplicate sample id 'q2'"),
    ]
    assert [each.line for each in problems if "duplicate" not in each.message] == [2, 3]


def test_remapping_reaches_into_fields_and_keeps_the_rest():
    record = {"qid": "q", "metadata": {"k": 3}, "group": "g"}
    found = remapped(record, {"id": "qid", "metadata.tags": "group"})
    assert found == {"qid": "q", "id": "q", "metadata": {"k": 3, "tags": "g"}, "group": "g"}
    assert record == {"qid": "q", "metadata": {"k": 3}, "group": "g"}
