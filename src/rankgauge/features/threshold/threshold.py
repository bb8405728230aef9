"""
The score below which a system should say nothing: chosen on one half of the questions, and reported on the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.base.frozen import plain_fields
from rankgauge.base.plain_text import visible
from rankgauge.base.tables import Line
from rankgauge.errors import ParameterError, ResultError, counted, listed
from rankgauge.features.threshold.selective import Calibration, calibration, risk_area, risk_area_interval
from rankgauge.result import MetricSummary, Result
from rankgauge.result.wording import dataset_name
from rankgauge.stats import estimate_mean, interval_of_mean

__all__ = ["Half", "Share", "Threshold", "threshold", "threshold_lines"]

_NEEDED = ("false_answers", "false_abstentions", "top_score")
_FEW = 10
_MOST_SEED = 1 << 128
_ROUNDED = 1e-9  # by how much means of equal losses may differ

_Floats = NDArray[np.float64]
_Flags = NDArray[np.bool_]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Share:
    """A share of questions, with its interval; None if there is no question, or too few for an interval."""

    n: int
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Half:
    """
    What a threshold does on some questions.

    Attributes:
        false_answers: Which share of the unanswerable ones is still answered.

        silenced: Which share of the answerable ones is not answered, by the threshold or by the system itself.

        mean: The mean of the metric over answerable questions, those that are not answered with 0; None without one.

        mean_before: The same without the threshold.
    """

    false_answers: Share
    silenced: Share
    mean: Share | None
    mean_before: Share | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """
    A threshold on the score of the first result.

    Attributes:
        dataset: What it was chosen on.

        value: The lowest score that is answered; None if nothing should be.

        at_most: The rate of false answers that it had to keep.

        chosen: What it does on the half on which it was chosen, which flatters it.

        reported: What it does on the other half.

        metric: The column that says how good answers are, if any.

        risk_area: The area under the curve of risk by coverage over all questions that are answered.

        risk_area_interval: Its bootstrap interval.

        mean_loss: What that area is where scores tell nothing: the mean loss.

        is_reversed: Whether answers are the worse the higher their scores are, as with distances: the interval of the
            area lies above the mean loss.

        calibration: Whether scores are probabilities of a good answer; None if one is outside of 0 to 1.

        confidence: That of every interval.

        seed: Which halves.
    """

    dataset: str
    value: float | None
    at_most: float
    chosen: Half
    reported: Half
    metric: str | None
    risk_area: float
    risk_area_interval: tuple[float, float]
    mean_loss: float
    is_reversed: bool
    calibration: Calibration | None
    confidence: float
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain values."""
        return plain_fields(self)


@dataclass(frozen=True, slots=True)
class _Questions:
    """The questions of a result that have an output; arrays of shape (n,)."""

    scores: _Floats  # NaN if nothing is said
    unanswerable: _Flags
    values: _Floats | None  # of the metric; NaN for unanswerable ones
    clusters: _Ints | None

    def take(self, places: _Ints) -> _Questions:
        values = None if self.values is None else self.values[places]
        clusters = None if self.clusters is None else self.clusters[places]
        return _Questions(self.scores[places], self.unanswerable[places], values, clusters)


def threshold(
    result: Result,
    metric: str | None = None,
    *,
    at_most: float = 0.05,
    confidence: float = 0.95,
    seed: int = 0,
) -> Threshold:
    """
    Choose the score of the first result below which the system should say nothing.

    It is chosen on a random half of the questions, or of their clusters, and reported on the other.

    Args:
        result: The result, with the columns `false_answers`, `false_abstentions` and `top_score`.

        metric: A column that says how good answers are, from 0 to 1; without one, any answer to an answerable question
            is good.

        at_most: Which share of the unanswerable questions may be answered.

        confidence: That of intervals.

        seed: Which halves.

    Returns:
        The threshold, what it does on both halves, and what scores are worth.

    Raises:
        ResultError: The result lacks `false_answers`, `false_abstentions` or `top_score`; or there are fewer than ten
            questions of either kind; or something was answered without a score.

        ParameterError: A share outside of its range, or a metric that does not say how good an answer is.
    """
    if not 0 <= at_most < 1:
        raise ParameterError(f"the rate of false answers to keep is 0 or more and below 1, not {at_most!r}")
    if not 0 < confidence < 1:
        raise ParameterError(f"the confidence lies between 0 and 1, not at {confidence!r}")
    if not 0 <= seed < _MOST_SEED:
        raise ParameterError(f"seed is an integer of 0 or more and below 2**128, not {seed!r}")
    try:
        good_by = None if metric is None else result[metric]
    except KeyError as error:
        raise ParameterError(str(error.args[0])) from None
    questions = _questions(result, good_by)
    first, second = (questions.take(places) for places in _halves(questions, seed))
    if not first.unanswerable.any():
        raise ResultError(
            "the half that chooses has no unanswerable question, because clusters stay whole; take another seed, or "
            "name clusters that have both kinds"
        )
    value = _lowest(first, at_most)
    answered = questions.take(np.flatnonzero(~np.isnan(questions.scores)))
    if not len(answered.scores):
        raise ResultError("the system says nothing for any question, so that there is no score to choose")
    good = np.ones(len(answered.scores)) if answered.values is None else answered.values
    losses = np.where(answered.unanswerable, 1.0, 1.0 - good)
    area_interval = risk_area_interval(answered.scores, losses, answered.clusters, confidence=confidence, seed=seed)
    mean_loss = float(losses.mean())
    return Threshold(
        dataset=dataset_name(result),
        value=None if value == math.inf else value,
        at_most=at_most,
        chosen=_half(first, value, confidence),
        reported=_half(second, value, confidence),
        metric=None if good_by is None else good_by.name,
        risk_area=risk_area(answered.scores, losses),
        risk_area_interval=area_interval,
        mean_loss=mean_loss,
        is_reversed=area_interval[0] > mean_loss + _ROUNDED,
        calibration=calibration(answered.scores, 1.0 - losses),
        confidence=confidence,
        seed=seed,
    )


def _questions(result: Result, good_by: MetricSummary | None) -> _Questions:
    """Return the questions of a result; a `ResultError` says what it lacks."""
    by_alias = {column.info.alias.replace("-", "_"): column for column in result.metrics.values()}
    if lost := [name for name in _NEEDED if name not in by_alias]:
        wanted = " ".join(f"-m {name}" for name in lost)
        raise ResultError(f"a threshold needs {listed(lost)}, which the result does not have; run it with {wanted}")
    on_unanswerable, on_answerable, scores = (by_alias[name].values for name in _NEEDED)
    unanswerable, answerable = ~np.isnan(on_unanswerable), ~np.isnan(on_answerable)
    for name, group in (("unanswerable", unanswerable), ("answerable", answerable)):
        if group.sum() < _FEW:
            hint = " (metadata.answerable: false)" if name == "unanswerable" else ""
            raise ResultError(
                f"{counted(int(group.sum()), f'{name} question')} with an output{hint}; a threshold that is chosen on "
                f"one half and reported on the other needs {_FEW} at least"
            )
    answers = np.where(unanswerable, on_unanswerable, 1.0 - on_answerable) > 0
    kept = unanswerable | answerable
    blind = kept & answers & np.isnan(scores)
    if blind.any():
        first = result.sample_ids[int(np.flatnonzero(blind)[0])]
        what = f"{counted(int(blind.sum()), 'question')} answered without a score, such as {first!r}"
        raise ResultError(f"{what}; a threshold needs the `score` of the first retrieved item")
    places = np.flatnonzero(kept)
    values = None if good_by is None else _good(good_by, answerable)[places]
    if any(column.weights is not None for column in by_alias.values()):
        raise ResultError("a threshold counts every question alike, and these have weights; leave the weights out")
    clusters = by_alias["top_score"].clusters
    return _Questions(scores[places], unanswerable[places], values, None if clusters is None else clusters[places])


def _good(column: MetricSummary, answerable: _Flags) -> _Floats:
    """Return the values of a metric that says how good an answer is, from 0 to 1."""
    if column.info.range != (0.0, 1.0) or not column.info.higher_is_better:
        raise ParameterError(f"{column.name} does not say how good an answer is from 0 to 1; name another metric")
    if np.isnan(column.values[answerable]).any():
        raise ParameterError(f"{column.name} has no value for some answerable questions; name another metric")
    return np.where(answerable, column.values, np.nan)


def _halves(questions: _Questions, seed: int) -> tuple[_Ints, _Ints]:
    """Return two random halves: of clusters, or else of unanswerable and of answerable questions alike."""
    chance = np.random.Generator(np.random.Philox(key=seed))
    if questions.clusters is not None:
        codes = np.unique(questions.clusters, return_inverse=True)[1]
        order = chance.permutation(int(codes.max()) + 1)
        is_first = np.isin(codes, order[: (len(order) + 1) // 2])
    else:
        is_first = np.zeros(len(questions.scores), dtype=np.bool_)
        for kind in (questions.unanswerable, ~questions.unanswerable):
            places = chance.permutation(np.flatnonzero(kind))
            is_first[places[: (len(places) + 1) // 2]] = True
    return np.flatnonzero(is_first), np.flatnonzero(~is_first)


def _lowest(questions: _Questions, at_most: float) -> float:
    """Return the lowest score from which on answering keeps a rate of false answers; infinity if none does."""
    wrong = questions.scores[questions.unanswerable]
    allowed = math.floor(at_most * len(wrong) * (1 + 1e-12))
    said = questions.scores[~np.isnan(questions.scores)]
    highest_first = np.sort(wrong[~np.isnan(wrong)])[::-1]
    too_low = highest_first[allowed] if len(highest_first) > allowed else -math.inf
    return float(np.min(said[said > too_low], initial=math.inf))


def _half(questions: _Questions, value: float, confidence: float) -> Half:
    with np.errstate(invalid="ignore"):
        answered = questions.scores >= value
    good = questions.unanswerable, ~questions.unanswerable
    mean = before = None
    if questions.values is not None:
        values = np.nan_to_num(questions.values)
        mean = _share(np.where(answered, values, 0.0), good[1], questions.clusters, confidence)
        said = ~np.isnan(questions.scores)
        before = _share(np.where(said, values, 0.0), good[1], questions.clusters, confidence)
    return Half(
        false_answers=_share(answered.astype(np.float64), good[0], questions.clusters, confidence),
        silenced=_share((~answered).astype(np.float64), good[1], questions.clusters, confidence),
        mean=mean,
        mean_before=before,
    )


def _share(values: _Floats, among: _Flags, clusters: _Ints | None, confidence: float) -> Share:
    chosen, codes = values[among], None if clusters is None else clusters[among]
    if not len(chosen):
        return Share(0, None, None, None)
    estimate = estimate_mean(chosen, codes)
    binary = bool(np.isin(chosen, (0.0, 1.0)).all())
    interval = interval_of_mean(
        estimate, (0.0, 1.0), binary=binary, confidence=confidence, values=chosen, clusters=codes
    )
    low, high = (None, None) if interval is None else interval[:2]
    return Share(len(chosen), estimate.mean, low, high)


def threshold_lines(chosen: Threshold) -> Iterator[Line]:
    """Yield the chosen, what it does on the half that did not choose it, and what scores are worth."""
    yield Line(_verdict(chosen), "good" if _keeps(chosen) else "bad")
    if chosen.is_reversed:
        yield Line(_REVERSED, "bad")
    yield Line("")
    yield Line(f"{'':<16}{'chosen on one half':<32}reported on the other")
    sides = chosen.chosen, chosen.reported
    yield Line(f"{'false answers':<16}" + _row(*(half.false_answers for half in sides)))
    yield Line(f"{'silenced':<16}" + _row(*(half.silenced for half in sides)))
    if chosen.metric is not None:
        name = visible(chosen.metric)[:15]
        yield Line(f"{name:<16}" + _row(*(half.mean or _NOTHING for half in sides)))
        yield Line(f"{'  without it':<16}" + _row(*(half.mean_before or _NOTHING for half in sides)))
    yield Line("")
    low, high = chosen.risk_area_interval
    of = "false answers" if chosen.metric is None else f"false answers and 1 - {visible(chosen.metric)}"
    yield Line(f"area under risk by coverage: {chosen.risk_area:.4f} ({low:.4f} to {high:.4f}); risk is of {of}")
    yield Line(f"scores that tell nothing have {chosen.mean_loss:.4f}, the mean risk")
    if chosen.calibration is None:
        yield Line("some scores lie outside of 0 to 1, so that they are no probabilities")
    else:
        error, brier = chosen.calibration.error, chosen.calibration.brier
        yield Line(f"as probabilities of a good answer, scores are off by {error:.4f} (Brier score {brier:.4f})")


_REVERSED = (
    "the higher a score, the worse the answer: are they distances? higher scores have to be better; negate them, and "
    "run it again"
)
_NOTHING = Share(0, None, None, None)


def _keeps(chosen: Threshold) -> bool:
    rate = chosen.reported.false_answers.value
    held = chosen.value is not None and rate is not None and rate <= chosen.at_most
    return held and not chosen.is_reversed and not _silences_all(chosen)


def _silences_all(chosen: Threshold) -> bool:
    """Return whether no answerable question is answered any more, in either half."""
    shares = [half.silenced.value for half in (chosen.chosen, chosen.reported)]
    return all(share is None or share == 1.0 for share in shares)


def _verdict(chosen: Threshold) -> str:
    what = f"{visible(chosen.dataset)}: at most {100 * chosen.at_most:g} % false answers"
    if chosen.value is None:
        return f"{what}: no score keeps that; the system would have to say nothing at all"
    half: Half = chosen.reported
    below = f"say nothing below {chosen.value!r}".removesuffix(".0")  # a rounded one would be another threshold
    rate, high = half.false_answers.value, half.false_answers.high
    if rate is None or high is None:
        return f"{what}: {below}, which nothing in the other half can try"
    if _silences_all(chosen):
        return f"{what}: {below} would silence every question that has an answer, too; scores do not tell them apart"
    held = "holds" if rate <= chosen.at_most else "does not hold"
    sure = "" if high <= chosen.at_most else f", and {high:.1%} cannot be ruled out"
    tried = counted(half.false_answers.n, "question")
    return f"{what}: {below}; on the other half that {held}: {rate:.1%} of {tried}{sure}"


def _row(*shares: Share) -> str:
    return "".join(f"{_cell(share):<32}" for share in shares).rstrip()


def _cell(share: Share) -> str:
    if share.value is None:
        return "no question"
    within = "" if share.low is None or share.high is None else f" ({share.low:.4f} to {share.high:.4f})"
    return f"{share.value:.4f}{within} n={share.n:,}"
