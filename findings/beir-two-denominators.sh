#!/usr/bin/env bash
# BEIR averages NDCG, MAP, Recall and P over the queries that a run answers, and MRR, top-k accuracy and Hole over all that
# are judged. A system that returns nothing for the half of the queries that it finds hard has a perfect NDCG@10 and half of
# the MRR@10, from the same judgments and the same run, in one evaluation. A leaderboard that sorts by NDCG@10 rewards it.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
install="environment/bin/python -m pip install --quiet --disable-pip-version-check"
$install pytrec-eval-terrier==0.5.11 tqdm
$install --no-deps beir==2.2.0  # its metrics need nothing of PyTorch, which it asks for

cat >try.py <<'PYTHON'
import sys
from importlib.metadata import version

from beir.retrieval.evaluation import EvaluateRetrieval

QRELS = {name: {"d1": 1} for name in ("q1", "q2", "q3", "q4")}
RUN = {name: {"d1": 1.0} for name in ("q1", "q2")}  # nothing was retrieved for q3 and q4

ndcg, mean_ap, recall, precision = EvaluateRetrieval.evaluate(QRELS, RUN, [10])
mrr = EvaluateRetrieval.evaluate_custom(QRELS, RUN, [10], "mrr")
accuracy = EvaluateRetrieval.evaluate_custom(QRELS, RUN, [10], "top_k_accuracy")
seen = ndcg | mean_ap | recall | mrr | accuracy
print(f"version: beir {version('beir')}")
print("expected by most: one denominator, so that half of the queries answered perfectly are 0.5 (or 1.0) in all of them")
print(f"seen: {seen}")
known = {"NDCG@10": 1.0, "MAP@10": 1.0, "Recall@10": 1.0, "MRR@10": 0.5, "Accuracy@10": 0.5}
sys.exit(seen != known)
PYTHON
environment/bin/python try.py 2>/dev/null
