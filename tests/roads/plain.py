"""The ranking policy restated in plain Python, item by item, with four metrics on what it leaves of a ranking."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, groupby, permutations, product

from rankgauge import Policy, Profile
from roads.case import Item, Query
from roads.filters import plainly_filtered

__all__ = ["is_relevant", "plain_scores"]


def plain_scores(query: Query, profile: Profile) -> dict[str, Fraction] | None:
    """Return the scores of a ranking, by column; None where the policy refuses it."""
    if profile.policy.excluded is not None:
        names = profile.policy.excluded.of_query(query.name)
        query = query._replace(grades={name: grade for name, grade in query.grades.items() if name not in names})
    possible = _orders(query, profile)
    if possible is None:
        return None
    wanted = sum(is_relevant(query, document, profile) for document in query.grades)
    totals = dict.fromkeys(("p@3", "hit@1", "rr", "ap"), Fraction(0))
    for order in possible:
        found = _earned(query, order, profile)
        ranks = [rank for rank, earns in enumerate(found, 1) if earns]
        totals["p@3"] += Fraction(sum(found[:3]), 3)
        totals["hit@1"] += any(found[:1])
        totals["rr"] += Fraction(1, ranks[0]) if ranks else 0
        totals["ap"] += sum(Fraction(place, rank) for place, rank in enumerate(ranks, 1)) / max(wanted, 1)
    return {name: total / len(possible) for name, total in totals.items()}


def _orders(query: Query, profile: Profile) -> list[list[str]] | None:
    """Return the documents in each order that the policy takes into account, which is one but for ties=average."""
    policy = profile.policy
    items = list(query.ranking or ())
    if policy.score_dtype == "float32":
        items = [(document, _c_float(score)) for document, score in items]
    if policy.excluded is not None:
        items = [item for item in items if item[0] not in policy.excluded.of_query(query.name)]
    for each in policy.filters:
        kept = plainly_filtered([items[place] for place in _ranked(items, policy)], str(each))
        items = [item for item in items if any(item is other for other in kept)]
    if policy.exclude_self:
        items = [item for item in items if item[0] != query.name]
    settled = _without_repeats(items, policy.duplicates)
    if settled is None:
        return None
    ties = [[item] for item in settled]
    if policy.order == "score":
        by_score = sorted(settled, key=lambda item: -item[1])
        ties = [list(tie) for _, tie in groupby(by_score, key=lambda item: item[1])]
        if policy.ties == "docno":
            ties = [sorted(tie, key=lambda item: item[0].encode(), reverse=True) for tie in ties]
        if policy.ties == "error" and any(_is_refused(query, tie, profile) for tie in _within(ties, policy.depth)):
            return None
    averaged = policy.order == "score" and policy.ties == "average"
    found = product(*map(permutations, ties)) if averaged else [ties]
    return [_cut(query, [document for document, _ in chain.from_iterable(order)], profile) for order in found]


def _ranked(items: Sequence[Item], policy: Policy) -> list[int]:
    """Return the places of items in order of rank, ties by id unless they stay as given."""
    places = list(range(len(items)))
    if policy.order == "given":
        return places
    if policy.ties != "given":
        places.sort(key=lambda place: items[place][0].encode(), reverse=True)
    return sorted(places, key=lambda place: -items[place][1])


def _earned(query: Query, order: Sequence[str], profile: Profile) -> list[bool]:
    """Return at which ranks something relevant earns."""
    once = profile.policy.duplicates == "credit-once"
    return [
        is_relevant(query, document, profile) and not (once and document in order[:place])
        for place, document in enumerate(order)
    ]


def is_relevant(query: Query, document: str, profile: Profile) -> bool:
    """Return whether a document is relevant under the conventions of a profile."""
    grade = query.grades.get(document)
    if grade is None or profile.relevance == "listed":
        return grade is not None
    return grade > 0 if profile.relevance == "positive" else grade >= profile.relevance


def _c_float(score: float) -> float:
    try:
        found: float = struct.unpack("f", struct.pack("f", score))[0]
    except OverflowError:
        return float("inf") if score > 0 else float("-inf")
    return found


def _without_repeats(items: Sequence[Item], rule: str) -> list[Item] | None:
    """Return what stays of repeated items; None where they are refused."""
    groups: dict[str, list[int]] = {}
    for place, (document, _) in enumerate(items):
        groups.setdefault(document, []).append(place)
    if rule == "error" and any(len(places) > 1 for places in groups.values()):
        return None
    if rule in {"keep", "credit-once", "error"}:
        return list(items)
    chosen = {
        "first": lambda places: places[0],
        "last": lambda places: places[-1],
        "best": lambda places: max(places, key=lambda place: items[place][1]),  # the first of equals
    }[rule]
    kept = {chosen(places) for places in groups.values()}
    return [item for place, item in enumerate(items) if place in kept]


def _within(ties: Sequence[list[Item]], depth: int | None) -> Iterator[list[Item]]:
    """Yield the ties that begin within the depth."""
    above = 0
    for tie in ties:
        if depth is not None and above >= depth:
            return
        yield tie
        above += len(tie)


def _is_refused(query: Query, tie: Sequence[Item], profile: Profile) -> bool:
    """Return whether the items of a tie earn differently."""
    earnings = set()
    for document, _ in tie:
        grade = query.grades.get(document)
        earns = grade is not None and (grade > 0 or is_relevant(query, document, profile))
        earnings.add(grade if earns else None)
    return len(earnings) > 1


def _cut(query: Query, order: Sequence[str], profile: Profile) -> list[str]:
    """Return the documents within the depth, and of these the judged ones where only they count."""
    kept = list(order[: profile.policy.depth])
    if not profile.policy.judged_only:
        return kept
    judged = {name for name, grade in query.grades.items() if grade >= 0 or profile.negatives == "judged"}
    return [document for document in kept if document in judged]
