"""TREC files: runs and qrels, read as columns in blocks that fit in a processor's cache."""

from rankgauge.io.trec.line_columns import QRELS, RUN, Form
from rankgauge.io.trec.odd_lines import OddLines
from rankgauge.io.trec.qrels_text import read_qrels
from rankgauge.io.trec.run_text import RunFile

__all__ = ["QRELS", "RUN", "Form", "OddLines", "RunFile", "read_qrels"]
