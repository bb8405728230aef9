"""
The built-in metrics, one family a file; they enter the catalog through rankgauge's own entry point.

A family is imported when one of its names is asked for, or all are. In all of them *judged* holds the rankings of a
batch of samples, and *k* is how many results count, for all samples or for each; None for all.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence

from rankgauge.plugin import Scores, aggregate, hookimpl
from rankgauge.plugin.signature import declared_in
from rankgauge.stats import AGGREGATES, PERCENTILES

__all__ = ["FAMILIES", "Family", "family_of"]

FAMILIES: Mapping[str, str] = {
    "recall": (
        "retrieval-recall-at-k recall r recall_{k} retrieval-recall-all-at-k recall_all "
        "retrieval-hit-at-k hit success success_{k} hit_rate hitrate retrieval-hits-at-k hits"
    ),
    "precision": (
        "retrieval-precision-at-k p precision p_{k} retrieval-f1-at-k f1 retrieval-r-precision rprec r_precision "
        "retrieval-r-precision-multiple rprec_mult rprec_mult_{k} retrieval-relative-precision-at-k relative_p "
        "relative_precision relative_p_{k} "
        "retrieval-iprec-at-recall iprec iprec_at_recall iprec_at_recall_{k} retrieval-11pt-avg 11pt_avg"
    ),
    "reciprocal_rank": (
        "retrieval-mrr mrr rr recip_rank retrieval-first-rank first_rank rank_first_rel retrieval-err-at-k err "
        "retrieval-pfound pfound retrieval-rbp rbp retrieval-rbp-residual rbp_resid rbp_residual"
    ),
    "average_precision": "retrieval-map map ap map_cut_{k} retrieval-gm-map gm_map gmap",
    "preferences": (
        "retrieval-bpref bpref retrieval-gm-bpref gm_bpref retrieval-inf-ap infap inf_ap "
        "retrieval-auc auc auroc accuracy retrieval-fall-out-at-k fall_out fallout "
        "retrieval-compatibility compat compatibility"
    ),
    "ordered_pairs": (
        "retrieval-ordered-pair-accuracy opa ordered_pair_accuracy "
        "retrieval-average-relevance-position arp average_relevance_position"
    ),
    "ndcg": "retrieval-ndcg-at-k ndcg ndcg_cut_{k} retrieval-ndcg-any-at-k ndcg_any",
    "tied_scores": (
        "retrieval-label-ranking-average-precision lrap label_ranking_average_precision_score "
        "retrieval-tied-ndcg-at-k tied_ndcg ndcg_score"
    ),
    "gain": (
        "retrieval-dcg-at-k dcg retrieval-cg-at-k cg retrieval-g g retrieval-bin-g bing bin_g "
        "retrieval-ndcg-rel ndcg_rel retrieval-r-ndcg rndcg"
    ),
    "cwl": (
        "retrieval-nerr8-at-k nerr8 retrieval-nerr9-at-k nerr9 retrieval-nerr10 nerr10 retrieval-nerr11 nerr11 "
        "retrieval-inst inst retrieval-insq insq retrieval-bpm-at-k bpm retrieval-sdcg-at-k sdcg"
    ),
    "cwl_expectations": (
        "retrieval-expected-total-utility expected_total_utility etu retrieval-expected-total-cost expected_total_cost "
        "etc retrieval-expected-items expected_items retrieval-expected-utility-residual expected_utility_residual "
        "eu_resid"
    ),
    "novelty": (
        "retrieval-alpha-dcg-at-k alpha_dcg retrieval-alpha-ndcg-at-k alpha_ndcg retrieval-err-ia-at-k err_ia "
        "retrieval-nerr-ia-at-k nerr_ia retrieval-nrbp nrbp retrieval-nnrbp nnrbp"
    ),
    "diversity": (
        "retrieval-map-ia ap_ia map_ia retrieval-precision-ia-at-k p_ia retrieval-subtopic-recall-at-k strecall strec "
        "subtopic_recall"
    ),
    "sets": (
        "retrieval-set-precision set_p setp set_precision retrieval-set-recall set_recall setr retrieval-set-map "
        "set_map setap retrieval-set-f set_f setf retrieval-set-relative-precision set_relative_p setrelp "
        "retrieval-utility utility"
    ),
    "counts": (
        "retrieval-num-q num_q numq retrieval-num-ret num_ret numret retrieval-num-rel num_rel numrel "
        "retrieval-num-rel-ret num_rel_ret numrelret retrieval-num-nonrel-judged-ret num_nonrel_judged_ret "
        "retrieval-judged-at-k judged retrieval-unjudged-at-k unj unjudged unj_{k}"
    ),
    "spans": (
        "span-recall-at-k span-recall span_recall span-precision-at-k span-precision span_precision "
        "span-iou-at-k span-iou span_iou span-f1-at-k span-f1 span_f1"
    ),
    "answer": (
        "answer-containment-at-k containment answer_containment answer-exact-match exact_match em answer-f1 answer_f1 "
        "token_f1 keyword-coverage-at-k keyword_coverage keyword-mrr keyword_mrr keyword-ndcg-at-k keyword_ndcg"
    ),
    "complete_sets": (
        "retrieval-complete-sets-at-k complete_sets retrieval-first-complete-rank first_complete first_complete_rank"
    ),
    "forbidden": (
        "forbidden-count-at-k forbidden_count leaks forbidden-rate-at-k forbidden_rate "
        "forbidden-any-at-k forbidden_any leak"
    ),
    "freshness": "stale-at-k stale",
    "abstention": (
        "false-answers false_answers abstention-recall abstention_recall false-abstentions false_abstentions "
        "top-score top_score"
    ),
    "spent": (
        "system-latency latency system-latency-p50 latency_p50 system-latency-p95 latency_p95 system-latency-p99 "
        "latency_p99 system-bytes response_bytes system-cost cost"
    ),
    "searches": (
        "searches-to-first-relevant first_search searches_to_first_relevant searches-per-found searches_per_found "
        "search-redundancy search_redundancy search-count search_count search-characters search_characters"
    ),
    "nuggets": (
        "answer-vital-nuggets vital_nuggets answer-all-nuggets all_nuggets answer-weighted-nuggets weighted_nuggets"
    ),
}
"""
The modules of this package that declare metrics, in the order in which they are listed, and the names in each.

Names are in lower case, and templates have ``{k}`` for any parameter. A test holds them to the declarations.
"""

_FAMILY_OF: Mapping[str, str] = {name: family for family, names in FAMILIES.items() for name in names.split()}
"""The family of each name."""


@hookimpl
def rankgauge_metrics() -> Sequence[Callable[..., Scores]]:
    """Return every built-in metric."""
    return [function for family in FAMILIES for function in _declared(family)]


@hookimpl
def rankgauge_aggregates() -> Sequence[Callable[[Sequence[float]], float]]:
    """Return every built-in aggregate."""
    return [aggregate(name)(function) for name, function in {**AGGREGATES, **PERCENTILES}.items()]


class Family:
    """The metrics of one family, as a plugin."""

    def __init__(self, name: str) -> None:
        self._name = name

    @hookimpl
    def rankgauge_metrics(self) -> Sequence[Callable[..., Scores]]:
        """Return the metrics of the family."""
        return _declared(self._name)


def family_of(name: str) -> str | None:
    """Return the family that has a metric of this name, in lower case; None if there is none."""
    return _FAMILY_OF.get(name)


def _declared(family: str) -> list[Callable[..., Scores]]:
    return declared_in(importlib.import_module(f"{__name__}.{family}"))
