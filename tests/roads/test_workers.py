"""Lines judged in worker processes come to what one process makes of them: scores to the last bit, and messages."""

from __future__ import annotations

import json
import pickle
from contextlib import contextmanager
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Catalog, Engine
from rankgauge.engine import workers
from rankgauge.engine.workers import LineJudge
from rankgauge.errors import RankgaugeError
from rankgauge.io import file_records as lines
from roads import filters
from roads.test_blocks import ODD_LINES, lines_of, records

METRICS = ("recall@2", "AP", "err@3", "judged@3", "answer-containment-at-k", "keyword-coverage-at-k", "recall@6char")
TEXTS = ("Date: 2023-05-20\nthe pier", "user: a boat", "the pier and a boat", "", 'a net, a \\"pier\\"')

texts = st.sampled_from(TEXTS)
with_texts = st.fixed_dictionaries(
    {
        "expected_output": st.fixed_dictionaries(
            {"passages": st.lists(texts, max_size=2), "answer": st.sampled_from(["pier", "boat"])}
        ),
        "actual_output": st.lists(st.fixed_dictionaries({"text": texts}), max_size=3),
        "input": st.just("?"),
        "metadata": st.sampled_from([None, {"tags": ["t"], "k": 1}]),
    }
)


def arrived(value):
    """Return a value as another process gets it."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301  # our own


@contextmanager
def in_this_process(evaluation, count, *, label):
    """Do what worker processes do, by turns and with everything pickled, but without their start."""
    judges = [LineJudge(arrived(evaluation)) for _ in range(count)]

    def judged(pieces):
        for turn, piece in enumerate(pieces):
            found = judges[turn % count].judged(b"".join(piece.lines), piece.first, piece.offset)
            yield piece, arrived(found)

    yield judged


def found(path, **how):
    """Return everything that a run finds out, or what is wrong."""
    evaluation = Engine().dataset(path).with_metrics(METRICS)
    evaluation.plan()  # what is wrong with this is no outcome
    try:
        result = evaluation.run(**how)
    except RankgaugeError as error:
        return type(error), str(error), list(map(str, error.problems))
    columns = {
        name: (column.values.tobytes(), column.codes.tobytes(), column.reasons, column.info)
        for name, column in result.metrics.items()
    }
    return result.sample_ids, result.tags, result.gold_keys.tolist(), columns, result.notes, result.manifest["dataset"]


@given(
    drawn=st.lists(records() | with_texts, min_size=1, max_size=14),
    odd_lines=st.lists(st.tuples(st.integers(0, 14), st.sampled_from(ODD_LINES)), max_size=1),
    ids=st.sampled_from(["q1", "q1", "q1", "q0", "", 5]),
    portion=st.sampled_from([1, 200, 1000]),
    mark=st.sampled_from(["", "\ufeff"]),
)
def test_workers_find_what_one_process_does(tmp_path_factory, drawn, odd_lines, ids, portion, mark):
    path = tmp_path_factory.getbasetemp() / "divided.jsonl"
    path.write_text(mark + "\n".join(lines_of(drawn, odd_lines, ids)), encoding="utf-8")
    with (
        mock.patch.object(lines, "_PORTION", portion),
        mock.patch.multiple(workers, ENOUGH=1, judging_lines=in_this_process),
    ):
        assert found(path, workers=2) == found(path)


def test_workers_filter_rankings_as_one_process_does(tmp_path):
    path = tmp_path / "data.jsonl"
    rankings = [list("abcd"[: 1 + number % 4]) for number in range(40)]
    rows = [
        {"id": f"q{number}", "expected_output": ["a", "c"], "actual_output": each}
        for number, each in enumerate(rankings)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    catalog = Catalog.discover(own_only=True, plugins={"filters": filters})
    evaluation = Engine(catalog=catalog).dataset(path).with_metrics(["RR", "recall@2"])
    filtered = evaluation.with_profile(filters=["every-other(first=2)"])
    alone = filtered.run()
    with (
        mock.patch.object(lines, "_PORTION", 200),
        mock.patch.multiple(workers, ENOUGH=1, judging_lines=in_this_process),
    ):
        shared = filtered.run(workers=2)
    for name, column in alone.metrics.items():
        assert column.values.tobytes() == shared[name].values.tobytes()
        assert column.values.tobytes() != evaluation.run()[name].values.tobytes()
