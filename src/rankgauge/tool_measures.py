"""
What another tool's measures are called and computed by here; part of a profile.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rankgauge.base.frozen import FrozenMap
from rankgauge.expression import MetricExpression

__all__ = ["Tool", "ToolMeasure"]

Held = Literal["package", "documentation"]
"""
What a profile was held to: numbers that the package computed, which are kept; or its documentation.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolMeasure:
    """
    One measure of a tool.

    Attributes:
        name: Our short name that means it under the profile; empty for one that only the tool's own spelling names.

        expression: What computes it here, with the cutoff that it has if none is asked for.

        written: How the tool writes it, with ``{k}`` for the cutoff.

        says: What it is, in a sentence.

        refused: Why nothing here computes it, and what is nearest; empty if *expression* does.

        differs: Where the tool's own number is no function of ranking and labels, and what is done instead; or empty.
    """

    name: str
    expression: MetricExpression
    written: tuple[str, ...] = ()
    says: str = ""
    refused: str = ""
    differs: str = ""

    def at(self, k: float | None) -> MetricExpression:
        """Return what computes it at a cutoff."""
        own = self.expression
        return own if k is None else MetricExpression(own.name, dict(own.params), k=k)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """
    A tool whose numbers a profile reproduces.

    Attributes:
        title: What it calls itself.

        package: The distribution that has it; empty for one that is no Python package.

        version: The version that the profile was held to.

        held: What the profile was held to.

        measures: Its measures.

        notes: What else to know of its numbers.

        aliases: The measures that a name of ours means, by the alias of our metric.
    """

    title: str
    package: str
    version: str
    held: Held
    measures: tuple[ToolMeasure, ...]
    notes: tuple[str, ...] = ()
    aliases: Mapping[str, ToolMeasure] = field(default_factory=FrozenMap)

    def read(self, written: str) -> tuple[ToolMeasure, int | None] | None:
        """
        Return the measure that the tool itself writes so, and its cutoff; None if it writes none so.

        ::

            NDCG:type=Exp;top=5        catboost: NDCG:top={k};type=Exp
            RetrievalMAP(top_k = 5)    torchmetrics: RetrievalMAP(top_k={k})
            ndcg@5-                    xgboost: ndcg@{k}-
        """
        given = _parts(written)
        for measure in self.measures:
            for template in measure.written:
                if (found := _fits(_parts(template), given)) is not None:
                    return measure, found.get("k")
        return None


_CALL = re.compile(r"(?P<head>[^(:]*)(?:\((?P<call>.*)\)|:(?P<params>.*))?", re.DOTALL)


def _parts(written: str) -> dict[str, str]:
    """Return the name of a spelling under an empty key, and its parameters by name, or else by place."""
    bare = re.sub(r"[\s'\"]", "", written)
    found = _CALL.fullmatch(bare)
    if found is None:
        return {"": bare}
    parts = {"": found["head"]}
    given = found["call"] if found["call"] is not None else found["params"]
    for place, part in enumerate(filter(None, re.split(r"[,;]", given or ""))):
        name, equals, value = part.partition("=")
        parts[name if equals else str(place)] = value if equals else name
    return parts


def _fits(template: Mapping[str, str], given: Mapping[str, str]) -> dict[str, int] | None:
    """Return the numbers of a spelling that fits a template; None if it does not."""
    if template.keys() != given.keys():
        return None
    found: dict[str, int] = {}
    for name, wanted in template.items():
        fit = re.fullmatch(re.escape(wanted).replace(r"\{k\}", r"(?P<k>\d{1,18})"), given[name])
        if fit is None:
            return None
        found |= {key: int(value) for key, value in fit.groupdict().items()}
    return found
