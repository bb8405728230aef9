"""Samples in shards: judged alike wherever they are, merged to the bits of one run; and what is refused."""

import pickle
import random
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from draws import in_thorough_suite, some
from pool_functions import sample_shard
from rankgauge import Result
from rankgauge.errors import DataError, MissingGoldError, NothingToEvaluateError, PlanError, ResultError
from rankgauge.scale import SampleShard, ShardedSamples

METRICS = ["recall@3", "ndcg@5", "MRR", "answer-containment-at-k", "keyword-coverage-at-k", "retrieval-recall-at-k"]


def samples(count, seed=3):
    """Return samples of every kind: tags, cutoffs of their own, malformed and missing outputs, unanswerable ones."""
    chance = random.Random(seed)  # noqa: S311  # data
    words = ["pier", "boat", "net", "tide", "lamp", "rope"]

    def text():
        return " ".join(chance.choice(words) for _ in range(5))

    rows = []
    for number in range(count):
        row = {
            "id": f"s{number}",
            "input": text(),
            "expected_output": {
                "passages": [text(), text()],
                "answer": chance.choice(words),
                "keywords": ["pier", "net"],
            },
            "actual_output": {"retrieved": [{"id": f"d{place}", "text": text()} for place in range(6)]},
            "metadata": {"tags": [chance.choice("ab")]} | ({"k": 2} if number % 5 == 0 else {}),
        }
        if number % 7 == 1:
            row["actual_output"] = 17
        if number % 7 == 2:
            del row["actual_output"]
        if number % 11 == 3:
            row["metadata"]["answerable"] = False
        rows.append(row)
    return rows


def bits(result):
    """Return everything about the samples, by sample: a run keeps their order, shards sort them."""
    order = sorted(range(len(result)), key=result.sample_ids.__getitem__)
    taken = result.take(order)
    columns = {
        name: (column.values.tobytes(), column.codes.tobytes(), dict(column.reasons), column.info, column.mean)
        for name, column in taken.metrics.items()
    }
    return taken.sample_ids, taken.tags, taken.gold_keys.tolist(), columns


def evaluated(sharded, parts):
    shards = [sharded.shard(part) for part in parts]
    if not sharded.agree(shards):
        sharded = sharded.knowing(shards)
        shards = [sharded.shard(part) for part in parts]
    return sharded.merge(shards)


@pytest.mark.parametrize("size", some([1, 4, 25, 1000], of=2, first=1))
def test_any_shards_give_the_bits_of_one_run(engine, size):
    rows = samples(60)
    evaluation = engine.dataset(rows).with_metrics(METRICS)
    whole = evaluation.run()
    parts = [rows[start : start + size] for start in range(0, len(rows), size)]
    found = evaluated(ShardedSamples(engine.dataset([]).with_metrics(METRICS)), parts[::-1])
    assert bits(whole) == bits(found)
    assert whole.notes == found.notes
    assert found.sample_ids == tuple(sorted(found.sample_ids))


def test_the_kind_of_ground_truth_is_that_of_all_shards(engine):
    """Recall takes ids where any sample has some: alone, the shard with passages would be judged by text."""
    by_id = {"id": "a", "expected_output": {"relevant": ["d1"]}, "actual_output": [{"id": "d1", "text": "pier"}]}
    by_text = {"id": "b", "expected_output": {"passages": ["pier"]}, "actual_output": [{"id": "d2", "text": "pier"}]}
    none = {"id": "c", "expected_output": {"answer": "x"}, "actual_output": ["d3"], "metadata": {"answerable": False}}
    evaluation = engine.dataset([by_id, by_text, none]).with_metrics(["recall@3"])
    sharded = ShardedSamples(evaluation)
    shards = [sharded.shard([row]) for row in (by_text, none, by_id)]
    assert not sharded.agree(shards)
    with pytest.raises(ResultError, match="evaluate them again with knowing"):
        sharded.merge(shards)
    again = sharded.knowing(shards)
    found = again.merge([again.shard([row]) for row in (by_text, none, by_id)])
    assert bits(found) == bits(evaluation.run())
    assert [found["recall@3"].status(place) for place in range(3)] == ["scored", "undefined", "undefined"]


def test_ids_that_never_meet_are_noted_once(engine):
    rows = [
        {"id": f"s{number}", "expected_output": [f"doc-{number}"], "actual_output": [f"{number}"]}
        for number in range(4)
    ]
    sharded = ShardedSamples(engine.dataset([]).with_metrics(["recall@1"]))
    notes = {evaluated(sharded, parts).notes for parts in ([rows[:2], rows[2:]], [rows[2:], rows[:2]])}
    ((note,),) = notes
    assert note.startswith("no retrieved id is ever a relevant id")
    met = [*rows, {"id": "s4", "expected_output": ["doc"], "actual_output": ["doc"]}]
    assert evaluated(sharded, [met[:2], met[2:]]).notes == ()


@in_thorough_suite()
def test_shards_of_other_processes_arrive_whole(engine):
    rows = samples(30)
    sharded = ShardedSamples(engine.dataset([]).with_metrics(METRICS))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        shards = list(pool.map(sample_shard, [(sharded, rows[start : start + 10]) for start in (20, 0, 10)]))
    assert sharded.agree(shards)
    assert bits(sharded.merge(shards)) == bits(engine.dataset(rows).with_metrics(METRICS).run())


def test_fields_cohorts_matchers_and_policy_go_along(engine):
    rows = [
        {"qid": f"s{number}", "gold": {"passages": ["Pier 7"]}, "contexts": ["pier 7"], "metadata": {"lang": "de"}}
        for number in range(3)
    ]
    evaluation = (
        engine.dataset([])
        .with_metrics(["recall@3"])
        .with_fields({"id": "qid", "expected_output": "gold", "retrieved": {"path": "contexts", "strings": "text"}})
        .with_cohorts(["metadata.lang"])
        .with_matchers({"passages": "folded"})
    )
    found = evaluated(ShardedSamples(pickle.loads(pickle.dumps(evaluation))), [rows[:1], rows[1:]])  # noqa: S301  # our own
    assert found["recall@3"].mean == 1.0
    assert found.tags == (("lang=de",),) * 3


class TestRefused:
    def test_a_sample_in_two_shards(self, engine):
        sharded = ShardedSamples(engine.dataset([]).with_metrics(["recall@3"]))
        shard = sharded.shard([{"id": "s", "expected_output": ["a"], "actual_output": ["a"]}])
        with pytest.raises(ResultError, match="'s' is in two shards"):
            sharded.merge([shard, shard])

    def test_nothing(self, engine):
        sharded = ShardedSamples(engine.dataset([]).with_metrics(["recall@3"]))
        assert sharded.shard([]) == SampleShard()
        with pytest.raises(NothingToEvaluateError, match="no shard has a sample"):
            sharded.merge([SampleShard(), SampleShard()])

    def test_ground_truth_that_nobody_has(self, engine):
        sharded = ShardedSamples(engine.dataset([]).with_metrics(["recall@3", "keyword-coverage-at-k"]))
        shard = sharded.shard([{"id": "s", "expected_output": ["a"], "actual_output": ["a"]}])
        with pytest.raises(MissingGoldError, match="'keyword-coverage-at-k' needs ground truth of the kind keywords"):
            sharded.merge([shard])

    def test_samples_that_cannot_be_read(self, engine):
        sharded = ShardedSamples(engine.dataset([]).with_metrics(["recall@3"]))
        with pytest.raises(DataError) as caught:
            sharded.shard([{"id": "s", "expected_output": 3.5}, {"expected_output": ["a"]}])
        assert len(caught.value.problems) == 2

    def test_a_metric_that_has_to_see_everything(self, engine):
        with pytest.raises(PlanError, match="infers max_grade"):
            ShardedSamples(engine.dataset([]).with_metrics(["err@5"]))
        with pytest.raises(PlanError, match="unknown metric 'recal'"):
            ShardedSamples(engine.dataset([]).with_metrics(["recal@3"]))

    def test_without_outputs_of_a_shard_under_intersection(self, engine):
        evaluation = engine.dataset([]).with_metrics(["recall@3"])
        policy = evaluation.profile.policy.with_options({"queries": "intersection"})
        sharded = ShardedSamples(evaluation.with_profile(policy))
        silent = sharded.shard([{"id": "a", "expected_output": ["x"]}])
        spoken = sharded.shard([{"id": "b", "expected_output": ["x"], "actual_output": ["x"]}])
        assert silent.scores is None
        assert sharded.merge([silent, spoken]).sample_ids == ("b",)


def test_a_merged_result_can_be_saved(engine, tmp_path):
    sharded = ShardedSamples(engine.dataset([]).with_metrics(METRICS))
    result = evaluated(sharded, [samples(10), samples(30)[10:]])
    loaded = Result.load(result.save(tmp_path / "result"))
    assert bits(loaded)[0] == bits(result)[0]
    with pytest.raises(ResultError):
        result.explain("s0")
    with pytest.raises(ResultError):
        loaded.explain("s0")
