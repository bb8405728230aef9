"""
`cover` and `passage`: against the truth by offsets, and by hand on the forms that texts take.
"""

from __future__ import annotations

import json
import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import in_thorough_suite
from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.matchers.cover import cover, cover_batch, covered_parts
from rankgauge.matchers.spelling import plain_number, plain_words
from rankgauge.matchers.word_runs import read_words
from rankgauge.plugin.matching import Covers
from tables import rows

WORDS = ("ab", "cde", "fghi", "j")  # none begins or ends with another
FEW = st.lists(st.sampled_from(WORDS), max_size=14)


def score(gold: str, retrieved: str, **options: float) -> float:
    """Return the cover of a gold text."""
    return float(cover([retrieved], [gold], **options).scores()[0, 0])


def matches(gold: str, retrieved: str, matcher: str = "passage") -> bool:
    """Return the verdict of a run."""
    sample = {"id": "q", "expected_output": {"passages": [gold]}, "actual_output": {"retrieved": [{"text": retrieved}]}}
    result = Engine().dataset([sample]).with_metrics(f"hit(matcher={matcher})@1").run()
    return next(iter(result.metrics.values())).mean == 1.0


def words_of(chance: random.Random, count: int) -> list[str]:
    """Return different words, none of which begins or ends with another."""
    return [f"{chance.choice('bcdfg')}{number:x}{'aeiou'[number % 5]}q".translate(_LETTERS) for number in range(count)]


_LETTERS = str.maketrans("0123456789", "hjklmnprst")


@given(st.integers(0, 10_000), st.integers(12, 40), st.data())
def test_a_cut_covers_what_it_was_cut_from(seed: int, count: int, data: st.DataObject) -> None:
    """The truth by offsets, of texts whose words are all different."""
    words = words_of(random.Random(seed), count)  # noqa: S311  # no secret
    begin = data.draw(st.integers(0, count))
    end = data.draw(st.integers(begin, count))
    gold, chunk = " ".join(words), f"{' '.join(words[begin:end])}"
    held = words[begin:end] if end - begin >= 3 else []
    assert score(gold, chunk) == pytest.approx(sum(map(len, held)) / sum(map(len, words)))
    between = f"Other words stand here.\n{chunk}\nAnd more of them here."
    assert score(gold, between) == score(gold, chunk)


@given(st.integers(0, 10_000), st.integers(1, 12))
def test_characters_that_chunks_share_out_add_up_to_all(seed: int, size: int) -> None:
    """Chunks of any size that are cut inside words cover nearly everything together, and never more."""
    text = " ".join(words_of(random.Random(seed), 60))  # noqa: S311  # no secret
    step = 20 + 7 * size
    covers = cover([text[at : at + step] for at in range(0, len(text), step)], [text])
    held = np.zeros(int(covers.size[0]), dtype=np.int64)
    for start, end in zip(covers.start.tolist(), covers.end.tolist(), strict=True):
        held[start:end] += 1
    assert held.max() == 1
    assert held.mean() > 1 - 14 / step  # up to two words at each end


@given(st.lists(FEW, max_size=3), st.lists(FEW, max_size=3), st.sampled_from([0.25, 0.5, 0.9]))
def test_cutoff_and_company_change_no_verdict(retrieved: list[list[str]], gold: list[list[str]], cutoff: float) -> None:
    chunks, golds = ([" ".join(text) for text in texts] for texts in (retrieved, gold))
    whole, cut = cover(chunks, golds), cover(chunks, golds, cutoff=cutoff)
    for row, chunk in enumerate(chunks):
        for column, text in enumerate(golds):
            assert parts_in(cover([chunk], [text]), 0, 0) == parts_in(whole, row, column)
    together = [together_of(whole, column) for column in range(len(golds))]
    for column, share in enumerate(together):
        assert (share >= cutoff) == (together_of(cut, column) >= cutoff)
        if share >= cutoff:
            assert together_of(cut, column) == share


def parts_in(covers: Covers, row: int, column: int) -> list[tuple[int, int]]:
    """Return the parts of one pair."""
    chosen = (covers.row == row) & (covers.column == column)
    return list(zip(covers.start[chosen].tolist(), covers.end[chosen].tolist(), strict=True))


def together_of(covers: Covers, column: int) -> float:
    """Return which share of a gold text all retrieved texts cover together, by counting every character."""
    held: set[int] = set()
    for start, end, of in zip(covers.start.tolist(), covers.end.tolist(), covers.column.tolist(), strict=True):
        held |= set(range(start, end)) if of == column else set()
    return len(held) / int(covers.size[column])


def test_a_run_does_not_cross_the_end_of_a_gold_text() -> None:
    """What a pair covers does not depend on the next gold text."""
    gold, chunk = "al be ce q1 q2 al be ce q3 q4 xx yy zz al be", "xx yy zz al be ce ww vv"
    alone = cover([chunk], [gold])
    for following in ("ce ww vv", "other words", "ce"):
        block = cover([chunk], [gold, following])
        assert parts_in(block, 0, 0) == parts_in(alone, 0, 0)


def test_a_run_at_the_end_of_a_result_does_not_see_the_next_one() -> None:
    """Three words with a piece of the first; also where a script without spaces follows in the stream."""
    gold, chunk = "how the mouse fell off it", "e mouse fell"
    for following in ([], ["\u4eac x y"], ["a b c"]):
        assert parts_in(cover([chunk, *following], [gold]), 0, 0) == [(5, 6), (6, 15)]
    for following in ([], ["x y z"]):  # a character counts half as much as a word
        assert parts_in(cover(["e mouse \u4eac", *following], ["how the mouse \u4eac off it so"]), 0, 0) == []


def test_score_is_the_share_of_characters_of_words() -> None:
    # aaaa bbb cc | d eeeee: 9 of 15 letters stand in the chunk in a run of three words, and two words are no run
    assert score("aaaa bbb cc d eeeee f", "x. aaaa, bbb; cc. Y d eeeee") == pytest.approx(9 / 16)
    assert score("aaaa bbb cc d eeeee f", "x. aaaa, bbb; cc. Y. d eeeee", n=2) == pytest.approx(15 / 16)
    assert score("a b c d e f", "d e f. a b c") == pytest.approx(3 / 6)  # not in the same order


@pytest.mark.parametrize(
    ("gold", "chunk", "whole"),
    [
        ("41", "born in 1941", False),
        ("41", "there are 41.", True),
        ("New York", "in new york city", True),
        ("New York", "new jersey and york", False),
        ("in New York city", "New York", False),
        ("!!", "well!!", False),
        ("!!", "!!", True),
    ],
)
def test_a_text_of_few_words_stands_there_whole(gold: str, chunk: str, whole: bool) -> None:
    assert score(gold, chunk) == float(whole)


TEXT = "The quick brown fox jumps over the lazy dog; it doesn't stop before the café closes at 10 p.m."


@rows(
    "changed",
    [
        TEXT.upper(),
        TEXT.replace(" ", "\n\t "),
        TEXT.replace("jumps", "jum-\nps").replace("before", "be- \r\n  fore"),
        TEXT.replace("lazy", "la\u00adzy"),
        TEXT.replace("'", "\u2019").replace(";", " \u2014"),
        f"\u201c{TEXT}\u201d",
        json.dumps(TEXT),
        json.dumps(TEXT, ensure_ascii=False)[1:-1].replace(" ", "\\n"),
        TEXT.replace("quick", "**quick**").replace("lazy", "_lazy_").replace("dog", "[dog](https://dogs.example/a_b)"),
        f"<p class='a'>{TEXT.replace('brown', '<b>brown</b>').replace(';', '<br/>')}</p>",
        TEXT.replace("'", "&#39;").replace("\u00e9", "&eacute;"),
        TEXT.replace("\u00e9", "e\u0301"),
        TEXT.replace("10", "\uff11\uff10").replace("fox", "\uff46\uff4f\uff58"),
        f"Date: 2023-05-20\nuser: {TEXT}",
    ],
)
def test_the_form_of_a_text_does_not_matter(changed: str) -> None:
    before, behind = "Some other words stand here. ", " And others follow behind."
    assert score(TEXT, before + changed + behind) == 1.0
    assert score(changed.removeprefix("Date: 2023-05-20\nuser: "), before + TEXT + behind) == 1.0
    assert matches(TEXT, changed)


def test_typos_cost_the_words_around_them() -> None:
    words = [f"{chr(97 + at % 26)}{'xyz'[at % 3]}word" for at in range(40)]
    typos = [word + "q" if at % 9 == 4 else word for at, word in enumerate(words)]
    lost = sum(len(word) for at, word in enumerate(words) if at % 9 == 4)
    assert score(" ".join(words), " ".join(typos)) == pytest.approx(1 - lost / sum(map(len, words)))


@pytest.mark.parametrize(
    ("gold", "chunk"),
    [
        ("東京は日本の首都です", "ご存じの通り、東京は日本の首都です。人口は多い。"),
        ("กรุงเทพเป็นเมืองหลวง", "เมืองกรุงเทพเป็นเมืองหลวงของไทย"),
        (
            "def area(radius):\n    return pi * radius ** 2",
            "import math\ndef area(radius):\n  return pi*radius**2\n\nprint(area(3))",
        ),
        ("| 2014 | 31.5 | 17 |", "| year | rate | n |\n|---|---|---|\n| 2013 | 30.1 | 12 |\n| 2014 | 31.5 | 17 |\n"),
        ("- milk\n- fresh eggs\n- rye bread", "To buy:\n1. milk\n2. fresh eggs\n3. rye bread\n"),
    ],
)
def test_scripts_without_spaces_code_tables_and_lists(gold: str, chunk: str) -> None:
    assert matches(gold, chunk)
    assert not matches(gold, chunk[::-1])


def parts_of(gold: str, retrieved: str) -> list[str]:
    (parts,) = covered_parts([[retrieved]], [[gold]])
    return [gold[start:end] for start, end in parts.get((0, 0), [])]


def test_other_numbers_in_the_same_words_are_another_fact() -> None:
    gold = "Total expense for repairs was $2.4 billion for 2014, including materials."
    same = gold.replace(", including", " ,\nincluding")
    other = gold.replace("2.4", "1.9").replace("2014", "2013")
    assert score(gold, f"Notes. {same} More.") == 1.0
    assert score(gold, f"Notes. {other} More.") == 0.0
    assert not matches(gold, f"Notes. {other} More.")
    assert not parts_of(gold, f"Notes. {other} More.")
    long = " ".join(f"item{chr(97 + at)} cost {at} dollars" for at in range(20))  # one number of twenty is enough
    assert not matches(long, long.replace("cost 7 dollars", "cost 71 dollars"))


def test_words_that_a_chunk_cuts_count_in_part() -> None:
    # abcdefgh ijkl mnop qrst|uvwx yz st: the chunk has 20 of 28 letters, the last word in part
    gold = "abcdefgh ijkl mnop qrstuvwx yz st"
    assert score(gold, "... abcdefgh ijkl mnop qrst") == pytest.approx(20 / 28)
    assert score(gold, "efgh ijkl mnop qrstuvwx. And") == pytest.approx(20 / 28)
    assert score(gold, "efgh ijkl mn") == pytest.approx(10 / 28)  # the two that are cut count as words of the run
    assert score("so it grew to $ 30,000 in 1", "so it grew to $ 3") == pytest.approx(
        10 / 19
    )  # 3 may be cut from 30,000
    assert score("so it grew to $ 30,000 in 1", "so it grew to $ 3.") == 0.0  # but not where the sentence ends


@given(st.text(max_size=40))
def test_words_are_the_same_one_by_one_and_together(text: str) -> None:
    apart = [word.text for word in plain_words(text)]
    stream = read_words([text])
    assert [plain_number(stream.spelled(at)) for at in range(len(stream.words))] == apart
    alone = read_words([" ".join(apart)])
    if len(alone.words) == len(apart):
        assert stream.words.tolist() == alone.words.tolist()  # equal words have equal hashes, however they are written


TELLING = [
    *("a", "Ab", "can", "not", "don", "\u00e9", "\u00c9a", "\u0301", "\ufb01", "\u5317\u4eac", "12", "0", "2.50"),
    *(" ", "  ", "_", "-", "/", ".", ",", ":", "(", ")", "](", "<", ">", "&", "|", "\t", "\n", "\r\n", "\0", "\2"),
    *("...", "\u2026", "\u2013", "\u2019", "\u00ad", "\u2010", "\u2028", "\u3002", "\u2022", "\ud800", "\u00b2"),
    *("n't", "N'T", "n\u2019t", "N\u2019T", "cannot", "CANNOT", "<b>", "</div>", "<\u017fpan>", "&amp;", "&#39;"),
    *("(http://x)", "-\n", "\n 3. ", "1) ", "\\", "\\n", "\\u0041"),
]
"""What begins or ends words, markup, negations and signs that are replaced."""


@given(st.lists(st.lists(st.sampled_from(TELLING), max_size=12).map("".join), max_size=6))
def test_words_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    stream = read_words(texts)
    begin = 0
    for place, text in enumerate(texts):
        alone, end = read_words([text]), int(stream.first[place + 1])
        assert stream.words[begin:end].tolist() == alone.words.tolist()
        assert stream.flags[begin:end].tolist() == alone.flags.tolist()
        assert np.diff(stream.ends[begin : end + 1]).tolist() == np.diff(alone.ends).tolist()
        assert [plain_number(alone.spelled(at)) for at in range(end - begin)] == [w.text for w in plain_words(text)]
        begin = end


@given(st.text(max_size=60))
def test_a_text_covers_itself(text: str) -> None:
    if text:
        assert score(text, text) == 1.0


def test_covered_parts_are_places_of_the_gold_text() -> None:
    gold = 'He said: "One two exam-\nple four" & left <b>early</b> that day'
    parts = parts_of(gold, "... one two example four. Then: left early that day!")
    assert parts == ['One two exam-\nple four" & ', "left <b>early</b> that day"]


def test_a_gold_text_that_two_chunks_share_is_covered_whole() -> None:
    gold = "(Alpha beta, gamma - delta; epsilon zeta.)"
    assert parts_of(gold, "Before. Alpha beta, gamma") + parts_of(gold, "delta; epsilon zeta. After.") == [
        "(Alpha beta, gamma - ",
        "delta; epsilon zeta.)",
    ]


def test_parts_of_words_that_a_chunk_cuts_are_covered() -> None:
    gold = "abcdefgh ijkl mnop qrstuvwx yz st"
    assert "".join(parts_of(gold, "... abcdefgh ijkl mnop qrst")) == "abcdefgh ijkl mnop qrst"
    assert "".join(parts_of(gold, "efgh ijkl mnop qrstuvwx. And")) == "efgh ijkl mnop qrstuvwx "


def test_common_words_in_the_middle_of_both_texts_are_chance() -> None:
    gold = "Rents rose by a fifth in the united states last year, which nobody had foreseen."
    other = "Most of the oil that is used in the united states comes from Canada and from Mexico."
    assert score(gold, other) == 0.0
    assert not parts_of(gold, other)
    assert parts_of(gold, "in the united states last year, which. And more.") == [
        "in the united states last year, which "
    ]


def test_covered_parts_of_many_samples_are_those_of_each() -> None:
    one, two = "alpha beta gamma delta epsilon", "zeta eta theta iota kappa"
    blocks = covered_parts([["x", one], [], [two, f"{one} {two}"]], [[two, one], [one], [one, two]])
    whole_one, whole_two = [(0, len(one))], [(0, len(two))]
    assert blocks == [{(1, 1): whole_one}, {}, {(0, 1): whole_two, (1, 0): whole_one, (1, 1): whole_two}]


@in_thorough_suite()
def test_gold_texts_are_found_among_thousands_as_alone() -> None:
    """Words so few that most runs stand in several of the gold texts."""
    chance = random.Random(3)  # noqa: S311  # no secret
    words = [f"word{number}" for number in range(10)]
    gold = [" ".join(chance.choices(words, k=8)) for _ in range(3000)]
    chunk = ".\n".join(gold[5:8])
    together = cover_batch([[chunk]], [gold])[0].scores()[0]
    assert together[5:8].tolist() == [1.0, 1.0, 1.0]
    assert np.count_nonzero(together) >= 3
    assert together[:300].tolist() == [score(text, chunk) for text in gold[:300]]


@in_thorough_suite()
def test_repetitions_stay_linear() -> None:
    text = "a " * 60_000
    assert score(text, text) == 1.0
    assert score("a b " * 30_000, "b a " * 30_000) > 0.5


def test_a_parameter_that_cannot_be_is_refused() -> None:
    with pytest.raises(Exception, match="n is the number of words"):
        Catalog.discover().matcher("cover(n=0) >= 0.5").check_usable()


def test_the_true_half_counts_beside_a_template_with_other_numbers() -> None:
    gold = "As of May 31, 2008, the firm had $404 million of cost related to leased rooms, expected over 3.4 years."
    half = "million of cost related to leased rooms, expected over 3.4 years."
    template = "As of May 31, 2008, the firm had $583 million of cost related to owned houses."
    # Behind the half stands the template of another fact, whose runs have more letters in common with the gold text.
    letters, whole = (len(re.sub(r"[ ,$]|\.$", "", text)) for text in (half, gold))
    assert score(gold, f"{half} {template}") == pytest.approx(letters / whole)


@pytest.mark.parametrize(
    ("gold", "chunk", "letters"),
    [
        ("s o n`python\ndef old_", "python\ndef old_r", [(3, 12), (12, 15)]),  # s, o, n, python, def, old: 15 letters
        ("s o n`python\ndef old_r", "python\ndef old_", [(3, 12), (12, 16)]),  # the gold word has the underscore
        ("_new file name here p q", "a_new file name here p q", [(0, 3), (3, 17)]),
    ],
)
def test_a_sign_at_a_cut_counts_as_a_letter_only_inside_a_gold_word(
    gold: str, chunk: str, letters: list[tuple[int, int]]
) -> None:
    covers = cover([chunk], [gold])

    assert sorted(zip(covers.start.tolist(), covers.end.tolist(), strict=True)) == letters


@given(st.data())
def test_what_is_covered_lies_within_the_gold_text(data: st.DataObject) -> None:
    text = data.draw(st.text("ab1A _-/.,:'\n\u2019\u00e9\u0301", min_size=20, max_size=80))
    places = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(sorted)
    chunk, gold = (text[begin:end] for begin, end in (data.draw(places), data.draw(places)))
    covers = cover([chunk], [gold])

    assert (covers.start >= 0).all()
    assert (covers.start < covers.end).all()
    assert (covers.end <= covers.size[covers.column]).all()
    for begin, end in (part for parts in covered_parts([[chunk]], [[gold]])[0].values() for part in parts):
        assert 0 <= begin < end <= len(gold)


@in_thorough_suite()
def test_every_ideograph_is_a_word_in_its_own_form() -> None:
    blocks = (range(0x3041, 0x3097), range(0x30A1, 0x30FB), range(0x4E00, 0xA000))
    text = "".join(chr(code) for block in blocks for code in block)
    stream = read_words([text, "か\u3099"])  # of which the second is a letter and a mark, one word together
    assert [stream.spelled(at) for at in range(len(text))] == list(text)
    assert [word.text for word in plain_words(text)] == list(text)
    assert stream.spelled(len(text)) == "が"
    assert len(stream.words) == len(text) + 1


@given(st.text(st.sampled_from("aéßñ½²٣北がไㇰ_-. "), max_size=12), st.sampled_from(["", "\u0301", "\u0e48", "\u3099"]))
def test_words_are_the_same_whether_any_text_has_marks(text: str, mark: str) -> None:
    """Marks are looked for only where there are any, which changes no other word."""
    alone, beside = plain_words(text), plain_words(f"{text} o{mark}")
    assert beside[: len(alone)] == alone
    assert len(beside) == len(alone) + 1


@pytest.mark.parametrize("code", range(5))
def test_escaped_control_characters_say_nothing_of_the_next_text(code: int) -> None:
    alone, after = (read_words(texts) for texts in (["word"], [f"one\\u000{code}", "word"]))
    assert after.flags.tolist()[1:] == alone.flags.tolist()
