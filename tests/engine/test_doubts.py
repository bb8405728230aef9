"""Labels that rankings speak against: each sign alone is a count, and two are a doubt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rankgauge import Engine, compare, evaluate
from rankgauge.engine import doubts, job
from rankgauge.engine.doubts import doubts_about, seen_in
from rankgauge.judging import judge
from rankgauge.matchers.word_runs import read_words
from rankgauge.result.label_doubts import LabelDoubts
from rankgauge.samples import Sample, read_sample
from tables import rows

PUMP = "The pump costs 1250 euros and weighs four kilograms, and it ships from Rotterdam."
BREAD = "Knead the dough for ten minutes, let it rest under a wet towel, and bake it in a very hot oven."


def ranking(*first: tuple[str, str], depth: int = 20) -> list[dict[str, Any]]:
    """Return results that begin with some, and go on with others about something else."""
    rest = [(f"other-{at}", f"Page {at} is about swallows.") for at in range(depth - len(first))]
    return [{"id": name, "text": text} for name, text in (*first, *rest)]


def row(name: str, expected: Any, results: list[dict[str, Any]], question: str | None = None) -> dict[str, Any]:
    asked = {"question": question or f"What is {name}?"}
    return {"id": name, "input": asked, "expected_output": expected, "actual_output": {"retrieved": results}}


def doubts_of(*systems: list[dict[str, Any]], metric: str = "recall@5") -> LabelDoubts:
    read = [[read_sample(each, problems=[]) for each in rows] for rows in systems]
    samples: list[list[Sample]] = [[each for each in rows if each is not None] for rows in read]
    plan = Engine().dataset(list(systems[0])).with_metrics(metric).plan()
    found = doubts_about(samples[0], [seen_in(own, plan) for own in samples])
    assert found is not None
    return found


def doubted(found: LabelDoubts) -> dict[str, set[str]]:
    return {doubt.sample: set(doubt.signs) for doubt in found.doubts}


def test_gold_that_nobody_finds_is_a_count_and_no_doubt() -> None:
    found = doubts_of([row("q1", ["lost"], ranking())], [row("q1", ["lost"], ranking(("x", PUMP)))])
    assert found.doubts == ()
    assert found.counts["missed"] == 1
    assert found.examples["missed"] == ("q1",)
    assert "no compared system finds 1 gold label within 20 results (such as q1)" in list(found.notes())


def test_gold_that_one_system_finds_is_not_missed() -> None:
    found = doubts_of([row("q1", ["d"], ranking())], [row("q1", ["d"], [*ranking(depth=19), {"id": "d", "text": "."}])])
    assert "missed" not in found.counts


def test_short_lists_say_nothing_of_gold_that_is_not_in_them() -> None:
    assert doubts_of([row("q1", ["lost"], ranking(depth=9))]).counts == {}
    assert doubts_of([row("q1", ["lost"], ranking(depth=10))]).counts == {"missed": 1, "unseen-id": 1}


def test_a_renamed_id_in_another_spelling_is_a_doubt() -> None:
    found = doubts_of([row("q1", ["docs/Pump.md"], ranking(("pump", PUMP)))])
    assert doubted(found) == {"q1": {"missed", "unseen-id"}}
    assert "no ranking has docs/Pump.md, and here is pump" in found.doubts[0].signs["unseen-id"]


def test_a_stale_span_whose_text_stands_in_a_result() -> None:
    """The offsets of other spans hold, so that places are taken, and one does not."""
    placed = [
        {**each, "document": "d", "start": at * 500, "end": at * 500 + len(each["text"])}
        for at, each in enumerate(ranking(("d:0", PUMP)))
    ]
    good = {"document": "d", "start": 0, "end": len(PUMP), "text": PUMP}
    stale = {**good, "start": 90_000, "end": 90_000 + len(PUMP)}
    rows = [row(f"q{at}", {"spans": [stale if at == 1 else good]}, placed) for at in range(4)]
    assert doubted(doubts_of(rows)) == {"q1": {"missed", "elsewhere", "answer-above"}}


@pytest.mark.parametrize(
    ("text", "is_doubted"),
    [(f"In short: {PUMP}", True), ("It costs a lot.", False), ("1250 euros", False)],  # the last has no answer
)
def test_an_unlabelled_result_that_holds_the_answer(text: str, *, is_doubted: bool) -> None:
    gold = {"relevant": ["lost"], "answer": "weighs four kilograms"}
    found = doubts_of([row("q1", gold, ranking(("x", text)))])
    assert doubted(found) == ({"q1": {"missed", "answer-above", "unseen-id"}} if is_doubted else {})


def test_an_answer_that_stands_everywhere_says_nothing() -> None:
    results = [{"id": f"x{at}", "text": f"{at} {PUMP}"} for at in range(20)]
    gold = {"relevant": ["lost"], "answer": "weighs four kilograms"}
    assert doubts_of([row("q1", gold, results)]).doubts == ()


def test_a_near_copy_without_a_label() -> None:
    copy = BREAD.replace("wet", "damp")
    below = ranking(("bread", BREAD), ("copy", copy))
    found = doubts_of([row("q1", ["bread"], below)])
    assert (found.doubts, found.counts) == ((), {"twin": 1})
    other_facts = ranking(("bread", BREAD), ("sibling", BREAD.replace("ten", "six")))
    assert doubts_of([row("q1", ["bread"], other_facts)]).counts == {}
    assert doubts_of([row("q1", ["bread", "copy"], below)]).counts == {}


def test_labels_that_were_swapped_are_on_top_for_each_other() -> None:
    """q1 finds what is labelled for q2 and the other way round, and q3, whose gold is on top nowhere, is a failure."""
    rows = [
        row("q1", ["bread"], ranking(("pump", PUMP))),
        row("q2", ["pump"], ranking(("bread", BREAD))),
        row("q3", ["lost"], ranking()),
        row("q4", ["d"], ranking(("d", "A page."))),
    ]
    found = doubts_of(rows)
    assert doubted(found) == {"q1": {"missed", "swapped"}, "q2": {"missed", "swapped"}}
    assert found.doubts[0].signs["swapped"] == "on top for q2, whose own gold no system finds"


def test_gold_that_is_on_top_for_others_by_chance_is_no_doubt() -> None:
    """
    What is on top for six missed questions is the gold of some other question, of two missed and of four found ones.

    So each label that is found is there for 4 / 6 of a question, as each of six missed ones would be by chance.
    Where the labels of found questions are nowhere on top, those of missed ones are not there by chance.
    """
    tops = {6: 7, 7: 8, 8: 0, 9: 1, 10: 2, 11: 3}
    found = [row(f"q{at}", [f"d{at}"], ranking((f"d{at}", "A page."))) for at in range(6)]
    for rank_one, expected in ((tops, set()), ({6: 7, 7: 8}, {"q7", "q8"})):
        missed = [
            row(f"q{at}", [f"d{at}"], ranking(*((f"d{rank_one[at]}", "A page."),) if at in rank_one else ()))
            for at in range(6, 12)
        ]
        assert {name for name, signs in doubted(doubts_of([*found, *missed])).items() if "swapped" in signs} == expected


def test_gold_that_was_copied_from_another_question() -> None:
    rows = [row("q1", ["pump"], ranking(("pump", PUMP))), row("q2", ["pump"], ranking(("bread", BREAD)))]
    found = doubts_of(rows)
    assert doubted(found) == {"q2": {"missed", "same-gold"}}
    assert found.counts["same-gold"] == 2


def test_passages_are_judged_by_their_words_and_other_matchers_are_not_called() -> None:
    rows = [
        row("q1", {"passages": [BREAD]}, ranking(("pump", PUMP))),
        row("q2", {"passages": [PUMP]}, ranking(("bread", BREAD))),
    ]
    assert doubted(doubts_of(rows)) == {"q1": {"missed", "swapped"}, "q2": {"missed", "swapped"}}
    plan = Engine().dataset(rows).with_metrics("recall(matcher=contains)@5").plan()
    samples = [sample for each in rows if (sample := read_sample(each, problems=[])) is not None]
    assert seen_in(samples, plan) == {}


def rows_of_two() -> list[dict[str, Any]]:
    return [row("q1", ["bread"], ranking(("pump", PUMP))), row("q2", ["pump"], ranking(("bread", BREAD)))]


def test_runs_and_comparisons_say_so() -> None:
    first, second = (Engine().dataset(rows_of_two()).with_metrics("recall@5").run() for _ in range(2))
    (note,) = (note for note in first.notes if "doubtful" in note)
    assert note.startswith("2 labels of 2 are doubtful, two signs speaking against each: q1, relevant bread: ")
    assert "rankgauge gold check" in note
    comparison = compare({"a": first, "b": second})
    assert comparison["b"].notes[0] == note
    assert comparison.label_doubts is not None
    doubt = comparison.to_dict()["label_doubts"]["doubts"][0]
    assert (doubt["sample"], doubt["number"], set(doubt["signs"])) == ("q1", 0, {"missed", "swapped"})


def test_runs_without_texts_get_what_ids_tell() -> None:
    qrels = {"q1": {"bread": 1}, "q2": {"pump": 1}}
    run = {
        name: {each["id"]: 1 / at for at, each in enumerate(results, 1)}
        for name, results in (("q1", ranking(("pump", ""))), ("q2", ranking(("bread", ""))))
    }
    results = {name: evaluate(qrels, run, "recall@5") for name in ("a", "b")}
    found = compare(results).label_doubts
    assert found is not None
    assert doubted(found) == {"q1": {"missed", "swapped"}, "q2": {"missed", "swapped"}}


def test_a_difference_that_turns_round_without_the_doubtful_samples() -> None:
    """b loses q4, and what it wins are q1 and q2, whose labels are doubtful by a stale spelling."""
    good = [row(f"q{at}", ["d"], ranking(("d", "A page."))) for at in (4, 5)]
    of_a = [*(row(f"q{at}", ["docs/pump.md", "x"], ranking(("pump", PUMP))) for at in (1, 2)), *good]
    of_b = [*(row(f"q{at}", ["docs/pump.md", "x"], ranking(("pump", PUMP), ("x", "X."))) for at in (1, 2, 3)), *good]
    of_a += [row("q3", ["docs/pump.md", "x"], ranking(("pump", PUMP)))]
    of_b = [each if each["id"] != "q4" else row("q4", ["d"], ranking()) for each in of_b]
    a, b = (Engine().dataset(rows).with_metrics("recall@5").run() for rows in (of_a, of_b))
    notes = compare({"a": a, "b": b})["b"].notes
    (note,) = (note for note in notes if note.startswith("recall@5: without"))
    # b - a over all: 3 * .5 - 1 of 5; without q1 to q3: -1 of 2; these three could be anything from -3 to 3
    assert note == (
        "recall@5: without 3 samples whose labels are doubtful the difference is -0.5000, not +0.1000, "
        "and between -0.8000 and +0.4000 whatever their labels should be"
    )


def test_what_was_judged_in_a_batch_that_goes_on_is_taken_as_if_it_were_judged_again() -> None:
    rows = [row(f"q{at}", {"passages": [PUMP, BREAD][:at]}, ranking(("bread", BREAD))) for at in (1, 2, 1)]
    samples = [sample for each in rows if (sample := read_sample(each, problems=[])) is not None]
    plan = Engine().dataset(rows).with_metrics("recall@5").plan()
    judged = {target: judge(samples, target, plan.profile, matcher) for target, matcher in plan.targets.items()}
    of_passages = {target: each for target, each in judged.items() if target.gold == "passages"}
    seen = seen_in(samples[:2], plan, judged)
    assert of_passages
    assert seen == seen_in(samples[:2], plan)
    assert seen["q2"].found == {("passages", 1): 1}
    nothing = {
        target: replace(each, judged=judge([], target, plan.profile, plan.targets[target]).judged)
        for target, each in of_passages.items()
    }
    assert seen_in(samples[:2], plan, nothing)["q2"].found == {}, "texts are judged again"


@pytest.mark.parametrize(("batch_size", "is_one"), [(1, False), (4096, True)])
def test_a_run_gives_what_it_judged_in_one_batch(
    batch_size: int, is_one: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        row("q1", {"passages": [BREAD]}, ranking(("pump", PUMP))),
        row("q2", {"passages": [PUMP]}, ranking(("bread", BREAD))),
    ]
    taken: list[object] = []
    monkeypatch.setattr(job, "_STEP", 1)
    monkeypatch.setattr(doubts, "seen_in", lambda *given: taken.append(given[2]) or seen_in(*given))
    result = Engine().dataset(rows).with_metrics("recall@5").run(batch_size=batch_size)
    assert any(note.startswith("2 labels of 2 are doubtful") for note in result.notes)
    assert [bool(each) for each in taken] == [is_one]


@rows(
    "word, text, holds",
    [
        ("Hamburg", "is &#72;amburg far?", True),
        ("Hamburg", "is \\u0048amburg far?", True),
        ("Hamburg", "is Ham-\nburg far?", True),
        ("Hamburg", "is Ham- \r\n  burg far?", True),
        ("Hamburg", "is HAMBURG far?", True),
        ("Hamburg", "is Ham burg or Hamburgo far?", False),
        ("Zürich", "is Zurich far?", True),
        ("Zurich", "is Zürich far?", True),
        ("not", "Don't go", True),
        ("Foo_bar", "a foo_bar", True),
        ("Foo_bar", "a foo_bar_baz", False),
        ("12500", "are 12,500.0 euros", True),
    ],
)
def test_words_are_looked_for_as_they_are_read(word: str, text: str, holds: bool) -> None:
    """A text without the letters of a word is not read, unless words of it are written in another way."""
    stream = read_words([word])
    assert doubts._may_hold(text, {int(stream.words[0]): stream.spelled(0)}) or not holds
    assert (stream.words[0] in read_words([text]).words) is holds


def test_a_run_names_the_samples_of_all_doubtful_labels() -> None:
    samples = [row(f"q{n}", [f"Docs/d{n}.md"], ranking((f"d{n}", PUMP))) for n in range(5)]
    (note,) = doubts_of(samples).of_doubts()
    assert " | and 2 more, of q3, q4; `rankgauge gold check" in note
