"""
`check_normalizer`, `check_comparer` and `check_matcher`: checking what compares texts against the laws.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.catalog import Catalog
from rankgauge.catalog.resolved import signature_parameters
from rankgauge.errors import MatcherError, ParameterError, RankgaugeError
from rankgauge.plugin.matching import STAGES, Comparer, ComparerLaw, Matcher, NamedMatcher, Normalizer, Stage
from rankgauge.testing.check import CASES, checking
from rankgauge.testing.laws import check_names, laws_of
from rankgauge.testing.report import Report

if TYPE_CHECKING:
    from rankgauge.testing.text_laws import ComparerSubject

__all__ = ["check_comparer", "check_matcher", "check_normalizer", "declared_function", "name_of"]


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
    found = declared_function(normalizer, Normalizer)
    if stage is not None and stage not in STAGES:
        msg = f"the stage of a normalizer is one of {', '.join(STAGES)}, not {stage!r}"
        raise ParameterError(msg)
    with checking("normalizer", without, cases) as checker:
        from rankgauge.testing.text_laws import NORMALIZER_LAWS
        from rankgauge.testing.trial import Trial

        subject = found or Normalizer(name_of(normalizer), normalizer, "fold")
        subject = replace(subject, function=normalizer, stage=stage or subject.stage)
        return checker.report(subject.name, functools.partial(Trial, subject), NORMALIZER_LAWS, laws_of("normalizer"))


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
    found = declared_function(comparer, Comparer) or Comparer(name_of(comparer), comparer)
    wanted = found.laws if laws is None else check_names("comparer", laws)
    with checking("comparer", without, cases) as checker:
        from rankgauge.testing.text_laws import COMPARER_LAWS
        from rankgauge.testing.trial import Trial

        subject, unusable = _comparer_subject(found, comparer)
        if not subject.variants:
            return checker.unusable(found.name, unusable)
        every = {law for law, info in laws_of("comparer").items() if info.when == "every"}
        called = f"not as {unusable}" if unusable else ""
        return checker.report(
            found.name, functools.partial(Trial, subject), COMPARER_LAWS, every | wanted, called=called
        )


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
    known = catalog or Catalog.discover()
    infos = dict(laws_of("matcher"))
    usable = infos.pop("usable")  # resolving it is what shows that
    with checking("matcher", set(without) - {"usable"}, cases) as checker:
        from rankgauge.testing.text_laws import MATCHER_LAWS, MatcherSubject
        from rankgauge.testing.trial import Trial

        try:
            resolved = known.matcher(spec)
        except RankgaugeError as error:
            return Report(kind="matcher", name=name, verdicts=(usable.verdict("broken", str(error)),))
        try:
            resolved.check_usable()
        except MatcherError as error:
            return checker.unusable(name, str(error))
        claim = known.all("comparer").get(resolved.matcher.comparer)
        subject = MatcherSubject(resolved, claim.declaration.laws if claim is not None else frozenset())
        called = str(resolved.matcher)
        report = checker.report(name, functools.partial(Trial, subject), MATCHER_LAWS, infos, called=called)
        return replace(report, verdicts=(usable.verdict("holds"), *report.verdicts))


def _comparer_subject(declaration: Comparer, function: Callable[..., Any]) -> tuple[ComparerSubject, str]:
    """
    Return a comparer with every combination of the choices that its parameters list, and what was left out and why.

    The default combination comes first. What `check` refuses is left out; where that is the default, everything is.
    """
    from rankgauge.testing.text_laws import ComparerSubject, Variant

    parameters = signature_parameters(function)
    choices = [
        [(each.name, value) for value in sorted(each.choices, key=lambda value: value != each.default)]  # used at once
        for each in parameters
        if each.choices
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
        prepare = None if declaration.prepare is None else functools.partial(declaration.prepare, **combination)
        batch = None if declaration.batch is None else functools.partial(declaration.batch, **combination)
        variants.append(Variant(spec, functools.partial(function, **combination), prepare, batch))
    takes_cutoff = any(each.name == "cutoff" for each in parameters)
    return ComparerSubject(function, tuple(variants), takes_cutoff), "; ".join(left_out)


def _spec_of(matcher: object) -> tuple[str, str]:
    """Return how the catalog is asked for a matcher, and what reports call it."""
    if isinstance(matcher, str):
        return matcher, matcher
    if isinstance(matcher, Matcher):
        return str(matcher), str(matcher)
    found = getattr(matcher, "__rankgauge__", None)
    if isinstance(found, NamedMatcher):
        return _spec_of(found.matcher)[0], found.name
    msg = f"a matcher is a function declared with @named_matcher, a Matcher, or its text; not {matcher!r}"
    raise ParameterError(msg)


def declared_function(function: object, kind: type[Any]) -> Any:  # noqa: ANN401  # a declaration of that kind, or None
    """Return the declaration of a function, None where it has none; raise `ParameterError` for another kind."""
    if inspect.isclass(function) or not callable(function):
        msg = f"a {kind.__name__.lower()} is a function, not {function!r}"
        raise ParameterError(msg)
    found = getattr(function, "__rankgauge__", None)
    if found is not None and not isinstance(found, kind):
        msg = f"{name_of(function)} is declared as a {type(found).__name__.lower()}, not as a {kind.__name__.lower()}"
        raise ParameterError(msg)
    return found


def name_of(function: object) -> str:
    """Return what reports call a function that declares no name."""
    return str(getattr(function, "__qualname__", type(function).__qualname__))
