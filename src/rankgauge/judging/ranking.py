"""
Rankings: what a policy makes of an output (order, self, duplicates, depth) before anything is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from rankgauge.policy import Policy
from rankgauge.samples import Fault, Output

__all__ = ["Ranking", "drops_repeats_only", "prepare"]


class Ranking(NamedTuple):
    """
    A ranking as it is judged, rank 1 first.

    Attributes:
        ids: One id for each rank; None for an item that has only a text.

        texts: One text for each rank; None when no item has one.

        repeated: Whether each rank repeats an earlier item and so earns nothing; None when no rank does.

        ties: The first and the last rank, from 1, of every tie of scores, in order; None where ties do not matter.
    """

    ids: Sequence[str | None]
    texts: Sequence[str | None] | None
    repeated: Sequence[bool] | None = None
    ties: Sequence[tuple[int, int]] | None = None


def drops_repeats_only(policy: Policy) -> bool:
    """Return whether a ranking without repeated items stays as it is under a policy."""
    return policy.order == "given" and not policy.exclude_self and not policy.judged_only and policy.depth is None


def prepare(
    output: Output,
    policy: Policy,
    *,
    sample_id: str,
    key: Literal["id", "id-and-text"] = "id",
    judged: Container[str | None] | None = (),
    gain: Callable[[str | None], Hashable] | None = None,
) -> Ranking | Fault:
    """
    Apply a policy to one output.

    The steps, in this order: drop the sample itself (`exclude_self`), drop repeated items (`duplicates`: the first, the
    last or the best one stays, as they are given), sort by score (`order`, `ties`), flag the repeats that stay
    (``duplicates=credit-once``), cut at `depth`, drop what is not judged (`judged_only`).

    Args:
        output: What the system under test emitted.

        policy: The policy.

        sample_id: The sample's id, for `exclude_self`.

        key: What makes two items the same one.

        judged: The ids that the ground truth names, for `judged_only`; None where it names none, so that nothing is
            dropped.

        gain: What an item earns, for ``ties=error``; None where that is not known, so that every tie matters.

    Returns:
        The ranking, or why the policy cannot be applied to this output.
    """
    ids = output.ids
    if drops_repeats_only(policy) and (policy.duplicates == "keep" or len(set(ids)) == len(ids)):
        return Ranking(ids, output.texts)
    chosen = [at for at in range(len(ids)) if ids[at] != sample_id or not policy.exclude_self]
    keys: list[Hashable | None] = _keys(output, key)
    repeats = policy.duplicates != "keep" and len({keys[at] for at in chosen}) < len(chosen)
    if repeats and policy.duplicates != "credit-once":
        settled = _settle(chosen, keys, output, policy)
        if isinstance(settled, Fault):
            return settled
        chosen = settled
    scores: list[float] = []
    if policy.order == "score":
        given = output.scores or [None] * len(ids)
        if None in given:
            return Fault(f"policy order=score needs a score for every item; retrieved[{given.index(None)}] has none")
        scores = _comparable(given, policy)  # type: ignore[arg-type]  # none of them is None
        if policy.ties == "given":
            chosen.sort(key=lambda at: scores[at], reverse=True)  # which is stable
        else:
            chosen.sort(key=lambda at: (scores[at], (ids[at] or "").encode("utf-8", "surrogatepass")), reverse=True)
    repeated = _repeats(chosen, keys) if repeats and policy.duplicates == "credit-once" else None
    if scores and policy.ties == "error" and (fault := _mixed_tie(chosen, scores, ids, gain, policy)) is not None:
        return fault
    chosen = chosen[: policy.depth]
    if policy.judged_only and judged is not None:
        chosen = [at for at in chosen if ids[at] in judged]
        repeated = None if repeated is None else _repeats(chosen, keys)
    ties = _ties([scores[at] for at in chosen]) if scores and policy.ties == "average" else None
    texts = None if output.texts is None else [output.texts[at] for at in chosen]
    flags = repeated[: len(chosen)] if repeated is not None and any(repeated[: len(chosen)]) else None
    return Ranking([ids[at] for at in chosen], texts, flags, ties)


def _comparable(scores: Sequence[float], policy: Policy) -> list[float]:
    """Return scores with the precision that they are compared with."""
    if policy.score_dtype == "float64":
        return list(scores)
    with np.errstate(over="ignore"):  # beyond its range a C float is infinite, and ties with its like
        found: list[float] = np.array(scores, dtype=np.float64).astype(np.float32).tolist()
    return found


def _ties(scores: Sequence[float]) -> list[tuple[int, int]] | None:
    """Return the first and the last rank of every run of equal scores longer than one; None where there is none."""
    ties = []
    start = 0
    for at in range(1, len(scores) + 1):
        if at == len(scores) or scores[at] != scores[start]:
            if at - start > 1:
                ties.append((start + 1, at))
            start = at
    return ties or None


def _mixed_tie(
    chosen: Sequence[int],
    scores: Sequence[float],
    ids: Sequence[str | None],
    gain: Callable[[str | None], Hashable] | None,
    policy: Policy,
) -> Fault | None:
    """Return the fault of a ranking in which items that earn differently have one score, within the depth."""
    for low, high in _ties([scores[at] for at in chosen]) or ():
        if policy.depth is not None and low > policy.depth:
            break
        tied = [ids[at] for at in chosen[low - 1 : high]]
        if gain is not None:
            one_each = {gain(name): name for name in reversed(tied)}
            if len(one_each) == 1:
                continue
            tied = list(one_each.values())[::-1]
        named = " and ".join(repr(name) if name is not None else "an item without an id" for name in tied[:3])
        return Fault(
            f"{named} have the score {scores[chosen[low - 1]]:g}, so that their order (ranks {low} to {high}) is a "
            "matter of chance, and policy says ties=error"
        )
    return None


def _keys(output: Output, key: Literal["id", "id-and-text"]) -> list[Hashable | None]:
    """Return what tells items apart; None for an item that is never the same as another."""
    if key == "id":
        return list(output.ids)
    texts = output.texts or [None] * len(output.ids)
    return [None if pair == (None, None) else pair for pair in zip(output.ids, texts, strict=True)]


def _settle(chosen: list[int], keys: Sequence[Hashable | None], output: Output, policy: Policy) -> list[int] | Fault:
    """Drop repeated items as the policy says; return what stays."""
    places: dict[Hashable, list[int]] = {}
    for place, at in enumerate(chosen):
        if keys[at] is not None:
            places.setdefault(keys[at], []).append(place)
    groups = [group for group in places.values() if len(group) > 1]
    if not groups:
        return chosen
    if policy.duplicates == "error":
        group = groups[0]
        ranks = ", ".join(str(place + 1) for place in group)
        name = output.ids[chosen[group[0]]]
        return Fault(f"{name!r} is retrieved {len(group)} times (ranks {ranks}), and policy says duplicates=error")
    dropped: set[int] = set()
    for group in groups:
        keep = group[0]
        if policy.duplicates == "last":
            keep = group[-1]
        elif policy.duplicates == "best":
            if output.scores is None or any(output.scores[chosen[place]] is None for place in group):
                return Fault(
                    f"policy duplicates=best needs a score for every item; {output.ids[chosen[group[0]]]!r} has none"
                )
            keep = max(group, key=lambda place: (output.scores[chosen[place]], -place))  # type: ignore[index]  # checked
        dropped.update(place for place in group if place != keep)
    return [at for place, at in enumerate(chosen) if place not in dropped]


def _repeats(chosen: Sequence[int], keys: Sequence[Hashable | None]) -> list[bool]:
    seen: set[Hashable] = set()
    flags = []
    for at in chosen:
        flags.append(keys[at] is not None and keys[at] in seen)
        seen.add(keys[at])
    return flags
