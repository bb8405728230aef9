"""
Gold keys: a number for what a sample is judged against, by which two results tell whether that was the same.
"""

from __future__ import annotations

from hashlib import blake2b

import orjson

from rankgauge.samples.values import Sample

__all__ = ["gold_key"]


def gold_key(sample: Sample) -> int:
    """Return a 64-bit hash of a sample's ground truth, flags and own cutoff; the same in every process."""
    facts = (sample.expected[:-1], sample.answerable, sample.k)
    try:
        data = orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # half a surrogate pair, which UTF-8 cannot encode
        data = repr(facts).encode("utf-8", "backslashreplace")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")
