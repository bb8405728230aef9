"""Records without ground truth, outputs that are null, and numbers that JSON does not have."""

import json
import math

import polars as pl
import pytest

from rankgauge import Engine
from rankgauge.errors import DataError
from rankgauge.io.datasets import DatasetReader
from rankgauge.policy import DEFAULT_CONTRACT
from rankgauge.scale import ShardedSamples

FOUND = {"id": "a", "expected_output": ["d1"], "actual_output": ["d1"]}
"""It has a reciprocal rank of 1."""

RAGAS = {"user_input": "one", "reference": "Paris", "retrieved_contexts": ["It is Paris."], "response": "Paris"}
LANGFUSE = {"id": "a", "datasetId": "x", "input": "one", "expectedOutput": "Paris", "output": {"answer": "Paris"}}
GOLDEN = {
    "input": "one",
    "expected_output": "Paris",
    "context": ["It is Paris."],
    "retrieval_context": ["It is Paris."],
}


def status_of(result, name):
    return {sample: result[name].status(place) for place, sample in enumerate(result.sample_ids)}


def run(source, metric="RR", preset="", **options):
    evaluation = Engine().dataset(source).with_metrics(metric)
    return (evaluation.with_preset(preset) if preset else evaluation).run(**options)


def written(tmp_path, rows, name="data.jsonl"):
    path = tmp_path / name
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


UNLABELLED = {
    "null": {"expected_output": None},
    "as pandas has it": {"expected_output": math.nan},
    "each kind is null": {"expected_output": {"relevant": None, "answer": None}},
    "each kind is NaN": {"expected_output": {"relevant": math.nan, "answer": math.nan}},
}


@pytest.mark.parametrize("other", UNLABELLED.values(), ids=UNLABELLED)
@pytest.mark.parametrize("form", ["list", "jsonl", "json"])
def test_a_sample_without_ground_truth_is_undefined_and_counted(other, form, tmp_path):
    rows = [{"id": "b", "actual_output": ["d1"], **other}, FOUND]
    source = rows if form == "list" else written(tmp_path, rows if form == "jsonl" else [rows], f"data.{form}")
    result = run(source)
    assert status_of(result, "RR") == {"b": "undefined", "a": "scored"}
    assert result["RR"].mean == 1.0


@pytest.mark.parametrize(
    ("preset", "metric", "record", "nulls"),
    [
        ("ragas", "EM", RAGAS, ["reference"]),
        ("langfuse", "EM", LANGFUSE, ["expectedOutput"]),
        ("deepeval", "hit@5", GOLDEN, ["expected_output", "context"]),
        ("deepeval", "hit@5", {**GOLDEN, "expected_output": math.nan}, ["expected_output", "context"]),
    ],
)
def test_so_is_one_of_another_tool(preset, metric, record, nulls, tmp_path):
    other = {**record, **dict.fromkeys(nulls), "id": "b"} if "id" in record else {**record, **dict.fromkeys(nulls)}
    result = run(written(tmp_path, [record, other]), metric, preset)
    (name,) = result.metrics
    assert list(status_of(result, name).values()) == ["scored", "undefined"]
    assert result[name].mean == 1.0
    assert not [note for note in result.notes if "is not read" in note or "nothing reads" in note]


def test_so_is_one_with_an_empty_cell(tmp_path):
    (tmp_path / "data.csv").write_text('id,expected_output,actual_output\na,"[""d1""]","[""d1""]"\nb,,"[""d1""]"\n')
    pl.DataFrame([{**FOUND}, {"id": "b", "expected_output": None, "actual_output": ["d1"]}]).write_parquet(
        tmp_path / "data.parquet"
    )
    for name in ("data.csv", "data.parquet"):
        assert status_of(run(tmp_path / name), "RR") == {"a": "scored", "b": "undefined"}


def test_fields_of_ones_own_may_be_null_too(tmp_path):
    rows = [
        {"id": "a", "reference": "Paris", "out": {"answer": "Paris"}},
        {"id": "b", "reference": None, "out": {"answer": "x"}},
    ]
    fields = {"expected_output.answer": "reference", "actual_output": "out"}
    result = Engine().dataset(written(tmp_path, rows)).with_fields(fields).with_metrics("EM").run()
    assert status_of(result, "EM") == {"a": "scored", "b": "undefined"}


def test_samples_of_which_none_has_ground_truth_are_an_error_before_anything_is_called():
    called = []
    rows = [{"id": f"s{number}", "input": "x", "expected_output": None} for number in range(3)]
    with pytest.raises(DataError, match=r"expected_output, sample 's0': the field is null.*\(so in 2 more\)"):
        run(rows, sut=called.append)
    assert not called


def test_ground_truth_that_cannot_be_read_is_the_only_problem_of_data_of_which_some_has_none(tmp_path):
    frame = pl.DataFrame(
        {"id": ["a", "b"], "expected_output.answer": [1987.0, None], "actual_output.answer": ["x", "y"]}
    )
    frame.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match="found the number 1987") as caught:
        run(tmp_path / "a.parquet", "EM")
    assert len(caught.value.problems) == 1


def test_a_key_that_is_missing_is_an_error():
    """Nobody said that there is no ground truth; a table has no other way to say so."""
    with pytest.raises(DataError, match=r"sample 'b': the field is missing; .* or null if there is none"):
        run([FOUND, {"id": "b"}])


def test_records_of_another_tool_without_any_ground_truth_are_called_by_its_name(tmp_path):
    rows = [{"id": name, "expected_output": None, "user_input": "x", "reference": "y"} for name in "ab"]
    with pytest.raises(DataError, match="read it with --preset ragas"):
        run(written(tmp_path, rows))


def test_parts_of_samples_may_have_none(tmp_path):
    """In constant memory, in shards, and in worker processes, for which the reader says what its lines have."""
    rows = [{"id": "b", "expected_output": None, "actual_output": ["d1"]}, FOUND]
    evaluation = Engine().dataset(written(tmp_path, rows)).with_metrics("RR")
    streamed = list(evaluation.stream(batch_size=1))
    assert [result["RR"].status(0) for result in streamed] == ["undefined", "scored"]
    sharded = ShardedSamples(evaluation)
    shards = [sharded.shard([row]) for row in rows]
    if not sharded.agree(shards):
        sharded = sharded.knowing(shards)
        shards = [sharded.shard([row]) for row in rows]
    assert status_of(sharded.merge(shards), "RR") == {"a": "scored", "b": "undefined"}


def test_a_sample_alone_needs_ground_truth():
    with pytest.raises(DataError, match="the field is null"):
        Engine().dataset([]).with_metrics("RR").score({"id": "b", "expected_output": None, "actual_output": []})


def test_the_eval_harness_keeps_its_rule():
    """There a null fails the pair, and the key is required."""
    evaluation = Engine().dataset([FOUND, {**FOUND, "id": "b", "expected_output": None}]).with_profile("eval-harness")
    assert status_of(evaluation.with_metrics("RR").run(), "RR")["b"] == "failed"
    lacking = Engine().dataset([FOUND, {"id": "b", "actual_output": "x"}]).with_profile("eval-harness")
    with pytest.raises(DataError, match="the field is missing"):
        lacking.with_metrics("RR").run()


GOLD = [{"id": name, "expected_output": ["d1"]} for name in ("a", "b")]
NULL = [{"id": "a", "actual_output": ["d1"]}, {"id": "b", "actual_output": None}]


@pytest.mark.parametrize("form", ["jsonl", "json", "map", "rows", "mapping", "nan"])
def test_an_output_that_is_null_is_missing(form, tmp_path):
    """Also where the sample has another output: the file replaces it."""
    outputs = {
        "jsonl": lambda: written(tmp_path, NULL, "o.jsonl"),
        "json": lambda: written(tmp_path, [NULL], "o.json"),
        "map": lambda: written(tmp_path, [{"outputs": {"a": ["d1"], "b": None}}], "o.json"),
        "rows": lambda: NULL,
        "mapping": lambda: {"a": ["d1"], "b": None},
        "nan": lambda: {"a": ["d1"], "b": math.nan},
    }[form]()
    for samples in (GOLD, [{**each, "actual_output": ["d1"]} for each in GOLD]):
        result = run(samples, outputs=outputs)
        assert status_of(result, "RR") == {"a": "scored", "b": "missing"}
        assert result["RR"].mean == 0.5


def test_so_is_an_empty_cell(tmp_path):
    frame = pl.DataFrame(NULL)
    frame.write_parquet(tmp_path / "o.parquet")
    (tmp_path / "o.csv").write_text('id,actual_output\na,"[""d1""]"\nb,\n')
    for name in ("o.parquet", "o.csv"):
        assert status_of(run(GOLD, outputs=tmp_path / name), "RR") == {"a": "scored", "b": "missing"}


def test_so_is_one_of_another_tool_that_says_nothing(tmp_path):
    rows = [RAGAS, {**RAGAS, "retrieved_contexts": None, "response": None}]
    data = [{"id": str(number), "expected_output": {"answer": "Paris"}} for number in (1, 2)]
    result = run(data, "EM", "ragas", outputs=written(tmp_path, rows))
    assert list(status_of(result, "em").values()) == ["scored", "missing"]


def test_one_of_several_repeats_may_be_null(tmp_path):
    rows = [{**row, "repeat": repeat} for row in NULL for repeat in (1, 2)]
    rows[1]["actual_output"] = None
    result = run(GOLD, outputs=written(tmp_path, rows))
    assert status_of(result, "RR")["b"] == "missing"


@pytest.mark.parametrize(
    "outputs", [[{"id": "a", "actual_output": None}], [{"id": "a"}, {"id": "b", "actual_output": []}]]
)
def test_outputs_that_are_all_null_or_not_there_are_an_error(outputs, tmp_path):
    with pytest.raises(DataError, match="sample 'a': the field 'actual_output' is missing"):
        run(GOLD, outputs=written(tmp_path, outputs))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("form", ["list", "jsonl", "json", "outputs", "outputs.json"])
def test_a_score_that_is_no_number_fails_its_sample(number, form, tmp_path):
    """Python writes NaN and Infinity, which JSON does not have."""
    other = {**FOUND, "id": "b", "actual_output": [{"id": "d1", "score": number}]}
    if form.startswith("outputs"):
        rows = [{"id": row["id"], "actual_output": row["actual_output"]} for row in (FOUND, other)]
        is_json = form.endswith("json")
        result = run(GOLD, outputs=written(tmp_path, [rows] if is_json else rows, "o.json" if is_json else "o.jsonl"))
    else:
        rows = [FOUND, other]
        result = run(rows if form == "list" else written(tmp_path, rows if form == "jsonl" else [rows], f"d.{form}"))
    assert status_of(result, "RR") == {"a": "scored", "b": "failed"}
    assert f"must be a finite number, not the number {number}" in result.errors[0].reason


@pytest.mark.parametrize("line", ['{"id": NaN', '{"id": "NaN}', "NaN", '{"id": "a", "expected_output": {"d1": NaN}}'])
def test_other_lines_with_such_words_are_still_refused(line, tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text(f"{json.dumps(FOUND)}\n{line}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"data\.jsonl:2"):
        run(path)


def test_the_reader_says_what_its_lines_have(tmp_path):
    """Worker processes read parts of a file, of which one may have ground truth and another none."""
    engine = Engine().dataset(written(tmp_path, [{"id": "b", "expected_output": None}]))
    reader = DatasetReader(engine.data, catalog=engine.catalog(), contract=DEFAULT_CONTRACT)
    with pytest.raises(DataError):
        list(reader.batches())
    assert not reader.is_labelled
    assert [problem.sample for problem in reader.unlabelled] == ["b"]
    of_part = DatasetReader(engine.data, catalog=engine.catalog(), contract=DEFAULT_CONTRACT, is_part=True)
    assert [sample.id for batch in of_part.batches() for sample in batch] == ["b"]
