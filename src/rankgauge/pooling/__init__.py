"""Pooling: bounds for what nobody judged, and queues of documents to judge next."""
