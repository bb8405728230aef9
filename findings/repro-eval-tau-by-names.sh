#!/usr/bin/env bash
# Kendall's tau union of repro_eval depends on what the documents are called. The library numbers the documents of both
# runs by their names and correlates the two lists of these numbers, rank by rank, instead of the ranks of each document.
# The same two rankings of five documents get values from -0.8 to 0.4 when the documents are renamed (tau of their ranks
# is 0.4); it is right only if the names of one run are in the order of its ranks. Reproducibility studies report this
# number beside the rank-biased overlap, and two collections with other ids cannot be compared by it.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/python -m pip install --quiet --disable-pip-version-check \
  repro-eval==0.5.0 scipy==1.17.1 numpy==1.26.4 pandas==2.3.3 ir-measures==0.4.3

cat >try.py <<'PYTHON'
import itertools
import sys
import warnings
from importlib.metadata import version

warnings.simplefilter("ignore")
from repro_eval.measure.document_order import KTU
from scipy.stats import kendalltau


def run(documents):
    return {"1": {document: float(-rank) for rank, document in enumerate(documents)}}


order = [1, 2, 0, 4, 3]  # what the second run has on its ranks: documents by their ranks in the first
values = {
    round(KTU(run(names), run([names[place] for place in order])), 4) for names in itertools.permutations("abcde")
}
true = round(float(kendalltau(range(5), [order.index(place) for place in range(5)]).statistic), 4)
print(f"version: repro_eval {version('repro-eval')}")
print(f"expected by most: one value for two rankings, whatever their documents are called: [{true}]")
print(f"seen: {sorted(values)}")
sys.exit(sorted(values) != [-0.8, -0.4, 0.0, 0.4])
PYTHON
environment/bin/python try.py 2>/dev/null
