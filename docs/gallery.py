"""
Write the reports of the gallery: real ones, of the data in `configs`.

``make site`` runs it and puts them beside `docs/gallery.md`: ``python docs/gallery.py build/gallery``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import rankgauge

__all__ = ["REPORTS", "main"]

ROOT = Path(__file__).parent.parent
_QUICKSTART, _TREC = ROOT / "configs/quickstart", ROOT / "configs/trec"
_METRICS = ["ndcg@10", "RR", "recall@10", "P@5"]

_Ranking = Mapping[str, float]


def _samples(*names: str) -> dict[str, rankgauge.Result]:
    """Return results of the quickstart's systems."""
    evaluation = rankgauge.Engine.from_config(_QUICKSTART / "rankgauge.yaml").dataset("rag.retrieval")
    return {name: evaluation.with_outputs(_QUICKSTART / f"outputs.{name}.jsonl").run() for name in names}


def one_run() -> str:
    """Return the report of one system, with gates of which one fails."""
    (result,) = _samples("bm25").values()
    return rankgauge.html_report(result, gates=result.gate(["ndcg@10 >= 0.7", "recall@5 >= 0.4"]))


def two_systems() -> str:
    """Return the report of two systems on the same questions."""
    return rankgauge.html_report(_samples("bm25", "char-ngram"))


def leaderboard() -> str:
    """Return the report of five TREC runs: two systems, and three ways to join their results."""
    bm25, ngram = (_read(_TREC / f"{name}.run") for name in ("bm25", "char-ngram"))
    runs = {
        "bm25": bm25,
        "char-ngram": ngram,
        "fused by ranks": _joined(bm25, ngram, lambda _, rank: 1 / (60 + rank)),
        "fused by scores": _joined(bm25, ngram, lambda score, _: score),
        "by turns": _joined(bm25, ngram, lambda _, rank: 0.5**rank),
    }
    results = rankgauge.evaluate(_TREC / "qrels.txt", runs=runs, metrics=_METRICS)
    return rankgauge.html_report(results, texts=_QUICKSTART / "corpus.jsonl")


def _read(file: Path) -> dict[str, dict[str, float]]:
    """Return the scores of a run by query and document."""
    run: dict[str, dict[str, float]] = {}
    for line in file.read_text("utf-8").splitlines():
        query, _, document, _, score, _ = line.split()
        run.setdefault(query, {})[document] = float(score)
    return run


def _joined(
    one: Mapping[str, _Ranking], other: Mapping[str, _Ranking], weight: Callable[[float, int], float]
) -> dict[str, dict[str, float]]:
    """Return a run in which a document has the sum of what its score, as a share of the highest, and rank weigh."""
    joined: dict[str, dict[str, float]] = {}
    for query in one:
        scores = joined.setdefault(query, {})
        for ranking in (one[query], other.get(query, {})):
            highest = max(ranking.values(), default=1.0)
            for rank, item in enumerate(sorted(ranking, key=lambda name: -ranking[name]), 1):
                scores[item] = scores.get(item, 0.0) + weight(ranking[item] / highest, rank)
    return joined


REPORTS = {"one-run": one_run, "two-systems": two_systems, "leaderboard": leaderboard}
"""What writes each report, by the name of its file."""


def main(folder: Path) -> None:
    """Write every report to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, report in REPORTS.items():
        (folder / f"{name}.html").write_text(report(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
