"""
Blocks: samples of the plain form, read as columns and checked together, without an object for each.

A sample is plain if both sides have ids, in any form: its ground truth lists relevant ids or their gains, alone or
beside kinds that are texts, and what was retrieved is a list of ids, or of objects that all have one. Most large files
hold nothing else. A block with a single sample that is not plain is left to `read_sample`, which is the one place that
says what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain, pairwise, repeat
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple

import orjson

from rankgauge.policy import DEFAULT_CONTRACT
from rankgauge.samples.ground_truth import read_expected, read_support
from rankgauge.samples.sample_records import read_metadata, unread_gold
from rankgauge.samples.sample_values import GOLD_KINDS, NUMBERS, Expected, InvalidError
from rankgauge.samples.unread_keys import ITEMS, KNOWN, OUTPUT, Unread, unread_keys

__all__ = ["Block", "IdLists", "first_rise", "read_block"]

_SIDES = itemgetter("id", "expected_output", "actual_output")
_ID = itemgetter("id")
_SCORE = itemgetter("score")
_JUDGMENT = itemgetter("id", "gain")
_OF_OBJECTS = frozenset({"nuggets", "spans"})
_OPTIONAL = frozenset({str, type(None)})
_SCORES = NUMBERS | {type(None)}
_KINDS = frozenset(GOLD_KINDS)


class IdLists(NamedTuple):
    """A list of ids for each of some samples, without an object for each id."""

    joined: bytes  # all ids, each with a line end behind it, which no id holds
    counts: Sequence[int]  # how many ids each sample has


Rise = tuple[str, int, float, float]
"""A sample, a rank from 1, and the scores there and at the next."""


class Block(NamedTuple):
    """Some plain samples, in order; one entry of each column is one sample."""

    ids: Sequence[str]
    gold: IdLists  # the relevant ids, each once
    gains: Sequence[float] | None  # what each of them gains, if any sample says so
    graded: Sequence[int]  # the places of the samples whose ground truth is a map of gains
    retrieved: IdLists  # rank 1 first
    ks: Sequence[int | None]  # the cutoff that each sample brings along, if any
    tags: Sequence[tuple[str, ...]]  # the cohorts that each belongs to
    unread: frozenset[Unread] = frozenset()  # keys that nothing reads
    rises: tuple[Rise, ...] = ()  # the first place where a score is higher than the one before it, if there is one
    more: Mapping[int, Expected] = MappingProxyType({})  # the ground truth of samples that have more than ids, by place

    @classmethod
    def together(cls, blocks: Sequence[Block]) -> Block:
        """Put blocks together, one after the other."""
        if len(blocks) == 1:
            return blocks[0]
        gains, graded, before = None, [], 0
        more: dict[int, Expected] = {}
        if any(block.gains is not None for block in blocks):
            gains = [gain for block in blocks for gain in block.gains or (1.0,) * sum(block.gold.counts)]
        for block in blocks:
            graded += [before + place for place in block.graded]
            more |= {before + place: expected for place, expected in block.more.items()}
            before += len(block.ids)
        return cls(
            [name for block in blocks for name in block.ids],
            _together([block.gold for block in blocks]),
            gains,
            graded,
            _together([block.retrieved for block in blocks]),
            [k for block in blocks for k in block.ks],
            [tags for block in blocks for tags in block.tags],
            frozenset().union(*(block.unread for block in blocks)),
            tuple(chain.from_iterable(block.rises for block in blocks))[:1],
            more,
        )


def _together(lists: Sequence[IdLists]) -> IdLists:
    joined, counts = zip(*lists, strict=True)
    return IdLists(b"".join(joined), list(chain.from_iterable(counts)))


def read_block(records: Sequence[Any]) -> Block | None:
    """Return values decoded from JSON as a block, under the default contract; None where one of them is not plain."""
    try:
        return _block(records)
    except (_OddError, InvalidError, KeyError, orjson.JSONDecodeError):
        return None


class _OddError(Exception):
    """A sample that is not plain."""


def _block(records: Sequence[Any]) -> Block:
    """Return a block; an error that `read_block` knows where a sample is not plain."""
    _expect({dict}, records)
    ids, truths, outputs = zip(*map(_SIDES, records), strict=True)
    _expect({str}, ids)
    if "" in ids:
        raise _OddError
    if str in set(map(type, outputs)):
        outputs = tuple(orjson.loads(output) if type(output) is str else output for output in outputs)
    retrieved, unread, rises = _retrieved(list(map(_items, outputs)), ids)
    ks: Sequence[int | None] = (None,) * len(ids)
    tags: Sequence[tuple[str, ...]] = ((),) * len(ids)
    if any(map(dict.__contains__, records, repeat("metadata"))):
        ks, tags = zip(*map(_metadata, records), strict=True)
    gold, more = _relevant(truths)
    graded, gains = _gains(gold)
    unread |= _unread(records, "") | _unread(outputs, OUTPUT)
    unread = unread.union(*(unread_gold(truth) for truth in map(truths.__getitem__, more) if _may_hold_keys(truth)))
    return Block(ids, _joined(gold, list(map(len, gold))), gains, graded, retrieved, ks, tags, unread, rises, more)


def _unread(objects: Iterable[Any], place: str) -> frozenset[Unread]:
    """Return the keys that nothing reads, of those which are objects; looked at once for each form of object."""
    forms = {tuple(each): each for each in objects if type(each) is dict}
    return frozenset().union(*(unread_keys((form,), place) for form in forms.values()))


def _expect(kinds: set[type], values: Iterable[object]) -> None:
    """Raise `_OddError` unless values are of exactly these kinds."""
    if set(map(type, values)) != kinds:
        raise _OddError


def _metadata(record: Mapping[str, Any]) -> tuple[int | None, tuple[str, ...]]:
    """Return the cutoff and the cohorts of a sample that is answerable, as plain ones are."""
    if (metadata := record.get("metadata")) is None:
        return None, ()
    k, tags, is_answerable = read_metadata(metadata, DEFAULT_CONTRACT)
    if not is_answerable:
        raise _OddError
    return k, tags


def _items(output: Any) -> Any:  # noqa: ANN401  # whatever JSON holds
    """Return what an output says was retrieved, if the rest of it can be read."""
    if type(output) is not dict:
        return output
    if len(output) > 1:
        if type(output.get("answer")) not in _OPTIONAL:
            raise _OddError
        if output.get("stages") is not None:
            raise _OddError
        if output.get("support") is not None:
            read_support(output["support"], DEFAULT_CONTRACT)
    return output["retrieved"]


def _retrieved(lists: Sequence[Any], samples: Sequence[str]) -> tuple[IdLists, frozenset[Unread], tuple[Rise, ...]]:
    """Return the ids that were retrieved, as they are or as the ids of objects; what is unread of these, and a rise."""
    _expect({list}, lists)
    first = next(filter(None, lists), [""])[0]
    counts = list(map(len, lists))
    if type(first) is str:
        return _joined(lists, counts), frozenset(), ()
    ids, scores, is_known = _ids_of(list(chain.from_iterable(lists)))
    unread = () if is_known else chain.from_iterable(unread_keys(items, ITEMS) for items in lists)
    return _joined([ids], counts), frozenset(unread), _rises(scores, counts, samples)


def _rises(scores: list[Any], counts: Sequence[int], samples: Sequence[str]) -> tuple[Rise, ...]:
    """Return the first rise of scores within a sample whose items all have one."""
    for sample, count, end in zip(samples, counts, accumulate(counts), strict=True):
        listed = scores[end - count : end]
        if rank := first_rise(listed):
            return ((sample, rank, listed[rank - 1], listed[rank]),)
    return ()


def first_rise(scores: list[Any]) -> int:
    """Return the first rank, from 1, whose score the next exceeds; 0 for none, and where an item has no score."""
    try:
        if scores == sorted(scores, reverse=True):  # the fastest way to ask
            return 0
    except TypeError:
        return 0
    return next((rank for rank, (one, two) in enumerate(pairwise(scores), 1) if one < two), 0)


def _ids_of(items: Sequence[Any]) -> tuple[list[Any], list[Any], bool]:
    """
    Return the ids and scores of retrieved objects, None where there is no score, in few passes: each costs time.

    Also return whether every key of them is certain to be read; texts have to be some, and are not needed.
    """
    try:
        ids = list(map(_ID, items))
    except TypeError:  # no object: nothing else in JSON has a name for an index
        raise _OddError from None
    try:
        scores, fields = list(map(_SCORE, items)), 2
    except KeyError:
        scores, fields = list(map(dict.get, items, repeat("score"))), 1
    if not set(map(type, scores)) <= _SCORES:  # JSON has only finite numbers
        raise _OddError
    if max(map(len, items)) == fields:
        return ids, scores, True
    if not set(map(type, map(dict.get, items, repeat("text")))) <= _OPTIONAL:
        raise _OddError
    return ids, scores, set().union(*items) <= KNOWN[ITEMS]


def _joined(lists: Iterable[Iterable[Any]], counts: Sequence[int]) -> IdLists:
    """Return ids as lists of so many each; an `_OddError` where one of them is no id, or holds a line end."""
    try:
        text = "\n".join(("", *map("\n".join, filter(None, lists)), ""))
        joined = text.encode()
    except (TypeError, UnicodeEncodeError):  # no string, or half a surrogate pair
        raise _OddError from None
    if b"\n\n" in joined or joined.count(b"\n") != sum(counts) + 1:
        raise _OddError
    return IdLists(joined[1:], counts)


def _relevant(truths: Sequence[Any]) -> tuple[Sequence[Any], dict[int, Expected]]:
    """Return the relevant ids of ground truths as lists or maps of gains, and the whole of those that have more."""
    gold, more = list(truths), {}
    for place, truth in enumerate(truths):
        relevant = truth
        if type(truth) is dict and not _KINDS.isdisjoint(truth):
            relevant = gold[place] = truth["relevant"]
        is_alone = relevant is truth or len(truth) == 1
        if is_alone and type(relevant) is list and relevant and type(relevant[0]) is dict:
            if gains := _gains_of(relevant):
                gold[place] = gains
                continue
        elif is_alone:
            continue
        expected = more[place] = read_expected(truth)
        if not expected.relevant:  # its metrics may be judged by texts
            raise _OddError
        gold[place] = expected.relevant if expected.graded else list(expected.relevant)
    lists = [truth for truth in gold if type(truth) is list]
    if _repeats(list(chain.from_iterable(lists))):
        for place, truth in enumerate(gold):
            if type(truth) is list and _repeats(truth):
                expected = more[place] = read_expected(truth)
                gold[place] = list(expected.relevant or ())
    return gold, more


def _gains_of(entries: Sequence[Any]) -> dict[Any, Any] | None:
    """Return judgments that all are objects of an id and a gain, each id once, as a map of gains; else None."""
    try:
        gains = dict(map(_JUDGMENT, entries))
    except (KeyError, TypeError):
        return None
    return gains if len(gains) == len(entries) and max(map(len, entries)) == 2 else None


def _may_hold_keys(truth: Any) -> bool:  # noqa: ANN401  # whatever JSON holds
    """Return whether ground truth may have objects in it, whose keys are worth a look."""
    return type(truth) is not dict or type(truth.get("relevant")) is list or not _OF_OBJECTS.isdisjoint(truth)


def _gains(gold: Sequence[Any]) -> tuple[Sequence[int], Sequence[float] | None]:
    """Return which ground truths are maps of gains, and all gains; the others must be lists."""
    kinds = set(map(type, gold))
    if kinds == {list}:
        return (), None
    if not kinds <= {list, dict}:
        raise _OddError
    graded = [place for place, truth in enumerate(gold) if type(truth) is dict]
    gains = [gain for truth in gold for gain in (truth.values() if type(truth) is dict else (1.0,) * len(truth))]
    if not set(map(type, gains)) <= NUMBERS:
        raise _OddError
    return graded, gains


def _repeats(ids: Sequence[Any]) -> bool:
    """Return whether a list repeats an id; an `_OddError` where one of them is no id."""
    try:
        return len(set(ids)) < len(ids)
    except TypeError:
        raise _OddError from None
