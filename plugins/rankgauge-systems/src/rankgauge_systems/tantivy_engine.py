"""
Tantivy: BM25 in this process, over an index in a folder.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from importlib import metadata
from typing import Any, Literal

from pydantic import Field

from rankgauge.errors import ParameterError
from rankgauge_systems.engines import Document, Hit, Loaded, replaced_folder, required, words_of
from rankgauge_systems.options import ConfigPath, SearchOptions

__all__ = ["TantivyEngine", "TantivyOptions"]

_FILE = re.compile(r"meta\.json|\.managed\.json|\.tantivy-\w+\.lock|[0-9a-f]{32}\..+")
"""What tantivy calls its files."""


class TantivyOptions(SearchOptions):
    """Options of tantivy."""

    path: ConfigPath = Field(description="The folder of the index, relative to the config.")
    tokenizer: Literal["default", "en_stem", "whitespace"] = Field(
        "en_stem", description="How `systems index` cuts words."
    )
    title_weight: float = Field(1.0, gt=0, description="How much a word in the title counts, against 1 in the text.")
    operator: Literal["and", "or"] = Field("or", description="Whether a document needs all words, or one.")


class TantivyEngine:
    """An index of tantivy."""

    def __init__(self, options: TantivyOptions) -> None:
        """Open nothing yet."""
        self._tantivy = required("tantivy", "tantivy", "tantivy")
        self._options = options
        self._index: Any = None
        self._lock = threading.Lock()

    def search(self, question: str, _given: object, most: int, /) -> Sequence[Hit]:
        """Return the best documents by BM25; a question without a word finds nothing."""
        options = self._options
        words = question.split() if options.tokenizer == "whitespace" else words_of(question)
        if not words:
            return []
        index = self._opened()
        glue = " AND " if options.operator == "and" else " "
        query = index.parse_query(glue.join(map(_phrase, words)), ["title", "text"], {"title": options.title_weight})
        searcher = index.searcher()
        hits = []
        for score, address in searcher.search(query, most).hits:
            row = searcher.doc(address).to_dict()
            document = Document(row["id"][0], "".join(row.get("title", ())), "".join(row.get("text", ())))
            hits.append(Hit(document.id, float(score), document.whole if options.texts else None))
        return hits

    def documents(self, _given: object, /) -> None:
        """Return None: what has none of the words is not found."""

    def index(self, documents: Iterable[Document]) -> Loaded:
        """Write the index anew, beside the old one until it is whole."""
        options, tantivy = self._options, self._tantivy
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("id", stored=True, tokenizer_name="raw")
        for field in ("title", "text"):
            builder.add_text_field(field, stored=True, tokenizer_name=options.tokenizer)
        count = 0
        with replaced_folder(options.path, _FILE, "tantivy's index") as folder:
            made = tantivy.Index(builder.build(), path=str(folder))
            writer = made.writer(num_threads=1)  # with several, equal scores come in another order each time
            try:
                for document in documents:
                    writer.add_document(tantivy.Document(id=document.id, title=document.title, text=document.text))
                    count += 1
                writer.commit()
            finally:
                writer.wait_merging_threads()  # they write into the folder
        self._index = None
        return Loaded(count)

    def version(self) -> str:
        """Return that of the library, and how words are cut."""
        return f"tantivy {metadata.version('tantivy')}, {self._options.tokenizer}"

    def check(self) -> None:
        """Open the index."""
        self._opened()

    def close(self) -> None:
        """Forget the index."""
        self._index = None

    def _opened(self) -> Any:  # noqa: ANN401  # tantivy is an extra
        with self._lock:
            if self._index is None:
                if not (self._options.path / "meta.json").is_file():
                    raise ParameterError(
                        f"there is no index in {self._options.path}; `rankgauge systems index` makes it"
                    )
                self._index = self._tantivy.Index.open(str(self._options.path))
            return self._index


def _phrase(word: str) -> str:
    """Return a word in quotes, so that the index's own tokenizer cuts it, and no part of it is an operator."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
