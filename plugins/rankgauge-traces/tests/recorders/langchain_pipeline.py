"""A pipeline of LangChain: two retrievers in an ensemble, and a filter around it, in a chain."""

from langchain_classic.retrievers import ContextualCompressionRetriever, EnsembleRetriever
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from spans_to_lines import DOCUMENTS, by_words


class Words(BaseRetriever):
    """Finds documents that share words with the question."""

    letters: int = 1

    def _get_relevant_documents(self, query, *, run_manager):
        found = by_words(query, letters=self.letters)[:4]
        return [
            Document(id=name, page_content=DOCUMENTS[name], metadata={"source": f"{name}.txt"}) for name, _ in found
        ]


class Letters(Words):
    """Finds documents that share runs of letters with the question."""


class FirstTwo(BaseDocumentCompressor):
    """Keeps two documents."""

    def compress_documents(self, documents, query, callbacks=None):
        return documents[:2]


ensemble = EnsembleRetriever(retrievers=[Words(), Letters(letters=3)], weights=[0.5, 0.5], id_key=None)
retriever = ContextualCompressionRetriever(base_retriever=ensemble, base_compressor=FirstTwo())
chain = {"context": retriever, "question": RunnablePassthrough()} | RunnableLambda(
    lambda given: f"According to {given['context'][0].id}."
)
