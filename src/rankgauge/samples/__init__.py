"""
The dataset contract: what a sample, its ground truth and its output are, and how outside data becomes them.

Reading is written by hand rather than with pydantic, because it is two things at once: strict about the dataset, all
problems at a time, and forgiving about what a system emitted; `design/decisions.md` says more.
"""

from rankgauge.samples.built_in_kinds import FIELDS, GOLD_KINDS, KINDS, OF_SOME, TEXT_KINDS, kind_called
from rankgauge.samples.gold_items import GoldItem, OtherGold
from rankgauge.samples.gold_kinds import GoldKind, Kinds
from rankgauge.samples.gold_nuggets import labelled
from rankgauge.samples.ground_truth import read_expected
from rankgauge.samples.placed_blocks import BlockKind, PlacedBlock, read_placed
from rankgauge.samples.plain_blocks import Block, IdOutputs, read_block, read_id_outputs
from rankgauge.samples.sample_outputs import CallError, KeptOutput, read_output
from rankgauge.samples.sample_records import SampleRules, read_sample, read_samples
from rankgauge.samples.sample_values import (
    HIGHEST_K,
    Expected,
    Fault,
    Forbidden,
    GoldSet,
    Nugget,
    Output,
    Place,
    Sample,
    Searches,
    Span,
    Stage,
)

__all__ = [
    "FIELDS",
    "GOLD_KINDS",
    "HIGHEST_K",
    "KINDS",
    "OF_SOME",
    "TEXT_KINDS",
    "Block",
    "BlockKind",
    "CallError",
    "Expected",
    "Fault",
    "Forbidden",
    "GoldItem",
    "GoldKind",
    "GoldSet",
    "IdOutputs",
    "KeptOutput",
    "Kinds",
    "Nugget",
    "OtherGold",
    "Output",
    "Place",
    "PlacedBlock",
    "Sample",
    "SampleRules",
    "Searches",
    "Span",
    "Stage",
    "kind_called",
    "labelled",
    "read_block",
    "read_expected",
    "read_id_outputs",
    "read_output",
    "read_placed",
    "read_sample",
    "read_samples",
]
