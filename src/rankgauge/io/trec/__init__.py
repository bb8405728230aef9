"""TREC files: runs and qrels, read as columns in blocks that stay in a processor's cache."""

from rankgauge.io.trec.qrels import read_qrels
from rankgauge.io.trec.runs import RunFile
from rankgauge.io.trec.sniff import Looks, sniff

__all__ = ["Looks", "RunFile", "read_qrels", "sniff"]
