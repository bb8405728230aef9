"""
Declarations of measures that have one value for a whole run, and none for a sample, such as coverage of a catalogue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TypeVar

from rankgauge.expression import Value
from rankgauge.plugin.metric import WHOLE_RUN, metric

__all__ = ["RunMeasure", "run_metric"]

RunMeasure = Callable[..., float | None]
F = TypeVar("F", bound=RunMeasure)


def run_metric(
    alias: str,
    *,
    aliases: Iterable[str] = (),
    short: Iterable[str] = (),
    range: tuple[float | None, float | None] = (0.0, 1.0),  # noqa: A002  # the field's word
    higher_is_better: bool = True,
    version: str = "1",
    check: Callable[..., None] | None = None,
    example: Mapping[str, Value] = MappingProxyType({}),
) -> Callable[[F], F]:
    """
    Declare a measure of a whole run: ``(rankings: Sequence[Sequence[str]], *, k: int, ...) -> float | None``.

    The function gets the ids that each sample retrieved, rank 1 first, after policy and cut at the sample's cutoff. A
    sample without an output is left out. Rankings come sorted, so that a value cannot depend on the order of samples,
    and merged parts of a run give the same value as the whole. None, or NaN, means that there is no value.

    A parameter `k` annotated ``Cutoff`` gives the metric a cutoff; its value is the highest of any sample. Further
    keyword-only parameters need an annotation and a default.

    Args:
        alias: As in `metric`.

        aliases: As in `metric`.

        short: As in `metric`.

        range: Lowest and highest value; None for no bound.

        higher_is_better: Whether more is better.

        version: Raise it when the definition changes.

        check: ``(*, ...) -> None``, called when an evaluation is planned; a `ValueError` is the user's error.

        example: As in `metric`.

    Returns:
        A decorator that leaves the function as it is.

    Raises:
        DeclarationError: When applied: the declaration cannot be used.
    """
    return metric(
        alias,
        aliases=aliases,
        short=short,
        range=range,
        higher_is_better=higher_is_better,
        aggregate=WHOLE_RUN,
        version=version,
        uses_rel=False,
        needs=("ids",),
        check=check,
        example=example,
        describes=True,
    )
