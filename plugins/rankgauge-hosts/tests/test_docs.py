"""The how-to page, then the README: the blocks marked ``host=NAME`` run one after the other, for each host."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import yaml

from rankgauge_hosts.promptfoo import get_assert

PLUGIN = Path(__file__).parents[1]
PAGE = PLUGIN.parents[1] / "docs/how-to/inside-your-platform.md"
FENCE = re.compile(r"^```(?P<kind>\w+) host=(?P<host>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
HOSTS = ["promptfoo", *filter(None, [os.environ.get("RANKGAUGE_HOST")])]


@pytest.mark.parametrize("host", HOSTS)
def test_the_blocks_of_a_page_run(host, tmp_path, monkeypatch, child_environment):
    """Assertions in the blocks are the expectations."""
    monkeypatch.chdir(tmp_path)
    pages = [page.read_text(encoding="utf-8") for page in (PAGE, PLUGIN / "README.md")]
    blocks = [block for page in pages for block in FENCE.finditer(page) if block["host"] == host]
    assert blocks
    namespace = {"__name__": "docs"}
    for block in blocks:
        if block["kind"] == "python":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # hosts deprecate much of what they have
                exec(compile(block["code"], f"example of {host}", "exec"), namespace)  # noqa: S102  # our own page
        elif block["kind"] == "sh":
            for line in block["code"].splitlines():
                command, *arguments = shlex.split(line)
                path = str(Path(sys.executable).parent / command)
                done = subprocess.run([path, *arguments], check=False, timeout=300, env=child_environment)
                assert done.returncode == 0
        else:
            assert block["kind"] == "yaml"


def test_the_config_of_promptfoo_is_one_that_the_assertion_takes():
    page = PAGE.read_text(encoding="utf-8")
    (block,) = (block["code"] for block in FENCE.finditer(page) if block["kind"] == "yaml")
    (test,) = yaml.safe_load(block)["tests"]
    (assertion,) = test["assert"]
    graded = get_assert(["doc-3"], {"vars": test["vars"], "config": assertion["config"]})
    assert graded["pass"] is True
    assert list(graded["namedScores"]) == ["ndcg@10", "recall@1", "recall@5"]
