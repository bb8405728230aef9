"""What threads share scores as one thread does, to the last bit, also while it is still being loaded or remembered."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from random import Random

import pytest
from tests.draws import in_thorough_suite

from rankgauge import Engine, HostScorer, Result, compare, evaluate
from rankgauge.catalog import Catalog, catalog
from rankgauge.catalog.names import Names
from rankgauge.engine import runs
from rankgauge.errors import RankgaugeError
from rankgauge.scoring import patterns

THREADS = 4
USUAL = [
    *("ndcg@5", "recall@5", "precision@3", "mrr", "map", "hit@1", "rbp", "bpref", "f1@5", "alpha-ndcg@5"),
    *("answer-f1", "answer-exact-match", "stale@5", "span-recall@5", "span-precision@5"),
    *(f"{name}(k=5)" for name in ("keyword-coverage-at-k", "forbidden-rate-at-k", "retrieval-complete-sets-at-k")),
    {"metric": "recall", "gold": "passages", "k": 5},
    {"metric": "err", "max_grade": 3, "k": 5},
]


@pytest.fixture(autouse=True)
def switching() -> Iterator[None]:
    """Let threads take turns as often as Python can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def at_once(*calls: Callable[[], object]) -> list[object]:
    """Return what calls return that begin together, each in a thread."""
    barrier = threading.Barrier(len(calls), timeout=60)

    def begin(call: Callable[[], object]) -> object:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(begin, calls))


def drawn(seed: int) -> list[dict[str, object]]:
    """Return samples with gold of every built-in kind that is scored."""
    random = Random(seed)  # noqa: S311  # reproducible
    samples = []
    for number in range(8):
        names = [f"d{n}" for n in random.sample(range(10), random.randrange(9))]
        texts = [" ".join(random.choices(["red", "fox", "hen", "owl"], k=random.randrange(7))) for _ in names]
        retrieved = [
            {"id": name, "text": text, "document": "d", "start": 9 * int(name[1:]), "end": 9 * int(name[1:]) + 12}
            | {"metadata": {"valid_to": "2020-01-01"}}
            for name, text in zip(names, texts, strict=True)
        ]
        gold = {f"d{n}": random.choice([1, 1, 2, 3]) for n in random.sample(range(10), random.randrange(1, 6))}
        expected = {
            "relevant": gold,
            "passages": ["red fox", "owl hen"],
            "keywords": ["fox", "owl"],
            "answer": "owl",
            "forbidden": [{"text": "hen"}],
            "sets": [list(gold), {"any_of": list(gold)}],
            "spans": [{"document": "d", "start": 20, "end": 50}],
        }
        output = {"retrieved": retrieved, "answer": random.choice(["red", "owl"])}
        asked = {"asked_at": ["2019-01-01", "2021-01-01"][number % 2]}
        samples.append({"id": f"s{number}", "expected_output": expected, "actual_output": output, "metadata": asked})
    return samples


def bits(result: Result) -> dict[str, object]:
    """Return every score with what it is."""
    return {
        name: (column.values.tobytes(), repr(column.mean), column.reasons) for name, column in result.metrics.items()
    }


def fresh() -> Engine:
    """Return an engine of which nothing is loaded."""
    return Engine(catalog=Catalog.discover(own_only=True))


def test_one_evaluation_is_run_by_many_threads():
    expected = bits(fresh().dataset(drawn(0)).with_metrics(USUAL).run())
    shared = fresh().dataset(drawn(0)).with_metrics(USUAL)
    found = at_once(*[lambda: bits(shared.run())] * THREADS)
    assert found == [expected] * THREADS
    assert len(expected) == len(USUAL)


@in_thorough_suite()
def test_every_metric_of_ours_is_run_by_many_threads():
    of_catalog = Catalog.discover(own_only=True).metrics
    specs = [
        {"metric": alias, **({"max_grade": 3.0} if claim.declaration.needs_max_grade else {})}
        for alias, claim in of_catalog.items()
        if "{k}" not in alias and not claim.declaration.example
    ]
    evaluation = fresh().dataset(drawn(1))
    usable = []
    for spec in specs:
        with suppress(RankgaugeError):  # it needs other gold, or a parameter
            evaluation.with_metrics([spec]).run()
            usable.append(spec)
    assert len(usable) > 60
    expected = bits(evaluation.with_metrics(usable).run())
    shared = fresh().dataset(drawn(1)).with_metrics(usable)
    assert at_once(*[lambda: bits(shared.run())] * 4) == [expected] * 4


@in_thorough_suite()
def test_one_engine_plans_for_threads_that_ask_for_different_things():
    samples = drawn(2)
    expected = [bits(fresh().dataset(samples).with_metrics([metric]).run()) for metric in USUAL]
    shared = fresh()
    found = at_once(
        *[lambda metric=metric: bits(shared.dataset(samples).with_metrics([metric]).run()) for metric in USUAL]
    )
    assert found == expected


@in_thorough_suite()
def test_samples_are_scored_one_by_one_by_many_threads():
    samples = drawn(3)
    alone = fresh().dataset([]).with_metrics(USUAL)
    expected = [alone.score(sample) for sample in samples]
    shared = fresh().dataset([]).with_metrics(USUAL)
    for found in at_once(*[lambda: [shared.score(sample) for sample in samples]] * THREADS):
        assert found == expected


@in_thorough_suite()
def test_a_scorer_of_hosts_is_shared():
    samples = drawn(4)

    def scored(scorer: HostScorer) -> list[object]:
        return [
            scorer.score(expected=sample["expected_output"], retrieved=sample["actual_output"], sample_id=sample["id"])
            for sample in samples
        ]

    metrics = [metric for metric in USUAL if metric != "stale@5"]
    expected = scored(HostScorer(metrics=metrics))
    runs.installed.cache_clear()
    shared = HostScorer(metrics=metrics, profile="default")
    assert at_once(*[lambda: scored(shared)] * THREADS) == [expected] * THREADS


def test_dictionaries_are_evaluated_with_one_memory(monkeypatch):
    """What is remembered is forgotten all the time here, and its size is that of what is kept."""
    monkeypatch.setattr(patterns, "_ROOM", 200)
    memories = []
    of_plan = patterns.PatternScores.__init__

    def made(memory, plan):
        of_plan(memory, plan)
        memories.append(memory)

    monkeypatch.setattr(patterns.PatternScores, "__init__", made)

    def data(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
        random = Random(seed)  # noqa: S311  # reproducible
        grades = {f"q{n}": {f"d{m}": random.randrange(4) for m in range(5)} for n in range(4)}
        return grades, {f"q{n}": {f"d{m}": random.random() for m in range(8)} for n in range(4)}

    def evaluated(seeds: range) -> list[dict[str, object]]:
        return [bits(evaluate(*data(seed), ["ndcg@5", "map", "mrr"])) for seed in seeds]

    runs._planned_once.cache_clear()
    expected = [evaluated(range(start, start + 20)) for start in range(THREADS)]
    runs._planned_once.cache_clear()
    memories.clear()
    calls = [lambda start=start: evaluated(range(start, start + 20)) for start in range(THREADS)]
    assert at_once(*calls) == expected
    runs._planned_once.cache_clear()
    for memory in memories:
        kept = sum(2 * len(grades) + len(memory._cuts) for _, grades, _ in memory._known)
        assert kept <= memory._size <= 200


@in_thorough_suite()
def test_a_result_computes_what_it_says_once_asked_by_any_thread():
    evaluation = fresh().dataset(drawn(5)).with_metrics(USUAL)
    outputs = [sample["actual_output"] for sample in drawn(6)]
    samples = [{**sample, "actual_output": output} for sample, output in zip(drawn(5), outputs, strict=True)]
    other = fresh().dataset(samples).with_metrics(USUAL).run()

    def said(result: Result) -> tuple[object, ...]:
        facts = (str(result), repr(result.settings), repr(result.unscored), result.per_sample.write_json())
        keys = None if result.gold_keys is None else result.gold_keys.tobytes()
        return (*facts, keys, bits(result), repr(compare({"one": result, "other": other})))

    result = evaluation.run()
    alone, shared = (result.take(range(len(result.sample_ids))) for _ in range(2))
    expected = said(alone)
    assert at_once(*[lambda: said(shared)] * THREADS) == [expected] * THREADS


def test_what_is_installed_is_found_by_all():
    catalog._installed.cache_clear()
    names = sorted(Catalog.discover().metrics)
    found = at_once(*[lambda: sorted(Catalog.installed().metrics)] * THREADS)
    assert found == [names] * THREADS


def test_a_name_can_be_looked_up_at_any_moment_of_loading():
    """A catalog that loads more is read by other threads between any two steps."""

    class Read(Names):
        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, value)
            if "_installed" in vars(self) and ready:
                self.all("metric")

    ready: list[bool] = []
    whole = Catalog.discover(own_only=True)._names.complete()
    names = Read(whole.plugins[:1], None)
    ready.append(True)
    names._index(whole.plugins)
    assert names.all("metric")
