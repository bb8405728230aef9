# ruff: noqa: ANN401  # arguments of other libraries
"""
Tools of search and of RAG, and how each is asked; `record.py` calls them.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
from collections.abc import Callable, Iterator
from typing import Any

from drawn import LABELS, Case
from recording import Number, Recording, Score, flat, mean

__all__ = [
    "autorag",
    "beir",
    "deepeval",
    "evidently",
    "haystack",
    "haystack_2_25",
    "ir_measures",
    "llama_index",
    "mlflow",
    "mteb",
    "ragas",
    "ranx",
    "sentence_transformers",
    "trulens",
]


def _as_dicts(case: Case, labels: str) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return judgments and a run by the ids of queries and documents."""
    grade = LABELS[labels]
    return (
        {
            f"q{place}": {f"d{row:02}": int(grade(each)) for row, each in enumerate(grades) if each is not None}
            for place, (grades, _) in enumerate(case.queries)
        },
        {
            f"q{place}": {f"d{row:02}": score for row, score in enumerate(scores) if score is not None}
            for place, (_, scores) in enumerate(case.queries)
            if any(score is not None for score in scores)
        },
    )


def ranx() -> Iterator[Recording]:
    """Yield the measures of ranx."""
    import ranx

    def score(metric: str) -> Score:
        def of(case: Case) -> Number:
            qrels, run = _as_dicts(case, "grades")
            return float(ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), metric.format(k=case.k), make_comparable=True))

        return of

    gains = ("ndcg", "ndcg_burges", "dcg", "dcg_burges")
    for name in (*gains, "map", "mrr", "precision", "recall", "hit_rate", "hits", "f1"):
        for data in ("noties", "runs"):
            yield Recording(name + "@{k}", data, "grades", score(name + "@{k}"))
    yield Recording("r-precision", "noties", "grades", score("r-precision"))


def ir_measures() -> Iterator[Recording]:
    """Yield the measures of ir_measures."""
    import ir_measures

    def score(metric: str) -> Score:
        def of(case: Case) -> Number:
            # gdeval, behind ERR, wants numbers for ids of queries
            qrels, run = ({name[1:]: each for name, each in given.items()} for given in _as_dicts(case, "grades"))
            return float(
                ir_measures.calc_aggregate([ir_measures.parse_measure(metric.format(k=case.k))], qrels, run).popitem()[
                    1
                ]
            )

        return of

    for name in ("nDCG@{k}", "AP@{k}", "RR@{k}", "P@{k}", "R@{k}", "Success@{k}", "nDCG", "AP", "RR", "Rprec", "Bpref"):
        # RR with a cutoff is no measure of trec_eval, and has another order of ties
        for data in ("noties", "runs") if name == "RR@{k}" else ("ties", "noties", "runs"):
            yield Recording(name, data, "grades", score(name))


def mlflow() -> Iterator[Recording]:
    """Yield the measures of MLflow's metrics of retrievers."""
    import pandas as pd
    from mlflow.metrics import ndcg_at_k, precision_at_k, recall_at_k

    def score(kind: Callable[[int], Any]) -> Score:
        def of(case: Case) -> Number:
            rows = [(items, liked) for items, liked in case.queries if items]  # nothing of nothing is 1 there
            shown = pd.Series([[f"i{item}" for item in items] for items, _ in rows])
            wanted = pd.Series([[f"i{item}" for item in liked] for _, liked in rows])
            return mean(kind(case.k).eval_fn(shown, wanted).scores)

        return of

    for name, kind in (("precision", precision_at_k), ("recall", recall_at_k), ("ndcg", ndcg_at_k)):
        yield Recording(f"{name}_at_k(k={{k}})", "lists", "retrieved", score(kind))


def llama_index() -> Iterator[Recording]:
    """Yield the measures of LlamaIndex's metrics of retrievers."""
    from llama_index.core.evaluation.retrieval import metrics

    def score(name: str) -> Score:
        def of(case: Case) -> Number:
            ids = [([str(item) for item in items], [str(item) for item in liked]) for items, liked in case.queries]
            return mean(
                float(getattr(metrics, name)().compute(expected_ids=liked, retrieved_ids=items).score)
                for items, liked in ids
                if items and liked
            )

        return of

    for written, name in (
        ("mrr", "MRR"),
        ("precision", "Precision"),
        ("recall", "Recall"),
        ("ap", "AveragePrecision"),
        ("ndcg", "NDCG"),
    ):
        yield Recording(written, "lists", "retrieved", score(name))


def _over_ids(case: Case) -> list[tuple[list[str], list[str]]]:
    """Return what each user is shown and what each likes, as texts."""
    return [([f"i{item:02}" for item in items], [f"i{item:02}" for item in liked]) for items, liked in case.queries]


def beir() -> Iterator[Recording]:
    """Yield the measures of BEIR."""
    from beir.retrieval.evaluation import EvaluateRetrieval

    def score(name: str) -> Score:
        def of(case: Case) -> Number:
            found = EvaluateRetrieval.evaluate(*_as_dicts(case, "grades"), [case.k])
            return float({key: value for part in found for key, value in part.items()}[f"{name}@{case.k}"])

        return of

    def custom(name: str, metric: str) -> Score:
        def of(case: Case) -> Number:
            with contextlib.suppress(ZeroDivisionError):  # capped recall, of a query with nothing relevant
                found = EvaluateRetrieval.evaluate_custom(*_as_dicts(case, "grades"), [case.k], metric)
                return float(found[f"{name}@{case.k}"])
            return None

        return of

    for name in ("NDCG", "MAP", "Recall", "P"):
        for data in ("ties", "noties", "runs"):
            yield Recording(name + "@{k}", data, "grades", score(name))
    for name, metric in (("MRR", "mrr"), ("R_cap", "recall_cap"), ("Accuracy", "top_k_accuracy")):
        for data in ("noties", "runs"):
            yield Recording(name + "@{k}", data, "grades", custom(name, metric))


def mteb() -> Iterator[Recording]:
    """Yield the measures of MTEB's metrics of retrieval."""
    from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores

    def score(field: str) -> Score:
        def of(case: Case) -> Number:
            qrels, run = _as_dicts(case, "grades")
            found = getattr(calculate_retrieval_scores(run, qrels, [case.k]), field)
            return float(next(value for key, value in found.items() if key.rpartition("@")[2] == str(case.k)))

        return of

    for name in ("ndcg", "map", "recall", "precision", "mrr", "hit_rate"):
        for data in ("ties", "noties", "runs"):
            yield Recording(name + "_at_{k}", data, "grades", score(name))


def sentence_transformers() -> Iterator[Recording]:
    """Yield the measures of the evaluator of Sentence Transformers."""
    from sentence_transformers.evaluation import InformationRetrievalEvaluator

    def score(name: str) -> Score:
        def of(case: Case) -> Number:
            qrels, run = _as_dicts(case, "binary")
            relevant = {query: {doc for doc, grade in judged.items() if grade} for query, judged in qrels.items()}
            if not any(relevant.values()):
                return None
            documents = {f"d{row:02}": "" for row in range(40)}
            ks = {f"{each}_at_k": [case.k] for each in ("mrr", "ndcg", "accuracy", "precision_recall", "map")}
            evaluator = InformationRetrievalEvaluator(dict.fromkeys(qrels, ""), documents, relevant, **ks)
            hits = [
                [{"corpus_id": doc, "score": value} for doc, value in run.get(query, {}).items()]
                for query in evaluator.queries_ids
            ]
            return float(evaluator.compute_metrics(hits)[f"{name}@k"][case.k])

        return of

    for name in ("ndcg", "map", "mrr", "accuracy", "precision", "recall"):
        for data in ("noties", "runs"):
            yield Recording(f"cosine_{name}@{{k}}", data, "binary", score(name))


def evidently() -> Iterator[Recording]:
    """Yield the measures of Evidently's metrics of rankings."""
    import pandas as pd
    from evidently import DataDefinition, Dataset, Recsys, Report, metrics

    def score(name: str, **options: Any) -> Score:
        def of(case: Case) -> Number:
            labels, scores, queries = flat(case, "grades")
            if not any(labels):
                return None
            columns = {"user": queries, "item": range(len(labels)), "target": labels, "score": scores}
            frame = pd.DataFrame(columns).sort_values(["user", "score"], ascending=[True, False])
            names = {"user_id": "user", "item_id": "item", "target": "target", "prediction": "score"}
            definition = DataDefinition(ranking=[Recsys(**names, recommendations_type="score")])
            report = Report([getattr(metrics, name)(k=case.k, **options)])
            with contextlib.suppress(KeyError):  # where no list that counts has k items
                found = report.run(Dataset.from_pandas(frame, data_definition=definition), None).dict()
                # its numbers for k = 1, 2, ... in a row, whatever it calls the rows
                return float(found["metrics"][0]["value"]["value"][case.k - 1])
            return None

        return of

    for name in ("NDCG", "MRR", "HitRate", "PrecisionTopK", "RecallTopK"):
        yield Recording(f"{name}(k={{k}})", "noties", "grades", score(name))
        written = f"{name}(k={{k}},no_feedback_users=True)"
        yield Recording(written, "noties", "grades", score(name, no_feedback_users=True))


def autorag() -> Iterator[Recording]:
    """Yield the measures of AutoRAG's metrics of retrieval."""
    from autorag.evaluation.metric import retrieval
    from autorag.schema.metricinput import MetricInput

    def score(name: str) -> Score:
        def of(case: Case) -> Number:
            asked = [
                MetricInput(retrieval_gt=[[item] for item in liked], retrieved_ids=items)
                for items, liked in _over_ids(case)
                if liked
            ]
            return mean(each for each in getattr(retrieval, name)(asked) if each is not None)

        return of

    for name in ("precision", "recall", "f1", "ndcg", "mrr", "map"):
        yield Recording(f"retrieval_{name}", "lists", "binary", score(f"retrieval_{name}"))


def deepeval() -> Iterator[Recording]:
    """Yield the measures of DeepEval's contextual metrics, whose verdicts the labels give in a model's place."""
    os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
    from deepeval import metrics
    from deepeval.models import DeepEvalBaseLLM
    from deepeval.test_case import LLMTestCase

    def verdict(schema: Any, given: list[str]) -> Any:
        return schema.model_validate({"verdicts": [{"verdict": each, "reason": "", "statement": ""} for each in given]})

    def judge(verdicts: list[str], *, at_once: bool) -> Any:
        """Return a model that answers for all contexts, or for one after the other."""
        answers = iter([verdicts] if at_once else [[each] for each in verdicts])
        methods: dict[str, Callable[..., Any]] = {
            "load_model": lambda self: self,
            "get_model_name": lambda _: "labels",
            "generate": lambda _, __, schema: verdict(schema, next(answers)),
            "a_generate": lambda *_: None,
        }
        return type("Labels", (DeepEvalBaseLLM,), methods)("labels")

    def score(name: str, *, at_once: bool) -> Score:
        def of_list(items: list[Any], liked: list[Any]) -> float:
            model = judge(["yes" if item in liked else "no" for item in items], at_once=at_once)
            metric = getattr(metrics, name)(model=model, include_reason=False, async_mode=False)
            texts = {"input": "which?", "actual_output": "these", "expected_output": "these"}
            asked = LLMTestCase(**texts, retrieval_context=[f"item {item}" for item in items])
            return float(metric.measure(asked, _show_indicator=False))

        return lambda case: mean(of_list(items, liked) for items, liked in case.queries if items)

    for name, at_once in (("ContextualPrecisionMetric", True), ("ContextualRelevancyMetric", False)):
        yield Recording(name, "lists", "retrieved", score(name, at_once=at_once))


def ragas() -> Iterator[Recording]:
    """Yield the measures of ragas' metrics by id."""
    from ragas import SingleTurnSample
    from ragas.metrics import IDBasedContextPrecision, IDBasedContextRecall

    def score(kind: Callable[[], Any]) -> Score:
        def of(case: Case) -> Number:
            asked = [
                SingleTurnSample(retrieved_context_ids=items, reference_context_ids=liked)
                for items, liked in _over_ids(case)
            ]
            scores = [float(asyncio.run(kind().single_turn_ascore(each))) for each in asked]
            return mean(each for each in scores if not math.isnan(each))  # its mean leaves out NaN

        return of

    yield Recording("IDBasedContextPrecision", "lists", "binary", score(IDBasedContextPrecision))
    yield Recording("IDBasedContextRecall", "lists", "binary", score(IDBasedContextRecall))


def haystack(*, compares_by_id: bool = False) -> Iterator[Recording]:
    """Yield the measures of Haystack's evaluators of documents."""
    from haystack import Document
    from haystack.components import evaluators

    def score(name: str, *, graded: bool = False, **options: Any) -> Score:
        def document(item: str, *, is_gold: bool) -> Document:
            grade = 1.0 + int(item[1:]) % 4 if graded and is_gold else None
            by_id = {"id": item} if compares_by_id else {}
            return Document(content=item, score=grade, **by_id)

        def of(case: Case) -> Number:
            pairs = _over_ids(case)
            wanted = [[document(item, is_gold=True) for item in liked] for _, liked in pairs]
            shown = [[document(item, is_gold=False) for item in items] for items, _ in pairs]
            return float(getattr(evaluators, name)(**options).run(wanted, shown)["score"])

        return of

    for name in ("DocumentMAPEvaluator", "DocumentMRREvaluator", "DocumentNDCGEvaluator", "DocumentRecallEvaluator"):
        yield Recording(name, "lists", "binary", score(name))
    yield Recording("DocumentNDCGEvaluator", "lists", "ratings", score("DocumentNDCGEvaluator", graded=True))
    multiple = score("DocumentRecallEvaluator", mode="multi_hit")
    yield Recording("DocumentRecallEvaluator(mode=multi_hit)", "lists", "binary", multiple)


def haystack_2_25() -> Iterator[Recording]:
    """Yield the measures of Haystack's evaluators up to 2.25."""
    yield from haystack(compares_by_id=True)


def trulens() -> Iterator[Recording]:
    """Yield the measures of TruLens' metrics of retrieval."""
    from trulens.feedback import GroundTruthAgreement
    from trulens.feedback.dummy.provider import DummyProvider

    provider = DummyProvider()  # it wants one, which these metrics do not ask

    def score(name: str, *, cut: bool) -> Score:
        def of(case: Case) -> Number:
            found = []
            for place, (items, liked) in enumerate(_over_ids(case)):
                gold = [{"text": item, "expect_score": 1 + int(item[1:]) % 4} for item in liked]
                asked = [{"query": f"q{place}", "expected_chunks": gold}]
                agreement = GroundTruthAgreement(asked, provider=provider)
                more = {"k": case.k} if cut else {}
                found.append(float(getattr(agreement, name)(f"q{place}", items, **more)))
            return mean(each for each in found if not math.isnan(each))  # its mean leaves out NaN

        return of

    for name in ("precision_at_k", "recall_at_k", "ndcg_at_k", "ir_hit_rate"):
        yield Recording(name + "(k={k})", "lists", "ratings", score(name, cut=True))
    yield Recording("mrr", "lists", "ratings", score("mrr", cut=False))
