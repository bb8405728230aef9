"""REMem's retrieval metrics: recall, all-or-nothing recall and any-match nDCG over chunks of gold documents."""

from rankgauge.features.compat.remem import (
    RetrievalNDCGAny,
    RetrievalRecall,
    RetrievalRecallAll,
    is_chunk_from_original,
)

__all__ = ["RetrievalNDCGAny", "RetrievalRecall", "RetrievalRecallAll", "is_chunk_from_original"]
