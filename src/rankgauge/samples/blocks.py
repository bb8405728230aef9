"""
Blocks: samples of the plain form, read as columns and checked together, without an object for each.

A sample is plain if both sides are ids: its ground truth is a list of ids or a map of gains, and what was retrieved is
a list of ids, or of objects with an id and perhaps a score. Most large files hold nothing else. A block with a single
sample that is not plain is left to `read_sample`, which is the one place that says what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, NamedTuple

from rankgauge.policy import DEFAULT_CONTRACT
from rankgauge.samples.records import NO_METADATA, read_metadata
from rankgauge.samples.scalars import NUMBERS, InvalidError
from rankgauge.samples.values import GOLD_KINDS

__all__ = ["Block", "read_block"]

_SIDES = itemgetter("id", "expected_output", "actual_output")
_ID = itemgetter("id")
_IDS = {str}
_NOTHING = type(None)


class Block(NamedTuple):
    """
    Some plain samples, in order; one entry of each column is one sample.

    Attributes:
        ids: The ids of the samples.

        gold: The relevant ids, each once: a list where nothing but relevance is said, a map where gains are.

        retrieved: The retrieved ids, rank 1 first.

        distinct: The same ids without order and repeats.

        ks: The cutoff that each sample brings along, if any.

        tags: The cohorts that each belongs to.
    """

    ids: Sequence[str]
    gold: Sequence[Sequence[str] | Mapping[str, float]]
    retrieved: Sequence[list[str]]
    distinct: Sequence[frozenset[str]]
    ks: Sequence[int | None]
    tags: Sequence[tuple[str, ...]]


def read_block(records: Sequence[Any]) -> Block | None:
    """Return values decoded from JSON as a block, under the default contract; None where one of them is not plain."""
    if set(map(type, records)) != {dict}:
        return None
    try:
        ids, gold, outputs = zip(*map(_SIDES, records), strict=True)
        lists = [output["retrieved"] if type(output) is dict else output for output in outputs]
        metadata = [NO_METADATA if (own := record.get("metadata")) is None else _metadata(own) for record in records]
    except (KeyError, InvalidError):
        return None
    if any("support" in output for output in outputs if type(output) is dict):
        return None
    answers = {type(output.get("answer")) for output in outputs if type(output) is dict}
    if set(map(type, ids)) != _IDS or "" in ids or set(map(type, lists)) != {list} or not answers <= {str, _NOTHING}:
        return None
    retrieved = _retrieved(lists)
    if retrieved is None or not _is_plain(gold):
        return None
    distinct = list(map(frozenset, retrieved))
    if any(map(frozenset.__contains__, distinct, repeat(""))):
        return None
    ks, tags, _ = zip(*metadata, strict=True)
    return Block(ids, gold, retrieved, distinct, ks, tags)


def _metadata(raw: object) -> tuple[int | None, tuple[str, ...], bool]:
    """Return what metadata says of an answerable sample; an `InvalidError` for another one, which is not plain."""
    found = read_metadata(raw, DEFAULT_CONTRACT)
    if not found[2]:
        raise InvalidError(".answerable", "false")
    return found


def _retrieved(lists: Sequence[list[Any]]) -> Sequence[list[str]] | None:
    """Return the ids of retrieved items, which may be objects without a text; None for others."""
    kinds = set(map(type, chain.from_iterable(lists)))
    if kinds <= _IDS:
        return lists
    if kinds != {dict}:
        return None
    items = list(chain.from_iterable(lists))
    try:
        ids = list(map(_ID, items))
    except KeyError:
        return None
    scores = set(map(type, map(dict.get, items, repeat("score"))))  # JSON has only finite ones
    has_texts = any(map(dict.__contains__, items, repeat("text")))
    if set(map(type, ids)) != _IDS or has_texts or not scores <= {*NUMBERS, _NOTHING}:
        return None
    at = 0
    return [ids[at : (at := at + len(each))] for each in lists]


def _is_plain(gold: Sequence[Any]) -> bool:
    """Return whether all ground truth is lists of ids, each listed once, or maps of gains."""
    lists = [each for each in gold if type(each) is list]
    maps = [each for each in gold if type(each) is dict]
    if len(lists) + len(maps) != len(gold) or not set(map(type, chain.from_iterable(lists))) <= _IDS:
        return False
    own = list(map(set, lists))
    if any(len(ids) < len(each) or "" in ids for ids, each in zip(own, lists, strict=True)):
        return False
    gains = set(map(type, chain.from_iterable(each.values() for each in maps)))
    return gains <= NUMBERS and not any("" in each or not each.keys().isdisjoint(GOLD_KINDS) for each in maps)
