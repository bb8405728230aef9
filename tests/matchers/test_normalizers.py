"""Normalizers: values worked out by hand, and texts made to be slow."""

from __future__ import annotations

import itertools
import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import in_thorough_suite, some
from rankgauge.catalog import Catalog
from rankgauge.matchers.normalizers import (
    casefold,
    collapse_whitespace,
    collapse_whitespace_batch,
    json_unescape,
    lower,
    strip_date_prefix,
    strip_date_prefix_batch,
    strip_punctuation,
    strip_role_prefix,
    strip_role_prefix_batch,
    unicode_nfkc,
)
from tables import rows

NORMALIZERS = {name: claim.declaration for name, claim in Catalog.discover(own_only=True).all("normalizer").items()}

MEGABYTE = 1 << 20
# Each of them takes for ever where a prefix is cut off a copy at a time, or where an expression backs up.
HOSTILE = {
    "roles": "user: " * (MEGABYTE // 6),
    "roles that end badly": "user: " * (MEGABYTE // 6) + "user",
    "roles apart": "user:" + " " * MEGABYTE + "ai:",
    "a role that never ends": "assistant" + " " * MEGABYTE,
    "blanks": " \t\n\u2003" * (MEGABYTE // 4),
    "blanks before a letter": " " * MEGABYTE + "x",
    "date lines": "Date: 2023-05-20\n" * (MEGABYTE // 17),
    "written-out date lines": "Saturday, May 20, 2023 at 10:30 pm\n\n" * (MEGABYTE // 37),
    "dates in brackets": "[2023-05-20] " * (MEGABYTE // 13),
    "open brackets": "[" * MEGABYTE,
    "digits": "1" * MEGABYTE,
    "years": "2023-" * (MEGABYTE // 5),
    "months": "may " * (MEGABYTE // 4),
    "backslashes": "\\" * MEGABYTE,
    "half escapes": "\\u00" * (MEGABYTE // 4),
    "half surrogates": "\\ud83d" * (MEGABYTE // 6),
    "escapes of escapes": "\\\\n" * (MEGABYTE // 3),
    "marks": ".,;:!?\u2026\u3002" * (MEGABYTE // 8),
    "accents": "e" + "\u0301\u0323" * (MEGABYTE // 2),
    "letters that fold": "\u1e9e\u0130\ufb03" * (MEGABYTE // 3),
}
PREFIXES = st.sampled_from(
    [
        *(
            "user: ",
            "User:",
            "ASSISTANT : ",
            "system:\n",
            "human:",
            "ai:",
            "user",
            ":",
            "\u017fystem:",
            "[",
            "]",
            "(",
            ")",
        ),
        *(
            "Date: 2023-05-20\n",
            "2023-05-20",
            "[20 May 2023] ",
            "May 20th, 2023 10:00 am\n",
            "date:",
            "Sat, ",
            "2023",
            "\n",
        ),
        *(" ", "\u2003", "x", "20", "may ", "\\", "\\n", '\\"', "\\u0041", "\\ud83d", "\\ude00"),
    ]
)
TEXTS = st.lists(PREFIXES | st.characters(exclude_categories=()), max_size=12).map("".join)


@pytest.mark.parametrize("name", NORMALIZERS)
@given(text=TEXTS)
def test_normalizer_is_total_and_pure_over_prefixes_and_escapes(name, text):
    function = NORMALIZERS[name].function
    once = function(text)

    assert isinstance(once, str)
    assert once == function(text)
    if NORMALIZERS[name].stage != "decode":
        assert once == function(once)


@pytest.mark.parametrize("name", [name for name, each in NORMALIZERS.items() if each.stage == "strip"])
@given(text=TEXTS)
def test_stripping_leaves_an_end_of_the_text_that_is_not_blank(name, text):
    left = NORMALIZERS[name].function(text)

    assert text.endswith(left)
    assert not left.isspace()


MARKS = st.text(
    "\u0301\u0323\u0345\u0308\u0f71\u0f72\u0f73\u0344\u00e9\u1e69\uff9e\ud55c\u1100e\u03b1\ufb2c", max_size=90
)


@given(text=MARKS, run=st.text("\u0301\u0323\u0345\u0f72", min_size=31, max_size=60))
def test_long_runs_of_combining_marks_are_normalized_as_unicode_says(text, run):
    for whole in (text, text + run, run + text, f"{text}{run}{text}"):
        long = f"{'x' * 1024}{whole}"  # short texts go straight to `unicodedata`
        assert unicode_nfkc(whole) == unicodedata.normalize("NFKC", whole)
        assert unicode_nfkc(long) == unicodedata.normalize("NFKC", long)


@in_thorough_suite()
@rows(("name", "kind"), some(list(itertools.product(NORMALIZERS, HOSTILE)), of=7))
def test_normalizer_comes_to_an_end_on_a_megabyte_of_hostile_text(name, kind):
    assert isinstance(NORMALIZERS[name].function(HOSTILE[kind]), str)


@in_thorough_suite()
def test_what_is_left_of_hostile_text():
    assert strip_role_prefix(HOSTILE["roles"]) == ""
    assert strip_role_prefix(HOSTILE["roles that end badly"]) == "user"
    assert strip_role_prefix(HOSTILE["roles apart"]) == ""
    assert strip_role_prefix(HOSTILE["a role that never ends"]) == HOSTILE["a role that never ends"]
    assert strip_date_prefix(HOSTILE["date lines"]) == ""
    assert strip_date_prefix(HOSTILE["written-out date lines"]) == ""
    assert strip_date_prefix(HOSTILE["dates in brackets"]) == ""
    assert strip_date_prefix(HOSTILE["blanks"]) == ""
    assert json_unescape(HOSTILE["backslashes"]) == "\\" * (MEGABYTE // 2)


@rows(
    "line",
    [
        "Date: 2023-05-20",
        "date: 2023-05-20",
        "Date:2023-05-20",
        "DATE : 2023/5/20",
        "2023-05-20",
        "2023.05.20",
        "2023-05-20:",
        "[2023-05-20]",
        "(2023-05-20)",
        "[2023-05-20]:",
        "Date: [2023-05-20]",
        "2023-05-20 10:30",
        "2023-05-20T10:30:00Z",
        "2023-05-20 10:30:00.123 +02:00",
        "2023/05/20 (Sat) 02:21",
        "May 20, 2023",
        "May 20th 2023",
        "20 May 2023",
        "20th of May, 2023",
        "Sat, 20 May 2023 10:30:00 GMT",
        "Saturday, May 20, 2023 at 10:30 pm",
        "Sept. 3, 2023",
        "  2023-05-20\t",
        "Date:\u00a02023-05-20\r",
    ],
)
def test_a_line_with_a_date_is_stripped(line):
    assert strip_date_prefix(f"{line}\nthe rest") == "the rest"
    assert strip_date_prefix(line) == ""


@rows(
    "text",
    [
        "In 2023 we left\nthe rest",
        "2023-05-20 was a Saturday\nthe rest",
        "2023-05-20 is all there is on one long line" + " and more" * 20,
        "Date: tomorrow\nthe rest",
        "Date:\nthe rest",
        "May we?\nthe rest",
        "May 20\nthe rest",
        "20\nthe rest",
        "[2023-05-20\nthe rest",
        "(2023-05-20] x",
        "[sic] the rest",
        "\u017fat, 20 May 2023\nthe rest",
        "the rest\n2023-05-20\n",
        "Updated: 2023-05-20\nthe rest",
    ],
)
def test_a_line_that_is_no_date_alone_stays(text):
    assert text == strip_date_prefix(text)


def test_dates_are_stripped_again_and_again():
    assert strip_date_prefix("2023-05-20\n\n[20 May 2023]\n  Date: 2023-05-21\nthe rest") == "the rest"
    assert strip_date_prefix("[2023-05-20] the rest\nand 2023-05-21\n") == "the rest\nand 2023-05-21\n"
    assert strip_date_prefix("[2023-05-20]the rest") == "the rest"
    assert strip_date_prefix("[May 20, 2023 10:30 am] [2023-05-20] x") == "x"


@rows(
    ("text", "left"),
    [
        ("user: x", "x"),
        ("USER:x", "x"),
        ("Assistant :  x ", "x "),
        ("user: assistant:\nUser: x", "x"),
        ("  system: human: ai: x: y", "x: y"),
        ("users: x", "users: x"),
        ("user x", "user x"),
        ("user\n: x", "user\n: x"),
        ("the user: x", "the user: x"),
        ("airport: x", "airport: x"),
        ("user: ", ""),
        ("user:", ""),
        ("user: assistant: \n", ""),
        ("\n \t", ""),
        ("  x", "  x"),
    ],
)
def test_roles_are_stripped_in_any_case_nested_and_repeated(text, left):
    assert left == strip_role_prefix(text)


ROLE = re.compile(r"\s*(?:user|assistant|system|human|ai)[^\S\n]*:\s*", re.IGNORECASE)


@given(text=TEXTS)
def test_a_role_is_found_wherever_one_begins(text):
    left = text
    while role := ROLE.match(left):
        left = left[role.end() :]

    assert strip_role_prefix(text) == ("" if left.isspace() else left)


def test_what_is_blank_after_a_prefix_is_empty():
    assert strip_date_prefix("Date: 2023-05-20\n \n") == ""
    assert strip_date_prefix(" \n") == ""
    assert strip_date_prefix("Date: 2023-05-20\n  x") == "  x"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r"\"a\" \\ \/ \b\f\n\r\t", '"a" \\ / \b\f\n\r\t'),
        (r"caf\u00e9 \u00C9", "caf\u00e9 \u00c9"),
        (r"\ud83d\ude00", "\U0001f600"),
        (r"\ud83d \ude00 \x \u12 \u00zz", r"\ud83d \ude00 \x \u12 \u00zz"),
        (r"\\n", r"\n"),
        ("\\", "\\"),
        ("a\nb", "a\nb"),
    ],
)
def test_json_unescape_by_hand(text, plain):
    assert plain == json_unescape(text)


def test_white_space_of_every_kind_is_collapsed():
    blanks = [mark for mark in map(chr, range(sys.maxunicode + 1)) if mark.isspace()]
    forms = ("{0}", "a{0}", "{0}a", "a{0}b", "a{0}{0}b", "a {0}b", "a{0} b", "a{0}b c", "a\u00ad{0}b", "")
    texts = [form.format(blank) for form in forms for blank in blanks]
    assert len(blanks) > 20
    assert list(map(collapse_whitespace, texts)) == [" ".join(text.split()) for text in texts]
    assert collapse_whitespace_batch(texts) == [" ".join(text.split()) for text in texts]


@given(st.lists(st.text("ab \t\n\0\x1c\u00a0é", max_size=5), max_size=5))
def test_white_space_of_many_texts_is_collapsed_as_that_of_each(texts):
    assert collapse_whitespace_batch(texts) == [" ".join(text.split()) for text in texts]


def test_foldings_by_hand():
    assert unicode_nfkc("\ufb01ne \uff21\uff11 e\u0301 \u2460 \u00bd") == "fine A1 \u00e9 1 1\u20442"
    assert casefold("STRASSE stra\u00dfe") == "strasse strasse"
    assert lower("STRASSE Stra\u00dfe") == "strasse stra\u00dfe"
    assert collapse_whitespace(" a\u00a0\u2003b\r\n\tc ") == "a b c"
    assert (
        strip_punctuation("it\u2019s (well) \u2014 \u00abdone\u00bb, #1_a $5 + 3\u3002") == "its well  done 1a $5 + 3"
    )


@rows("date", ["2023-05-20", "Date: 2023-05-20", "[2023-05-20]", "Date: May 20, 2023"])
@rows("between", ["\n", "\n\n", "\r\n\r\n", "\n  \n\n", "\n \u00a0\n"])
def test_blank_lines_after_a_date_go_with_it_as_after_a_role(date, between):
    assert strip_date_prefix(f"{date}{between}hello world") == "hello world"
    assert strip_role_prefix(f"user:{between}hello world") == "hello world"


BEGINNINGS = (
    *(
        "Date: 2024-01-02\n",
        "2024-01-02\n",
        "[2024-01-02] ",
        "Sunday, 2 May 2024\n",
        "d",
        "Mo",
        "2",
        "(",
        "x",
        ".",
        "é",
    ),
    *("user: ", "AI:", "a", "As", "assistant :", "\u017fystem: ", " ", "\n", "\xa0", "\x1c", "human", ""),
)


@given(st.lists(st.lists(st.sampled_from(BEGINNINGS), max_size=4).map("".join), max_size=6))
def test_prefixes_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    assert strip_date_prefix_batch(texts) == [strip_date_prefix(text) for text in texts]
    assert strip_role_prefix_batch(texts) == [strip_role_prefix(text) for text in texts]
