"""
`rankgauge systems index`: documents go into the system of a config.
"""

from __future__ import annotations

import argparse
import time

from rankgauge.cli.console import echo, print_json
from rankgauge.cli.conventions import make_engine
from rankgauge.errors import ParameterError, counted
from rankgauge.io.corpus import read_corpus
from rankgauge_systems.engines import Document

__all__ = ["index"]


def index(given: argparse.Namespace) -> int:
    """Do what `systems index` was given, and return its exit code."""
    engine = make_engine(given.config)
    corpus = read_corpus(given.corpus, catalog=engine.catalog)
    system = engine.system()
    try:
        if not hasattr(system.inner, "index"):
            raise ParameterError(f"a system of the kind {system.kind!r} cannot be loaded with documents")
        begun = time.perf_counter()
        rows = zip(corpus.ids, corpus.titles, corpus.texts, strict=True)
        count = system.prepared("index", (Document(*row) for row in rows))
        seconds = time.perf_counter() - begun
    finally:
        system.close()
    if given.as_json:
        print_json({"kind": system.kind, "documents": count, "seconds": round(seconds, 3)})
    else:
        echo(f"loaded {counted(count, 'document')} into {system.kind} in {seconds:.1f} s")
    return 0
