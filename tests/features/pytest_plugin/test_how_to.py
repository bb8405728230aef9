"""The how-to page: what it shows runs, and prints what it says."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[3] / "docs/how-to/gate-in-ci.md").read_text(encoding="utf-8")

SEARCH = """
QUERIES = [
    {"id": "q1", "text": "lighthouse", "relevant": ["d1"]},
    {"id": "q2", "text": "tide tables", "relevant": {"d5": 1, "d6": 2}},
    {"id": "q3", "text": "opening hours", "relevant": ["d4"]},
]
FOUND = {"lighthouse": ["d1", "d2"], "tide tables": ["d9", "d2", "d5"], "opening hours": ["d8"]}
search = FOUND.__getitem__
"""

pytest_plugins = ["pytester"]


def test_the_page_runs_and_its_failure_is_what_it_shows(project):
    files = dict(re.findall(r"^```python (test_\w+)\.py\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    assert {"test_search", "test_changes"} == set(files)
    project.makepyfile(my_search=SEARCH, **files)
    project.syspathinsert()
    done = project.runpytest_inprocess("--rankgauge-metric", "recall@5")
    done.assert_outcomes(passed=1, failed=1)
    (shown,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert shown in done.stdout.str()
