"""
Blocks: samples of the plain form, read as columns and checked together, without an object for each.

A sample is plain if both sides have ids, in any form: its ground truth lists relevant ids or their gains, alone or
beside kinds that are texts, and what was retrieved is a list of ids, or of objects that all have one. Most large files
hold nothing else. A block with a single sample that is not plain is left to `read_sample`, which is the one place that
says what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice, pairwise, repeat
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple

import orjson

from rankgauge.policy import DEFAULT_CONTRACT
from rankgauge.samples.built_in_kinds import GOLD_KINDS, KINDS
from rankgauge.samples.gold_nuggets import read_support
from rankgauge.samples.ground_truth import read_expected
from rankgauge.samples.library_items import MARKS, library_item
from rankgauge.samples.sample_outputs import ids_and_scores
from rankgauge.samples.sample_records import read_metadata, unread_gold
from rankgauge.samples.sample_values import NUMBERS, Expected, InvalidError, is_dotted
from rankgauge.samples.unread_keys import ITEMS, KNOWN, OUTPUT, Unread, unread_keys

__all__ = ["Block", "IdLists", "IdOutput", "IdOutputs", "first_rise", "read_block", "read_id_outputs"]

_SIDES = itemgetter("id", "expected_output")
_OUTPUT = itemgetter("actual_output")
_FIRST = itemgetter(0)
_LIST = itemgetter("retrieved")
_ROW = itemgetter("id", "actual_output")
_JUDGMENT = itemgetter("id", "gain")
_OF_OBJECTS = frozenset(name for name, kind in KINDS.items() if kind.has_keys)
_OPTIONAL = frozenset({str, type(None)})
_SCORES = NUMBERS | {type(None)}
_KINDS = frozenset(GOLD_KINDS)
_OF_CALLS = frozenset({"error", "attempt", "repeat"})


class IdLists(NamedTuple):
    """A list of ids for each of some samples, without an object for each id."""

    joined: bytes  # all ids, each with a line end behind it, which no id holds
    counts: Sequence[int]  # how many ids each sample has


Rise = tuple[str, int, float, float]
"""A sample, a rank from 1, and the scores there and at the next."""


class IdOutput(NamedTuple):
    """What was retrieved for one sample."""

    joined: bytes  # as in `IdLists`
    size: int
    rise: Rise | None  # the first place where a score is higher than the one before it


class IdOutputs(NamedTuple):
    """Outputs that are in a file of their own and all plain."""

    by_id: Mapping[str, IdOutput]
    unread: frozenset[Unread]  # keys that nothing reads


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
    replaced: int = 0  # how many samples have an output beside the one that is attached to them

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
            sum(block.replaced for block in blocks),
        )


def _together(lists: Sequence[IdLists]) -> IdLists:
    joined, counts = zip(*lists, strict=True)
    return IdLists(b"".join(joined), list(chain.from_iterable(counts)))


class _OddError(Exception):
    """A sample that is not plain."""


_ODD = (_OddError, InvalidError, KeyError, orjson.JSONDecodeError)


def read_block(records: Sequence[Any], attached: IdOutputs | None = None) -> Block | None:
    """
    Return values decoded from JSON as a block, under the default contract; None if one of them is not plain.

    Outputs that are *attached* replace those of the samples, all of which need one then.
    """
    try:
        return _block(records, attached)
    except _ODD:
        return None


def read_id_outputs(rows: Sequence[Any]) -> IdOutputs | None:
    """Return decoded rows of an outputs file, under the default contract; None if one of them is not plain."""
    try:
        ids, outputs = _columns(rows, _ROW)
        if not _OF_CALLS.isdisjoint(chain.from_iterable(rows)):
            raise _OddError
        lists, unread, rises = _outputs(outputs, ids)
    except _ODD:
        return None
    names, of_sample = iter(lists.joined.split(b"\n")), {rise[0]: rise for rise in rises}
    joined = [b"\n".join([*islice(names, count), b""]) for count in lists.counts]
    by_id = dict(zip(ids, map(IdOutput, joined, lists.counts, map(of_sample.get, ids)), strict=True))
    return IdOutputs(by_id, unread) if len(by_id) == len(ids) else None


def _columns(records: Sequence[Any], fields: itemgetter[Any]) -> Sequence[Sequence[Any]]:
    """Return fields of records, of which the first is an id."""
    _expect({dict}, records)
    columns = list(zip(*map(fields, records), strict=True))
    _expect({str}, columns[0])
    if "" in columns[0]:
        raise _OddError
    return columns


def _block(records: Sequence[Any], attached: IdOutputs | None) -> Block:
    """Return a block; one of the `_ODD` errors if a sample is not plain."""
    ids, truths = _columns(records, _SIDES)
    replaced = 0
    if attached is None:
        retrieved, unread, found = _outputs(list(map(_OUTPUT, records)), ids)
        rises = tuple(islice(found, 1))
    else:
        joined, counts, of_sample = zip(*map(attached.by_id.__getitem__, ids), strict=True)
        retrieved, unread, rises = IdLists(b"".join(joined), counts), attached.unread, tuple(filter(None, of_sample))
        replaced = sum(output is not None for output in map(dict.get, records, repeat("actual_output")))
    ks: Sequence[int | None] = (None,) * len(ids)
    tags: Sequence[tuple[str, ...]] = ((),) * len(ids)
    if any(map(dict.__contains__, records, repeat("metadata"))):
        ks, tags = zip(*map(_metadata, records), strict=True)
    gold, more = _relevant(truths)
    graded, gains = _gains(gold)
    unread |= _unread(records, "")
    unread = unread.union(*(unread_gold(truth) for truth in map(truths.__getitem__, more) if _may_hold_keys(truth)))
    relevant = _joined(gold, list(map(len, gold)))
    return Block(ids, relevant, gains, graded, retrieved, ks, tags, unread, rises[:1], more, replaced)


def _outputs(outputs: Sequence[Any], samples: Sequence[str]) -> tuple[IdLists, frozenset[Unread], Iterator[Rise]]:
    """Return what was retrieved, what is unread of it, and the rises."""
    if str in set(map(type, outputs)):
        outputs = [orjson.loads(output) if type(output) is str else output for output in outputs]
    is_alone = set(map(type, outputs)) == {dict} and set(map(len, outputs)) == {1}
    retrieved, unread, rises = _retrieved(list(map(_LIST if is_alone else _items, outputs)), samples)
    return retrieved, unread | _unread(outputs, OUTPUT), rises


def _unread(objects: Iterable[Any], place: str) -> frozenset[Unread]:
    """Return the keys that nothing reads, of those which are objects; looked at once for each form of object."""
    objects = [each for each in objects if type(each) is dict]
    keys = set().union(*objects)
    if keys <= KNOWN[place]:
        return frozenset()
    if not place and any(map(is_dotted, keys)):
        raise _OddError  # names that lead into the objects of a sample
    forms = {tuple(each): each for each in objects}
    return frozenset().union(*(unread_keys((form,), place) for form in forms.values()))


def _expect(kinds: set[type], values: Iterable[object]) -> None:
    """Raise `_OddError` unless values are of exactly these kinds."""
    if set(map(type, values)) != kinds:
        raise _OddError


def _metadata(record: Mapping[str, Any]) -> tuple[int | None, tuple[str, ...]]:
    """Return the cutoff and the cohorts of a sample that is answerable and asked at any time, as plain ones are."""
    if (metadata := record.get("metadata")) is None:
        return None, ()
    k, tags, is_answerable = read_metadata(metadata, DEFAULT_CONTRACT)
    if not is_answerable or metadata.get("asked_at") is not None:
        raise _OddError
    return k, tags


def _items(output: Any) -> Any:  # noqa: ANN401  # whatever JSON holds
    """Return what an output says was retrieved, if the rest of it can be read."""
    if type(output) is not dict:
        return output
    if len(output) > 1:
        if type(output.get("answer")) not in _OPTIONAL:
            raise _OddError
        if any(output.get(key) is not None for key in ("stages", "searches", "remarks")):
            raise _OddError
        if output.get("support") is not None:
            read_support(output["support"], DEFAULT_CONTRACT)
    return output["retrieved"]


def _retrieved(lists: Sequence[Any], samples: Sequence[str]) -> tuple[IdLists, frozenset[Unread], Iterator[Rise]]:
    """Return the ids that were retrieved, as they are or as those of objects; what is unread of these, and rises."""
    _expect({list}, lists)
    first = next(filter(None, lists), [""])[0]
    counts = list(map(len, lists))
    if type(first) is str:
        return _joined(lists, counts), frozenset(), iter(())
    ids, scores, is_known = _ids_of(list(chain.from_iterable(lists)))
    unread = () if is_known else chain.from_iterable(unread_keys(items, ITEMS) for items in lists)
    return _joined([ids], counts), frozenset(unread), _rises(scores, counts, samples)


def _rises(scores: list[Any], counts: Sequence[int], samples: Sequence[str]) -> Iterator[Rise]:
    """Yield the first rise of scores within each sample whose items all have one."""
    for sample, count, end in zip(samples, counts, accumulate(counts), strict=True):
        listed = scores[end - count : end]
        if rank := first_rise(listed):
            yield sample, rank, listed[rank - 1], listed[rank]


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
    Return the ids and scores of retrieved objects, None if there is no score.

    Also return whether every key of them is certain to be read; texts have to be some, and are not needed.
    """
    try:
        ids, scores, is_all = ids_and_scores(items)
    except TypeError:  # no object: nothing else in JSON has a name for an index
        raise _OddError from None
    if not set(map(type, scores)) <= _SCORES:  # JSON has only finite numbers
        raise _OddError
    if is_all:
        return ids, scores, True
    if not set(map(type, map(dict.get, items, repeat("text")))) <= _OPTIONAL:
        raise _OddError
    keys = set().union(*items)
    if not keys.isdisjoint(MARKS) and any(map(library_item, items)):
        raise _OddError
    return ids, scores, keys <= KNOWN[ITEMS]


def _joined(lists: Iterable[Iterable[Any]], counts: Sequence[int]) -> IdLists:
    """Return ids as lists of so many each; an `_OddError` if one of them is no id, or holds a line end."""
    ids: list[Any] = []
    try:
        for each in lists:
            ids += each  # and then one text of all, which takes half the time of a text for each
        if not all(ids):  # quicker than a look for two line ends in a row
            raise _OddError
        ids.append("")
        joined = "\n".join(ids).encode()
    except (TypeError, UnicodeEncodeError):  # no string, or half a surrogate pair
        raise _OddError from None
    if joined.count(b"\n") != sum(counts):
        raise _OddError
    return IdLists(joined, counts)


def _relevant(truths: Sequence[Any]) -> tuple[Sequence[Any], dict[int, Expected]]:
    """Return the relevant ids of ground truths as lists or maps of gains, and the whole of those that have more."""
    gold, more = list(truths), {}
    for place, truth in () if _are_bare(truths) else enumerate(truths):
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


def _are_bare(truths: Sequence[Any]) -> bool:
    """Return whether ground truths all are lists of no objects, or all maps of nothing but gains."""
    kinds = set(map(type, truths))
    if kinds == {list}:
        return dict not in set(map(type, map(_FIRST, filter(None, truths))))
    return kinds == {dict} and _KINDS.isdisjoint(chain.from_iterable(truths))


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
    """Return whether a list repeats an id; an `_OddError` if one of them is no id."""
    try:
        return len(set(ids)) < len(ids)
    except TypeError:
        raise _OddError from None
