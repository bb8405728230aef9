"""Findings of campaigns, made small: each is a file that once broke a promise."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from faults.campaign import Workshop
from faults.ways import WAYS

_CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cases")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("RANKGAUGE_NO_PLUGINS", "1")
        yield Workshop(folder)


@pytest.mark.parametrize("path", _CASES, ids=lambda path: path.stem)
def test_a_finding_stays_mended(path, workshop):
    case = json.loads(path.read_bytes())
    way = next(way for way in WAYS if str(way) == case["way"])
    data = base64.b64decode(case["base64"]) if "base64" in case else case["text"].encode()
    code, broken, err = workshop.broken(way, case["file"], data * case.get("times", 1))
    assert (code, broken) == (case["code"], [])
    assert case["says"] in err
