"""Scale: the same pipeline in parts, as shards, totals and worker processes."""
