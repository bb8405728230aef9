"""Documents that the tests search, and which engines are there to search them."""

import importlib.util
import json
import os

import pytest

DOCUMENTS = [
    {"id": "tides", "title": "Tides", "text": "The moon pulls the sea, so that it rises and falls twice a day."},
    {"id": "salt", "title": "Salt", "text": "Rivers carry salt into the sea, and the sea keeps it."},
    {"id": "moon", "title": "The moon", "text": "The moon turns once a month and shows one side only."},
    {"id": "o'brien; --", "title": 'A "quoted" title', "text": "Ships' logs (1850) & tables: 100 % of <b>them</b>."},
    {"id": "größe/1", "title": "", "text": "Die Größe der Wellen hängt vom Wind ab."},
]
MODULES = {
    "bm25s": "bm25s",
    "chroma": "chromadb",
    "duckdb": "duckdb",
    "faiss": "faiss",
    "lancedb": "lancedb",
    "milvus": "pymilvus",
    "postgres": "psycopg",
    "qdrant": "qdrant_client",
    "sqlite-vec": "sqlite_vec",
    "tantivy": "tantivy",
    "usearch": "usearch",
}
EVERY = os.environ.get("RANKGAUGE_SYSTEMS") == "all"
"""Whether every engine has to be there, as in the environment that `make test-systems` makes."""


def needs(kind):
    """Skip a test where the library of a kind is not installed."""
    if not EVERY and kind in MODULES and importlib.util.find_spec(MODULES[kind]) is None:
        pytest.skip(f"{MODULES[kind]} is not installed; `make test-systems` tests with it")


def write(path, rows):
    """Write JSON lines."""
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
