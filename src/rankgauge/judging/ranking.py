"""
Rankings: what a policy makes of an output (order, self, duplicates, depth) before anything is judged.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Sequence
from typing import Literal, NamedTuple

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
    """

    ids: Sequence[str | None]
    texts: Sequence[str | None] | None
    repeated: Sequence[bool] | None = None


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
) -> Ranking | Fault:
    """
    Apply a policy to one output.

    The steps, in this order: sort by score (`order`), drop the sample itself (`exclude_self`), treat repeated items
    (`duplicates`), cut at `depth`, drop what is not judged (`judged_only`).

    Args:
        output: What the system under test emitted.

        policy: The policy.

        sample_id: The sample's id, for `exclude_self`.

        key: What makes two items the same one.

        judged: The ids that the ground truth names, for `judged_only`; None where it names none, so that nothing is
            dropped.

    Returns:
        The ranking, or why the policy cannot be applied to this output.
    """
    ids = output.ids
    if drops_repeats_only(policy) and (policy.duplicates == "keep" or len(set(ids)) == len(ids)):
        return Ranking(ids, output.texts)
    chosen = list(range(len(ids)))
    if policy.order == "score":
        scores = output.scores or [None] * len(ids)
        if None in scores:
            return Fault(f"policy order=score needs a score for every item; retrieved[{scores.index(None)}] has none")
        chosen.sort(key=lambda at: (scores[at], (ids[at] or "").encode("utf-8", "surrogatepass")), reverse=True)
    if policy.exclude_self:
        chosen = [at for at in chosen if ids[at] != sample_id]
    repeated: list[bool] | None = None
    keys: list[Hashable | None] = _keys(output, key)
    if policy.duplicates != "keep" and len({keys[at] for at in chosen}) < len(chosen):
        settled = _settle(chosen, keys, output, policy)
        if isinstance(settled, Fault):
            return settled
        chosen, repeated = settled
    if policy.depth is not None:
        chosen = chosen[: policy.depth]
    if policy.judged_only and judged is not None:
        chosen = [at for at in chosen if ids[at] in judged]
        repeated = None if repeated is None else _repeats(chosen, keys)
    texts = None if output.texts is None else [output.texts[at] for at in chosen]
    flags = repeated[: len(chosen)] if repeated is not None and any(repeated[: len(chosen)]) else None
    return Ranking([ids[at] for at in chosen], texts, flags)


def _keys(output: Output, key: Literal["id", "id-and-text"]) -> list[Hashable | None]:
    """Return what tells items apart; None for an item that is never the same as another."""
    if key == "id":
        return list(output.ids)
    texts = output.texts or [None] * len(output.ids)
    return [None if pair == (None, None) else pair for pair in zip(output.ids, texts, strict=True)]


def _settle(
    chosen: list[int], keys: Sequence[Hashable | None], output: Output, policy: Policy
) -> tuple[list[int], list[bool] | None] | Fault:
    """Treat repeated items as the policy says; return what stays, and which of it repeats."""
    places: dict[Hashable, list[int]] = {}
    for place, at in enumerate(chosen):
        if keys[at] is not None:
            places.setdefault(keys[at], []).append(place)
    groups = [group for group in places.values() if len(group) > 1]
    if not groups:
        return chosen, None
    if policy.duplicates == "error":
        group = groups[0]
        ranks = ", ".join(str(place + 1) for place in group)
        name = output.ids[chosen[group[0]]]
        return Fault(f"{name!r} is retrieved {len(group)} times (ranks {ranks}), and policy says duplicates=error")
    if policy.duplicates == "credit-once":
        return chosen, _repeats(chosen, keys)
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
    return [at for place, at in enumerate(chosen) if place not in dropped], None


def _repeats(chosen: Sequence[int], keys: Sequence[Hashable | None]) -> list[bool]:
    seen: set[Hashable] = set()
    flags = []
    for at in chosen:
        flags.append(keys[at] is not None and keys[at] in seen)
        seen.add(keys[at])
    return flags
