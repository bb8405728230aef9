"""
The page `docs/reference/measures-by-tool.md`: what each tool calls a measure, and whether its number is ours.

`docs/record_tools.py` recorded what the tools compute; `page` compares that with what rankgauge computes now.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

__all__ = [
    "RECORDED",
    "ROWS",
    "TOOLS",
    "Row",
    "data",
    "matches",
    "ours",
    "page",
    "recorded",
    "understood",
    "with_intents",
]

ROOT = Path(__file__).parent.parent
RECORDED = Path(__file__).with_suffix(".json")
TOOLS = ("trec_eval", "ir_measures", "ranx", "BEIR")

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


class Row(NamedTuple):
    """
    One measure.

    Attributes:
        name: What we call it, with its cutoff.

        trec_eval: What trec_eval calls it; empty if it has none. So with the other tools.

        ir_measures: As above.

        ranx: As above.

        BEIR: As above.

        why: Why a number differs, or was not compared.

        by_intent: Whether the judgments have intents.
    """

    name: str
    trec_eval: str = ""
    ir_measures: str = ""
    ranx: str = ""
    BEIR: str = ""
    why: str = ""
    by_intent: bool = False


ROWS = (
    Row(
        "hit@5",
        "success_5",
        "Success@5",
        "hit_rate@5",
        "Accuracy@5",
        why="`Accuracy@5` is `AUC@5` here, as in ir_measures",
    ),
    Row("hits@5", ranx="hits@5"),
    Row("recall@10", "recall_10", "R@10", "recall@10", "Recall@10"),
    Row("P@10", "P_10", "P@10", "precision@10", "P@10"),
    Row("f1@10", ranx="f1@10"),
    Row("relative_P@2", "relative_P_2", BEIR="R_cap@2"),
    Row("Rprec", "Rprec", "Rprec", "r-precision"),
    Row("RR", "recip_rank", "RR", "mrr"),
    Row("RR@10", ir_measures="RR@10", ranx="mrr@10", BEIR="MRR@10"),
    Row("AP", "map", "AP", "map"),
    Row("AP@10", "map_cut_10", "AP@10", "map@10", "MAP@10"),
    Row("gm_map", "gm_map"),
    Row("ndcg", "ndcg", "nDCG", "ndcg"),
    Row("ndcg@10", "ndcg_cut_10", "nDCG@10", "ndcg@10", "NDCG@10"),
    Row("ndcg(gain=exponential)@10", ir_measures="nDCG(dcg='exp-log2')@10", ranx="ndcg_burges@10"),
    Row("dcg@10", ranx="dcg@10"),
    Row("dcg(gain=exponential)@10", ranx="dcg_burges@10"),
    Row(
        "err(max_grade=4)@10",
        ir_measures="ERR@10",
        why="gdeval, behind ir_measures, takes 4 for the highest grade; here `ERR@10` takes the highest that there is",
    ),
    Row(
        "rbp(p=0.8)",
        "rbp.p=0.8",
        ranx="rbp.80",
        why="new in trec_eval 10; ranx multiplies by raw grades, and may pass 1",
    ),
    Row("rbp(p=0.8, rel=1)", ir_measures="RBP(p=0.8, rel=1)"),
    Row("bpref", "bpref", "Bpref", "bpref", why="ranx divides 0 by 0 if nothing was judged as not relevant"),
    Row("infAP", "infAP", "infAP"),
    Row("iprec@0.1", "iprec_at_recall_0.10", "IPrec@0.1"),
    Row("11pt_avg", "11pt_avg", why="version 9 rounds levels of recall up; profile `trec9` gives its number"),
    Row("judged@10", ir_measures="Judged@10"),
    Row(
        "unj@10",
        "unj_10",
        BEIR="Hole@10",
        why="new in trec_eval 10; BEIR counts documents that are judged for no query at all",
    ),
    Row("AUC@10", ir_measures="Accuracy@10"),
    Row("gm_bpref", "gm_bpref"),
    Row("Rprec_mult@0.2", "Rprec_mult_0.20"),
    Row("utility", "utility"),
    Row("G", "G"),
    Row("binG", "binG"),
    Row("ndcg_rel", "ndcg_rel"),
    Row("Rndcg", "Rndcg"),
    Row("rbp_resid", "rbp_resid", why="new in trec_eval 10"),
    Row("set_P", "set_P", "SetP"),
    Row("set_recall", "set_recall", "SetR"),
    Row("set_map", "set_map", "SetAP"),
    Row("set_F", "set_F", "SetF"),
    Row("set_relative_P", "set_relative_P", "SetRelP"),
    Row("num_ret", "num_ret", "NumRet"),
    Row("num_rel", "num_rel", "NumRel"),
    Row("num_rel_ret", "num_rel_ret", "NumRelRet"),
    Row("num_nonrel_judged_ret", "num_nonrel_judged_ret"),
    Row("num_q", "num_q", "NumQ"),
    Row("INST(goal=2, max_grade=3)", ir_measures="INST(T=2.0, max_rel=3)"),
    Row("INSQ(goal=2, max_grade=3)", ir_measures="INSQ(T=2.0, max_rel=3)"),
    Row("BPM(max_grade=3)@10", ir_measures="BPM(max_rel=3)@10"),
    Row("SDCG(max_grade=3)@10", ir_measures="SDCG(max_rel=3)@10"),
    Row("NERR8(max_grade=3)@10", ir_measures="NERR8(max_rel=3)@10"),
    Row("NERR9(max_grade=3)@10", ir_measures="NERR9(max_rel=3)@10"),
    Row("NERR10(max_grade=3)", ir_measures="NERR10(max_rel=3)"),
    Row("NERR11(max_grade=3)", ir_measures="NERR11(max_rel=3)"),
    Row("Compat", ir_measures="Compat"),
    Row("alpha_nDCG@20", ir_measures="alpha_nDCG@20", by_intent=True),
    Row("alpha_DCG@20", ir_measures="alpha_DCG@20", by_intent=True),
    Row("ERR_IA@20", ir_measures="ERR_IA@20", by_intent=True),
    Row("nERR_IA@20", ir_measures="nERR_IA@20", by_intent=True),
    Row("NRBP", ir_measures="NRBP", by_intent=True),
    Row("nNRBP", ir_measures="nNRBP", by_intent=True),
    Row("AP_IA", ir_measures="AP_IA", by_intent=True),
    Row("P_IA@20", ir_measures="P_IA@20", by_intent=True),
    Row("StRecall@20", ir_measures="StRecall@20", by_intent=True),
)


def data() -> tuple[Qrels, Run]:
    """
    Return the judgments of `configs/trec` and a run without ties, which every tool puts into the same order.

    Returns:
        The judgments, and for each judged query its documents with falling scores.
    """
    qrels: Qrels = {}
    for line in (ROOT / "configs/trec/qrels.txt").read_text(encoding="utf-8").splitlines():
        query, _, document, grade = line.split()
        qrels.setdefault(query.lstrip("q0"), {})[document] = int(grade)  # gdeval, behind ir_measures, wants numbers
    scored: dict[str, list[tuple[float, str]]] = {}
    for line in (ROOT / "configs/trec/char-ngram.run").read_text(encoding="utf-8").splitlines():
        query, _, document, _, score, _ = line.split()
        scored.setdefault(query.lstrip("q0"), []).append((float(score), document))
    return qrels, {
        query: {document: float(1000 - rank) for rank, (_, document) in enumerate(sorted(found, reverse=True))}
        for query, found in scored.items()
        if query in qrels
    }


def with_intents(qrels: Qrels) -> list[tuple[str, str, str, int]]:
    """
    Return judgments with intents.

    Args:
        qrels: Judgments without.

    Returns:
        Query, intent, document and gain; a document of grade 2 serves intents 1 and 2.
    """
    return [
        (query, str(intent), document, min(grade, 1))
        for query, judged in qrels.items()
        for document, grade in judged.items()
        for intent in range(1, max(grade, 1) + 1)
    ]


def recorded() -> dict[str, Any]:
    """
    Return what the tools computed.

    Returns:
        Their `versions`, and their `values` by tool and spelling; None for a mean that is not a number.
    """
    found: dict[str, Any] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


def ours() -> dict[str, float | None]:
    """
    Return what rankgauge computes.

    Returns:
        The mean of each row's measure, by our name.
    """
    import rankgauge

    qrels, run = data()
    found: dict[str, float | None] = {}
    with tempfile.TemporaryDirectory() as folder:
        diversity = Path(folder, "qrels.diversity")
        diversity.write_text("".join(f"{' '.join(map(str, line))}\n" for line in with_intents(qrels)), encoding="utf-8")
        for judgments, by_intent in ((qrels, False), (diversity, True)):
            names = [row.name for row in ROWS if row.by_intent == by_intent]
            result = rankgauge.evaluate(judgments, run, names)
            found |= {name: result[name].mean for name in names}
    return found


def understood(name: str, spelling: str) -> bool:
    """
    Return whether rankgauge reads a spelling as the measure of a row.

    Args:
        name: Our name of the measure.

        spelling: That of another tool.

    Returns:
        False where it is another measure here, or none.
    """
    from rankgauge import Engine, RankgaugeError

    try:
        plan = Engine().dataset([]).with_metrics([name, spelling]).plan()
    except RankgaugeError:
        return False
    return len(plan.metrics) == 1


def matches(ours: float | None, theirs: float | None) -> bool:
    """
    Return whether two means are the same number.

    Args:
        ours: Our mean.

        theirs: That of another tool.

    Returns:
        Whether they differ by rounding only: some tools round to five places.
    """
    if ours is None or theirs is None:
        return ours is theirs
    return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=5e-6)


def page() -> str:
    """
    Return the text of the page.

    Returns:
        A table with a row for each measure.
    """
    found, theirs = ours(), recorded()
    versions = theirs["versions"]
    parts = [
        "# Measures by tool",
        "",
        "What each tool calls a measure, and whether it computes the same number. Generated by `make docs`, from what",
        f"pytrec_eval-terrier {versions['trec_eval']} (trec_eval's C code, version 9),",
        f"ir_measures {versions['ir_measures']}, ranx {versions['ranx']} and BEIR {versions['BEIR']} computed.",
        "The means are over the 36 judged queries of `configs/trec/char-ngram.run` without ties, so that only",
        "definitions can differ; for measures with intents (from alpha-nDCG on) a document of grade 2 serves two. What",
        "else differs, such as missing queries and ties: [why numbers differ](../explanation/why-numbers-differ.md).",
        "",
        "A spelling alone means that the number is equal, to the five places to which some tools round, and that",
        "rankgauge reads the spelling. **≠** has the number of a tool that differs, **·** was not compared, and with",
        "**†** rankgauge has another measure or none under this name, so write ours. The last column says why.",
        "",
        f"| rankgauge | mean | {' | '.join(TOOLS)} | |",
        f"|---|---|{'---|' * len(TOOLS)}---|",
    ]
    for row in ROWS:
        mean = found[row.name]
        cells = [f"`{row.name}`", "" if mean is None else f"{mean:.4f}"]
        parts.append(f"| {' | '.join([*cells, *(_cell(row, tool, mean, theirs) for tool in TOOLS), row.why])} |")
    return "\n".join(parts) + "\n"


def _cell(row: Row, tool: str, mean: float | None, theirs: Mapping[str, Any]) -> str:
    spelling = getattr(row, tool)
    if not spelling:
        return ""
    marks = [] if understood(row.name, spelling) else ["†"]
    values = theirs["values"][tool]
    if spelling not in values:
        marks.append("·")
    elif not matches(mean, values[spelling]):
        marks.append("≠ NaN" if values[spelling] is None else f"≠ {values[spelling]:.4f}")
    return " ".join([f"`{spelling}`", *marks])
