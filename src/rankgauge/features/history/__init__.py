"""History: results over time, in an index of result folders that stay where they are."""
