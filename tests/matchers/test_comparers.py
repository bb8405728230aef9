"""Comparers: values worked out by hand, forms told apart, and probes that never hold back what occurs."""

from __future__ import annotations

import json
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from draws import in_thorough_suite, some
from rankgauge.errors import MatcherError
from rankgauge.matchers.comparers import (
    contained,
    edit_ratio,
    equal,
    infix_edit,
    infix_edit_batch,
    is_chunk_of_original,
    partial_ratio,
    remem,
    token_overlap,
)
from rankgauge.matchers.escapes import (
    PART,
    escaped_forms,
    json_escaped,
    json_escaped_batch,
    may_occur,
    plain_parts,
    stands_in,
    unescape,
)
from tables import rows

MEGABYTE = 1 << 20
PROSE = "The quick brown fox jumps over the lazy dog, and nobody has ever seen it do so twice on one day. "
PIECES = st.sampled_from(
    [
        PROSE,
        PROSE[:30],
        "ab",
        "a",
        " ",
        '"',
        "\\",
        "\n",
        "\\n",
        '\\"',
        "\\u00e9",
        "\u00e9",
        "\x7f",
        "/",
        "\\/",
        "漢字",
        "\U0001f600",
    ]
)
TEXTS = st.lists(PIECES | st.characters(exclude_categories=()), max_size=12).map("".join)


def holds(found, wanted):
    """Restate `json-escaped` plainly."""
    if not found:
        return False
    plain = unescape(found)
    forms = [found, json.dumps(found)[1:-1], json.dumps(found, ensure_ascii=False)[1:-1], *([plain] if plain else [])]
    return any(form in wanted for form in forms)


@st.composite
def pairs(draw):
    """Return retrieved and gold texts, some retrieved ones cut from gold ones, escaped or not."""
    gold = draw(st.lists(TEXTS, max_size=3))
    gold += [json.dumps(text, ensure_ascii=draw(st.booleans()))[1:-1] for text in gold if draw(st.booleans())]
    retrieved = draw(st.lists(TEXTS, max_size=3))
    for text in gold:
        start = draw(st.integers(0, len(text)))
        retrieved.append(text[start : start + draw(st.integers(0, 200))])
    retrieved += [json.dumps(text)[1:-1] for text in retrieved if draw(st.booleans())]
    retrieved += [unescape(text) for text in retrieved if draw(st.booleans())]
    return retrieved, gold


@given(pair=pairs())
def test_json_escaped_equals_its_plain_restatement(pair):
    retrieved, gold = pair

    assert json_escaped(retrieved, gold).tolist() == [[float(holds(a, b)) for b in gold] for a in retrieved]


@given(pair=pairs())
def test_json_escaped_is_the_same_in_large_blocks(pair):
    """Long gold texts are looked through by a table instead of one by one."""
    retrieved, gold = pair
    long = [f"{text}{PROSE * 300}" for text in gold]

    assert json_escaped(retrieved, long).tolist() == [[float(holds(a, b)) for b in long] for a in retrieved]


def test_json_escaped_by_hand():
    quoted = 'She said "no"\nand left.'
    gold = [quoted, json.dumps(quoted), "caf\u00e9", '"caf\\u00e9"', '{"a": "b"}']

    assert json_escaped([quoted, 'said \\"no\\"\\nand', "caf\u00e9", "caf\\u00e9", ""], gold).tolist() == [
        [1.0, 1.0, 0.0, 0.0, 0.0],
        [1.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 1.0, 0.0],
        [0.0, 0.0, 1.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0],
    ]


@given(text=TEXTS)
@example(text="x" * 40 + "\\u00e9" + "y" * 40)
@example(text=("\\ud83d\\ude00" + "abcdefghijklmnopqrstuvwxyz") * 3)
@example(text="\\" * 9 + "n" * 40)
def test_the_plain_part_of_a_text_stands_in_all_its_forms(text):
    (part,) = plain_parts([text])

    assert len(part) in {0, PART}
    for form in (text, *escaped_forms(text), unescape(text)):
        assert part in form


@given(text=TEXTS, others=st.lists(TEXTS, max_size=3), at=st.integers(0, 400), lead=st.integers(0, 9))
def test_a_part_that_occurs_is_never_held_back(text, others, at, lead):
    whole = "漢" * lead + text + PROSE
    signs = [*plain_parts(others), *plain_parts([whole[at:]]), ""]
    texts = [whole[3:], whole, PROSE]
    answers = may_occur(signs * 3, np.full(3, len(signs)), texts)

    assert len(answers) == 3 * len(signs)
    asked = [(sign, text) for text in texts for sign in signs]
    assert all(answer for (sign, text), answer in zip(asked, answers, strict=True) if sign in text)


@given(text=TEXTS)
def test_escaped_forms_are_what_json_writes(text):
    forms = {json.dumps(text, ensure_ascii=narrow)[1:-1] for narrow in (True, False)} - {text}

    assert set(escaped_forms(text)) == forms
    assert len(escaped_forms(text)) == len(forms)


def test_parts_that_do_not_occur_are_held_back():
    words = [sha256(b"%d" % number).hexdigest()[:PART] for number in range(200)]

    hundred, both = np.array([100]), np.array([100, 100])
    assert may_occur(words[:100], hundred, ["".join(words[:100])]).all()
    assert may_occur(words[100:], hundred, [PROSE * 20]).sum() < 10
    assert may_occur(words, both, ["".join(words[100:]), "".join(words[:100])]).sum() < 10  # each in its own text
    assert may_occur([], np.array([0]), ["x"]).tolist() == []
    assert may_occur(["", words[0]], np.array([2]), [""]).tolist() == [True, False]


@given(pairs=st.lists(st.tuples(st.lists(TEXTS, max_size=4), st.lists(TEXTS, max_size=3)), max_size=5))
def test_many_samples_at_once_score_as_each_alone(pairs):
    retrieved = [[*own, *(text[2:] for text in gold)] for own, gold in pairs]
    golds = [gold for _, gold in pairs]
    for alone, together in ((json_escaped, json_escaped_batch), (infix_edit, infix_edit_batch)):
        for lead in ("", PROSE * 40):  # short texts are looked up one by one, long ones together
            own = [[lead + text for text in texts] for texts in golds]
            expected = [alone(*each).tolist() for each in zip(retrieved, own, strict=True)]
            assert [block.tolist() for block in together(retrieved, own)] == expected


@given(form=st.text("ab", min_size=1, max_size=8), text=st.text("ab", max_size=40), data=st.data())
def test_stands_in_equals_in(form, text, data):
    start = data.draw(st.integers(0, len(form)))
    part = form[start : data.draw(st.integers(start, len(form)))]
    at = text.find(part)
    if at >= 0:
        assert stands_in(form, text, part, at) == (form in text)


def test_stands_in_looks_on_where_the_part_occurs_many_times_before_the_form():
    text = "a" * 50 + "b"

    assert stands_in("ab", text, "a", 0)
    assert not stands_in("ac", text, "a", 0)
    assert stands_in("xa", "a" * 50 + "xa", "a", 0)


def test_token_overlap_by_hand():
    # the cat sat on the mat: 6 tokens, 2 of them "the"; the the dog: 3 tokens; in common: the, the
    one, other = ["the cat  sat\non the mat"], ["the the dog"]

    assert token_overlap(one, other).tolist() == [[2 / 6]]
    assert token_overlap(one, other, over="gold").tolist() == [[2 / 3]]
    assert token_overlap(one, other, over="both").tolist() == [[2 / 4.5]]
    assert token_overlap(["", " ", "a"], ["", " ", "b"]).tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_edit_ratio_by_hand():
    # "kitten" and "sitting" have "ittn" in common: 2 * 4 / 13
    assert edit_ratio(["kitten"], ["sitting"]).tolist() == [[pytest.approx(8 / 13, rel=1e-12)]]
    assert edit_ratio(["kitten"], ["sitting"], cutoff=0.7).tolist() == [[0.0]]
    assert edit_ratio(["", "a"], ["", "a"]).tolist() == [[0, 0], [0, 1]]


def test_partial_ratio_by_hand():
    # "abxd" against the part "abcd": "abd" in common, 2 * 3 / 8
    assert partial_ratio(["abxd"], ["..abcd.."]).tolist() == [[pytest.approx(6 / 8, rel=1e-12)]]
    assert partial_ratio(["abcd"], ["..abcd.."]).tolist() == [[1.0]]
    assert partial_ratio(["abxd"], ["..abcd.."], cutoff=0.8).tolist() == [[0.0]]


def test_infix_edit_by_hand():
    # "jumps owver teh" without its w and its last e is "jumps over th": 13 of 15 stay
    assert infix_edit(["jumps owver teh"], [PROSE]).tolist() == [[13 / 15]]
    assert infix_edit(["jumps owver teh"], [PROSE], cutoff=13 / 15).tolist() == [[13 / 15]]
    assert infix_edit(["jumps owver teh"], [PROSE], cutoff=0.87).tolist() == [[0.0]]
    assert infix_edit(["jumps over"], [PROSE]).tolist() == [[1.0]]
    assert infix_edit(["", "x"], ["", "y"]).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert infix_edit(['a\nb "c"'], ['..a\\nb \\"c\\"..'], cutoff=0.9).tolist() == [[0.0]]
    assert infix_edit(['a\nb "c"'], ['..a\\nb \\"c\\"..'], cutoff=0.9, escaped=True).tolist() == [[1.0]]


@rows(
    ("chunk", "original", "verdict"),
    [
        ("Date: 2023-05-20\nuser: hello", "well hello there", True),
        ("Date: 2023-05-20", "anything", True),  # nothing is left, and nothing is in everything
        ("date: 2023-05-20\nhello", "hello", False),
        ("User: hello", "hello", False),
        ("user: a: b", "xax", True),  # only up to the second ": "
        ("", "anything", True),
        ('a "b"', '["a \\"b\\""]', True),
        ('a "b"', 'a \\"b\\" c', False),  # the JSON form has its quotes
        ("user: caf\u00e9", 'caf\\u00e9"', True),
        ("user: caf\u00e9", "caf\\u00e9 c", False),
        ("doc1", "doc10", True),
    ],
)
def test_remem_decides_to_the_letter(chunk, original, verdict):
    assert verdict == is_chunk_of_original(chunk, original)
    assert remem([chunk], [original]).tolist() == [[float(verdict)]]


@in_thorough_suite()
@rows("function", [equal, contained, json_escaped, remem, token_overlap])
@rows("text", some(["user: ", "a", "\\", '"', "\\u00e9", "漢", PROSE]))
def test_comparer_comes_to_an_end_on_megabytes(function, text):
    long = text * (MEGABYTE // len(text))
    scores = function([long, long[:-1] + "\0", long[1:]], [long, long + "\0"])

    assert scores.shape == (3, 2)
    assert scores[0, 0] == 1.0


@pytest.mark.parametrize("function", [equal, contained, json_escaped, remem, token_overlap, infix_edit, edit_ratio])
def test_comparer_leaves_its_arguments_as_they_are(function):
    retrieved, gold = [PROSE, "user: x", ""], [f"{PROSE}{PROSE}", "x"]
    before = (list(retrieved), list(gold))
    first = function(retrieved, gold)

    assert before == (retrieved, gold)
    assert np.array_equal(first, function(tuple(retrieved), tuple(gold)))


@pytest.mark.parametrize(
    ("compare", "found", "wanted"),
    [
        (partial_ratio, 8_000, 16_000),  # 8,000 * 8,000 * 24,000 is above 68 billion
        (partial_ratio, 16_000, 8_000),
        (edit_ratio, 300_000, 300_000),  # 9 * 10**10 is above 68 billion
        (infix_edit, 300_000, 300_000),
    ],
)
def test_texts_that_would_take_too_long_are_refused_with_their_lengths(compare, found, wanted):
    texts = ["a" * (found // 2) + "b" * (found // 2)], ["ab" * (wanted // 2)]
    with pytest.raises(MatcherError, match=f"texts of {found:,} and {wanted:,} characters"):
        compare(*texts)


@pytest.mark.parametrize("length", [10, 20_000])
def test_a_text_that_occurs_scores_one_however_long(length):
    long = "".join(chr(97 + (n * n + n // 7) % 26) for n in range(2 * length))
    assert partial_ratio([long[length // 2 : length]], [long]).tolist() == [[1.0]]


def test_chunks_and_passages_of_usual_length_are_compared():
    """2,000 characters against 10,000, of which every tenth differs: 1,800 of 2,000 stand in both."""
    passage = "".join(chr(97 + (n * n + n // 7) % 26) for n in range(10_000))
    chunk = "".join("#" if n % 10 == 0 else letter for n, letter in enumerate(passage[4_000:6_000]))
    assert partial_ratio([chunk], [passage]).tolist() == [[0.9]]
