"""Values that cannot change: what users, plugins and observers hold, wherever it came from."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import orjson
import pytest

import rankgauge
from rankgauge import Catalog, Engine, Result
from rankgauge.base.frozen import FrozenList, FrozenMap, frozen, plain
from rankgauge.columns import Judged, Qrels, RankingBatch
from rankgauge.errors import DeclarationError
from rankgauge.features.history.lines import history_lines
from rankgauge.gates.verdicts import judge_gates
from rankgauge.history import History
from rankgauge.io.nested_mappings import MappingRun, qrels_of_mapping
from rankgauge.plugin import Cutoff, JudgedSample, Scores, comparer, hookimpl, metric, sample_metric
from rankgauge.scale import Totals
from tables import rows

QRELS = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}, "q3": {"d": 3, "e": 0}}
RUN = {"q1": {"x": 3.0, "a": 2.0, "b": 1.0}, "q2": {"c": 2.0, "y": 1.0}, "q3": {"d": 1.0, "e": 2.0}}
OTHER = {"q1": {"a": 3.0}, "q2": {"y": 2.0}, "q3": {"e": 1.0, "d": 2.0}}
ROWS = [
    {
        "id": "s1",
        "input": {"question": ["who", "when"]},
        "expected_output": {"relevant": {"a": 2, "b": 1}, "passages": ["the cat sat"]},
        "actual_output": [{"id": "x", "text": "a dog", "score": 3}, {"id": "a", "text": "the cat sat", "score": 2}],
        "metadata": {"tags": ["cats"], "notes": {"deep": [1, 2]}},
    },
    {
        "id": "s2",
        "expected_output": {"relevant": {"c": 1}, "passages": ["rain"]},
        "actual_output": [{"id": "c", "text": "rain", "score": 1}],
    },
    {"id": "s3", "expected_output": {"relevant": ["d"], "passages": ["snow"]}},
]  # fmt: skip
METRICS = ["ndcg@2", "AP", "P(rel=2)@2"]


# -- everything that can be reached ------------------------------------------------------------------------------------


def changed(value: Any, path: str, seen: dict[int, object]) -> Iterator[str]:
    """Yield the path of everything below a value that could be changed; each is changed to see that it can be."""
    if id(value) in seen:
        return
    seen[id(value)] = value
    if isinstance(value, np.ndarray):
        array: Any = value
        while isinstance(array, np.ndarray):
            if array.flags.writeable and array.size:
                yield f"{path} (array)"
            array = array.base
    elif isinstance(value, Mapping):
        yield from attempts(path, value, ["clear", "popitem"], lambda: value.__setitem__("new", 1))  # type: ignore[attr-defined]
        for key, item in list(value.items()):
            yield from changed(item, f"{path}[{key!r}]", seen)
    elif isinstance(value, tuple | list | set | frozenset):
        yield from attempts(path, value, ["clear", "reverse"], lambda: value.append(1))  # type: ignore[union-attr]
        for place, item in enumerate(list(value)):
            yield from changed(item, f"{path}[{place}]", seen)
    if type(value).__module__.startswith("rankgauge") and not isinstance(value, type) and not callable(value):
        yield from changed_attributes(value, path, seen)


def attempts(path: str, value: Any, methods: list[str], assign: Callable[[], object]) -> Iterator[str]:
    """Yield what a container lets one do; those that are not asked to do it have no such method."""
    for name, attempt in [("assignment", assign), *((name, getattr(value, name, None)) for name in methods)]:
        try:
            if attempt is not None:
                attempt()
                yield f"{path} ({name})"
        except (TypeError, AttributeError):
            continue
        except KeyError:  # an empty dictionary that lets itself be changed has nothing to take away
            yield f"{path} ({name})"


def changed_attributes(value: Any, path: str, seen: dict[int, object]) -> Iterator[str]:
    for name in dir(value):
        if name.startswith("_") or name in NOT_OURS:
            continue
        try:
            found = getattr(value, name)
        except DeclarationError:  # what a metric did not ask to see
            continue
        if callable(found) and not isinstance(found, Mapping):
            continue
        try:
            setattr(value, name, found)
        except (AttributeError, TypeError):
            pass
        else:
            yield f"{path}.{name} (attribute)"
        if getattr(value, name) is found:  # what is made anew each time belongs to whoever asked for it
            yield from changed(found, f"{path}.{name}", seen)


NOT_OURS = {"origin", "folder", "per_sample"}
"""Where a result came from, which holds what the user gave; and frames, which have a test of their own."""


def observed_plan() -> Any:
    return Engine().dataset(ROWS).with_metrics([*METRICS, "EM(matcher=folded)", "recall(tokenizer=words)@9tok"]).plan()


def of_samples(**options: Any) -> Result:
    metrics = [*METRICS, "retrieval-recall-at-k(gold=passages)"]
    return Engine().dataset(ROWS).with_metrics(metrics).run(**options)


def of_dictionaries() -> Result:
    return rankgauge.evaluate(QRELS, RUN, [*METRICS, "num_rel_ret"])


def of_few() -> Result:
    """Return the result of a second call, whose scores are remembered from the first."""
    rankgauge.evaluate(QRELS, RUN, METRICS)
    return rankgauge.evaluate(QRELS, RUN, METRICS)


def of_many() -> Result:
    """Return a result of too many queries for the short way."""
    many = {f"q{number:04}": {"a": 1, "b": 2} for number in range(300)}
    return rankgauge.evaluate(many, {name: {"a": 1.0, "x": 2.0} for name in many}, METRICS)


def of_files(folder: Path) -> Result:
    lines = [f"{query} 0 {document} {grade}\n" for query, own in QRELS.items() for document, grade in own.items()]
    (folder / "qrels.txt").write_text("".join(lines), encoding="utf-8")
    ranked = [f"{query} Q0 {doc} 1 {score} t\n" for query, own in RUN.items() for doc, score in own.items()]
    (folder / "a.run").write_text("".join(ranked), encoding="utf-8")
    return rankgauge.evaluate(folder / "qrels.txt", folder / "a.run", METRICS)


def made(kind: str, folder: Path) -> Any:  # noqa: C901, PLR0912  # a list of what there is
    match kind:
        case "samples":
            return of_samples()
        case "details":
            return of_samples(details=True)
        case "dictionaries":
            return of_dictionaries()
        case "few":
            return of_few()
        case "many":
            return of_many()
        case "files":
            return of_files(folder)
        case "calls":
            return Engine().dataset(ROWS).with_metrics(METRICS).run(sut=lambda _: {"retrieved": ["a", "b"]})
        case "pickled":
            return pickle.loads(pickle.dumps(of_samples(details=True)))  # noqa: S301  # our own
        case "pickled few":
            return pickle.loads(pickle.dumps(of_few()))  # noqa: S301  # our own
        case "loaded":
            return Result.load(of_samples(details=True).save(folder / "out"))
        case "loaded baseline":
            rankgauge.save_baseline({"mine": of_samples()}, folder / "baseline.json")
            return rankgauge.load_baseline(folder / "baseline.json")["mine"]
        case "loaded baseline of one metric":
            one = Engine().dataset(ROWS).with_metrics("AP").run()
            return rankgauge.load_baseline(rankgauge.save_baseline({"mine": one}, folder / "baseline.json"))["mine"]
        case "history":
            history = History(folder / "history.db")
            for name in ("first", "second"):
                history.add(of_samples(details=name == "first").save(folder / name), tags=("a",))
            entries = tuple(history.entries())
            return entries, tuple(history_lines(history, entries)), history.load(entries[0])
        case "merged":
            return Result.merge(list(Engine().dataset(ROWS).with_metrics(METRICS).stream(batch_size=1)))
        case "taken":
            return of_samples(details=True).take([2, 0])
        case "by tag":
            return of_samples(details=True).by_tag()["cats"]
        case "with texts":
            return of_samples().with_texts().with_worst()
        case "totals":
            return Totals.of(of_samples())
        case "comparison":
            other = rankgauge.evaluate(QRELS, OTHER, METRICS)
            return rankgauge.compare({"a": rankgauge.evaluate(QRELS, RUN, METRICS), "b": other}, bounds=True)
        case "gates":
            return judge_gates({"mine": of_samples()}, ["ndcg@2 >= 0.9", "AP >= 0.1"])
        case "explanation":
            return of_samples().explain("s1")
        case "preflight":
            return tuple(rankgauge.preflight(QRELS, runs={"run": RUN}).values())
        case "agreement":
            return rankgauge.rank_agreement(RUN, OTHER, ["rbo"])
        case "score":
            return Engine().dataset(ROWS).with_metrics(METRICS).score(ROWS[0], details=True)["ap"]
        case "check":
            return Engine().dataset(ROWS).with_metrics(METRICS).check()
        case "plan":
            return observed_plan()
        case "pickled plan":
            return pickle.loads(pickle.dumps(observed_plan()))  # noqa: S301  # our own
        case "qrels":
            return qrels_of_mapping(QRELS)
        case "pickled qrels":
            return pickle.loads(pickle.dumps(qrels_of_mapping(QRELS)))  # noqa: S301  # our own
        case "rankings":
            return next(MappingRun(RUN).grouped())
    raise AssertionError(kind)


KINDS = [
    *("samples", "details", "dictionaries", "few", "many", "files", "calls", "pickled", "pickled few", "loaded"),
    *("loaded baseline", "merged", "taken", "by tag", "with texts", "totals", "comparison", "gates", "explanation"),
    *("preflight", "agreement", "score", "check", "plan", "pickled plan", "qrels", "pickled qrels", "rankings"),
    *("history", "loaded baseline of one metric"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_can_be_reached_can_be_changed(kind: str, tmp_path: Path) -> None:
    assert list(changed(made(kind, tmp_path), kind, {})) == []


def test_the_walk_finds_what_can_be_changed() -> None:
    holder = SimpleNamespace(rows=np.zeros(2), names=["a"], facts={"a": {"b": 1}})
    found = list(changed({"x": (holder.rows, holder.names, holder.facts)}, "it", {}))
    assert {"it (assignment)", "it (clear)"} <= set(found)
    frozen_outside = FrozenMap(x=(holder.rows, ["a"], {"a": 1}))
    assert [path.partition(" ")[0] for path in changed(frozen_outside, "it", {})][0] == "it['x'][0]"  # noqa: RUF015  # of many
    view = np.zeros((2, 2))[0]
    view.setflags(write=False)
    assert list(changed(view, "it", {})) == ["it (array)"]


# -- the attacks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["samples", "dictionaries", "few", "many", "files", "pickled", "loaded", "merged"])
def test_a_mean_stays_what_it_was_computed_from(kind: str, tmp_path: Path) -> None:
    result = made(kind, tmp_path)
    before = result["ap"].mean, result["ap"].values.tolist()
    with pytest.raises(ValueError, match="read-only"):
        result["ap"].values[0] = 7
    with pytest.raises(ValueError, match="read-only"):
        result["ap"].values.sort()
    assert (result["ap"].mean, result["ap"].values.tolist()) == before


def test_metrics_stay_for_whoever_saves_them_later(tmp_path: Path) -> None:
    result = of_samples()
    with pytest.raises(TypeError, match="this dict cannot be changed; dict"):
        result.metrics.clear()
    with pytest.raises(AttributeError, match="a Result cannot be changed, and so not its 'metrics'"):
        result.metrics = {}  # type: ignore[misc,assignment]  # which is refused
    with pytest.raises(AttributeError, match="'manifest'"):
        del result.manifest
    assert list(Result.load(result.save(tmp_path / "out")).metrics) == list(result.metrics)


def test_a_frame_belongs_to_whoever_asked_for_it() -> None:
    result = of_samples()
    result.per_sample.drop_in_place("tags")
    assert result.per_sample.columns[:2] == ["sample_id", "tags"]


def clip(judged: Judged) -> None:
    """Do what a careless plugin may do, to whatever it can reach."""
    arrays = [*judged.rows, *judged.gold, *judged.hits(), judged.depth, judged.first, judged.earns, judged.score]
    arrays += [judged.times, judged.graded, judged.n_gold(), *judged.by_gain().rows, *judged.at_least(1).gold]
    for array in arrays:
        if array.size:
            with pytest.raises(ValueError, match="read-only"):
                np.minimum(array, 0, out=array)


@metric("clipping-at-k", short=("clipping",))
def clipping(judged: Judged, *, k: Cutoff) -> Scores:
    """Return 1 where nothing could be changed."""
    clip(judged)
    if isinstance(k, np.ndarray):
        with pytest.raises(ValueError, match="read-only"):
            k[:] = 1
    return np.ones(judged.n)


@sample_metric("rewriting", needs=("metadata", "input", "texts"))
def rewriting(ranking: JudgedSample) -> float:
    """Return 1 where nothing could be changed."""
    assert list(changed(ranking, "ranking", {})) == []
    return 1.0


@metric(
    "undressed",
    details=lambda judged: {"seen": [clip(judged)] * judged.n},
    defined=lambda judged: clip(judged) or judged.depth >= 0,
)
def undressed(judged: Judged) -> Scores:  # fmt: skip
    """Return 1 where neither its details nor `defined` could change anything."""
    return np.ones(judged.n)


@pytest.mark.parametrize("k", [{}, {"metadata": {"k": 1}}])
def test_a_metric_changes_nothing_of_what_the_next_one_sees_of_samples(k: Any) -> None:
    rows = [{**row, **k} for row in ROWS]
    alone = Engine().dataset(rows).with_metrics(["ndcg@2", "AP"]).run()
    metrics = [clipping, rewriting, undressed, "ndcg@2", "AP"]
    result = Engine().dataset(rows).with_metrics(metrics).run(details=True)
    for name in ("clipping-at-k", "rewriting", "undressed"):
        assert result[name].values.tolist()[:2] == [1.0, 1.0]
    for name in ("ndcg@2", "AP"):
        assert result[name].values.tolist() == alone[name].values.tolist()


@pytest.mark.parametrize("n", [1, 300])
def test_a_metric_changes_nothing_of_what_the_next_one_sees_of_runs(n: int) -> None:
    qrels = {f"q{number}": own for number in range(n) for own in [QRELS["q1"]]}
    run = dict.fromkeys(qrels, RUN["q1"])
    alone = rankgauge.evaluate(qrels, run, ["ndcg@2", "AP"])
    result = rankgauge.evaluate(qrels, run, [clipping, "ndcg@2", "AP"])
    assert result["clipping-at-k"].mean == 1.0
    for name in ("ndcg@2", "AP"):
        assert result[name].values.tolist() == alone[name].values.tolist()


def test_judged_columns_are_read_only_also_when_they_were_sent_or_taken() -> None:
    seen: list[Judged] = []

    @metric("keeping")
    def keeping(judged: Judged) -> Scores:
        """Keep what it is given."""
        seen.append(judged)
        return np.ones(judged.n)

    rankgauge.evaluate(QRELS, RUN, [keeping])
    (judged,) = seen
    sent = pickle.loads(pickle.dumps(judged))  # noqa: S301  # our own
    for each in (judged, sent, judged.take([1, 0]), judged.binary(), judged.within(np.array([1, 0, 2]))):
        assert list(changed(each, "judged", {})) == []
    assert sent.n_gold().tolist() == judged.n_gold().tolist()


class Observers:
    """A plugin that changes whatever it is shown."""

    def __init__(self) -> None:
        self.changes: list[str] = []

    @hookimpl
    def rankgauge_run_started(self, plan: Any) -> None:
        self.changes += changed(plan, "plan", {})

    @hookimpl
    def rankgauge_run_finished(self, result: Any) -> None:
        self.changes += changed(result, "result", {})
        result["ndcg@2"].values.sort()


@pytest.mark.parametrize("details", [False, True])
def test_an_observer_changes_nothing(details: bool, caplog: pytest.LogCaptureFixture) -> None:  # a parameter
    observers = Observers()
    engine = Engine(catalog=Catalog.discover(own_only=True, plugins={"watching": observers}))
    watched = engine.dataset(ROWS).with_metrics(METRICS).run(details=details)
    assert observers.changes == []
    assert "observer rankgauge_run_finished of plugin this process:watching failed" in caplog.text
    assert watched["ndcg@2"].values.tolist() == of_samples()["ndcg@2"].values.tolist()


def test_a_comparer_that_empties_its_lists_changes_nothing() -> None:
    def emptying(*, batch: bool) -> Engine:
        def scores(retrieved: Any, gold: Any) -> Any:
            found = np.array([[float(text == other) for other in gold] for text in retrieved])
            retrieved.clear()
            gold.clear()
            return found.reshape(len(found), -1)

        def blocks(retrieved: Any, gold: Any) -> Any:
            return [scores(*pair) for pair in zip(list(retrieved), list(gold), strict=True)]

        same = comparer("emptying-both", batch=blocks if batch else None)(scores)
        plugin = SimpleNamespace(rankgauge_comparers=hookimpl(lambda: [same], specname="rankgauge_comparers"))
        return Engine(catalog=Catalog.discover(own_only=True, plugins={"mine": plugin}))

    def values(engine: Engine, matcher: str) -> list[float]:
        spec = f"retrieval-recall-at-k(gold=passages, matcher='{matcher}')"
        column: list[float] = engine.dataset(ROWS).with_metrics([spec]).run()[spec].values.tolist()
        return column

    for batch in (False, True):
        for before in ("", "casefold > "):
            assert values(emptying(batch=batch), f"{before}emptying-both >= 1") == values(
                Engine(), f"{before}equal >= 1"
            )


# -- the values themselves ---------------------------------------------------------------------------------------------


def test_json_pickle_and_copies_take_them_as_dictionaries_and_lists() -> None:
    given = {"a": [1, {"b": [2.5]}], "c": None}
    value = frozen(given)
    assert value == given
    assert json.loads(json.dumps(value)) == given
    assert orjson.loads(orjson.dumps(value)) == given
    for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):  # noqa: S301  # our own
        assert again == given
        assert list(changed(again, "it", {})) == []
    assert type(plain(value)) is dict
    assert type(plain(value)["a"]) is list
    assert plain(value) == given
    mine = {**value, "c": list(value["a"])}
    mine["c"].append(3)
    assert value == given


@rows(
    "change",
    [
        lambda value: value.update(a=1),
        lambda value: value.setdefault("z", 1),
        lambda value: value.pop("a"),
        lambda value: value.__delitem__("a"),
        lambda value: value.__ior__({"z": 1}),
        lambda value: value["a"].__setitem__(0, 1),
        lambda value: value["a"].__delitem__(0),
        lambda value: value["a"].__iadd__([1]),
        lambda value: value["a"].__imul__(2),
        lambda value: value["a"].extend([1]),
        lambda value: value["a"].insert(0, 1),
        lambda value: value["a"].pop(),
        lambda value: value["a"].remove(2),
        lambda value: value["a"].sort(),
    ],
)
def test_every_way_to_change_one_is_refused_with_what_to_do(change: Callable[[Any], object]) -> None:
    value = frozen({"a": [2, 1]})
    with pytest.raises(TypeError, match=r"this (dict|list) cannot be changed; \1\(\.\.\.\) makes a copy that can be"):
        change(value)
    assert value == {"a": [2, 1]}
    assert type(value["a"]) is FrozenList


def test_arrays_of_judgments_and_rankings_are_read_only_where_they_are_made() -> None:
    qrels, batch = qrels_of_mapping(QRELS), next(MappingRun(RUN).grouped())
    assert isinstance(qrels, Qrels)
    assert isinstance(batch, RankingBatch)
    for array in (qrels.grades, qrels.lengths, qrels.gold_keys, qrels.owners, batch.scores, batch.keys, batch.lengths):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
