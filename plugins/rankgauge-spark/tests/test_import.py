"""Without Spark, the package says what it needs."""

import importlib.util
import subprocess
import sys

import pytest


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is not None, reason="pyspark is installed here")
def test_what_is_missing_is_named():
    done = subprocess.run([sys.executable, "-c", "import rankgauge_spark"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "rankgauge_spark needs Spark 4: run it where a cluster provides pyspark, or" in done.stderr
    assert "pip install 'rankgauge-spark[spark]'" in done.stderr
