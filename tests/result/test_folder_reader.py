"""Reading saved results: what is damaged is refused where it is read."""

from __future__ import annotations

import json

import pytest

import rankgauge
from rankgauge import Catalog, Result
from rankgauge.errors import ResultError

CATALOG = Catalog.discover(own_only=True)


@pytest.mark.parametrize("key", ["distribution", "version", "file", "line"])
def test_a_provider_that_lacks_a_part_is_refused(tmp_path, key):
    result = rankgauge.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR", catalog=CATALOG)
    file = result.save(tmp_path / "out") / "manifest.json"
    manifest = json.loads(file.read_text(encoding="utf-8"))
    del manifest["metrics"][0]["provider"][key]
    file.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(ResultError, match=f"the '{key}' of a provider cannot be None"):
        Result.load(tmp_path / "out")
