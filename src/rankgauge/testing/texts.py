"""
`check_normalizer`, `check_comparer` and `check_matcher`: what compares texts, against the laws.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from rankgauge.catalog import Catalog
from rankgauge.catalog.parameters import signature_parameters
from rankgauge.errors import MatcherError, ParameterError, RankgaugeError
from rankgauge.plugin.matching import STAGES, Comparer, ComparerLaw, Matcher, NamedMatcher, Normalizer, Stage
from rankgauge.testing.check import CASES, checking, judge_laws, unusable_report
from rankgauge.testing.laws import check_names, laws_of
from rankgauge.testing.report import Report, Verdict

if TYPE_CHECKING:
    from rankgauge.testing.text_laws import ComparerSubject

__all__ = ["check_comparer", "check_matcher", "check_normalizer", "comparer_subject"]

_COMPARER_DEFAULTS: tuple[ComparerLaw, ...] = ("reflexive", "empty-scores-zero")


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

        ParameterError: It is no function, or a stage or law is none.
    """
    found = _declared(normalizer, Normalizer)
    if stage is not None and stage not in STAGES:
        msg = f"the stage of a normalizer is one of {', '.join(STAGES)}, not {stage!r}"
        raise ParameterError(msg)
    check_names("normalizer", without)
    with checking("checking a normalizer") as attempts:
        from rankgauge.testing.text_laws import NORMALIZER_LAWS, NormalizerSubject  # loads hypothesis
        from rankgauge.testing.trial import Trial  # as above

        name = found.name if found is not None else _name(normalizer)
        subject = NormalizerSubject(name, normalizer, stage or (found.stage if found is not None else "fold"))
        every = laws_of("normalizer")
        return judge_laws(
            "normalizer",
            name,
            lambda: Trial(subject),
            NORMALIZER_LAWS,
            every,
            without=without,
            cases=cases,
            attempts=attempts,
        )


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

        laws: The laws that a function which declares none is to obey beside those of every comparer; by default
            `reflexive` and `empty-scores-zero`.

        without: Laws not to check.

        cases: How many cases to draw for a law.

    Returns:
        Which laws hold, and the smallest example of each that does not.

    Raises:
        MissingExtraError: hypothesis is not installed.

        ParameterError: It is no function, or a law is none.
    """
    found = _declared(comparer, Comparer)
    usual = found.laws if found is not None else frozenset(_COMPARER_DEFAULTS)
    wanted = usual if laws is None else check_names("comparer", laws)
    check_names("comparer", without)
    with checking("checking a comparer") as attempts:
        from rankgauge.testing.text_laws import COMPARER_LAWS  # loads hypothesis
        from rankgauge.testing.trial import Trial  # as above

        name = found.name if found is not None else _name(comparer)
        infos = laws_of("comparer")
        subject, unusable = comparer_subject(name, comparer)
        if not subject.variants:
            return unusable_report("comparer", name, unusable)
        every = {law for law, info in infos.items() if info.when == "every"}
        return judge_laws(
            "comparer",
            name,
            lambda: Trial(subject),
            COMPARER_LAWS,
            every | wanted,
            without=without,
            cases=cases,
            attempts=attempts,
            called=f"not as {unusable}" if unusable else "",
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

        ParameterError: It is no matcher, or a law is none.
    """
    spec, name = _spec_of(matcher)
    check_names("matcher", without)
    known = catalog or Catalog.discover()
    infos = laws_of("matcher")
    with checking("checking a matcher") as attempts:
        from rankgauge.testing.text_laws import MATCHER_LAWS, MatcherSubject  # loads hypothesis
        from rankgauge.testing.trial import Trial  # as above

        try:
            resolved = known.matcher(spec)
        except RankgaugeError as error:
            usable = Verdict(law="usable", says=infos["usable"].summary, state="broken", reason=str(error))
            return Report(kind="matcher", name=name, verdicts=(usable,))
        try:
            resolved.check_usable()
        except MatcherError as error:
            return unusable_report("matcher", name, str(error))
        claim = known.all("comparer").get(resolved.matcher.comparer)
        subject = MatcherSubject(name, resolved, claim.declaration.laws if claim is not None else frozenset())
        report = judge_laws(
            "matcher",
            name,
            lambda: Trial(subject),
            MATCHER_LAWS,
            [law for law in infos if law != "usable"],
            without=[law for law in without if law != "usable"],
            cases=cases,
            attempts=attempts,
        )
        usable = Verdict(law="usable", says=infos["usable"].summary, state="holds")
        return Report(kind="matcher", name=name, called=str(resolved.matcher), verdicts=(usable, *report.verdicts))


def comparer_subject(name: str, function: Callable[..., Any]) -> tuple[ComparerSubject, str]:
    """
    Return a comparer with every combination of the choices that its parameters list, the default one first.

    What its `check` says cannot work here is left out; where that is the default, everything is.

    Args:
        name: Its name.

        function: Its function.

    Returns:
        The subject, and what was left out and why.
    """
    from rankgauge.testing.text_laws import ComparerSubject, Variant  # loads hypothesis

    parameters = signature_parameters(function)
    choices = [
        [(each.name, value) for value in sorted(each.choices, key=lambda value: value != each.default)]  # used at once
        for each in parameters
        if each.choices
    ]
    takes_cutoff = any(each.name == "cutoff" for each in parameters)
    declaration: Comparer | None = getattr(function, "__rankgauge__", None)
    variants: list[Variant] = []
    left_out: list[str] = []
    for combination in itertools.product(*choices):
        listed = ", ".join(f"{key}={value}" for key, value in combination)
        spec = f"{name}({listed})" if listed else name
        try:
            if declaration is not None and declaration.check is not None:
                declaration.check(**dict(combination))
        except Exception as error:  # noqa: BLE001  # plugin code may raise anything
            left_out.append(f"{spec}, which cannot work here: {error}" if listed else str(error))
            if not variants:
                break
            continue
        compare = functools.partial(function, **dict(combination))
        prepare = (
            None
            if declaration is None or declaration.prepare is None
            else functools.partial(declaration.prepare, **dict(combination))
        )
        cut = (
            (lambda found, wanted, cutoff, compare=compare: compare(found, wanted, cutoff=cutoff))
            if takes_cutoff
            else None
        )
        variants.append(Variant(spec, compare, cut, prepare))
    return ComparerSubject(name, function, tuple(variants)), "; ".join(left_out)


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


def _declared(function: object, kind: type[Any]) -> Any:  # noqa: ANN401  # a declaration of that kind, or None
    if inspect.isclass(function) or not callable(function):
        msg = f"a {kind.__name__.lower()} is a function, not {function!r}"
        raise ParameterError(msg)
    found = getattr(function, "__rankgauge__", None)
    if found is not None and not isinstance(found, kind):
        msg = f"{_name(function)} is declared as a {type(found).__name__.lower()}, not as a {kind.__name__.lower()}"
        raise ParameterError(msg)
    return found


def _name(function: object) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))
