"""A module of rankgauge.compat and an evaluation under its profile give the same scores."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.compat import classic, haystack, keyword, remem
from rankgauge.expression import MetricExpression
from rankgauge.plugin.metric import declared
from rankgauge.policy import PROFILES

IDS = st.sampled_from("abcdef")
RANKING = st.lists(IDS, max_size=8)
GOLD = st.lists(IDS, max_size=5)
GRADES = st.dictionaries(IDS, st.integers(0, 4), max_size=5)
TEXT = st.sampled_from(["I like tea.", "user: tea", "Date: 2024-01-01\nI like", "tea\ncup", "assistant: x: y", "Ärger"])
PASSAGES = st.lists(st.sampled_from(["I like tea. x", '["tea\\ncup"]', "x", "tea", "ärger \\u00c4"]), max_size=4)
K = st.integers(1, 9)


@pytest.fixture(scope="module")
def under(engine):
    """Return a function that scores samples under a profile."""

    def scores(profile, metric, samples):
        evaluation = engine.dataset([]).with_metrics([metric]).with_profile(profile)
        found = []
        for place, (gold, retrieved) in enumerate(samples):
            sample = {"id": f"s{place}", "expected_output": gold, "actual_output": retrieved}
            (only,) = evaluation.score(sample).values()
            assert only.status in {"scored", "undefined"}
            found.append(only.value)
        return found

    return scores


def by_text(texts):
    return [{"text": text} for text in texts]


def named(values):
    return [SimpleNamespace(content=value, id=value, meta={}, score=None) for value in values]


@pytest.mark.parametrize("name", ["remem", "haystack", "classic", "keyword"])
def test_profile_parameters_exist_and_are_accepted(name, engine):
    """A misspelled parameter default would otherwise pass unseen."""
    profile = PROFILES[name]
    for alias, parameters in profile.parameters.items():
        written = {key: value for key, value in parameters.items() if key != "matcher"}
        evaluation = engine.dataset([]).with_metrics([str(MetricExpression(alias, written))]).with_profile(name)
        (column,) = evaluation.plan().metrics
        assert written.items() <= dict(column.params).items()
        if "matcher" in parameters:
            assert str(parameters["matcher"]) in {target.matcher for target in column.targets}


@given(samples=st.lists(st.tuples(GOLD, RANKING), min_size=1, max_size=4), k=K)
def test_remem_recall(under, samples, k):
    gold, chunks = zip(*samples, strict=True)

    _, examples = remem.RetrievalRecall().calculate_metric_scores(gold, chunks, k_list=[k])

    assert [example[f"Recall@{k}"] for example in examples] == under("remem", f"recall@{k}", samples)
    texts = [({"passages": wanted}, by_text(found)) for wanted, found in samples]
    assert [example[f"Recall@{k}"] for example in examples] == under("remem", f"recall(gold=passages)@{k}", texts)


@pytest.mark.parametrize(
    ("made", "name", "metric"),
    [(remem.RetrievalRecallAll, "Recall_all", "recall_all"), (remem.RetrievalNDCGAny, "NDCG_any", "ndcg_any")],
)
@given(samples=st.lists(st.tuples(PASSAGES, st.lists(TEXT, max_size=8)), min_size=1, max_size=4), k=K)
def test_remem_metrics_of_chunks(under, made, name, metric, samples, k):
    gold, chunks = zip(*samples, strict=True)
    texts = [({"passages": wanted}, by_text(found)) for wanted, found in samples]

    _, examples = made().calculate_metric_scores(gold, chunks, k_list=[k])

    assert [example[f"{name}@{k}"] for example in examples] == under("remem", f"{metric}(gold=passages)@{k}", texts)


@pytest.mark.parametrize(
    ("evaluator", "metric"),
    [
        (haystack.DocumentRecallEvaluator(), "hit@1000"),
        (haystack.DocumentRecallEvaluator(mode="multi_hit"), "recall@1000"),
        (haystack.DocumentMRREvaluator(), "RR"),
        (haystack.DocumentMAPEvaluator(), "AP"),
        (haystack.DocumentNDCGEvaluator(), "ndcg"),
    ],
)
@given(samples=st.lists(st.tuples(GOLD, RANKING), min_size=1, max_size=4))
def test_haystack(under, evaluator, metric, samples):
    gold, found = ([named(side) for side in sides] for sides in zip(*samples, strict=True))

    scores = evaluator.run(gold, found)["individual_scores"]

    assert scores == under("haystack", metric, samples)
    texts = [({"passages": wanted}, by_text(ranking)) for wanted, ranking in samples]
    named_parameters = MetricExpression(metric.partition("@")[0], {"gold": "passages"})
    cut = f"{named_parameters}@1000" if "@" in metric else str(named_parameters)
    assert scores == pytest.approx(under("haystack", cut, texts), rel=1e-12)


@given(grades=GRADES, ranking=RANKING)
def test_haystack_ndcg_with_scores(under, grades, ranking):
    gold = [SimpleNamespace(content=name, score=grade) for name, grade in grades.items()]

    result = haystack.DocumentNDCGEvaluator().run([gold], [named(ranking)])

    assert result["individual_scores"] == under("haystack", "ndcg", [(grades, ranking)])


@pytest.mark.parametrize(
    ("method", "metric"),
    [
        ("precision_at_k", "P"),
        ("recall_at_k", "recall"),
        ("f1_at_k", "f1"),
        ("ndcg_at_k", "ndcg_any"),
        ("hit_rate_at_k", "hit"),
    ],
)
@given(gold=GOLD, ranking=RANKING, k=K)
def test_classic_metrics_with_a_cutoff(under, method, metric, gold, ranking, k):
    result = classic.RetrievalResult("q", ranking, set(gold), [])

    assert [getattr(classic.RetrievalMetrics, method)(result, k)] == under(
        "classic", f"{metric}@{k}", [(gold, ranking)]
    )


@pytest.mark.parametrize(("method", "metric"), [("average_precision", "AP"), ("reciprocal_rank", "RR")])
@given(gold=GOLD, ranking=RANKING)
def test_classic_metrics_without_one(under, method, metric, gold, ranking):
    result = classic.RetrievalResult("q", ranking, set(gold), [])

    assert [getattr(classic.RetrievalMetrics, method)(result)] == under("classic", metric, [(gold, ranking)])


@given(grades=GRADES, ranking=RANKING, k=K)
def test_classic_graded_metrics(under, grades, ranking, k):
    result = classic.GradedRetrievalResult("q", ranking, grades)
    ndcg = classic.GradedRetrievalMetrics.graded_ndcg_at_k(result, k)
    err = classic.GradedRetrievalMetrics.expected_reciprocal_rank(result)

    assert [ndcg] == under("classic", f"ndcg@{k}", [(grades, ranking)])
    assert [err] == under("classic", "err@1000", [(grades, ranking)])


@given(
    word=st.sampled_from(["tea", "LIKE", "ß", "i", "x"]),
    found=st.lists(st.sampled_from(["I like TEA", "tea", "ss ß", "İ", "Like", "none"]), max_size=8),
    k=K,
)
def test_keyword_functions(under, word, found, k):
    documents = [SimpleNamespace(page_content=text, metadata={}) for text in found]
    sample = ({"keywords": [word]}, by_text(found))

    assert [keyword.calculate_mrr(word, documents)] == under("keyword", "keyword-mrr", [sample])
    assert [keyword.calculate_ndcg(word, documents, k)] == under("keyword", f"keyword_ndcg@{k}", [sample])


@given(gold=GOLD, ranking=RANKING, k=K)
def test_keyword_recall(under, gold, ranking, k):
    documents = [SimpleNamespace(page_content="", metadata={"id": name}) for name in ranking]

    assert [keyword.calculate_recall_at_k(documents, gold, k)] == under("keyword", f"recall@{k}", [(gold, ranking)])


def test_every_metric_of_a_profile_is_built_in(engine):
    for profile in PROFILES.values():
        for alias in profile.parameters:
            assert declared(engine.catalog.metrics[alias].declaration.source) is not None
