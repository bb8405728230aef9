"""Pages about Spark: their blocks run."""

import re
import runpy
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed here; `make test-spark` has it")

import rankgauge_spark

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "plugins/rankgauge-spark/README.md", ROOT / "docs/how-to/evaluate-on-spark.md"]
FENCE = re.compile(r"^```python(?P<host> host=\w+)?\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_run_one_after_the_other(page, spark, qrels_df, run_df, capsys):
    namespace = {"spark": spark, "qrels_df": qrels_df, "run_df": run_df, "other_df": run_df.filter("document < 'd5'")}
    count = ran(page, namespace)
    assert len(capsys.readouterr().out.splitlines()) >= count > 0


def test_shards_go_through_dask():
    """The page's other blocks, which `make test` runs, define what the one for Dask uses."""
    pytest.importorskip("dask", reason="dask is not installed here; `make test-spark` has it")
    page = ROOT / "docs/explanation/past-one-machine.md"
    namespace = {"__name__": "docs"}
    assert ran(page, namespace) == 5
    assert namespace["merged"].sample_ids == ("q1", "q2")


def test_the_page_of_public_names_lists_those_of_the_module():
    api = runpy.run_path(str(ROOT / "docs/api.py"))
    names = [each.name for each in api["public_names"]("rankgauge_spark")]
    assert (
        names == rankgauge_spark.__all__ == sorted(name for name in names if callable(getattr(rankgauge_spark, name)))
    )


def ran(page, namespace):
    """Run the blocks of a page, one after the other; return how many there are."""
    blocks = [found["code"] for found in FENCE.finditer(page.read_text(encoding="utf-8"))]
    for number, code in enumerate(blocks, 1):
        exec(compile(code, f"{page.name}, block {number}", "exec"), namespace)  # noqa: S102  # our own pages
    return len(blocks)
