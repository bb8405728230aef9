"""Vectors: each distinct text once, in batches; and what is wrong with an embedder."""

import io
import sys
import threading

import numpy as np
import pytest

from rankgauge_semantic import Embedder, EmbedderError
from rankgauge_semantic.cache import open_cache
from rankgauge_semantic.vectors import Vectors


def test_each_distinct_text_is_embedded_once_in_batches_of_similar_length(recorder):
    record = recorder()
    vectors = Vectors(Embedder("m", record, batch_size=2))
    vectors.add(["ccc", "a", "bb", "", "a", "dddd", "ccc", "eeeee"])
    assert [["a", "bb"], ["ccc", "dddd"], ["eeeee"]] == record.batches
    vectors.cosines(["a", "f"], ["ccc", "f"])
    assert [["f"]] == record.batches[3:]


def test_a_run_embeds_the_texts_of_its_samples_together(semantic_engine, sample):
    engine, record = semantic_engine()
    data = [sample([f"text {n}", "shared"], [f"answer {n}"], name=f"s{n}") for n in range(20)]
    metrics = ["answer-semantic-similarity(matcher=house-score)", "containment(matcher=house)@5"]
    engine.dataset(data).with_metrics(metrics).run()
    assert [41] == [len(batch) for batch in record.batches]


def test_a_second_process_embeds_nothing(recorder, cache_folder):
    record = recorder()
    first = Vectors(Embedder("m 1", record), open_cache("m 1"))
    scores = first.cosines(["alpha", "beta"], ["alphabet"])
    second = Vectors(Embedder("m 1", record), open_cache("m 1"))
    assert scores.tolist() == second.cosines(["alpha", "beta"], ["alphabet"]).tolist()
    assert 1 == len(record.batches)
    assert ["m-1-"] == [path.name[:4] for path in cache_folder.iterdir()]
    Vectors(Embedder("m 2", record), open_cache("m 2")).add(["alpha"])
    assert 2 == len(record.batches)  # another model keeps its own


def test_off_switches_the_cache_off(recorder, monkeypatch, cache_folder):
    monkeypatch.setenv("RANKGAUGE_SEMANTIC_CACHE", "off")
    assert open_cache("m") is None
    Vectors(Embedder("m", recorder()), open_cache("m")).add(["a"])
    assert not cache_folder.exists()


def test_a_model_that_changed_its_size_under_one_name_is_told(recorder):
    Vectors(Embedder("m", recorder(size=8)), open_cache("m")).add(["kept"])
    changed = Vectors(Embedder("m", recorder(size=16)), open_cache("m"))
    with pytest.raises(EmbedderError, match="16 dimensions, but of 8 before; another model needs another name"):
        changed.cosines(["kept"], ["new"])


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ([[1.0, 0.0]], r"returned the shape \(1, 2\) for 2 texts"),
        ([1.0, 2.0], r"returned the shape \(2,\) for 2 texts"),
        ([[], []], r"returned the shape \(2, 0\) for 2 texts"),
        ([[1.0], [np.nan]], "a value that is not finite"),
        ([[1.0], [np.inf]], "a value that is not finite"),
        (["a", "b"], "failed: ValueError"),
        (None, "returned the shape|failed"),
    ],
)
def test_what_is_no_vector_a_text_is_an_error_that_names_the_model(returned, message):
    with pytest.raises(EmbedderError, match=f"'broken-1'.*{message}|{message}"):
        Vectors(Embedder("broken-1", lambda texts: returned)).add(["a", "b"])


def test_an_embedder_that_raises_fails_the_samples_and_says_which_model_it_is(semantic_engine, sample):
    engine, record = semantic_engine()
    record.table = {"bad": None}
    data = [sample(["bad"], ["x"], name="bad"), sample(["good"], ["good"], name="good")]
    result = engine.dataset(data).with_metrics(["containment(matcher=house)@1"]).run()
    (column,) = result.metrics.values()
    assert ["failed", "scored"] == [column.status(place) for place in range(2)]
    assert "'house-1'" in column.reasons[0]
    assert 1.0 == column.values[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", len), "needs a name for its model"),
        (("m", "text"), "needs a function"),
        (("m", len, 0), "an integer of 1 or more, not 0"),
        (("m", len, True), "an integer of 1 or more, not True"),
    ],
)
def test_an_embedder_that_cannot_be_meant_is_refused(arguments, message):
    with pytest.raises(EmbedderError, match=message):
        Embedder(*arguments)


def test_threads_share_what_was_embedded(recorder):
    record = recorder()
    vectors = Vectors(Embedder("m", record))
    texts = [f"text {number}" for number in range(50)]
    threads = [threading.Thread(target=vectors.add, args=(texts,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [50] == [len(batch) for batch in record.batches]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_how_far_it_is_and_nothing_stays(recorder, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    Vectors(Embedder("m", recorder(), batch_size=2)).add(["a", "bb", "ccc"])
    shown = sys.stderr.getvalue().split("\r\x1b[K")
    assert ["0/3", "2/3", "3/3"] == [line.split()[-2] for line in shown if line]
    assert "" == shown[-1]


def test_a_single_batch_and_a_pipe_see_nothing(recorder, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    Vectors(Embedder("m", recorder(), batch_size=3)).add(["a", "bb", "ccc"])
    assert "" == sys.stderr.getvalue()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    Vectors(Embedder("m", recorder(), batch_size=2)).add(["a", "bb", "ccc"])
    assert "" == sys.stderr.getvalue()


def test_half_a_character_is_replaced_before_the_model_sees_it(recorder):
    record = recorder()
    scores = Vectors(Embedder("m", record)).cosines(["a \ud800 b"], ["a \ufffd b"])

    assert record.batches == [["a \ufffd b", "a \ufffd b"]]
    assert scores.tolist() == [[1.0]]
