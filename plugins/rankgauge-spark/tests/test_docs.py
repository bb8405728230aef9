"""Pages about Spark: their blocks run."""

import re
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed here; `make test-spark` has it")

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "plugins/rankgauge-spark/README.md", ROOT / "docs/how-to/evaluate-on-spark.md"]
FENCE = re.compile(r"^```python host=spark\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_run_one_after_the_other(page, spark, qrels_df, run_df, capsys):
    namespace = {"spark": spark, "qrels_df": qrels_df, "run_df": run_df, "other_df": run_df.filter("document < 'd5'")}
    blocks = FENCE.findall(page.read_text(encoding="utf-8"))
    for number, code in enumerate(blocks, 1):
        exec(compile(code, f"{page.name}, block {number}", "exec"), namespace)  # noqa: S102  # our own pages
    assert len(capsys.readouterr().out.splitlines()) >= len(blocks)
