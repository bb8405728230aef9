"""What notebooks and terminals show of values: short, escaped, complete enough to go on."""

from __future__ import annotations

import math
import re
import sys
from html.parser import HTMLParser

import pytest

from rankgauge import Engine
from rankgauge.errors import MissingExtraError

ROWS = [
    {"id": "q1", "expected_output": ["a"], "actual_output": ["a"]},
    {"id": "q2", "expected_output": ["a"], "actual_output": ["x", "a"]},
    {"id": "q3", "expected_output": [], "actual_output": ["x"]},
    {"id": "q4", "expected_output": ["a"]},
]


@pytest.fixture(scope="module")
def evaluation():
    return Engine().register("mine", ROWS).dataset("mine").with_metrics(["MRR", {"metric": "hit@1", "as": "first"}])


class Cells(HTMLParser):
    """The rows of a table as texts, and every tag that there is."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.tags = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        assert attrs == []
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])

    def handle_data(self, data):
        if self.rows and self.lasttag in {"td", "th"}:
            self.rows[-1].append(data)


def test_a_notebook_shows_a_table(evaluation):
    found = Cells(evaluation.run()._repr_html_())
    assert found.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td", "p", "code"}
    # Reciprocal ranks 1, 1/2, none and 0 (missing).
    header, *rows = found.rows
    shown = [dict(zip(header, row, strict=True)) for row in rows]
    assert [(row["metric"], row["mean"], row["n"]) for row in shown] == [
        ("mrr", "0.5000", "3"),
        ("first", "0.3333", "3"),
    ]


def test_hostile_names_are_escaped():
    name = '<script>alert("x")</script>\u202e\x1b[31m'
    engine = Engine().register(name, ROWS[:1])
    text = engine.dataset(name).with_metrics([{"metric": "MRR", "as": name}]).run()._repr_html_()
    assert "script" not in Cells(text).tags
    assert not set("\u202e\x1b") & set(text)
    assert r"\x1b[31m" in text


def test_a_pandas_frame_needs_no_pyarrow(evaluation, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    frame = evaluation.run().to_pandas()
    assert list(frame["sample_id"]) == ["q1", "q2", "q3", "q4"]
    assert list(frame["mrr_status"]) == ["scored", "scored", "undefined", "missing"]
    values = frame["mrr"].tolist()
    assert (values[:2], math.isnan(values[2]), values[3], str(frame["mrr"].dtype)) == ([1.0, 0.5], True, 0.0, "float64")


def test_without_pandas_the_extra_is_named(evaluation, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'rankgauge[pandas]'")):
        evaluation.run().to_pandas()


def test_representations_fit_a_line(evaluation):
    engine = Engine().register("mine", ROWS)
    assert repr(engine) == "<Engine with no config: 1 dataset (mine)>"
    assert repr(evaluation) == "<Evaluation of mine (4 samples): MRR, first; profile default>"
    why = "INCOMPLETE, 1 missing (q4: there is no output for this sample)"
    assert repr(evaluation.run()) == f"<Result of 4 samples, {why}: mrr=0.5000, first=0.3333>"


def test_representations_fit_a_line_of_many_metrics_and_datasets():
    engine = Engine()
    for number in range(30):
        engine.register(f"d{number}", ROWS)
    evaluation = engine.dataset("d7").with_metrics([f"ndcg@{k}" for k in range(1, 31)])
    assert repr(engine) == "<Engine with no config: 30 datasets (d0, d1, d2, d3, d4, d5, d6, d7 and 22 more)>"
    assert repr(evaluation).endswith("ndcg@7, ndcg@8 and 22 more; profile default>")
    assert re.search(r"ndcg@8=0\.\d{4} and 22 more>$", repr(evaluation.run()))


def test_a_config_and_functions_are_named(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("version: 1\ndatasets: {d: {path: s.jsonl}}\nmetrics: {use: [ndcg@5, {metric: MRR, k: 3}]}\n")
    engine = Engine.from_config(path)
    assert repr(engine) == f"<Engine with {path}: 1 dataset (d)>"
    assert repr(engine.dataset("d")) == f"<Evaluation of d ({tmp_path / 's.jsonl'}): ndcg@5, MRR; profile default>"

    def depth(ranking):
        return float(len(ranking.ids))

    assert repr(engine.dataset([]).with_metrics(depth)) == "<Evaluation of 0 samples: depth; profile default>"
