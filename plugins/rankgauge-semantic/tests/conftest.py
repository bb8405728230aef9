"""What the tests share: no network, a cache of their own, and embedders that are small and deterministic."""

import socket
import sys
import zlib

import numpy as np
import pytest

from rankgauge import Catalog, Engine
from rankgauge_semantic import Embedder, plugin


class Recorder:
    """Embeds by a table, or by hashed character trigrams where that has nothing, and remembers what it was asked."""

    def __init__(self, table=None, size=64):
        self.table = table or {}
        self.size = size
        self.batches = []

    def __call__(self, texts):
        self.batches.append(list(texts))
        return [self.table[text] if text in self.table else self.trigrams(text) for text in texts]

    def trigrams(self, text):
        vector = np.zeros(self.size)
        padded = f"  {text.lower()} "
        for start in range(len(padded) - 2):
            vector[zlib.crc32(padded[start : start + 3].encode()) % self.size] += 1.0
        return vector


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a test must not open a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("RANKGAUGE_SEMANTIC_CACHE", str(folder))
    plugin._vectors.cache_clear()
    yield folder
    plugin._vectors.cache_clear()


@pytest.fixture
def recorder():
    return Recorder


@pytest.fixture
def semantic_engine():
    """Return a function that makes an engine of a table of vectors; its matchers are called `house`."""

    def make(table=None, **options):
        record = Recorder(table)
        house = plugin.semantic_plugin(Embedder("house-1", record), name="house", **options)
        return Engine(catalog=Catalog.discover(own_only=True, plugins={"semantic": plugin, "house": house})), record

    return make


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that puts a distribution with embedders on the path."""
    modules = []

    def add(distribution, source, **points):
        site = tmp_path / distribution
        info = site / f"{distribution}-2.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 2.0\n")
        lines = [f"{name} = {target}" for name, target in points.items()]
        (info / "entry_points.txt").write_text("\n".join(["[rankgauge_semantic.embedders]", *lines, ""]))
        (site / f"{distribution}.py").write_text(source)
        monkeypatch.syspath_prepend(str(site))
        modules.append(distribution)

    yield add
    for module in modules:
        sys.modules.pop(module, None)


@pytest.fixture
def sample():
    """Return a function that makes a sample of retrieved texts and accepted answers."""

    def make(retrieved, answers, *, name="s"):
        items = [{"id": f"d{rank}", "text": text} for rank, text in enumerate(retrieved)]
        return {"id": name, "expected_output": {"answer": answers}, "actual_output": items}

    return make
