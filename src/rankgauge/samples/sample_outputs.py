"""
Outputs: reading `actual_output`, and what is kept of each call of a system under test.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import accumulate, chain, repeat
from operator import contains, itemgetter
from typing import Any, NamedTuple

import orjson

from rankgauge.policy import DEFAULT_CONTRACT, Contract
from rankgauge.samples.gold_nuggets import read_support
from rankgauge.samples.gold_spans import are_plain_places, read_place
from rankgauge.samples.library_items import MARKS, library_item, output_of_library
from rankgauge.samples.output_steps import difference, read_amount, read_searches, read_stages, unread_in_steps
from rankgauge.samples.sample_values import (
    Fault,
    InvalidError,
    Misplaced,
    Output,
    Place,
    Searches,
    are_strings,
    as_digits,
    in_quotes,
    is_absent,
    is_finite_number,
    is_real,
    lacks_key,
    look,
    read_id,
)
from rankgauge.samples.unread_keys import (
    ITEMS,
    KNOWN,
    OUTPUT,
    Unread,
    keys_of,
    of_object,
    unread_among,
    unread_keys,
    usual,
)

__all__ = [
    "TIMED_OUT",
    "CallError",
    "ItemColumns",
    "KeptOutput",
    "are_scores",
    "by_score",
    "ids_and_scores",
    "is_alone",
    "item_columns",
    "items_of",
    "listed_items",
    "parts_of",
    "read_output",
    "read_outputs",
]

_NOTHING = type(None)
_TEXT = frozenset({str, _NOTHING})
_SCORES = frozenset({float, _NOTHING})
_ID, _SCORE = itemgetter("id"), itemgetter("score")
_SPENT = frozenset({"seconds", "bytes", "cost"})
_FORM = "the output must be a list, or an object with a 'retrieved' list"


def read_output(raw: object, *, contract: Contract = DEFAULT_CONTRACT) -> Output | Fault:
    """Read an output, as a JSON value or JSON text, or return the fault that makes it unusable."""
    if isinstance(raw, str | bytes):
        try:
            raw = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            advice = (
                "an answer is {'answer': '...'}, which --field actual_output.answer=actual_output makes of a string"
            )
            return Fault(f"the output is a string that is not valid JSON: {error}; {advice}")
    raw = output_of_library(raw) or raw
    if isinstance(raw, Mapping) and not contract.coerce and are_scores(raw):
        raw = by_score(raw)
    if isinstance(raw, Mapping) and raw.get("searches") is not None:
        return _searched(raw, contract)
    if isinstance(raw, Mapping) and raw.get("stages") is not None:
        return _staged(raw, contract)
    return _read(raw, contract)


def are_scores(raw: Mapping[Any, Any]) -> bool:
    """Return whether an object is a ranking as ``{id: score}``: it has nothing but numbers, and no key of outputs."""
    if not raw or not all(map(is_real, raw.values())):
        return False
    return KNOWN[OUTPUT].isdisjoint(raw) and not any(isinstance(key, str) and usual(OUTPUT, key) for key in raw)


def by_score(scores: Mapping[Any, Any]) -> list[dict[str, Any]]:
    """Return scores by id as a ranking, equal ones by descending id as in every run."""
    ranking = sorted(scores.items(), key=lambda pair: (pair[1], str(pair[0])), reverse=True)
    return [{"id": name, "score": score} for name, score in ranking]


def _searched(raw: Mapping[Any, Any], contract: Contract) -> Output | Fault:
    """Read an output of several searches as one ranking: what each returned, in their order."""
    try:
        searches, unread = read_searches(raw)
    except InvalidError as invalid:
        return Fault(invalid.message, unread_in_steps(raw, "searches"))
    read = _read({**raw, "retrieved": list(chain.from_iterable(searches))}, contract)
    if isinstance(read, Fault):
        each = (_ranked(items, contract) for items in searches)
        wrong = (f"searches[{at}].{own.reason}" for at, own in enumerate(each) if isinstance(own, Fault))
        return read._replace(reason=next(wrong, read.reason))
    of_items = [number for number, items in enumerate(searches, 1) for _ in items]
    return read._replace(unread=read.unread + unread, searches=Searches(len(searches), of_items))


def _staged(raw: Mapping[Any, Any], contract: Contract) -> Output | Fault:
    """Read an output that tells its stages; the last one is what was retrieved."""
    try:
        stages, unread = read_stages(raw["stages"], contract, _ranked)
    except InvalidError as invalid:
        return Fault(invalid.message, unread_in_steps(raw, "stages"))
    name, last = list(stages.items())[-1]
    is_told = raw.get("retrieved") is not None
    read = _read({**raw, "retrieved": raw["retrieved"] if is_told else []}, contract)
    if isinstance(read, Fault):
        return read
    if isinstance(last.output, Fault):
        return last.output
    if is_told and (reason := difference(read, last.output, name)):
        return Fault(reason, read.unread)
    shown = read if is_told else last.output
    shown = shown._replace(answer=read.answer, support=read.support, spent=read.spent, remarks=read.remarks)
    return shown._replace(unread=read.unread + unread, stages=stages)


_STEPS = frozenset({"searches", "stages"})
_ALONE = {"retrieved"}
_FEWEST = 8
"""So few outputs are not looked at together once more."""


def read_outputs(raws: Sequence[object], *, contract: Contract = DEFAULT_CONTRACT) -> list[Output | Fault | None]:
    """Return what `read_output` does for each, None where there is none; what they retrieved is checked together."""
    lists = list(map(listed_items, raws))
    ranked = iter(_ranked_together(list(filter(None, lists)), contract))
    outputs: list[Output | Fault | None] = []
    for raw, entries in zip(raws, lists, strict=True):
        own = next(ranked) if entries else None
        if own is None:
            outputs.append(None if is_absent(raw) else read_output(raw, contract=contract))
        elif is_alone(raw):
            outputs.append(own)
        else:
            outputs.append(_read(raw, contract, own))
    return outputs


def listed_items(raw: Any) -> list[Any] | None:  # noqa: ANN401  # whatever an output is
    """Return the list of what an output without stages retrieved; None if it is written in another way."""
    if type(raw) is dict and _STEPS.isdisjoint(raw):
        raw = raw.get("retrieved")
    return raw if type(raw) is list else None


def is_alone(raw: Any) -> bool:  # noqa: ANN401  # whatever an output is
    """Return whether an output says nothing but what was retrieved."""
    return type(raw) is list or (type(raw) is dict and raw.keys() == _ALONE)


def _ranked_together(lists: Sequence[list[Any]], contract: Contract) -> Sequence[Output | None]:
    """Return what `_ranked` does for lists of dicts that have the same keys; None for lists that it has to read."""
    items = list(chain.from_iterable(lists))
    if not items or type(items[0]) is not dict:
        return [None] * len(lists)
    columns = item_columns(items, contract)
    if columns is not None:
        return parts_of(columns, list(map(len, lists)))
    if len(lists) <= _FEWEST:
        return [None] * len(lists)
    half = len(lists) // 2
    return [*_ranked_together(lists[:half], contract), *_ranked_together(lists[half:], contract)]


def parts_of(columns: ItemColumns, counts: Sequence[int]) -> list[Output]:
    """Return what samples retrieved that have so many of some items each."""
    whole, ends = columns.output(), accumulate(counts)
    parts = (slice(end - count, end) for end, count in zip(ends, counts, strict=True))
    return [_part(whole, part) if part.start < part.stop else Output([]) for part in parts]


def _part(output: Output, part: slice) -> Output:
    """Return some of the items of an output that has nothing else."""
    ids, texts, scores, _, _, _, unread, places, metadata, *_ = output
    return Output(
        ids[part],
        None if texts is None else texts[part],
        None if scores is None else scores[part],
        unread=unread,
        places=None if places is None else places[part],
        metadata=None if metadata is None else metadata[part],
    )


def _read(raw: object, contract: Contract, ranked: Output | None = None) -> Output | Fault:
    """Read an output without its stages; *ranked* is what it retrieved if that was read before."""
    given = raw if type(raw) is dict or isinstance(raw, Mapping) else None
    unread = () if given is None else unread_among(given.keys(), OUTPUT)
    try:
        answer, support, entries = (None, None, raw) if given is None else _parts(given, contract)
        spent = None if given is None or _SPENT.isdisjoint(given) else _spent(given)
        remarks = () if given is None or given.get("remarks") is None else _remarks(given["remarks"])
    except InvalidError as invalid:
        return Fault(invalid.message, unread)
    is_ranked = entries is not None or given is None
    if not is_ranked:
        is_misspelt = any(key.meant == "retrieved" for key in unread)
        if answer is None and support is None:
            if is_misspelt:
                fault = lacks_key("retrieved", unread)
                return fault._replace(reason=f"{fault.reason}; found {look(raw)}")
            return Fault(f"{_FORM}; found {look(raw)}{_no_score(raw)}", unread, has_no_key=bool(unread))
        entries = ()
    if not isinstance(entries, list | tuple):
        split = "; --separator '|' splits a text" if isinstance(entries, str) else ""
        return Fault(f"{_FORM}; found {look(raw)}{split}", unread)
    read = ranked or _ranked(entries, contract)
    unread += read.unread
    if isinstance(read, Fault):
        return read._replace(unread=unread)
    if answer is None and support is None and spent is None and is_ranked and not (unread or remarks):
        return read
    read = read._replace(answer=answer, support=support, is_ranked=is_ranked)
    return read._replace(unread=unread, spent=spent, remarks=remarks)


def _no_score(raw: object) -> str:
    """Return which value of what looks like ``{id: score}`` is no number; empty for anything else."""
    pairs = list(raw.items()) if isinstance(raw, Mapping) else []
    odd = [(name, score) for name, score in pairs if not is_real(score)]
    if len(odd) == len(pairs) or not odd:
        return ""
    name, score = odd[0]
    return f"; of a ranking as {{id: score}} every value is a number, and that of {name!r} is {look(score)}"


def _ranked(entries: Sequence[Any], contract: Contract) -> Output | Fault:
    """Return what was retrieved."""
    if are_strings(entries):
        if "" in entries:
            return Fault(f"retrieved[{entries.index('')}] is an empty id")
        return Output(entries)
    if (columns := item_columns(entries, contract)) is not None:
        return columns.output()
    are_dicts = set(map(type, entries)) == {dict}
    keys = keys_of(entries) if are_dicts else None
    if keys is None or not MARKS.isdisjoint(keys):
        entries = [library_item(entry) or entry for entry in entries]
        are_dicts = set(map(type, entries)) == {dict}
        keys = keys_of(entries) if are_dicts else None
    unread = unread_keys(entries, ITEMS) if keys is None else unread_among(keys, ITEMS)
    try:
        output = (keys and _plain_entries(entries, keys, contract)) or _read_entries(entries, contract)
        return output._replace(unread=unread) if unread else output
    except InvalidError as invalid:
        return Fault(f"retrieved{invalid.path} {invalid.message}", unread)


def _parts(raw: Mapping[Any, Any], contract: Contract) -> tuple[str | None, dict[str, float] | None, object]:
    """Return the answer, its support of nuggets, and what was retrieved; None if it is not said."""
    answer, entries, support = raw.get("answer"), raw.get("retrieved"), raw.get("support")
    answer = answer if contract.coerce else as_digits(answer)
    if answer is not None and not isinstance(answer, str):
        raise InvalidError("", f"'answer' must be a string, not {look(answer)}{in_quotes(answer)}")
    if entries is None and contract.coerce and (answer is not None or support is not None or not raw):
        entries = []  # the eval-harness scores an output without a ranking as an empty one
    if support is None or contract.coerce:
        return answer, None, entries
    try:
        return answer, read_support(support, contract), entries
    except InvalidError as invalid:
        raise InvalidError("", f"support{invalid.path} {invalid.message}") from None


def _spent(raw: Mapping[Any, Any]) -> dict[str, float] | None:
    """Return what an output says that it took; None if it does not."""
    amounts = {key: amount for key in sorted(_SPENT) if (amount := read_amount(raw, key, "")) is not None}
    return amounts or None


def _remarks(raw: object) -> tuple[str, ...]:
    """Return what a system says of its answer."""
    if not isinstance(raw, list | tuple) or not all(isinstance(remark, str) for remark in raw):
        raise InvalidError("", f"'remarks' must be a list of texts, not {look(raw)}")
    return tuple(raw)


def ids_and_scores(items: Sequence[Any]) -> tuple[list[Any], list[Any], bool]:
    """
    Return the ids and scores of objects, None if there is no score, in few passes: each costs time.

    Also return whether none of them has anything else. A `KeyError` if one has no id.
    """
    ids = list(map(_ID, items))
    try:
        scores, fields = list(map(_SCORE, items)), 2
    except KeyError:
        scores, fields = list(map(dict.get, items, repeat("score"))), 1
    return ids, scores, max(map(len, items)) == fields


def items_of(output: Output) -> list[dict[str, Any]]:
    """Return what was retrieved as objects that are read as the same."""
    nothing = [None] * len(output.ids)
    columns = (output.ids, output.texts or nothing, output.scores or nothing, output.metadata or nothing)
    places = [place._asdict() if isinstance(place, Place) else {} for place in output.places or nothing]
    return [
        {name: value for name, value in zip(_ITEM_KEYS, row, strict=True) if value is not None} | place
        for *row, place in zip(*columns, places, strict=True)
    ]


_ITEM_KEYS = ("id", "text", "score", "metadata")
_KINDS = {"id": str, "text": str, "score": float, "metadata": dict}
_placed = partial(tuple.__new__, Place)  # in half of the time


class ItemColumns(NamedTuple):
    """Items that have the same keys, as columns that were checked as a whole; None for what no item has."""

    n: int
    ids: list[str] | None
    texts: list[str] | None
    scores: list[float] | None
    metadata: list[Mapping[str, Any]] | None
    places: tuple[list[str], list[int], list[int]] | None  # documents, starts and ends
    unread: tuple[Unread, ...]

    def output(self) -> Output:
        """Return them as what one sample retrieved."""
        places = None if self.places is None else list(map(_placed, zip(*self.places, strict=True)))
        ids: list[Any] = self.ids or [None] * self.n
        return Output(ids, self.texts, self.scores, unread=self.unread, places=places, metadata=self.metadata)


def item_columns(items: Sequence[Any], contract: Contract) -> ItemColumns | None:
    """Return objects that have the same keys, as columns; None if one of them is odd, or there is none."""
    if not items or set(map(type, items)) != {dict} or not MARKS.isdisjoint(items[0]):
        return None
    keys = tuple(items[0])
    if not keys or set(map(len, items)) != {len(keys)}:
        return None
    try:  # a pass for each key, which takes half as long as rows that are turned into columns
        columns: dict[Any, list[Any]] = {key: list(map(itemgetter(key), items)) for key in keys}
    except KeyError:
        return None
    if any(set(map(type, columns[key])) != {kind} for key, kind in _KINDS.items() if key in columns):
        return None
    ids, texts, scores, metadata = map(columns.get, ("id", "text", "score", "metadata"))
    places = _places_of(columns) if "start" in columns else None
    is_named = ids is not None or not (contract.strict_ids or (texts is None and places is None))
    is_placed = places is not None or "start" not in columns
    if not (is_named and is_placed) or "" in (ids or ()) or not all(map(math.isfinite, scores or ())):
        return None
    return ItemColumns(len(items), ids, texts, scores, metadata, places, unread_among(columns.keys(), ITEMS))


def _places_of(columns: Mapping[str, list[Any]]) -> tuple[list[str], list[int], list[int]] | None:
    """Return where objects are; None unless all of them have a plain place."""
    documents, starts, ends = (columns.get(name, []) for name in Place._fields)
    return (documents, starts, ends) if are_plain_places(documents, starts, ends) else None


def _plain_entries(entries: Sequence[Any], keys: AbstractSet[Any], contract: Contract) -> Output | None:
    """Return dicts that have an id, a text or a place each, and perhaps a score, as columns; None for any others."""
    places: list[Place | Fault | Misplaced | None] | None = None
    if "start" in keys:
        places = _places(entries, contract)
    ids, texts, scores = (
        list(map(dict.get, entries, repeat(name))) if name in keys else [None] * len(entries)
        for name in ("id", "text", "score")
    )
    id_kinds, text_kinds, score_kinds = (set(map(type, column)) for column in (ids, texts, scores))
    are_placed = text_kinds == {str} or (places is not None and set(map(type, places)) == {Place})
    has_no_ids = id_kinds == {_NOTHING} and are_placed and not contract.strict_ids
    if not (id_kinds == {str} or has_no_ids) or "" in ids or not text_kinds <= _TEXT or not score_kinds <= _SCORES:
        return None
    if float in score_kinds and not all(map(math.isfinite, filter(None, scores))):
        return None
    return Output(
        ids,
        texts if str in text_kinds else None,
        scores if score_kinds != {_NOTHING} else None,
        places=places if places is not None and any(places) else None,
        metadata=_metadata(entries) if "metadata" in keys else None,
    )


def _metadata(entries: Sequence[Any]) -> list[Mapping[str, Any] | None] | None:
    """Return what is known of each of some entries; None if nothing is."""
    if not any(map(contains, entries, repeat("metadata"))):
        return None
    listed = [entry.get("metadata") if isinstance(entry, Mapping) else None for entry in entries]
    return [given if isinstance(given, Mapping) else None for given in listed]


def _read_entries(entries: Sequence[object], contract: Contract) -> Output:
    ids: list[str | None] = []
    texts: list[str | None] = []
    scores: list[float | None] = []
    places = _places(entries, contract)
    for index, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            ids.append(read_id(entry, f"[{index}]", contract))
            texts.append(None)
            scores.append(None)
            continue
        name, text, score = entry.get("id"), entry.get("text"), entry.get("score")
        if text is not None and not isinstance(text, str):
            if not contract.coerce:
                raise InvalidError(f"[{index}].text", f"must be a string, not {look(text)}")
            text = ""
        nameless = text is None and not isinstance(places[index], Place)
        if name is None and (nameless or contract.strict_ids):
            needed = "'id'" if contract.strict_ids else "'id' or a text"
            raise InvalidError(f"[{index}]", f"needs an {needed}; found {look(entry)}{of_object(entry)}")
        is_plain = name is None or (type(name) is str and name)
        ids.append(name if is_plain else read_id(name, f"[{index}].id", contract))
        if score is not None and not is_finite_number(score):
            if not contract.coerce:
                raise InvalidError(f"[{index}].score", f"must be a finite number, not {look(score)}")
            score = None  # the eval-harness ignores every key but id and text
        texts.append(text)
        scores.append(score)
    has_text = any(text is not None for text in texts)
    has_score = any(score is not None for score in scores)
    known = _metadata([entry if isinstance(entry, Mapping) else {} for entry in entries])
    has_place = any(place is not None for place in places)
    return Output(
        ids,
        texts if has_text else None,
        scores if has_score else None,
        metadata=known,
        places=places if has_place else None,
    )


def _places(entries: Sequence[object], contract: Contract) -> list[Place | Fault | Misplaced | None]:
    """Return where each entry is."""
    return [_place(entry, f"retrieved[{index}]", contract) for index, entry in enumerate(entries)]


def _place(entry: object, path: str, contract: Contract) -> Place | Fault | Misplaced | None:
    """
    Return where an item is; None if it does not say: its start is missing, NaN, or -1 for *not found*.

    An item with a text needs no `end`, and without a `document` its text is all that counts. A flaw of a place harms
    only what is judged by places.
    """
    if not isinstance(entry, Mapping):
        return None
    document, start, end = map(entry.get, Place._fields)
    if isinstance(start, Misplaced):
        return start
    text = entry.get("text")
    if _is_missing(start) or (isinstance(text, str) and (is_absent(document) or document == "")):
        return None
    if _is_missing(end):
        end = None if not isinstance(text, str) else start + len(text) if is_real(start) else start  # the flaw
    try:
        return read_place({"document": document, "start": start, "end": end}, path, contract)
    except InvalidError as invalid:
        return Fault(f"{invalid.path} {invalid.message}")


def _is_missing(offset: Any) -> bool:  # noqa: ANN401  # any JSON value, or a number of numpy
    """Return whether an offset is none: null, NaN as tables have it, or below 0 as LangChain says *not found*."""
    return offset is None or (is_real(offset) and not float(offset) >= 0)


TIMED_OUT = "TimeoutError"
"""The type of a call that took too long; what a system raises under this name comes with a traceback."""


class CallError(NamedTuple):
    """Why a call of a system under test gave no output."""

    type: str  # the name of the exception's class, or `TIMED_OUT`; empty if nothing was raised
    message: str  # what the exception said, or a sentence
    traceback: str = ""

    @property
    def reason(self) -> str:
        """Return the reason that the sample's scores are given."""
        is_raised = self.type and (self.traceback or self.type != TIMED_OUT)
        return f"the system under test raised {self.type}: {self.message}" if is_raised else self.message


class KeptOutput(NamedTuple):
    """What a system under test returned for one sample, or why it returned nothing."""

    actual_output: Any = None  # any JSON value; None if the call failed
    error: CallError | None = None
    seconds: float | None = None  # duration of the last attempt, if it is known
    attempt: int = 1  # how many there were
    repeat: int = 1  # which of the calls for this sample it was, if the system was called several times
    further: tuple[KeptOutput, ...] = ()  # those of its later repeats

    @property
    def every(self) -> tuple[KeptOutput, ...]:
        """Return the output of each repeat alone."""
        return (self._replace(further=()), *self.further) if self.further else (self,)

    @classmethod
    def of_repeats(cls, outputs: Iterable[KeptOutput]) -> KeptOutput:
        """Return the outputs of one sample as one value."""
        first, *rest = sorted(outputs, key=lambda output: output.repeat)
        return first._replace(further=tuple(rest))

    def read(self, contract: Contract = DEFAULT_CONTRACT) -> Output | Fault:
        """Return the output as it is judged, or why there is none."""
        if self.error is not None:
            return Fault(self.error.reason)
        output = read_output(self.actual_output, contract=contract)
        if self.seconds is None or isinstance(output, Fault):
            return output
        return output._replace(spent={"seconds": self.seconds, **(output.spent or {})})
