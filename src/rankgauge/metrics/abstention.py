"""
Abstention: whether a system says nothing where nothing is to be said, and only there.
"""

from __future__ import annotations

import functools

import numpy as np

from rankgauge.columns import Flags
from rankgauge.plugin import Judged, Scores, metric

__all__ = ["abstention_recall", "false_abstentions", "false_answers", "top_score"]


def _is_unanswerable(judged: Judged) -> Flags:
    return judged.gold.grade > 0  # one gold item a sample


def _is_answerable(judged: Judged) -> Flags:
    return ~_is_unanswerable(judged)


def _answered(judged: Judged) -> Flags:
    return np.bincount(judged.rows.sample, minlength=judged.n) > 0


_over_unanswerable = functools.partial(
    metric,
    gold="answerable",
    uses_rel=False,
    defined=_is_unanswerable,
    undefined="the sample is answerable",
    laws=("bounded",),
)


@_over_unanswerable("false-answers", short=("false_answers",), higher_is_better=False)
def false_answers(judged: Judged) -> Scores:
    """
    Whether a question without an answer was answered: the mean is the rate of false answers.

    Formula: 1 if the output says something, else 0, over samples with ``metadata.answerable: false``. An output says
    something by its `answer`, unless that is blank or consists of phrases of the policy option `abstains`; without an
    answer, by what it retrieved.

    When to use it: the collection does not hold every answer, and saying so is right.

    Returns:
        Shape (n,), 0 or 1; NaN for answerable samples.
    """
    return np.where(_is_unanswerable(judged), _answered(judged), np.nan)


@_over_unanswerable("abstention-recall", short=("abstention_recall",))
def abstention_recall(judged: Judged) -> Scores:
    """
    Whether nothing was said about a question without an answer: the share of those that were recognized.

    Formula: ``1 - false_answers``.

    When to use it: as `false_answers`, where more has to be better.

    Returns:
        Shape (n,), 0 or 1; NaN for answerable samples.
    """
    return 1.0 - false_answers(judged)


@metric(
    "false-abstentions",
    short=("false_abstentions",),
    gold="answerable",
    uses_rel=False,
    higher_is_better=False,
    defined=_is_answerable,
    undefined="the sample is declared unanswerable",
    laws=("bounded",),
)
def false_abstentions(judged: Judged) -> Scores:
    """
    Whether nothing was said about a question that has an answer.

    Formula: 1 if the output says nothing, else 0, over answerable samples; see `false_answers`.

    When to use it: beside `false_answers`, which a system that never says anything has 0 of.

    Returns:
        Shape (n,), 0 or 1; NaN for unanswerable samples.
    """
    return np.where(_is_answerable(judged), ~_answered(judged), np.nan)


@metric(
    "top-score",
    short=("top_score",),
    gold="answerable",
    uses_rel=False,
    range=(None, None),
    describes=True,
    undefined="the output says nothing, or its first item has no score",
    defined=_answered,
    laws=(),
)
def top_score(judged: Judged) -> Scores:
    """
    Score of the first result: how sure a system is, for `rankgauge threshold`.

    Formula: the `score` of the item at rank 1, of every sample that says something, the unanswerable ones, too.

    When to use it: to choose the score below which a system should say nothing.

    Returns:
        Shape (n,), of any size; NaN if nothing is said, or the item has no score.
    """
    found = np.full(judged.n, np.nan)
    found[judged.rows.sample] = judged.score
    return found
