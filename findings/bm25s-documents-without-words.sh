#!/usr/bin/env bash
# By the methods bm25l and bm25+, bm25s returns documents that have none of the question's words, with scores far above
# zero: what a missing word adds is a part of its formulas. A rule such as "what scores more than 0 is a result" then
# returns the whole corpus, a threshold for saying nothing never says it, and recall counts documents that share no word.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/python -m pip install --quiet --disable-pip-version-check numpy==2.4.6 bm25s==0.3.16

cat >try.py <<'PYTHON'
import sys
from importlib.metadata import version

import bm25s

documents = ["the moon pulls the sea", "rivers carry salt", "ships keep logs", "wind makes waves"]
seen = {}
for method in ("lucene", "bm25l", "bm25+"):
    index = bm25s.BM25(method=method)
    index.index(bm25s.tokenize(documents, show_progress=False), show_progress=False)
    numbers, scores = index.retrieve(bm25s.tokenize("moon", show_progress=False), k=4, show_progress=False)
    seen[method] = [round(float(score), 2) for score in scores[0]]
print(f"version: bm25s {version('bm25s')}")
print("expected by most: one document has a score above 0")
print(f"seen: {seen}")
above = {method: sum(score > 0 for score in scores) for method, scores in seen.items()}
sys.exit(above != {"lucene": 1, "bm25l": 4, "bm25+": 4})
PYTHON
environment/bin/python try.py 2>/dev/null
