"""Judging by text: a matcher decides which retrieved text holds which gold text."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from rankgauge.catalog import Catalog
from rankgauge.judging import Target, judge
from rankgauge.matchers.comparers import equal
from rankgauge.plugin import comparer, hookimpl, normalizer
from rankgauge.policy import Policy, profile
from rankgauge.samples import Expected, Fault, Output, Sample

SEEN: list[str] = []


@normalizer("recording", stage="fold")
def recording(text):
    """Remember what came in."""
    SEEN.append(text)
    return text


@normalizer("glancing", stage="strip", cache=False)
def glancing(text):
    """Remember what came in, each time."""
    SEEN.append(text)
    return text


@normalizer("forgetful", stage="fold", batch=lambda texts: [text.lower() for text in texts if text != "GONE"])
def forgetful(text):
    """Fold letters, and of many texts leave one out."""
    return text.lower()


@comparer("raising")
def raising(retrieved, gold):
    """Raise for a text that says so."""
    if "boom" in retrieved:
        raise RuntimeError("it went off")
    return np.ones((len(retrieved), len(gold)))


def each(retrieved, gold):
    """Compare samples one after another."""
    return [raising(*pair) for pair in zip(retrieved, gold, strict=True)]


@comparer("in-step", batch=each)
def in_step(retrieved, gold):
    """Raise for a text that says so, of many samples too."""
    return raising(retrieved, gold)


@comparer("flat-together", batch=lambda retrieved, gold: [np.ones(len(own)) for own in retrieved])
def flat_together(retrieved, gold):
    """Return the wrong shape for many samples only."""
    return equal(retrieved, gold)


@comparer("beyond-together", batch=lambda retrieved, gold: [block * 2 for block in map(equal, retrieved, gold)])
def beyond_together(retrieved, gold):
    """Return scores above 1 for many samples only."""
    return equal(retrieved, gold)


@comparer("flat")
def flat(retrieved, gold):
    """Return the wrong shape."""
    return np.ones(len(retrieved))


@comparer("beyond")
def beyond(retrieved, gold):
    """Return a score above 1."""
    return np.full((len(retrieved), len(gold)), 1.5)


@comparer("not-a-number")
def not_a_number(retrieved, gold):
    """Return NaN."""
    return np.full((len(retrieved), len(gold)), np.nan)


@comparer("shared-letters")
def shared_letters(retrieved, gold):
    """Score the share of the gold's letters that the retrieved text has."""
    return np.array(
        [[sum(letter in found for letter in wanted) / len(wanted) for wanted in gold] for found in retrieved]
    )


PLUGIN = SimpleNamespace(
    rankgauge_normalizers=hookimpl(lambda: [recording, glancing, forgetful], specname="rankgauge_normalizers"),
    rankgauge_comparers=hookimpl(
        lambda: [raising, in_step, flat, flat_together, beyond, beyond_together, not_a_number, shared_letters],
        specname="rankgauge_comparers",
    ),
)
CATALOG = Catalog.discover(own_only=True, plugins={"texts": PLUGIN})


def sample(texts, answers, *, name="s", ids=None, answer=None):
    output = texts
    if isinstance(texts, list):
        output = Output([f"d{rank}" for rank in range(len(texts))] if ids is None else ids, texts, None, answer)
    return Sample(name, expected=Expected(answer=answers), output=output)


def evidence(*samples, matcher="contains", policy="default", judges="retrieved", gold="answer"):
    return judge(samples, Target(gold, judges, matcher), profile(policy), CATALOG.matcher(matcher))


def rows(judged):
    columns = (judged.rows.sample, judged.rows.rank, judged.rows.gold, judged.first)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def test_every_match_of_a_text_and_a_gold_text_is_a_row_of_grade_one():
    judged = evidence(sample(["alpha beta", "x", "beta"], ("alpha", "beta", "gamma"))).judged

    # rank 1 holds both, rank 3 holds beta again
    assert rows(judged) == [(0, 1, 0, True), (0, 1, 1, True), (0, 3, 1, False)]
    assert judged.rows.grade.tolist() == [1.0, 1.0, 1.0]
    assert judged.gold.grade.tolist() == [1.0, 1.0, 1.0]
    assert judged.n_gold().tolist() == [3]
    assert judged.found().tolist() == [2]
    assert judged.relevant_ranks().tolist() == [2]
    assert judged.graded.tolist() == [False]
    assert judged.times.tolist() == [1, 1, 1]


def test_samples_are_judged_each_against_its_own_gold():
    judged = evidence(sample(["a", "b"], ("b",), name="1"), sample(["a", "b"], ("a",), name="2")).judged

    assert rows(judged) == [(0, 2, 0, True), (1, 1, 1, True)]


def test_score_of_each_match_is_kept_and_compared_with_the_threshold():
    found = evidence(sample(["ab", "abcx", "x"], ("abcd",)), matcher="shared-letters >= 0.5").judged
    stricter = evidence(sample(["ab", "abcx"], ("abcd",)), matcher="shared-letters >= 0.75").judged

    # 2 of 4, 3 of 4, 0 of 4 letters
    assert rows(found) == [(0, 1, 0, True), (0, 2, 0, False)]
    assert found.score.tolist() == [0.5, 0.75]
    assert rows(stricter) == [(0, 2, 0, True)]


def test_each_distinct_text_of_a_batch_is_normalized_once():
    SEEN.clear()
    evidence(
        sample(["one", "two", "one"], ("one", "three"), ids=["a", "b", "c"]),
        sample(["two"], ("one",), name="2"),
        matcher="recording > equal >= 1",
    )

    assert sorted(SEEN) == ["one", "three", "two"]


def test_a_normalizer_that_declares_no_cache_is_called_for_every_text():
    SEEN.clear()
    found = evidence(
        sample(["one", "two"], ("one",)), sample(["one"], ("two",), name="2"), matcher="glancing > equal >= 1"
    )

    assert sorted(SEEN) == ["one", "one", "one", "two", "two"]
    assert rows(found.judged) == [(0, 1, 0, True)]


@pytest.mark.parametrize("matcher", ["raising >= 1", "in-step >= 1"])
def test_the_sample_to_blame_fails_alone_among_many(matcher):
    texts = ["boom" if place in {3, 40} else "quiet" for place in range(70)]
    found = evidence(*(sample([text], ("a",), name=str(place)) for place, text in enumerate(texts)), matcher=matcher)

    assert list(found.faults) == [3, 40]
    assert [row[0] for row in rows(found.judged)] == [place for place in range(70) if place not in {3, 40}]


def test_a_normalizer_that_loses_a_text_fails_the_sample_that_has_it_and_shifts_no_other():
    found = evidence(
        sample(["GONE", "A"], ("a",), name="1"), sample(["A", "B"], ("b",), name="2"), matcher="forgetful > equal >= 1"
    )
    (reason,) = found.faults.values()
    assert reason.endswith("`batch` of the normalizer 'forgetful' returned 2 texts for 3")
    assert rows(found.judged) == [(1, 2, 1, True)]


@pytest.mark.parametrize("matcher", ["flat-together >= 1", "beyond-together >= 1"])
def test_samples_are_compared_alone_where_many_at_once_come_to_nonsense(matcher):
    found = evidence(sample(["a", "b"], ("b",)), sample(["b"], ("b",), name="2"), matcher=matcher)

    assert found.faults == {}
    assert rows(found.judged) == [(0, 2, 0, True), (1, 1, 1, True)]


def test_first_rank_without_text_is_kept():
    found = evidence(sample(["alpha", None], ("alpha",)), sample(["alpha"], ("alpha",), name="2"))

    assert (found.faults, found.blanks) == ({}, {0: 2})
    assert rows(found.judged) == [(0, 1, 0, True), (1, 1, 1, True)]
    assert found.judged.n_gold().tolist() == [1, 1]


def test_output_of_ids_only_has_no_text_from_rank_one_on():
    ids_only = Sample("s", expected=Expected(answer=("a",)), output=Output(["a", "b"]))

    assert evidence(ids_only).blanks == {0: 1}


def test_missing_text_is_empty_under_the_eval_harness_profile():
    found = evidence(sample([None, "alpha"], ("alpha",)), matcher="contains-lower", policy="eval-harness")

    assert found.faults == {}
    assert rows(found.judged) == [(0, 2, 0, True)]


@pytest.mark.parametrize("texts", [[], None, Fault("broken")])
def test_sample_without_items_has_gold_rows_only(texts):
    found = evidence(sample(texts, ("alpha",)))

    assert found.faults == {}
    assert rows(found.judged) == []
    assert found.judged.n_gold().tolist() == [1]
    assert found.judged.depth.tolist() == [0]


@pytest.mark.parametrize("answers", [None, ()])
def test_sample_without_gold_text_has_no_gold_and_no_fault(answers):
    found = evidence(sample([None], answers))

    assert (list(found.without_gold), found.has_gold, found.faults) == ([0], False, {})
    assert found.judged.n_gold().tolist() == [0]
    assert found.judged.depth.tolist() == [1]


def test_matcher_that_raises_fails_its_sample_only_and_is_named():
    found = evidence(sample(["boom"], ("a",)), sample(["quiet"], ("a",), name="2"), matcher="raising >= 1")

    assert list(found.faults) == [0]
    assert "RuntimeError: it went off" in found.faults[0]
    assert "raising" in found.faults[0]
    assert "texts" in found.faults[0]  # the plugin
    assert rows(found.judged) == [(1, 1, 1, True)]


@pytest.mark.parametrize(
    ("matcher", "reason"),
    [("flat >= 1", "shape"), ("beyond >= 1", "from 0 to 1"), ("not-a-number >= 1", "from 0 to 1")],
)
def test_matcher_that_returns_nonsense_fails_its_sample(matcher, reason):
    found = evidence(sample(["x", "y"], ("a", "b", "c")), matcher=matcher)

    assert reason in found.faults[0]
    assert rows(found.judged) == []


def test_chunks_of_one_id_are_told_apart_by_text():
    chunks = sample(["x", "alpha", "x"], ("alpha",), ids=["d", "d", "d"])

    assert evidence(chunks).judged.depth.tolist() == [2]
    assert rows(evidence(chunks).judged) == [(0, 2, 0, True)]
    # The eval-harness profile goes by id alone, so the second chunk is gone with its text.
    assert evidence(chunks, policy="eval-harness").judged.depth.tolist() == [1]
    assert rows(evidence(chunks, policy="eval-harness").judged) == []


def test_repeat_earns_nothing_under_credit_once():
    repeated = sample(["alpha", "alpha", "beta"], ("alpha", "beta"), ids=["d", "d", "e"])

    judged = evidence(repeated, policy=Policy(duplicates="credit-once")).judged

    assert rows(judged) == [(0, 1, 0, True), (0, 2, 0, False), (0, 3, 1, True)]
    assert judged.earns.tolist() == [True, False, True]
    assert judged.depth.tolist() == [3]


def test_repeat_counts_again_where_the_policy_keeps_it():
    repeated = sample(["alpha", "alpha"], ("alpha",), ids=["d", "d"])

    judged = evidence(repeated, policy=Policy(duplicates="keep")).judged

    assert rows(judged) == [(0, 1, 0, True), (0, 2, 0, False)]
    assert judged.counts_repeats


def test_generated_answer_is_judged_as_a_list_of_one():
    judged = evidence(sample(["other"], ("Bern", "Berne"), answer="Berne"), matcher="exact", judges="answer").judged

    assert rows(judged) == [(0, 1, 1, True)]
    assert judged.depth.tolist() == [1]


def test_absent_answer_is_a_fault_only_where_there_is_gold():
    found = evidence(sample(["x"], ("Bern",)), sample(["x"], None, name="2"), matcher="exact", judges="answer")

    assert list(found.faults) == [0]
    assert "'answer'" in found.faults[0]


def test_fault_in_the_gold_is_a_fault_of_the_sample_for_that_kind_only():
    faults = {"relevant": Fault("no ids"), "answer": Fault("no text")}
    broken = Sample("s", expected=Expected(faults=faults), output=Output(["a"], ["alpha"]))

    assert evidence(broken).faults == {0: "no text"}
    assert evidence(broken, gold="keywords").faults == {}


@pytest.mark.parametrize("gold", ["passages", "answer", "keywords"])
def test_each_kind_of_gold_text_is_judged_alike(gold):
    one = Sample("s", expected=Expected(**{gold: ("alpha",)}), output=Output(["d"], ["Alpha!"]))

    assert rows(evidence(one, gold=gold).judged) == [(0, 1, 0, True)]
    assert evidence(one, gold=gold).has_gold


def test_order_of_samples_does_not_matter():
    samples = [sample(["a b", "b"], ("b", "a"), name="1"), sample(["b"], ("a", "b"), name="2")]
    forward, backward = evidence(*samples).judged, evidence(*samples[::-1]).judged

    for place in range(2):
        assert forward.sample(place) == backward.sample(1 - place)


def test_policy_is_applied_before_texts_are_looked_at():
    # Only rank 1 is kept, so the item without text plays no part.
    cut = sample(["alpha", None], ("alpha",))

    assert evidence(cut, policy=Policy(depth=1)).blanks == {}
    assert evidence(cut).blanks == {0: 2}


SHOWN: list[list[str]] = []
COMPARED: list[str] = []


def remember_texts(texts, *, name="usual"):
    """Remember which texts were shown, and fail for one of them."""
    SHOWN.append([name, *texts])
    if "boom" in texts:
        raise RuntimeError("it went off")


@comparer("prepared", prepare=remember_texts)
def prepared(retrieved, gold, *, name: str = "usual"):
    """Match everything."""
    COMPARED.extend(retrieved)
    return np.ones((len(retrieved), len(gold)))


class TestPrepare:
    @pytest.fixture
    def matcher(self):
        SHOWN.clear()
        COMPARED.clear()
        plugin = SimpleNamespace(rankgauge_comparers=hookimpl(lambda: [prepared]))
        catalog = Catalog.discover(own_only=True, plugins={"test": plugin})
        return catalog.matcher("casefold > prepared(name=own) >= 1")

    def test_a_comparer_sees_the_distinct_normalized_texts_of_all_samples_before_it_compares(self, matcher):
        samples = [
            Sample("s", expected=Expected(answer=("A",)), output=Output([None, None], ["X", "x"])),
            Sample("t", expected=Expected(answer=("B", "a")), output=Output([None, None], ["y", None])),
        ]
        judge(samples, Target("answer", matcher="m"), profile("default"), matcher)
        assert [["own", "x", "a", "y", "b"]] == SHOWN

    def test_texts_that_are_not_going_to_be_compared_are_not_shown(self, matcher):
        """No gold, no output, a malformed output, and what the policy's depth cuts off."""
        usual = profile("default")
        cut = dataclasses.replace(usual, policy=usual.policy.with_options({"depth": 1}))
        samples = [
            Sample("s", expected=Expected(passages=("p",)), output=Output([None], ["no gold of that kind"])),
            Sample("t", expected=Expected(answer=("no output",))),
            Sample("u", expected=Expected(answer=("malformed",)), output=Fault("bad")),
            Sample("v", expected=Expected(answer=("a",)), output=Output([None, None], ["x", "too deep"])),
        ]
        judge(samples, Target("answer", matcher="m"), cut, matcher)
        assert [["own", "x", "a"]] == SHOWN
        assert ["x"] == COMPARED

    def test_what_preparing_raises_is_passed_over(self, matcher):
        samples = [Sample("s", expected=Expected(answer=("a",)), output=Output([None], ["boom"]))]
        evidence = judge(samples, Target("answer", matcher="m"), profile("default"), matcher)
        assert {} == evidence.faults
        assert [1] == evidence.judged.found().tolist()
