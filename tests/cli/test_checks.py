"""`rankgauge metrics check` and `rankgauge plugins check NAME`: reports on stdout, and exit codes."""

from __future__ import annotations

import json
import sys

import pytest

from draws import in_thorough_suite
from fake_plugins import FakePlugins

SOURCE = """\
def recall(retrieved, relevant, k):
    return len(set(retrieved[:k]) & set(relevant)) / len(relevant) if relevant else 0.0

def hasty(retrieved, relevant, k):
    return sum(doc in relevant for doc in set(retrieved[:k])) / max(len(retrieved[:k]), 1)

def unclear(a, b, c):
    return len(set(b[:c]) & set(a)) / len(a) if a else 0.0

def dcg(relevances, k):
    return sum(rel / (rank + 1) for rank, rel in enumerate(relevances[:k]))
"""


@pytest.fixture(autouse=True)
def module(tmp_path):
    (tmp_path / "checked_metrics.py").write_text(SOURCE, encoding="utf-8")
    yield
    sys.modules.pop("checked_metrics", None)


@in_thorough_suite()
def test_a_function_that_obeys_passes(rankgauge):
    done = rankgauge("metrics", "check", "checked_metrics:recall", "--cases", "10")

    assert done.code == 0
    assert done.out.startswith("metric recall: ")
    assert "  called   recall(retrieved, relevant = set of relevant ids, k)" in done.out


def test_a_broken_law_exits_with_1_and_shows_its_example(rankgauge):
    done = rankgauge("metrics", "check", "checked_metrics.py:hasty", "--law", "padding", "--law", "bounded")

    assert done.code == 1
    assert "  broken   padding: " in done.out
    assert "      retrieved  doc-0, doc-1   k = 2   score = 0.5" in done.out
    assert "  holds    bounded" in done.out


def test_json_is_all_there_is_on_stdout(rankgauge):
    done = rankgauge("metrics", "check", "checked_metrics:hasty", "--law", "padding", "--json")

    assert done.code == 1
    (law,) = done.json["laws"]
    assert (done.json["ok"], law["law"], law["state"]) == (False, "padding", "broken")
    assert law["example"][-1]["retrieved"] == ["doc-0", "doc-1"]


@in_thorough_suite()
def test_laws_are_left_out_by_name(rankgauge):
    done = rankgauge("metrics", "check", "checked_metrics:hasty", "--without", "padding", "--cases", "10")

    assert done.code == 0
    assert "skipped  padding: left out on request" in done.out


@in_thorough_suite()
def test_it_can_be_said_how_a_function_is_called_and_what_its_range_is(rankgauge):
    unclear = ("metrics", "check", "checked_metrics:unclear", "--law", "bounded")
    assert rankgauge(*unclear).code == 2
    assert "no role is named 'a', 'b', 'c'" in rankgauge(*unclear).err
    assert rankgauge(*unclear, "--calls", "gold,retrieved,k").code == 0
    assert rankgauge("metrics", "check", "checked_metrics:dcg", "--range", "0..", "--law", "bounded").code == 0
    assert rankgauge("metrics", "check", "checked_metrics:dcg", "--law", "bounded").code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["checked_metrics:nothing"], "has no attribute 'nothing'"),
        (["no_such_module:recall"], "No module named 'no_such_module'"),
        (["no-such-metric"], "unknown metric 'no-such-metric'"),
        (["checked_metrics:__name__"], "cannot be called"),
        (["checked_metrics:recall", "--law", "pading"], "did you mean 'padding'"),
        (["checked_metrics:recall", "--range", "1"], "LOW..HIGH"),
        (["checked_metrics:recall", "--calls", "idz"], "'idz' is not a role"),
    ],
)
def test_what_cannot_be_used_exits_with_2(rankgauge, arguments, message):
    done = rankgauge("metrics", "check", *arguments)

    assert done.code == 2
    assert message in " ".join(done.err.replace("│", " ").split())


def test_an_installed_metric_is_checked_by_any_of_its_names(rankgauge):
    done = rankgauge("metrics", "check", "ndcg", "--law", "bounded", "--cases", "10")

    assert (done.code, done.out.splitlines()[0]) == (0, "metric retrieval-ndcg-at-k: 1 law holds")


@in_thorough_suite()
def test_a_quick_check_draws_fewer_cases_and_says_how_long_it_takes(rankgauge, installed: FakePlugins, monkeypatch):
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS")
    installed.add(
        "tiny",
        "from rankgauge.plugin import hookimpl, normalizer\n\n\n"
        "@normalizer('tiny', stage='fold')\ndef tiny(text: str) -> str:\n    return text.strip()\n\n\n"
        "@hookimpl\ndef rankgauge_normalizers():\n    return [tiny]\n",
    )
    quick = rankgauge("plugins", "check", "tiny", "--quick")
    usual = rankgauge("plugins", "check", "tiny", "--cases", "20")

    assert (quick.code, quick.err) == (0, "checking normalizer tiny (1 of 1, about 1 s left)\n")
    assert usual.err == "checking normalizer tiny (1 of 1, about 1 s left); --quick takes less\n"
    assert quick.out == usual.out


@pytest.mark.parametrize("command", [("plugins", "check", "rankgauge:readers"), ("metrics", "check", "ndcg")])
def test_quick_and_a_number_of_cases_exclude_each_other(rankgauge, command):
    done = rankgauge(*command, "--quick", "--cases", "5")

    assert done.code == 2
    assert "give one of them" in done.err


def test_one_plugin_is_checked_with_everything_it_offers(rankgauge):
    done = rankgauge("plugins", "check", "rankgauge:readers", "--json")

    assert done.code == 0
    offers = done.json["offers"]
    assert {key: value for key, value in done.json.items() if key != "offers"} == {
        "plugin": "rankgauge:readers",
        "ok": True,
        "faults": [],
    }
    assert {(offer["kind"], offer["name"], offer["ok"]) for offer in offers if offer["kind"] == "reader"} == {
        ("reader", name, True) for name in ("jsonl", "json", "yaml", "parquet", "csv", "excel")
    }
    presets = [offer for offer in offers if offer["kind"] == "preset"]
    assert (len(presets), all(offer["ok"] for offer in presets), len(offers)) == (16, True, 22)
    assert rankgauge("plugins", "check", "no-such-plugin").code == 2


ABSENT = """
from rankgauge.plugin import comparer, hookimpl

def no_model():
    raise ModuleNotFoundError("the model is not here")

@comparer("checked-absent", check=no_model)
def absent(retrieved, gold):
    raise AssertionError("it was called all the same")

@hookimpl
def rankgauge_comparers():
    return [absent]
"""


def test_a_plugin_whose_model_is_not_here_is_reported_and_breaks_nothing(rankgauge, tmp_path, monkeypatch):
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS")
    plugins = FakePlugins(tmp_path / "sites", monkeypatch)
    plugins.add("absent-model", ABSENT)
    done = rankgauge("plugins", "check", "absent-model")
    plugins.forget()

    assert done.code == 0
    assert done.out.splitlines() == [
        "comparer checked-absent: not checked, because it cannot work here",
        "  the model is not here",
        "plugin absent-model: 1 offered, 1 of them not checked, nothing wrong with the others",
    ]


def test_plugins_check_without_a_name_is_as_ever(rankgauge):
    assert rankgauge("plugins", "check").out.endswith("plugins, no faults\n")
    assert json.loads(rankgauge("plugins", "check", "--json").out) == {"ok": True, "faults": []}


def test_without_the_extra_it_is_named(rankgauge, monkeypatch):
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    done = rankgauge("metrics", "check", "checked_metrics:recall")

    assert done.code == 2
    assert "pip install 'rankgauge[testing]'" in done.err
