#!/usr/bin/env bash
# One query for which no document was judged relevant sets the bpref of every query behind it, in the order of their ids, to
# 0 in ranx, without a word, though none of these queries changed. Judgments made by pooling often have such queries. A mean
# of bpref then says mostly how early in the alphabet the first of them is, and a query has another score when it is
# evaluated alone.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/python -m pip install --quiet --disable-pip-version-check ranx==0.3.21

cat >try.py <<'PYTHON'
import sys
from importlib.metadata import version

from ranx import Qrels, Run, evaluate

NAMES = ["q1", "q2", "q3", "q4"]
RUN = {name: {"d1": 2.0, "d2": 1.0} for name in NAMES}


def scores(without: str | None) -> list[float]:
    qrels = {name: {"d1": int(name != without), "d2": 0} for name in NAMES}
    return [float(score) for score in evaluate(Qrels(qrels), Run(RUN), "bpref", return_mean=False)]


seen = {without or "none": scores(without) for without in (None, "q2", "q4")}
print(f"version: ranx {version('ranx')}")
print("expected by most: every query that has a relevant document keeps its 1.0, whichever query has none")
print(f"seen: bpref of q1 to q4 by the query without a relevant document: {seen}")
changed = {"none": [1.0, 1.0, 1.0, 1.0], "q2": [1.0, 0.0, 0.0, 0.0], "q4": [1.0, 1.0, 1.0, 0.0]}
sys.exit(seen != changed)
PYTHON
environment/bin/python try.py 2>/dev/null
