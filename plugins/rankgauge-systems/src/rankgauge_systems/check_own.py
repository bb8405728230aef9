"""
What `systems check` tries of single engines: their own ways to fuse searches, which this package does not use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from rankgauge_systems.check_facts import Fact
from rankgauge_systems.engines import required

__all__ = ["OWN", "own_facts"]

_ROWS, _CYCLE = 60, 7
_LIMITS: Final = (1, 10)


def _hybrid_of_lancedb(folder: Path) -> Iterator[Fact]:
    """
    Yield whether the best result of a hybrid search depends on its limit.

    By vectors the documents are nearest in the order of their numbers; by words every seventh is equally good. One that
    is good in both lists is best, unless the lists are cut before they are fused.
    """
    lance = required("lancedb", "LanceDB", "lancedb")
    rows = [
        {
            "id": f"d{number}",
            "text": " ".join(["salt"] * (number % _CYCLE + 1) + ["sea"] * (9 - number % _CYCLE) + [f"w{number}"]),
            "vector": [1.0, number / 10],
        }
        for number in range(_ROWS)
    ]
    table = lance.connect(str(folder / "hybrid")).create_table("documents", data=rows)
    table.create_index("text", config=lance.index.FTS())
    best = {}
    for limit in _LIMITS:
        query = table.search(query_type="hybrid").vector([1.0, 0.0]).text("salt").limit(limit)
        best[limit] = query.to_list()[0]["id"]
    names = [best[limit] for limit in _LIMITS]
    if len(set(names)) == 1:
        yield Fact("hybrid search", "the best result does not depend on limit")
        return
    told = ", ".join(f"{name} with limit {limit}" for limit, name in best.items())
    yield Fact(
        "hybrid search", f"the best result depends on limit, to which lists are cut before they are fused: {told}"
    )


def _weights_of_qdrant(folder: Path) -> Iterator[Fact]:
    """Yield whether a heavier list decides more in weighted reciprocal rank fusion; two lists disagree."""
    qdrant = required("qdrant_client", "Qdrant", "qdrant")
    models = qdrant.models
    if not hasattr(models, "RrfQuery"):
        return
    client = qdrant.QdrantClient(path=str(folder / "fusion"))
    try:
        plane = models.VectorParams(size=2, distance=models.Distance.COSINE)
        client.create_collection("documents", vectors_config={"light": plane, "heavy": plane})
        near, far = [1.0, 0.0], [0.1, 1.0]
        points = [
            models.PointStruct(id=1, vector={"light": near, "heavy": far}),
            models.PointStruct(id=2, vector={"light": far, "heavy": near}),
        ]
        client.upsert("documents", points)
        lists = [models.Prefetch(query=near, using=name, limit=2) for name in ("light", "heavy")]
        asked: dict[str, Any] = {"query": models.RrfQuery(rrf=models.Rrf(weights=[1.0, 3.0])), "limit": 2}
        first, _ = client.query_points("documents", prefetch=lists, **asked).points
    finally:
        client.close()
    decides = "more" if first.id == points[1].id else "less"
    yield Fact("weighted RRF", f"a list of three times the weight decides {decides}")


OWN: Mapping[str, Callable[[Path], Iterator[Fact]]] = MappingProxyType(
    {"lancedb": _hybrid_of_lancedb, "qdrant": _weights_of_qdrant}
)


def own_facts(kind: str, folder: Path) -> Iterator[Fact]:
    """Yield facts of single engines, tried in a folder."""
    if kind in OWN:
        yield from OWN[kind](folder)
