"""Samples out of several rows, and of questions whose references are places in a corpus."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.errors import DataError
from rankgauge.plugin import hookimpl, preset

RECORDS = Path(__file__).parent / "records"


@preset(
    "labels",
    fields={
        "id": "rows[0].question",
        "expected_output.relevant": "rows[].gold",
        "actual_output.retrieved.id": "rows[].found",
    },
    marks=[("question", "gold"), ("question", "found")],
    group_by=("no such", "question"),
)
def labels():
    """A row for each document of a question."""


@hookimpl
def rankgauge_presets():
    return [labels]


CATALOG = Catalog.discover(plugins={"acme": SimpleNamespace(rankgauge_presets=rankgauge_presets)})
ROWS = [
    {"question": "b", "gold": "d1", "found": "d1"},
    {"question": "a", "gold": "d5", "found": "d7"},
    {"question": "b", "gold": "d2", "found": "d9"},
    {"question": "a", "gold": "d6", "found": "d8"},
]


def write_csv(path: Path, rows: list[dict[str, object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


class TestGroupBy:
    @pytest.mark.parametrize("kind", ["memory", "jsonl", "json", "csv"])
    @pytest.mark.parametrize("workers", [1, 2])
    def test_rows_with_the_same_value_are_one_sample_wherever_they_are(self, kind, workers, tmp_path):
        rows = [dict(row, question=f"{row['question']}{part}") for row in ROWS[:2] for part in range(50)]
        rows += [dict(row, question=f"{row['question']}{part}") for row in ROWS[2:] for part in range(50)]
        path = tmp_path / f"rows.{kind}"
        if kind == "csv":
            write_csv(path, rows)
        elif kind != "memory":
            path.write_text(json.dumps(rows) if kind == "json" else "".join(json.dumps(row) + "\n" for row in rows))
        data = rows if kind == "memory" else path
        engine = Engine(catalog=CATALOG).dataset(data, preset="labels")
        result = engine.with_metrics("recall@2").run(workers=workers)
        assert list(result.sample_ids)[:2] == ["b0", "b1"]
        assert (len(result.sample_ids), result["recall@2"].mean) == (100, 0.25)  # b: one of two, a: none

    def test_outputs_are_grouped_as_well(self, tmp_path):
        gold = [{"id": name, "expected_output": ["d1", "d5"]} for name in "ab"]
        found = [{"question": row["question"], "found": row["found"]} for row in ROWS]
        (tmp_path / "found.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))
        engine = Engine(catalog=CATALOG).dataset(gold, preset="labels").with_outputs(tmp_path / "found.jsonl")
        assert engine.with_metrics("recall@2").run()["recall@2"].mean == 0.25

    def test_a_limit_counts_samples(self):
        result = Engine(catalog=CATALOG).dataset(ROWS, preset="labels").with_metrics("recall@2").run(limit=1)
        assert list(result.sample_ids) == ["b"]

    def test_a_row_without_the_value_is_not_joined_with_others(self):
        engine = Engine(catalog=CATALOG).dataset([*ROWS, {"gold": "d1"}, {"gold": "d2"}], preset="labels")
        assert list(engine.with_metrics("recall@2").run().sample_ids) == ["b", "a", "4", "5"]


def answers(refine=None):
    """Return a preset for a row for each document of a question, with the answer on each."""

    def declared():
        """A row for each document of a question."""

    fields = {
        "id": "question",
        "expected_output.relevant": "rows[].gold",
        "expected_output.answer": "answer",
        "actual_output.answer": "said",
        "metadata.k": "k",
    }
    declare = preset("answers", fields=fields, marks=[("question", "answer")], group_by="question", refine=refine)
    return declare(declared)


class TestRowsThatDisagree:
    """Of what is not read by `rows[]` the first row counts, so another value there would be lost without a word."""

    def run(self, rows, path=None, refine=None):
        def rankgauge_presets():
            return [answers(refine)]

        if path is not None:
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        plugins = {"acme": SimpleNamespace(rankgauge_presets=hookimpl(rankgauge_presets))}
        engine = Engine(catalog=Catalog.discover(own_only=True, plugins=plugins))
        return engine.dataset(rows if path is None else path, preset="answers").with_metrics("answer-f1").run()

    def rows(self, **changed):
        row = {"question": "who?", "gold": "d1", "answer": "Ada", "said": "Ada", "k": 3, "metadata": {"source": "a"}}
        return [row, {**row, "gold": "d2"}, {**row, "gold": "d3", **changed}]

    @pytest.mark.parametrize("in_a_file", [False, True])
    @pytest.mark.parametrize(
        ("changed", "path", "words"),
        [
            ({"answer": "Bob"}, "expected_output.answer", "is 'Bob' here and 'Ada' in the first of them"),
            ({"answer": None}, "expected_output.answer", "is None here and 'Ada'"),
            ({"said": "Bob"}, "actual_output.answer", "is 'Bob' here and 'Ada'"),
            ({"k": 5}, "metadata.k", "is 5 here and 3"),
        ],
    )
    def test_are_refused_where_only_one_is_read(self, changed, path, words, in_a_file, tmp_path):
        with pytest.raises(DataError) as raised:
            self.run(self.rows(**changed), tmp_path / "rows.jsonl" if in_a_file else None)
        (problem,) = raised.value.problems
        assert problem.message.startswith(f"rows of 'who?' disagree: {path} {words}")
        assert (problem.line, problem.path) == ((3, "") if in_a_file else (None, "samples[2]"))
        assert ("(line 1)" if in_a_file else "(samples[0])") in problem.message

    def test_are_one_sample_where_all_are_read_or_nothing_is_scored(self):
        result = self.run(self.rows(metadata={"source": "b"}, other="c"))
        assert list(result.sample_ids) == ["who?"]
        assert result["answer-f1"].mean == 1.0

    def test_are_left_to_a_function_that_refines_samples(self):
        def joined(record, sample):
            every = [row["answer"] for row in record["rows"]]
            return {**sample, "expected_output": {**sample["expected_output"], "answer": every}}

        result = self.run(self.rows(answer="Bob"), refine=joined)
        assert result["answer-f1"].mean == 1.0


class TestChunkingEvaluation:
    def run(self, data, outputs):
        engine = Engine().dataset(data, preset="chunking-evaluation").with_outputs(outputs)
        return engine.with_metrics(["span-recall@1", "span-precision@1"]).run()

    def test_references_are_spans_of_their_corpus(self):
        item = {"document": "bridges", "start": 50, "end": 110}
        result = self.run(RECORDS / "chunking-evaluation.csv", {"1": [item]})
        assert result["span-recall@1"].mean == 30 / 47  # 20 of 30 and 10 of 17 characters
        assert result["span-precision@1"].mean == 30 / 60

    def test_the_same_place_of_another_corpus_is_not_found(self):
        item = {"document": "ferries", "start": 50, "end": 110}
        assert self.run(RECORDS / "chunking-evaluation.csv", {"1": [item]})["span-recall@1"].mean == 0.0

    @pytest.mark.parametrize("references", ["nothing", '["text"]', '[{"content": "x", "start_index": 4}]'])
    def test_references_without_places_are_refused(self, references, tmp_path):
        write_csv(tmp_path / "q.csv", [{"question": "?", "references": references, "corpus_id": "bridges"}])
        with pytest.raises(DataError, match="spans"):
            self.run(tmp_path / "q.csv", {"1": ["d1"]})
