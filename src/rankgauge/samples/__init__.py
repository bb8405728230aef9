"""
The dataset contract: what a sample, its ground truth and its output are, and how outside data becomes them.

Reading is written by hand rather than with pydantic: it runs once a sample on inputs of millions of lines, and
`docs/explanation/speed.md` has the figures.
"""

from rankgauge.samples.ground_truth import read_expected
from rankgauge.samples.outputs import read_output
from rankgauge.samples.records import read_sample
from rankgauge.samples.values import (
    DEFAULT_CONTRACT,
    FIELDS,
    GOLD_KINDS,
    Contract,
    Expected,
    Fault,
    GoldKind,
    Output,
    Sample,
)

__all__ = [
    "DEFAULT_CONTRACT",
    "FIELDS",
    "GOLD_KINDS",
    "Contract",
    "Expected",
    "Fault",
    "GoldKind",
    "Output",
    "Sample",
    "read_expected",
    "read_output",
    "read_sample",
]
