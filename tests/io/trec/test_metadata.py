"""ir_metadata headers: kept in the manifest, and never in the way."""

import gzip
import json
import re

import pytest

import rankgauge
from ranked_tables import WORKED_QRELS, WORKED_RUN, write_qrels, write_run
from rankgauge.io.trec import RunFile

HEADER = """\
# A comment of somebody's own
# ir_metadata.start
# schema version: 0.1
# platform:
#   hardware:
#     ram: 64 GB
#     cores: 8
#
# research goal:
#   significance: [.nan, 1.5, null]
#   date: 2026-01-02
# 7: {9: 123456789012345678901234567890}
# ir_metadata.end
"""
METADATA = {
    "schema version": 0.1,
    "platform": {"hardware": {"ram": "64 GB", "cores": 8}},
    "research goal": {"significance": ["nan", 1.5, None], "date": "2026-01-02"},
    "7": {"9": "123456789012345678901234567890"},
}


def evaluated(tmp_path, header, *, compress=False):
    """Return the result of the worked run behind a header."""
    qrels = write_qrels(tmp_path / "qrels", WORKED_QRELS)
    path = write_run(tmp_path / "run", WORKED_RUN)
    data = header.encode() + path.read_bytes()
    if compress:
        path = tmp_path / "run.gz"
        data = gzip.compress(data)
    path.write_bytes(data)
    result = rankgauge.evaluate(qrels, path, "AP")
    assert result["AP"].mean == pytest.approx((5 / 6 + 1 / 2) / 2, rel=1e-12)
    return result


@pytest.mark.parametrize("compress", [False, True])
def test_a_header_is_kept_in_the_manifest(compress, tmp_path):
    metadata = evaluated(tmp_path, HEADER, compress=compress).manifest["outputs"]["metadata"]
    assert metadata == METADATA
    assert json.loads(json.dumps(metadata, allow_nan=False)) == METADATA


def test_signs_without_a_blank_behind_them_and_line_ends_of_windows(tmp_path):
    header = "#ir_metadata.start\r\n#a:\r\n#  b: 1\r\n#ir_metadata.end\r\n"
    assert evaluated(tmp_path, header).manifest["outputs"]["metadata"] == {"a": {"b": 1}}


@pytest.mark.parametrize(
    ("header", "why"),
    [
        ("# ir_metadata.start\n# a: 1\n", "it has no line `# ir_metadata.end`"),
        ("# ir_metadata.start\n# a: [1\n# ir_metadata.end\n", "not valid YAML"),
        ("# ir_metadata.start\n# a: 1\n# a: 2\n# ir_metadata.end\n", "'a'"),
        ("# ir_metadata.start\n# just text\n# ir_metadata.end\n", "it is not a mapping"),
        ("# ir_metadata.start\n# ir_metadata.end\n", "it is not a mapping"),
    ],
)
def test_a_broken_header_is_a_note(header, why, tmp_path):
    result = evaluated(tmp_path, header)
    assert result.manifest["outputs"]["metadata"] == {}
    (note,) = [note for note in result.notes if "ir_metadata" in note]
    assert note.startswith(f"the ir_metadata header of {tmp_path / 'run'} was ignored: ")
    assert re.search(why, note)


@pytest.mark.parametrize("header", ["", "# ir_metadata.end\n", "# a comment\n"])
def test_no_header_is_no_note(header, tmp_path):
    result = evaluated(tmp_path, header)
    assert result.manifest["outputs"]["metadata"] == {}
    assert not [note for note in result.notes if "ir_metadata" in note]


def test_a_header_stands_at_the_beginning_only(tmp_path):
    path = tmp_path / "run"
    path.write_text("q Q0 d 1 1.0 t\n# ir_metadata.start\n# a: 1\n# ir_metadata.end\n", encoding="utf-8")
    assert RunFile(path).metadata == {}
    assert list(RunFile(path).notes) == []
