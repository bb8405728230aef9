"""The plugin obeys rankgauge's laws with a model; without one it says that it cannot work, and breaks none."""

import pytest

from draws import in_thorough_suite
from rankgauge.errors import BrokenLawError
from rankgauge.plugin import comparer
from rankgauge.testing import check_comparer, check_plugin
from rankgauge_semantic import Embedder, EmbedderError, plugin

OFFERED = {"answer-semantic-similarity", "embedding-cosine", "semantic", "semantic-score"}


@pytest.fixture
def embedder(monkeypatch):
    """Return a function that puts an embedder in the place of the default one."""

    def put(made):
        monkeypatch.setattr(plugin, "find_embedder", lambda name: made)

    return put


@in_thorough_suite()
def test_everything_that_it_offers_obeys_with_any_model(embedder, recorder):
    record = recorder()
    embedder(Embedder("trigrams-1", record))
    report = check_plugin(plugin, cases=15)

    report.raise_if_broken()
    assert {each.name for each in report} == OFFERED
    assert not any(each.unusable for each in report)
    assert {"prepared", "pair-by-pair", "reflexive", "empty-scores-zero", "symmetric"} <= set(
        report["embedding-cosine"].holds
    )
    assert {"matches-itself", "nothing-matches-nothing"} <= set(report["semantic"].holds)
    assert "usable" in report["answer-semantic-similarity"].holds
    assert len(record.batches) > 10


@in_thorough_suite()
def test_without_its_model_it_is_told_and_not_held_against_it(embedder):
    def absent():
        raise EmbedderError("the model is not installed; install it")

    embedder(Embedder("absent-1", lambda texts: [[1.0] for _ in texts], check=absent))
    report = check_plugin(plugin, cases=5)

    assert report.ok
    assert {each.name for each in report if each.unusable} == OFFERED - {"answer-semantic-similarity"}
    assert all("the model is not installed" in each.unusable for each in report if each.unusable)
    assert "the model is not installed" in report["answer-semantic-similarity"].skipped["usable"]
    assert "tail" in report["answer-semantic-similarity"].holds  # its formula needs no model
    assert str(report).endswith(": 4 offered, 3 of them not checked, nothing wrong with the others")


def test_a_model_that_is_not_fit_is_caught(embedder):
    calls = []

    def forgetful(texts):
        calls.append(texts)
        return [[len(calls), len(text)] for text in texts]

    @comparer("forgetful-cosine")
    def compare(retrieved, gold):
        return plugin.Vectors(Embedder("forgetful-1", forgetful)).cosines(retrieved, gold)

    with pytest.raises(BrokenLawError, match="forgetful-cosine"):
        check_comparer(compare, without=["pickling"], cases=40).raise_if_broken()
