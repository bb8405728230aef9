"""
Samples without the documents that a policy leaves out for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import compress
from typing import TypeVar

from rankgauge.exclusions import Excluded, Meeting
from rankgauge.samples.gold_items import GoldSet, Place
from rankgauge.samples.sample_values import Expected, Fault, Output, Sample

__all__ = ["left_out", "meeting", "not_left_out", "with_results"]

V = TypeVar("V")


def left_out(sample: Sample, excluded: Excluded | None) -> Sample:
    """
    Return a sample without what is left out for it, in its output and in its ground truth.

    An item is left out by its id, and by the document in which its place is; texts alone name no document.
    """
    names = excluded.of_query(sample.id) if excluded is not None else frozenset()
    if not names:
        return sample
    output = _output(sample.output, names) if isinstance(sample.output, Output) else sample.output
    return sample._replace(output=output, expected=_expected(sample.expected, names))


def meeting(samples: Iterable[Sample], excluded: Excluded) -> Meeting:
    """Return whether the rankings of some samples, before anything was left out, have any document that is."""
    met = Meeting()
    for sample in samples:
        for output in _whole(sample.output):
            met |= Meeting(not all(not_left_out(output, excluded.names)), next(filter(None, output.ids), ""))
            if met.met:
                return met
    return met


def _whole(output: Output | Fault | None) -> Iterator[Output]:
    """Yield an output and its stages, with all that was retrieved."""
    if isinstance(output, Output):
        yield output.whole or output
        for stage in (output.stages or {}).values():
            yield from _whole(stage.output)


def _output(output: Output, names: AbstractSet[str]) -> Output:
    return with_results(output, not_left_out(output, names), lambda inner: _output(inner, names))


def not_left_out(output: Output, names: AbstractSet[str]) -> list[bool]:
    """Return which results are none of the documents that are left out."""
    places = output.places or [None] * len(output.ids)
    return [
        name not in names and not (isinstance(place, Place) and place.document in names)
        for name, place in zip(output.ids, places, strict=True)
    ]


def with_results(output: Output, kept: Sequence[bool], narrowed: Callable[[Output], Output | Fault]) -> Output:
    """Return an output with the results that are *kept*, and with each of its stages as *narrowed* returns it."""
    stages = output.stages
    if stages is not None:
        stages = {
            name: stage._replace(output=narrowed(stage.output)) if isinstance(stage.output, Output) else stage
            for name, stage in stages.items()
        }
    searches = output.searches
    if searches is not None:
        searches = searches._replace(of_items=list(compress(searches.of_items, kept)))
    return output._replace(
        ids=list(compress(output.ids, kept)),
        texts=_some(output.texts, kept),
        scores=_some(output.scores, kept),
        places=_some(output.places, kept),
        metadata=_some(output.metadata, kept),
        stages=stages,
        searches=searches,
        whole=output.whole or output,
    )


def _some(column: Sequence[V] | None, kept: Sequence[bool]) -> list[V] | None:
    return None if column is None else list(compress(column, kept))


def _expected(expected: Expected, names: AbstractSet[str]) -> Expected:
    spans, sets, others = expected.spans, expected.sets, expected.other_sets
    in_sets = {"spans": {str(span) for span in spans or () if span.place.document in names}}
    return expected._replace(
        relevant=_others(expected.relevant, names),
        repeats=_others(expected.repeats, names),
        intents=_others(expected.intents, names),
        metadata=_others(expected.metadata, names),
        spans=None if spans is None else tuple(span for span in spans if span.place.document not in names),
        sets=None if sets is None else _sets(sets, names),
        other_sets=others and {kind: _sets(each, in_sets.get(kind, frozenset())) for kind, each in others.items()},
    )


def _others(by_id: Mapping[str, V] | None, names: AbstractSet[str]) -> dict[str, V] | None:
    return None if by_id is None else {name: value for name, value in by_id.items() if name not in names}


def _sets(sets: Sequence[GoldSet], names: AbstractSet[str]) -> tuple[GoldSet, ...]:
    return tuple(filter(None, (_set(each, names) for each in sets)))


def _set(given: GoldSet, names: AbstractSet[str]) -> GoldSet | None:
    """Return a set without the items that are left out; None if nothing is left of it."""
    items = [_set(item, names) if isinstance(item, GoldSet) else item for item in given.items]
    kept = tuple(item for item in items if item is not None and item not in names)
    return GoldSet(given.needs, kept) if kept else None
