"""History: results over time, in an index of result folders that stay where they are."""

from rankgauge.history.entry import Entry
from rankgauge.history.index_file import History

__all__ = ["Entry", "History"]
