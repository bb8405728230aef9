"""Phrases that count as silence, on the command line, in a config and in its lock."""

from __future__ import annotations

import pytest

SAMPLES = [
    {"id": f"q{n}", "expected_output": [], "metadata": {"answerable": False}, "actual_output": {"answer": answer}}
    for n, answer in enumerate(("I don't know.", "It was in 1887.", "N/A, sorry"))
]
CONFIG = """\
version: 1
datasets:
  main: {path: samples.jsonl}
metrics:
  use: [false_answers]
policy:
  abstains: [I don't know, n/a, Sorry]
"""


@pytest.fixture(autouse=True)
def _files(write):
    write("samples.jsonl", SAMPLES)
    write("c.yaml", CONFIG)


def test_phrases_of_a_config_and_of_the_command_line_count_alike(rankgauge):
    assert rankgauge("run", "c.yaml", "--json").mean("false_answers") == pytest.approx(1 / 3)
    typed = ["--data", "samples.jsonl", "-m", "false_answers", "--policy"]
    assert rankgauge("run", *typed, "abstains=[I don't know, n/a, Sorry]", "--json").mean(
        "false_answers"
    ) == pytest.approx(1 / 3)
    assert rankgauge("run", *typed, "abstains=I don't know", "--json").mean("false_answers") == pytest.approx(2 / 3)
    assert rankgauge("run", "c.yaml", "--policy", "abstains=[]", "--json").mean("false_answers") == 1


def test_a_lock_holds_the_phrases(rankgauge, write):
    assert rankgauge("plugins", "lock", "c.yaml").code == 0
    write("c.yaml", CONFIG.replace(", Sorry", "") + "plugins:\n  locked: rankgauge.lock.yaml\n")
    done = rankgauge("run", "c.yaml")
    assert (done.code, "abstains" in done.err) == (2, True)


def test_a_phrase_that_is_none_is_said(rankgauge, write):
    write("c.yaml", CONFIG.replace("[I don't know, n/a, Sorry]", "[' ']"))
    done = rankgauge("run", "c.yaml")
    assert (done.code, "a blank one is not needed" in done.err) == (2, True)
