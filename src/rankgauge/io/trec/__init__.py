"""TREC files: runs and qrels, read as columns in blocks that fit in a processor's cache."""

from rankgauge.io.trec.qrels_text import read_qrels
from rankgauge.io.trec.run_text import RunFile

__all__ = ["RunFile", "read_qrels"]
