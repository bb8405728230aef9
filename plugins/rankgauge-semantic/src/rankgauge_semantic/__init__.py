"""
Semantic matching for rankgauge: texts are compared by their embeddings.

Once installed, it offers every evaluation the matchers `semantic` and `semantic-score`, the comparer `embedding-cosine`
and the metric `answer-semantic-similarity`. In Python, `semantic_plugin` makes the same from any embedder.
"""

from rankgauge_semantic.embedders import Embedder, EmbedderError
from rankgauge_semantic.plugin import semantic_plugin

__all__ = ["Embedder", "EmbedderError", "semantic_plugin"]
