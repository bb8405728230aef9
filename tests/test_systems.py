"""`rankgauge.systems`, as a plugin or another program uses it; and reading a result's data again."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pydantic
import pytest

from rankgauge import Catalog, Engine, Evaluation, Result
from rankgauge.errors import ConfigError, MetricFailedError, ParameterError, ResultError
from rankgauge.plugin import hookimpl, sample_metric, system
from rankgauge.systems import ConfiguredSystem, import_function, resumable_run


class ShelfOptions(pydantic.BaseModel, extra="forbid"):
    k: int = pydantic.Field(10, ge=1)
    broken: bool = False


class Shelf:
    def __init__(self, options, asked):
        self.options, self.asked = options, asked

    def __call__(self, question):
        self.asked.append(question)
        if self.options.broken:
            raise OSError("the shelf fell down")
        return {"retrieved": ["d9", "d1"][: self.options.k]}


@pytest.fixture
def asked():
    return []


@pytest.fixture
def engine(tmp_path, monkeypatch, asked):
    monkeypatch.chdir(tmp_path)

    @system("shelf", options=ShelfOptions)
    def shelf(options):
        """Look words up on a shelf."""
        return Shelf(options, asked)

    class Plugin:
        @hookimpl
        def rankgauge_systems(self):
            return [shelf]

    rows = [{"id": f"q{n}", "input": f"word {n}", "expected_output": ["d1"]} for n in (1, 2, 3)]
    Path("samples.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    config = {
        "version": 1,
        "datasets": {"sea": {"path": "samples.jsonl"}},
        "metrics": {"use": ["rr"]},
        "system": {"kind": "shelf"},
    }
    Path("sea.yaml").write_text(json.dumps(config))
    return Engine.from_config("sea.yaml", catalog=Catalog.discover(plugins={"acme": Plugin()}))


def run(engine, folder, changes=None, **options):
    with closing(engine.system(changes)) as shelf:
        assert isinstance(shelf, ConfiguredSystem)
        return resumable_run(engine.dataset("sea"), shelf, Path(folder), **options)


def test_a_run_is_saved_and_read_the_second_time(engine, asked):
    first = run(engine, "runs/a")
    assert first["rr"].mean == Result.load("runs/a")["rr"].mean == 0.5
    assert sorted(asked) == ["word 1", "word 2", "word 3"]
    assert run(engine, "runs/a")["rr"].values.tolist() == [0.5, 0.5, 0.5]
    assert len(asked) == 3


def test_a_run_of_fewer_samples_goes_on(engine, asked):
    assert len(run(engine, "runs/a", limit=1)) == 1
    assert len(run(engine, "runs/a")) == 3
    assert sorted(asked) == ["word 1", "word 2", "word 3"]
    with pytest.raises(ResultError, match="is a result of all samples, and the limit is 2; choose another folder"):
        run(engine, "runs/a", limit=2)


def test_other_options_need_another_folder(engine):
    run(engine, "runs/a")
    with pytest.raises(ResultError, match=r"options\.k was None and is 1(?s:.*)needs another folder"):
        run(engine, "runs/a", {"k": 1})


def test_calls_that_failed_are_made_again(engine, asked, monkeypatch):
    broken = run(engine, "runs/a", {"broken": True})
    assert broken["rr"].n_failed == 3
    with monkeypatch.context() as patch:
        patch.setattr(Shelf, "__call__", lambda self, _: self.asked.append("") or ["d1"])  # the same system, mended
        assert run(engine, "runs/a", {"broken": True})["rr"].mean == 1.0
    assert len(asked) == 6


def test_a_function_is_a_system_too(engine):
    result = resumable_run(engine.dataset("sea"), lambda _: ["d1"], Path("runs/f"), concurrency=1)
    assert result["rr"].mean == 1.0


def test_outputs_are_saved_where_a_metric_fails_everywhere(engine, asked):
    @sample_metric("acme-broken")
    def broken(_ranking) -> float:
        """Fail."""
        raise ZeroDivisionError

    evaluation = engine.dataset("sea").with_metrics([broken])
    with closing(engine.system()) as shelf, pytest.raises(MetricFailedError):
        resumable_run(evaluation, shelf, Path("runs/a"))
    assert len(Result.load("runs/a").outputs) == len(asked) == 3


def test_options_are_checked_and_nothing_is_made(engine, asked):
    engine.check_system({"k": 3})
    with pytest.raises(ConfigError, match="greater than or equal to 1"):
        engine.check_system({"k": 0})
    with pytest.raises(ParameterError, match="leads into an option of the system that is no mapping"):
        engine.check_system({"kind.x": 1})
    Engine().check_system()
    assert asked == []


def test_a_function_is_imported_by_its_name(engine):
    Path("mine.py").write_text("def twice(x):\n    return 2 * x\n\nn = 1\n")
    assert import_function("mine.py:twice", "rerank.by")(4) == 8
    with pytest.raises(ParameterError, match=r"rerank\.by: 'mine\.py:n' is int, which cannot be called"):
        import_function("mine.py:n", "rerank.by")
    with pytest.raises(ParameterError, match=r"rerank\.by is module:function"):
        import_function("twice", "rerank.by")


def test_the_samples_of_a_result_are_read_again(engine):
    saved = run(engine, "runs/a", limit=2)
    for result in (saved, engine.dataset("sea").run(sut=lambda _: ["d9", "d1"], limit=2)):
        samples = list(result.samples(catalog=engine.catalog))
        assert [sample.id for sample in samples] == ["q1", "q2"]
        assert [sample.output.ids for sample in samples] == [["d9", "d1"]] * 2


def test_samples_that_have_changed_are_refused(engine):
    saved = run(engine, "runs/a")
    Path("samples.jsonl").write_text('{"id": "q1", "input": "word 1", "expected_output": ["d2"]}\n')
    with pytest.raises(ResultError, match="is not what the result was computed from"):
        saved.samples(catalog=engine.catalog)
    with pytest.raises(ResultError, match="is not what the result was computed from"):
        Evaluation.of_result(saved, catalog=engine.catalog)


def test_a_result_is_scored_again_by_other_metrics(engine, asked):
    again = Evaluation.of_result(run(engine, "runs/a", limit=2), catalog=engine.catalog).with_metrics(
        ["hit@1", "hit@2"]
    )
    result = again.run(limit=2)
    assert [result[name].mean for name in ("hit@1", "hit@2")] == [0.0, 1.0]
    assert len(asked) == 2


def test_a_column_says_which_stage_it_is_of():
    stages = [{"name": "dense", "retrieved": ["d9"]}, {"name": "rerank", "from": ["dense"], "retrieved": ["d1"]}]
    sample = {"id": "q", "expected_output": ["d1"], "actual_output": {"stages": stages}}
    result = Engine().dataset([sample]).with_metrics(["rr", "rr(stage=dense)"]).run()
    assert [(column.info.stage, column.mean) for column in result.metrics.values()] == [(None, 1.0), ("dense", 0.0)]


def test_a_result_of_a_run_has_no_samples():
    from rankgauge import evaluate

    result = evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "rr")
    with pytest.raises(ResultError, match="this is a result of a run and judgments, not of samples"):
        result.samples()
