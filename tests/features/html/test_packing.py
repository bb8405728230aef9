"""Columns in one block: what is packed comes out again, in few bytes."""

from __future__ import annotations

import base64
import gzip
import json

import numpy as np
import pytest

from rankgauge.features.html.packing import Packer


def unpacked(packer: Packer) -> tuple[dict, bytes]:
    data = gzip.decompress(base64.b64decode(packer.packed({"runs": ["a"]})))
    end = 4 + int.from_bytes(data[:4], "little")
    return json.loads(data[4:end]), data[end:]


def test_the_header_lists_the_columns_in_order_of_their_numbers():
    packer = Packer()
    assert (packer.texts(["é", "b"]), packer.counts([1, 2])) == (0, 1)

    header, body = unpacked(packer)
    assert header == {"runs": ["a"], "columns": [["text", 4], ["u1", 2]]}  # é takes two bytes, NUL one
    assert body == "é\0b".encode() + b"\1\2"


@pytest.mark.parametrize(("highest", "kind"), [(255, "u1"), (256, "u2"), (65_536, "u4")])
def test_counts_take_as_few_bytes_as_the_largest_needs(highest, kind):
    packer = Packer()
    packer.counts([0, highest])
    assert unpacked(packer)[0]["columns"] == [[kind, 2]]


def test_bytes_of_one_significance_stand_together():
    packer = Packer()
    packer.counts([0x0102, 0x0304])
    assert unpacked(packer)[1] == bytes([0x02, 0x04, 0x01, 0x03])


def test_few_distinct_numbers_are_exact_with_nan_as_one_of_them():
    packer = Packer()
    codes, table = packer.floats([0.1, np.nan, 0.1, 1e300, np.nan])
    header, body = unpacked(packer)

    assert header["columns"] == [["u1", 5], ["f8", 3]]
    known = np.ascontiguousarray(np.frombuffer(body, np.uint8, 24, 5).reshape(8, 3).T).view("<f8").ravel()
    assert [known[code] for code in body[:5]] == pytest.approx([0.1, np.nan, 0.1, 1e300, np.nan], nan_ok=True, rel=0)
    assert (codes, table) == (0, 1)


def test_many_distinct_numbers_are_single_precision_where_that_holds_them():
    packer = Packer()
    packer.floats(np.random.default_rng(0).random(1000))
    packer.floats(1e60 * np.random.default_rng(0).random(1000))
    assert unpacked(packer)[0]["columns"] == [["f4", 1000], ["f8", 1000]]


def test_empty_columns_are_columns():
    packer = Packer()
    packer.texts([])
    packer.counts([])
    packer.floats([])
    assert unpacked(packer)[0]["columns"] == [["text", 0], ["u1", 0], ["u1", 0], ["f8", 0]]


def test_the_same_columns_give_the_same_block():
    blocks = set()
    for _ in range(2):
        packer = Packer()
        packer.counts([3])
        blocks.add(packer.packed({}))
    assert len(blocks) == 1
