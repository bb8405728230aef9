"""The default model for real; `make test-model` runs this, with the network off."""

import socket

import numpy as np
import pytest

from rankgauge import Engine
from rankgauge_semantic import plugin
from rankgauge_semantic.minilm import EMBEDDER

PARAPHRASES = [
    ("The lighthouse is 41 metres tall.", "The height of the lighthouse is 41 metres."),
    ("Restart the server to apply the changes.", "Changes take effect once you restart the server."),
    ("The library is closed on Sundays.", "On Sundays, the library does not open."),
]


@pytest.fixture(autouse=True)
def _offline(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise AssertionError("the model must not need a network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setenv("RANKGAUGE_SEMANTIC_CACHE", str(tmp_path))
    plugin._vectors.cache_clear()


def test_paraphrases_match_and_unrelated_texts_do_not():
    left, right = zip(*PARAPHRASES, strict=True)
    scores = plugin.embedding_cosine(left, right)
    print(scores)
    assert (scores.diagonal() >= 0.7).all()
    assert (scores[~np.eye(3, dtype=bool)] < 0.4).all()


def test_vectors_have_the_models_dimensions_and_hardly_depend_on_their_batch():
    EMBEDDER.check()
    texts = ["short", "a text that is quite a bit longer than the other one"]
    together = np.asarray(EMBEDDER.embed(texts))
    assert (2, 384) == together.shape
    alone = np.concatenate([EMBEDDER.embed([text]) for text in texts])
    np.testing.assert_allclose(alone, together, atol=1e-6)


def test_a_run_by_the_installed_plugin_finds_what_containment_misses():
    sample = {
        "id": "q1",
        "expected_output": {"answer": PARAPHRASES[0][0]},
        "actual_output": [{"text": PARAPHRASES[2][0]}, {"text": PARAPHRASES[0][1]}],
    }
    metrics = ["containment@5", "containment(matcher=semantic)@5", "containment(matcher=semantic)@1"]
    evaluation = Engine().dataset([sample]).with_metrics([*metrics, "answer-semantic-similarity"])
    result = evaluation.run(details=True)
    assert [0.0, 1.0, 0.0] == [column.mean for column in result.metrics.values()][:3]
    similarity = result["answer-semantic-similarity"]
    assert 0.7 <= similarity.mean < 1.0
    assert 2 == similarity.details[0]["best_rank"]
    plugin._vectors.cache_clear()  # as another process: from the cache, to the last bit
    assert similarity.mean == evaluation.run()["answer-semantic-similarity"].mean
