"""Checking normalizers, comparers and matchers: each law catches one that breaks it."""

from __future__ import annotations

import itertools
import random
from types import SimpleNamespace
from typing import Literal

import numpy as np
import pytest

from draws import draws, in_thorough_suite
from rankgauge.catalog import Catalog
from rankgauge.errors import DeclarationError, ParameterError
from rankgauge.matchers.comparers import edit_ratio, equal
from rankgauge.matchers.normalizers import casefold, json_unescape
from rankgauge.plugin import comparer, hookimpl, named_matcher, normalizer
from rankgauge.plugin.matching import parse_matcher
from rankgauge.testing import check_comparer, check_matcher, check_normalizer, laws_of

CATALOG = Catalog.discover(own_only=True)


def first_word(text):
    return text.split()[0]


def length(text):
    return len(text)


def one_blank_off(text):
    return text.removeprefix(" ")


CALLS = itertools.count()


def counted(text):
    return f"{text}{next(CALLS)}"


@pytest.mark.parametrize(
    ("law", "function"),
    [
        ("total", first_word),
        ("total", length),
        ("idempotent", lambda text: text.replace("  ", " ")),
        ("idempotent", one_blank_off),
        ("twice", counted),
        ("pickling", lambda text: text),
    ],
)
@pytest.mark.usefixtures("first_example")
def test_normalizer_that_breaks_a_law_is_caught(law, function):
    report = check_normalizer(function, without=set(laws_of("normalizer")) - {law})

    assert report.broken == (law,)


@pytest.mark.usefixtures("first_example")
@in_thorough_suite()
def test_a_batch_that_gives_other_texts_is_caught():
    @normalizer("lower-alone", stage="fold", batch=lambda texts: [text.casefold() for text in texts[:1]])
    def lower_alone(text):
        """Lower-case letters."""
        return text.lower()

    assert check_normalizer(lower_alone, without={"pickling"}).broken == ("many-texts",)
    assert check_normalizer(casefold, cases=draws(1)).skipped["many-texts"] == "it declares no `batch`"


def test_the_example_of_a_normalizer_is_small_and_readable():
    verdict = check_normalizer(first_word)["total"]

    assert [each["text"] for each in verdict.example] == ["''"]
    assert verdict.reason == "it raised IndexError: list index out of range"


@in_thorough_suite()
def test_right_normalizers_pass_and_decoding_need_not_be_idempotent():
    assert check_normalizer(casefold, cases=draws(20)).name == "casefold"
    check_normalizer(casefold, cases=draws(20)).raise_if_broken()
    assert "idempotent" in check_normalizer(json_unescape, cases=draws(20)).skipped
    assert check_normalizer(json_unescape, stage="fold").broken == ("idempotent",)


def _scores(found, wanted, one):
    return np.array([[one(a, b) for b in wanted] for a in found]).reshape(len(found), len(wanted))


def too_high(found, wanted):
    return _scores(found, wanted, lambda a, b: 2.0 if a == b and a else 0.0)


def flat(found, wanted):
    return [float(a == b and a != "") for a in found for b in wanted]


def best_of_block(found, wanted):
    scores = equal(found, wanted)
    return scores / max(len(wanted), 1)


def shouting_only(found, wanted):
    return _scores(found, wanted, lambda a, b: float(a == b and a.isupper()))


def empty_fits(found, wanted):
    return _scores(found, wanted, lambda a, b: float(a in b))


def moody(found, wanted):
    return equal(found, wanted) * (1.0 - next(CALLS) % 2)


def sorting(found, wanted):
    found.sort()
    return equal(found, wanted)


def deaf(found, wanted, *, cutoff: float = 0.0):
    return equal(found, wanted) * (cutoff < 0.8)


def one_way(found, wanted):
    return _scores(found, wanted, lambda a, b: float(bool(a) and bool(b) and a in b))


@pytest.mark.parametrize(
    ("law", "function"),
    [
        ("bounded", too_high),
        ("bounded", flat),
        ("pair-by-pair", best_of_block),
        ("reflexive", shouting_only),
        ("empty-scores-zero", empty_fits),
        ("twice", moody),
        ("arguments", sorting),
        ("cutoff", deaf),
        ("symmetric", one_way),
        ("pickling", lambda found, wanted: 1.0 * equal(found, wanted)),
    ],
)
@pytest.mark.usefixtures("first_example")
def test_comparer_that_breaks_a_law_is_caught(law, function):
    laws = ["reflexive", "empty-scores-zero", *(["symmetric"] if law == "symmetric" else [])]

    report = check_comparer(function, laws=laws, without=set(laws_of("comparer")) - {law})

    assert report.broken == (law,)


def test_right_comparers_pass_with_every_choice_of_their_parameters():
    report = check_comparer(edit_ratio, laws=["reflexive", "empty-scores-zero", "symmetric"], cases=draws(30))

    report.raise_if_broken()
    assert {"cutoff", "symmetric", "reflexive"} <= set(report.holds)


def test_a_comparer_says_which_laws_hold():
    @comparer("checked-anything", laws=())
    def anything(found, wanted):
        return np.ones((len(found), len(wanted)))

    report = check_comparer(anything, without=["pickling"], cases=draws(20))
    assert report.ok
    assert "reflexive" not in report.holds
    with pytest.raises(DeclarationError, match="names the unknown law 'reflexiv'"):
        comparer("checked-other", laws=["reflexiv"])(lambda found, wanted: None)


def test_right_matchers_pass_as_name_value_and_text():
    for matcher in ("folded", parse_matcher("equal >= 1"), "casefold > edit-ratio >= 0.8"):
        check_matcher(matcher, catalog=CATALOG, cases=draws(20)).raise_if_broken()
    assert check_matcher("folded", catalog=CATALOG, cases=draws(20)).called == (
        "collapse-whitespace | casefold > equal >= 1"
    )


def test_a_matcher_of_unknown_parts_is_not_usable():
    report = check_matcher("no-such-step > equal >= 1", catalog=CATALOG)

    assert report.broken == ("usable",)
    assert "unknown normalizer 'no-such-step'" in report["usable"].reason


@comparer("checked-loose", laws=("reflexive", "empty-scores-zero"))
def loose(found, wanted):
    """Find one in the other, even nothing."""
    return empty_fits(found, wanted)


@comparer("checked-half")
def half(found, wanted):
    """Be half sure."""
    return equal(found, wanted) / 2


@normalizer("checked-crash", stage="strip")
def crash(text):
    """Want a colon."""
    return text[text.index(":") :]


@normalizer("checked-moody", stage="strip")
def sometimes(text):
    """Strip now and then."""
    return text if next(CALLS) % 3 else ""


def _plugin():
    from rankgauge.plugin import hookimpl

    class Faulty:
        @hookimpl
        def rankgauge_normalizers(self):
            return [crash, sometimes]

        @hookimpl
        def rankgauge_comparers(self):
            return [loose, half]

    return Catalog.discover(own_only=True, plugins={"faulty": Faulty()})


@pytest.mark.parametrize(
    ("law", "spec"),
    [
        ("nothing-matches-nothing", "checked-loose >= 1"),
        ("matches-itself", "checked-half >= 1"),
        ("total", "checked-crash > equal >= 1"),
        ("twice", "checked-moody > equal >= 1"),
    ],
)
def test_matcher_that_breaks_a_law_is_caught(law, spec):
    assert law in check_matcher(spec, catalog=_plugin(), cases=40).broken


def test_a_named_matcher_is_checked_as_what_it_is():
    @named_matcher("checked-name", "casefold > equal >= 1")
    def named() -> None:
        """Compare whatever case."""

    report = check_matcher(named, catalog=CATALOG, cases=draws(20))
    assert (report.name, report.called, report.ok) == ("checked-name", "casefold > equal >= 1", True)


def test_what_is_something_else_is_refused():
    with pytest.raises(ParameterError, match="declared as a normalizer, not as a comparer"):
        check_comparer(casefold)
    with pytest.raises(ParameterError, match="is a function, not 3"):
        check_normalizer(3)
    with pytest.raises(ParameterError, match="the stage of a normalizer"):
        check_normalizer(casefold, stage="foldy")
    with pytest.raises(ParameterError, match="a matcher is a function"):
        check_matcher(3, catalog=CATALOG)
    with pytest.raises(ParameterError, match="no law 'padding' of a comparer"):
        check_comparer(equal, without=["padding"])


@in_thorough_suite()
def test_random_numbers_are_no_scores():
    draw = random.Random(3)  # noqa: S311  # no secret

    def lucky(found, wanted):
        return np.array([[draw.random() for _ in wanted] for _ in found]).reshape(len(found), len(wanted))

    assert {"twice", "pair-by-pair", "reflexive", "empty-scores-zero"} <= set(check_comparer(lucky, cases=30).broken)


def alike(retrieved, gold):
    scores = [float(bool(one) and one == other) for one in retrieved for other in gold]
    return np.reshape(scores, (len(retrieved), len(gold)))


@in_thorough_suite()
def test_comparer_that_needs_to_be_prepared_is_caught():
    ready = set()

    def prepare(texts):
        ready.clear()
        ready.update(texts)

    @comparer("checked-lazy", prepare=prepare)
    def lazy(retrieved, gold):
        return alike(retrieved, [text if text in ready else "" for text in gold])

    report = check_comparer(lazy, laws=[], without=["pickling", "twice", "pair-by-pair"])

    assert report.broken == ("prepared",)
    assert report["prepared"].reason.startswith("it scores differently once prepared")


def test_comparer_whose_prepare_raises_is_caught():
    def refuse(texts):
        raise RuntimeError("not so many")

    @comparer("checked-refusing", prepare=refuse)
    def refusing(retrieved, gold):
        return alike(retrieved, gold)

    assert check_comparer(refusing, without=["pickling"], cases=10).broken == ("prepared",)


def test_law_of_preparing_is_skipped_where_nothing_is_prepared():
    assert check_comparer(equal, cases=5).skipped == {
        "cutoff": "it has no parameter `cutoff`",
        "prepared": "it declares no `prepare`",
        "many-samples": "it declares no `batch`",
    }


def many_alike(retrieved, gold):
    return [alike(*each) for each in zip(retrieved, gold, strict=True)]


@pytest.mark.parametrize(
    ("batch", "said"),
    [
        (
            lambda retrieved, gold: [many_alike(retrieved, gold)[0], *(b * 0 for b in many_alike(retrieved, gold)[1:])],
            "sample ",
        ),
        (lambda retrieved, gold: many_alike(retrieved, gold)[:-1], "`batch`: "),
        (lambda retrieved, gold: 0.5, "`batch`: "),
        (lambda retrieved, gold: [block * 2 for block in many_alike(retrieved, gold)], "`batch`: "),
    ],
    ids=["only the first is compared", "a sample too few", "no blocks", "scores of 2"],
)
@pytest.mark.usefixtures("first_example")
@in_thorough_suite()
def test_comparer_that_mixes_samples_up_is_caught(batch, said):
    @comparer("checked-mixing", batch=batch)
    def mixing(retrieved, gold):
        return alike(retrieved, gold)

    report = check_comparer(mixing, without=["pickling"], cases=100)
    assert report.broken == ("many-samples",)
    assert report["many-samples"].reason.startswith(said)


def test_comparer_with_a_faithful_batch_keeps_the_laws():
    @comparer("checked-many", batch=many_alike)
    def many(retrieved, gold):
        return alike(retrieved, gold)

    assert check_comparer(many, without=["pickling"], cases=20).broken == ()


def absent(*, size="small"):
    if size == "small":
        raise ModuleNotFoundError("the small model is not here")


def test_comparer_that_cannot_work_here_breaks_no_law():
    @comparer("checked-absent", check=absent)
    def no_model(retrieved, gold):
        raise AssertionError("it was called all the same")

    report = check_comparer(no_model)
    assert report.ok
    assert report.unusable == "the small model is not here"
    assert report.holds == ()
    assert set(report.skipped.values()) == {"the small model is not here"}
    assert str(report) == (
        "comparer checked-absent: not checked, because it cannot work here\n  the small model is not here"
    )
    assert report.to_dict()["unusable"] == "the small model is not here"


def test_choices_that_cannot_work_here_are_left_out_and_named():
    @comparer("checked-sized", check=lambda *, size="large": absent(size=size))
    def sized(retrieved, gold, *, size: Literal["large", "small"] = "large"):
        assert size == "large"
        return alike(retrieved, gold)

    report = check_comparer(sized, without=["pickling"], cases=10)
    assert report.ok
    assert "reflexive" in report.holds
    assert "not as checked-sized(size=small), which cannot work here: the small model is not here" in str(report)


def test_matcher_whose_comparer_cannot_work_here_breaks_no_law():
    @comparer("checked-absent", check=absent)
    def no_model(retrieved, gold):
        raise AssertionError("it was called all the same")

    catalog = Catalog.discover(
        own_only=True, plugins={"mine": SimpleNamespace(rankgauge_comparers=hookimpl(lambda: [no_model]))}
    )
    report = check_matcher("casefold > checked-absent >= 1", catalog=catalog)
    assert report.ok
    assert report.unusable.endswith("the small model is not here")
    assert report.holds == ()
