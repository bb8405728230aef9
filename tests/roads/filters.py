"""A plugin with two ranking filters, one of which looks at ranks alone and one at scores; and the same restated."""

from collections.abc import Sequence

from rankgauge.plugin import RankedResults, hookimpl, ranking_filter
from roads.case import Item

__all__ = ["plainly_filtered", "rankgauge_ranking_filters"]


@ranking_filter("every-other")
def every_other(results: RankedResults, *, first: int = 1) -> list[bool]:
    """Keep every other rank."""
    return [rank % 2 == first % 2 for rank, _ in enumerate(results.ids, 1)]


@ranking_filter("score-at-least", needs="scores")
def score_at_least(results: RankedResults, *, least: float = 0.0) -> list[bool]:
    """Keep scores of at least a number."""
    return [score >= least for score in results.scores or ()]


@hookimpl
def rankgauge_ranking_filters():
    return [every_other, score_at_least]


def plainly_filtered(items: Sequence[Item], written: str) -> list[Item]:
    """Return the items that stay of those in order of rank."""
    match written:
        case "every-other":
            return list(items[::2])
        case "every-other(first=2)":
            return list(items[1::2])
        case "score-at-least":
            return [item for item in items if item[1] >= 0]
        case "score-at-least(least=1.0)":
            return [item for item in items if item[1] >= 1]
    raise AssertionError(written)
