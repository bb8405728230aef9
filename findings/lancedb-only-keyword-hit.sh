#!/usr/bin/env bash
# In a hybrid search of LanceDB, scores of both sides are brought to 0..1 by their smallest and largest before they are
# combined. If one document alone has the word that was searched for, its score is both, and becomes 0: the linear
# combination then treats it as one that the word search did not find. The rarer a name or a number of a part is, the surer is it
# lost, though such questions are why word search is added. The default reranker (by ranks) has the document first or
# second.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/python -m pip install --quiet --disable-pip-version-check lancedb==0.40.0 pyarrow==26.0.1

cat >try.py <<'PYTHON'
import sys
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")
import lancedb
from lancedb.index import FTS
from lancedb.rerankers import LinearCombinationReranker, RRFReranker

table = lancedb.connect("base").create_table(
    "parts",
    [{"id": f"near {number}", "text": "a valve for water", "vector": [float(number), 0.0]} for number in range(5)]
    + [{"id": "the part", "text": "spare part xk40", "vector": [9.0, 0.0]}],
)
table.create_index("text", config=FTS())


def found(reranker):
    search = table.search(query_type="hybrid").vector([0.0, 0.0]).text("xk40").limit(3).rerank(reranker)
    return [row["id"] for row in search.to_list()]


seen = {
    "nine tenths for words": found(LinearCombinationReranker(weight=0.1)),
    "by ranks": found(RRFReranker()),
}
print(f"version: lancedb {version('lancedb')}")
print("expected by most: 'the part' first where words have nine tenths of the weight, since it alone has the word")
print(f"seen: {seen}")
sys.exit("the part" in seen["nine tenths for words"] or "the part" not in seen["by ranks"])
PYTHON
environment/bin/python try.py 2>/dev/null
