"""Names of the real catalog of ir_datasets, which comes with ir_measures: judgments, queries and documents."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import ir_datasets
import pytest

from rankgauge import evaluate
from rankgauge.catalog import Catalog
from rankgauge.errors import DataError
from rankgauge.io.corpus import read_corpus
from rankgauge.io.file_records import read_texts


@pytest.fixture
def made(tmp_path: Path) -> str:
    """Return the name of a dataset with judgments, whose parent has none."""
    (tmp_path / "docs.tsv").write_text("d1\tthe text of one\nd2\ttwo\nd3\tthree\n")
    (tmp_path / "queries.tsv").write_text("1\tfirst question\nd1\tsecond\n")
    (tmp_path / "qrels").write_text("1 0 d1 2\n1 0 d2 0\nd1 0 d3 1\n")
    files = {"docs_tsv": str(tmp_path / "docs.tsv"), "queries_tsv": str(tmp_path / "queries.tsv")}
    name = f"made-{uuid4()}"
    ir_datasets.registry.register(name, ir_datasets.create_dataset(**files))
    whole = ir_datasets.create_dataset(**files, qrels_trec=str(tmp_path / "qrels"))
    ir_datasets.registry.register(f"{name}/test", whole)
    return name


def test_judgments_are_those_of_the_name(made: str) -> None:
    """The first query has its document at rank 2 with gain 2, ideal at rank 1; the second one at rank 1."""
    run = {"1": {"d2": 2.0, "d1": 1.0}, "d1": {"d3": 1.0}}
    found = evaluate(f"ir_datasets:{made}/test", run, ["RR", "P@1"])
    assert (found["rr"].mean, found["p@1"].mean) == (0.75, 0.5)


def test_texts_are_of_queries_or_documents(made: str) -> None:
    catalog, name = Catalog.discover(own_only=True), Path(f"ir_datasets:{made}")
    assert read_texts(name, {"d1"}, of="query", catalog=catalog) == {"d1": "second"}
    assert read_texts(name, {"d1"}, of="document", catalog=catalog) == {"d1": "the text of one"}
    assert read_corpus(name, catalog=catalog).texts == ("the text of one", "two", "three")


def test_the_parts_that_have_judgments_are_named(made: str) -> None:
    with pytest.raises(DataError, match=f"it has no judgments; these parts of it have: ir_datasets:{made}/test"):
        evaluate(f"ir_datasets:{made}", {"1": {"d1": 1.0}}, "P@1")


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(DataError, match=r"has no 'beir/scifact/tset' \(did you mean 'beir/scifact/test'"):
        evaluate("ir_datasets:beir/scifact/tset", {"1": {"d1": 1.0}}, "P@1")
