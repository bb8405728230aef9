"""History: results over time, in an index of result folders that stay where they are."""

from rankgauge.features.history import (
    Entry,
    History,
)

__all__ = ["Entry", "History"]
