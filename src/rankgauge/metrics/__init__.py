"""The built-in metrics, one family a file; they enter the catalog through rankgauge's own entry point."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rankgauge.metrics.answer import answer_containment, answer_exact_match
from rankgauge.metrics.average_precision import average_precision, geometric_average_precision
from rankgauge.metrics.bpref import bpref, geometric_bpref, inferred_average_precision
from rankgauge.metrics.counts import num_nonrel_judged_ret, num_q, num_rel, num_rel_ret, num_ret
from rankgauge.metrics.err import expected_reciprocal_rank
from rankgauge.metrics.hit import hit
from rankgauge.metrics.interpolated_precision import average_over_levels, interpolated_precision
from rankgauge.metrics.judged_at_k import judged_at_k, unjudged_at_k
from rankgauge.metrics.keyword import keyword_coverage, keyword_ndcg, keyword_reciprocal_rank
from rankgauge.metrics.ndcg import ndcg, ndcg_any
from rankgauge.metrics.precision import f1, precision, r_precision, relative_precision
from rankgauge.metrics.rbp import rank_biased_precision, residual
from rankgauge.metrics.recall import recall, recall_all
from rankgauge.metrics.reciprocal_rank import reciprocal_rank
from rankgauge.metrics.sets import set_f, set_map, set_precision, set_recall, set_relative_precision
from rankgauge.plugin import Scores, hookimpl

__all__: list[str] = []


@hookimpl
def rankgauge_metrics() -> Sequence[Callable[..., Scores]]:
    """Return every built-in metric."""
    return (
        hit,
        recall,
        recall_all,
        precision,
        f1,
        r_precision,
        relative_precision,
        reciprocal_rank,
        average_precision,
        geometric_average_precision,
        interpolated_precision,
        average_over_levels,
        bpref,
        geometric_bpref,
        inferred_average_precision,
        ndcg,
        ndcg_any,
        expected_reciprocal_rank,
        rank_biased_precision,
        residual,
        set_precision,
        set_recall,
        set_map,
        set_f,
        set_relative_precision,
        judged_at_k,
        unjudged_at_k,
        num_q,
        num_ret,
        num_rel,
        num_rel_ret,
        num_nonrel_judged_ret,
        answer_containment,
        answer_exact_match,
        keyword_coverage,
        keyword_reciprocal_rank,
        keyword_ndcg,
    )
