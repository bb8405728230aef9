"""Normalizers, comparers and named matchers: laws over the whole catalog, and values worked out by hand."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.catalog import Catalog
from rankgauge.catalog.parameters import signature_parameters
from rankgauge.declarations import parse_matcher
from rankgauge.errors import MatcherError, UnknownNameError
from rankgauge.matchers.comparers import contained, equal
from rankgauge.matchers.normalizers import casefold, collapse_whitespace, lower

CATALOG = Catalog.discover(own_only=True)
NORMALIZERS = {name: claim.declaration for name, claim in CATALOG.all("normalizer").items()}
MATCHERS = {name: CATALOG.matcher(name) for name in CATALOG.all("matcher")}


def _comparers():
    """Return every comparer with every combination of the values that its parameters list."""
    for name, claim in CATALOG.all("comparer").items():
        choices = [
            [(parameter.name, value) for value in parameter.choices]
            for parameter in signature_parameters(claim.declaration.function)
            if parameter.choices
        ]
        for combination in itertools.product(*choices):
            listed = ", ".join(f"{key}={value}" for key, value in combination)
            yield f"{name}({listed})" if listed else name


COMPARERS = {spec: CATALOG.matcher(f"{spec} >= 1").compare for spec in _comparers()}

FOLDING = "aAbßẞ\u017fİ\u0131Σ\u03c3ς\u0345\u1fb3ﬁŉǅ \t\n\u00a0\u2003\u200b\x1c\ud800'\""
TEXTS = st.text(st.characters(exclude_categories=()), max_size=20) | st.text(FOLDING, max_size=12)
CLOSE_TEXTS = st.text("ab ", max_size=6)
BLOCKS = st.lists(CLOSE_TEXTS | TEXTS, max_size=5)


@pytest.mark.parametrize("name", NORMALIZERS)
@given(text=TEXTS)
def test_normalizer_is_total_and_pure(name, text):
    function = NORMALIZERS[name].function
    once = function(text)

    assert isinstance(once, str)
    assert once == function(text)


@pytest.mark.parametrize("name", [name for name, each in NORMALIZERS.items() if each.stage != "decode"])
@given(text=TEXTS)
def test_normalizer_is_idempotent(name, text):
    function = NORMALIZERS[name].function
    once = function(text)

    assert once == function(once)


@pytest.mark.parametrize("name", [name for name, each in NORMALIZERS.items() if each.stage == "fold"])
def test_folding_is_idempotent_for_every_code_point(name):
    function = NORMALIZERS[name].function
    changed = [code for code in range(sys.maxunicode + 1) if function(once := function(chr(code))) != once]

    assert changed == []


# Of two strips each is idempotent, both together are not: "user: Date: 2023-05-20" loses one prefix at a time.
@pytest.mark.parametrize("name", sorted(set(MATCHERS) - {"chunk", "fuzzy-chunk"}))
@given(text=TEXTS)
def test_normalizers_of_a_named_matcher_are_idempotent_together(name, text):
    once = MATCHERS[name].normalize(text)

    assert once == MATCHERS[name].normalize(once)


@pytest.mark.parametrize("spec", COMPARERS)
@given(retrieved=BLOCKS, gold=BLOCKS)
def test_comparer_scores_from_zero_to_one_in_the_shape_of_the_block(spec, retrieved, gold):
    scores = COMPARERS[spec](retrieved, gold)

    assert scores.shape == (len(retrieved), len(gold))
    assert scores.dtype == np.float64
    assert ((scores >= 0) & (scores <= 1)).all()


@pytest.mark.parametrize("spec", COMPARERS)
@given(retrieved=BLOCKS, gold=BLOCKS)
def test_block_equals_its_pairs(spec, retrieved, gold):
    compare = COMPARERS[spec]
    pairs = [[compare([found], [wanted])[0, 0] for wanted in gold] for found in retrieved]

    assert [list(row) for row in compare(retrieved, gold)] == pairs


@pytest.mark.parametrize("spec", COMPARERS)
@given(text=CLOSE_TEXTS | TEXTS)
def test_empty_text_matches_nothing_and_every_other_matches_itself(spec, text):
    compare = COMPARERS[spec]

    if spec == "remem":  # to the letter: an empty chunk comes from everything
        assert compare([""], [text]).tolist() == [[1.0]]
        return
    assert compare([""], [text]).tolist() == [[0.0]]
    assert compare([text], [""]).tolist() == [[0.0]]
    assert compare([text], [text]).tolist() == [[1.0 if text else 0.0]]


@pytest.mark.parametrize("name", MATCHERS)
@given(blank=st.text(" \t\n\u00a0\u2003", max_size=4), text=TEXTS)
def test_text_of_which_nothing_is_left_matches_nothing(name, blank, text):
    matcher = MATCHERS[name]
    nothing = matcher.normalize(blank)
    if nothing == "" and name != "chunk-remem":
        for retrieved, gold in ((nothing, matcher.normalize(text)), (matcher.normalize(text), nothing)):
            assert matcher.compare([retrieved], [gold])[0, 0] < matcher.matcher.threshold


@pytest.mark.parametrize("name", MATCHERS)
@given(text=TEXTS)
def test_text_of_which_something_is_left_matches_itself(name, text):
    matcher = MATCHERS[name]
    prepared = matcher.normalize(text)

    matches = matcher.compare([prepared], [prepared])[0, 0] >= matcher.matcher.threshold
    assert matches == (prepared != "" or name == "chunk-remem")


@pytest.mark.parametrize("name", MATCHERS)
def test_named_matcher_prints_as_what_it_is_read_from(name):
    matcher = MATCHERS[name].matcher

    assert matcher == parse_matcher(str(matcher))
    assert CATALOG.matcher(str(matcher)).matcher == matcher
    assert MATCHERS[name].name == name


def test_built_in_matchers_are_what_their_names_promise():
    printed = {name: str(resolved.matcher) for name, resolved in MATCHERS.items()}

    assert {
        "exact": "equal >= 1",
        "folded": "collapse-whitespace | casefold > equal >= 1",
        "contains": "collapse-whitespace | casefold > contained(direction=gold-in-retrieved) >= 1",
        "contains-cased": "collapse-whitespace > contained(direction=gold-in-retrieved) >= 1",
        "contains-lower": "collapse-whitespace | lower > contained(direction=gold-in-retrieved) >= 1",
    }.items() <= printed.items()


def matches(name, retrieved, gold):
    matcher = CATALOG.matcher(name)
    scores = matcher.compare([matcher.normalize(retrieved)], [matcher.normalize(gold)])
    return bool(scores[0, 0] >= matcher.matcher.threshold)


@pytest.mark.parametrize(
    ("retrieved", "gold", "accepting"),
    [
        ("Bern", "Bern", {"exact", "folded", "contains", "contains-cased", "contains-lower"}),
        ("BERN", "Bern", {"folded", "contains", "contains-lower"}),
        (" Bern\n", "Bern", {"folded", "contains", "contains-cased", "contains-lower"}),
        ("in Bern.", "Bern", {"contains", "contains-cased", "contains-lower"}),
        ("in BERN.", "Bern", {"contains", "contains-lower"}),
        ("Bern", "in Bern", set()),
        ("STRASSE", "Straße", {"folded", "contains"}),
        ("New\u00a0 York", "New York", {"folded", "contains", "contains-cased", "contains-lower"}),
        ("Berne", "Bern", {"contains", "contains-cased", "contains-lower"}),
        ("café", "cafe", set()),
    ],
)
def test_which_matcher_accepts_what(retrieved, gold, accepting):
    names = ("exact", "folded", "contains", "contains-cased", "contains-lower")

    assert accepting == {name for name in names if matches(name, retrieved, gold)}


def test_normalizers_by_hand():
    assert collapse_whitespace("\t a\u00a0\u2003b \n c ") == "a b c"
    assert collapse_whitespace(" \n") == ""
    assert casefold("Straße ΟΔΟΣ") == "strasse οδοσ"
    assert lower("Straße ΟΔΟΣ") == "straße οδος"


def test_equal_by_hand():
    assert equal(["a", "b", ""], ["a", ""]).tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        ("gold-in-retrieved", [[1.0, 0.0], [1.0, 1.0]]),
        ("retrieved-in-gold", [[1.0, 1.0], [0.0, 1.0]]),
        ("either", [[1.0, 1.0], [1.0, 1.0]]),
    ],
)
def test_contained_by_hand(direction, expected):
    assert expected == contained(["b", "abc"], ["b", "abc"], direction=direction).tolist()


@pytest.mark.parametrize("function", [equal, contained])
@pytest.mark.parametrize(("retrieved", "gold"), [([], ["a"]), (["a"], []), ([], [])])
def test_blocks_without_rows_or_columns_keep_their_shape(function, retrieved, gold):
    assert function(retrieved, gold).shape == (len(retrieved), len(gold))


def test_unknown_names_and_parameters_are_refused():
    with pytest.raises(UnknownNameError, match="contains"):
        CATALOG.matcher("contain")
    with pytest.raises(UnknownNameError, match="casefold"):
        CATALOG.matcher("case-fold > equal >= 1")
    with pytest.raises(ValueError, match="direction"):
        CATALOG.matcher("contained(direction=sideways) >= 1")


@pytest.mark.parametrize("threshold", ["0", "-0.5", "1.01", "nan", "high"])
def test_threshold_outside_zero_to_one_is_refused(threshold):
    with pytest.raises(MatcherError, match="threshold"):
        CATALOG.matcher(f"equal > equal >= {threshold}")
