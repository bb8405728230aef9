"""
rankgauge in both evaluation systems of MLflow: `retrieval_metric` for `mlflow.models`, `retrieval_scorer` for `genai`.
"""
# ruff: noqa: PLC0415  # a scorer that MLflow stores imports what it needs where it runs

from __future__ import annotations

import json
import math
import types
from collections.abc import Mapping, Sequence
from typing import Any

import mlflow.genai.scorers
import mlflow.models
from mlflow.entities import AssessmentError, Feedback, SpanType, Trace
from mlflow.genai.scorers import Scorer
from mlflow.metrics import MetricValue
from mlflow.models import EvaluationMetric

from rankgauge import Catalog, HostScorer
from rankgauge.errors import DataError, ParameterError, Problem
from rankgauge.typing import HostColumn, SampleScore
from rankgauge_hosts.shared import MetricArgument

__all__ = ["feedback", "retrieval_metric", "retrieval_scorer"]


def retrieval_metric(
    metric: MetricArgument,
    *,
    config: str | None = None,
    profile: str | None = None,
    k: int | None = None,
    policy: Mapping[str, Any] | None = None,
    matchers: Mapping[str, str] | None = None,
) -> EvaluationMetric:
    """
    Make a metric for `mlflow.models.evaluate(extra_metrics=[...])`, under its safe name (``ndcg_at_10``).

    A prediction is what was retrieved, in any form of `actual_output` in a dataset of rankgauge; a target is the ground
    truth, in any form of `expected_output`. A column `metadata` of the data, if there is one, has each row's `k`,
    `answerable` and `asked_at`.

    `config`, `profile`, `k`, `policy` and `matchers` are those of `rankgauge.HostScorer`.

    Args:
        metric: The metric.

    Returns:
        The metric. A row for which nothing counts has the score None, and its justification says why. The aggregates
        are `mean` and the counts that make it honest: `n`, `n_undefined`, `n_missing`, `n_failed`; there is no `mean`
        if nothing counts.

    Raises:
        RankgaugeError: The arguments cannot be used.
    """
    suite = HostScorer(metrics=metric, config=config, profile=profile, k=k, policy=policy, matchers=matchers)
    column = suite.column

    def eval_fn(predictions: Any, targets: Any, metadata: Any = None) -> MetricValue:  # noqa: ANN401  # pandas series
        rows = zip(predictions, targets, [None] * len(predictions) if metadata is None else metadata, strict=True)
        scores = [
            suite.score_only(
                expected=_plain(target), retrieved=_plain(prediction), sample_id=f"row {row}", metadata=_plain(about)
            )
            for row, (prediction, target, about) in enumerate(rows)
        ]
        return MetricValue(
            scores=[score.value for score in scores],
            justifications=[score.described(column.name) for score in scores],
            aggregate_results=_aggregates(suite, scores),
        )

    made: EvaluationMetric = mlflow.models.make_metric(
        eval_fn=eval_fn,
        greater_is_better=column.higher_is_better,
        name=column.safe_name,
        long_name=column.name,
        metric_details=column.expression,
        metric_metadata=column.provenance,
    )
    return made


def retrieval_scorer(
    metrics: MetricArgument | Sequence[MetricArgument] | None = None,
    *,
    name: str = "retrieval",
    aggregations: Sequence[str] = ("mean",),
    **arguments: Any,  # noqa: ANN401  # the arguments of `feedback`, all of them plain JSON
) -> Scorer:
    """
    Make a scorer for `mlflow.genai.evaluate(scorers=[...])`, which gives one feedback a metric.

    MLflow stores the source of a scorer that is registered; that of this one imports what it needs, and its arguments
    are in its signature.

    Args:
        metrics: One or several metrics.

        name: The scorer's name; its feedback is called by the metrics' safe names.

        aggregations: What MLflow makes of the values of all rows.

        **arguments: Further arguments of `feedback`, such as ``k=5`` or ``document_id="metadata.doc_uri"``.

    Returns:
        The scorer.

    Raises:
        RankgaugeError: The arguments cannot be used.
    """
    given = {"metrics": metrics, **arguments}
    unknown = sorted(set(given) - _ARGUMENTS)
    if unknown:
        msg = f"retrieval_scorer() has no argument {unknown[0]!r}; there are {', '.join(sorted(_ARGUMENTS))}"
        raise ParameterError(msg)
    HostScorer(**{key: value for key, value in given.items() if key not in _PLACES})
    # A function of its own for each scorer, because MLflow reads its defaults and not what it closes over.
    function = types.FunctionType(
        _scored.__code__, globals(), _scored.__name__, (None, None, None, json.dumps(given)), None
    )
    made: Scorer = mlflow.genai.scorers.scorer(name=name, aggregations=list(aggregations))(function)
    return made


# MLflow runs the source of this function where no other name is known; hence no annotations, and imports inside.
def _scored(outputs=None, expectations=None, trace=None, arguments="{}"):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    import json

    from rankgauge_hosts.mlflow import feedback

    return feedback(outputs=outputs, expectations=expectations, trace=trace, **json.loads(arguments))


def feedback(
    *,
    outputs: object = None,
    expectations: Mapping[str, Any] | None = None,
    trace: Trace | None = None,
    metrics: MetricArgument | Sequence[MetricArgument] | None = None,
    retrieved: str = "retrieved",
    gold: str | None = None,
    span: str | None = None,
    document_id: str | None = None,
    config: str | None = None,
    profile: str | None = None,
    k: int | None = None,
    policy: Mapping[str, Any] | None = None,
    matchers: Mapping[str, str] | None = None,
) -> list[Feedback]:
    """
    Score one row, for scorers of your own.

    `config`, `profile`, `k`, `policy` and `matchers` are those of `rankgauge.HostScorer`.

    Args:
        outputs: What the application returned: a list of results, a mapping with them under *retrieved* (and
            optionally `answer`), or a text, which is the answer.

        expectations: The ground truth: `relevant`, `passages`, `answer` and the other kinds of a dataset, or what
            MLflow calls `expected_retrieved_context` (its `doc_uri` and `content`) and `expected_response`;
            also the row's `k`, `answerable` and `asked_at`.

        trace: The row's trace, whose retriever span holds the results where *outputs* holds none.

        metrics: One or several metrics.

        retrieved: The key of the results in *outputs*.

        gold: The key of the whole ground truth in *expectations*, in any form of `expected_output`.

        span: The name of the retriever span, where a trace has several.

        document_id: What identifies a document of the trace: a path such as ``metadata.doc_uri`` or ``id``. By default
            the first of these two that it has.

    Returns:
        A feedback for each metric, under its safe name. One for which nothing counts has no value, which leaves it out
        of MLflow's aggregates: where it is undefined, it has a rationale, and no `pass_if` is asked; where its output
        is missing or failed, and excluded, it has an error whose code is the status (`MISSING`, `FAILED`).

    Raises:
        RankgaugeError: The arguments or the ground truth cannot be used, or the policy refuses the row.
    """
    suite = HostScorer(metrics=metrics, config=config, profile=profile, k=k, policy=policy, matchers=matchers)
    found, answer = _emitted(_plain(outputs), retrieved)
    if found is None and trace is not None:
        found = _from_trace(trace, span, document_id)
    expected = _expected(expectations or {}, gold)
    scores = suite.score(expected=expected, retrieved=found, answer=answer, sample_id="row", metadata=expectations)
    return [_feedback(column, scores[column.name]) for column in suite.columns]


_PLACES = frozenset({"retrieved", "gold", "span", "document_id"})
_ARGUMENTS = _PLACES | {"metrics", "config", "profile", "k", "policy", "matchers"}


def _feedback(column: HostColumn, score: SampleScore) -> Feedback:
    why = score.described(column.name)
    about = {"status": score.status, **column.provenance}
    if score.value is None and score.status != "undefined":
        error = AssessmentError(error_code=score.status.upper(), error_message=score.reason)
        return Feedback(name=column.safe_name, error=error, rationale=why, metadata=about)
    return Feedback(name=column.safe_name, value=score.value, rationale=why, metadata=about)


def _aggregates(suite: HostScorer, scores: Sequence[SampleScore]) -> dict[str, float]:
    mean = suite.aggregated(score.value for score in scores)
    counts = {
        f"n_{status}": sum(score.status == status for score in scores) for status in ("undefined", "missing", "failed")
    }
    known: dict[str, float] = {} if mean is None else {suite.column.aggregate: mean}
    return {**known, "n": sum(score.value is not None for score in scores), **counts}


def _emitted(outputs: object, key: str) -> tuple[object, str | None]:
    """Return the results and the answer that an application returned."""
    if isinstance(outputs, str):
        try:
            decoded = json.loads(outputs)
        except ValueError:
            return None, outputs
        return _emitted(decoded, key) if isinstance(decoded, list | dict) else (None, outputs)
    if not isinstance(outputs, dict):
        return outputs, None
    answer = outputs.get("answer")
    return outputs.get(key), answer if isinstance(answer, str) else None


def _from_trace(trace: Trace, span: str | None, document_id: str | None) -> list[dict[str, Any]] | None:
    spans = trace.search_spans(span_type=SpanType.RETRIEVER, name=span)
    if len(spans) > 1:
        names = ", ".join(sorted({each.name for each in spans}))
        msg = "the row cannot be scored:"
        problem = f"its trace has {len(spans)} retriever spans ({names}), and one is judged; name it with span="
        raise DataError(msg, [Problem(problem)])
    if not spans or spans[0].outputs is None:
        return None
    documents = [_plain(document) for document in spans[0].outputs]
    paths = ("metadata.doc_uri", "id") if document_id is None else (document_id,)
    return [_document(document, paths) for document in documents]


def _document(document: object, paths: Sequence[str]) -> dict[str, Any]:
    if not isinstance(document, dict):
        msg = "the row cannot be scored:"
        raise DataError(msg, [Problem(f"its retriever span holds {document!r}, which is not a document")])
    item: dict[str, Any] = {"text": document.get("page_content") or ""}
    for path in paths:
        value: object = document
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if value not in (None, ""):
            return {**item, "id": str(value)}
    return item


def _expected(expectations: Mapping[str, Any], gold: str | None) -> object:
    if gold is not None:
        return _plain(expectations.get(gold))
    known = Catalog.installed().gold_keys
    given = {key: _plain(expectations[key]) for key in known if expectations.get(key) is not None}
    if isinstance(answer := expectations.get("expected_response"), str) and answer:
        given.setdefault("answer", answer)
    contexts = _plain(expectations.get("expected_retrieved_context"))
    if isinstance(contexts, list):
        given.setdefault("relevant", [each["doc_uri"] for each in contexts if each.get("doc_uri")])
        given.setdefault("passages", [each["content"] for each in contexts if each.get("content")])
    return given or (None if expectations.get("answerable") is not False else {})


def _plain(value: Any) -> Any:  # noqa: ANN401  # any value of a frame, as JSON has it
    """Return a value of a data frame as JSON has it."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # numpy
        return _plain(value.tolist())
    if hasattr(value, "to_dict"):  # a document of MLflow
        return _plain(value.to_dict())
    if isinstance(value, Sequence | set | frozenset):
        return [_plain(item) for item in value]
    return value
