"""Sets whose items are passages, spans, documents or of a plugin's kind: complete where the last item is found."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.draws import draws

from rankgauge import Engine, compare, funnel, html_report
from rankgauge.catalog import Catalog
from rankgauge.errors import DataError, PlanError
from rankgauge.exclusions import Excluded
from rankgauge.plugin import GoldItem, gold_kind, hookimpl
from rankgauge.policy import Policy

METRICS = ["complete_sets@1", "complete_sets@2", "complete_sets@3", "first_complete"]
PUMP = "The pump was bought in 1998 by the city of Kiel."
MOTOR = "Its motor failed twice during the winter of 2004."
TEXTS = [{"id": "p1", "text": PUMP}, {"id": "p2", "text": MOTOR}]
FIRST, SECOND = {"document": "d", "start": 0, "end": 40}, {"document": "e", "start": 100, "end": 140}
FOUND = [{"text": MOTOR}, {"text": "Nothing of it."}, {"text": f"Before. {PUMP} After."}]
CHUNKS = [
    {"id": "x", "document": "e", "start": 90, "end": 119},
    {"id": "y", "document": "d", "start": 10, "end": 60},
    {"id": "z", "document": "e", "start": 119, "end": 121},
]
"""Of e[100:140] x holds 19 of 40 characters, and z 2 more; of d[0:40] y holds 30."""


def sample(expected: Any, retrieved: Any, name: str = "q", **more: Any) -> dict[str, Any]:
    return {"id": name, "expected_output": expected, "actual_output": {"retrieved": retrieved}, **more}


def scores(expected: Any, retrieved: Any, metrics: Any = METRICS, **more: Any) -> list[float | None]:
    result = Engine().dataset([sample(expected, retrieved, **more)]).with_metrics(metrics).run()
    return [None if math.isnan(column.values[0]) else column.values[0] for column in result.metrics.values()]


class TestPassages:
    @pytest.mark.parametrize(
        "expected",
        [
            {"passages": TEXTS, "sets": [["p1", "p2"]]},
            {"passages": [PUMP, MOTOR], "sets": [{"all_of": [PUMP, MOTOR]}]},
            {"passages": [PUMP, MOTOR, "Another one."], "sets": [[{"text": PUMP}, {"text": MOTOR}]]},
            {"passages": TEXTS, "sets": [[PUMP, {"text": MOTOR}]]},
            {"sets": [[{"text": PUMP}, {"text": MOTOR, "id": "p2"}]]},
        ],
    )
    def test_a_set_is_complete_with_its_last_passage(self, expected: Any) -> None:
        """The motor is at rank 1 and the pump at rank 3, however they are named."""
        assert scores(expected, FOUND) == [0, 0, 1, 3]

    def test_any_of_several_suffices(self) -> None:
        assert scores({"passages": TEXTS, "sets": [{"any_of": ["p1", "p2"]}]}, FOUND) == [1, 1, 1, 1]

    def test_what_is_only_in_sets_is_gold(self) -> None:
        assert scores({"sets": [[{"text": PUMP}], [{"text": "Not found at all, it is."}]]}, FOUND, ["recall@3"]) == [
            0.5
        ]

    def test_matchers_and_documents_are_chosen_as_for_other_metrics(self) -> None:
        """A sentence cut out of a document is no half of it, but it is of the document."""
        whole = f"{PUMP} {MOTOR} The rest of the document is about bread, which has nothing to do with it at all."
        expected = {"passages": [{"id": "whole", "text": whole}], "sets": [["whole"]]}
        metrics = [f"complete_sets({more})@3" for more in ("gold=passages", "gold=documents", "matcher=contains")]
        assert scores(expected, [{"text": MOTOR}], metrics) == [0, 1, 0]

    def test_ids_come_first_and_the_same_sets_hold_for_passages_of_the_same_names(self) -> None:
        expected = {"relevant": ["p1", "p2"], "passages": TEXTS, "sets": [["p1", "p2"]]}
        retrieved = [{"id": "p1", "text": MOTOR}, {"id": "p2", "text": "-"}, {"id": "x", "text": PUMP}]
        assert scores(expected, retrieved, ["first_complete", "first_complete(gold=passages)"]) == [2, 3]


class TestSpans:
    @pytest.mark.parametrize(
        "expected",
        [{"spans": [FIRST, SECOND], "sets": [["d[0:40]", "e[100:140]"]]}, {"sets": [[FIRST, SECOND]]}],
    )
    def test_a_set_is_complete_where_results_hold_half_of_each_span_together(self, expected: Any) -> None:
        """x and z hold 21 of 40 characters of the second one, so that it is found at rank 3."""
        assert scores(expected, CHUNKS) == [0, 0, 1, 3]
        assert scores(expected, CHUNKS, ["complete_sets(joint=false)@3"]) == [0]  # no result holds half of it alone

    def test_places_that_are_not_those_of_the_texts_are_not_taken(self) -> None:
        """All places are 7 characters off: each is refused, and the texts are looked for."""
        spans = [{"document": "d", "start": 0, "end": len(PUMP), "text": PUMP}]
        retrieved = [{"document": "d", "start": 7, "end": 7 + len(PUMP), "text": PUMP}]
        assert scores({"sets": [spans]}, retrieved, ["complete_sets@1"]) == [1]

    def test_documents_that_are_left_out_take_their_spans_out_of_sets(self) -> None:
        data = [sample({"sets": [[FIRST, SECOND]]}, CHUNKS[1:2])]
        evaluation = Engine().dataset(data).with_metrics(["complete_sets@1"])
        assert evaluation.run()["complete_sets@1"].mean == 0
        assert evaluation.with_profile(Policy(excluded=Excluded({"q": ["e"]}))).run()["complete_sets@1"].mean == 1


def pages(raw: Any) -> list[GoldItem]:
    """Pages that should be shown, by their grades."""
    return [GoldItem(page, f"page {page}", grade) for page, grade in raw.items()]


def on_page(retrieved: Any, gold: Any) -> Any:
    return np.array([[float(item.metadata.get("page") == int(page)) for page in gold] for item in retrieved])


class TestKindsOfPlugins:
    @pytest.fixture
    def catalog(self) -> Catalog:
        @hookimpl
        def rankgauge_gold_kinds() -> Any:
            return [pages]

        gold_kind("pages", judge=on_page)(pages)
        plugin = SimpleNamespace(__name__="ours", rankgauge_gold_kinds=rankgauge_gold_kinds)
        return Catalog.discover(own_only=True, plugins={"ours": plugin})

    def test_sets_name_their_items(self, catalog: Catalog) -> None:
        shown = [{"id": f"at-{page}", "metadata": {"page": page}} for page in (9, 1, 3)]
        data = [sample({"pages": {"3": 1, "9": 1}, "sets": [["page 3", "page 9"]]}, shown)]
        names = [*(f"complete_sets(gold=pages)@{k}" for k in (1, 2, 3)), "first_complete(gold=pages)"]
        result = Engine(catalog=catalog).dataset(data).with_metrics(names).run()
        assert [column.mean for column in result.metrics.values()] == [0, 0, 1, 3]
        (missing,) = result.explain("q", names[0]).missing
        assert (missing.id, missing.rank) == ("all of page 3, page 9", 3)

    def test_each_kind_is_read_before_sets_where_one_may_fail_alone(self, catalog: Catalog) -> None:
        data = [sample({"pages": {"3": 1}, "sets": [["page 3"]]}, [{"id": "a", "metadata": {"page": 3}}])]
        evaluation = Engine(catalog=catalog).dataset(data).with_metrics(["complete_sets(gold=pages)@1"])
        assert evaluation.with_profile("eval-harness").run()["complete_sets(gold=pages)@1"].mean == 1


@pytest.mark.parametrize(
    ("expected", "path", "words"),
    [
        ({"passages": TEXTS, "sets": [["p1", "p22"]]}, "[0][1]", "'p22' is not in 'passages' (did you mean 'p2'"),
        ({"passages": [PUMP], "sets": [[{"text": MOTOR}]]}, "[0][0]", "is not in 'passages'; add it there"),
        ({"spans": [FIRST], "sets": [[SECOND]]}, "[0][0]", "is not in 'spans'; add it there"),
        ({"spans": [FIRST], "sets": [["d[0:40]", "d[0:41]"]]}, "[0][1]", "'d[0:41]' is not in 'spans'"),
        ({"sets": [[{"text": " "}]]}, "[0][0].text", "the text is blank"),
        ({"sets": [[{"text": 3}]]}, "[0][0].text", "expected a string"),
        ({"sets": [{"any_of": [{**FIRST, "end": 0}]}]}, "[0].any_of[0].end", "the span is empty"),
        ({"sets": [[{"document": "d", "start": 1}]]}, "[0][0]", "has no 'end'"),
        ({"sets": [[FIRST, {"text": PUMP}]]}, "", "all items of a sample's sets are of one kind"),
        ({"relevant": ["a"], "passages": TEXTS, "sets": [["a"], ["p1"]]}, "", "are of one kind"),
        ({"passages": [{**TEXTS[0], "grade": 0}], "sets": [["p1"]]}, "[0][0]", "'p1' has gain 0 in 'passages'"),
        ({"sets": {"text": PUMP}}, "", "a set is {'all_of'"),
    ],
)
def test_a_set_that_cannot_be_read_says_why(expected: Any, path: str, words: str) -> None:
    with pytest.raises(DataError) as caught:
        Engine().dataset([sample(expected, FOUND)]).with_metrics(METRICS).run()
    (problem,) = caught.value.problems
    assert f"expected_output.sets{path}" in problem.path
    assert words in problem.message


def test_without_sets_of_the_kind_nothing_can_be_scored() -> None:
    data = [sample({"relevant": ["a"], "sets": [["a"]]}, ["a"])]
    with pytest.raises(DataError, match="ground truth of the kind sets of spans"):
        Engine().dataset(data).with_metrics(["complete_sets(gold=spans)@1"]).run()
    with pytest.raises(PlanError, match="relevant or spans or passages, not against gold='answer'"):
        Engine().dataset(data).with_metrics(["complete_sets(gold=answer)@1"]).run()


def test_keys_that_nothing_reads_are_named_where_they_are() -> None:
    data = [sample({"sets": [[{"text": PUMP, "grad": 1}], {"any_of": [{**FIRST, "quote": "x"}]}]}, FOUND)]
    data[0]["expected_output"]["sets"].pop()
    notes = Engine().dataset(data).with_metrics(METRICS).run().notes
    assert any("expected_output.passages[].grad is not read: did you mean 'grade'?" in note for note in notes)


DATA = [
    sample({"passages": TEXTS, "sets": [["p1", "p2"]]}, FOUND, "q1"),
    sample({"passages": TEXTS, "sets": [["p1", "p2"]]}, FOUND[2:] + FOUND[:1], "q2"),
]


class TestBesideTheScores:
    def test_an_explanation_says_what_completes_a_set(self) -> None:
        explained = Engine().dataset(DATA).with_metrics(METRICS).run().explain("q1", "complete_sets@2")
        assert [(each.id, each.rank, each.ideal_rank) for each in explained.missing] == [("all of p1, p2", 3, None)]
        assert [(trial.id, trial.score) for trial in explained.with_missing_on_top] == [("all of p1, p2", 1)]

    def test_the_result_that_completes_a_set_shows_the_passage_in_it(self) -> None:
        result = Engine().dataset(DATA).with_metrics(METRICS).run()
        shown = result.explain("q1", "complete_sets@3").ranks[2]
        assert (shown.gold, shown.matched) == (("all of p1, p2",), PUMP)
        assert html_report(result)

    def test_spans_can_be_put_on_top_too(self) -> None:
        result = Engine().dataset([sample({"sets": [[FIRST, SECOND]]}, CHUNKS[:1])]).with_metrics(METRICS).run()
        assert [trial.score for trial in result.explain("q", "complete_sets@2").with_missing_on_top] == [1]

    def test_a_comparison_pairs_them(self) -> None:
        other = [{**each, "actual_output": {"retrieved": FOUND[:1]}} for each in DATA]
        results = [Engine().dataset(data).with_metrics(["complete_sets@3"]).run() for data in (DATA, other)]
        assert compare({"base": results[0], "new": results[1]})["new"]["complete_sets@3"].difference == -1

    def test_a_funnel_follows_them(self) -> None:
        output = {"stages": [{"name": "dense", "retrieved": FOUND}, {"name": "rerank", "retrieved": FOUND[:2]}]}
        data = [{**DATA[0], "actual_output": output}]
        found = funnel(Engine().dataset(data).with_metrics(["complete_sets@3"]).run(), "complete_sets@3")
        assert [(stage.held, stage.lost, stage.score.mean) for stage in found.stages] == [(1, 0, 1.0), (0, 1, 0.0)]

    @pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.process)])
    def test_files_and_outputs_apart_score_the_same(self, tmp_path: Any, workers: int, request: Any) -> None:
        if workers > 1:
            request.getfixturevalue("process")
        both, gold, outputs = (tmp_path / f"{name}.jsonl" for name in ("both", "gold", "outputs"))
        both.write_text("".join(f"{json.dumps(each)}\n" for each in DATA))
        gold.write_text("".join(f"{json.dumps({**each, 'actual_output': None})}\n" for each in DATA))
        rows = [{"id": each["id"], "actual_output": each["actual_output"]} for each in DATA]
        outputs.write_text("".join(f"{json.dumps(each)}\n" for each in rows))
        results = [
            Engine().dataset(both).with_metrics(METRICS).run(workers=workers),
            Engine().dataset(gold).with_metrics(METRICS).run(outputs=outputs, workers=workers),
        ]
        for result in results:
            assert [column.values.tolist() for column in result.metrics.values()] == [[0, 0], [0, 1], [1, 1], [3, 2]]


# -- brute force

_DOCUMENTS = "de"
_PLACE = st.tuples(st.sampled_from(_DOCUMENTS), st.integers(0, 12), st.integers(1, 8)).map(
    lambda drawn: (drawn[0], drawn[1], drawn[1] + drawn[2])
)
_HOW = st.sampled_from(["all_of", "any_of"])


def _found_at(span: Any, ranking: list[Any]) -> float:
    """Return the first rank down to which results hold half of the characters of a span."""
    document, start, end = span
    held: set[int] = set()
    for rank, (other, first, last) in enumerate(ranking, 1):
        if other == document:
            held |= set(range(max(start, first), min(end, last)))
        if 2 * len(held) >= end - start:
            return rank
    return math.inf


def _complete_at(needed: Any, ranking: list[Any]) -> float:
    how, items = needed
    ranks = [_complete_at(each, ranking) if len(each) == 2 else _found_at(each, ranking) for each in items]
    return max(ranks) if how == "all_of" else min(ranks)


def _written(needed: Any) -> Any:
    if len(needed) == 2:
        return {needed[0]: list(map(_written, needed[1]))}
    return dict(zip(("document", "start", "end"), needed, strict=True))


_FLAT = st.tuples(_HOW, st.lists(_PLACE, min_size=1, max_size=3))
_SET = st.tuples(_HOW, st.lists(_PLACE | _FLAT, min_size=1, max_size=3))


@given(needed=_SET, ranking=st.lists(_PLACE, max_size=5, unique=True))
@settings(max_examples=draws(100))
def test_sets_of_spans_agree_with_brute_force(needed: Any, ranking: list[Any]) -> None:
    retrieved = [_written(place) | {"id": f"r{at}"} for at, place in enumerate(ranking)]
    rank = _complete_at(needed, ranking)
    wanted = [float(rank <= k) for k in (1, 2, 3)]
    assert scores({"sets": [_written(needed)]}, retrieved) == [*wanted, None if rank == math.inf else rank]


_SENTENCES = [
    f"Sentence {name} tells of {name} in year {1900 + at} only." for at, name in enumerate(("ada", "bob", "cleo"))
]
_FOUND = st.lists(st.sets(st.sampled_from(range(3)), min_size=1), max_size=4)


@given(items=st.sets(st.sampled_from(range(3)), min_size=1), how=_HOW, found=_FOUND)
@settings(max_examples=draws(50))
def test_sets_of_passages_agree_with_brute_force(items: set[int], how: str, found: list[set[int]]) -> None:
    retrieved = [
        {"text": " ".join(_SENTENCES[at] for at in sorted(held)), "id": f"r{at}"} for at, held in enumerate(found)
    ]
    texts = [each["text"] for each in retrieved]  # a text that occurs again under another id is no duplicate
    first = [next((rank for rank, text in enumerate(texts, 1) if _SENTENCES[at] in text), math.inf) for at in items]
    rank = max(first) if how == "all_of" else min(first)
    expected = {"passages": _SENTENCES, "sets": [{how: [{"text": _SENTENCES[at]} for at in sorted(items)]}]}
    wanted = [float(rank <= k) for k in (1, 2, 3)]
    assert scores(expected, retrieved) == [*wanted, None if rank == math.inf else rank]
