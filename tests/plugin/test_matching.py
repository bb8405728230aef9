# the expected value stands first
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.catalog import Catalog
from rankgauge.errors import DeclarationError, MatcherError, UnknownNameError
from rankgauge.plugin import Matcher, comparer, hookimpl, named_matcher, normalizer, reader
from rankgauge.plugin.matching import parse_matcher
from tables import rows


class Prefixes:
    """A plugin given in Python with a stripping normalizer, a decoding one and a comparer with parameters."""

    @hookimpl
    def rankgauge_normalizers(self):
        return [drop_prefix, unescape]

    @hookimpl
    def rankgauge_comparers(self):
        return [share]


@normalizer("drop-prefix", stage="strip")
def drop_prefix(text):
    """Drop what stands before a colon."""
    return text.rpartition(":")[2]


@normalizer("unescape", stage="decode")
def unescape(text):
    """Turn two characters into the tab that they mean."""
    return text.replace("\\t", "\t")


@comparer("share")
def share(retrieved, gold, *, of: float = 1.0, side: str = "both"):
    """Score a constant."""
    return np.full((len(retrieved), len(gold)), of)


@pytest.fixture(scope="module")
def catalog():
    return Catalog.discover(own_only=True, plugins={"prefixes": Prefixes()})


class TestDeclarations:
    def test_a_declared_function_is_left_as_it_is_and_can_be_called(self):
        assert "x" == drop_prefix("date:x")
        assert [[0.5]] == share(["a"], ["b"], of=0.5).tolist()

    def test_a_declaration_says_name_stage_source_and_summary(self):
        found = drop_prefix.__rankgauge__
        expected = ("drop-prefix", "strip", drop_prefix, "Drop what stands before a colon.")
        assert expected == (found.name, found.stage, found.source, found.summary)

    def test_a_named_matcher_keeps_its_composition_and_its_summary(self):
        @named_matcher("loose", "casefold > equal >= 0.5")
        def loose():
            """Compare loosely."""

        found = loose.__rankgauge__
        expected = ("loose", Matcher(("casefold",), "equal", (), 0.5), "Compare loosely.", loose)
        assert expected == (found.name, found.matcher, found.summary, found.source)

    @rows("name", ["", "Casefold", "two words", "under_score", "-x", "x-", "a|b", None, 5])
    def test_a_name_that_is_not_lower_case_words_and_hyphens_is_refused(self, name):
        for decorator in (normalizer(name, stage="fold"), comparer(name), named_matcher(name, "equal >= 1")):
            with pytest.raises(DeclarationError, match="write lower-case words joined by hyphens") as caught:
                decorator(lambda *texts: None)
            assert repr(name) in str(caught.value)

    def test_an_unknown_stage_is_refused(self):
        with pytest.raises(DeclarationError) as caught:
            normalizer("x", stage="polish")(str.lower)
        assert "the stage of normalizer 'x' must be one of decode, strip, fold, not 'polish'" == str(caught.value)

    def test_a_named_matcher_that_cannot_be_read_is_refused(self):
        with pytest.raises(MatcherError, match="cannot read matcher"):
            named_matcher("x", "casefold >")(lambda: None)

    @pytest.mark.parametrize("suffixes", [[], ["jsonl"], [".JSONL"], [".jsonl", "x"], ["."]])
    def test_a_reader_whose_suffixes_are_no_file_endings_is_refused(self, suffixes):
        with pytest.raises(DeclarationError, match=r"the suffixes of reader 'lines' must look like '\.jsonl'"):
            reader("lines", suffixes=suffixes)(lambda source: iter(()))


class TestThreshold:
    @pytest.mark.parametrize("threshold", [1, 1.0, 0.9, 1e-9])
    def test_a_threshold_above_0_and_at_most_1_is_taken(self, threshold):
        assert threshold == Matcher((), "equal", (), threshold).threshold

    @rows("threshold", [0, 0.0, -0.5, 1.0000001, 2, float("nan"), float("inf"), True, "1", None])
    def test_any_other_is_refused(self, threshold):
        with pytest.raises(MatcherError) as caught:
            Matcher((), "equal", (), threshold)
        expected = f"the threshold of a matcher must be above 0 and at most 1, not {threshold!r}"
        assert expected == str(caught.value)

    @pytest.mark.parametrize("spec", ["equal >= 0", "equal >= 1.5", "equal >= nan", {"threshold": 0}])
    def test_one_that_is_read_is_checked_too(self, spec):
        with pytest.raises(MatcherError, match="must be above 0 and at most 1"):
            parse_matcher(spec)


class TestReading:
    def test_normalizers_comparer_parameters_and_threshold_are_read(self):
        found = parse_matcher("collapse-whitespace | casefold > contained(direction=either) >= 0.8")
        assert (
            Matcher(("collapse-whitespace", "casefold"), "contained", (("direction", "either"),), threshold=0.8)
            == found
        )

    def test_space_does_not_matter(self):
        assert parse_matcher("a | b > equal >= 1") == parse_matcher("  a|b>equal>=1 ")

    def test_a_missing_threshold_is_1(self):
        assert Matcher(("casefold",), "equal", (), 1.0) == parse_matcher("casefold > equal")

    def test_there_may_be_no_normalizer(self):
        assert Matcher((), "equal", (), 1.0) == parse_matcher("equal >= 1")

    def test_a_mapping_says_the_same(self):
        spec = {"normalize": ["a", "b"], "compare": "contained(direction=either)", "threshold": 0.8}
        assert parse_matcher("a | b > contained(direction=either) >= 0.8") == parse_matcher(spec)

    def test_a_mapping_may_leave_everything_to_the_defaults(self):
        assert Matcher((), "equal", (), 1.0) == parse_matcher({})
        assert Matcher((), "equal", (), 1.0) == parse_matcher({"normalize": None})

    @rows(
        ("spec", "words"),
        [
            ("", "expected `normalizer | ... > comparer >= threshold`"),
            ("casefold >", "expected `normalizer | ... > comparer >= threshold`"),
            ("casefold > two words", "expected `normalizer | ... > comparer >= threshold`"),
            ("> equal", "normalizers are names joined by |"),
            ("casefold | > equal", "normalizers are names joined by |"),
            ("Case Fold > equal", "normalizers are names joined by |"),
            ("a > b > equal", "normalizers are names joined by |"),
            ("equal >= most", "'most' is not a number"),
            ("equal >=", "'' is not a number"),
            ({"normalize": [5]}, "normalizers are names joined by |"),
            ({"compare": ""}, "cannot read matcher"),
        ],
    )
    def test_what_is_no_matcher_is_refused_with_what_was_written(self, spec, words):
        with pytest.raises(MatcherError) as caught:
            parse_matcher(spec)
        assert words in str(caught.value)
        assert repr(spec) in str(caught.value)

    def test_a_comparer_with_a_cutoff_is_refused_rather_than_read_without_it(self):
        with pytest.raises(MatcherError):
            parse_matcher("casefold > equal@5 >= 1")

    def test_a_misspelled_key_of_a_mapping_is_refused_rather_than_left_out(self):
        with pytest.raises(MatcherError, match="treshold"):
            parse_matcher({"compare": "equal", "treshold": 0.5})

    @pytest.mark.parametrize("normalize", ["casefold", 5])
    def test_normalizers_of_a_mapping_that_are_no_list_are_refused(self, normalize):
        with pytest.raises(MatcherError):
            parse_matcher({"normalize": normalize, "compare": "equal"})


class TestPrinting:
    def test_a_matcher_prints_as_it_is_read(self):
        matcher = Matcher(("strip-x", "casefold"), "contained", (("direction", "either"),), threshold=0.9)
        assert "strip-x | casefold > contained(direction=either) >= 0.9" == str(matcher)

    def test_a_matcher_without_normalizers_prints_its_comparison_only(self):
        assert "equal >= 1" == str(Matcher((), "equal"))

    def test_matchers_whose_thresholds_differ_print_differently(self):
        assert str(Matcher((), "equal", (), 0.9)) != str(Matcher((), "equal", (), 0.90000001))

    @pytest.mark.parametrize("value", [">=", "a > b", "a | b", "x >= 0.5", '"', "\\"])
    def test_marks_inside_a_quoted_parameter_are_not_taken_for_the_matchers_own(self, value):
        matcher = Matcher(("casefold",), "share", (("side", value),), threshold=0.5)
        assert matcher == parse_matcher(str(matcher))


words = st.lists(st.sampled_from(["strip", "fold", "x1", "2", "date"]), min_size=1, max_size=3).map("-".join)
values = st.booleans() | st.integers(-1000, 1000) | st.floats(-1e9, 1e9) | st.text("ab \"'\\>=|,", max_size=6)
matchers = st.builds(
    Matcher,
    st.lists(words, max_size=3).map(tuple),
    words,
    st.dictionaries(words.map("p-{}".format), values, max_size=3).map(lambda found: tuple(sorted(found.items()))),
    st.floats(0, 1, exclude_min=True),
)


@given(matchers)
def test_what_is_printed_reads_back_as_the_same_matcher(matcher):
    assert matcher == parse_matcher(str(matcher))


class TestResolving:
    def test_normalizers_run_in_the_order_written(self, catalog):
        assert "ab c" == catalog.matcher("drop-prefix | collapse-whitespace | casefold > equal").normalize("X: AB  C ")

    def test_stages_in_the_wrong_order_are_refused_and_the_order_explained(self, catalog):
        with pytest.raises(MatcherError) as caught:
            catalog.matcher("casefold | drop-prefix > equal >= 1")
        assert (
            "matcher 'casefold | drop-prefix > equal >= 1': 'drop-prefix' (strip) must come before 'casefold' (fold): "
            "the order is decode < strip < fold, because folding removes what an earlier stage looks for"
        ) == str(caught.value)

    def test_stages_in_order_are_taken_whichever_are_left_out(self, catalog):
        for spec in ("unescape | drop-prefix | casefold > equal", "unescape | casefold > equal", "unescape > equal"):
            assert parse_matcher(spec) == catalog.matcher(spec).matcher

    def test_an_unknown_part_is_refused_with_suggestions(self, catalog):
        with pytest.raises(UnknownNameError, match=r"unknown normalizer 'casefodl' \(did you mean 'casefold'\?\)"):
            catalog.matcher("casefodl > equal")
        with pytest.raises(UnknownNameError, match=r"unknown comparer 'equals' \(did you mean 'equal' or"):
            catalog.matcher("casefold > equals")
        with pytest.raises(UnknownNameError, match=r"unknown matcher 'foldde' \(did you mean 'folded'\?\)"):
            catalog.matcher("foldde")

    def test_parameters_reach_the_comparer(self, catalog):
        assert [[0.25]] == catalog.matcher("share(of=0.25) >= 0.1").compare(["a"], ["b"]).tolist()

    @pytest.mark.parametrize(
        ("spec", "words"),
        [
            ("contained(direction=sideways)", "choose from gold-in-retrieved, retrieved-in-gold, either"),
            ("contained(dirction=either)", "did you mean 'direction'?"),
            ("share(of=much)", "parameter 'of' of comparer 'share' cannot be 'much'"),
            ("equal(loose=true)", "comparer 'equal' has no parameter 'loose'; it has no parameters"),
        ],
    )
    def test_an_unacceptable_parameter_is_a_matcher_that_cannot_be_built(self, catalog, spec, words):
        with pytest.raises(MatcherError) as caught:
            catalog.matcher(f"casefold > {spec}")
        assert words in str(caught.value)

    def test_a_resolved_matcher_says_who_provides_it_and_each_part(self, catalog):
        assert ["folded", "collapse-whitespace", "casefold", "equal"] == [
            name for name, _ in catalog.matcher("folded").providers
        ]
        by_name = dict(catalog.matcher("drop-prefix > equal").providers)
        assert ("prefixes", "matchers") == (by_name["drop-prefix"].plugin, by_name["equal"].plugin)
        assert __file__ == by_name["drop-prefix"].file
