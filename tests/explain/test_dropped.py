"""What explanations say of results that a policy drops: by which step, and at which rank they stood before."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rankgauge
from rankgauge import Catalog, Engine, Explanation
from rankgauge.plugin import Covers, GoldItem, gold_kind, hookimpl, ranking_filter


@ranking_filter("one-per-page")
def one_per_page(results, *, most: int = 1):
    """Keep the first results of each page."""
    pages = [(name or "").partition("#")[0] for name in results.ids]
    return [pages[:place].count(page) < most for place, page in enumerate(pages)]


@ranking_filter("without", needs="texts")
def without(results, *, word: str = "old"):
    """Drop texts with a word."""
    return [word not in text for text in results.texts]


def held(retrieved, gold):
    """Return which numbers of a stretch the results hold."""
    parts = [
        (row, column, max(item.metadata["from"], start) - start, min(item.metadata["to"], end) - start)
        for row, item in enumerate(retrieved)
        for column, (start, end) in enumerate(gold)
        if item.metadata["from"] < end and item.metadata["to"] > start
    ]
    columns = np.array(parts, dtype=np.int64).reshape(-1, 4).T
    return Covers(*columns, np.array([end - start for start, end in gold]), len(retrieved))


@gold_kind("stretches", judge=held, covers=True)
def stretches(raw):
    """Stretches of numbers."""
    return [GoldItem(tuple(each), f"{each[0]}-{each[1]}") for each in raw]


PLUGIN = SimpleNamespace(
    rankgauge_ranking_filters=hookimpl(specname="rankgauge_ranking_filters")(lambda: [one_per_page, without]),
    rankgauge_gold_kinds=hookimpl(specname="rankgauge_gold_kinds")(lambda: [stretches]),
)
CATALOG = Catalog.discover(own_only=True, plugins={"mine": PLUGIN})


def explained(expected: Any, output: Any, metric: Any = "recall@5", **policy: Any) -> Explanation:
    sample = {"id": "q", "expected_output": expected, "actual_output": output}
    evaluation = Engine(catalog=CATALOG).dataset([sample]).with_metrics([metric]).with_profile(**policy)
    return evaluation.run().explain("q")


STRETCHES = "recall(gold=stretches)@5"


def where(explanation: Explanation) -> dict[str, tuple[int | None, int | None, str]]:
    return {gold.id: (gold.rank, gold.retrieved_rank, gold.dropped_by) for gold in explanation.missing}


PAGES = ["a#1", "a#2", "b#1", "a#3", "q", "c#1", "c#2", "d#1"]


def test_each_step_says_what_it_dropped_and_where_that_stood():
    relevant = ["a#2", "a#3", "q", "c#2", "d#1", "zz", "c#1"]
    explanation = explained(
        relevant, PAGES, "recall@3", filters=["one-per-page(most=2)", "one-per-page"], exclude_self=True, depth=3
    )
    assert [rank.id for rank in explanation.ranks] == ["a#1", "b#1", "c#1"]
    assert where(explanation) == {
        "a#2": (None, 2, "policy filter one-per-page"),
        "a#3": (None, 4, "policy filter one-per-page(most=2)"),
        "q": (None, 5, "policy exclude_self"),
        "c#2": (None, 7, "policy filter one-per-page"),
        "d#1": (None, 8, "policy depth=3"),
        "zz": (None, None, ""),
    }
    assert explanation.notes == (
        "policy filter one-per-page(most=2) drops 1 of 8 results",
        "policy filter one-per-page drops 2 of 8 results",
    )
    lines = str(explanation).splitlines()
    at = lines.index("  a#3  grade 1, dropped at rank 4; the best ranking has it at 2")
    assert lines[at + 1] == "      dropped by policy filter one-per-page(most=2)"
    assert "  zz   grade 1, not retrieved; the best ranking has it at 6" in lines
    assert "  note  policy filter one-per-page drops 2 of 8 results" in lines
    assert Explanation.from_dict(explanation.to_dict()) == explanation


@pytest.mark.parametrize("metric", ["recall@3", "recall(stage=dense)@3"])
def test_details_say_it_too_of_an_output_and_of_a_stage(metric):
    relevant = ["a#2", "a#3", "q", "c#1", "zz"]
    stages = [{"name": "dense", "retrieved": PAGES}, {"name": "rerank", "retrieved": ["b#1"]}]
    output = PAGES if metric == "recall@3" else {"retrieved": ["b#1"], "stages": stages}
    sample = {"id": "q", "expected_output": relevant, "actual_output": output}
    options = {"filters": ["one-per-page(most=2)", "one-per-page"], "exclude_self": True}
    evaluation = Engine(catalog=CATALOG).dataset([sample]).with_metrics([metric]).with_profile(**options)
    (column,) = evaluation.run(details=True).metrics.values()
    missing = column.details[0]["explanation"]["missing"]
    assert column.reasons == {}
    assert {each["id"]: (each.get("retrieved_rank"), each.get("dropped_by")) for each in missing} == {
        "a#2": (2, "policy filter one-per-page"),
        "a#3": (4, "policy filter one-per-page(most=2)"),
        "q": (5, "policy exclude_self"),
        "zz": (None, None),
    }


def test_what_is_found_below_the_cutoff_stays_what_it_was():
    explanation = explained(["c#1"], PAGES, "recall@2", filters=["one-per-page"])
    assert where(explanation) == {"c#1": (4, None, "")}  # a#1, b#1, q, c#1
    assert where(explained(["a#2"], PAGES)) == {}


def test_a_text_is_looked_for_in_what_was_dropped():
    texts = ["the old price is five euros a day", "a new page", "the price is five euros for each day of use"]
    output = {"retrieved": [{"text": text} for text in texts]}
    wanted = {"passages": ["the old price is five euros a day", "nothing like this was found anywhere"]}
    explanation = explained(wanted, output, filters=["without"])
    assert where(explanation) == {
        "the old price is five euros a day": (None, 1, "policy filter without"),
        "nothing like this was found anywhere": (None, None, ""),
    }


def test_what_results_hold_together_lacks_the_first_that_was_dropped():
    """Results a and b hold 3 and 3 of ten numbers, c another 2: five are reached at b, which needs a."""
    parts = {"x#a": (0, 3), "y#a": (50, 60), "x#b": (3, 6), "z#c": (6, 8)}
    items = [{"id": name, "metadata": {"from": start, "to": end}} for name, (start, end) in parts.items()]
    explanation = explained(
        {"stretches": [(0, 10), (90, 95)]}, {"retrieved": items}, STRETCHES, filters=["one-per-page"]
    )
    assert where(explanation) == {"90-95": (None, None, "")}  # x#a and z#c hold five of ten
    fewer = {"retrieved": items[:3]}
    explanation = explained({"stretches": [(0, 10)]}, fewer, STRETCHES, filters=["one-per-page"])
    assert where(explanation) == {"0-10": (None, 3, "policy filter one-per-page")}


def test_stages_say_what_they_lost():
    stages = [{"name": "dense", "retrieved": PAGES}, {"name": "fused", "retrieved": PAGES[::-1]}]
    sample = {"id": "q", "expected_output": ["a#2", "c#1"], "actual_output": {"stages": stages}}
    evaluation = Engine(catalog=CATALOG).dataset([sample]).with_profile(filters=["one-per-page"])
    result = evaluation.with_metrics(["recall(stage=dense)@5", "recall@5"]).run()
    at = [where(result.explain("q", metric)) for metric in result.metrics]
    assert at == [
        {"a#2": (None, 2, "policy filter one-per-page")},
        {"c#1": (None, 3, "policy filter one-per-page"), "a#2": (None, 7, "policy filter one-per-page")},
    ]


def test_units_are_looked_for_by_their_own_names():
    explanation = explained(
        ["c", "d"], [*PAGES[:4], "d#1"], "recall(unit=document)@5", depth=2, filters=["one-per-page"]
    )
    assert where(explanation) == {"c": (None, None, ""), "d": (None, 3, "policy depth=2")}


def test_a_document_left_out_takes_its_texts_along():
    output = {"retrieved": [{"id": "a", "text": "one two three four five six seven"}, {"id": "b", "text": "eight"}]}
    wanted = {"passages": ["one two three four five six seven"]}
    explanation = explained(wanted, output, excluded={"q": ["a"]})
    assert where(explanation) == {"one two three four five six seven": (None, 1, "policy excluded")}
    assert explanation.notes == ("policy excluded drops 1 of 2 results",)


@pytest.mark.parametrize("is_file", [False, True])
def test_queries_of_runs_say_it_too(is_file, tmp_path):
    judged = {"q": {"a#2": 1, "b#1": 1}}
    run: Any = {"q": {name: 10.0 - place for place, name in enumerate(PAGES)}}
    if is_file:
        (tmp_path / "run").write_text("".join(f"q Q0 {name} 1 {score} t\n" for name, score in run["q"].items()))
        run = str(tmp_path / "run")
    result = rankgauge.evaluate(judged, run, "recall@5", policy={"filters": ["one-per-page"]}, catalog=CATALOG)
    explanation = result.explain("q")
    assert explanation.score == 1 / 2
    assert where(explanation) == {"a#2": (None, 2, "policy filter one-per-page")}


def test_answers_have_no_rank_to_say():
    output = {"retrieved": ["a#1", "a#2"], "answer": "no"}
    explanation = explained({"answer": "yes"}, output, "EM", filters=["one-per-page"])
    assert where(explanation) == {"yes": (None, None, "")}
    assert explanation.notes == ()


def test_the_worst_samples_of_a_run_say_it():
    sample = {"id": "s", "expected_output": ["a#2"], "actual_output": PAGES}
    evaluation = (
        Engine(catalog=CATALOG).dataset([sample]).with_metrics(["recall@5"]).with_profile(filters=["one-per-page"])
    )
    (worst,) = evaluation.run().worst()
    assert where(worst) == {"a#2": (None, 2, "policy filter one-per-page")}
