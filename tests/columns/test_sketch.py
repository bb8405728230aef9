"""Sketches of retrieved ids: exact for few, a fair estimate for many, the same in any order and cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.columns import IdSketch, IdSketcher


def sketch(*batches: list[str]) -> IdSketch:
    sketcher = IdSketcher()
    for batch in batches:
        sketcher.add_texts(batch)
    return sketcher.sketch()


def numbered(first: int, last: int, form: str = "doc-{}") -> list[str]:
    return [form.format(number) for number in range(first, last)]


def test_of_few_ids_it_has_all_and_shares_are_exact() -> None:
    before, after = sketch(["a", "b", "c", "b"]), sketch(["b", "c", "d", "e", "f"])
    assert len(before.hashes) == 3
    assert after.new_share(before) == 3 / 5
    assert before.new_share(after) == 1 / 3
    assert after.new_share(after) == 0.0


def test_nothing_retrieved_says_nothing() -> None:
    assert sketch([]).new_share(sketch(["a"])) is None
    assert sketch(["a"]).new_share(sketch([])) == 1.0


def test_items_without_an_id_are_left_out() -> None:
    sketcher = IdSketcher()
    sketcher.add_texts([None, "a", None])
    assert sketcher.sketch() == sketch(["a"])


@pytest.mark.parametrize("form", ["{}", "doc-{}", "D{:08d}", "clueweb09-en{:04d}-00-00000"])
def test_of_many_ids_shares_are_estimated_whatever_ids_look_like(form: str) -> None:
    """A third of 30,000 ids is new; the standard error of 1,024 draws is 0.015, of which four are allowed."""
    before, after = sketch(numbered(0, 30_000, form)), sketch(numbered(10_000, 40_000, form))
    assert len(before.hashes) == 1024
    assert after.new_share(before) == pytest.approx(1 / 3, abs=0.06)


def test_a_small_run_is_compared_with_a_large_one_over_the_hashes_that_both_sampled() -> None:
    """Of 2,000 ids about 68 lie below the 1,024th of 30,000; none or all of them are new."""
    large = sketch(numbered(0, 30_000))
    assert sketch(numbered(0, 2_000)).new_share(large) == 0.0
    assert sketch(numbered(50_000, 52_000)).new_share(large) == 1.0
    assert sketch(numbered(50_000, 50_020)).new_share(large) is None  # too few of them to tell


@given(st.lists(st.text(max_size=12), max_size=40), st.data())
def test_order_and_batches_do_not_matter(ids: list[str], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(ids))
    cut = data.draw(st.integers(0, len(ids)))
    whole = sketch(ids)
    assert sketch(shuffled[:cut], shuffled[cut:]) == whole
    assert sketch(shuffled[:cut]).merged(sketch(shuffled[cut:])) == whole
    assert IdSketch.from_dict(whole.to_dict()) == whole


def test_many_batches_keep_the_smallest_hashes() -> None:
    ids = numbered(0, 5_000)
    pieces = [ids[start : start + 700] for start in range(0, 5_000, 700)]
    assert sketch(*pieces, *reversed(pieces)) == sketch(ids)
    assert sketch(ids[:2_500]).merged(sketch(ids[2_500:])) == sketch(ids)


def hashed(text: str) -> int:
    """Restate the hash of an id in plain integers: its words mixed in turn, then the finalizer of splitmix64."""
    mask = 2**64 - 1
    data = text.encode()
    key = int.from_bytes(data[:8], "little") * 0x9E3779B97F4A7C15 & mask
    key ^= key >> 29
    for start in range(8, len(data), 8):
        key = (key ^ int.from_bytes(data[start : start + 8], "little")) * 0xC2B2AE3D27D4EB4F & mask
        key ^= key >> 31
    key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9 & mask
    key = (key ^ key >> 27) * 0x94D049BB133111EB & mask
    return key ^ key >> 31


@pytest.mark.parametrize("text", ["d", "doc-1", "eight8by", "nine9byte", "überlang-und-mehr-als-acht-Bytes"])
def test_saved_hashes_stay_what_they_are(text: str) -> None:
    """A committed baseline holds them: if these change, every id of every baseline looks new."""
    assert sketch([text]).hashes == (hashed(text),)


def test_relevant_ids_and_those_found_are_counted(judged) -> None:
    """Three ids are relevant (gain above 0), one of which is retrieved, twice; the grade of `x` is 0."""
    sketcher = IdSketcher()
    sketcher.count_gold(judged((["a", "x", "a"], {"a": 1, "b": 2, "x": 0}), (["y"], {"c": 1})))
    assert (sketcher.sketch().gold, sketcher.sketch().found) == (3, 1)
    assert sketcher.sketch().found_share == 1 / 3
    assert IdSketch().found_share is None
