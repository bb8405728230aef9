"""
`passage` against the truth by offsets, over documents of `configs/chunking` in seven chunkings.
"""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from draws import some
from rankgauge import Engine

FOLDER = Path(__file__).parents[2] / "configs" / "chunking"

# characters of a chunk, overlap; then true recall@5 and recall@100, and what `passage` says, of 87 passages
TABLE = [
    (25, 0, 0.103, 0.115, 0.230, 0.218),
    (50, 0, 0.253, 0.253, 0.425, 0.402),
    (100, 0, 0.483, 0.483, 0.713, 0.713),
    (200, 0, 0.678, 0.667, 0.885, 0.885),
    (400, 200, 0.862, 0.862, 0.977, 0.977),
    (800, 400, 0.920, 0.920, 1.000, 1.000),
    (1600, 0, 0.920, 0.920, 1.000, 1.000),
]


def loaded() -> ModuleType:
    """Return the module that cuts and retrieves."""
    spec = importlib.util.spec_from_file_location("chunks_of_configs", FOLDER / "chunks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def held(passage: str, text: str, document: str, chunks: list[dict[str, object]]) -> bool:
    """Return whether half of a passage, wherever its text stands in its document, is in some chunks, by offsets."""
    for place in re.finditer(re.escape(passage), text):
        seen = {
            at
            for chunk in chunks
            if chunk["document"] == document
            for at in range(max(place.start(), chunk["start"]), min(place.end(), chunk["end"]))
        }
        if 2 * len(seen) >= len(passage):
            return True
    return False


@pytest.mark.parametrize(("size", "overlap", "true_5", "found_5", "true_100", "found_100"), some(TABLE, of=len(TABLE)))
def test_what_is_found_is_near_the_truth(
    size: int, overlap: int, true_5: float, found_5: float, true_100: float, found_100: float
) -> None:
    """The table of docs/how-to/match-by-text.md, and the bound that it keeps."""
    module = loaded()
    texts, index = module.documents(), module.Index(module.cut(size, overlap))
    samples = [json.loads(line) for line in (FOLDER / "dataset.jsonl").read_text(encoding="utf-8").splitlines()]
    retrieved = [index.search(sample["input"]["question"], 100) for sample in samples]
    rows = [
        sample | {"actual_output": {"retrieved": [{"text": chunk["text"]} for chunk in chunks]}}
        for sample, chunks in zip(samples, retrieved, strict=True)
    ]
    passages = [sample["expected_output"]["passages"] for sample in samples]
    total = sum(map(len, passages))
    result = Engine().dataset(rows).with_metrics(["recall@5", "recall@100"]).run()
    for k, true, found in ((5, true_5, found_5), (100, true_100, found_100)):
        values = result[f"recall@{k}"].values
        measured = sum(value * len(each) for value, each in zip(values, passages, strict=True)) / total
        by_offsets = sum(
            held(passage, texts[sample["metadata"]["document"]], sample["metadata"]["document"], chunks[:k])
            for sample, chunks in zip(samples, retrieved, strict=True)
            for passage in sample["expected_output"]["passages"]
        )
        assert (round(by_offsets / total, 3), round(measured, 3)) == (true, found)
        assert abs(measured - true) <= (0.015 if size >= 400 else 0.02 if size >= 200 else 0.03)
