"""Errors of names that a plugin has declared which is not installed any more, cannot be imported, or is disabled."""

import json
from pathlib import Path

import pytest

from rankgauge import Catalog, Engine, Result, compare, judge_gates
from rankgauge.config.lock_file import write_lock
from rankgauge.errors import RankgaugeError

ACME = """
    from rankgauge.plugin import GateFinding, GoldItem, gate_kind, gold_kind, hookimpl, paired_test, ranking_filter

    @gold_kind("boxes", judge=lambda retrieved, gold: [[float(item.id == one) for one in gold] for item in retrieved])
    def boxes(raw):
        \"\"\"Boxes.\"\"\"
        return [GoldItem(each, each) for each in raw]

    @ranking_filter("every-other")
    def every_other(results):
        \"\"\"Keep every other rank.\"\"\"
        return [place % 2 == 0 for place, _ in enumerate(results.ids)]

    @gate_kind("median_at_least")
    def median_at_least(values, number):
        \"\"\"The middle score is at least a number.\"\"\"
        return GateFinding("passed", "fine")

    @paired_test("coin")
    def coin(differences):
        \"\"\"A coin.\"\"\"
        return 0.5

    @hookimpl
    def rankgauge_gold_kinds():
        return [boxes]

    @hookimpl
    def rankgauge_ranking_filters():
        return [every_other]

    @hookimpl
    def rankgauge_gate_kinds():
        return [median_at_least]

    @hookimpl
    def rankgauge_paired_tests():
        return [coin]
"""

BROKEN = "import no_such_module_of_acme\n"
PLAIN = {"id": "q", "expected_output": {"relevant": ["a"]}, "actual_output": ["a", "b"]}
BOXES = {**PLAIN, "expected_output": {"relevant": ["a"], "boxes": ["a"]}}
ALONE = {**PLAIN, "expected_output": {"boxes": ["a"]}}
WHY = "it may come from a plugin that failed (acme-parts:main: importing 'fake_plugin_0' failed: ModuleNotFoundError: "
ABSENT = "it may be one of a plugin that is not installed"


def run(sample, metric="MRR", **policy):
    return Engine().dataset([sample]).with_metrics([metric]).with_profile(**policy).run()


def result():
    return Engine(catalog=Catalog.discover(own_only=True)).dataset([PLAIN]).with_metrics(["MRR"]).run()


ACTS = {
    "a key of samples": lambda: run(BOXES),
    "the only key of samples": lambda: run(ALONE),
    "gold=": lambda: run(PLAIN, "recall(gold=boxes)@5"),
    "filters": lambda: run(PLAIN, filters=["every-other"]),
    "a gate": lambda: judge_gates(result(), ["MRR median_at_least 0.5"], catalog=Catalog.discover()),
    "a key of a gate": lambda: judge_gates(
        result(), [{"metric": "MRR", "median_at_least": 0.5}], catalog=Catalog.discover()
    ),
    "a gate of a metric with parameters": lambda: judge_gates(
        result(), ["recall(gold=boxes)@5 median_at_least 0.5"], catalog=Catalog.discover()
    ),
    "test=": lambda: compare({"a": result(), "b": result()}, test="coin", catalog=Catalog.discover()),
}


def told(act):
    with pytest.raises(RankgaugeError) as raised:
        act()
    return str(raised.value)


@pytest.mark.parametrize("name", ACTS)
def test_what_a_broken_plugin_would_declare_names_it_and_says_why(installed, name):
    installed.add("acme-parts", BROKEN)
    assert WHY in told(ACTS[name])
    assert "see `rankgauge plugins check`" in told(ACTS[name])


@pytest.mark.parametrize("name", ACTS)
def test_what_no_plugin_declares_may_be_one_that_is_not_installed(monkeypatch, name):
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS", raising=False)
    assert ABSENT in told(ACTS[name])


def test_a_disabled_plugin_is_named_too(installed, monkeypatch):
    installed.add("acme-parts", ACME)
    monkeypatch.setenv("RANKGAUGE_DISABLE_PLUGINS", "acme-parts")
    for act in ACTS.values():
        assert "it may come from one that is disabled (acme-parts)" in told(act)


def test_what_is_misspelled_is_told_the_name_and_nothing_of_plugins(installed):
    installed.add("acme-parts", ACME)
    message = told(lambda: judge_gates(result(), ["MRR median_at_leats 0.5"], catalog=Catalog.discover()))
    assert "unknown gate kind 'median_at_leats' (did you mean 'median_at_least'?)" in message
    assert "known are max_drop, median_at_least, not_worse" in message
    assert "plugin" not in message
    keys = [{"metric": "MRR", "median_at_leats": 1}]
    message = told(lambda: judge_gates(result(), keys, catalog=Catalog.discover()))
    assert "'median_at_leats' is not a key of a gate (did you mean 'median_at_least'?)" in message
    assert "plugin" not in message
    assert "(did you mean 'max_drop'?)" in told(lambda: judge_gates(result(), ["MRR max_drp 0.5"]))
    message = told(lambda: run({**PLAIN, "expected_output": {"relevant": ["a"], "boxxes": ["a"]}}))
    assert "(did you mean 'boxes'?)" in message
    assert "plugin" not in message
    message = told(lambda: run(PLAIN, "recall(gold=boxxes)@5"))
    assert "judged against relevant or passages or spans or boxes, not against gold='boxxes' (did you mean" in message


@pytest.fixture
def saved(installed, tmp_path):
    """Return the plugin's file, and folders of results that need its kind of gold and its filter."""
    file = installed.add("acme-parts", ACME, version="2.5")
    (tmp_path / "data.jsonl").write_text(json.dumps(BOXES), encoding="utf-8")
    evaluation = Engine().dataset(tmp_path / "data.jsonl")
    evaluation.with_metrics(["recall(gold=boxes)@5"]).run().save(tmp_path / "boxes")
    narrowed = evaluation.with_metrics(["MRR"]).with_profile(filters=["every-other"])
    narrowed.run().save(tmp_path / "filtered")
    return file, (tmp_path / "boxes", tmp_path / "filtered")


def test_a_result_names_the_plugin_that_it_was_made_with(installed, saved):
    file, folders = saved
    installed.uninstall(file)
    missing = "the result was made with acme-parts 2.5: it is not installed; `pip install acme-parts==2.5`"
    for folder in folders:
        assert missing in told(lambda folder=folder: Result.load(folder).explain("q"))


def test_a_lock_names_who_provided_a_kind_of_gold(installed, tmp_path):
    file = installed.add("acme-parts", ACME, version="2.5")
    (tmp_path / "data.jsonl").write_text(json.dumps(BOXES), encoding="utf-8")
    config = tmp_path / "c.yaml"
    text = "version: 1\ndatasets: {d: {path: data.jsonl}}\nmetrics: {use: ['recall(gold=boxes)@5']}\n"
    config.write_text(text, encoding="utf-8")
    write_lock(Engine.from_config(config).lock(), tmp_path / "lock.yaml")
    config.write_text(f"{text}plugins: {{locked: lock.yaml}}\n", encoding="utf-8")
    assert Engine.from_config(config).dataset("d").run()["recall(gold=boxes)@5"].mean == 1
    installed.uninstall(file)
    message = told(lambda: Engine.from_config(config).dataset("d").run())
    assert "names acme-parts 2.5 as the provider of 'boxes': it is not installed; `pip install acme-parts" in message


def test_a_run_of_trec_files_names_it_too(installed, tmp_path):
    import rankgauge

    file = installed.add("acme-parts", ACME, version="2.5")
    (tmp_path / "run").write_text("q Q0 a 1 1 t\n", encoding="utf-8")
    (tmp_path / "qrels").write_text("q 0 a 1\n", encoding="utf-8")
    given, catalog = map(str, (tmp_path / "qrels", tmp_path / "run")), Catalog.discover()
    rankgauge.evaluate(*given, "RR", policy={"filters": ["every-other"]}, catalog=catalog).save(tmp_path / "of-run")
    installed.uninstall(file)
    message = told(lambda: Result.load(tmp_path / "of-run").explain("q"))
    assert "the result was made with acme-parts 2.5: it is not installed; `pip install acme-parts==2.5`" in message


def test_a_result_says_why_a_plugin_cannot_be_imported_and_which_version_is_there(installed, saved):
    import sys

    file, folders = saved
    installed.upgrade(file, "3.0")
    Path(file).write_text("from rankgauge.plugin import hookimpl\n", encoding="utf-8")
    sys.modules.pop(file.stem)
    for folder in folders:
        message = told(lambda folder=folder: Result.load(folder).explain("q"))
        assert "made with acme-parts 2.5: installed is 3.0; `pip install acme-parts==2.5`" in message
    installed.upgrade(file, "2.5")
    Path(file).write_text(BROKEN, encoding="utf-8")
    sys.modules.pop(file.stem)
    for folder in folders:
        message = told(lambda folder=folder: Result.load(folder).explain("q"))
        assert "the result was made with acme-parts 2.5: it failed to load: importing 'fake_plugin_0' failed" in message
        assert "may come from" not in message
