"""Plugins that misbehave: each breaks what asks for it, by its name and line, and nothing else."""

import json
import logging

import pytest

from draws import some
from faults.misbehaving import PLACES, RAISES, hostile_declarations, misbehaving
from rankgauge import Catalog, Engine
from rankgauge.cli import call as _call
from rankgauge.errors import MetricFailedError

ROWS = [
    {
        "id": "q1",
        "expected_output": {"relevant": ["a"], "answer": "x"},
        "actual_output": {"retrieved": ["a"], "answer": "x"},
    },
    {
        "id": "q2",
        "expected_output": {"relevant": ["a"], "answer": "x"},
        "actual_output": {"retrieved": ["b"], "answer": "y"},
    },
]


@pytest.fixture(autouse=True)
def _as_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    root = logging.getLogger("rankgauge")
    before = (root.handlers[:], root.level)
    yield
    root.handlers[:], root.level = before[0], before[1]


@pytest.fixture
def rankgauge(capsys):
    """Return what calls the command line in this process: its exit code, stdout and stderr."""

    def call(*arguments):
        capsys.readouterr()
        code = _call(list(arguments))
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        assert "internal error" not in err
        return code, out, err

    return call


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    (tmp_path / "data.bad").write_text("", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("what", some(list(RAISES)))
@pytest.mark.parametrize("place", ["import", "hook", "started", "finished", "metric", "reader", "reporter"])
def test_a_run_that_never_asked_for_the_plugin_goes_on(installed, rankgauge, data, place, what):
    installed.add("bad-tools", misbehaving(place, RAISES[what]))
    code, out, err = rankgauge("run", "--data", data, "-m", "hit@1", "--json")
    assert (code, json.loads(out)["metrics"]["hit@1"]["mean"]) == (0, 0.5)
    assert (place in {"started", "finished"}) == ("bad-tools" in err)


@pytest.mark.parametrize("what", RAISES)
@pytest.mark.parametrize("place", ["import", "hook"])
def test_a_plugin_that_cannot_be_loaded_is_listed_with_its_file_and_line(installed, place, what):
    file = installed.add("bad-tools", misbehaving(place, RAISES[what]))
    (fault,) = [fault for fault in Catalog.discover().faults if fault.plugin == "bad-tools:main"]
    assert fault.stage == ("load" if place == "import" else "hook")
    assert f"({file}:" in fault.message


@pytest.mark.parametrize("what", some(list(RAISES), first=1))
@pytest.mark.parametrize("place", ["metric", "defined", "normalizer", "comparer"])
def test_what_fails_while_scoring_fails_for_its_samples_by_name_and_line(installed, data, place, what):
    file = installed.add("bad-tools", misbehaving(place, RAISES[what]))
    name = "bad-metric" if place in {"metric", "defined"} else "bad-answer"
    evaluation = Engine().dataset(data).with_metrics([name, "hit@1"])
    with pytest.raises(MetricFailedError, match=f"(?s)1 metric failed for every sample.*'{name}'") as failed:
        evaluation.run()
    result = failed.value.result
    assert [column.mean for column in result.metrics.values()] == [0.0, 0.5]
    assert result[name].n_failed == len(ROWS)
    for error in result.errors:
        assert "bad-tools 1.0 (plugin main)" in error.reason
        assert f"({file}:" in error.reason


@pytest.mark.parametrize("what", RAISES)
def test_what_only_explains_or_prepares_changes_no_score(installed, data, what):
    installed.add("bad-tools", misbehaving("details", RAISES[what]))
    installed.add(
        "worse-tools", misbehaving("prepare", RAISES[what]).replace('"bad-', '"worse-').replace(" bad-", " worse-")
    )
    result = Engine().dataset(data).with_metrics(["bad-metric", "worse-answer"]).run(details=True)
    assert [column.mean for column in result.metrics.values()] == [1.0, 1.0]
    assert "bad-tools" in result["bad-metric"].details[0]["details_failed"]


@pytest.mark.parametrize("what", RAISES)
@pytest.mark.parametrize("place", ["check", "matcher", "comparer check"])
def test_what_fails_while_planning_is_a_problem_of_the_plan(installed, rankgauge, data, place, what):
    installed.add("bad-tools", misbehaving(place, RAISES[what]))
    name = "bad-metric" if place == "check" else "bad-answer"
    code, out, err = rankgauge("run", "--data", data, "-m", name)
    assert (code, out) == (2, "")
    assert ("bad-comparer" if place == "comparer check" else name) in err


@pytest.mark.parametrize("what", RAISES)
@pytest.mark.parametrize("place", ["reader", "lazy reader"])
def test_a_reader_that_fails_makes_its_file_unreadable(installed, rankgauge, data, place, what):
    file = installed.add("bad-tools", misbehaving(place, RAISES[what]))
    code, out, err = rankgauge("run", "--data", "data.bad", "-m", "hit@1")
    assert (code, out) == (2, "")
    assert "cannot read data.bad" in err
    assert "reader 'bad-reader' (by bad-tools 1.0 (plugin main)" in err
    assert f"({file}:" in err


@pytest.mark.parametrize("what", RAISES)
def test_a_reporter_that_fails_is_a_fault_of_its_own_and_what_was_computed_is_kept(installed, rankgauge, data, what):
    file = installed.add("bad-tools", misbehaving("reporter", RAISES[what]))
    code, out, err = rankgauge("run", "--data", data, "-m", "hit@1", "--format", "bad-reporter", "-o", "kept")
    assert (code, out) == (2, "")
    assert "error: reporter 'bad-reporter' (by bad-tools 1.0 (plugin main)" in err
    assert f"({file}:" in err
    assert "saved to" in err


@pytest.mark.parametrize(
    ("returned", "told"), [("None", "None"), ("b'bytes'", "b'bytes'"), ("Unprintable()", "<Unprintable object")]
)
def test_a_reporter_that_returns_no_text_is_told_so(installed, rankgauge, data, returned, told):
    installed.add("bad-tools", misbehaving().replace('return "fine\\n"', f"return {returned}"))
    code, out, err = rankgauge("run", "--data", data, "-m", "hit@1", "--format", "bad-reporter")
    assert (code, out) == (2, "")
    assert f"it returned {told}" in err


def test_a_reader_that_yields_no_records_is_told_so(installed, rankgauge, data):
    installed.add(
        "bad-tools", misbehaving("lazy reader", "yield {'id': 'q2'}").replace('misbehave("lazy reader")', "yield 5")
    )
    code, _, err = rankgauge("run", "--data", "data.bad", "-m", "hit@1")
    assert code == 2
    assert "it yielded 5 where a rankgauge.plugin.Record is needed" in err


def test_declarations_that_raise_when_they_are_looked_at_are_faults_and_the_others_work(installed, rankgauge):
    installed.add("bad-tools", hostile_declarations)
    catalog = Catalog.discover()
    messages = [fault.message for fault in catalog.faults if fault.plugin == "bad-tools:main"]
    assert len(messages) == 7
    assert "rankgauge_metrics() returned <Hostile object that cannot be printed>" in messages[0]
    assert "rankgauge_metrics() returned 7, which @metric did not declare" in messages
    assert "7 is not a name" in " ".join(messages)
    assert "fine-normalizer" in catalog.all("normalizer")
    for command in (["plugins", "list"], ["metrics", "list"], ["matchers", "list"]):
        assert rankgauge(*command)[0] == 0
    assert rankgauge("plugins", "check")[0] == 1


@pytest.mark.parametrize("metadata", [b"\xff\xfe", b"[rankgauge]\nmain\n", b"[rankgauge\nmain = x\n"])
def test_entry_points_that_cannot_be_read_end_nothing(installed, rankgauge, data, metadata):
    file = installed.add("bad-tools", misbehaving())
    (points,) = file.parent.glob("*.dist-info/entry_points.txt")
    points.write_bytes(metadata)
    assert rankgauge("run", "--data", data, "-m", "hit@1")[0] == 0


def test_what_plugins_print_goes_to_stderr(installed, rankgauge, data):
    for place in PLACES:
        installed.add(
            f"loud-{place.replace(' ', '-')}",
            misbehaving(place, f"print('LOUD {place}')").replace("bad-", f"{place.replace(' ', '-')}-bad-"),
        )
    code, out, err = rankgauge("metrics", "list", "--json")
    assert code == 0
    assert "metric-bad-metric" in [metric["alias"] for metric in json.loads(out)]
    assert {"LOUD import", "LOUD hook"} <= set(err.splitlines())
    names = {"metric-bad-metric": "metric", "normalizer-bad-answer": "normalizer", "prepare-bad-answer": "prepare"}
    listed = [part for name in names for part in ("-m", name)]
    code, out, err = rankgauge("run", "--data", data, *listed, "--json", "--details")
    assert (code, json.loads(out)["samples"]) == (0, len(ROWS))
    assert {"LOUD started", "LOUD finished", *(f"LOUD {place}" for place in names.values())} <= set(err.splitlines())
    code, out, err = rankgauge("run", "--data", data, "-m", "hit@1", "-f", "reporter-bad-reporter")
    assert (code, out) == (0, "fine\n")
    assert "LOUD reporter" in err


@pytest.mark.parametrize("place", ["lazy reader", "reporter"])
def test_plugins_check_tries_readers_and_reporters_on_tiny_data(installed, rankgauge, place):
    installed.add("bad-tools", misbehaving(place, RAISES["exit"]))
    code, out, _ = rankgauge("plugins", "check", "--json")
    fault = json.loads(out)["faults"][-1]  # the plugin's reader passes over damaged lines, which is another fault
    assert (code, fault["plugin"], fault["stage"]) == (1, "bad-tools:main", "call")
    assert "SystemExit: 0" in fault["message"]
