"""
Data by their names in ir_datasets, here with a stand-in for the package; `plugins/rankgauge-hosts` tests the real one.
"""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from rankgauge import evaluate
from rankgauge.catalog import Catalog
from rankgauge.errors import DataError
from rankgauge.io.corpus import read_corpus
from rankgauge.io.file_records import read_texts

RUN = {"1": {"d1": 1.0, "d2": 2.0}}


class TrecQrel(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class Made:
    """A dataset with some of its parts."""

    def __init__(self, *parts, fails=None):
        self.parts, self.fails = parts, fails

    def has_qrels(self):
        return "qrels" in self.parts

    def has_queries(self):
        return "queries" in self.parts

    def has_docs(self):
        return "docs" in self.parts

    def qrels_iter(self):
        if self.fails is not None:
            raise self.fails
        yield TrecQrel("1", "d1", 2, "0")
        yield TrecQrel("1", "d2", 0, "0")

    def queries_iter(self):
        for name, text in (("1", "first"), ("2", " "), ("3", "third")):
            yield SimpleNamespace(query_id=name, default_text=lambda text=text: text)

    def docs_iter(self):
        for name in ("1", "d2"):
            yield SimpleNamespace(doc_id=name, default_text=lambda name=name: f"text of {name}")

    def docs_store(self):
        return SimpleNamespace(
            get_many=lambda ids: {each.doc_id: each for each in self.docs_iter() if each.doc_id in ids}
        )


@pytest.fixture
def made(monkeypatch):
    known = {
        "made": Made("queries", "docs"),
        "made/test": Made("qrels"),
        "made/offline": Made("qrels", fails=OSError("no such host\nand more")),
        "made/broken": Made("qrels", fails=KeyError("relevance")),
    }
    package = SimpleNamespace(load=known.__getitem__, registry=known)
    monkeypatch.setitem(sys.modules, "ir_datasets", package)
    return package


@pytest.mark.usefixtures("made")
class TestNames:
    def test_judgments_are_those_of_the_name(self):
        found = evaluate("ir_datasets:made/test", RUN, ["ndcg@2", "P@1"])
        assert found["p@1"].mean == 0.0
        assert found.manifest["files"]["qrels"] == "ir_datasets:made/test"

    def test_texts_are_of_queries_or_of_documents(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        name, catalog = Path("ir_datasets:made"), Catalog.discover(own_only=True)
        assert read_texts(name, {"1", "2", "9"}, of="query", catalog=catalog) == {"1": "first"}
        assert read_texts(name, {"1", "9"}, of="document", catalog=catalog) == {"1": "text of 1"}
        assert read_corpus(name, catalog=catalog).ids == ("1", "d2")

    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("made", "it has no judgments; these parts of it have: ir_datasets:made/test"),
            ("mad/test", r"has no 'mad/test' \(did you mean 'made/test'\?\)"),
            ("made/offline", r"could not read it \(OSError: no such host\); it downloads what is not in its folder"),
            ("made/broken", r"could not read it: KeyError\('relevance'\)"),
        ],
    )
    def test_what_cannot_be_read_is_told(self, name, why):
        with pytest.raises(DataError, match=why):
            evaluate(f"ir_datasets:{name}", RUN, "P@1")

    @pytest.mark.parametrize(("of", "what"), [("query", "queries"), ("document", "documents")])
    def test_a_part_without_texts_is_told(self, of, what):
        with pytest.raises(DataError, match=f"ir_datasets:made/test: it has no {what}"):
            read_texts(Path("ir_datasets:made/test"), {"1"}, of=of, catalog=Catalog.discover(own_only=True))

    def test_a_corpus_without_documents_is_told(self):
        with pytest.raises(DataError, match="ir_datasets:made/test: it has no documents"):
            read_corpus(Path("ir_datasets:made/test"), catalog=Catalog.discover(own_only=True))

    def test_a_file_of_that_name_is_a_file(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "ir_datasets:made").write_text("1 0 d2 1\n")
        assert evaluate("ir_datasets:made", RUN, "P@1")["p@1"].mean == 1.0


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(DataError, match=r"needs the package ir_datasets: pip install 'rankgauge\[ir_datasets\]'"):
        evaluate("ir_datasets:made", RUN, "P@1")
