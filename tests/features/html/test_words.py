"""What a report says in words: only what the numbers decide."""

from __future__ import annotations

import pytest

import rankgauge
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.features.html.html_report import gather
from rankgauge.features.html.words import (
    Linked,
    cohorts_heading,
    depth_heading,
    headline,
    metrics_heading,
    questions,
)

CATALOG = Catalog.discover(own_only=True)
N = 40
QRELS = {f"q{n:02}": {"a": 1, "b": 1} for n in range(N)}


def run(rank_of_a, rank_of_b=9):
    """Return rankings of nine documents with a and b at the ranks given, for each query by its number."""
    found = {}
    for number, query in enumerate(QRELS):
        places = {rank_of_a(number): "a", rank_of_b: "b"}
        found[query] = {places.get(rank, f"x{rank}"): 10.0 - rank for rank in range(1, 10)}
    return found


def report(old, new, metrics=("RR", "P@3")):
    return gather(rankgauge.evaluate(QRELS, runs={"old": old, "new": new}, metrics=list(metrics), catalog=CATALOG))


def answers(data):
    return {question: "".join(piece.text for piece in pieces) for question, pieces in questions(data)}


def test_why_counts_losses_by_what_left_the_cutoff_and_what_only_stands_lower():
    # P@3 is the same for 30 queries; on 4 a falls from rank 1 to 8, on 6 from 1 to 3, which RR sees.
    old, new = run(lambda n: 1), run(lambda n: 8 if n < 4 else 3 if n < 10 else 1)

    assert answers(report(old, new, ["P@3", "RR"]))["Why?"] == "Of 4 losses, on 4 a relevant result leaves the top 3."
    assert (
        answers(report(old, new, ["RR"]))["Why?"]
        == "Of 10 losses, on 10 the same relevant results are found, but lower down or worth less."
    )
    assert answers(report(old, new, ["ndcg@3"]))["Why?"] == (
        "Of 10 losses, on 4 a relevant result leaves the top 3; on the other 6 the same relevant results are found, "
        "but lower down or worth less."
    )
    assert "Why?" not in answers(report(new, old))
    assert answers(report(new, old))["Where does it win?"].startswith("On 10 of 40 samples, most q00 +")


def reasons(data):
    return {
        (pair.run, name): {question: pieces[0].text for question, pieces in questions(data, pair, name)}.get("Why?")
        for pair in data.pairs
        for name in pair.metrics
    }


def test_why_is_answered_for_every_run_and_metric_that_looks_for_what_is_relevant():
    runs = {"old": run(lambda n: 1), "new": run(lambda n: 8 if n < 4 else 3 if n < 10 else 1), "far": run(lambda n: 7)}
    metrics = ["P@3", "RR", "first_rank"]
    below = "the same relevant results are found, but lower down or worth less."

    assert reasons(gather(rankgauge.evaluate(QRELS, runs=runs, metrics=metrics, catalog=CATALOG))) == {
        ("new", "p@3"): "Of 4 losses, on 4 a relevant result leaves the top 3.",
        ("new", "rr"): f"Of 10 losses, on 10 {below}",
        ("new", "first_rank"): f"Of 10 losses, on 10 {below}",
        ("far", "p@3"): "Of 40 losses, on 40 a relevant result leaves the top 3.",
        ("far", "rr"): f"Of 40 losses, on 40 {below}",
        ("far", "first_rank"): f"Of 40 losses, on 40 {below}",
    }


def test_why_is_not_asked_of_generated_answers():
    def result(answer, retrieved):
        expected = {"relevant": ["a"], "answer": "the fox"}
        output = {"answer": answer, "retrieved": retrieved}
        samples = [{"id": f"s{n}", "expected_output": expected, "actual_output": output} for n in range(4)]
        return Engine(catalog=CATALOG).dataset(samples).with_metrics(["token_f1", "recall@1"]).run()

    data = gather({"old": result("the fox", ["a"]), "new": result("a dog", ["b", "a"])}, catalog=CATALOG)

    assert {pair.metrics["token_f1"].losses for pair in data.pairs} == {4}
    assert reasons(data) == {
        ("new", "token_f1"): None,
        ("new", "recall@1"): "Of 4 losses, on 4 a relevant result leaves the top 1.",
    }


def test_the_worst_samples_are_named_and_linked():
    data = report(run(lambda n: 1), run(lambda n: 5 if n == 7 else 2 if n == 8 else 1))
    pieces = dict(questions(data))["Where does it lose?"]

    assert pieces[:3] == [
        Linked("On 2 of 40 samples, worst "),
        Linked("q07", "#sample=q07&metric=rr"),
        Linked(" \N{MINUS SIGN}0.800, "),
    ]


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (lambda n: 4 + n % 2, lambda n: 1 + n % 2, "new is better on both metrics"),
        (lambda n: 1 + n % 2, lambda n: 4 + n % 2, "new is worse on both metrics"),
        (lambda n: 1 + n % 2, lambda n: 2 - n % 2, "No metric shows a difference between new and old"),
        (lambda n: 2 + n % 2, lambda n: 1 + n % 2, "Of 2 metrics, new is better on 1"),
    ],
)
def test_the_heading_of_metrics_counts_verdicts(old, new, told):
    assert metrics_heading(report(run(old), run(new))) == told


def test_the_heading_by_depth_is_no_verdict_since_nothing_is_tested():
    near, far = run(lambda n: 1, 2), run(lambda n: 8, 9)

    assert depth_heading(report(far, near)) == "Recall, precision and unjudged by depth"


def test_how_many_more_samples_are_needed_follows_from_what_so_many_detect():
    few = {query: QRELS[query] for query in list(QRELS)[:20]}
    runs = {"old": run(lambda n: 1 + n % 3), "new": run(lambda n: 1 + n % 2)}
    data = gather(rankgauge.evaluate(few, runs=runs, metrics=["RR"], catalog=CATALOG))
    metric = data.pair.metrics["rr"]
    told = answers(data)["How many more samples?"]

    # What is detected falls with the root of the number of pairs: a third of it takes nine times as many.
    needed = 20 * (metric.detectable / metric.difference) ** 2
    written = int(told.rpartition("about ")[2].rstrip(".").replace(",", ""))
    assert told.startswith(f"20 pairs detect a true difference of {metric.detectable:.3f} four times out of five")
    assert needed <= written < 1.1 * needed + 1


def test_of_few_samples_that_differ_nothing_more_is_said():
    few = {query: QRELS[query] for query in list(QRELS)[:10]}
    runs = {"old": run(lambda n: 1 + n % 3), "new": run(lambda n: 1 + n % 2)}
    data = gather(rankgauge.evaluate(few, runs=runs, metrics=["RR"], catalog=CATALOG))
    assert answers(data)["How many more samples?"] == "Too few to say: 6 of 10 samples differ, and 10 are needed."
    assert "Only 6 samples of 10 differ" in headline(data)["more"]


def test_what_is_detected_does_not_contradict_a_verdict():
    data = report(run(lambda n: 2 + n % 2), run(lambda n: 1 + n % 2))
    told = answers(data)

    assert "better" in headline(data)["plain"]
    assert "would take" not in told["How many more samples?"]
    assert "can be seen" not in " ".join(told.values())


def test_answers_are_of_the_metric_and_run_that_are_asked_for():
    runs = {"old": run(lambda n: 1), "new": run(lambda n: 1), "other": run(lambda n: 5 if n == 7 else 1)}
    data = gather(rankgauge.evaluate(QRELS, runs=runs, metrics=["RR", "P@3"], catalog=CATALOG))
    asked = dict(questions(data, data.pairs[1], "p@3"))["Where does it lose?"]

    assert "Where does it lose?" not in answers(data)
    assert "new" not in dict(questions(data, data.pairs[1], "p@3"))["What is not known?"][0].text
    assert asked[1] == Linked("q07", "#sample=q07&metric=p%403&run=other")


def test_where_the_winner_loses_is_said_too():
    told = answers(report(run(lambda n: 4), run(lambda n: 9 if n == 7 else 1)))

    assert told["Where does it lose?"].startswith("On 1 of 40 samples, worst q07")
    assert told["Where does it win?"].startswith("On 39 of 40 samples, most q00")


def test_without_cohorts_none_is_clearly_worse():
    assert cohorts_heading(report(run(lambda n: 1), run(lambda n: 2))) == "No cohort is worse (unadjusted intervals)"


def test_what_nobody_judged_is_a_share_of_each_run():
    # Of nine results a and b are judged: 7 of 9 are not.
    told = answers(report(run(lambda n: 1), run(lambda n: 2)))["What is not known?"]
    assert told == "Unjudged in the top 10: old 78 %, new 78 %. Unjudged results count as not relevant."
