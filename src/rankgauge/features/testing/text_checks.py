"""
Checks of what reads texts: a normalizer, comparer, matcher or tokenizer in, a report out.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.catalog import Catalog
from rankgauge.catalog.resolved import signature_parameters
from rankgauge.errors import MatcherError, ParameterError, RankgaugeError
from rankgauge.features.testing.law import Law, applying, function_name, law_names
from rankgauge.features.testing.law_checks import CASES, Candidate, checking
from rankgauge.features.testing.law_report import Report
from rankgauge.plugin.declarations import Tokenizer, TokenizerLaw
from rankgauge.plugin.matching import STAGES, Comparer, ComparerLaw, Matcher, NamedMatcher, Normalizer, Stage

__all__ = ["check_comparer", "check_matcher", "check_normalizer", "check_tokenizer"]


def check_normalizer(
    normalizer: Callable[[str], str], *, stage: Stage | None = None, without: Iterable[str] = (), cases: int = CASES
) -> Report:
    """
    Check a normalizer against the laws.

    Args:
        normalizer: A function declared with `@normalizer`, or any from a text to a text.

        stage: The stage of a function that declares none; `fold` by default.

        without: Laws not to check.

        cases: How many cases to draw for a law.

    Returns:
        Which laws hold, and the smallest example of each that does not.

    Raises:
        MissingExtraError: hypothesis is not installed.

        ParameterError: It is not a function, or there is no such stage or law.
    """
    if stage is not None and stage not in STAGES:
        raise ParameterError(f"the stage of a normalizer is one of {', '.join(STAGES)}, not {stage!r}")
    with checking("normalizer", without, cases) as checker:
        declared = _declared(normalizer, Normalizer) or Normalizer(function_name(normalizer), normalizer, "fold")
        return checker.report_on(replace(declared, function=normalizer, stage=stage or declared.stage))


def check_comparer(
    comparer: Callable[..., Any],
    *,
    laws: Iterable[ComparerLaw] | None = None,
    without: Iterable[str] = (),
    cases: int = CASES,
) -> Report:
    """
    Check a comparer against the laws, with every choice that its parameters list.

    Args:
        comparer: A function declared with `@comparer`, or any ``(retrieved, gold) -> scores``.

        laws: Laws to check besides those of every comparer; by default the declared ones, or `reflexive` and
            `empty-scores-zero` for a function that declares none.

        without: Laws not to check.

        cases: How many cases to draw for a law.

    Returns:
        Which laws hold, and the smallest example of each that does not.

    Raises:
        MissingExtraError: hypothesis is not installed.

        ParameterError: It is not a function, or there is no such law.
    """
    with checking("comparer", without, cases) as checker:
        declared = _declared(comparer, Comparer) or Comparer(function_name(comparer), comparer)
        wanted = declared.laws if laws is None else law_names("comparer", checker.laws, laws)
        return checker.report(_comparer_candidate(replace(declared, function=comparer), applying(checker.laws, wanted)))


def check_matcher(
    matcher: Callable[[], None] | Matcher | str,
    *,
    catalog: Catalog | None = None,
    without: Iterable[str] = (),
    cases: int = CASES,
) -> Report:
    """
    Check a matcher against the laws.

    Args:
        matcher: A function declared with `@named_matcher`, a `Matcher`, a name, or a composition such as
            ``casefold > equal >= 1``.

        catalog: Where its names are looked up; by default everything installed.

        without: Laws not to check.

        cases: How many cases to draw for a law.

    Returns:
        Which laws hold, and the smallest example of each that does not.

    Raises:
        MissingExtraError: hypothesis is not installed.

        ParameterError: It is not a matcher, or there is no such law.
    """
    spec, name = _spec_of(matcher)
    with checking("matcher", without, cases) as checker:
        from rankgauge.features.testing.text_laws import MatcherSubject

        subject = MatcherSubject(spec, catalog or Catalog.installed())
        called = unusable = ""
        with contextlib.suppress(RankgaugeError):  # what cannot be resolved breaks the law `usable`
            called = str(subject.resolved.matcher)
            try:
                subject.resolved.check_usable()
            except MatcherError as error:
                unusable = str(error)
        laws = applying(checker.laws)
        return checker.report(Candidate(name=name, subject=subject, laws=laws, called=called, unusable=unusable))


def check_tokenizer(
    tokenizer: Callable[[str], int],
    *,
    laws: Iterable[TokenizerLaw] | None = None,
    without: Iterable[str] = (),
    cases: int = CASES,
) -> Report:
    """
    Check a tokenizer against the laws.

    Args:
        tokenizer: A function declared with `@tokenizer`, or any from a text to a number of tokens.

        laws: Laws to check besides those of every tokenizer; by default the declared ones, or `monotone` for a function
            that declares none.

        without: Laws not to check.

        cases: How many cases to draw for a law.

    Returns:
        Which laws hold, and the smallest example of each that does not.

    Raises:
        MissingExtraError: hypothesis is not installed.

        ParameterError: It is not a function, or there is no such law.
    """
    with checking("tokenizer", without, cases) as checker:
        declared = _declared(tokenizer, Tokenizer) or Tokenizer(function_name(tokenizer), tokenizer)
        wanted = declared.laws if laws is None else law_names("tokenizer", checker.laws, laws)
        return checker.report_on(replace(declared, function=tokenizer), wanted)


def _comparer_candidate(declaration: Comparer, laws: tuple[Law, ...]) -> Candidate:
    """
    Return a comparer with every combination of the choices that its parameters list, the default one first.

    What `check` refuses is left out, and the report says so; if that is the default, everything is.
    """
    from rankgauge.features.testing.text_laws import ComparerSubject, Variant

    parameters = signature_parameters(declaration.function)
    choices = [
        [(one.name, value) for value in sorted(one.choices, key=lambda value: value != one.default)]  # used at once
        for one in parameters
        if one.choices
    ]
    variants: list[Variant] = []
    left_out: list[str] = []
    for combination in map(dict, itertools.product(*choices)):
        listed = ", ".join(f"{key}={value}" for key, value in combination.items())
        spec = f"{declaration.name}({listed})" if listed else declaration.name
        try:
            with guarded():
                if declaration.check is not None:
                    declaration.check(**combination)
        except ForeignError as error:
            left_out.append(f"{spec}, which cannot work here: {error.reason}" if listed else error.reason)
            if not variants:
                break
            continue
        prepare, batch = (
            None if function is None else functools.partial(function, **combination)
            for function in (declaration.prepare, declaration.batch)
        )
        variants.append(Variant(spec, functools.partial(declaration.function, **combination), prepare, batch))
    takes_cutoff = any(one.name == "cutoff" for one in parameters)
    subject = ComparerSubject(declaration.function, tuple(variants), takes_cutoff)
    reason = "; ".join(left_out)
    called = f"not as {reason}" if variants and reason else ""
    unusable = "" if variants else reason
    return Candidate(name=declaration.name, subject=subject, laws=laws, called=called, unusable=unusable)


def _spec_of(matcher: object) -> tuple[str, str]:
    """Return how the catalog is asked for a matcher, and what reports call it."""
    if isinstance(matcher, str):
        return matcher, matcher
    if isinstance(matcher, Matcher):
        return str(matcher), str(matcher)
    declaration = getattr(matcher, "__rankgauge__", None)
    if isinstance(declaration, NamedMatcher):
        return _spec_of(declaration.matcher)[0], declaration.name
    forms = "a function declared with @named_matcher, a Matcher, or its text"
    raise ParameterError(f"a matcher is {forms}; not {matcher!r}")


def _declared(function: object, kind: type[Any]) -> Any:  # noqa: ANN401  # a declaration of that kind, or None
    """Return the declaration of a function, None if it has none; raise `ParameterError` for another kind."""
    wanted = kind.__name__.lower()
    if inspect.isclass(function) or not callable(function):
        raise ParameterError(f"a {wanted} is a function, not {function!r}")
    declaration = getattr(function, "__rankgauge__", None)
    if declaration is not None and not isinstance(declaration, kind):
        actual = type(declaration).__name__.lower()
        raise ParameterError(f"{function_name(function)} is declared as a {actual}, not as a {wanted}")
    return declaration
