"""Where texts stand in a corpus, against a plain search for their words."""

from __future__ import annotations

import random

import pytest

from draws import in_thorough_suite, some
from rankgauge.features.labels import text_tracing
from rankgauge.features.labels.text_tracing import trace


def plainly(text: str, documents: list[str]) -> list[tuple[int, int]]:
    """Return the documents and places of a text's words, one by one."""
    wanted = text.split()
    return [
        (number, at)
        for number, document in enumerate(documents)
        for at in range(len(document.split()) - len(wanted) + 1)
        if document.split()[at : at + len(wanted)] == wanted
    ]


@pytest.mark.parametrize("seed", some(range(20)))
@pytest.mark.parametrize("batch", [30, 4_000_000])
def test_every_place_is_found(monkeypatch, seed, batch):
    """A few different words make many texts that stand in several places, overlap themselves and share all runs."""
    monkeypatch.setattr(text_tracing, "_BATCH", batch)
    drawn = random.Random(seed)  # noqa: S311
    words = [f"w{number}" for number in range(drawn.choice([2, 4, 40]))]
    documents = [" ".join(drawn.choices(words, k=drawn.randrange(30))) for _ in range(25)]
    texts = [" ".join(drawn.choices(words, k=drawn.randrange(1, 6))) for _ in range(30)]
    for _ in range(20):
        source = drawn.choice(documents).split()
        at = drawn.randrange(len(source) + 1)
        texts.append(" ".join(source[at : at + drawn.randrange(1, 9)]) or "w1")
    texts = list(dict.fromkeys(texts))
    for text, traced in zip(texts, trace(texts, documents), strict=True):
        assert [(place.document, place.start) for place in traced.places] == plainly(text, documents), text
        assert all(place.stop - place.start == len(text.split()) for place in traced.places)


def test_cover_is_that_of_runs_in_the_same_order():
    (traced,) = trace(["one two three four five six"], ["four five six one two three", "one two three x four five six"])
    assert traced.places == ()
    assert [(near.document, near.cover) for near in traced.near] == [(1, 1.0), (0, 0.5)]
    assert traced.near[0].covered == pytest.approx(22 / 23)


def test_a_document_is_not_its_own_twin():
    texts = ["one two three four five", "one two three four five"]
    first, second = trace(texts, texts, itself=[0, 1])
    assert [near.document for near in first.near] == [1]
    assert [near.document for near in second.near] == [0]


def test_nothing_is_traced_in_nothing():
    assert trace([], ["a b c"]) == []
    ((places, near),) = trace(["a b c"], [])
    assert (places, near) == ((), ())


@in_thorough_suite()
def test_texts_that_repeat_themselves_take_no_longer():
    """Every place of the text stands at every place of the document: 3,000 times 60,000 pairs."""
    (traced,) = trace(["na " * 3_000], ["na " * 60_000])
    assert [place.start for place in traced.places] == list(range(57_001))


def test_a_text_is_measured_where_most_of_it_stands():
    """Ten words in a long document that has some of their runs elsewhere, too."""
    words = [f"w{number}" for number in range(10)]
    filler = [f"f{number}" for number in range(500)]
    document = [*words[:3], *filler, *words[:4], "x", *words[5:], *filler, *words[5:8]]
    ((places, (near,)),) = trace([" ".join(words)], [" ".join(document)])
    assert places == ()
    assert near.runs == ((0, 503, 4), (5, 508, 5))
    assert near.cover == 0.9
    assert trace([" ".join(words)], [" ".join(document)], exact=[True]) == [((), ())]
