"""
Labels: whether they still hold for a corpus, and queues of documents that somebody is to judge.
"""

from rankgauge.features.labels.check_labels import check_labels
from rankgauge.features.labels.corpus_copies import Copy, CorpusCopies, copies_between
from rankgauge.features.labels.gold_hashes import with_gold_hashes
from rankgauge.features.labels.label_findings import GoldReport, LabelFinding
from rankgauge.features.labels.queue_files import QueueFile, is_queue_file, read_queue_file, read_scale

__all__ = [
    "Copy",
    "CorpusCopies",
    "GoldReport",
    "LabelFinding",
    "QueueFile",
    "check_labels",
    "copies_between",
    "is_queue_file",
    "read_queue_file",
    "read_scale",
    "with_gold_hashes",
]
