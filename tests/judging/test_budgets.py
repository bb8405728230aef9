# the expected value stands first
"""How many results fit into a budget, rule by rule."""

from dataclasses import replace

import pytest

from rankgauge import Catalog
from rankgauge.judging import Budget, Keep, Target, judge
from rankgauge.judging.budgets import Measure, UncountedError
from rankgauge.plugin import hookimpl, tokenizer
from rankgauge.policy import PROFILES, Policy
from rankgauge.samples import read_sample

CATALOG = Catalog.discover(own_only=True)
WORDS = CATALOG.tokenizer("words")


def texts(*lengths):
    """Return texts of so many words; None where a length is None."""
    return [None if length is None else " ".join(["w"] * length) for length in lengths]


def fit(amount, lengths, *, partial=False, unit="tok"):
    return Budget(amount, unit, WORDS if unit == "tok" else None, partial).fit(texts(*lengths), Measure()).ranks


class TestFit:
    @pytest.mark.parametrize(
        ("amount", "lengths", "whole", "partial"),
        [
            (10, [4, 5, 3, 1], 2, 3),  # the third ends outside; nothing is taken from below it
            (9, [4, 5, 3], 2, 2),  # what begins where the budget ends is outside
            (8, [4, 5, 3], 1, 2),
            (3, [4, 1], 0, 1),  # not even the first fits
            (100, [4, 5], 2, 2),
            (4, [4, 0, 0, 1], 3, 3),  # an empty text always fits
            (1, [], 0, 0),
        ],
    )
    def test_results_from_the_top_that_fit(self, amount, lengths, whole, partial):
        assert (whole, partial) == (fit(amount, lengths), fit(amount, lengths, partial=True))

    def test_characters_are_code_points(self):
        budget = Budget(5, "char", None)
        assert 2 == budget.fit(["äöü", "\U0001f600b", "c"], Measure()).ranks

    @pytest.mark.parametrize(
        ("amount", "lengths", "whole", "partial"),
        [
            (10, [4, 2], (2, 6, True), (2, 6, True)),  # a third of 3 would have fitted
            (8, [4, 2], (2, 6, False), (2, 6, True)),  # and does not fit here, but begins inside
            (6, [4, 2], (2, None, False), (2, None, False)),  # filled
            (5, [4, 2], (1, None, False), (2, None, False)),
            (1, [], (0, 0, True), (0, 0, True)),
        ],
    )
    def test_where_a_list_ends_before_the_budget(self, amount, lengths, whole, partial):
        ends = [Budget(amount, "tok", WORDS, each).fit(texts(*lengths), Measure()) for each in (False, True)]
        assert [whole, partial] == ends

    def test_a_text_that_is_missing_inside_is_named(self):
        with pytest.raises(UncountedError, match="the item at rank 2 has none"):
            fit(10, [4, None, 3])

    def test_a_text_that_is_missing_outside_does_not_matter(self):
        assert 1 == fit(4, [4, None])
        assert 1 == fit(5, [4, 2, None])


def offered(function):
    """Return a tokenizer that a plugin offers."""

    class Plugin:
        @hookimpl
        def rankgauge_tokenizers(self):
            return [tokenizer("mine")(function)]

    return Catalog.discover(own_only=True, plugins={"mine": Plugin()}).tokenizer("mine")


class TestMeasure:
    @pytest.mark.parametrize("found", [-1, 2.0, True, None, "3"])
    def test_what_is_no_count_is_refused_with_who_returned_it(self, found):
        with pytest.raises(UncountedError, match=r"tokenizer 'mine' \(by this process \(plugin mine\).* returned"):
            Measure().counter(offered(lambda text: found))("some text")

    def test_a_tokenizer_that_raises_is_named(self):
        with pytest.raises(UncountedError, match=r"tokenizer 'mine' .* failed: ZeroDivisionError"):
            Measure().counter(offered(lambda text: 1 // 0))("some text")

    def test_each_distinct_text_is_counted_once(self):
        asked = []
        claim, measure = offered(lambda text: asked.append(text) or 1), Measure()
        for amount in (1, 2, 3):
            Budget(amount, "tok", claim).fit(["a", "b", "a"], measure)
        assert ["a", "b"] == asked


@pytest.mark.parametrize(
    ("amount", "policy", "ranks"),
    [
        (3, Policy(), 2),  # a and b
        (4, Policy(), 3),  # a, b and c
        (4, Policy(duplicates="keep"), 2),  # the second a does not fit
        (1, Policy(), 0),
        (1, Policy(order="score"), 1),  # b alone
        (99, Policy(depth=2), 2),
    ],
)
def test_rankings_are_fitted_after_policy(amount, policy, ranks):
    retrieved = [
        {"id": "a", "text": "one two", "score": 2},
        {"id": "b", "text": "one", "score": 3},
        {"id": "a", "text": "one two", "score": 1},
        {"id": "c", "text": "one", "score": 0},
    ]
    sample = read_sample({"id": "q", "expected_output": ["a"], "actual_output": retrieved}, problems=[])
    budget = Budget(amount, "tok", WORDS)
    profile = replace(PROFILES["default"], policy=policy)
    fits = judge([sample], Target("relevant"), profile, keep=Keep(budgets=frozenset({budget}))).kept.fits[budget]
    assert ([ranks], {}) == (fits.ranks.tolist(), fits.faults)
