#!/usr/bin/env bash
# trectools takes removeUnjudged=True for six metrics, and does so in four of them. get_reciprocal_rank and get_rprec
# remove the documents without a judgment from a copy that they do not use afterwards, and return the value with these
# documents, without a word. Who condenses runs, because judgments were made for other systems, reads a reciprocal rank
# of a third beside a precision at 1 and an nDCG of 1.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/python -m pip install --quiet --disable-pip-version-check trectools==0.0.50 pandas==3.0.6 numpy==2.4.6

printf '1 Q0 new1 1 5 a\n1 Q0 new2 2 4 a\n1 Q0 good 3 3 a\n' >run
printf '1 0 good 1\n1 0 bad 0\n' >judgments
cat >try.py <<'PYTHON'
import sys
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")
from trectools import TrecEval, TrecQrel, TrecRun

evaluation = TrecEval(TrecRun("run"), TrecQrel("judgments"))
seen = {
    "reciprocal rank": round(float(evaluation.get_reciprocal_rank(removeUnjudged=True)), 4),
    "R-precision": round(float(evaluation.get_rprec(removeUnjudged=True)), 4),
    "P@1": round(float(evaluation.get_precision(depth=1, removeUnjudged=True)), 4),
    "nDCG@1": round(float(evaluation.get_ndcg(depth=1, removeUnjudged=True)), 4),
}
print(f"version: trectools {version('trectools')}")
print("expected by most: 1.0 for all four, since the judged document left on top is relevant")
print(f"seen: {seen}")
sys.exit(seen != {"reciprocal rank": 0.3333, "R-precision": 0.0, "P@1": 1.0, "nDCG@1": 1.0})
PYTHON
environment/bin/python try.py 2>/dev/null
