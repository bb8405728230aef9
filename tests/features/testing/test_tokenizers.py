"""Checking tokenizers: each law catches one that breaks it, and the built-in ones break none."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest

from draws import draws
from rankgauge.catalog import Catalog
from rankgauge.errors import DeclarationError, ParameterError
from rankgauge.plugin import hookimpl, tokenizer
from rankgauge.testing import check_plugin, check_tokenizer, laws_of

CALLS = itertools.count()


def of_first_word(text):
    return len(text.split()[0])


def longest_line(text):
    return max(map(len, text.splitlines()), default=0)


def shortest_line(text):
    return min(map(len, text.splitlines()), default=0)


def squared(text):
    return len(text) ** 2


def with_marks(text):
    return len(text) + 2


def changing(text):
    return len(text) + next(CALLS)


@pytest.mark.parametrize(
    ("law", "function"),
    [
        ("total", of_first_word),
        ("total", lambda text: len(text) / 4),
        ("total", lambda text: 3 - len(text)),
        ("empty", with_marks),
        ("twice", changing),
        ("monotone", shortest_line),
        ("subadditive", squared),
        ("pickling", lambda text: len(text) // 2),
    ],
)
@pytest.mark.usefixtures("first_example")
def test_a_tokenizer_that_breaks_a_law_is_caught(law, function):
    report = check_tokenizer(
        function, laws=["monotone", "subadditive"], without=set(laws_of("tokenizer")) - {law}, cases=50
    )

    assert report.broken == (law,)
    assert report[law].reason


def test_a_law_that_is_not_declared_is_not_checked():
    report = check_tokenizer(longest_line, laws=[], without=["whole-text"], cases=20)

    assert report.ok
    assert {"total", "empty", "twice"} <= set(report.holds)
    assert "subadditive" not in report.holds


@pytest.mark.parametrize("name", sorted(Catalog.discover(own_only=True).all("tokenizer")))
def test_the_built_in_tokenizers_obey_the_laws(name):
    check_tokenizer(
        Catalog.discover(own_only=True).tokenizer(name).declaration.function, cases=draws(60)
    ).raise_if_broken()


@pytest.mark.parametrize(
    ("text", "words", "chars4"), [("", 0, 0), ("a", 1, 1), ("a\tb \n cd", 3, 2), ("漢字かな交じり", 1, 2)]
)
def test_the_built_in_tokenizers_count(text, words, chars4):
    catalog = Catalog.discover(own_only=True)
    assert (words, chars4) == tuple(catalog.tokenizer(name).declaration.function(text) for name in ("words", "chars4"))


class TestDeclaration:
    def test_an_unknown_law_is_refused(self):
        with pytest.raises(DeclarationError, match="tokenizer 'mine' names the unknown law 'fast'; laws are monotone"):
            tokenizer("mine", laws=["fast"])(len)

    def test_a_name_is_lower_case_words(self):
        with pytest.raises(DeclarationError, match="'My Model' is not a usable name"):
            tokenizer("My Model")(longest_line)

    def test_something_else_is_refused(self):
        with pytest.raises(ParameterError, match="a tokenizer is a function, not 'words'"):
            check_tokenizer("words")


class TestInPlugins:
    def plugin(self, *functions):
        return SimpleNamespace(rankgauge_tokenizers=hookimpl(_returning(*functions)))

    @pytest.mark.usefixtures("first_example")
    def test_checking_a_plugin_checks_its_tokenizers(self):
        report = check_plugin(self.plugin(tokenizer("marks")(with_marks)), cases=10)
        (own,) = report.reports
        assert ("tokenizer", "marks", ("empty",)) == (own.kind, own.name, own.broken)

    def test_a_built_in_name_cannot_be_taken(self):
        catalog = Catalog.discover(own_only=True, plugins={"mine": self.plugin(tokenizer("words")(longest_line))})
        (fault,) = catalog.faults
        assert "tokenizer 'words' is built in and cannot be replaced" in fault.message
        assert catalog.tokenizer("words").provider.distribution == "rankgauge"

    def test_a_function_that_nothing_declared_is_a_fault(self):
        catalog = Catalog.discover(own_only=True, plugins={"mine": self.plugin(squared)})
        (fault,) = catalog.faults
        assert "which @tokenizer did not declare" in fault.message


def _returning(*functions):
    def rankgauge_tokenizers():
        return list(functions)

    return rankgauge_tokenizers
