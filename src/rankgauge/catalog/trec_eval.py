"""
trec_eval's table of measures: their order, sets, standard parameters, printed labels, and how parameters are written.

`read_form` reads one of trec_eval's own spellings with parameters (``P.5,10``); `expand` turns what stands behind
``-m`` into columns, with families and sets written out. What a measure is computed by stands in `rankgauge.metrics`.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from rankgauge.catalog.spelling import spellings
from rankgauge.errors import ExpressionError, UnknownNameError
from rankgauge.expression import MetricExpression, parse_many
from rankgauge.plugin.metric import Metric

__all__ = ["LEFT_OUT", "MEASURES", "SETS", "TrecColumn", "expand", "left_out_hint", "read_form"]

_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_LEVELS = tuple(step / 10 for step in range(11))

Kind = Literal["float", "integer", "text"]
_Takes = Literal["nothing", "cutoffs", "levels", "text"]


@dataclass(frozen=True, slots=True)
class _Measure:
    """
    One measure of trec_eval.

    Attributes:
        alias: The metric that computes it; empty for `runid`, which is text.

        takes: What its parameters are: cutoffs or levels of recall, of which each makes a column, or one text.

        standard: The cutoffs or levels that it has where none are given.

        param: The parameter that a text goes to.

        read: Makes the parameter's value of the text.

        kind: How values print.

        only_all: Whether it stands under `all` only, and not under each topic.
    """

    alias: str
    takes: _Takes = "nothing"
    standard: tuple[float, ...] = ()
    param: str = ""
    read: Callable[[str], float | str] = str
    kind: Kind = "float"
    only_all: bool = False


@dataclass(frozen=True, slots=True)
class TrecColumn:
    """
    One column that was asked for in trec_eval's words, or in ours.

    Attributes:
        spec: The expression for the planner; None for `runid`, which is no metric.

        label: The name that trec_eval prints; None for what it has no spelling for.

        kind: Whether values print with four decimals, as integers, or as text.

        only_all: Whether the column stands under `all` only.

        place: Where trec_eval prints it: the place of the measure, then of the column in it; None as for `label`.
    """

    spec: str | None
    label: str | None = None
    kind: Kind = "float"
    only_all: bool = False
    place: tuple[int, int] | None = None


def _persistence(text: str) -> float:
    name, equals, value = text.partition("=")
    if not equals or name.strip() != "p":
        raise ValueError(text)
    return float(value)


def _beta(text: str) -> float:
    return math.sqrt(float(text))  # trec_eval's x weighs as the square of what the literature calls beta


MEASURES: Mapping[str, _Measure] = MappingProxyType(
    {
        "runid": _Measure("", kind="text", only_all=True),
        "num_q": _Measure("retrieval-num-q", kind="integer", only_all=True),
        "num_ret": _Measure("retrieval-num-ret", kind="integer"),
        "num_rel": _Measure("retrieval-num-rel", kind="integer"),
        "num_rel_ret": _Measure("retrieval-num-rel-ret", kind="integer"),
        "map": _Measure("retrieval-map"),
        "gm_map": _Measure("retrieval-gm-map", only_all=True),
        "Rprec": _Measure("retrieval-r-precision"),
        "bpref": _Measure("retrieval-bpref"),
        "recip_rank": _Measure("retrieval-mrr"),
        "iprec_at_recall": _Measure("retrieval-iprec-at-recall", "levels", _LEVELS),
        "P": _Measure("retrieval-precision-at-k", "cutoffs", _CUTOFFS),
        "recall": _Measure("retrieval-recall-at-k", "cutoffs", _CUTOFFS),
        "infAP": _Measure("retrieval-inf-ap"),
        "gm_bpref": _Measure("retrieval-gm-bpref", only_all=True),
        "11pt_avg": _Measure("retrieval-11pt-avg", "text", param="recalls"),
        "ndcg": _Measure("retrieval-ndcg-at-k", "text", param="gains"),
        "ndcg_cut": _Measure("retrieval-ndcg-at-k", "cutoffs", _CUTOFFS),
        "map_cut": _Measure("retrieval-map", "cutoffs", _CUTOFFS),
        "relative_P": _Measure("retrieval-relative-precision-at-k", "cutoffs", _CUTOFFS),
        "success": _Measure("retrieval-hit-at-k", "cutoffs", (1, 5, 10)),
        "set_P": _Measure("retrieval-set-precision"),
        "set_relative_P": _Measure("retrieval-set-relative-precision"),
        "set_recall": _Measure("retrieval-set-recall"),
        "set_map": _Measure("retrieval-set-map"),
        "set_F": _Measure("retrieval-set-f", "text", param="beta", read=_beta),
        "num_nonrel_judged_ret": _Measure("retrieval-num-nonrel-judged-ret", kind="integer"),
        "rbp": _Measure("retrieval-rbp", "text", param="p", read=_persistence),
        "rbp_resid": _Measure("retrieval-rbp-residual", "text", param="p", read=_persistence),
        "unj": _Measure("retrieval-unjudged-at-k", "cutoffs", (5, 10, 20)),
    }
)
"""The measures by trec_eval's name, in the order in which it prints them."""

_SINCE_10 = frozenset({"rbp", "rbp_resid", "unj"})

SETS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "official": (
            *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
            *("iprec_at_recall", "P"),
        ),
        "all_trec": tuple(MEASURES),
        "set": (
            *("runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "set_P", "set_relative_P", "set_recall"),
            *("set_map", "set_F"),
        ),
    }
)
"""trec_eval's names for several measures at once; `all_trec` has rbp, rbp_resid and unj from version 10 on."""

LEFT_OUT = frozenset(
    {
        *("relstring", "Rprec_mult", "utility", "binG", "G", "ndcg_rel", "Rndcg", "yaap"),
        *("map_avgjg", "P_avgjg", "Rprec_mult_avgjg"),
    }
)
"""Measures of trec_eval that are experimental or print no score; `prefs_*` and `*_avgjg` are left out with them."""

_FORM = re.compile(r"(?P<name>\w+)\.(?P<params>.*)", re.DOTALL)


def left_out_hint(name: str) -> str:
    """Return why a name of trec_eval's is not offered; empty where it is no such name."""
    stem = name.strip().partition(".")[0]
    if stem in LEFT_OUT or stem.startswith("prefs_") or stem.endswith("_avgjg"):
        return "rankgauge leaves out trec_eval's experimental measures on purpose, and this is one of them"
    return ""


def read_form(written: str) -> list[MetricExpression] | None:
    """
    Read one of trec_eval's own forms: a measure, a dot, and parameters.

    Args:
        written: Such as ``P.5,10``, ``ndcg.1=3,2=9``, ``set_F.0.5`` or ``iprec_at_recall..10,.20``.

    Returns:
        An expression for each column; None where *written* is no such form.

    Raises:
        ExpressionError: The measure takes no such parameters.
    """
    form = _FORM.fullmatch(written.strip())
    if form is None or form["name"] not in MEASURES:
        return None
    return [_expression(form["name"], value) for value in _values(form["name"], form["params"], written)]


def expand(names: Sequence[str], built_in: Mapping[str, Metric], *, version: Literal[9, 10] = 10) -> list[TrecColumn]:
    """
    Return the columns that measures stand for, as trec_eval understands them.

    Sets and families are written out, cutoffs ascending. Parameters of a family stand in place of its standard ones,
    in sets too: ``official`` with ``P.7`` has `P_7` alone. Anything else is an expression for the planner.

    Args:
        names: What was asked for: ``official``, ``P``, ``P.5,10``, ``ndcg@10``, ...

        built_in: rankgauge's own metrics by every name, as `Catalog.built_in` has them.

        version: Of trec_eval; `all_trec` of version 9 lacks rbp, rbp_resid and unj.

    Returns:
        The columns in the order in which they were asked for, each once.

    Raises:
        ExpressionError: Parameters that a measure does not take, or a text that is no expression.

        UnknownNameError: A measure that is left out on purpose.
    """
    given: dict[str, list[float | str]] = {}
    for name in names:
        form = _FORM.fullmatch(name.strip())
        if form is not None and form["name"] in MEASURES and form["params"]:
            given.setdefault(form["name"], []).extend(_values(form["name"], form["params"], name))
    columns: dict[str | None, TrecColumn] = {}
    for written in names:
        for column in _columns(written.strip(), given, version, built_in):
            columns.setdefault(column.label or column.spec, column)
    return list(columns.values())


def _columns(
    written: str, given: Mapping[str, list[float | str]], version: int, built_in: Mapping[str, Metric]
) -> Iterable[TrecColumn]:
    if hint := left_out_hint(written):
        raise UnknownNameError("metric", written, hint=hint)
    form = _FORM.fullmatch(written)
    stem = form["name"] if form is not None else written
    if written in SETS:
        for name in SETS[written]:
            if written != "all_trec" or version >= 10 or name not in _SINCE_10:
                yield from _family(name, given)
    elif stem in MEASURES:
        yield from _family(stem, given)
    else:
        for expression in parse_many(written):
            spec = str(expression) if len(written.split(",")) > 1 else written
            yield dataclasses.replace(_known(expression, built_in) or TrecColumn(None), spec=spec)


def _family(name: str, given: Mapping[str, list[float | str]]) -> Iterable[TrecColumn]:
    measure = MEASURES[name]
    values: Iterable[float | str | None] = given.get(name) or measure.standard or (None,)
    if measure.takes in {"cutoffs", "levels"}:
        values = sorted(set(values))  # type: ignore[type-var]  # numbers only
    for value in values:
        yield _column(name, value)


def _column(name: str, value: float | str | None) -> TrecColumn:
    measure = MEASURES[name]
    place = (list(MEASURES).index(name), 0)
    if not measure.alias:
        return TrecColumn(None, name, measure.kind, measure.only_all, place)
    if measure.takes == "levels" and not isinstance(value, str | None):
        label, place = f"{name}_{value:3.2f}", (place[0], round(value * 1_000_000))
    elif measure.takes == "cutoffs" and not isinstance(value, str | None):
        label, place = f"{name}_{value}", (place[0], int(value))
    else:
        label = name if value is None else f"{name}_{value}"
    return TrecColumn(str(_expression(name, value)), label, measure.kind, measure.only_all, place)


def _values(name: str, params: str, written: str) -> list[float | str]:
    """Return what the parameters of a measure are: numbers, or the text as it is."""
    measure = MEASURES[name]
    wanted = {
        "nothing": "none",
        "cutoffs": f"cutoffs, such as {name}.5,10",
        "levels": f"levels of recall, such as {name}.0.1,0.5",
        "text": {
            "recalls": "levels of recall",
            "gains": "gains, such as ndcg.1=3,2=9",
            "p": "p, such as rbp.p=0.8",
        }.get(measure.param, "one number"),
    }[measure.takes]
    try:
        if measure.takes == "nothing":
            raise ValueError(params)  # noqa: TRY301  # said once, below
        if measure.takes == "cutoffs":
            return [int(float(value)) for value in params.split(",")]  # trec_eval reads 23.4 as 23
        if measure.takes == "levels":
            return [float(value) for value in params.split(",")]
        measure.read(params)
    except ValueError:
        msg = f"cannot read {written!r}: the parameters of trec_eval's {name} are {wanted}, not {params!r}"
        raise ExpressionError(msg, text=written) from None
    return [params]


def _expression(name: str, value: float | str | None) -> MetricExpression:
    """Return our expression for a measure with one value of its parameters."""
    measure = MEASURES[name]
    if isinstance(value, str):
        return MetricExpression(name, {measure.param: measure.read(value)})
    short = {"ndcg_cut": "ndcg", "map_cut": "map"}.get(name, name)
    return MetricExpression(short, k=value)


def _known(expression: MetricExpression, built_in: Mapping[str, Metric]) -> TrecColumn | None:
    """Return the column of an expression that trec_eval has a spelling for; None for any other."""
    if expression.params:
        return None
    for name, k in spellings(expression):
        metric = built_in.get(name.casefold())
        if metric is None:
            continue
        is_long = name.casefold() in {metric.alias, *metric.aliases}
        for trec, measure in MEASURES.items():
            if measure.alias == metric.alias and (measure.takes in {"cutoffs", "levels"}) == (k is not None):
                if k is None and is_long and metric.cutoff == "droppable":
                    return None
                valid = k is None or (measure.takes == "levels") or (isinstance(k, int) and k > 0)
                return _column(trec, k) if valid else None
        return None
    return None
