"""Notes about matchers that ask another question than their user means; counts by hand."""

from __future__ import annotations

import pytest

from rankgauge import Engine

GOLD = [f"the warranty of part {letter} covers labour as well" for letter in "abcdefghij"]


def sample(number, gold, retrieved, **others):
    items = [{"text": text} for text in retrieved]
    return {"id": str(number), "expected_output": {**others, **gold}, "actual_output": {"retrieved": items}}


def notes(samples, metric, **options):
    evaluation = Engine().dataset(samples).with_metrics([metric])
    assert evaluation.check().notes == evaluation.run(**options).notes
    return evaluation.run(**options).notes


LONGER = [sample(at, {"passages": [text]}, [f"A long introduction. {text}. More."]) for at, text in enumerate(GOLD)]
SHORTER = [sample(at, {"passages": [f"A long introduction. {text}. More."]}, [text]) for at, text in enumerate(GOLD)]


@pytest.mark.parametrize("options", [{}, {"batch_size": 3}])
def test_gold_in_longer_chunks_that_the_matcher_does_not_accept(options):
    # A gold text has 44 characters, a retrieved one 44 + 28.
    assert notes(LONGER, "recall(matcher=fuzzy-chunk)@1", **options) == (
        (
            "10 of 10 gold texts are in a retrieved text that `fuzzy-chunk` does not accept, because that is longer "
            "(characters on average: 44 gold, 72 retrieved); it finds 0.00 of them, matcher=passage would find 1.00"
        ),
    )


def test_chunks_of_longer_gold_that_the_matcher_does_not_accept():
    assert notes(SHORTER, "recall(matcher=contains)@1") == (
        (
            "10 of 10 gold texts hold a retrieved text that `contains` does not accept, because that is shorter "
            "(characters on average: 72 gold, 44 retrieved); it finds 0.00 of them, matcher=passage would find 1.00"
        ),
    )


@pytest.mark.parametrize(
    "metric", ["recall@5", "recall(matcher=contains)@5", "recall(matcher='token-overlap(over=gold) >= 0.6')@5"]
)
def test_a_matcher_that_looks_the_right_way_is_not_doubted(metric):
    assert notes(LONGER, metric) == ()


def test_few_that_are_refused_are_no_reason_to_doubt():
    right = [sample(at, {"passages": [text]}, [text]) for at, text in enumerate(GOLD * 3, 10)]
    assert notes([*right, LONGER[0]], "recall(matcher=chunk)@1") == ()  # 1 of 31 is below a twentieth


@pytest.mark.parametrize("options", [{}, {"batch_size": 1}, {"batch_size": 3}])
def test_no_further_sample_is_looked_at_once_the_first_have_enough_characters(monkeypatch, options):
    # Each sample has 44 + 72 characters: three have 348, and the fourth is the first with 400 or more before its end.
    monkeypatch.setattr("rankgauge.judging.text_doubts._CHARACTERS", 400)
    right = [sample(at, {"passages": [text]}, [text]) for at, text in enumerate(GOLD, 10)]
    (note,) = notes([*LONGER, *right], "recall(matcher=chunk)@1", **options)
    assert note.startswith("4 of 4 gold texts are in a retrieved text that `chunk` does not accept")
    assert note.endswith("it finds 0.00 of them, matcher=passage would find 1.00")
    assert notes([*right, *LONGER], "recall(matcher=chunk)@1", **options) == ()


def test_passages_are_not_looked_for_where_no_note_can_come_of_it(monkeypatch):
    right = [sample(at, {"passages": [text]}, [text]) for at, text in enumerate(GOLD * 10, 10)]
    calls = []
    monkeypatch.setattr("rankgauge.matchers.cover.cover_batch", lambda *texts, **how: calls.append(texts) or [])
    assert notes([*LONGER[:4], *right], "recall(matcher=chunk)@1") == ()  # 4 of 100 is below a twentieth
    assert calls == []


def test_short_answers_that_stand_only_inside_words():
    samples = [
        sample(1, {"answer": "41"}, ["It was in 1941.", "He is 1412 days old."]),
        sample(2, {"answer": "41"}, ["Born 1941, he is 41."]),
        sample(3, {"answer": ["art", "music"]}, ["A party with music."]),
        sample(4, {"answer": "none"}, ["Nothing here."]),
    ]
    # Found: 41, 41, art, music; whole: the second 41, and music.
    assert notes(samples, "containment@2") == (
        (
            "in 2 samples `contains` finds a short gold text only inside a longer word, such as '41' in '1941'; it "
            "finds 4 of these texts, matcher=words would find 2"
        ),
    )
    result = Engine().dataset(samples).with_metrics(["containment(matcher=words)@2"]).run()
    assert (result.notes, next(iter(result.metrics.values())).values.tolist()) == ((), [0.0, 1.0, 1.0, 0.0])
