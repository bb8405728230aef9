"""
Semantic matching for rankgauge: texts are compared by their embeddings.

Installed, it offers the matchers `semantic` and `semantic-score`, the comparer `embedding-cosine` and the metric
`answer-semantic-similarity` to every evaluation. From Python, `semantic_plugin` makes the same of any embedder.
"""

from rankgauge_semantic.embedders import Embedder, EmbedderError
from rankgauge_semantic.plugin import semantic_plugin

__all__ = ["Embedder", "EmbedderError", "semantic_plugin"]
