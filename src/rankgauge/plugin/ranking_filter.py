"""
Declarations of ranking filters: steps of a policy that drop results before a ranking is cut.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_type_hints

from rankgauge.errors import DeclarationError
from rankgauge.plugin.signature import Authored, Parameter, declaring, plain_name, plain_version

__all__ = ["FilterNeed", "RankedResults", "RankingFilter", "ranking_filter"]

FilterNeed = Literal["scores", "texts", "metadata", "input", "sample_metadata"]
FilterFunction = Callable[..., Sequence[bool]]
F = TypeVar("F", bound=FilterFunction)


class RankedResults(NamedTuple):
    """
    What was retrieved for one question, rank 1 first.

    Attributes:
        ids: The id of each result; None for one that has a text only.

        scores: The score of each; None unless the filter needs scores.

        texts: The text of each; None unless the filter needs texts.

        metadata: What else is known of each, read-only; None unless the filter needs metadata.

        input: What the system was given for the question, any JSON value; None unless the filter needs the input.

        sample_metadata: The metadata of the question's sample, read-only and empty if it has none; None unless the
            filter needs them.
    """

    ids: Sequence[str | None]
    scores: Sequence[float] | None = None
    texts: Sequence[str] | None = None
    metadata: Sequence[Mapping[str, Any]] | None = None
    input: Any = None  # any JSON value: the system under test defines it
    sample_metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class RankingFilter(Authored):
    """A step of a policy that drops results."""

    name: str
    function: FilterFunction
    version: str
    needs: frozenset[FilterNeed]
    parameters: tuple[Parameter, ...]


def ranking_filter(name: str, *, version: str = "1", needs: Iterable[FilterNeed] = ()) -> Callable[[F], F]:
    """
    Declare a ranking filter: ``(results: RankedResults, *, ...) -> Sequence[bool]``, which of the results stay.

        @ranking_filter("one-per-page")
        def one_per_page(results, *, most: int = 1):
            \"\"\"Keep the first results of each page, whose id is what is before `#`.\"\"\"
            pages = [(name or "").partition("#")[0] for name in results.ids]
            return [pages[:rank].count(page) < most for rank, page in enumerate(pages)]

    It is called once for each ranking, with what was retrieved in the order in which it is ranked (ties by id unless
    ``ties=given``), and before `exclude_self`, `duplicates`, `depth` and every cutoff apply: the ranks of results that
    stay close up. What `excluded` leaves out is gone. The same results always give the same flags, since a ranking may
    be read more than once.

    Args:
        name: Lower-case words joined by hyphens; ``filters: [NAME(most=2)]`` of a policy uses it.

        version: Raise it when the definition changes; fingerprints and locks cover it.

        needs: What it looks at beside ids: `scores`, `texts` or `metadata` of the results, each of which has to have
            one, or else the sample fails; `input` or `sample_metadata` of the question. Runs have scores alone, and a
            plan for a run refuses a filter that needs anything else.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the name cannot be used, a need is unknown, or a parameter is not keyword-only
            with an annotation and a default.
    """
    wanted: frozenset[Any] = frozenset([needs] if isinstance(needs, str) else needs)  # Any: checked here
    if unknown := wanted - frozenset(get_args(FilterNeed)):
        raise DeclarationError(f"filter {name!r} needs {min(unknown)!r}; it may need {', '.join(get_args(FilterNeed))}")
    return declaring(
        lambda function: RankingFilter(
            plain_name(name), function, plain_version(version), wanted, _parameters(name, function)
        )
    )


def _parameters(name: str, function: FilterFunction) -> tuple[Parameter, ...]:
    try:
        hints = get_type_hints(function)
    except (NameError, TypeError) as error:
        raise DeclarationError(f"cannot read the annotations of filter {name!r}: {error}") from error
    parameters = list(inspect.signature(function).parameters.values())
    first = parameters[0] if parameters else None
    if first is None or first.kind not in {first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD}:
        raise DeclarationError(f"filter {name!r} has to take what was retrieved as its first parameter")
    for each in parameters[1:]:
        if each.kind is not each.KEYWORD_ONLY:
            raise DeclarationError(f"parameter {each.name!r} of filter {name!r} must be keyword-only")
        if each.name not in hints or each.default is each.empty:
            raise DeclarationError(f"parameter {each.name!r} of filter {name!r} needs an annotation and a default")
    return tuple(Parameter(each.name, hints[each.name], each.default) for each in parameters[1:])
