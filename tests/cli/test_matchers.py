"""`rankgauge matchers`: what there is, what it is made of, and what it makes of two texts."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from rankgauge.catalog import Catalog
from rankgauge.cli import matchers_command
from rankgauge.plugin import comparer, hookimpl, named_matcher, normalizer

CONFIG = """\
version: 1
datasets:
  mine: {path: samples.jsonl}
matchers:
  loose: "strip-punctuation | casefold > token-overlap(over=gold) >= 0.5"
metrics:
  use: [MRR]
"""


@normalizer("to-nothing", stage="fold")
def to_nothing(_text):
    """Forget to return a text."""


@comparer("two-scores")
def two_scores(retrieved, gold):
    """Return a score too many."""
    assert len(retrieved) == len(gold) == 1
    return [[0.5, 0.5]]


@named_matcher("silent", "to-nothing > equal >= 1")
def silent():
    """Compare nothing."""


BROKEN = SimpleNamespace(
    rankgauge_normalizers=hookimpl(lambda: [to_nothing]),
    rankgauge_comparers=hookimpl(lambda: [two_scores]),
    rankgauge_matchers=hookimpl(lambda: [silent]),
)


def test_list_has_every_matcher_and_those_of_a_config(rankgauge, write):
    write("c.yaml", CONFIG)

    done = rankgauge("matchers", "list", "--json", "--config", "c.yaml")

    found = {row["name"]: row for row in done.json}
    assert {"exact", "folded", "contains", "keyword", "json-escaped", "chunk", "chunk-remem", "fuzzy-chunk"} < set(
        found
    )
    assert found["exact"]["composition"] == "equal >= 1"
    assert found["exact"]["provider"]["distribution"] == "rankgauge"
    assert found["loose"]["composition"] == "strip-punctuation | casefold > token-overlap(over=gold) >= 0.5"
    assert "loose" not in rankgauge("matchers", "list").out


def test_list_is_a_table(rankgauge):
    done = rankgauge("matchers", "list")

    assert done.code == 0
    assert "fuzzy-chunk" in done.out
    assert "rankgauge 0." in done.out


def test_show_names_steps_parameters_and_providers(rankgauge):
    shown = rankgauge("matchers", "show", "fuzzy-chunk", "--json").json

    assert shown["threshold"] == 0.9
    assert [(step["name"], step["stage"]) for step in shown["normalizers"]] == [
        ("strip-date-prefix", "strip"),
        ("strip-role-prefix", "strip"),
    ]
    values = {parameter["name"]: parameter["value"] for parameter in shown["comparer"]["parameters"]}
    assert values == {"cutoff": 0.9, "escaped": True}
    assert {provider["of"] for provider in shown["providers"]} == {
        *("fuzzy-chunk", "strip-date-prefix", "strip-role-prefix", "infix-edit")
    }


def test_show_takes_a_composition(rankgauge):
    done = rankgauge("matchers", "show", "casefold > token-overlap(over=gold) >= 0.5")

    assert done.code == 0
    assert "threshold    0.5" in done.out
    assert "over = gold (default retrieved), one of" in done.out


@pytest.mark.parametrize(
    ("name", "retrieved", "gold", "score", "matches"),
    [
        ("chunk", "Date: 2023-05-20\nuser: I like tea", "assistant: Hello. I like tea a lot.", 1.0, True),
        ("chunk", "user: ", "user: anything", 0.0, False),  # nothing but a prefix
        ("chunk-remem", "user: ", "user: anything", 1.0, True),  # REMem's empty chunk is found everywhere
        ("fuzzy-chunk", "abcdefghij", "..abcdefghiX..", 0.9, True),  # one of ten letters differs
        ("fuzzy-chunk", "abcdefghij", "..abcdefghXX..", 0.8, False),
        ("loose", "Tea, please!", "tea coffee", 0.5, True),  # one of two words
    ],
)
def test_try_gives_score_and_verdict(rankgauge, write, name, retrieved, gold, score, matches):
    write("c.yaml", CONFIG)

    done = rankgauge(
        *("matchers", "try", name, "--retrieved", retrieved, "--gold", gold, "--json", "--config", "c.yaml")
    )

    assert done.code == 0
    assert done.json["score"] == pytest.approx(score, abs=1e-12)
    assert done.json["matches"] is matches


def test_try_shows_both_texts_after_each_step_on_a_line_each(rankgauge, write):
    write("chunk.txt", "Date: 2023-05-20\nuser: tea")

    lines = rankgauge("matchers", "try", "chunk", "--retrieved", "@chunk.txt", "--gold", "ai: my tea").out.splitlines()

    assert lines == [
        "matcher    chunk (strip-date-prefix | strip-role-prefix > json-escaped >= 1)",
        "as given",
        r'  retrieved  "Date: 2023-05-20\nuser: tea"',
        '  gold       "ai: my tea"',
        "after strip-date-prefix",
        '  retrieved  "user: tea"',
        '  gold       "ai: my tea"',
        "after strip-role-prefix",
        '  retrieved  "tea"',
        '  gold       "my tea"',
        "score      1 (threshold 1)",
        "verdict    match",
    ]


@pytest.mark.parametrize(
    ("name", "retrieved", "parts"),
    [
        ("fuzy-chunk", "x", ["unknown matcher 'fuzy-chunk'", "did you mean 'fuzzy-chunk'"]),
        ("equal >= 1.5", "x", ["threshold", "1.5"]),
        (
            "casefold | json-unescape > equal >= 1",
            "x",
            ["'json-unescape' (decode) must come before 'casefold' (fold)"],
        ),
        ("chunk", "@nowhere.txt", ["nowhere.txt: no such file", "--retrieved @nowhere.txt names it"]),
    ],
)
def test_what_cannot_be_tried_says_why(rankgauge, name, retrieved, parts):
    done = rankgauge("matchers", "try", name, "--retrieved", retrieved, "--gold", "y")

    assert done.code == 2
    assert not done.out
    assert all(part in done.err for part in parts)


@pytest.mark.parametrize(("name", "culprit"), [("silent", "to-nothing"), ("casefold > two-scores >= 1", "two-scores")])
def test_failures_of_a_plugin_name_it(monkeypatch, rankgauge, name, culprit):
    catalog = Catalog.discover(own_only=True, plugins={"broken": BROKEN})
    monkeypatch.setattr(matchers_command, "_catalog", lambda _config: (catalog, []))

    done = rankgauge("matchers", "try", name, "--retrieved", "x", "--gold", "y")

    assert done.code == 2
    assert f"{culprit!r} of matcher" in done.err
    assert "broken" in done.err
