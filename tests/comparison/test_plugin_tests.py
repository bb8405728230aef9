"""Tests of a difference that plugins declare: what they are given, how their p is corrected, and what they do wrong."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest

from comparison.made import result
from rankgauge import Catalog, compare
from rankgauge.comparison.builtin_tests import BUILT_IN
from rankgauge.errors import DeclarationError, NameClashError, ParameterError
from rankgauge.plugin import hookimpl, paired_test
from rankgauge.testing import check_plugin
from tables import rows

SIGN_TEST = """
    from math import comb

    from rankgauge.plugin import hookimpl, paired_test

    @paired_test("sign", version="3")
    def sign(differences, *, clusters=None):
        \"\"\"Sign test, two-sided.\"\"\"
        import numpy as np

        if clusters is not None:
            differences = np.bincount(clusters, weights=differences)
        wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
        n = wins + losses
        return min(1.0, 2 * sum(comb(n, count) for count in range(max(wins, losses), n + 1)) / 2 ** n)

    @hookimpl
    def rankgauge_paired_tests():
        return [sign]
"""

# P@1 wins 6 of 6 pairs that differ, P@2 wins 8 and loses 2: 2 * (45 + 10 + 1) / 2**10 = 0.109375.
SIX_OF_SIX = [0.5] * 6 + [0.0] * 4
EIGHT_OF_TEN = [0.25] * 8 + [-0.25] * 2
OLD = result([0.25] * 10, [0.5] * 10)
NEW = result([0.25 + change for change in SIX_OF_SIX], [0.5 + change for change in EIGHT_OF_TEN])


def declared(function, name="mine", **kwargs):
    """Return a catalog with one test."""
    test = paired_test(name, **kwargs)(function)

    @hookimpl
    def rankgauge_paired_tests():
        return [test]

    return Catalog.discover(plugins={"acme": SimpleNamespace(rankgauge_paired_tests=rankgauge_paired_tests)})


def compared(function, old=OLD, new=NEW, **kwargs):
    return compare({"old": old, "new": new}, test="mine", catalog=declared(function), **kwargs)["new"]


def test_its_p_is_reported_and_corrected_by_holm(installed):
    installed.add("sign-tests", SIGN_TEST, version="1.5")
    comparison = compare({"old": OLD, "new": NEW}, test="sign")
    first, second = comparison["new"]["P@1"], comparison["new"]["P@2"]
    assert (first.p, second.p) == (2 / 64, 0.109375)
    assert (first.p_adjusted, second.p_adjusted) == (4 / 64, 0.109375)
    assert comparison.correction == "Holm over 2 tests"
    assert (first.detectable, first.interval_method) == (None, "t")
    facts = {"summary": "Sign test, two-sided.", "version": "3", "by": "sign-tests 1.5"}
    assert comparison.to_dict()["test_facts"] == facts
    assert copy.deepcopy(comparison) == comparison


def test_clusters_are_given_to_one_that_takes_them(installed):
    installed.add("sign-tests", SIGN_TEST)
    pairs = {name: place // 2 for place, name in enumerate(OLD.sample_ids)}  # five clusters: three rise in P@1
    comparison = compare({"old": OLD, "new": NEW}, test="sign", cluster=pairs, metrics="P@1")
    assert comparison["new"]["P@1"].p == 2 / 8


def test_one_that_takes_no_clusters_is_refused_where_there_are_some():
    with pytest.raises(ParameterError, match="the test mine takes samples to be independent"):
        compared(lambda differences: 0.5, cluster=dict.fromkeys(OLD.sample_ids, 1))


def test_it_is_given_what_it_asks_for_and_nothing_it_could_change():
    seen = []

    def mine(differences, confidence, *, seed, resamples=5, scale=1.0):
        seen.append((differences.tolist(), confidence, seed, resamples, scale, differences.flags.writeable))
        return 0.5

    compared(mine, metrics="P@1", confidence=0.9, seed=7, resamples=99)
    assert seen == [(SIX_OF_SIX, 0.9, 7, 99, 1.0, False)]


def test_what_is_not_defined_is_decided_before_it_is_called():
    def mine(differences):
        raise AssertionError("it was called")

    same = compared(mine, new=OLD, metrics="P@1")["P@1"]
    assert (same.p, same.verdict) == (1.0, "same")
    nothing = result([float("nan")] * 10)
    none = compared(mine, old=nothing, new=nothing, metrics="P@1")["P@1"]
    assert (none.n, none.p, none.verdict) == (0, None, "undecided")


def raising(_differences):
    raise SystemExit("no licence")


@rows(
    ("function", "note"),
    [
        (lambda _: None, "gives no p for these differences"),
        (lambda _: np.float64("nan"), "gives no p for these differences"),
        (raising, "failed, so there is no p: SystemExit: no licence"),
        (lambda _: 1.5, "it returned 1.5 where a p from 0 to 1 is needed"),
        (lambda _: -0.1, "it returned -0.1 where a p from 0 to 1 is needed"),
        (lambda _: "0.01", "it returned '0.01' where a p from 0 to 1 is needed"),
        (lambda _: True, "it returned True where a p from 0 to 1 is needed"),
        (lambda differences: differences.sort(), "failed, so there is no p: ValueError"),
    ],
)
def test_without_a_p_there_is_no_verdict_and_a_note_says_why(function, note):
    pair = compared(function)
    assert [(metric.p, metric.p_adjusted, metric.verdict) for metric in pair.metrics.values()] == [
        (None, None, "undecided")
    ] * 2
    assert note in pair["P@1"].notes[0]
    assert "the test mine (by this process (plugin acme)" in pair["P@1"].notes[0]


def test_a_p_that_rounding_lifts_above_1_is_1():
    assert compared(lambda _: 1 + 1e-15)["P@1"].p == 1.0


def test_a_metric_whose_test_fails_does_not_count_for_the_correction_of_others():
    pair = compared(lambda differences: None if differences.min() < 0 else 0.03)
    assert (pair["P@1"].p_adjusted, pair["P@2"].p_adjusted) == (0.03, None)


def test_equivalence_does_not_need_the_test():
    changed = result([0.25 + (0.001 if place % 2 else -0.001) for place in range(10)])
    metric = compared(lambda _: 0.9, new=changed, metrics="P@1", matters=0.1)["P@1"]
    assert metric.verdict == "equivalent"


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda: 0.5, "has to take differences as its first parameter"),
        (lambda *, differences: 0.5, "has to take differences as its first parameter"),
        (
            lambda differences, *, cluster: 0.5,
            r"takes 'cluster', which it cannot be given \(did you mean 'clusters'\?\)",
        ),
    ],
)
def test_a_function_that_cannot_be_called_so_is_refused_when_it_is_declared(function, reason):
    with pytest.raises(DeclarationError, match=reason):
        paired_test("mine")(function)


def test_an_unknown_name_says_what_there_is(installed):
    installed.add("sign-tests", SIGN_TEST)
    with pytest.raises(ParameterError, match=r"unknown test 'sing' \(did you mean 'sign'\?\); known are .*wilcoxon"):
        compare({"old": OLD, "new": NEW}, test="sing")


def test_two_plugins_with_one_name_clash_and_none_replaces_a_built_in_one(installed):
    installed.add("sign-tests", SIGN_TEST)
    installed.add("other-tests", SIGN_TEST)
    installed.add("t-tests", SIGN_TEST.replace('"sign"', '"t"'))
    with pytest.raises(NameClashError, match="sign-tests"):
        compare({"old": OLD, "new": NEW}, test="sign")
    assert compare({"old": OLD, "new": NEW}, test="t").test_facts == {}
    faults = [str(fault) for fault in Catalog.discover().faults]
    assert any("test 't' is built in and cannot be replaced" in fault for fault in faults)


def test_a_disabled_plugin_offers_none(installed, monkeypatch):
    installed.add("sign-tests", SIGN_TEST)
    monkeypatch.setenv("RANKGAUGE_DISABLE_PLUGINS", "sign-tests")
    with pytest.raises(ParameterError, match=r"it may come from one that is disabled \(sign-tests\)"):
        compare({"old": OLD, "new": NEW}, test="sign")


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_built_in_ones_are_declared_the_same_and_give_what_compare_gives(name):
    metric = compare({"old": OLD, "new": NEW}, test=name, metrics="P@2", resamples=200)["new"]["P@2"]
    settings = {"clusters": None, "confidence": 0.95, "resamples": 200, "seed": 0, "weights": None}
    test = Catalog.discover(own_only=True).paired_test(name).declaration
    own = {keyword: settings[keyword] for keyword in test.settings}
    assert test.function(np.array(EIGHT_OF_TEN), **own) == pytest.approx(metric.p, abs=1e-15)


def test_plugins_check_tries_it_on_tiny_differences():
    good = SimpleNamespace(rankgauge_paired_tests=hookimpl(specname="rankgauge_paired_tests")(lambda: [steady]))
    assert check_plugin(good).ok
    bad = SimpleNamespace(rankgauge_paired_tests=hookimpl(specname="rankgauge_paired_tests")(lambda: [wild]))
    report = check_plugin(bad)
    assert report.broken == {"wild": ("tiny-differences",)}
    assert "it returned 0.25, then 1.0" in report["wild"]["tiny-differences"].reason


@paired_test("steady")
def steady(differences, *, clusters=None):
    """Give the same p for all."""
    return 0.5


CALLS = []


@paired_test("wild")
def wild(differences):
    """Give another p each time."""
    CALLS.append(1)
    return 0.25 if len(CALLS) % 2 else 1.0
