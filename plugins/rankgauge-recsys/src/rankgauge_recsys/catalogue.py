"""
A whole run over a catalogue: how much of it anybody is shown, and how evenly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rankgauge.plugin import Cutoff, run_metric
from rankgauge_recsys.items import read_items

__all__ = ["coverage", "gini"]


def _check(*, items: str, size: int) -> None:
    if bool(items) == bool(size):
        msg = "give the catalogue: its file (items=items.jsonl), or the number of its items (size=1682), and not both"
        raise ValueError(msg)
    if size < 0:
        raise ValueError(f"size is the number of items in the catalogue, not {size}")
    if items:
        read_items(items)


def _shown(rankings: Sequence[Sequence[str]], items: str, size: int) -> tuple[Counter[str], int]:
    """Return how often each item of the catalogue is shown, and how many items it has."""
    shown: Iterable[str] = (name for ranking in rankings for name in ranking)
    if items:
        catalogue = read_items(items)
        return Counter(name for name in shown if name in catalogue), len(catalogue)
    counts = Counter(shown)
    if len(counts) > size:
        msg = f"{len(counts):,} different items were retrieved, and the catalogue has {size:,} (size={size})"
        raise ValueError(msg)
    return counts, size


@run_metric("catalogue-coverage-at-k", short=("coverage",), check=_check, example={"size": 100})
def coverage(
    rankings: Sequence[Sequence[str]],
    *,
    k: Cutoff,  # noqa: ARG001  # it gives the metric its cutoff; rankings come cut
    items: str = "",
    size: int = 0,
) -> float:
    """
    Share of the catalogue that is in the first *k* results of anybody.

    Formula: ``|different items in the first k of all samples| / |catalogue|``. Items that are not in a given catalogue
    do not count. Source: Herlocker et al., TOIS 2004 (catalog coverage); RecBole, `ItemCoverage`.

    When to use it: a recommender should make use of the whole catalogue, not only of what is popular.

    Args:
        rankings: The ids that each sample retrieved.

        k: How many results of each sample count.

        items: The catalogue, a file of JSON lines with an `id` each.

        size: The number of items in the catalogue, instead of a file.

    Returns:
        From 0 to 1.
    """
    counts, total = _shown(rankings, items, size)
    return len(counts) / total


@run_metric(
    "catalogue-gini-at-k",
    short=("gini", "GiniIndex"),
    higher_is_better=False,
    check=_check,
    example={"size": 100},
)
def gini(
    rankings: Sequence[Sequence[str]],
    *,
    k: Cutoff,  # noqa: ARG001  # as in `coverage`
    items: str = "",
    size: int = 0,
) -> float | None:
    """
    How unevenly the first *k* results of all samples are spread over the catalogue (Gini index).

    Formula: ``sum over i of (2i - n - 1) * c_i / (n * sum of c)`` over the n items of the catalogue in ascending order
    of how often they are shown, c; items never shown count 0. Source: Gini; RecBole, `GiniIndex`.

    When to use it: exposure should be fair to items or sellers. 0 if each is shown as often, near 1 if one is always.

    Args:
        rankings: As in `coverage`.

        k: As in `coverage`.

        items: As in `coverage`.

        size: As in `coverage`.

    Returns:
        From 0 to 1; None if nothing of the catalogue is shown.
    """
    counts, n = _shown(rankings, items, size)
    total = counts.total()
    if not total:
        return None
    last = sorted(counts.values())
    first = n - len(last)  # the items that are never shown add nothing
    return sum((2 * (first + place) - n - 1) * count for place, count in enumerate(last, 1)) / (n * total)
