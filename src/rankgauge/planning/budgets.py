"""
Budgets of requests: a cutoff in tokens or characters, resolved or refused before any data is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rankgauge.catalog import Catalog
from rankgauge.errors import ParameterError
from rankgauge.expression import Value
from rankgauge.judging import Budget
from rankgauge.planning.cutoffs import Cut, check_k
from rankgauge.planning.requests import Request
from rankgauge.plugin.metric import Metric
from rankgauge.policy import Profile

__all__ = ["USUAL_BUDGET", "budget_cut", "budget_settings"]

USUAL_BUDGET: Mapping[str, Value] = MappingProxyType({"tokenizer": "words", "partial": False})
"""How budgets are counted where an expression says nothing."""


def budget_cut(
    request: Request, metric: Metric, amount: float | None, catalog: Catalog, profile: Profile, *, by_id: bool
) -> Cut | None:
    """Return the cutoff of a request for a budget; None where it asks for none."""
    written, unit = repr(request.written), request.expression.unit
    asked = [name for name in USUAL_BUDGET if name in request.engine]
    if unit is None or amount is None:
        if asked:
            msg = (
                f"{asked[0]} of {written} has no effect without a budget; leave it out, or give one: "
                f"{request.expression.name}@2000tok"
            )
            raise ParameterError(msg)
        return None
    if metric.cutoff == "none" or metric.judges == "answer":
        msg = f"metric {metric.alias!r} has no cutoff, and so no budget; leave it out of {written}"
        raise ParameterError(msg)
    if request.k is not None:
        msg = f"{written} gives both a cutoff and a budget; leave one of them out"
        raise ParameterError(msg)
    if by_id:
        msg = (
            f"{written} is a budget, which counts the texts of results, and a run has only ids and scores; give a "
            "number of ranks, or use `rankgauge run` on samples"
        )
        raise ParameterError(msg)
    if profile.policy.averages_ties:
        msg = f"policy ties=average settles no ranks, so that nothing can be fitted into the budget of {written}"
        raise ParameterError(msg)
    if unit == "char" and "tokenizer" in asked:
        msg = f"tokenizer has no effect on characters; leave it out of {written}, or give the budget in tokens"
        raise ParameterError(msg)
    options = {**USUAL_BUDGET, **request.engine}
    partial, tokenizer = options["partial"], options["tokenizer"]
    if not isinstance(partial, bool):
        msg = f"partial of {written} is true or false, not {partial!r}"
        raise ParameterError(msg)
    if not isinstance(tokenizer, str) or not tokenizer.strip():
        msg = f"the tokenizer of {written} is a name, not {tokenizer!r}"
        raise ParameterError(msg)
    claim = None if unit == "char" else catalog.tokenizer(tokenizer)
    return Cut("budget", budget=Budget(check_k(amount, f"{written} (its budget)"), unit, claim, partial))


def budget_settings(budget: Budget | None) -> dict[str, Value]:
    """Return what a column says of its budget among its parameters, also where that is the default."""
    if budget is None:
        return {}
    by = {} if budget.tokenizer is None else {"tokenizer": budget.tokenizer.declaration.name}
    return {**by, "partial": budget.partial}
