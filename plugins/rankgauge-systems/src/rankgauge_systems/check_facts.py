"""
What `systems check` makes of the answers of an engine: facts, and which of them spoil a comparison.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from rankgauge.text import counted
from rankgauge_systems.check_documents import TWINS, exact, questions
from rankgauge_systems.check_observations import DEPTHS, Observed

__all__ = ["Fact", "Observations", "facts_of"]

Rankings = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of an engine; it *spoils* comparisons where two runs of the same system would differ, or rank wrongly."""

    name: str
    told: str
    spoils: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"fact": self.name, "told": self.told, "spoils": self.spoils}


class Observations(NamedTuple):
    """What an engine answered four times: after loading, after reopening, elsewhere, and elsewhere after loading."""

    first: Observed
    reopened: Observed
    elsewhere: Observed
    loaded_again: Observed


def facts_of(seen: Observations, *, by_vectors: bool, least_recall: float = 0.9) -> Iterator[Fact]:
    """Yield what the answers of an engine show; recall below *least_recall* at depth 10 spoils a comparison."""
    first = seen.first
    yield _scores(first)
    yield _ties(seen)
    yield _more_than_there_are(first, by_vectors=by_vectors)
    yield _nothing(first, by_vectors=by_vectors)
    if by_vectors:
        left_out = counted(first.zeros or 0, "document")
        yield Fact("zeros", f"{left_out} of zeros left out, a question of zeros fails", first.nothing >= 0)
    shares = _shares(seen) if by_vectors else {}
    shortest = DEPTHS[0]
    yield _first_results(first, is_exact=min(shares.get(shortest, [1.0])) == 1)
    for name, other in (
        ("asked again", first.again),
        ("reopened", seen.reopened.rankings[shortest]),
        ("another process", seen.elsewhere.rankings[shortest]),
    ):
        yield _same(name, first.rankings[shortest], other, least=1.0)
    yield _same("loaded again", first.rankings[shortest], seen.loaded_again.rankings[shortest], least=least_recall)
    if shares:
        yield _recall(shares, least_recall)
    lost = [name for name, is_found in first.scripts.items() if not is_found]
    if first.scripts:
        told = f"a word does not find its text in {', '.join(lost)}" if lost else "a word finds its text in all"
        yield Fact(f"{len(first.scripts)} scripts", told)


def _scores(first: Observed) -> Fact:
    every = list(itertools.chain.from_iterable(first.scores))
    finite = [score for score in every if score is not None]
    if len(finite) < len(every):
        return Fact("scores", f"{counted(len(every) - len(finite), 'score')} missing, or no finite number", spoils=True)
    pairs = itertools.chain.from_iterable(itertools.pairwise(scores) for scores in first.scores)
    rising = sum(one < other for one, other in pairs if one is not None and other is not None)
    if rising:
        return Fact("scores", f"rise along rankings {counted(rising, 'time')}", spoils=True)
    return Fact("scores", f"fall; from {max(finite, default=0):.3g} to {min(finite, default=0):.3g}")


def _ties(seen: Observations) -> Fact:
    """Say how an engine itself orders equally good documents; runs see these by id."""
    every, cut = seen.first.twins
    orders = {tuple(found.twins[0]) for found in seen}
    cuts = {frozenset(found.twins[1]) for found in seen}
    if set(every) != set(TWINS):
        return Fact("equal scores", f"only {len(set(every) & set(TWINS))} of {len(TWINS)} equal documents come first")
    known = {TWINS: "as loaded", TWINS[::-1]: "last loaded first", tuple(sorted(TWINS)): "by id"}
    order = known.get(tuple(every), "in an order of its own")
    if len(orders) > 1:
        order = "in another order each time"
    if len(cuts) > 1:
        return Fact("equal scores", f"{order}; which of them a shorter list has differs, too")
    is_prefix = set(cut) == set(every[: len(cut)])
    return Fact("equal scores", order if is_prefix else f"{order}; a shorter list has others of them")


def _more_than_there_are(first: Observed, *, by_vectors: bool) -> Fact:
    most = DEPTHS[-1]
    wanted = [len(exact(question, by_vectors=by_vectors)) for question in questions()]
    got = list(map(len, first.rankings[most]))
    if got == wanted:
        return Fact("k above the corpus", "all documents" if by_vectors else "all documents with one of the words")
    least = min(one / other for one, other in zip(got, wanted, strict=True))
    return Fact("k above the corpus", f"as few as {least:.0%} of what there is", spoils=by_vectors)


def _nothing(first: Observed, *, by_vectors: bool) -> Fact:
    if by_vectors:
        return Fact("no good answer", "k documents, however far")
    told = "nothing" if not first.nothing else f"{counted(first.nothing, 'document')}"
    return Fact("no good answer", told)


def _first_results(first: Observed, *, is_exact: bool) -> Fact:
    """Say whether the first results of a long list are those of a short one, as they have to be of an exact search."""
    short, long = first.rankings[DEPTHS[0]], first.rankings[DEPTHS[1]]
    changed = sum(list(one) != list(other)[: len(one)] for one, other in zip(short, long, strict=True))
    if not changed:
        return Fact("first results", "do not depend on k")
    return Fact("first results", f"depend on k for {changed} of {counted(len(short), 'question')}", spoils=is_exact)


def _same(name: str, one: Rankings, other: Rankings, *, least: float) -> Fact:
    """Say whether rankings are the same; they spoil a comparison where they share fewer documents than *least*."""
    changed = sum(list(a) != list(b) for a, b in zip(one, other, strict=True))
    if not changed:
        return Fact(name, "the same rankings")
    shared = fmean(_overlaps(one, other))
    told = f"other rankings for {changed} of {counted(len(one), 'question')}; the lists share {shared:.0%}"
    return Fact(name, told, spoils=least == 1 or fmean(_overlaps(one, other)) < least)


def _overlaps(one: Rankings, other: Rankings) -> list[float]:
    return [len(set(a) & set(b)) / max(len(a), 1) for a, b in zip(one, other, strict=True)]


def _shares(seen: Observations) -> dict[int, list[float]]:
    """Return which share of an exact search is found by depth, the lowest and highest of two indexes."""
    wanted = [exact(question, by_vectors=True) for question in questions()]
    return {
        depth: sorted(
            fmean(
                len(set(found) & set(names[:depth])) / min(depth, len(names))
                for found, names in zip(observed.rankings[depth], wanted, strict=True)
            )
            for observed in (seen.first, seen.loaded_again)
        )
        for depth in DEPTHS
    }


def _recall(shares: Mapping[int, Sequence[float]], least: float) -> Fact:
    told = [
        f"{low:.3f} at {depth}" if low == high else f"{low:.3f} to {high:.3f} at {depth}"
        for depth, (low, high) in shares.items()
    ]
    return Fact("recall of exact search", ", ".join(told), shares[DEPTHS[0]][0] < least)
