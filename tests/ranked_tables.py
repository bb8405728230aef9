"""Judgments and a run as rows, and ways to write them in every form that rankgauge reads."""

import polars as pl

import rankgauge

METRICS = ["ndcg@10", "AP", "RR", "P@5", "recall@100"]
_QRELS_NAMES = ("query-id", "corpus-id", "score")

WORKED_QRELS = [("q1", "a", 2), ("q1", "b", 1), ("q2", "c", 1)]
WORKED_RUN = [("q1", "b", 0.9), ("q1", "x", 0.8), ("q1", "a", 0.7), ("q2", "y", 0.5), ("q2", "c", 0.4)]
WORKED = {"map": [5 / 6, 1 / 2], "recip_rank": [1.0, 1 / 2], "P_5": [2 / 5, 1 / 5], "recall_100": [1.0, 1.0]}
"""AP of q1: precisions 1/1 and 2/3 at its two relevant documents; of q2: 1/2."""


def scores_of(qrels, run, **options):
    """Return the scores of each query as rows."""
    return rankgauge.evaluate(qrels, run, METRICS, **options).per_sample.to_dicts()


def write_qrels(path, rows):
    path.write_text("".join(f"{query} 0 {document} {grade}\n" for query, document, grade in rows), encoding="utf-8")
    return path


def write_run(path, rows):
    path.write_text("".join(f"{query} Q0 {document} 1 {score!r} tag\n" for query, document, score in rows), "utf-8")
    return path


def qrels_frame(rows, names=_QRELS_NAMES):
    return pl.DataFrame(rows, schema=list(names), orient="row")


def run_frame(rows, names=("query_id", "doc_id", "score")):
    return pl.DataFrame(rows, schema=list(names), orient="row")
