"""PyTerrier's experiments, which need no Java for results that exist."""

import pandas as pd
import pyterrier
import pytest
from ir_measures import parse_measure

from rankgauge_hosts.ir_measures import RankgaugeProvider


def test_an_experiment_is_computed_by_rankgauge(monkeypatch):
    asked = []
    original = RankgaugeProvider._evaluator
    monkeypatch.setattr(RankgaugeProvider, "_evaluator", lambda *given: asked.append(given) or original(*given))
    topics = pd.DataFrame([["1", "?"], ["2", "!"]], columns=["qid", "query"])
    qrels = pd.DataFrame([["1", "a", 1], ["2", "b", 1]], columns=["qid", "docno", "label"])
    rows = [["1", "?", "a", 1.0, 0], ["1", "?", "x", 0.5, 1], ["2", "!", "x", 1.0, 0], ["2", "!", "b", 0.5, 1]]
    system = pyterrier.Transformer.from_df(pd.DataFrame(rows, columns=["qid", "query", "docno", "score", "rank"]))
    table = pyterrier.Experiment([system], topics, qrels, [parse_measure("RR@10"), parse_measure("first_rank"), "map"])
    assert asked
    assert table.iloc[0][["RR@10", "first_rank", "map"]].tolist() == pytest.approx([0.75, 1.5, 0.75])
