"""
Clusters of samples in a file: on each line an id, a blank and its cluster.
"""

from __future__ import annotations

from pathlib import Path

from rankgauge.base.plain_text import visible
from rankgauge.errors import ParameterError
from rankgauge.io.documents import decode_text

__all__ = ["read_clusters"]


def read_clusters(file: str, option: str) -> dict[str, object]:
    """Return the cluster of each id; *option* named the file."""
    clusters: dict[str, object] = {}
    for number, line in enumerate(decode_text(Path(file).read_bytes(), file).splitlines(), 1):
        parts = line.split()
        if not parts:
            continue
        if len(parts) != 2 or parts[0] in clusters:
            why = "has no id and cluster" if len(parts) != 2 else f"gives {visible(parts[0])} a second cluster"
            msg = f"{option} {visible(file)}, line {number}: it {why}; each line is an id, a blank and its cluster"
            raise ParameterError(msg)
        clusters[parts[0]] = parts[1]
    return clusters
