"""
Laws over the whole catalog: what a metric declares of itself, and what holds for every one.

Every metric of the catalog is tested, so a new one is tested without writing a test. One drawn case is rendered into
a sample that has every kind of ground truth, so that metrics over ids and over texts see the same ranking. The last
tests feed each law a metric that breaks it, to prove that the law can fail.
"""

from __future__ import annotations

import functools
import itertools
import math
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from rankgauge import Engine, Policy, Result
from rankgauge.catalog import Catalog
from rankgauge.declarations import Metric
from rankgauge.declarations.metric import Law, declared
from rankgauge.judging import Target, judge
from rankgauge.plugin import Cutoff, Judged, Scores, metric
from rankgauge.policy import PROFILES
from rankgauge.samples import Expected, Output, Sample

CATALOG = Catalog.discover(own_only=True)
ENGINE = Engine(catalog=CATALOG)
HUGE = 10**9
TOP_GRADE = 4.0
GRADES = (1.0, 2.0, 3.0, 4.0, 0.5, 2.75, 0.0, -1.0)
MOST_GOLD = 6
MANY, FEW = 30, 8
"""How many cases are drawn for a law: of single samples, and of whole runs."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A metric under a law: from the catalog, or a function that breaks the law."""

    metric: Metric
    function: Callable[..., Scores] | None = None

    @functools.cache  # noqa: B019  # a few dozen plans in a test process
    def evaluation(self, k: int | None, policy: Any) -> Any:
        spec: Any = self.function
        if spec is None:
            spec = {"metric": self.metric.alias}
            if self.metric.needs_max_grade:
                spec["max_grade"] = TOP_GRADE
            if self.metric.cutoff == "optional" and k is not None:
                spec["k"] = k
        return ENGINE.dataset([]).with_metrics([spec]).with_policy(policy)

    def score(self, case: Case, *, k: int, policy: Any = "default") -> float | None:
        """Return the score of one case; None where it is undefined. A failed score fails the test."""
        (found,) = self.evaluation(k, policy).score(case.sample("s", k)).values()
        assert found.status in {"scored", "undefined"}, found.reason
        return found.value if found.status == "scored" else None

    def run(self, samples: Sequence[Mapping[str, Any]], **options: Any) -> Result:
        return replace(self.evaluation(None, "default"), data=ENGINE.dataset(samples).data).run(**options)


@dataclass(frozen=True)
class Case:
    """
    A ranking with its ground truth: items below `MOST_GOLD` are gold as far as there are grades, others are unjudged.
    """

    grades: tuple[float, ...]
    ranking: tuple[int, ...]

    @property
    def distinct(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(self.ranking))

    def is_judged(self, item: int) -> bool:
        return item < len(self.grades)

    def grade(self, item: int) -> float:
        return self.grades[item] if self.is_judged(item) else 0.0

    def ranked(self, ranking: Sequence[int]) -> Case:
        return replace(self, ranking=tuple(ranking))

    def padded(self, depth: int) -> Case:
        """Return the case with unjudged items, none of them there before, down to a depth of distinct items."""
        missing = max(0, depth - len(self.distinct))
        return self.ranked((*self.ranking, *range(1000, 1000 + missing)))

    def sample(self, name: str, k: int | None = None) -> dict[str, Any]:
        """Return a sample with every kind of ground truth; gold texts are those of the relevant items."""
        texts = [_text(item) for item, grade in enumerate(self.grades) if grade > 0]
        expected: dict[str, Any] = {"relevant": {_name(item): grade for item, grade in enumerate(self.grades)}}
        expected |= {"passages": texts, "answer": texts, "keywords": texts}
        retrieved = [{"id": _name(item), "text": _text(item)} for item in self.ranking]
        answer = _text(self.ranking[0]) if self.ranking else ""
        return {
            "id": name,
            "expected_output": expected,
            "actual_output": {"retrieved": retrieved, "answer": answer},
            "metadata": {"k": k},
        }


def _name(item: int) -> str:
    return f"doc-{item}"


def _text(item: int) -> str:
    return f"The text of number {item}, whole."


def _case(grades: Sequence[float], ranking: Sequence[int]) -> Case:
    return Case(tuple(grades), tuple(ranking))


GRADED = st.lists(st.sampled_from(GRADES), min_size=1, max_size=MOST_GOLD)
RANKINGS = st.lists(st.integers(0, 11), max_size=12)
CASES = st.builds(_case, GRADED, RANKINGS)
CUTOFFS = st.sampled_from([1, 2, 3, 4, 5, 7, 10, 12, HUGE])
POLICIES = [
    "default",
    "eval-harness",
    Policy(duplicates="credit-once"),
    Policy(duplicates="last"),
    Policy(judged_only=True),
    Policy(depth=3),
]
"""Whatever a policy does to a ranking, short of counting repeats or letting gains below 0 earn, scores stay bounded."""


# The laws that metrics declare. Each is a strategy and a check that raises when the law does not hold.


def check_bounded(subject: Subject, case: Case, k: int) -> None:
    low, high = subject.metric.range

    for policy in POLICIES:
        value = subject.score(case, k=k, policy=policy)
        assert value is None or low is None or low <= value
        assert value is None or high is None or value <= high


def check_perfect_is_one(subject: Subject, case: Case, k: int) -> None:
    best_first = sorted(range(len(case.grades)), key=lambda item: -case.grades[item])
    perfect = case.ranked([*best_first, *(item for item in case.distinct if not case.is_judged(item))])
    expected = 1.0 if any(grade > 0 for grade in case.grades) else None

    assert expected == subject.score(perfect, k=k)


def check_best_first(subject: Subject, case: Case, k: int) -> None:
    best = subject.score(case.ranked(sorted(case.distinct, key=lambda item: -case.grade(item))), k=k)
    value = subject.score(case, k=k)

    assert (best is None) == (value is None)
    assert best is None or value is None or value <= best or best == pytest.approx(value, rel=1e-12)


def check_padding(subject: Subject, case: Case, k: int, pads: int) -> None:
    depth = len(case.distinct)
    padded = case.padded(max(depth, min(k, depth + pads)))

    assert subject.score(case, k=k) == subject.score(padded, k=k)


def check_tail(subject: Subject, case: Case, k: int, length: int) -> None:
    k = min(k, 15)
    full = case.padded(k)
    others = [item for item, grade in enumerate(case.grades) if grade <= 0 and item not in full.ranking]
    tail = [*range(2000, 2000 + length), *others]

    assert subject.score(full, k=k) == subject.score(full.ranked((*full.ranking, *tail)), k=k)


def check_duplicates(subject: Subject, case: Case, k: int, picks: Sequence[tuple[int, int]], policy: Any) -> None:
    repeated = list(case.ranking)
    for pick, further in picks:
        if repeated:
            place = pick % len(repeated)
            repeated.insert(min(len(repeated), place + 1 + further), repeated[place])
    before = subject.score(case, k=k, policy=policy)
    after = subject.score(case.ranked(repeated), k=k, policy=policy)

    assert (before is None) == (after is None)
    assert before is None or after is None or after <= before


def check_monotone(subject: Subject, case: Case, k: int, more: int) -> None:
    lower, higher = subject.score(case, k=k), subject.score(case, k=k + more)

    assert (lower is None) == (higher is None)
    assert lower is None or higher is None or lower <= higher


DECLARED: dict[Law, tuple[Callable[..., None], tuple[st.SearchStrategy[Any], ...]]] = {
    "bounded": (check_bounded, (CASES, CUTOFFS)),
    "perfect-is-one": (check_perfect_is_one, (CASES, CUTOFFS)),
    "best-first": (check_best_first, (CASES, CUTOFFS)),
    "padding": (check_padding, (CASES, CUTOFFS, st.integers(1, 12))),
    "tail": (check_tail, (CASES, CUTOFFS, st.integers(1, 5))),
    "duplicates": (
        check_duplicates,
        (
            CASES,
            CUTOFFS,
            st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5)), min_size=1, max_size=4),
            st.sampled_from([Policy(), Policy(duplicates="credit-once")]),
        ),
    ),
    "monotone-in-k": (check_monotone, (CASES, CUTOFFS, st.sampled_from([1, 2, 5, HUGE]))),
}


# The laws that hold for every metric.

SAMPLES = st.lists(st.tuples(CASES, st.none() | CUTOFFS), min_size=1, max_size=6)
ANCHOR = _case((1.0,), (0, 7))
"""A case with gold of every kind, so that no part of a data set lacks it."""


def _samples(drawn: Sequence[tuple[Case, int | None]], prefix: str = "s") -> list[dict[str, Any]]:
    cases = [(ANCHOR, None), *drawn]
    return [case.sample(f"{prefix}{place}", k) for place, (case, k) in enumerate(cases)]


def _column(result: Result) -> tuple[Any, ...]:
    """Return everything that two equal results agree on, values to the last bit."""
    (column,) = result.metrics.values()
    return (
        result.sample_ids,
        column.values.tobytes(),
        column.codes.tobytes(),
        dict(column.reasons),
        (column.mean, column.std, column.n, column.k, dict(column.info.k_sources)),
    )


def _by_sample(result: Result) -> dict[str, tuple[bytes, str, str | None]]:
    (column,) = result.metrics.values()
    return {
        name: (column.values[place].tobytes(), column.status(place), column.reasons.get(place))
        for place, name in enumerate(result.sample_ids)
    }


def check_order_of_samples(subject: Subject, drawn: Sequence[tuple[Case, int | None]], order: Any) -> None:
    samples = _samples(drawn)
    shuffled = [*samples]
    order.shuffle(shuffled)
    one, other = subject.run(samples), subject.run(shuffled)

    assert _by_sample(one) == _by_sample(other)
    assert [column.mean for column in one.metrics.values()] == [column.mean for column in other.metrics.values()]


def check_parts(subject: Subject, first: Sequence[Any], second: Sequence[Any], third: Sequence[Any]) -> None:
    parts = [_samples(part, prefix) for part, prefix in ((first, "a"), (second, "b"), (third, "c"))]
    merged = Result.merge([subject.run(part) for part in parts])

    assert _column(subject.run([*itertools.chain(*parts)])) == _column(merged)


def check_batch_size(subject: Subject, drawn: Sequence[tuple[Case, int | None]]) -> None:
    samples = _samples(drawn)
    whole = _column(subject.run(samples))

    for size in (1, 2, 7, len(samples)):
        assert whole == _column(subject.run(samples, batch_size=size))
    evaluation = replace(subject.evaluation(None, "default"), data=ENGINE.dataset(samples).data)
    assert whole == _column(Result.merge(list(evaluation.stream(batch_size=2))))


def check_twice(subject: Subject, drawn: Sequence[tuple[Case, int | None]]) -> None:
    samples = _samples(drawn)
    evaluation = replace(subject.evaluation(None, "default"), data=ENGINE.dataset(samples).data)

    assert _column(evaluation.run()) == _column(evaluation.run())


def check_one_by_one(subject: Subject, drawn: Sequence[tuple[Case, int | None]]) -> None:
    samples = _samples(drawn)
    (column,) = subject.run(samples).metrics.values()

    for place, sample in enumerate(samples):
        (found,) = subject.evaluation(None, "default").score(sample).values()
        value = column.values[place].item()
        assert (None if math.isnan(value) else value) == found.value
        assert (column.status(place), column.reasons.get(place, "")) == (found.status, found.reason)


def check_empty_list(subject: Subject, case: Case, k: int) -> None:
    value = subject.score(case.ranked(()), k=k)

    judges = subject.metric.higher_is_better and not subject.metric.describes
    if value is not None and judges and subject.metric.range[0] is not None:
        assert subject.metric.range[0] == value


def check_empty_gold(subject: Subject, case: Case, k: int) -> None:
    empty = replace(case, grades=())
    (found,) = subject.evaluation(k, "default").score(empty.sample("s", k)).values()
    assert (None, "undefined") == (found.value, found.status)
    assert found.reason

    output = Output([_name(item) for item in case.distinct], [_text(item) for item in case.distinct], None, "x")
    samples = [Sample("s", expected=Expected(), output=output)]
    targets = [Target(kind, subject.metric.judges, None if kind == "relevant" else "x") for kind in subject.metric.gold]
    for target in targets:
        matcher = None if target.matcher is None else CATALOG.matcher("contains")
        judged = judge(samples, target, PROFILES["default"], matcher).judged
        always = subject.metric.defined is not None and subject.metric.defined(judged).all()
        assert always or np.isnan(_call(subject, judged, k)).all()


def check_huge_cutoff(subject: Subject, case: Case, more: Case) -> None:
    low, high = subject.metric.range
    value = subject.score(case, k=HUGE)
    assert value is None or math.isfinite(value)
    assert value is None or low is None or low <= value
    assert value is None or high is None or value <= high

    samples = [case.sample("huge", HUGE), more.sample("small", 1), ANCHOR.sample("none", None)]
    (column,) = subject.run(samples).metrics.values()
    assert column.n_failed == 0


def _call(subject: Subject, judged: Judged, k: int) -> Scores:
    cut = {} if subject.metric.cutoff == "none" else {"k": k}
    return subject.metric.function(judged, **cut)


UNIVERSAL: dict[str, tuple[Callable[..., None], tuple[st.SearchStrategy[Any], ...]]] = {
    "order of samples": (check_order_of_samples, (SAMPLES, st.randoms(use_true_random=False))),
    "parts": (check_parts, (SAMPLES, SAMPLES, SAMPLES)),
    "batch size": (check_batch_size, (SAMPLES,)),
    "twice": (check_twice, (SAMPLES,)),
    "one by one": (check_one_by_one, (SAMPLES,)),
    "empty list": (check_empty_list, (CASES, CUTOFFS)),
    "empty gold": (check_empty_gold, (CASES, CUTOFFS)),
    "huge cutoff": (check_huge_cutoff, (CASES, CASES)),
}
RUNS = {check_order_of_samples, check_parts, check_batch_size, check_twice, check_one_by_one, check_huge_cutoff}


def hold(law: str, subject: Subject, *, shrink: bool = True) -> None:
    """Check a law on many drawn cases; raise when it does not hold for one of them."""
    check, strategies = {**DECLARED, **UNIVERSAL}[law]
    phases = [Phase.explicit, Phase.generate, *([Phase.shrink] if shrink else [])]

    most = FEW if check in RUNS else MANY

    @settings(max_examples=most, report_multiple_bugs=False, phases=phases)
    @given(st.tuples(*strategies))
    def holds(drawn: tuple[Any, ...]) -> None:
        check(subject, *drawn)

    holds()


METRICS = [Subject(claim.declaration) for claim in CATALOG.metrics.values()]


def _alias(value: object) -> str:
    return value.metric.alias if isinstance(value, Subject) else str(value)


@pytest.mark.parametrize(
    ("subject", "law"),
    [(subject, law) for subject in METRICS for law in sorted(subject.metric.laws)],
    ids=_alias,
)
def test_metric_obeys_the_laws_it_declares(subject: Subject, law: Law) -> None:
    hold(law, subject)


@pytest.mark.parametrize("law", list(UNIVERSAL))
@pytest.mark.parametrize("subject", METRICS, ids=_alias)
def test_metric_obeys_the_laws_of_every_metric(subject: Subject, law: str) -> None:
    hold(law, subject)


def test_every_law_that_can_be_declared_is_checked() -> None:
    assert set(typing.get_args(Law)) == set(DECLARED)


def test_catalog_is_not_empty() -> None:
    assert {"retrieval-ndcg-at-k", "answer-exact-match"} <= {subject.metric.alias for subject in METRICS}


@pytest.mark.parametrize("subject", METRICS, ids=_alias)
def test_metric_declares_monotone_only_where_it_has_a_cutoff(subject: Subject) -> None:
    assert "monotone-in-k" not in subject.metric.laws or subject.metric.cutoff != "none"


@pytest.mark.parametrize("subject", METRICS, ids=_alias)
def test_metric_with_both_bounds_declares_bounded(subject: Subject) -> None:
    assert None in subject.metric.range or "bounded" in subject.metric.laws


# Metrics that break one law each.


@metric("faulty-beyond-one-at-k")
def beyond_one(judged: Judged, *, k: Cutoff) -> Scores:
    """Count found items, where a share is declared."""
    return judged.found(k).astype(np.float64)


@metric("faulty-never-one-at-k")
def never_one(judged: Judged, *, k: Cutoff) -> Scores:
    """Divide by one more than there is."""
    return judged.found(k) / (judged.n_gold() + 1)


@metric("faulty-worst-first-at-k")
def worst_first(judged: Judged, *, k: Cutoff) -> Scores:
    """Reward a late first hit."""
    rank = judged.first_rank(k)
    return np.where(rank > 0, 1 - 1 / np.maximum(rank, 1), 0.0)


@metric("faulty-depth-at-k")
def per_depth(judged: Judged, *, k: Cutoff) -> Scores:
    """Divide by what was retrieved, however deep."""
    return judged.found(k) / np.maximum(judged.depth, 1)


@metric("faulty-longer-is-better-at-k")
def longer_is_better(judged: Judged, *, k: Cutoff) -> Scores:
    """Reward every result, repeats included."""
    return np.minimum(judged.depth, k) / 1000


@metric("faulty-shrinking-at-k")
def shrinking(judged: Judged, *, k: Cutoff) -> Scores:
    """Divide by the cutoff."""
    return judged.found(k) / k


@metric("faulty-place-at-k")
def by_place(judged: Judged, *, k: Cutoff) -> Scores:
    """Score a sample by its place in the batch."""
    return np.arange(judged.n) / judged.n


@metric("faulty-rounding-at-k")
def by_batch(judged: Judged, *, k: Cutoff) -> Scores:
    """Lose the last bits to whatever else is in the batch."""
    shares = judged.found(k) / np.maximum(judged.n_gold(), 1) / 3
    shift = shares.sum() + judged.n
    return (shares + shift) - shift


@metric("faulty-lonely-at-k")
def by_size(judged: Judged, *, k: Cutoff) -> Scores:
    """Score a sample higher when it is alone."""
    return np.full(judged.n, 1 / judged.n)


@metric("faulty-stateful-at-k")
def stateful(judged: Judged, *, k: Cutoff) -> Scores:
    """Count its own calls."""
    COUNTER.append(judged.n)
    return np.full(judged.n, 1 / len(COUNTER))


COUNTER: list[int] = []


@metric("faulty-generous-at-k")
def generous(judged: Judged, *, k: Cutoff) -> Scores:
    """Give something for nothing."""
    return np.where(judged.depth == 0, 0.5, 0.0)


@metric("faulty-always-defined-at-k")
def always_defined(judged: Judged, *, k: Cutoff) -> Scores:
    """Give a score where nothing is relevant."""
    return judged.found(k) / np.maximum(judged.n_gold(), 1)


@metric("faulty-huge-at-k")
def overflowing(judged: Judged, *, k: Cutoff) -> Scores:
    """Compute with the cutoff as if it were small."""
    return judged.found(k) * np.asarray(k, dtype=np.float64) / 20


@metric("faulty-dense-at-k")
def dense(judged: Judged, *, k: Cutoff) -> Scores:
    """Refuse a cutoff that no table could hold."""
    if np.max(k) > 10**6:
        raise MemoryError(k)
    return judged.found(k) / np.maximum(judged.n_gold(), 1)


FAULTY: list[tuple[str, Callable[..., Scores]]] = [
    ("bounded", beyond_one),
    ("perfect-is-one", never_one),
    ("best-first", worst_first),
    ("padding", per_depth),
    ("tail", per_depth),
    ("duplicates", longer_is_better),
    ("monotone-in-k", shrinking),
    ("order of samples", by_place),
    ("parts", by_place),
    ("parts", by_batch),
    ("parts", by_size),
    ("batch size", by_batch),
    ("batch size", by_size),
    ("twice", stateful),
    ("one by one", by_batch),
    ("one by one", by_size),
    ("empty list", generous),
    ("empty gold", always_defined),
    ("huge cutoff", overflowing),
    ("huge cutoff", dense),
]


def _faulty(function: Callable[..., Scores]) -> Subject:
    declaration = declared(function)
    assert declaration is not None
    return Subject(declaration, function)


@pytest.mark.parametrize(("law", "function"), FAULTY, ids=[f"{law}-{function.__name__}" for law, function in FAULTY])
def test_law_notices_a_metric_that_breaks_it(law: str, function: Callable[..., Scores]) -> None:
    with pytest.raises(AssertionError):
        hold(law, _faulty(function), shrink=False)


def test_every_law_has_a_metric_that_breaks_it() -> None:
    assert {*DECLARED, *UNIVERSAL} == {law for law, _ in FAULTY}


def test_faulty_metric_passes_the_laws_it_does_not_break() -> None:
    hold("tail", _faulty(shrinking))
    hold("best-first", _faulty(shrinking))
    hold("twice", _faulty(by_size))
    hold("empty list", _faulty(beyond_one))
