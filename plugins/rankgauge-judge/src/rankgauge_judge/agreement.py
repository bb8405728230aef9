"""
How far judges agree: over all documents, by grade, length and rank, and whether they order systems alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import rankgauge
from rankgauge.errors import DataError, ParameterError, Problem
from rankgauge.text import counted
from rankgauge_judge.judgments import Judgments, Pair
from rankgauge_judge.rater_agreement import Coefficient, ac2, alpha, bootstrapped, counted_pairs, weighted_kappa

__all__ = ["Disagreement", "Group", "OrderAgreement", "PairAgreement", "ScaleFrom", "compare_judges", "order_agreement"]

_RESAMPLES = 2_000
_RANKS = ((1, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, None))

_Floats = NDArray[np.float64]
_Ints = NDArray[np.intp]

ScaleFrom = Literal["given", "queue", "occurring"]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A document that two judges see differently."""

    query: str
    document: str
    grades: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Group:
    """Some of the documents: which, how many, and how many of them have the same grade from both."""

    name: str
    n: int
    same: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PairAgreement:
    """
    How far two judges agree.

    Attributes:
        judges: Their names.

        n: How many documents both judged.

        questions: Of how many questions.

        same: How many of the documents have the same grade from both.

        kappa: Weighted kappa, quadratic.

        kappa_linear: The same, linear.

        ac2: Gwet's AC2, quadratic.

        alpha: Krippendorff's alpha of the two.

        scale: The grades that could be given, ascending: AC2 depends on how many they are and how far they reach.

        scale_from: Where the scale is from: `given` to `compare_judges`, the `queue` of a judge, or, if nothing says
            it, the grades that are `occurring` in the judgments of either.

        confusion: How often the first judge gave the grade of a row where the second gave that of a column.

        by_grade: By the grade of the first judge.

        by_length: By the length of the document's text, in thirds; empty without texts.

        by_rank: By the best rank in any run; empty without runs.

        worst: The documents whose grades lie farthest apart.
    """

    judges: tuple[str, str]
    n: int
    questions: int
    same: int
    kappa: Coefficient
    kappa_linear: Coefficient
    ac2: Coefficient
    alpha: Coefficient
    scale: tuple[float, ...]
    scale_from: ScaleFrom
    confusion: tuple[tuple[int, ...], ...]
    by_grade: tuple[Group, ...]
    by_length: tuple[Group, ...]
    by_rank: tuple[Group, ...]
    worst: tuple[Disagreement, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """Whether the judgments of two judges order systems alike: Kendall's tau-b of the means of a metric."""

    judges: tuple[str, str]
    metric: str
    means: Mapping[str, tuple[float, float]]  # of each run, under either judge
    tau: Coefficient
    questions: int

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain values."""
        return asdict(self)


def compare_judges(
    judges: Sequence[Judgments],
    *,
    scale: Sequence[float] | None = None,
    ranks: Mapping[Pair, int] | None = None,
    worst: int = 10,
    confidence: float = 0.95,
    seed: int = 0,
) -> list[PairAgreement]:
    """
    Compare each two judges over what both judged.

    *scale* has the grades that could be given, for all judges; by default it is that of their queues. A `DataError` if
    two judged nothing in common, a `ParameterError` if a judge gave a grade that is not on *scale*.
    """
    for judge in judges if scale is not None else ():
        _check_on_scale(judge, scale or ())
    return [
        _compared(first, second, _scale_of(first, second, scale), ranks or {}, worst, confidence, seed)
        for first, second in combinations(judges, 2)
    ]


def _check_on_scale(judge: Judgments, scale: Sequence[float]) -> None:
    """Refuse a scale that lacks a grade of a judge."""
    strange = [(pair, grade) for pair, grade in judge.grades.items() if grade not in scale]
    if strange:
        (query, document), grade = strange[0]
        listed, others = ", ".join(f"{each:g}" for each in scale), ""
        if len(strange) > 1:
            others = f", and {counted(len(strange) - 1, 'other document')} a grade that is not on it"
        raise ParameterError(
            f"the scale is {listed}, and {judge.name} gives document {document!r} of query {query!r} the grade "
            f"{grade:g}{others}; name every grade that could be given"
        )


def _scale_of(
    first: Judgments, second: Judgments, given: Sequence[float] | None
) -> tuple[tuple[float, ...], ScaleFrom]:
    """Return the scale of two judges, ascending, and where it is from."""
    if given is not None:
        return tuple(sorted(set(given))), "given"
    could = {*first.scale, *second.scale}
    did = {*first.grades.values(), *second.grades.values()}
    return tuple(sorted(could | did)), "queue" if did <= could else "occurring"


def _compared(
    first: Judgments,
    second: Judgments,
    scaled: tuple[tuple[float, ...], ScaleFrom],
    ranks: Mapping[Pair, int],
    worst: int,
    confidence: float,
    seed: int,
) -> PairAgreement:
    both = [pair for pair in first.grades if pair in second.grades]
    if not both:
        flaw = (
            f"{first.name} and {second.name} judged no document that is the same; queries and documents go by their ids"
        )
        raise DataError("judges cannot be compared:", [Problem(flaw)])
    grades = [(first.grades[pair], second.grades[pair]) for pair in both]
    scale, scale_from = scaled
    place = {grade: at for at, grade in enumerate(scale)}
    numbers: dict[str, int] = {}
    questions = np.array([numbers.setdefault(query, len(numbers)) for query, _ in both])
    own, its = (np.array([place[each[side]] for each in grades]) for side in (0, 1))
    counts = counted_pairs(questions, own, its, len(scale))
    weights = _resampled(len(counts), seed)
    drawn = np.einsum("rq,qij->rij", weights, counts)
    values, total = np.array(scale), counts.sum(axis=0)

    def found(of: _Floats, resampled: _Floats) -> Coefficient:
        return bootstrapped(of, resampled, confidence=confidence)

    texts = {**second.texts, **first.texts}
    apart = sorted(zip(both, grades, strict=True), key=lambda each: (-abs(each[1][0] - each[1][1]), each[0]))
    same = [one == other for one, other in grades]
    return PairAgreement(
        judges=(first.name, second.name),
        n=len(both),
        questions=len(counts),
        same=sum(same),
        kappa=found(weighted_kappa(total, values), weighted_kappa(drawn, values)),
        kappa_linear=found(weighted_kappa(total, values, "linear"), weighted_kappa(drawn, values, "linear")),
        ac2=found(ac2(total, values), ac2(drawn, values)),
        alpha=found(alpha(total + total.T), alpha(drawn + np.swapaxes(drawn, -2, -1))),
        scale=scale,
        scale_from=scale_from,
        confusion=tuple(tuple(map(int, row)) for row in total.tolist()),
        by_grade=tuple(_grouped([f"{one:g}" for one, _ in grades], same)),
        by_length=tuple(_by_length([texts.get(pair) for pair in both], same)),
        by_rank=tuple(_grouped([_rank_name(ranks[pair]) if pair in ranks else "" for pair in both], same)),
        worst=tuple(Disagreement(*pair, each) for pair, each in apart[:worst] if each[0] != each[1]),
    )


def _resampled(questions: int, seed: int) -> _Floats:
    """Return how often each question is drawn, in each resample; shape (resamples, questions)."""
    chance = np.random.Generator(np.random.Philox(key=seed))
    return chance.multinomial(questions, np.full(questions, 1 / questions), size=_RESAMPLES).astype(np.float64)


def _grouped(names: Sequence[str], same: Sequence[bool]) -> Iterator[Group]:
    """Yield the groups that have a name, in the order of grades and ranks."""
    for name in sorted({name for name in names if name}, key=lambda name: float(name.partition(" ")[0])):
        kept = [each for each, own in zip(same, names, strict=True) if own == name]
        yield Group(name, len(kept), sum(kept))


def _by_length(texts: Sequence[str | None], same: Sequence[bool]) -> Iterator[Group]:
    known = sorted((len(text), is_same) for text, is_same in zip(texts, same, strict=True) if text is not None)
    parts = np.array_split(np.arange(len(known)), 3) if len(known) >= 3 else []
    for part in parts:
        held = [known[at] for at in part.tolist()]
        yield Group(f"{held[0][0]:,} to {held[-1][0]:,} characters", len(held), sum(is_same for _, is_same in held))


def _rank_name(rank: int) -> str:
    low, high = next((low, high) for low, high in _RANKS if high is None or rank <= high)
    return f"{low} or deeper" if high is None else f"{low} to {high}"


def order_agreement(
    first: Judgments,
    second: Judgments,
    runs: Mapping[str, str],
    metric: str,
    *,
    confidence: float = 0.95,
    seed: int = 0,
) -> OrderAgreement:
    """Compare the order of systems under the judgments of two judges, over the questions that both judged."""
    shared = sorted({query for query, _ in first.grades} & {query for query, _ in second.grades})
    if not shared:
        raise DataError("systems cannot be ordered:", [Problem(f"{first.name} and {second.name} share no question")])
    scores = np.array([_scores(judge, shared, runs, metric) for judge in (first, second)])  # judge, run, question
    weights = _resampled(len(shared), seed) / len(shared)
    means = scores.mean(axis=-1)
    drawn = np.einsum("jsq,rq->jrs", scores, weights)
    return OrderAgreement(
        judges=(first.name, second.name),
        metric=metric,
        means={name: (float(means[0, at]), float(means[1, at])) for at, name in enumerate(runs)},
        tau=bootstrapped(_taus(means[:, None, :])[0], _taus(drawn), confidence=confidence),
        questions=len(shared),
    )


def _scores(judge: Judgments, shared: Sequence[str], runs: Mapping[str, str], metric: str) -> list[list[float]]:
    """Return the score of each run and question, 0 if there is none."""
    qrels: dict[str, dict[str, float]] = {query: {} for query in shared}
    for (query, document), grade in judge.grades.items():
        if query in qrels:
            qrels[query][document] = grade
    results = rankgauge.evaluate(qrels, runs=dict(runs), metrics=[metric])
    found = []
    for result in results.values():
        (column,) = result.metrics.values()
        by_query = dict(zip(result.sample_ids, np.nan_to_num(column.values).tolist(), strict=True))
        found.append([by_query.get(query, 0.0) for query in shared])
    return found


def _taus(means: _Floats) -> _Floats:
    """Return Kendall's tau-b of the systems under both judges, for each resample; shape (resamples,)."""
    of_one, of_other = means.round(12)  # means that differ by rounding errors tie
    pairs = np.triu_indices(means.shape[2], k=1)
    return np.array([_tau_b(own, its, pairs) for own, its in zip(of_one, of_other, strict=True)])


def _tau_b(own: _Floats, its: _Floats, pairs: tuple[_Ints, _Ints]) -> float:
    """
    Return Kendall's tau-b of some values under two judges.

    ``(C - D) / sqrt(pairs not tied under one * pairs not tied under the other)`` for C concordant and D discordant
    pairs; NaN if all are tied under one.
    """
    first, second = pairs
    one, other = np.sign(own[first] - own[second]), np.sign(its[first] - its[second])
    untied = np.count_nonzero(one) * np.count_nonzero(other)
    return float(one @ other) / math.sqrt(untied) if untied else math.nan
