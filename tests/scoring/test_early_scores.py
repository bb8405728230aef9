"""Batches that are full are scored as they come where nothing later can change that, and their rows go."""

import random

import pytest

from rankgauge import Engine
from rankgauge.samples import read_sample
from rankgauge.scoring.collect import Collector

METRICS = ("recall@2", "ndcg@3", "AP", "RR", "P@2", "judged@2", "num_ret", "bpref")


def drawn(count, *, ids_from):
    """Draw samples, judged by id from some place on and by passages before; some lack something."""
    chance = random.Random(3)  # noqa: S311  # no secret
    for number in range(count):
        documents = chance.sample("abcdefgh", 5)
        expected = {"relevant": {name: chance.randrange(3) for name in chance.sample(documents, 2)}}
        if number < ids_from or number % 7 == 3:
            expected = {"passages": ["the price of the small oven in Hamburg"]}
        output = {0: None, 1: "no JSON", 2: []}.get(chance.randrange(12), documents)
        yield {"id": f"q{number}", "expected_output": expected, "actual_output": output}


def everything(result):
    columns = {
        name: (column.info, column.values.tobytes(), column.codes.tolist(), dict(column.reasons), column.mean)
        for name, column in result.metrics.items()
    }
    return result.sample_ids, columns, result.notes, result.gold_keys.tolist()


@pytest.mark.parametrize("ids_from", [0, 9])
@pytest.mark.parametrize("how", [{}, {"missing_output": "exclude", "no_gold": "zero"}], ids=["default", "other policy"])
def test_scores_do_not_depend_on_when_they_are_computed(ids_from, how):
    evaluation = Engine().dataset(list(drawn(40, ids_from=ids_from))).with_metrics(METRICS).with_profile(**how)
    expected = everything(evaluation.run())
    for size in (4, 25):
        assert everything(evaluation.run(batch_size=size)) == expected


@pytest.mark.parametrize(
    ("metrics", "options", "left"),
    [
        (["recall@2", "AP"], {}, [3, 0, 0]),  # the first batch is what labels are doubted by
        (["recall@2"], {"details": True}, [3, 3, 3]),  # which are explained at the end
        (["recall@2", "err@2"], {}, [3, 3, 3]),  # the highest grade is that of all samples
        (["recall(gold=passages)@2"], {}, [3, 3, 3]),
    ],
)
def test_rows_go_where_nothing_else_is_asked_of_them(metrics, options, left):
    collector = Collector(Engine().dataset([]).with_metrics(metrics).plan(), batch_size=3, **options)
    for record in drawn(9, ids_from=0):
        collector.add([read_sample(record, problems=[])])
    assert [next(iter(batch.evidence.values())).judged.n for batch in collector._batches] == left
