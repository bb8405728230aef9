"""Interrupts and streams: what was done is kept, what runs is stopped, and the process is left as it was."""

from __future__ import annotations

import asyncio
import logging

import pytest

from rankgauge import Catalog, Engine, Result
from rankgauge.errors import MissingGoldError

ENGINE = Engine(catalog=Catalog.discover(own_only=True))


def samples(count, gold=None):
    return [{"id": f"q{n}", "input": n, "expected_output": gold or ["a"], "actual_output": ["a"]} for n in range(count)]


def test_a_cancelled_arun_hands_over_what_was_done():
    kept: list[Result] = []

    async def main():
        third = asyncio.Event()

        async def sut(given):
            if given == 2:
                third.set()
                await asyncio.Event().wait()
            return ["a"]

        evaluation = ENGINE.dataset(samples(5)).with_metrics(["hit@1"])
        task = asyncio.ensure_future(evaluation.arun(sut=sut, concurrency=1, on_cancel=kept.append))
        await third.wait()
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())
    (result,) = kept
    assert result.sample_ids == ("q0", "q1")
    assert result.is_incomplete


def test_merging_an_interrupted_part_stays_interrupted():
    whole = ENGINE.dataset(samples(2)).with_metrics(["hit@1"]).run()
    other = [{**sample, "id": f"other {sample['id']}"} for sample in samples(2)]
    part = ENGINE.dataset(other).with_metrics(["hit@1"]).run().with_manifest({"interrupted": True})
    merged = Result.merge([whole, part])
    assert merged.is_incomplete
    assert merged.manifest["merged_from"] == 2
    assert [entry["fingerprint"] for entry in merged.manifest["further_dataset"]] == [
        part.manifest["dataset"]["fingerprint"]
    ]


def test_a_stream_without_any_ground_truth_says_so_at_its_end():
    stream = ENGINE.dataset(samples(2)).with_metrics(["containment@1"]).stream(batch_size=1)
    assert [part["containment@1"].n_undefined for part in (next(stream), next(stream))] == [1, 1]
    with pytest.raises(MissingGoldError):
        next(stream)


def test_parts_of_a_stream_do_not_complain_about_ids_that_meet_elsewhere(caplog):
    rows = samples(3)
    rows[0]["actual_output"] = rows[1]["actual_output"] = ["b"]
    with caplog.at_level(logging.WARNING, logger="rankgauge"):
        parts = list(ENGINE.dataset(rows).with_metrics(["hit@1"]).stream(batch_size=1))
    assert [part.notes for part in parts] == [(), (), ()]
    assert caplog.records == []


def test_results_that_differ_in_max_failed_only_mean_the_same():
    evaluation = ENGINE.dataset(samples(1)).with_metrics(["hit@1"])
    policy = evaluation.profile.policy
    lenient = evaluation.with_profile(policy.with_options({"max_failed": 0.5}))
    assert evaluation.run()["hit@1"].info.fingerprint == lenient.run()["hit@1"].info.fingerprint


def test_one_metric_needs_no_list():
    evaluation = ENGINE.dataset(samples(1))
    for one in ("hit@1", {"metric": "hit", "k": 1}):
        assert [column.mean for column in evaluation.with_metrics(one).run().metrics.values()] == [1.0]


def test_outputs_may_be_rows():
    evaluation = ENGINE.dataset(samples(2)).with_metrics(["hit@1"])
    rows = [{"id": "q0", "actual_output": ["b"]}, {"id": "q1", "actual_output": ["a"]}]
    assert evaluation.run(outputs=rows)["hit@1"].values.tolist() == [0.0, 1.0]


def test_a_polars_frame_is_read_by_row():
    import polars as pl

    frame = pl.DataFrame([{"id": "q", "expected_output": ["a"], "actual_output": ["b", "a"]}])
    assert ENGINE.dataset(frame).with_metrics("MRR").run()["MRR"].mean == 0.5


def test_fields_map_a_single_sample_and_leave_right_names_alone():
    evaluation = ENGINE.register("mine", samples(1), fields={"id": "qid", "expected_output": "gold"}).dataset("mine")
    evaluation = evaluation.with_metrics("hit@1")
    mapped = {"qid": "q", "gold": ["a"], "actual_output": ["a"]}
    assert evaluation.score(mapped)["hit@1"].value == 1.0
    assert evaluation.run()["hit@1"].mean == 1.0


def test_a_system_that_is_interrupted_in_its_thread_fails_its_sample_and_never_hangs():
    """Ctrl-C is raised in the main thread only; here no `raise` statement tells it from one either."""

    def thrown(given):
        if given == 1:
            (each for each in ()).throw(KeyboardInterrupt("stop"))
        if given == 2:
            (each for each in ()).throw(SystemExit(3))
        return ["a"]

    for concurrency in (1, 3):
        result = ENGINE.dataset(samples(4)).with_metrics(["hit@1"]).run(sut=thrown, concurrency=concurrency)
        assert [result["hit@1"].status(place) for place in range(4)] == ["scored", "failed", "failed", "scored"]
        assert "KeyboardInterrupt: stop" in result["hit@1"].reasons[1]
        assert not result.manifest["interrupted"]
