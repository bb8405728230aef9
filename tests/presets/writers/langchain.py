"""Writes documents of LangChain in all forms: dumped, with scores, and within the output of a chain."""

import json
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.load import dumps

found = [
    Document(id="d3", page_content="The bridge was opened in 1932.", metadata={"score": 0.8}),
    Document(id="d1", page_content="Ferries ran before.", metadata={"score": 0.5}),
]
bare = [Document(id=document.id, page_content=document.page_content) for document in found]
with Path("langchain.json").open("w", encoding="utf-8") as file:
    json.dump({"q1": [document.model_dump() for document in found]}, file)
with Path("langchain_scores.json").open("w", encoding="utf-8") as file:
    file.write(dumps({"q1": list(zip(bare, [0.8, 0.5], strict=True))}))
with Path("langchain_chain.jsonl").open("w", encoding="utf-8") as file:
    file.write(dumps({"id": "q1", "input": "When was the bridge opened?", "context": found, "answer": "In 1932."}))
