"""Measures of recommenders: what a whole run shows of a catalogue, and how novel and varied its lists are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rankgauge.plugin import hookimpl
from rankgauge_recsys.catalogue import coverage, gini
from rankgauge_recsys.lists import intra_list_distance, novelty

__all__ = ["coverage", "gini", "intra_list_distance", "novelty"]

RANKGAUGE_API = (1, 0)


@hookimpl
def rankgauge_metrics() -> Sequence[Callable[..., Any]]:
    """Return the metrics."""
    return [coverage, gini, novelty, intra_list_distance]
