"""
Laws over the whole catalog: what a metric declares of itself, and what holds for every one.

Every metric of the catalog is tested, so a new one is tested without writing a test. The laws are those of
`rankgauge.testing`, which plugin authors use. The last tests feed each law a metric that breaks it, to prove that the
law can fail; `tests/features/testing` does the same with the faulty definitions of the field.
"""

from __future__ import annotations

import contextlib
import random
import socket
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from draws import draws, in_thorough_suite, is_thorough, named, some
from rankgauge.catalog import Catalog
from rankgauge.engine.engine import Engine
from rankgauge.engine.evaluation import Evaluation
from rankgauge.features.testing.drawn_cases import TOP_GRADE, Case
from rankgauge.features.testing.law import BrokenError
from rankgauge.features.testing.law_checks import broken_by
from rankgauge.features.testing.metric_subjects import EngineMetric, MetricTrial
from rankgauge.plugin import Contributions, Cutoff, Judged, Scores, metric
from rankgauge.plugin.metric import Law, Metric
from rankgauge.result import Result
from rankgauge.samples import TEXT_KINDS
from rankgauge.testing import check_metric, laws_of
from tables import rows

CATALOG = Catalog.discover(own_only=True)
METRICS = [claim.declaration for claim in CATALOG.metrics.values()]
LAWS = laws_of("metric")
DECLARED = {name for name, law in LAWS.items() if law.when == "declared"}
OF_RUNS = ("batch-size", "one-by-one", "order-of-samples", "parts", "twice")
"""Laws that only run the engine. All metrics share these runs, because most of a run is to read and to judge."""

EVERY = [name for name, law in LAWS.items() if law.when == "every" and name not in OF_RUNS]
SOME_METRICS = [each for each in METRICS if named(each.alias)]
CASES = 18 if is_thorough() else 3
"""How many cases are drawn for a law of one ranking; laws of whole runs get a sixth of them, and 5 if there are."""


def _alias(value: object) -> str:
    return value.alias if isinstance(value, Metric) else str(value)


@pytest.mark.parametrize("subject", SOME_METRICS, ids=_alias)
def test_metric_obeys_the_laws_of_every_metric_and_those_that_it_declares(subject: Metric) -> None:
    """In the quick suite a third of the metrics, chosen by name, are held to all their laws."""
    laws = {"usable", *EVERY, *subject.laws}.difference(subject.without)
    report = check_metric(subject.alias, laws=laws, cases=CASES, catalog=CATALOG)

    report.raise_if_broken()
    assert {verdict.law for verdict in report.verdicts} == laws
    assert subject.laws & laws <= set(report.holds)


class Together:
    """Several metrics in one evaluation, in place of the `EngineMetric` that a law of runs has."""

    def __init__(self, subjects: Sequence[Metric], *given: Callable[..., Scores]) -> None:
        specs: list[object] = list(given)
        for subject in subjects:
            grades = {"max_grade": TOP_GRADE} if subject.needs_max_grade else {}
            specs.append({"metric": subject.alias, **EngineMetric(subject, CATALOG).params, **grades})
        chosen = Engine(catalog=CATALOG).dataset([]).with_metrics(specs)
        by_text = [kind for kind in TEXT_KINDS if any(kind in subject.gold for subject in subjects)]
        self._evaluation = chosen.with_matchers(dict.fromkeys(by_text, "contains"))

    def evaluation(self, _k: int | None, _policy: str) -> Evaluation:
        return self._evaluation

    def over(self, samples: Sequence[Mapping[str, Any]]) -> Evaluation:
        return replace(self._evaluation, data=Engine(catalog=CATALOG).dataset(samples).data)

    def run(self, samples: Sequence[Mapping[str, Any]], *, batch_size: int = 4096) -> Result:
        return self.over(samples).run(batch_size=batch_size)


def broken_together(law: str, together: Together, *, cases: int) -> BrokenError | None:
    subject: Any = SimpleNamespace(scorer=together)
    return broken_by(LAWS[law], lambda: MetricTrial(subject), cases=cases, shrink=False)


@pytest.mark.parametrize("law", some(OF_RUNS, of=2, first=1))
def test_all_metrics_together_obey_the_laws_of_runs(law: str) -> None:
    if (broken := broken_together(law, Together(SOME_METRICS), cases=72 if is_thorough() else CASES)) is not None:
        alone = {each.alias: check_metric(each.alias, laws=[law], catalog=CATALOG).broken for each in SOME_METRICS}
        pytest.fail(
            f"{broken.reason}: {', '.join(name for name, laws in alone.items() if laws) or 'none of them alone'}"
        )


def test_no_metric_leaves_out_a_law_of_runs_or_one_that_it_declares() -> None:
    assert [subject.alias for subject in METRICS if not set(OF_RUNS).isdisjoint(subject.without)] == []


SUMS = {"retrieval-cg-at-k", "retrieval-dcg-at-k"}


@pytest.mark.parametrize("alias", sorted(SUMS))
def test_sum_of_gains_falls_below_zero_where_gains_below_zero_earn(alias: str) -> None:
    """There is no ideal to divide by; the range that they declare is that of gains that are none."""
    subject = next(subject for subject in METRICS if subject.alias == alias)
    assert EngineMetric(subject, CATALOG).score(Case((-1.0, 3.0), (0,)), 1, "eval-harness") == -1.0


@in_thorough_suite()
@rows("subject", [each for each in SOME_METRICS if each.alias not in SUMS], ids=_alias)
def test_metric_stays_bounded_where_gains_below_zero_earn(subject: Metric) -> None:
    """The profile `eval-harness` lets them; the law leaves that out, which is much to ask of a plugin."""
    draw, (low, high) = random.Random(7), subject.range  # noqa: S311  # no secret
    for _ in range(draws(50)):
        grades = tuple(draw.choices((-1.0, 0.0, 0.5, 1.0, 3.0), k=draw.randint(1, 6)))
        case = Case(grades, tuple(draw.sample(range(10), draw.randint(0, 8))))
        value = EngineMetric(subject, CATALOG).score(case, draw.randint(1, 9), "eval-harness")
        assert value is None or low is None or low <= value
        assert value is None or high is None or value <= high


def test_every_law_that_can_be_declared_is_checked() -> None:
    assert set(typing.get_args(Law)) == DECLARED


def test_catalog_is_not_empty() -> None:
    assert {"retrieval-ndcg-at-k", "answer-exact-match"} <= {subject.alias for subject in METRICS}


@rows("subject", METRICS, ids=_alias)
def test_metric_declares_monotone_only_where_it_has_a_cutoff(subject: Metric) -> None:
    assert "monotone-in-k" not in subject.laws or subject.cutoff.kind != "none"


@rows("subject", METRICS, ids=_alias)
def test_metric_with_both_bounds_declares_bounded(subject: Metric) -> None:
    assert None in subject.range or "bounded" in subject.laws


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


@metric("faulty-late")
def late(judged: Judged) -> Scores:
    """Count rank 2 as rank 1."""
    rank = judged.first_rank()
    return np.where(rank > 0, 1 / np.maximum(rank - 1, 1), np.where(judged.n_gold() > 0, 0.0, np.nan))


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


@metric("faulty-blind-at-k")
def blind(judged: Judged, *, k: Cutoff) -> Scores:
    """Count the ground truth, and look at nothing else."""
    return np.where(judged.n_gold() > 0, 0.5, np.nan)


@metric("faulty-forgiving-at-k")
def forgiving(judged: Judged, *, k: Cutoff) -> Scores:
    """Average precision over what was found."""
    hits = judged.hits(k)
    found = judged.relevant_ranks(k)
    total = judged.sum(hits, hits.nth() / hits.rank)
    return np.where(judged.n_gold() > 0, total / np.maximum(found, 1), np.nan)


@metric("faulty-favorite-at-k")
def favorite(judged: Judged, *, k: Cutoff) -> Scores:
    """Find the item that the ground truth lists first."""
    rows = judged.rows.where(judged.first & (judged.gold.rank[judged.rows.gold] == 1)).until(k)
    found = np.bincount(rows.sample, minlength=judged.n)
    return np.where(judged.n_gold() > 0, np.minimum(found, 1), np.nan)


@metric("faulty-tidy-at-k")
def tidy(judged: Judged, *, k: Cutoff) -> Scores:
    """Cut the depths that it was given."""
    np.minimum(judged.depth, 3, out=judged.depth)
    return judged.found(k) / np.maximum(judged.n_gold(), 1)


@metric("faulty-average-at-k", expectation="itself")
def averaged(judged: Judged, *, k: Cutoff) -> Scores:
    """Claim that the order of tied results has no effect."""
    return judged.found(k) / np.where(judged.n_gold() > 0, judged.n_gold(), np.nan)


@metric("faulty-splits", gold=("relevant", "passages"))
def one_gain(judged: Judged) -> Scores:
    """Be average precision with one gain for each result, whatever it holds."""
    earned = judged.credits()
    return judged.sum(earned, earned.nth() / earned.rank) / np.where(judged.n_gold() > 0, judged.n_gold(), np.nan)


def _not_halved(judged: Judged, *, halved: bool) -> Scores:
    if halved:
        raise ValueError("halved=true has no closed form")
    return half(judged)


@metric("faulty-half", expectation=_not_halved)
def half(judged: Judged, *, halved: bool = False) -> Scores:
    """Be recall, or half of it, which it refuses to average when it is too late."""
    return judged.found() / np.where(judged.n_gold() > 0, judged.n_gold(), np.nan) / (1 + halved)


def short_sums(judged: Judged, *, k: Cutoff) -> Contributions:
    found = judged.finds(k)
    return Contributions(found, np.ones(len(found.rank)))


@metric("faulty-short-at-k", contributions=short_sums)
def short(judged: Judged, *, k: Cutoff) -> Scores:
    """Be recall, whose contributions forget the number of gold items."""
    return judged.found(k) / np.where(judged.n_gold() > 0, judged.n_gold(), np.nan)


@metric("faulty-crash-at-k")
def crashing(judged: Judged, *, k: Cutoff) -> Scores:
    """Raise."""
    raise ZeroDivisionError(k)


def inner_metric() -> Callable[..., Scores]:
    @metric("faulty-inner-at-k")
    def inner(judged: Judged, *, k: Cutoff) -> Scores:
        """Be right, where nobody finds it."""
        return judged.found(k) / np.where(judged.n_gold() > 0, judged.n_gold(), np.nan)

    return inner


@metric("faulty-online-at-k")
def online(judged: Judged, *, k: Cutoff) -> Scores:
    """Ask somebody else."""
    with contextlib.suppress(OSError):
        socket.create_connection(("198.51.100.7", 80), timeout=1)
    return judged.found(k) / np.where(judged.n_gold() > 0, judged.n_gold(), np.nan)


@metric("faulty-fifty-at-k")
def up_to_fifty(judged: Judged, *, k: Cutoff) -> Scores:
    """Look at fifty ranks."""
    return judged.found(np.minimum(k, 50)) / np.where(judged.n_gold() > 0, judged.n_gold(), np.nan)


@metric("faulty-silent-at-k")
def silencing(judged: Judged, *, k: Cutoff) -> Scores:
    """Silence numpy for everybody."""
    np.seterr(all="ignore")
    return judged.found(k) / np.where(judged.n_gold() > 0, judged.n_gold(), np.nan)


def plain_recall(retrieved: list[str], relevant: set[str], k: int) -> float:
    return len(set(retrieved[:k]) & relevant) / len(relevant) if relevant else 0.0


@metric("faulty-root-at-k", like="recall@k", reference=plain_recall)
def root(judged: Judged, *, k: Cutoff) -> Scores:
    """Be the root of recall."""
    return np.sqrt(judged.found(k) / np.where(judged.n_gold() > 0, judged.n_gold(), np.nan))


FAULTY: list[tuple[str, Callable[..., Scores]]] = [
    ("usable", crashing),
    ("bounded", beyond_one),
    ("perfect", never_one),
    ("perfect-is-one", never_one),
    ("best-first", worst_first),
    ("relevant-helps", forgiving),
    ("padding", per_depth),
    ("tail", per_depth),
    ("top-rank", late),
    ("duplicates", longer_is_better),
    ("monotone-in-k", shrinking),
    ("linear", always_defined),
    ("ties", favorite),
    ("gold-order", favorite),
    ("order-of-samples", by_place),
    ("parts", by_place),
    ("parts", by_batch),
    ("parts", by_size),
    ("batch-size", by_batch),
    ("batch-size", by_size),
    ("twice", stateful),
    ("one-by-one", by_batch),
    ("one-by-one", by_size),
    ("empty-list", generous),
    ("empty-gold", always_defined),
    ("huge-cutoff", overflowing),
    ("huge-cutoff", dense),
    ("sees-the-ranking", blind),
    ("whole-or-pieces", one_gain),
    ("expectation", averaged),
    ("expectation", half),
    ("contributions", short),
    ("arguments", tidy),
    ("pickling", inner_metric()),
    ("no-network", online),
    ("last-rank", up_to_fifty),
    ("global-state", silencing),
    ("like", root),
    ("reference", root),
]


@pytest.mark.parametrize(("law", "function"), some(FAULTY), ids=lambda value: getattr(value, "__name__", value))
@pytest.mark.usefixtures("first_example")
def test_law_notices_a_metric_that_breaks_it(law: str, function: Callable[..., Scores]) -> None:
    laws = {law} if law != "no-network" else {law, "bounded"}
    report = check_metric(function, laws=laws)

    assert law in report.broken
    assert report[law].reason


@pytest.mark.parametrize(
    ("law", "function"), [(law, function) for law, function in FAULTY if law in OF_RUNS and function is not stateful]
)
def test_law_of_runs_notices_it_among_others(law: str, function: Callable[..., Scores]) -> None:
    broken = broken_together(law, Together(METRICS[:2], function), cases=144)

    assert broken is not None
    assert broken.reason


def test_every_law_has_a_metric_that_breaks_it() -> None:
    # The engine orders what has scores, so no metric of its own can break the law of the constant scorer.
    assert set(LAWS) - {"constant-scorer"} == {law for law, _ in FAULTY}


@in_thorough_suite()
def test_faulty_metric_passes_the_laws_it_does_not_break() -> None:
    check_metric(shrinking, laws=["tail", "best-first"], cases=draws(100)).raise_if_broken()
    laws = ["tail", "best-first", "relevant-helps", "perfect-is-one"]
    check_metric(late, laws=laws, cases=draws(100)).raise_if_broken()
    check_metric(by_size, laws=["twice"], cases=draws(100)).raise_if_broken()
    check_metric(beyond_one, laws=["empty-list"], cases=draws(100)).raise_if_broken()
