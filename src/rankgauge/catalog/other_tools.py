"""
Other tools' names: as expressions of ours, or with the plugin or tool that has them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from rankgauge.errors import ExpressionError
from rankgauge.expression import MetricExpression, Value

__all__ = ["elsewhere_hint", "translated", "whole_ranking"]

_Params = Mapping[str, Value]

_NAMES: Mapping[str, tuple[str, _Params]] = MappingProxyType(
    {
        "ndcg_burges": ("ndcg", {"gain": "exponential"}),
        "dcg_burges": ("dcg", {"gain": "exponential"}),
        "r-precision": ("Rprec", {}),
        "r_cap": ("relative_P", {}),
        "alpha-dcg": ("alpha_DCG", {}),
        "alpha-ndcg": ("alpha_nDCG", {}),
        "err-ia": ("ERR_IA", {}),
        "nerr-ia": ("nERR_IA", {}),
        "map-ia": ("MAP_IA", {}),
        "p-ia": ("P_IA", {}),
        "v": ("vital_nuggets", {}),
        "v_strict": ("vital_nuggets", {"strict": True}),
        "a": ("all_nuggets", {}),
        "a_strict": ("all_nuggets", {"strict": True}),
        "w": ("weighted_nuggets", {}),
        "w_strict": ("weighted_nuggets", {"strict": True}),
    }
)
"""Names of ranx, BEIR, ndeval and TREC's RAG track by what they stand for here."""

_IN_THE_READER = frozenset({"bpm", "inst", "insq", "sdcg", "nerr8", "nerr9", "nerr10", "nerr11"})
_READER_PARAMS = {"max_rel": "max_grade", "min_rel": "min_grade", "T": "goal"}

_DCG: Mapping[Value, _Params] = MappingProxyType({"log2": {}, "exp-log2": {"gain": "exponential"}})

_RELATIVE = frozenset({"setp", "set_p", "setrelp", "set_relative_p"})
"""Names of set precision, of which ir_measures' parameter `relative` chooses one of two."""

_LEVEL = re.compile(r"(?P<name>.+)-l(?P<level>\d{1,9})", re.IGNORECASE)
_PERSISTENCE = re.compile(r"rbp\.(?P<digits>\d{1,9})", re.IGNORECASE)
_MOST_LEVELS = 100


_WHOLE: Mapping[str, str] = MappingProxyType(
    {
        "retrieval-precision-at-k": "set_P",
        "retrieval-recall-at-k": "set_recall",
        "retrieval-f1-at-k": "set_F",
        "retrieval-relative-precision-at-k": "set_relative_P",
    }
)
"""What ranx computes under the name of a measure without a cutoff, which trec_eval has other names for."""


def whole_ranking(alias: str) -> str | None:
    """Return the metric that is another one over all that was retrieved; None if there is none."""
    return _WHOLE.get(alias)


def translated(expression: MetricExpression) -> MetricExpression:
    """
    Return an expression in our terms; one that is no other tool's comes back as it is.

    ::

        nDCG(dcg='exp-log2')@10   ndcg(gain=exponential)@10      ir_measures
        INST(T=2, max_rel=3)      INST(goal=2, max_grade=3)      ir_measures
        NumRet(rel=1)             num_rel_ret(rel=1)             ir_measures
        precision@5-l2            precision(rel=2)@5             ranx
        ndcg@10-l2                ndcg(gains="1=0")@10           ranx
        rbp.80-l2                 rbp(p=0.8, rel=2)              ranx
        ndcg_burges@10            ndcg(gain=exponential)@10      ranx
        ERR-IA@20                 ERR_IA@20                     ndeval
        V_strict                  vital_nuggets(strict=true)     TREC's RAG track
    """
    _refuse(expression)
    name, params = _without_suffix(expression)
    folded = name.casefold()
    if folded in _NAMES:
        name, more = _NAMES[folded]
        params = {**more, **params}
    if folded in _IN_THE_READER:
        params = {_READER_PARAMS.get(key, key): value for key, value in params.items()}
    if folded == "numret" and "rel" in params:
        name = "num_rel_ret"
    if folded in _RELATIVE and isinstance(params.get("relative"), bool):
        usual = name if folded in {"setp", "set_p"} else "set_P"
        name = "set_relative_P" if params.pop("relative") else usual
    if folded in {"ndcg", "sdcg"} and params.get("dcg") in _DCG:
        params |= _DCG[params.pop("dcg")]
    if params.get("judged_only") is False:
        del params["judged_only"]
    if name == expression.name and params == dict(expression.params):
        return expression
    return MetricExpression(name, params, k=expression.k, unit=expression.unit)


def _refuse(expression: MetricExpression) -> None:
    """Raise an `ExpressionError` for what ir_measures can write, and which is none of a metric's parameters here."""
    params, msg = dict(expression.params), ""
    if params.get("judged_only") is True:
        msg = "judged_only is an option of the policy, for all metrics of a run: -J, or --policy judged_only=true"
    elif expression.name.casefold() == "sdcg" and params.get("dcg") == "exp-log2":
        msg = "gains of SDCG are linear, here and in cwl_eval; ir_measures itself computes dcg='log2' only"
    if msg:
        raise ExpressionError(f"{str(expression)!r}: {msg}", text=str(expression))


def _without_suffix(expression: MetricExpression) -> tuple[str, dict[str, Value]]:
    """Return name and parameters without what ranx writes into names: a level of relevance, and rbp's persistence."""
    name, params = expression.name, dict(expression.params)
    if level := _LEVEL.fullmatch(name):
        name = level["name"]
        params = {**_of_level(expression, name.casefold(), int(level["level"])), **params}
    if persistence := _PERSISTENCE.fullmatch(name):
        name = "rbp"
        params = {"p": float(f"0.{persistence['digits']}"), **params}
    return name, params


def _of_level(expression: MetricExpression, name: str, level: int) -> _Params:
    """Return what ranx' suffix ``-l2`` stands for: a threshold, or gains of 0 below it if gains are read."""
    if name not in {"ndcg", "dcg", "ndcg_burges", "dcg_burges"}:
        return {"rel": level}
    if level <= 1:
        return {}
    if name != "ndcg" or level > _MOST_LEVELS:
        raise ExpressionError(
            f"{str(expression)!r}: in ranx, grades below {level} are worth 0 here, which has no spelling; leaving out "
            f"-l{level} changes the number, so set those grades to 0 in the judgments",
            text=str(expression),
        )
    return {"gains": ",".join(f"{grade}=0" for grade in range(1, level))}


_OF_ANSWERS = frozenset(
    {
        *("faithfulness", "groundedness", "hallucination", "toxicity", "bias", "coherence", "summarization", "geval"),
        *("answerrelevancy", "answerrelevance", "responserelevancy", "answercorrectness", "answersimilarity"),
        *("contextprecision", "contextrecall", "contextrelevancy", "contextrelevance", "contextentityrecall"),
        *("contextualprecision", "contextualrecall", "contextualrelevancy", "factualcorrectness", "noisesensitivity"),
        *("bleu", "rouge", "rougel", "meteor", "bertscore", "perplexity"),
    }
)
"""What ragas, DeepEval and others score with a language model, or by comparing generated texts."""


_OF_TWO_RANKINGS = frozenset(
    {
        *("tau", "taua", "taub", "tauap", "kendall", "kendalltau", "kendallstau"),
        *("rbo", "rbomin", "rbores", "rboext", "rankbiasedoverlap", "overlap", "jaccard"),
    }
)
"""What compares a ranking with another one, not with judgments."""

_OF_CATALOGUES = frozenset(
    {
        *("coverage", "itemcoverage", "catalogcoverage", "cataloguecoverage", "gini", "giniindex"),
        *("novelty", "selfinformation", "ild", "intralistdistance", "intralistdiversity", "intralistsimilarity"),
    }
)
"""What recommenders are measured by besides relevance."""


def elsewhere_hint(name: str) -> str:
    """Return where a well-known measure is found that is no metric of rankgauge itself; empty for any other name."""
    bare = re.sub(r"[^a-z]", "", name.lower())
    if bare in _OF_ANSWERS:
        return (
            "rankgauge scores what was retrieved, and answers against expected ones, without a language model; for "
            "this metric see ragas or DeepEval, in which rankgauge's metrics run beside it (`pip install "
            "rankgauge-hosts`, docs/how-to/inside-your-platform.md)"
        )
    if bare in _OF_TWO_RANKINGS:
        return (
            "two rankings are compared by `rankgauge trec RUN --against OTHER`, or rankgauge.rank_agreement "
            "(docs/how-to/compare-runs.md)"
        )
    if bare in _OF_CATALOGUES:
        return "measures of catalogues and recommenders are in a plugin (`pip install rankgauge-recsys`)"
    return ""
