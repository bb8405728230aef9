"""
Haystack's evaluators of retrieved documents and of answers, for documents of any kind.

Profile `haystack` has the same conventions; there are no cutoffs: all retrieved documents count. Haystack itself is not
needed: a document is anything with `content`, `id`, `meta` and `score`. As in the original, `run` raises `ValueError`
for empty lists, lists of different length, and a field that documents do not have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Protocol, Self, TypedDict, TypeVar

from rankgauge.base.logs import logger
from rankgauge.columns import Scores
from rankgauge.features.compat.plain_values import ByValue, judge_by_value, scores_of
from rankgauge.metrics.answer import answer_exact_match
from rankgauge.metrics.average_precision import average_precision
from rankgauge.metrics.ndcg import discounted, ndcg
from rankgauge.metrics.recall import hit, recall
from rankgauge.metrics.reciprocal_rank import reciprocal_rank

__all__ = [
    "AnswerExactMatchEvaluator",
    "AnswerScores",
    "Document",
    "DocumentMAPEvaluator",
    "DocumentMRREvaluator",
    "DocumentNDCGEvaluator",
    "DocumentRecallEvaluator",
    "DocumentScores",
    "RecallMode",
    "value_of",
]

T = TypeVar("T")

_PROFILE = "haystack"
_DOCUMENTS = "ground_truth_documents and retrieved_documents"


class Document(Protocol):
    """A document; only what is compared, and for nDCG the score, is read."""

    @property
    def content(self) -> str | None:
        """Return its text."""

    @property
    def id(self) -> str:
        """Return its id."""

    @property
    def meta(self) -> Mapping[str, object]:
        """Return its metadata."""

    @property
    def score(self) -> float | None:
        """Return its gain, if it belongs to the ground truth."""


Documents = Sequence[Sequence[Document]]
"""One list of documents for each query."""


class DocumentScores(TypedDict):
    """The mean over queries, and the score of each."""

    score: float
    individual_scores: list[float]


class AnswerScores(TypedDict):
    """The mean over answers, and the score of each, 0 or 1."""

    individual_scores: list[int]
    score: float


class RecallMode(Enum):
    """Whether recall is 1 as soon as anything was found, or the share that was found."""

    SINGLE_HIT = "single_hit"
    MULTI_HIT = "multi_hit"

    def __str__(self) -> str:
        return self.value

    @staticmethod
    def from_str(string: str) -> RecallMode:
        """Return the mode `single_hit` or `multi_hit`; raise `ValueError` for any other."""
        known = [mode.value for mode in RecallMode]
        if string not in known:
            raise ValueError(f"Unknown recall mode '{string}'. Supported modes are: {known}")
        return RecallMode(string)


class _Evaluator:
    """Turns into a dictionary, and is made again from one."""

    def to_dict(self) -> dict[str, object]:
        """Return a dictionary from which `from_dict` makes this evaluator again."""
        return {"type": f"rankgauge.compat.haystack.{type(self).__name__}", "init_parameters": self._parameters()}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Make an evaluator from a dictionary that `to_dict` returned, here or in Haystack."""
        parameters = data.get("init_parameters") or {}
        if str(data.get("type")).rpartition(".")[2] != cls.__name__ or not isinstance(parameters, Mapping):
            raise ValueError(f"{dict(data)!r} does not describe a {cls.__name__}")
        return cls(**parameters)

    def _parameters(self) -> dict[str, str]:
        return {}


class _DocumentEvaluator(_Evaluator):
    """Compares documents by one of their fields."""

    def __init__(self, document_comparison_field: str = "content") -> None:
        self.document_comparison_field = document_comparison_field

    def _parameters(self) -> dict[str, str]:
        return {"document_comparison_field": self.document_comparison_field}

    def _values(self, documents: Sequence[Document]) -> list[object]:
        return [value_of(document, self.document_comparison_field) for document in documents]


class DocumentRecallEvaluator(_DocumentEvaluator):
    """
    Recall of the distinct gold values; values that are None or the empty string are ignored.

    Attributes:
        mode: Whether a query scores 1 as soon as anything is found, or the share that is found.

        document_comparison_field: The field compared: `content`, `id` or ``meta.<key>``, with dots for nested keys.
    """

    def __init__(
        self, mode: str | RecallMode = RecallMode.SINGLE_HIT, document_comparison_field: str = "content"
    ) -> None:
        self.mode = RecallMode.from_str(str(mode))
        super().__init__(document_comparison_field)

    def run(self, ground_truth_documents: Documents, retrieved_documents: Documents) -> DocumentScores:
        """
        Score every query; one with no value on either side scores 0, and a warning is logged.

        Args:
            ground_truth_documents: The gold documents of each query.

            retrieved_documents: The documents retrieved for each, best first.

        Returns:
            The mean and the score of each query.

        Raises:
            ValueError: There are no queries, the lengths differ, or the field cannot be compared.

            TypeError: A value, such as a list in `meta`, is not hashable.
        """
        queries = [
            ByValue(self._comparable(gold, "ground truth"), self._comparable(retrieved, "retrieved"))
            for gold, retrieved in _pairs(ground_truth_documents, retrieved_documents, _DOCUMENTS)
        ]
        judged = judge_by_value(queries, _PROFILE)
        metric = hit if self.mode is RecallMode.SINGLE_HIT else recall
        return _result(scores_of(metric, judged, _PROFILE, k=judged.depth))

    def _comparable(self, documents: Sequence[Document], side: str) -> list[object]:
        kept = [_hashable(value) for value in self._values(documents) if value not in ("", None)]
        if not kept:
            logger("compat.haystack").warning(
                "a query has no %s documents with a value in %r. Score will be set to 0.",
                side,
                self.document_comparison_field,
            )
        return kept

    def _parameters(self) -> dict[str, str]:
        return {"mode": str(self.mode), **super()._parameters()}


class _UncutEvaluator(_DocumentEvaluator):
    """Compares documents, of which only those with the value None never match, by the metric of a subclass."""

    _metric: Callable[..., Scores]

    def run(self, ground_truth_documents: Documents, retrieved_documents: Documents) -> DocumentScores:
        """
        Score every query, as in `DocumentRecallEvaluator`; 0 if nothing is found, and no value has to be hashable.
        """
        queries = [
            ByValue([value for value in self._values(gold) if value is not None], self._values(retrieved))
            for gold, retrieved in _pairs(ground_truth_documents, retrieved_documents, _DOCUMENTS)
        ]
        return _result(scores_of(self._metric, judge_by_value(queries, _PROFILE), _PROFILE))


class DocumentMRREvaluator(_UncutEvaluator):
    """
    1 / the rank of the first retrieved gold document; None never matches, the empty string does.

    Attributes:
        document_comparison_field: As in `DocumentRecallEvaluator`.
    """

    _metric = staticmethod(reciprocal_rank)


class DocumentMAPEvaluator(_UncutEvaluator):
    """
    Average precision over the distinct gold values, each credited once; None never matches, the empty string does.

    Attributes:
        document_comparison_field: As in `DocumentRecallEvaluator`.
    """

    _metric = staticmethod(average_precision)


class DocumentNDCGEvaluator(_DocumentEvaluator):
    """
    nDCG; a gain is the gold document's score, or 1.

    Attributes:
        document_comparison_field: As in `DocumentRecallEvaluator`.
    """

    def run(self, ground_truth_documents: Documents, retrieved_documents: Documents) -> DocumentScores:
        """
        Score every query, as in `DocumentRecallEvaluator`; the integer 0 if no gold document has a gain.

        All gold documents of a query have a score, or none has; else `ValueError` is raised. Of duplicates, the highest
        counts.
        """
        queries = []
        for gold, retrieved in _pairs(ground_truth_documents, retrieved_documents, _DOCUMENTS):
            if len({document.score is None for document in gold}) > 1:
                raise ValueError(
                    "Either none or all documents in each list of ground_truth_documents must have a score."
                )
            truths = zip(map(_hashable, self._values(gold)), [document.score for document in gold], strict=True)
            known = [(value, 1.0 if score is None else score) for value, score in truths if value is not None]
            values = list(map(_hashable, self._values(retrieved)))
            queries.append(ByValue([value for value, _ in known], values, [score for _, score in known]))
        judged = judge_by_value(queries, _PROFILE)
        scores = scores_of(ndcg, judged, _PROFILE, k=None)
        best = discounted(judged, judged.ideal()).tolist()
        return _result([score if most > 0 else 0 for score, most in zip(scores, best, strict=True)])


class AnswerExactMatchEvaluator(_Evaluator):
    """Whether a predicted answer equals the accepted answer, letter by letter."""

    def run(self, ground_truth_answers: Sequence[str], predicted_answers: Sequence[str]) -> AnswerScores:
        """
        Score every answer.

        Args:
            ground_truth_answers: The accepted answer of each question.

            predicted_answers: The answer given to each.

        Returns:
            The score of each question, the integer 0 or 1, and their mean.

        Raises:
            ValueError: There are no questions, or the lengths differ.
        """
        pairs = _pairs(ground_truth_answers, predicted_answers, "ground_truth_answers and predicted_answers")
        judged = judge_by_value([ByValue([truth], [answer]) for truth, answer in pairs], _PROFILE)
        scores = [int(score) for score in scores_of(answer_exact_match, judged, _PROFILE)]
        return {"individual_scores": scores, "score": sum(scores) / len(scores)}


def _result(scores: list[float]) -> DocumentScores:
    return {"score": sum(scores) / len(scores), "individual_scores": scores}


def value_of(document: Document, field: str) -> object:
    """
    Return the value by which two documents are compared; None if `meta` lacks the key.

    Args:
        document: A document, ours or Haystack's.

        field: `content`, `id` or ``meta.<key>``, with dots for nested keys.

    Raises:
        ValueError: Documents have no such field.
    """
    if field == "content":
        return document.content
    if field == "id":
        return document.id
    if not field.startswith("meta."):
        known = "Use 'content', 'id', or 'meta.<key>'."
        raise ValueError(f"Unsupported document_comparison_field: '{field}'. {known}")
    value: object = document.meta
    for key in field.removeprefix("meta.").split("."):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


def _hashable(value: object) -> object:
    """Return the same value; raise `TypeError` if it cannot be hashed."""
    hash(value)
    return value


def _pairs(gold: Sequence[T], retrieved: Sequence[T], kind: str) -> list[tuple[T, T]]:
    """Pair both sides; raise `ValueError` if one is empty or the lengths differ; *kind* names the arguments."""
    if len(gold) == 0 or len(retrieved) == 0:
        raise ValueError(f"{kind} must be provided.")
    if len(gold) != len(retrieved):
        raise ValueError(f"The length of {kind} must be the same.")
    return list(zip(gold, retrieved, strict=True))
