"""A known collection in any chunking, and what is true of it by offsets."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

CHUNKING = Path(__file__).parents[2] / "configs" / "chunking"
DATASET = CHUNKING / "dataset.jsonl"

Retrieved = Sequence[Mapping[str, Any]]
Outputs = dict[str, dict[str, list[Any]]]


@cache
def chunks() -> ModuleType:
    """Return the module that cuts the documents and searches in them."""
    spec = importlib.util.spec_from_file_location("decisions_chunks", CHUNKING / "chunks.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@cache
def samples() -> tuple[dict[str, Any], ...]:
    return tuple(map(json.loads, DATASET.read_text(encoding="utf-8").splitlines()))


def outputs_of(index: Any, *, depth: int = 10) -> Outputs:
    """Return what an index retrieves for each question."""
    return {each["id"]: {"retrieved": index.search(each["input"]["question"], depth)} for each in samples()}


@cache
def chunked(size: int, overlap: int = 0, depth: int = 10) -> Outputs:
    return outputs_of(chunks().index(size, overlap), depth=depth)


def places(text: str, document: str) -> Iterator[tuple[int, int]]:
    """Yield every place at which a text stands in its document."""
    for found in re.finditer(re.escape(text), chunks().documents()[document]):
        yield found.start(), found.end()


def is_covered(text: str, document: str, retrieved: Retrieved) -> bool:
    """Return whether results together cover half of a text's characters at one of its places, by offsets alone."""
    of_document = [(item["start"], item["end"]) for item in retrieved if item["document"] == document]
    return any(
        2 * len({at for begin, stop in of_document for at in range(max(start, begin), min(end, stop))}) >= end - start
        for start, end in places(text, document)
    )


def true_recalls(outputs: Mapping[str, Any], k: int) -> list[float]:
    """Return each sample's share of gold passages that the first k results cover in truth."""
    recalls = []
    for sample in samples():
        gold, document = sample["expected_output"]["passages"], sample["metadata"]["document"]
        retrieved = outputs[sample["id"]]["retrieved"][:k]
        recalls.append(sum(is_covered(text, document, retrieved) for text in gold) / len(gold))
    return recalls


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
