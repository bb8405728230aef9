"""Normalizers, comparers and named matchers: laws over the whole catalog, and values worked out by hand."""

from __future__ import annotations

import itertools
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from draws import draws, is_thorough
from rankgauge.catalog import Catalog
from rankgauge.catalog.resolved import signature_parameters
from rankgauge.errors import MatcherError, UnknownNameError
from rankgauge.matchers.comparers import contained, equal
from rankgauge.matchers.normalizers import casefold, collapse_whitespace, lower
from rankgauge.plugin.matching import Covers, parse_matcher
from rankgauge.testing import check_comparer, check_matcher, check_normalizer
from tables import rows

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
def test_normalizer_obeys_the_laws(name):
    check_normalizer(NORMALIZERS[name].function, cases=draws(20)).raise_if_broken()


@pytest.mark.parametrize("name", [name for name, each in NORMALIZERS.items() if each.stage == "fold"])
def test_folding_is_idempotent_for_every_code_point(name):
    function = NORMALIZERS[name].function
    codes = range(sys.maxunicode + 1) if is_thorough() else range(0x3000)  # up to where scripts have case and marks
    changed = [code for code in codes if function(once := function(chr(code))) != once]

    assert changed == []


# Of two strips each is idempotent, both together are not: "user: Date: 2023-05-20" loses one prefix at a time.
@pytest.mark.parametrize("name", sorted(set(MATCHERS) - {"chunk", "fuzzy-chunk"}))
@given(text=TEXTS)
def test_normalizers_of_a_named_matcher_are_idempotent_together(name, text):
    once = MATCHERS[name].normalize(text)

    assert once == MATCHERS[name].normalize(once)


@pytest.mark.parametrize("name", CATALOG.all("comparer"))
def test_comparer_obeys_the_laws(name):
    check_comparer(CATALOG.all("comparer")[name].declaration.function, cases=draws(40)).raise_if_broken()


def test_only_remem_and_squad_let_an_empty_text_match():
    laws = {name: claim.declaration.laws for name, claim in CATALOG.all("comparer").items()}

    lenient = {name for name, each in laws.items() if "empty-scores-zero" not in each}
    assert lenient == {"remem", "equal-tokens", "token-f1", "equal-script-words", "script-word-f1"}
    assert all("reflexive" in each for each in laws.values())


@pytest.mark.parametrize("spec", COMPARERS)
@given(retrieved=BLOCKS, gold=BLOCKS)
def test_block_equals_its_pairs(spec, retrieved, gold):
    def compare(*texts):
        returned = COMPARERS[spec](*texts)
        return returned.scores() if isinstance(returned, Covers) else returned

    pairs = [[compare([found], [wanted])[0, 0] for wanted in gold] for found in retrieved]

    assert [list(row) for row in compare(retrieved, gold)] == pairs


@given(text=CLOSE_TEXTS | TEXTS)
def test_everything_matches_an_empty_chunk_as_remem_has_it(text):
    assert COMPARERS["remem"]([""], [text]).tolist() == [[1.0]]


@rows("name", MATCHERS)
def test_matcher_obeys_the_laws(name):
    check_matcher(name, catalog=CATALOG, cases=draws(40)).raise_if_broken()


@rows("name", MATCHERS)
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


@rows(
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
