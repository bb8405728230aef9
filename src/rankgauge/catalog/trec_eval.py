"""
trec_eval's table of measures: their order, sets, standard parameters, printed labels, and how parameters are written.

`read_form` reads one of trec_eval's own spellings with parameters (``P.5,10``); `expand` turns the arguments of ``-m``
into columns, with families and sets written out. The measures are computed in `rankgauge.metrics`.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from rankgauge.catalog.claims import spellings
from rankgauge.errors import ExpressionError, UnknownNameError
from rankgauge.expression import MetricExpression, parse_many
from rankgauge.plugin.metric import Metric

__all__ = ["MEASURES", "TrecColumn", "expand", "left_out_hint", "read_form"]

_CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
_LEVELS = tuple(step / 10 for step in range(11))
_MULTIPLES = tuple(step / 5 for step in range(1, 11))

Kind = Literal["float", "integer", "text"]
_Takes = Literal["nothing", "cutoffs", "levels", "text"]
_BuiltIn = Callable[[str], Metric | None]


@dataclass(frozen=True, slots=True)
class _Measure:
    """One measure of trec_eval."""

    alias: str  # of the metric that computes it; empty for runid and relstring, which are texts
    takes: _Takes = "nothing"  # cutoffs or levels, each of which makes a column; or one text
    standard: tuple[float, ...] = ()  # cutoffs or levels if none are given
    param: str = ""  # that a text goes to
    read: Callable[[str], float | str] = str  # turns the text into the parameter's value
    write: Callable[[float | str], str] = str  # turns the value into the text
    kind: Kind = "float"
    only_all: bool = False  # printed under `all` only, not for each topic
    never_all: bool = False  # printed for each topic only


@dataclass(frozen=True, slots=True)
class TrecColumn:
    """One requested column, in trec_eval's spelling or in ours."""

    spec: str | None  # for the planner; None for runid and relstring, which are no metrics
    label: str | None = None  # that trec_eval prints; None if it has no spelling for the column
    kind: Kind = "float"  # prints with four decimals, as an integer or as text
    only_all: bool = False
    place: tuple[int, int] | None = None  # in trec_eval's order: the measure, then its column
    length: int | None = None  # of a relstring: how many results it shows


_HIGHEST = 1 << 53
"""From here on floats skip whole numbers."""


def _persistence(text: str) -> float:
    if text.isdigit():
        return float(f"0.{text}")  # ranx writes rbp.80
    name, equals, value = text.partition("=")
    if not equals or name.strip() != "p":
        raise ValueError(text)
    return float(value)


def _length(text: str) -> float:
    if int(text) < 0:
        raise ValueError(text)
    return int(text)


def _beta(text: str) -> float:
    return math.sqrt(float(text))  # trec_eval's x weighs as the square of what the literature calls beta


def _square(beta: float | str) -> str:
    return repr(float(beta) ** 2).removesuffix(".0")


def _named_p(p: float | str) -> str:
    return f"p={float(p)!r}"


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
        "relstring": _Measure("", "text", param="length", read=_length, kind="text", never_all=True),
        "recall": _Measure("retrieval-recall-at-k", "cutoffs", _CUTOFFS),
        "infAP": _Measure("retrieval-inf-ap"),
        "gm_bpref": _Measure("retrieval-gm-bpref", only_all=True),
        "Rprec_mult": _Measure("retrieval-r-precision-multiple", "levels", _MULTIPLES),
        "utility": _Measure("retrieval-utility", "text", param="weights"),
        "11pt_avg": _Measure("retrieval-11pt-avg", "text", param="recalls"),
        "binG": _Measure("retrieval-bin-g"),
        "G": _Measure("retrieval-g", "text", param="gains"),
        "ndcg": _Measure("retrieval-ndcg-at-k", "text", param="gains"),
        "ndcg_rel": _Measure("retrieval-ndcg-rel", "text", param="gains"),
        "Rndcg": _Measure("retrieval-r-ndcg", "text", param="gains"),
        "ndcg_cut": _Measure("retrieval-ndcg-at-k", "cutoffs", _CUTOFFS),
        "map_cut": _Measure("retrieval-map", "cutoffs", _CUTOFFS),
        "relative_P": _Measure("retrieval-relative-precision-at-k", "cutoffs", _CUTOFFS),
        "success": _Measure("retrieval-hit-at-k", "cutoffs", (1, 5, 10)),
        "set_P": _Measure("retrieval-set-precision"),
        "set_relative_P": _Measure("retrieval-set-relative-precision"),
        "set_recall": _Measure("retrieval-set-recall"),
        "set_map": _Measure("retrieval-set-map"),
        "set_F": _Measure("retrieval-set-f", "text", param="beta", read=_beta, write=_square),
        "num_nonrel_judged_ret": _Measure("retrieval-num-nonrel-judged-ret", kind="integer"),
        "rbp": _Measure("retrieval-rbp", "text", param="p", read=_persistence, write=_named_p),
        "rbp_resid": _Measure("retrieval-rbp-residual", "text", param="p", read=_persistence, write=_named_p),
        "unj": _Measure("retrieval-unjudged-at-k", "cutoffs", (5, 10, 20)),
    }
)
"""The measures by trec_eval's name, in the order in which it prints them."""

_SINCE_10 = frozenset({"rbp", "rbp_resid", "unj"})

_ALL = tuple(MEASURES)
_ASKED_FOR = frozenset({"relstring", "Rprec_mult", "utility", "binG", "G", "ndcg_rel", "Rndcg"})
"""Texts and experimental measures of trec_eval, in no set here; its own all_trec has them, too."""

_RELSTRING = 10
"""How many results trec_eval's relstring shows by default."""

_SETS: Mapping[str, tuple[str, ...]] = {
    "official": _ALL[: _ALL.index("P") + 1],
    "all_trec": tuple(name for name in _ALL if name not in _ASKED_FOR),
    "set": (*_ALL[: _ALL.index("map")], *_ALL[_ALL.index("set_P") : _ALL.index("set_F") + 1]),
}
"""trec_eval's names for several measures at once; `all_trec` has rbp, rbp_resid and unj from version 10 on."""

_FORM = re.compile(r"(?P<name>\w+)\.(?P<params>(?!\d+-l\d).*)", re.DOTALL)
"""A name and its parameters; ``rbp.80-l2`` is ranx', see `rankgauge.catalog.other_tools`."""

_LISTED = re.compile(r"(?P<name>\w+?)_(?P<params>-?[0-9.]+(?:\s*,\s*-?[0-9.]+)+)")
"""A name and several cutoffs or levels, as the columns of trec_eval are called: ``P_5,10`` for ``P_5`` and ``P_10``."""

_PRINTED = {
    "beta": re.compile(r"[0-9.]+"),
    "p": re.compile(r"p=.+"),
    "gains": re.compile(r"-?[0-9.]+=.+"),
    "length": re.compile(r"[0-9]+"),
    "recalls": re.compile(r"[0-9.]+(,[0-9.]+)*"),
    "weights": re.compile(r"-?[0-9.]+(,-?[0-9.]+)+"),
}
"""How a text follows the name in a column that trec_eval prints: ``rbp_p=0.8``, but not ``ndcg_cut_5``."""

_PREFERENCES = re.compile(r"(?:qrels_)?prefs?|(?:qrels_)?prefs?_\w+|\w+_prefs?", re.IGNORECASE)
_JUDGMENT_GROUPS = re.compile(r"\w*_(?:avg)?jg", re.IGNORECASE)


def left_out_hint(name: str) -> str:
    """Return why a measure of trec_eval, or a format of judgments of its own, is not offered; empty for any other."""
    stem = _form(name)[0]
    if _JUDGMENT_GROUPS.fullmatch(stem):
        return (
            "trec_eval averages it over several groups of judgments for the same query (-R qrels_jg), and rankgauge "
            "reads one grade for each document; evaluate with each group's judgments, and average the scores"
        )
    if _PREFERENCES.fullmatch(stem):
        return (
            "trec_eval computes it from pairs of preferences (-R prefs), and rankgauge reads one grade for each "
            "document; with levels of preference as grades, Compat measures how well a ranking agrees with them"
        )
    if stem == "yaap":
        return (
            "trec_eval's yet another average precision is experimental and in none of its sets; `map` is the usual one"
        )
    if stem in {"relstring", "runid"}:
        return (
            f"it is no number but a text, which `rankgauge trec -m {stem}{' -q' if stem == 'relstring' else ''} "
            "--format trec` prints beside other measures; `rankgauge explain` shows every rank with its grade"
        )
    return ""


def read_form(written: str) -> list[MetricExpression] | None:
    """Read trec_eval's form ``P.5,10`` into an expression for each column; None if *written* has another form."""
    name, params = _form(written)
    if name not in MEASURES or not params or not MEASURES[name].alias:
        return None
    return [_expression(name, value) for value in _values(name, params, written)]


def _form(written: str) -> tuple[str, str]:
    """Return the name and the parameters of trec_eval's form; of anything else the text, and nothing."""
    text = written.strip()
    listed = _LISTED.fullmatch(text)
    if listed is not None and listed["name"] in MEASURES and MEASURES[listed["name"]].takes in {"cutoffs", "levels"}:
        return listed["name"], listed["params"]
    for name, measure in MEASURES.items():
        params = text.removeprefix(f"{name}_")
        if measure.param and params != text and _PRINTED[measure.param].fullmatch(params):
            return name, params
    form = _FORM.fullmatch(text)
    return (text, "") if form is None else (form["name"], form["params"])


def expand(names: Sequence[str], built_in: _BuiltIn, *, version: Literal[9, 10] = 10) -> list[TrecColumn]:
    """
    Return the columns that measures stand for, as trec_eval reads them, each once.

    Sets and families are written out, cutoffs ascending. Parameters of a family replace its standard ones, in sets
    too: ``official`` with ``P.7`` has only `P_7`. Anything else is an expression for the planner.
    """
    given: dict[str, list[float | str]] = {}
    for name in names:
        stem, params = _form(name)
        if stem in MEASURES and params:
            given.setdefault(stem, []).extend(_values(stem, params, name))
    columns: dict[str | None, TrecColumn] = {}
    for written in names:
        for column in _columns(written.strip(), given, version, built_in):
            columns.setdefault(column.label or column.spec, column)
    return list(columns.values())


def _columns(
    written: str, given: Mapping[str, list[float | str]], version: int, built_in: _BuiltIn
) -> Iterable[TrecColumn]:
    stem, _ = _form(written)
    if stem not in MEASURES and (hint := left_out_hint(written)):
        raise UnknownNameError("metric", written, hint=hint)
    if written in _SETS:
        for name in _SETS[written]:
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
    place = (_ALL.index(name), 0)
    label = name if value is None else f"{name}_{value:3.2f}" if measure.takes == "levels" else f"{name}_{value}"
    if not measure.alias:
        length = (_RELSTRING if value is None else int(value)) if measure.never_all else None
        return TrecColumn(None, label, measure.kind, measure.only_all, place, length)
    if isinstance(value, int | float):
        place = (place[0], round(value * 1_000_000))
    return TrecColumn(str(_expression(name, value)), label, measure.kind, measure.only_all, place)


def _values(name: str, params: str, written: str) -> list[float | str]:
    """Return the parameters of a measure as numbers, or as the text itself."""
    measure = MEASURES[name]
    wanted = {
        "nothing": "none",
        "cutoffs": f"cutoffs, such as {name}.5,10",
        "levels": f"levels, such as {name}.0.1,0.5",
        "recalls": "levels of recall",
        "gains": f"gains, such as {name}.1=3,2=9",
        "weights": "four weights, such as utility.1,-1,0,0",
        "p": "p, such as rbp.p=0.8",
        "beta": "one number",
        "length": "one number of results, such as relstring.20",
    }[measure.param or measure.takes]
    try:
        if measure.takes == "nothing":
            raise ValueError(params)  # noqa: TRY301  # one message for all, below
        if measure.takes in {"cutoffs", "levels"}:
            values = [float(value) for value in params.split(",")]
            if not all(abs(value) < _HIGHEST for value in values):  # NaN is not, either
                raise ValueError(params)  # noqa: TRY301
            return [*values] if measure.takes == "levels" else [*map(int, values)]  # trec_eval reads 23.4 as 23
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


def _known(expression: MetricExpression, built_in: _BuiltIn) -> TrecColumn | None:
    """Return the column of an expression that trec_eval has a spelling for; None for any other."""
    if expression.params:
        return _with_text(expression, built_in)
    for name, k in spellings(expression):
        metric = built_in(name)
        if metric is None:
            continue
        is_long = name.casefold() in {metric.alias, *metric.aliases}
        for trec, measure in MEASURES.items():
            if measure.alias == metric.alias and (measure.takes in {"cutoffs", "levels"}) == (k is not None):
                if k is None and is_long and metric.cutoff.kind == "droppable":
                    return None
                valid = k is None or (measure.takes == "levels") or (isinstance(k, int) and k > 0)
                return _column(trec, k) if valid else None
        return None
    return None


def _with_text(expression: MetricExpression, built_in: _BuiltIn) -> TrecColumn | None:
    """Return the column of an expression whose only parameter is one that trec_eval has a text for; else None."""
    metric = built_in(expression.name)
    if metric is None or expression.k is not None or len(expression.params) > 1:
        return None
    ((param, value),) = expression.params
    for name, measure in MEASURES.items():
        if measure.alias == metric.alias and measure.param == param and not isinstance(value, bool):
            try:
                text = measure.write(value)
                return _column(name, text) if measure.read(text) == value else None
            except ValueError:  # a value that the parameter cannot have, which planning refuses
                return None
    return None
