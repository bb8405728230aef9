import errno
import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

from rankgauge import Engine, Result
from rankgauge.errors import ResultError
from rankgauge.result import staging as staging_module

FILES = {
    "manifest.json",
    "summary.json",
    "per_sample.parquet",
    "per_sample.jsonl",
    "errors.jsonl",
    "config.resolved.yaml",
    "report.md",
}

SAMPLES = [
    {"id": "q1", "expected_output": ["a", "c"], "actual_output": ["b", "a", "c"], "metadata": {"tags": ["x", "y"]}},
    {"id": "q2", "expected_output": ["a"], "metadata": {"tags": "x"}},
    {"id": "q3", "expected_output": ["a"], "actual_output": "[oops"},
    {"id": "q4", "expected_output": {"a": 0}, "actual_output": ["a"]},
    {"id": "q5", "metadata": {"answerable": False}, "actual_output": ["a"]},
    {"id": "ü \n|", "expected_output": {"a": 3, "b": -1}, "actual_output": ["b", "a"], "metadata": {"k": 1}},
]


def result_of(samples=SAMPLES, *, details=False):
    metrics = ["ndcg@10", "retrieval-recall-at-k", "MRR", {"metric": "P@2", "as": "my | column"}]
    return Engine().dataset(samples).with_metrics(metrics).run(details=details)


def assert_equal(expected, found):
    assert expected.sample_ids == found.sample_ids
    assert expected.tags == found.tags
    assert expected.manifest == found.manifest
    assert expected.notes == found.notes
    assert list(expected.metrics) == list(found.metrics)
    assert expected.unscored == found.unscored
    assert expected.is_incomplete == found.is_incomplete
    for name, column in expected.metrics.items():
        other = found.metrics[name]
        assert column.info == other.info
        np.testing.assert_array_equal(column.values, other.values)
        np.testing.assert_array_equal(column.codes, other.codes)
        assert dict(column.reasons) == dict(other.reasons)
        assert column.details == other.details
        assert column.mean == other.mean


@pytest.fixture
def full_disk(monkeypatch):
    """Let the write of one file of a result folder fail as a full disk does."""

    def fill(name):
        real_open = Path.open

        class Full:
            def __init__(self, file):
                self.file = file

            def __enter__(self):
                return self

            def __exit__(self, *_):
                self.file.close()

            def write(self, data):
                self.file.write(data[: len(data) // 2])
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def opened(self, *args, **options):
            file = real_open(self, *args, **options)
            return Full(file) if self.name.startswith(f".{name}.") else file

        monkeypatch.setattr(Path, "open", opened)

    return fill


@pytest.mark.parametrize("details", [False, True])
def test_a_loaded_result_equals_the_saved_one(tmp_path, details):
    result = result_of(details=details)
    target = tmp_path / "run"
    assert target == result.save(target)
    assert_equal(result, Result.load(target))


def test_a_loaded_result_can_be_saved_and_loaded_again(tmp_path):
    result = result_of(details=True)
    Result.load(result.save(tmp_path / "one")).save(tmp_path / "two")
    assert_equal(result, Result.load(tmp_path / "two"))
    for name in FILES - {"per_sample.parquet"}:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_statuses_and_reasons_survive(tmp_path):
    loaded = Result.load(result_of().save(tmp_path / "run"))
    column = loaded["ndcg@10"]
    assert [column.status(place) for place in range(6)] == [
        "scored",
        "missing",
        "failed",
        "undefined",
        "undefined",
        "scored",
    ]
    assert {1, 2, 3, 4} == set(column.reasons)
    assert "not valid JSON" in column.reasons[2]
    assert "unanswerable" in column.reasons[4]


def test_a_result_without_samples_with_problems_or_tags_survives(tmp_path):
    result = result_of([{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}])
    assert_equal(result, Result.load(result.save(tmp_path / "run")))


def test_a_merged_result_survives(tmp_path):
    parts = [result_of(SAMPLES[:3]), result_of(SAMPLES[3:])]
    merged = Result.merge(parts)
    assert_equal(merged, Result.load(merged.save(tmp_path / "run")))


def test_the_folder_holds_what_the_design_lists_and_nothing_else(tmp_path):
    target = result_of().save(tmp_path / "run")
    assert {path.name for path in target.iterdir()} == FILES
    assert [target] == list(tmp_path.iterdir())


def test_every_file_of_the_folder_can_be_read_by_its_own_tools(tmp_path):
    target = result_of(details=True).save(tmp_path / "run")
    for name in ("manifest.json", "summary.json"):
        assert json.loads((target / name).read_text("utf-8"))["schema_version"].startswith("rankgauge.")
    for name, count in (("per_sample.jsonl", 6), ("errors.jsonl", 4)):
        rows = [json.loads(line) for line in (target / name).read_text("utf-8").split("\n") if line]
        assert count == len(rows)
    frame = pl.read_parquet(target / "per_sample.parquet")
    assert [sample["id"] for sample in SAMPLES] == frame["sample_id"].to_list()
    assert yaml.safe_load((target / "config.resolved.yaml").read_text("utf-8"))["version"] == 1
    assert (target / "report.md").read_text("utf-8").startswith("# Evaluation of")


def test_the_resolved_config_computes_the_same_scores(tmp_path):
    data = tmp_path / "samples.jsonl"
    data.write_text("".join(f"{json.dumps(sample)}\n" for sample in SAMPLES), "utf-8")
    evaluation = Engine().register("mine", data).dataset("mine").with_metrics(["ndcg@10", "retrieval-recall-at-k"])
    result = evaluation.with_profile("eval-harness").with_profile(
        evaluation.profile.policy.with_options({"max_failed": 0.5})
    )
    first = result.with_defaults(k=2).run()
    target = first.save(tmp_path / "run")
    again = Engine.from_config(target / "config.resolved.yaml").dataset("mine").run()
    assert {name: column.info.fingerprint for name, column in first.metrics.items()} == {
        name: column.info.fingerprint for name, column in again.metrics.items()
    }
    for name, column in first.metrics.items():
        np.testing.assert_array_equal(column.values, again.metrics[name].values)


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_full_disk_leaves_nothing_behind(tmp_path, full_disk, name):
    result = result_of()
    full_disk(name)
    with pytest.raises(ResultError, match="nothing was written") as caught:
        result.save(tmp_path / "run")
    assert str(tmp_path / "run") in str(caught.value)
    assert "No space left on device" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_an_empty_folder_as_it_was(tmp_path, full_disk):
    target = tmp_path / "run"
    target.mkdir()
    full_disk("report.md")
    with pytest.raises(ResultError):
        result_of().save(target)
    assert [target] == list(tmp_path.iterdir())
    assert list(target.iterdir()) == []


def test_a_failure_of_another_kind_leaves_nothing_behind_either(tmp_path, monkeypatch):
    def broken(*_):
        msg = "a bug"
        raise RuntimeError(msg)

    monkeypatch.setattr(staging_module, "replace_file", broken)
    with pytest.raises(RuntimeError):
        result_of().save(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "sample",
    [
        {"id": "q\ud800", "expected_output": ["a"], "actual_output": ["a"]},
        {"id": "q", "expected_output": ["a"], "actual_output": ["a"], "metadata": {"tags": ["q\ud800"]}},
    ],
)
def test_text_that_utf8_cannot_encode_is_refused_before_anything_is_written(tmp_path, sample):
    """JSON may escape half of a surrogate pair."""
    result = result_of([*SAMPLES, sample])
    with pytest.raises(ResultError, match=r"'q\\ud800' holds half of a surrogate pair.*nothing was written"):
        result.save(tmp_path / "below" / "run")
    assert list(tmp_path.iterdir()) == []


def test_details_that_json_cannot_hold_are_refused_before_anything_is_written(tmp_path):
    result = result_of([{"id": "q", "expected_output": ["a\ud800"], "actual_output": ["a\ud800"]}], details=True)
    with pytest.raises(ResultError, match="surrogates not allowed; nothing was written"):
        result.save(tmp_path / "below" / "run")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_is_filled(tmp_path):
    target = tmp_path / "run"
    target.mkdir()
    assert {path.name for path in result_of().save(target).iterdir()} == FILES


def test_missing_folders_above_are_made(tmp_path):
    assert {path.name for path in result_of().save(str(tmp_path / "a" / "b" / "run")).iterdir()} == FILES


def test_a_folder_with_something_in_it_is_refused_and_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine", "utf-8")
    with pytest.raises(ResultError, match="not an empty folder; choose another"):
        result_of().save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_file_in_the_way_is_refused_and_left_alone(tmp_path):
    target = tmp_path / "run"
    target.write_text("mine", "utf-8")
    with pytest.raises(ResultError, match="choose another"):
        result_of().save(target)
    assert target.read_text("utf-8") == "mine"


def test_a_file_where_a_folder_above_should_be_is_refused(tmp_path):
    (tmp_path / "runs").write_text("mine", "utf-8")
    with pytest.raises(ResultError, match="nothing was written"):
        result_of().save(tmp_path / "runs" / "one")


@pytest.mark.parametrize("name", ["manifest.json", "per_sample.parquet", "errors.jsonl"])
def test_a_folder_that_lacks_a_file_is_refused(tmp_path, name):
    target = result_of().save(tmp_path / "run")
    (target / name).unlink()
    with pytest.raises(ResultError, match="not a complete result folder"):
        Result.load(target)


@pytest.mark.parametrize("name", ["manifest.json", "per_sample.parquet", "errors.jsonl"])
def test_a_folder_with_a_damaged_file_is_refused(tmp_path, name):
    target = result_of().save(tmp_path / "run")
    (target / name).write_bytes(b"{oops")
    with pytest.raises(ResultError, match="not a complete result folder"):
        Result.load(target)


def test_what_a_killed_run_has_left_is_told_from_a_result_folder(tmp_path):
    left = tmp_path / ".run.abc.partial"
    left.mkdir()
    (left / "outputs.jsonl").write_text('{"id": "q1", "actual_output": ["a"]}\n')
    with pytest.raises(ResultError, match=r"its run was killed; go on with it \(`rankgauge run \.\.\. --resume"):
        Result.load(left)


def test_a_folder_with_details_that_lacks_them_is_refused(tmp_path):
    target = result_of(details=True).save(tmp_path / "run")
    (target / "per_sample.jsonl").unlink()
    with pytest.raises(ResultError, match="not a complete result folder"):
        Result.load(target)


@pytest.mark.parametrize("manifest", ["[]", "3", "{}", '{"schema_version": "rankgauge.result.v1"}'])
def test_a_manifest_that_is_none_is_refused(tmp_path, manifest):
    target = result_of().save(tmp_path / "run")
    (target / "manifest.json").write_text(manifest, "utf-8")
    with pytest.raises(ResultError, match=str(tmp_path)):
        Result.load(target)


def test_a_folder_of_another_version_is_refused_with_both_versions(tmp_path):
    target = result_of().save(tmp_path / "run")
    manifest = json.loads((target / "manifest.json").read_text("utf-8"))
    (target / "manifest.json").write_text(json.dumps({**manifest, "schema_version": "rankgauge.result.v9"}), "utf-8")
    with pytest.raises(ResultError, match=r"'rankgauge\.result\.v9'.*'rankgauge\.result\.v1'"):
        Result.load(target)


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(ResultError, match="not a complete result folder"):
        Result.load(tmp_path / "nowhere")


def test_the_name_of_a_result_folder_is_a_name_and_no_pattern(tmp_path):
    result = result_of()
    assert_equal(result, Result.load(result.save(tmp_path / "run[1]*")))


@pytest.mark.parametrize("names", [[{}], [None], 7])
def test_a_manifest_whose_names_are_no_texts_is_refused(names, tmp_path):
    folder = result_of().save(tmp_path / "run")
    manifest = json.loads((folder / "manifest.json").read_bytes())
    manifest["metrics"][0]["names"] = names
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(ResultError, match="not a complete result folder"):
        Result.load(folder)


def test_a_table_with_a_wrong_byte_is_named(tmp_path):
    folder = result_of().save(tmp_path / "run")
    (folder / "per_sample.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(
        ResultError, match=r"not a complete result folder: .*per_sample\.parquet: not a readable Parquet"
    ):
        Result.load(folder)


@pytest.mark.parametrize("part", ["dataset", "outputs", "policy"])
@pytest.mark.parametrize("value", [None, [], "x"])
def test_a_manifest_whose_parts_are_no_objects_is_refused(part, value, tmp_path):
    folder = result_of().save(tmp_path / "run")
    manifest = json.loads((folder / "manifest.json").read_bytes())
    (folder / "manifest.json").write_text(json.dumps({**manifest, part: value}), encoding="utf-8")
    with pytest.raises(ResultError, match=f"not a complete result folder: TypeError: '{part}' of manifest.json"):
        Result.load(folder)
