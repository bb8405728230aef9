"""
`rankgauge systems index`: documents go into the system of a config.
"""

from __future__ import annotations

import argparse
import time

from rankgauge.errors import ParameterError
from rankgauge.files import read_corpus
from rankgauge.plugin import Console
from rankgauge.text import counted
from rankgauge_systems.engines import Document, Loaded

__all__ = ["index"]

_EXAMPLES = 3


def index(given: argparse.Namespace, console: Console) -> int:
    """Do what `systems index` was given, and return its exit code."""
    engine = console.engine(given.config)
    corpus = read_corpus(given.corpus, catalog=engine.catalog)
    system = engine.system()
    try:
        if not hasattr(system.inner, "index"):
            raise ParameterError(f"a system of the kind {system.kind!r} cannot be loaded with documents")
        begun = time.perf_counter()
        rows = zip(corpus.ids, corpus.titles, corpus.texts, strict=True)
        loaded: Loaded = system.prepared("index", (Document(*row) for row in rows))
        seconds = time.perf_counter() - begun
    finally:
        system.close()
    if given.as_json:
        console.json(
            {
                "kind": system.kind,
                "documents": loaded.documents,
                "zeros": list(loaded.zeros),
                "seconds": round(seconds, 3),
            }
        )
    else:
        console.echo(f"loaded {counted(loaded.documents, 'document')} into {system.kind} in {seconds:.1f} s")
        if loaded.zeros:
            shown = ", ".join(loaded.zeros[:_EXAMPLES]) + (", ..." if len(loaded.zeros) > _EXAMPLES else "")
            what = counted(len(loaded.zeros), "document")
            console.note(f"{what} cannot be found by vectors, because the embedding is all zeros: {shown}")
    return 0
