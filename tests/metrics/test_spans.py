"""Spans: hand-worked values, and sets of characters that know nothing of intervals."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from packed_reports import payload
from rankgauge import Engine, Result, html_report
from rankgauge.catalog import Catalog
from rankgauge.errors import DataError, DeclarationError, MissingGoldError, PlanError
from rankgauge.plugin import metric
from rankgauge.scale import ShardedSamples
from tables import rows

CATALOG = Catalog.discover(own_only=True)
SPAN_METRICS = ("span-recall", "span-precision", "span-iou", "span-f1")
DOCUMENT = " ".join(f"word{number}x{number * 7 % 31}" for number in range(60))


def stretch(document, start, end, **others):
    return {"document": document, "start": start, "end": end, **others}


def sample(spans, retrieved, name="q"):
    return {"id": name, "expected_output": {"spans": spans}, "actual_output": {"retrieved": retrieved}}


def scored(one, *metrics, profile="default"):
    scores = Engine(catalog=CATALOG).dataset([]).with_metrics(metrics).with_profile(profile).score(one)
    for score in scores.values():
        assert score.status == "scored", score.reason
    return [score.value for score in scores.values()]


def reason(one, *metrics):
    (score,) = Engine(catalog=CATALOG).dataset([]).with_metrics(metrics).score(one).values()
    assert score.status == "failed"
    return score.reason


TWO = [stretch("d", 100, 200), stretch("e", 0, 50)]
THREE = [stretch("d", 50, 140), stretch("d", 120, 260), stretch("e", 40, 60)]
"""Of 150 gold characters the first covers 40, the second 80 and the third 10, together 110 of 230; 20 are in two."""


@rows(
    ("written", "by_hand"),
    [
        ("span-recall@1", 40 / 150),
        ("span-recall@2", 100 / 150),
        ("span-recall@3", 110 / 150),
        ("span_precision@3", 110 / 230),
        ("span-iou@3", 110 / (150 + 230 - 110)),
        ("span-f1@3", 2 * 110 / (150 + 230)),
        ("span-recall(per=span)@3", (1 + 10 / 50) / 2),
        ("span-precision(per=span)@3", (100 / 210 + 10 / 20) / 2),
        ("span-iou(per=span)@3", (100 / 210 + 10 / 60) / 2),
        ("span-f1(per=span)@3", (200 / 310 + 20 / 70) / 2),
        ("recall@3", 1 / 2),
        ("recall@1", 0),
        ("MRR", 1 / 2),
        ("P@2", 1 / 2),
    ],
)
def test_by_hand(written, by_hand):
    assert scored(sample(TWO, THREE), written) == [pytest.approx(by_hand, rel=1e-15)]


def test_two_halves_in_two_chunks_make_a_whole():
    halves = sample([stretch("d", 10, 30)], [stretch("d", 0, 19), stretch("d", 19, 40)])
    assert scored(halves, "span-recall@2", "recall@2") == [1.0, 1.0]
    thirds = sample([stretch("d", 10, 40)], [stretch("d", 0, 20), stretch("x", 0, 9), stretch("d", 30, 50)])
    written = ("span-recall@3", "recall(joint=false)@3", "recall@2", "recall@3", "RR", "recall(joint=true)@3")
    assert scored(thirds, *written) == pytest.approx([2 / 3, 0, 0, 1, 1 / 3, 1])


def test_chunks_that_overlap_count_once():
    """The authors of the metrics divide by 40 characters here, where we divide by 30."""
    overlapping = sample([stretch("d", 0, 30)], [stretch("d", 0, 20), stretch("d", 10, 30)])
    assert scored(overlapping, "span-precision@2", "span-iou@2") == [1.0, 1.0]


def test_gold_spans_that_overlap_count_once():
    assert scored(sample([stretch("d", 0, 20), stretch("d", 10, 30)], [stretch("d", 0, 15)]), "span-recall@1") == [0.5]


def test_spans_that_touch_cover_nothing_of_each_other():
    beside = sample([stretch("d", 10, 20)], [stretch("d", 0, 10), stretch("d", 20, 30), stretch("d", 15, 15)])
    assert scored(beside, "span-recall@3", "span-precision@3", "span-precision(per=span)@3", "hit@3") == [0, 0, 0, 0]


def test_grades_are_gains_and_grade_zero_is_not_relevant():
    graded = sample([stretch("d", 0, 10, grade=3), stretch("d", 50, 60, grade=0)], [stretch("d", 50, 60)])
    assert scored(graded, "span-recall@1", "recall@1") == [0, 0]
    assert scored(sample(graded["expected_output"]["spans"], [stretch("d", 0, 10)]), "dcg@1") == [3.0]


def test_a_span_that_is_listed_twice_is_one():
    twice = sample([stretch("d", 0, 10), stretch("d", 0, 10, grade=2), stretch("d", 90, 95)], [stretch("d", 0, 10)])
    assert scored(twice, "recall@1", "dcg@1") == [0.5, 2.0]


def test_chunks_of_one_document_are_not_duplicates():
    chunks = [{"id": "d", **stretch("d", at, at + 10)} for at in (0, 10, 10, 20)]
    assert scored(sample([stretch("d", 20, 30)], chunks), "RR") == [1 / 3]  # the third is the second again


def test_offsets_are_characters_of_unicode():
    text = "\U0001f600é" * 5
    by_text = {"text": f"Before. {text} one two three. After."}
    whole = stretch("d", 4, 4 + len(text) + 14, text=f"{text} one two three")
    assert scored(sample([whole], [by_text]), "span-recall@1") == [1.0]


def test_without_offsets_results_are_found_by_text():
    start, end = DOCUMENT.index("word10x"), DOCUMENT.index("word20x")
    gold = [stretch("d", start, end, text=DOCUMENT[start:end])]
    middle = DOCUMENT.index("word15x")
    chunks = [DOCUMENT[start - 30 : middle], DOCUMENT[middle : end + 40], DOCUMENT[-50:]]
    placed = [stretch("d", start - 30, middle), stretch("d", middle, end + 40), stretch("d", len(DOCUMENT) - 50, 999)]
    placed[-1]["end"] = len(DOCUMENT)
    written = [f"{name}{per}@{k}" for name in SPAN_METRICS for k in (1, 2, 3) for per in ("", "(per=span)")]
    by_offsets = scored(sample(gold, placed), *written, "recall@2")
    by_text = scored(sample(gold, [{"text": chunk} for chunk in chunks]), *written, "recall@2")
    mixed = [placed[0], {"text": chunks[1]}, placed[2]]
    assert by_text == by_offsets == scored(sample(gold, mixed), *written, "recall@2")


def test_the_result_says_how_results_were_found():
    gold = [stretch("d", 0, 19, text="one two three four.")]
    data = [
        sample(gold, [stretch("d", 0, 9), {"text": "one two three four."}]),
        sample(gold, [stretch("d", 0, 9)], "r"),
    ]
    written = ["span-recall@1", "recall(joint=false)@1"]
    result, other = (Engine(catalog=CATALOG).dataset(rows).with_metrics(written).run() for rows in (data, data[1:]))
    said = "gold spans were found by text in {}, which give no offsets ('document', 'start' and 'end')"
    assert result.notes == (said.format("1 of 3 retrieved items"),)
    assert other.notes == ()  # all by offsets
    assert {column.info.judged for column in result.metrics.values()} == {
        "spans by offsets, else by text",
        "spans by offsets, else by text, several results together",
    }


def test_what_cannot_be_placed_fails_with_a_reason():
    neither = sample([stretch("d", 0, 10, text="one two three")], [stretch("d", 0, 3), {"id": "c7"}])
    assert "the item at rank 2 has neither" in reason(neither, "span-recall@2")
    assert scored(neither, "span-recall@1") == [0.3]  # it stands below the cutoff
    textless = sample([stretch("d", 0, 10)], [{"id": "c7", "text": "one two three"}])
    assert "and that of every gold span" in reason(textless, "recall(gold=spans)@2")
    odd = sample([stretch("d", 0, 10)], [{"id": "c7", "start": 4, "end": 2, "document": "d"}])
    assert reason(odd, "span-iou@2") == "retrieved[0].end a stretch cannot end at 2, before its start at 4"
    assert scored(odd | {"expected_output": ["c7"]}, "recall@2") == [1.0]  # by id that does not matter
    assert "retrieved[0] a place needs 'document', 'start' and 'end', and has no 'document'" in reason(
        sample([stretch("d", 0, 10)], [{"id": "c7", "start": 4, "end": 5}]), "span-iou@2"
    )


@rows(
    ("spans", "message"),
    [
        ({"document": "d"}, "expected a list of spans"),
        (["d"], r"expected_output.spans\[0\].*a span is an object with 'document', 'start' and 'end'"),
        ([{"start": 0, "end": 1}], r"spans\[0\].*a place needs 'document', 'start' and 'end', and has no 'document'"),
        (
            [stretch("d", -1, 5)],
            r"spans\[0\].start.*an offset is a number of characters, 0 or more, not the integer -1",
        ),
        ([stretch("d", 0, 5), stretch("d", 5, True)], r"spans\[1\].end.*not the boolean True"),
        ([stretch("d", 0, 2.5)], "not the number 2.5"),
        ([stretch("d", 5, 5)], "the span is empty: it starts and ends at 5"),
        ([stretch("d", 5, 4)], "cannot end at 4, before its start at 5"),
        ([stretch("d", 5, 9, text=" ")], r"spans\[0\].text.*not blank"),
        ([stretch("d", 5, 9, grade="high")], r"spans\[0\].grade.*a gain must be a number"),
    ],
)
def test_spans_that_cannot_be_are_refused_with_their_place(spans, message):
    with pytest.raises(DataError, match=message):
        Engine(catalog=CATALOG).dataset([sample(spans, [])]).with_metrics("span-recall@5").run()


def test_nothing_retrieved_scores_zero_and_no_span_nothing():
    data = [sample(TWO, []), sample([], THREE, "r"), sample([stretch("d", 0, 5, grade=0)], THREE, "s")]
    result = Engine(catalog=CATALOG).dataset(data).with_metrics([f"{name}@3" for name in SPAN_METRICS]).run()
    for column in result.metrics.values():
        assert column.values.tolist() == pytest.approx([0, np.nan, np.nan], nan_ok=True)
        assert column.reasons[2] == "the ground truth has no relevant span"
    with pytest.raises(MissingGoldError, match="needs ground truth of the kind spans"):
        Engine(catalog=CATALOG).dataset([{"id": "q", "expected_output": ["d"], "actual_output": []}]).with_metrics(
            "span-recall@5"
        ).run()


def test_budgets_cut_by_texts():
    chunks = [stretch("d", 0, 19, text="one two three four "), stretch("d", 19, 28, text="five six.")]
    one = sample([stretch("d", 0, 28)], chunks)
    written = ("span-recall@4tok", "span-recall@5tok", "span-recall@6tok", "span-precision@3tok", "span-recall@28char")
    assert scored(one, *written) == [19 / 28, 19 / 28, 1, 0, 1]


def test_joint_is_for_what_results_hold_parts_of():
    evaluation = Engine(catalog=CATALOG).dataset([sample(TWO, THREE)])
    for written in ("recall(gold=relevant, joint=true)@5", "span-recall(joint=true)@5", "em(joint=true)"):
        with pytest.raises(PlanError, match=r"joint of .* is for metrics that find gold texts or spans"):
            evaluation.with_metrics(written).plan()
    with pytest.raises(PlanError, match="true or false"):
        evaluation.with_metrics("recall(joint=2)@5").plan()
    with pytest.raises(PlanError, match=r"chunk .* only says whether it matches, so leave joint out"):
        evaluation.with_metrics("recall(gold=passages, matcher=chunk, joint=true)@5").plan()
    with pytest.raises(PlanError, match="is judged by spans here, where a matcher has no effect"):
        evaluation.with_metrics("recall(gold=spans, matcher=chunk)@5").plan()
    for gold in ("spans", "passages"):
        plain, joint, not_joint = (
            evaluation.with_metrics(f"recall(gold={gold}{more})@5").plan().metrics[0]
            for more in ("", ", joint=true", ", joint=false")
        )
        assert plain.fingerprint != not_joint.fingerprint
        assert (plain.fingerprint, plain.name) == (joint.fingerprint, joint.name)


def test_spans_as_a_last_resort_leave_definitions_as_they_were():
    """So that results and locks from before there were spans stay comparable."""
    (column,) = Engine(catalog=CATALOG).dataset([]).with_metrics("recall@5").plan().metrics
    assert column.definition["judged"] == "relevant retrieved; passages retrieved jointly"


def test_a_metric_sees_the_cover_only_if_it_asks():
    with pytest.raises(DeclarationError, match="only the gold kind 'spans' has"):

        @metric("my-cover", needs="cover")
        def of_ids(judged):
            """Read what ids do not have."""

    @metric("my-other", gold="spans")
    def silent(judged):
        """Read what it did not ask for."""
        return np.full(judged.n, float(judged.cover is not None))

    result = Engine(catalog=CATALOG).dataset([sample(TWO, THREE)]).with_metrics(["span-recall@3", silent]).run()
    assert result["my-other"].mean == 0.0


# -- for people

RENTS = "Before it all. Rents rose by a fifth in 2023, which nobody had foreseen. After it all."
BEGIN, END = RENTS.index("Rents"), RENTS.index(" After")
CUT = RENTS.index("in 2023")


def rents(**text):
    first = stretch("d", 0, CUT, text=RENTS[:CUT], id="c1")
    return sample([stretch("d", BEGIN, END, **text)], [first, {"id": "c2", "text": RENTS[CUT:]}][: 1 + bool(text)])


def test_an_explanation_shows_the_gold_text_with_what_is_covered_marked():
    gold = RENTS[BEGIN:END]
    result = Engine(catalog=CATALOG).dataset([rents(text=gold)]).with_metrics(["span-recall@2", "recall@2"]).run()
    explanation = result.explain("q", "span-recall@2")
    first, second = (rank.covers for rank in explanation.ranks)
    size = CUT - BEGIN
    assert [span.text for span in (*first, *second)] == [
        f"\u27e6{gold[:size]}\u27e7{gold[size:]}",
        f"{gold[:size]}\u27e6{gold[size:]}\u27e7",
    ]
    assert [span.parts for span in (*first, *second)] == [((BEGIN, CUT),), ((CUT, END),)]
    assert explanation.ranks[0].matched == RENTS[BEGIN:CUT]
    assert f"covers {size / len(gold):.2f} of d[{BEGIN}:{END}]: \u27e6Rents rose" in str(explanation)
    (trial,) = (each for each in result.explain("q", "recall@2").without if each.id == "c2")
    assert trial.score == 0.0
    assert explanation.to_dict()["ranks"][0]["covers"][0]["share"] == size / len(gold)


def test_without_the_gold_text_it_shows_what_the_result_has_of_it():
    explanation = Engine(catalog=CATALOG).dataset([rents()]).with_metrics("span-recall@2").run().explain("q")
    (covered,) = explanation.ranks[0].covers
    assert covered.text == f"\u27e6{RENTS[BEGIN:CUT]}\u27e7\u2026"
    textless = sample([stretch("d", 0, 10)], [stretch("d", 5, 30)])
    told = str(Engine(catalog=CATALOG).dataset([textless]).with_metrics("recall@2").run().explain("q"))
    assert "covers 0.50 of d[0:10]: (no text)" in told


def test_a_missing_span_can_be_put_on_top():
    missed = sample([stretch("d", 0, 10)], [{"id": "c1", **stretch("e", 0, 10)}])
    explanation = Engine(catalog=CATALOG).dataset([missed]).with_metrics("recall@1").run().explain("q")
    assert [(gold.id, gold.rank) for gold in explanation.missing] == [("d[0:10]", None)]
    assert [trial.score for trial in explanation.with_missing_on_top] == [1.0]


def test_the_html_report_has_both_texts():
    gold = RENTS[BEGIN:END]
    result = Engine(catalog=CATALOG).dataset([rents(text=gold)]).with_metrics("span-recall@2").run()
    report = html_report(result)
    texts = payload(report)["texts"]
    size, share = CUT - BEGIN, (CUT - BEGIN) / len(gold)
    assert f"{share:.0%} of d[{BEGIN}:{END}]: \u27e6{gold[:size]}\u27e7{gold[size:]}" in texts
    assert f"d[{BEGIN}:{END}]: {gold}" in texts


# -- sets of characters

_offsets = st.tuples(st.sampled_from("de"), st.integers(0, 30), st.integers(1, 20))
_gold = st.lists(_offsets, min_size=1, max_size=4)
_chunks = st.lists(_offsets | st.just(("d", 5, 0)), max_size=6)


def characters(offsets):
    document, start, length = offsets
    return {(document, at) for at in range(start, start + length)}


def union(many):
    return set().union(*map(characters, many))


def oracle(gold, chunks, metric_name):
    wanted, held = union(gold), union(chunks)
    both = len(wanted & held)
    divisor = {
        "span-recall": len(wanted),
        "span-precision": len(held),
        "span-iou": len(wanted | held),
        "span-f1": (len(wanted) + len(held)) / 2,
    }[metric_name]
    return both / divisor if both else 0.0


def as_sample(gold, chunks, name="q"):
    spans = [stretch(document, start, start + length) for document, start, length in gold]
    items = [{"id": str(at), **stretch(one[0], one[1], one[1] + one[2])} for at, one in enumerate(chunks)]
    return sample(spans, items, name)


@given(_gold, _chunks, st.integers(1, 7))
def test_lengths_are_those_of_sets(gold, chunks, k):
    distinct = list(dict.fromkeys(gold))
    first = chunks[:k]
    expected = [oracle(gold, first, name) for name in SPAN_METRICS]
    expected += [
        sum(
            oracle([span], [chunk for chunk in first if characters(chunk) & characters(span)], name)
            for span in distinct
        )
        / len(distinct)
        for name in SPAN_METRICS
    ]
    written = [f"{name}{per}@{k}" for per in ("", "(per=span)") for name in SPAN_METRICS]
    assert scored(as_sample(gold, chunks), *written) == pytest.approx(expected, rel=1e-14)


@given(_gold, _chunks, st.integers(1, 7))
def test_a_span_is_found_when_half_of_it_is_covered(gold, chunks, k):
    distinct = list(dict.fromkeys(gold))
    alone = [any(2 * len(characters(one) & characters(span)) >= span[2] for one in chunks[:k]) for span in distinct]
    together = [2 * len(union(chunks[:k]) & characters(span)) >= span[2] for span in distinct]
    written = (f"recall(joint=false)@{k}", f"recall@{k}")
    assert scored(as_sample(gold, chunks), *written) == [sum(found) / len(distinct) for found in (alone, together)]


@given(_gold, _chunks, st.integers(0, 29))
def test_cutting_chunks_in_two_changes_nothing(gold, chunks, at):
    halves = []
    for document, start, length in chunks:
        first = min(at, length)
        halves += [(document, start, first), (document, start + first, length - first)]
    written = [f"{name}@12" for name in SPAN_METRICS]
    assert scored(as_sample(gold, halves), *written) == scored(as_sample(gold, chunks), *written)


# -- all roads


def drawn(count):
    chance = random.Random(11)  # noqa: S311  # data
    rows = []
    for number in range(count):
        gold = [(chance.choice("de"), chance.randrange(300), chance.randrange(1, 80)) for _ in range(1 + number % 3)]
        chunks = [(chance.choice("de"), at * 40, 60) for at in chance.sample(range(9), number % 7)]
        row = as_sample(gold, chunks, f"s{number:03}")
        if number % 5 == 0:
            for span in row["expected_output"]["spans"]:
                span["text"] = DOCUMENT[span["start"] : span["end"]] or "-"
            row["actual_output"]["retrieved"].append({"text": DOCUMENT[100:180]})
        row |= {"metadata": {"k": 2}} if number % 4 == 0 else {}
        rows.append(row)
    rows[3]["actual_output"] = 17
    del rows[4]["actual_output"]
    rows[6]["expected_output"] = {"relevant": ["0"]}
    rows[8]["metadata"] = {"answerable": False}
    return rows


WRITTEN = [f"{name}{per}-at-k" for name in SPAN_METRICS for per in ("",)] + [
    *("span-iou(per=span)@3", "recall(gold=spans)@4", "ndcg(joint=true)@5", "span-recall@30char", "retrieval-mrr")
]


def bits(result):
    return {
        name: (column.values.tobytes(), column.codes.tobytes(), dict(column.reasons), column.mean)
        for name, column in result.metrics.items()
    }


def test_roads_agree_to_the_last_bit(tmp_path):
    rows = drawn(60)
    file = tmp_path / "data.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    engine = Engine(catalog=CATALOG)
    evaluation = engine.dataset(rows).with_metrics(WRITTEN)
    whole = evaluation.run()
    assert bits(evaluation.run(batch_size=7)) == bits(whole)
    from_file = engine.dataset(str(file)).with_metrics(WRITTEN)
    assert bits(from_file.run()) == bits(whole)
    assert bits(from_file.run(workers=2)) == bits(whole)
    assert bits(Result.merge(list(evaluation.stream(batch_size=20)))) == bits(whole)
    for place in (0, 3, 7, 13):
        alone = evaluation.score(rows[place])
        columns = whole.metrics.items()
        together = {name: None if np.isnan(column.values[place]) else column.values[place] for name, column in columns}
        del alone["retrieval-mrr"], together["retrieval-mrr"]  # alone it is judged by id, where there are ids
        assert {name: score.value for name, score in alone.items()} == together
    sharded = ShardedSamples(engine.dataset([]).with_metrics(WRITTEN))
    shards = [sharded.shard(rows[at::3]) for at in range(3)]
    if not sharded.agree(shards):
        sharded = sharded.knowing(shards)
        shards = [sharded.shard(rows[at::3]) for at in range(3)]
    assert bits(sharded.merge(shards)) == bits(whole)


def test_a_saved_result_reads_back_and_merges(tmp_path):
    engine = Engine(catalog=CATALOG)
    rows = drawn(20)
    evaluation = engine.dataset(rows).with_metrics(WRITTEN)
    whole = evaluation.run()
    whole.save(tmp_path / "whole")
    again = Result.load(tmp_path / "whole")
    assert bits(again) == bits(whole)
    assert again.gold_keys.tolist() == whole.gold_keys.tolist()
    edited = [dict(row) for row in rows]
    edited[1] = {**rows[1], "expected_output": {"spans": [stretch("d", 0, 7)]}}
    other = engine.dataset(edited).with_metrics(WRITTEN).run()
    assert np.flatnonzero(other.gold_keys != whole.gold_keys).tolist() == [1]
