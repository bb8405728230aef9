"""
rankgauge on Apache Spark.

::

    import rankgauge_spark

    result = rankgauge_spark.evaluate(qrels_df, run_df, ["ndcg@10", "AP"])
    result["ndcg@10"].mean  # the bits of one machine, however the rows are spread

Spark moves rows and starts tasks; every number is rankgauge's own.
"""

from __future__ import annotations

try:
    import pyspark as _spark  # noqa: F401  # only to say what is missing
except ImportError as error:
    _MISSING = (
        "rankgauge_spark needs Spark 4: run it where a cluster provides pyspark, or "
        "`pip install 'rankgauge-spark[spark]'`"
    )
    raise ImportError(_MISSING) from error

from rankgauge_spark.runs import compare, evaluate, per_query
from rankgauge_spark.samples import evaluate_samples

__all__ = ["compare", "evaluate", "evaluate_samples", "per_query"]
