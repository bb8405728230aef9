"""
Spellings of other tools: what ir_measures and ranx call a metric or a parameter, as an expression of ours.

`translated` rewrites an expression before its name is looked up. Where the other tool computes something else under the
same name, the reference page of the metric says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from rankgauge.errors import ExpressionError
from rankgauge.expression import MetricExpression, Value

__all__ = ["translated"]

_Params = Mapping[str, Value]

_NAMES: Mapping[str, tuple[str, _Params]] = MappingProxyType(
    {
        "ndcg_burges": ("ndcg", {"gain": "exponential"}),
        "dcg_burges": ("dcg", {"gain": "exponential"}),
        "r-precision": ("Rprec", {}),
    }
)
"""ranx' names by what they stand for here."""

_IN_THE_READER = frozenset({"bpm", "inst", "insq", "sdcg", "nerr8", "nerr9", "nerr10", "nerr11"})
_READER_PARAMS = {"max_rel": "max_grade", "min_rel": "min_grade", "T": "goal"}

_DCG: Mapping[Value, _Params] = MappingProxyType({"log2": {}, "exp-log2": {"gain": "exponential"}})

_LEVEL = re.compile(r"(?P<name>.+)-l(?P<level>\d{1,9})", re.IGNORECASE)


def translated(expression: MetricExpression) -> MetricExpression:
    """
    Return an expression in our terms; one that is no other tool's comes back as it is.

    ::

        nDCG(dcg='exp-log2')@10   ndcg(gain=exponential)@10      ir_measures
        INST(T=2, max_rel=3)      INST(goal=2, max_grade=3)      ir_measures
        NumRet(rel=1)             num_rel_ret(rel=1)             ir_measures
        precision-l2@5            precision(rel=2)@5             ranx
        ndcg_burges@10            ndcg(gain=exponential)@10      ranx
    """
    name, params = expression.name, dict(expression.params)
    if level := _LEVEL.fullmatch(name):
        name = level["name"]
        params = {"rel": int(level["level"]), **params}
    folded = name.casefold()
    if folded in _NAMES:
        name, more = _NAMES[folded]
        params = {**more, **params}
    if folded in _IN_THE_READER:
        params = {_READER_PARAMS.get(key, key): value for key, value in params.items()}
    if folded == "numret" and "rel" in params:
        name = "num_rel_ret"
    if folded == "setp" and isinstance(params.get("relative"), bool):
        name = "set_relative_P" if params.pop("relative") else name
    if folded in {"ndcg", "sdcg"} and params.get("dcg") in _DCG:
        params |= _DCG[params.pop("dcg")]
    if params.get("judged_only") is True:
        msg = (
            f"{str(expression)!r}: judged_only is an option of the policy, for all metrics of a run: -J, or --policy "
            "judged_only=true"
        )
        raise ExpressionError(msg, text=str(expression))
    if params.get("judged_only") is False:
        del params["judged_only"]
    if name == expression.name and params == dict(expression.params):
        return expression
    return MetricExpression(name, params, k=expression.k)
