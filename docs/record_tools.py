"""
Record what other tools compute, into `docs/measures_by_tool.json`.

Run ``python docs/record_tools.py`` in an environment with pytrec_eval-terrier, ir_measures, pyndeval, cwl-eval, ranx
and beir; rankgauge need not be in it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from importlib.metadata import version

from measures_by_tool import RECORDED, ROWS, TOOLS, Qrels, Run, data, with_intents

__all__ = ["main"]


def main() -> None:
    """Record what the other tools compute."""
    qrels, run = data()
    values = {tool: _COMPUTE[tool](qrels, run) for tool in TOOLS}
    names = {"trec_eval": "pytrec_eval-terrier", "ir_measures": "ir_measures", "ranx": "ranx", "BEIR": "beir"}
    found = {
        tool: {name: None if math.isnan(value) else value for name, value in each.items()}
        for tool, each in values.items()
    }
    document = {"versions": {tool: version(name) for tool, name in names.items()}, "values": found}
    RECORDED.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return math.fsum(listed) / len(listed)


def _trec_eval(qrels: Qrels, run: Run) -> dict[str, float]:
    import pytrec_eval

    found = {}
    for name in (row.trec_eval for row in ROWS if row.trec_eval):
        stem, _, cutoff = name.rpartition("_")
        asked = f"{stem}.{cutoff}" if stem and cutoff.replace(".", "").isdigit() else name
        try:
            per_query = pytrec_eval.RelevanceEvaluator(qrels, {asked}).evaluate(run)
        except ValueError:
            continue  # of version 10
        found[name] = pytrec_eval.compute_aggregated_measure(name, [scores[name] for scores in per_query.values()])
    return found


def _ir_measures(qrels: Qrels, run: Run) -> dict[str, float]:
    import ir_measures

    plain = [ir_measures.Qrel(query, doc, grade) for query, judged in qrels.items() for doc, grade in judged.items()]
    by_intent = [ir_measures.Qrel(query, doc, grade, intent) for query, intent, doc, grade in with_intents(qrels)]
    found = {}
    for row in ROWS:
        if row.ir_measures:
            measure = ir_measures.parse_measure(row.ir_measures)
            found[row.ir_measures] = measure.calc_aggregate(by_intent if row.by_intent else plain, run)
    return found


def _ranx(qrels: Qrels, run: Run) -> dict[str, float]:
    import ranx

    found = {}
    for name in (row.ranx for row in ROWS if row.ranx):
        ranked = ranx.Run(run)
        ranx.evaluate(ranx.Qrels(qrels), ranked, name)
        (scores,) = ranked.scores.values()
        found[name] = _mean(float(value) for value in scores.values())
    return found


def _beir(qrels: Qrels, run: Run) -> dict[str, float]:
    from beir.retrieval.evaluation import EvaluateRetrieval

    found: dict[str, float] = {}
    for part in EvaluateRetrieval.evaluate(qrels, run, [2, 5, 10]):
        found |= part
    for metric in ("mrr", "recall_cap", "hole", "top_k_accuracy"):
        found |= EvaluateRetrieval.evaluate_custom(qrels, run, [2, 5, 10], metric)
    return {row.BEIR: found[row.BEIR] for row in ROWS if row.BEIR}


_COMPUTE = {"trec_eval": _trec_eval, "ir_measures": _ir_measures, "ranx": _ranx, "BEIR": _beir}

if __name__ == "__main__":
    main()
