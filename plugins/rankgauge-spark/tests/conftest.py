"""A local Spark with two workers, for all tests of the session; and data with everything that goes wrong."""

import os
import random
import sys
from types import SimpleNamespace

import polars as pl
import pytest

NO_SPARK = "pyspark is not installed here; `make test-spark` has it"


@pytest.fixture(scope="session")
def spark():
    pytest.importorskip("pyspark", reason=NO_SPARK)
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2,3]").appName("rankgauge-spark")  # a task may fail twice
    for key, value in {
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50",  # queries span batches
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def data():
    """Return judgments and a run as polars frames: ties, negative grades, queries that one side lacks, one long one."""
    chance = random.Random(15)
    documents = [f"d{number}" for number in range(300)]
    qrels = [
        (f"q{query}", document, chance.randrange(-1, 4))
        for query in range(40)
        for document in chance.sample(documents, 20)
    ]
    run = [
        (f"q{query}", document, chance.randrange(40) / 8)
        for query in range(4, 43)
        for document in chance.sample(documents, 280 if query == 9 else 30)
    ]
    chance.shuffle(qrels)
    chance.shuffle(run)
    return SimpleNamespace(
        qrels=pl.DataFrame(qrels, schema=["query", "document", "grade"], orient="row"),
        run=pl.DataFrame(run, schema=["query", "document", "score"], orient="row"),
    )


@pytest.fixture(scope="session")
def frame(spark):
    """Return what makes a DataFrame of a polars frame."""
    return lambda table: spark.createDataFrame(table.to_arrow())


@pytest.fixture(scope="session")
def qrels_df(frame, data):
    return frame(data.qrels)


@pytest.fixture(scope="session")
def run_df(frame, data):
    return frame(data.run)


def bits(result):
    """Return everything that two results have to share to be the same to the last bit."""
    return result.sample_ids, {
        name: (column.values.tobytes(), column.codes.tobytes(), dict(column.reasons), column.info, column.mean)
        for name, column in result.metrics.items()
    }


@pytest.fixture(scope="session")
def bits_of():
    return bits
