"""Datasets of Hugging Face, Arrow tables and named tuples: the same numbers as the same rows given plainly."""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl
import pytest

from rankgauge import Engine, compare, evaluate
from rankgauge.errors import DataError

QRELS = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
RUN = {"q1": {"b": 3.0, "a": 2.5}, "q2": {"x": 2.0, "c": 1.0}}


class Qrel(NamedTuple):
    """As ir_measures has it."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class ScoredDoc(NamedTuple):
    """As ir_measures has it."""

    query_id: str
    doc_id: str
    score: float


class HostTable:
    """What is used of a `datasets.Dataset` and of a `pyarrow.Table`: rows, with nulls for what is absent."""

    def __init__(self, rows: list[dict[str, Any]], method: str) -> None:
        self.column_names = list(rows[0])
        setattr(self, method, lambda: rows)

    def __iter__(self) -> Any:
        raise AssertionError("a table is not read row by row")


def qrel_rows() -> list[Qrel]:
    return [Qrel(query, document, grade) for query, grades in QRELS.items() for document, grade in grades.items()]


def run_rows() -> list[ScoredDoc]:
    return [ScoredDoc(query, document, score) for query, scores in RUN.items() for document, score in scores.items()]


@pytest.mark.parametrize("form", [list, tuple, iter])
def test_named_tuples_are_judgments_and_runs(form: Any) -> None:
    expected = evaluate(QRELS, RUN, ["ndcg@10", "AP"])
    found = evaluate(form(qrel_rows()), form(run_rows()), ["ndcg@10", "AP"])
    assert [found[name].mean for name in ("ndcg@10", "AP")] == [expected[name].mean for name in ("ndcg@10", "AP")]


def test_scores_of_named_tuples_may_be_whole_and_not() -> None:
    rows = [ScoredDoc("q1", "a", 3), ScoredDoc("q1", "b", 3.5)]
    assert evaluate(qrel_rows()[:2], rows, "RR").metrics["rr"].mean == 0.5


def test_tuples_of_different_fields_are_refused() -> None:
    with pytest.raises(DataError, match="different fields"):
        evaluate([*qrel_rows(), *run_rows()], RUN, "AP")
    with pytest.raises(DataError, match="found a list; a list of named tuples"):
        evaluate([("q1", "a", 1)], RUN, "AP")


def test_a_dataset_that_becomes_a_polars_frame_is_a_table() -> None:
    class Dataset:
        def __init__(self, rows: list[Any]) -> None:
            self.to_polars = lambda: pl.DataFrame([row._asdict() for row in rows])

    expected = evaluate(QRELS, RUN, "AP")["AP"].mean
    assert evaluate(Dataset(qrel_rows()), Dataset(run_rows()), "AP")["AP"].mean == expected


@pytest.mark.parametrize("method", ["to_pylist", "to_list"])
def test_rows_of_a_table_are_samples_without_their_nulls(method: str) -> None:
    rows = [
        {"id": "q1", "expected_output": {"a": 2, "b": None}, "actual_output": ["b", "a"], "metadata": None},
        {"id": "q2", "expected_output": {"a": None, "b": 1}, "actual_output": ["b", "a"], "metadata": {"k": 1}},
    ]
    result = Engine().dataset(HostTable(rows, method)).with_metrics(["RR"]).run()
    assert result["RR"].values.tolist() == [0.5, 1.0]


def test_notebooks_show_comparisons_explanations_and_preflights_without_markup_of_names() -> None:
    from rankgauge import preflight

    data = [
        {"id": "<b>q", "expected_output": ["a"], "actual_output": ["x", "a"]},
        {"id": "r", "expected_output": ["a"], "actual_output": ["a"]},
    ]
    old = Engine().dataset(data).with_metrics(["RR"]).run()
    new = Engine().dataset(data).with_metrics(["RR"]).run(outputs={"<b>q": ["a"], "r": ["a"]})
    page = compare({"old": old, "<i>new": new})._repr_html_()
    assert page.startswith("<table><caption>comparison with old</caption>")
    assert "<td>&lt;i&gt;new</td><td>old</td>" in page
    assert "<td>+0.2500</td>" in page
    explained = old.explain("<b>q", "RR")
    assert explained._repr_html_() == f"<pre>{str(explained).replace('<', '&lt;').replace('>', '&gt;')}</pre>".replace(
        "'", "&#x27;"
    ).replace('"', "&quot;")
    (checked,) = preflight(QRELS, runs={"bm25": RUN}).values()
    assert checked._repr_html_().startswith("<pre>")


@pytest.mark.parametrize("form", ["frame", "dataset", "parquet"])
def test_passages_that_queries_nest_are_judgments(form: str, tmp_path: Any) -> None:
    """As Tevatron has them on Hugging Face; nothing relevant is an empty list there."""
    rows = [
        {
            "query_id": "q1",
            "query": "x",
            "positive_passages": [{"docid": "a", "text": "t"}],
            "negative_passages": [{"docid": "b", "text": "t"}],
        },
        {"query_id": "q2", "query": "y", "positive_passages": [{"docid": "c", "text": "t"}], "negative_passages": []},
    ]
    frame = pl.DataFrame(rows)
    source: Any = frame
    if form == "dataset":
        source = HostTable(rows, "to_list")
        source.to_polars = lambda: frame
    elif form == "parquet":
        source = tmp_path / "dev.parquet"
        frame.write_parquet(source)
    found = evaluate(source, RUN, ["RR", "num_rel"])
    assert found["RR"].mean == 1 / 2
    assert found["num_rel"].mean == 2
    sampled = (
        Engine().dataset(rows, preset="tevatron").with_metrics("RR").run(outputs={"q1": ["b", "a"], "q2": ["x", "c"]})
    )
    assert sampled["RR"].mean == 1 / 2
