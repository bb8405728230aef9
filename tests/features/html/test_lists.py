"""Ranked lists in a report: what the file holds of each sample is what was retrieved, judged and scored."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest

import rankgauge
from draws import in_thorough_suite
from packed_reports import payload
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.features.html import html_report as picturing
from rankgauge.features.html.html_report import gather
from rankgauge.features.html.page import lay_out
from tables import rows

CATALOG = Catalog.discover(own_only=True)


class Held:
    """One run of a report under one column, as the script of the page puts it together."""

    def __init__(self, found, run, column):
        self.facts = found["facts"][run][column]
        self.set = found["sets"][self.facts["set"]]
        self.run = self.set["runs"][run]
        self.values = found["values"][run][column]
        self.texts = found["texts"]

    def _slice(self, counts, sample):
        ends = list(accumulate(counts))
        return range(ends[sample] - counts[sample], ends[sample])

    def names(self, sample):
        own = self._slice(self.set["named"], sample)
        return [self.set["names"][at] for at in own]

    def items(self, sample):
        names = self.names(sample)
        return [names[self.run["item"][at]] for at in self._slice(self.run["count"], sample)]

    def gold(self, sample):
        rows = self._slice(self.set["gold"]["count"], sample)
        if "item" in self.set["gold"]:
            names = self.names(sample)
            told = [names[self.set["gold"]["item"][at]] for at in rows]
        else:
            told = [self.texts[self.set["gold"]["text"][at] - 1] for at in rows]
        return list(zip(told, [self.set["gold"]["grade"][at] for at in rows], strict=True))

    def found(self, sample):
        """Return rank, gold item and what is added, for each judged row."""
        gold = self.gold(sample)
        divisor = self.facts["divisor"][sample]
        return [
            (
                self.run["rank"][at],
                gold[self.run["gold"][at]][0],
                self.facts["gain"][at] * self.facts["discount"][at] / divisor if divisor else 0.0,
            )
            for at in self._slice(self.run["rows"], sample)
        ]


def drawn(queries=50):
    rng = np.random.default_rng(3)
    pool = [f"d{number}" for number in range(80)]
    qrels = {
        f"q{n}": {name: int(rng.integers(-1, 4)) for name in rng.choice(pool, 15, replace=False)}
        for n in range(queries)
    }
    runs = {}
    for run in ("one", "two"):
        runs[run] = {q: {name: float(rng.integers(0, 30)) for name in rng.permutation(pool)[:50]} for q in qrels}
    del runs["two"]["q3"]
    return qrels, runs


METRICS = [
    "ndcg@10",
    "AP",
    "RR",
    "P@5",
    "recall@20",
    "ndcg(gain=exponential)@5",
    "err@10",
    "rbp",
    "P(rel=2)@5",
    "dcg@30",
]


@in_thorough_suite()
def test_what_the_file_holds_of_each_rank_adds_up_to_every_score():
    qrels, runs = drawn()
    results = rankgauge.evaluate(qrels, runs=runs, metrics=METRICS, catalog=CATALOG)
    found = payload(lay_out(gather(results)))

    seen = 0
    for run, result in enumerate(results.values()):
        for column, summary in enumerate(result.metrics.values()):
            held = Held(found, run, column)
            for sample, score in enumerate(summary.values.tolist()):
                if not np.isnan(held.facts["divisor"][sample]):
                    total = sum(added for _, _, added in held.found(sample))
                    assert total == pytest.approx(score, abs=1e-6), (summary.name, sample)
                    seen += 1
    assert seen > 800  # of 1,000; a missing query has no sum, nor has a metric that declares none


def test_items_and_judgments_are_those_of_the_run():
    qrels, runs = drawn()
    results = rankgauge.evaluate(qrels, runs=runs, metrics=["ndcg@10"], catalog=CATALOG)
    found = payload(lay_out(gather(results)))

    for number, run in enumerate(runs.values()):
        held = Held(found, number, 0)
        for sample, query in enumerate(results["one"].sample_ids):
            ranked = sorted(run.get(query, {}).items(), key=lambda pair: (pair[1], pair[0]), reverse=True)
            rank = {name: place for place, (name, _) in enumerate(ranked, 1)}
            assert held.items(sample) == [name for name, _ in ranked[:20]]
            kept = {name for name, grade in qrels[query].items() if grade > 0}
            assert kept <= {name for name, _ in held.gold(sample)}
            assert {name: at for at, name, _ in held.found(sample)} == {
                name: at for name, at in rank.items() if name in kept or (at <= 20 and name in qrels[query])
            }
            assert all(grade == qrels[query][name] for name, grade in held.gold(sample))


def test_runs_with_other_samples_in_another_order_stand_beside_each_other():
    def rows(ids):
        return [{"id": i, "expected_output": [f"a{i}", f"b{i}"], "actual_output": [f"x{i}", f"b{i}"]} for i in ids]

    engine = Engine(catalog=CATALOG)
    one, two = (engine.dataset(rows(ids)).with_metrics(["RR"]).run() for ids in ("pqr", "trq"))
    found = payload(lay_out(gather({"one": one, "two": two})))

    assert found["ids"] == ["p", "q", "r", "t"]
    assert [run["listed"] for run in found["sets"][0]["runs"]] == [[1, 1, 1, 0], [0, 1, 1, 1]]
    for run, ids in enumerate(("pqr", "qrt")):
        held = Held(found, run, 0)
        for sample_id in ids:
            sample = found["ids"].index(sample_id)
            assert held.items(sample) == [f"x{sample_id}", f"b{sample_id}"]
            assert held.found(sample) == [(2, f"b{sample_id}", 0.5)]
            assert [name for name, _ in held.gold(sample)] == [f"a{sample_id}", f"b{sample_id}"]


def test_gold_texts_stand_beside_what_holds_them():
    sample = {
        "id": "q",
        "expected_output": {"passages": ["the first passage", "the second one"]},
        "actual_output": [{"id": "c1", "text": "nothing"}, {"text": "so THE second  one and the first passage"}],
    }
    metric = "recall(gold=passages,matcher=contains)@5"
    found = payload(lay_out(gather(Engine(catalog=CATALOG).dataset([sample]).with_metrics([metric]).run())))
    held = Held(found, 0, 0)

    assert held.items(0) == ["c1", ""]
    assert held.gold(0) == [("the first passage", 1.0), ("the second one", 1.0)]
    assert [(rank, name) for rank, name, _ in held.found(0)] == [(2, "the first passage"), (2, "the second one")]
    text = found["texts"][held.run["text"][1] - 1]
    assert text[held.run["from"][1] :][: held.run["length"][1]] == "the first passage"


def test_of_very_large_sets_the_lists_of_what_matters_are_kept(monkeypatch):
    monkeypatch.setattr(picturing, "_ALL", 5)
    monkeypatch.setattr(picturing, "_MOST", 3)
    monkeypatch.setattr(picturing, "_OF_EACH", 2)
    qrels = {f"q{n}": {"a": 1} for n in range(9)}
    run = {q: {"x": 2.0, "a": 3.0 if n in {0, 1, 2, 6, 7, 8} else 1.0} for n, q in enumerate(qrels)}
    data = gather(rankgauge.evaluate(qrels, run, ["RR"], catalog=CATALOG))
    found = payload(lay_out(data))

    assert found["sets"][0]["runs"][0]["listed"] == [1, 0, 0, 1, 1, 0, 0, 0, 0]  # the two worst, then the first
    assert (
        "ranked lists are included for 3 of 9 samples: those with the lowest scores and the largest changes"
        in data.notes
    )
    assert "the ranked lists of 3 that are worst or changed most" in lay_out(data)


def test_where_texts_do_not_fit_both_runs_have_those_of_the_samples_that_matter_most():
    def rows(found):
        return [
            {
                "id": f"s{n}",
                "expected_output": ["a"],
                "actual_output": [{"id": name, "text": f"{name} of s{n} {'x' * 80}"} for name in names],
            }
            for n, names in enumerate(found)
        ]

    engine = Engine(catalog=CATALOG)
    one = engine.dataset(rows(["ab", "ab", "ab"])).with_metrics(["RR"]).run()
    two = engine.dataset(rows(["ab", "ab", "cb"])).with_metrics(["RR"]).run()
    found = payload(lay_out(gather({"one": one, "two": two}), text_budget=300))

    # Only s2 changed; its lists have three different texts of 88 bytes, and a fourth text does not fit.
    assert [text[:7] for text in found["texts"]] == ["a of s2", "b of s2", "c of s2"]
    assert [run["text"] for run in found["sets"][0]["runs"]] == [[0, 0, 0, 0, 1, 2], [0, 0, 0, 0, 3, 2]]


def dropped(found, run=0, column=0):
    """Return what a run drops: the sample, the gold item, the rank that held it, and the step."""
    held = Held(found, run, column)
    return sorted(
        (found["ids"][sample], held.gold(sample)[gold][0], rank, step)
        for sample, gold, rank, step in held.run["dropped"]
    )


POLICY = {"depth": 2, "exclude_self": True, "excluded": {"q": ["x"]}}


def test_what_the_policy_dropped_is_said_of_missing_items_of_samples():
    samples = [
        # x is left out, then q is the query itself: a is at rank 1, b at 2, and c, the fifth of all, is too deep.
        {"id": "q", "expected_output": {"relevant": {"c": 2, "a": 1, "n": 1}}, "actual_output": list("xqabc")},
        {"id": "r", "expected_output": ["r", "b"], "actual_output": list("rab")},
        {"id": "s", "expected_output": ["s"]},
    ]
    evaluation = Engine(catalog=CATALOG).dataset(samples).with_metrics(["RR", "P@1"]).with_profile("default", **POLICY)
    found = payload(lay_out(gather(evaluation.run())))
    expected = [("q", "c", 5, "policy depth=2"), ("r", "r", 1, "policy exclude_self")]
    assert [dropped(found, column=column) for column in (0, 1)] == [expected, expected]
    plain = Engine(catalog=CATALOG).dataset(samples).with_metrics(["RR"]).run()
    assert dropped(payload(lay_out(gather(plain)))) == []


@rows(("rel", "expected"), {1: [("q", "c", 5), ("q", "z", 4)], 2: [("q", "c", 5)]}.items())
def test_what_the_policy_dropped_is_said_of_missing_documents_of_runs(rel, expected):
    qrels = {"q": {"a": 0, "z": 1, "n": 1, "c": 2, "x": 3}, "r": {"b": 1}}
    run = {"q": {"x": 9.0, "q": 8.0, "a": 7.0, "z": 6.0, "c": 5.0}, "r": {"b": 1.0}}
    policy = {**POLICY, "depth": 1}
    result = rankgauge.evaluate(qrels, run, [f"RR(rel={rel})"], policy=policy, catalog=CATALOG)
    found = payload(lay_out(gather(result)))
    assert dropped(found) == [(*each, "policy depth=1") for each in expected]


SAID = [
    {"id": "p", "metadata": {"answerable": False}, "expected_output": {}, "actual_output": ["a", "b"]},
    {"id": "q", "expected_output": ["a"], "actual_output": ["a"]},
]


def test_whether_anything_was_answered_is_shown_at_no_rank():
    """What was said though the collection has no answer is no match, and what was retrieved is nothing ideal."""
    result = Engine(catalog=CATALOG).dataset(SAID).with_metrics(["false_answers", "RR"]).run(details=True)
    assert [fact["explanation"]["ranks"] for fact in result["false_answers"].details] == [[], []]
    found = payload(lay_out(gather(result)))
    assert [(metric["name"], metric["ranks"]) for metric in found["metrics"]] == [
        ("false_answers", False),
        ("rr", True),
    ]
    assert [facts is None for facts in found["facts"][0]] == [True, False]
    assert len(found["sets"]) == 1
