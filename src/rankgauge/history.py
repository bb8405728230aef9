"""History: results over time, in an index of result folders that stay where they are."""

from rankgauge.features.history.entry import Entry
from rankgauge.features.history.index_file import History

__all__ = ["Entry", "History"]
