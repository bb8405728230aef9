"""
Places where noise may begin are the same, found by comparing all characters with a sign or by patterns.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draws import draws
from rankgauge.matchers import spelling
from rankgauge.matchers.noise_places import negation_places, noise_places
from rankgauge.matchers.spelling import cleaned_texts

PARTS = [
    *("a", "Ab", "\u00e9", "\u0301", "\u5317", "3", "12", "123", "1234", "_", " ", "  ", "\t", "\n", "\r\n", "\r", "-"),
    *(
        ".",
        ")",
        ". ",
        ".\t",
        "1. ",
        "1) ",
        "\n1. ",
        "\n  2) ",
        "\n\t12. ",
        "\n1234. ",
        "\n 12.x",
        "-\n",
        "- \r\n  ",
        "-|",
    ),
    *(
        "\u00ad",
        "\u2010",
        "\u2010\n",
        "<",
        "<b>",
        "</p>",
        "<\u017fpan>",
        "<x",
        "< ",
        "&",
        "&amp;",
        "&#39;",
        "&#x41;",
        "& ",
    ),
    *(
        "]",
        "](",
        "](x)",
        "](a b)",
        "]\n(",
        "(",
        "n",
        "N",
        "'",
        "\u2019",
        "t",
        "T",
        "n't",
        "N\u2019T",
        "can",
        "CAN",
        "not",
    ),
    *(
        "NOT",
        "cannot",
        "Cannot",
        "annotate",
        "\\n",
        "\\u00ad",
        "\\u0002",
        "\0",
        "\3",
        "\U0001f600",
        "\ud800",
        "...",
        "\u2026",
    ),
]


@given(st.lists(st.lists(st.sampled_from(PARTS), max_size=12).map("".join), max_size=5))
@settings(max_examples=draws(300))
def test_texts_are_cleaned_alike_alone_and_together(texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spelling, "_MANY", 1 << 60)
        alone = [cleaned_texts([text])[0] for text in texts]
        assert cleaned_texts(texts) == alone
        patch.setattr(spelling, "_MANY", 0)
        assert cleaned_texts(texts) == alone


def test_where_noise_may_begin() -> None:
    text = "x a [b](c)\n 2. d<br> can-\nnot & it, in 2014. So\n"
    places = [text.index(each) for each in ("(c", "\n 2", "<br", "-\n")]
    assert sorted({*noise_places(text)} - {0, len(text) - 1}) == places
    wide = f"\u5317{text}\u00adx"
    assert sorted({*noise_places(wide)} - {0, len(wide) - 1}) == [*(at + 1 for at in places), wide.index("\u00ad")]
    astral = f"\U0001f600{text}"
    assert sorted({*noise_places(astral)} - {0, len(astral) - 1}) == [at + 1 for at in places]


def test_where_what_stands_for_not_may_begin() -> None:
    text = "they don't; we cannot, he DOESN'T annotate"
    assert negation_places(text) == [text.index(each) for each in ("'t", "not,", "'T", "notate")]
    assert negation_places("don\u2019t") == [3]
