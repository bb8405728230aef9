"""Near-copies between two corpora: which documents of one are in the other, with the share of words in common."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.draws import draws

from rankgauge.errors import ParameterError
from rankgauge.features.labels.corpus_copies import CorpusCopies, copies_between, copy_lines
from rankgauge.io.corpus import Corpus

PUMP = "The pump was bought in 1998 by the city of Kiel, and failed twice during the winter of 2004."
BREAD = "Knead the dough for ten minutes, let it rest under a wet towel, and bake it in a very hot oven."


def corpus(**texts: str) -> Corpus:
    return Corpus(tuple(texts), ("",) * len(texts), tuple(texts.values()))


def found(first: dict[str, str], second: dict[str, str], **options: float) -> CorpusCopies:
    return copies_between(corpus(**first), corpus(**second), **options)


def shares(first: str, second: str) -> tuple[float, float]:
    """Return the share of the words of each that stand in runs of three words of the other, word by word."""
    sides = first.lower().split(), second.lower().split()
    runs = [{tuple(words[at : at + 3]) for at in range(len(words) - 2)} for words in sides]
    known = runs[0] & runs[1]
    covered = []
    for words in sides:
        places = {at + step for at in range(len(words) - 2) if tuple(words[at : at + 3]) in known for step in range(3)}
        covered.append(len(places) / len(words) if words else 0.0)
    return covered[0], covered[1]


class TestCopies:
    @pytest.mark.parametrize("other", [PUMP, PUMP.upper(), f"  {PUMP.replace(',', '')}\n", f"**{PUMP}**"])
    def test_case_markup_and_punctuation_do_not_count(self, other: str) -> None:
        (copy,) = found({"a": PUMP, "b": BREAD}, {"x": other}).copies
        assert copy == ("x", "a", 1, 1, True)

    def test_one_changed_word_costs_that_word(self) -> None:
        """The text has 19 words, of which `twice` is another one."""
        (copy,) = found({"a": PUMP}, {"x": PUMP.replace("twice", "thrice")}).copies
        assert copy == ("x", "a", 18 / 19, 18 / 19, False)

    def test_both_have_to_have_enough_in_common(self) -> None:
        """What goes on for as long again has half of its words in common, whichever of the two it is."""
        longer = f"{PUMP} {BREAD}"
        assert found({"a": PUMP}, {"x": longer}).copies == ()
        assert found({"a": longer}, {"x": PUMP}).copies == ()
        (copy,) = found({"a": longer}, {"x": PUMP}, least=0.4).copies
        assert (copy.share, copy.share_of_first) == (1, 19 / 40)

    def test_the_nearest_document_is_named(self) -> None:
        first = {"far": PUMP.replace("winter", "summer"), "near": PUMP, "again": PUMP}
        (copy,) = found(first, {"x": PUMP}).copies
        assert (copy.of, copy.is_whole) == ("near", True)

    def test_the_same_words_in_another_order_are_no_whole_copy(self) -> None:
        text = "one two three four five one two three six seven one two three four five"
        other = "one two three six seven one two three four five one two three four five"
        (copy,) = found({"a": text}, {"x": other}).copies
        assert not copy.is_whole

    @pytest.mark.parametrize("text", ["", "Yes.", "Four words are few"])
    def test_short_documents_are_counted_and_left_out(self, text: str) -> None:
        copies = found({"a": text}, {"x": text, "y": PUMP})
        assert (copies.short, copies.copies) == (1, ())

    def test_boilerplate_in_all_documents_is_no_copy(self) -> None:
        frame = "All rights reserved by the owners of this page and its pictures. Please print it on both sides."
        words = [f"w{at}" for at in range(600)]
        draw = random.Random(3)  # noqa: S311  # no secret
        pages = {f"p{at}": f"{frame} {' '.join(draw.sample(words, 40))}" for at in range(60)}
        others = {f"x{at}": f"{frame} {' '.join(draw.sample(words, 40))}" for at in range(60)}
        assert found(pages, others).copies == ()
        assert [copy.of for copy in found(pages, {"copy": pages["p41"]}).copies] == ["p41"]

    def test_counts(self) -> None:
        copies = found(
            {"a": PUMP, "b": BREAD},
            {"a": PUMP, "x": BREAD.replace("wet", "damp"), "y": "Quite another text than these."},
        )
        assert copies.to_dict()["counts"] == {"copies": 1, "near_copies": 1, "same_id": 1}
        assert copies.to_dict()["documents"] == {"first": 2, "second": 3, "short": 0}

    @pytest.mark.parametrize("least", [0, -1, 1.5])
    def test_a_share_that_is_none_is_refused(self, least: float) -> None:
        with pytest.raises(ParameterError, match="above 0 and at most 1"):
            found({"a": PUMP}, {"x": PUMP}, least=least)

    def test_the_lines(self) -> None:
        copies = found({"a": PUMP, "b": BREAD}, {"a": PUMP, "x": BREAD.replace("wet", "damp")})
        lines = [line.text for line in copy_lines(copies, most=1, width=None)]
        counts = "1 of 2 documents are copies of one of the other 2, and 1 nearly so"
        assert lines[0] == f"{counts}: 80 % or more of the words of both are in common"
        assert lines[1] == "1 of them have the same id in both"
        assert "and 1 more; --limit 0 shows all" in lines[-1]


_WORDS = st.lists(st.sampled_from("abcdef"), min_size=5, max_size=14)


@given(first=st.lists(_WORDS, min_size=1, max_size=3), second=st.lists(_WORDS, min_size=1, max_size=3))
@settings(max_examples=draws(100))
def test_shares_agree_with_brute_force(first: list[list[str]], second: list[list[str]]) -> None:
    """Documents of so few words keep all their runs, so that no pair is missed."""
    texts = [
        {f"{name}{at}": " ".join(words) for at, words in enumerate(side)}
        for name, side in (("a", first), ("b", second))
    ]
    wanted = {}
    for name, text in texts[1].items():
        pairs = {other: shares(text, their) for other, their in texts[0].items()}
        best = max(min(pair) for pair in pairs.values())
        if best >= 0.6:
            wanted[name] = best
    copies = found(texts[0], texts[1], least=0.6).copies
    assert {copy.document: pytest.approx(min(copy.share, copy.share_of_first)) for copy in copies} == wanted
    for copy in copies:
        assert (copy.share, copy.share_of_first) == pytest.approx(shares(texts[1][copy.document], texts[0][copy.of]))
        assert copy.is_whole == (texts[1][copy.document] == texts[0][copy.of])


def test_planted_copies_are_found_among_many() -> None:
    """Two hundred words each; none, two or eight of them were changed in 60 of 600 documents."""
    draw = random.Random(7)  # noqa: S311  # no secret
    words = [f"w{at}" for at in range(3000)]
    first = {f"a{at}": draw.choices(words, k=200) for at in range(600)}
    second = {f"b{at}": draw.choices(words, k=200) for at in range(600)}
    planted = {}
    for at in draw.sample(range(600), 60):
        name = f"a{draw.randrange(600)}"
        changed = list(first[name])
        for place in draw.sample(range(200), draw.choice([0, 2, 8])):
            changed[place] = "other"
        second[f"b{at}"], planted[f"b{at}"] = changed, name
    sides = [{name: " ".join(text) for name, text in side.items()} for side in (first, second)]
    copies = found(*sides).copies
    assert {copy.document: copy.of for copy in copies} == planted
