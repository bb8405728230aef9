"""A pipeline of LlamaIndex: two BM25 retrievers in a fusion, a reranker of our own, and a mocked model."""

import llama_index.core.instrumentation as instrument
from llama_index.core import Settings
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.schema import TextNode
from llama_index.retrievers.bm25 import BM25Retriever
from spans_to_lines import DOCUMENTS

dispatcher = instrument.get_dispatcher(__name__)


class Backwards(BaseNodePostprocessor):
    """Puts nodes in the opposite order, and keeps two."""

    def _postprocess_nodes(self, nodes, query_bundle=None):
        dispatcher.event(ReRankStartEvent(query=query_bundle, nodes=nodes, top_n=2, model_name="backwards"))
        kept = nodes[::-1][:2]
        dispatcher.event(ReRankEndEvent(nodes=kept))
        return kept


Settings.llm = MockLLM(max_tokens=5)
nodes = [TextNode(id_=name, text=text, metadata={"source": f"{name}.txt"}) for name, text in DOCUMENTS.items()]
retrievers = [
    BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=3),
    BM25Retriever.from_defaults(nodes=nodes[2:], similarity_top_k=2),
]
fusion = QueryFusionRetriever(retrievers, num_queries=1, similarity_top_k=4, use_async=False, llm=Settings.llm)
engine = RetrieverQueryEngine.from_args(fusion, node_postprocessors=[Backwards()])
