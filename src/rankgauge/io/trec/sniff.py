"""
Sniffing: telling from its first lines what a file is, so that a wrong one is called by its name.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Literal, NamedTuple

from rankgauge.io.files import open_file
from rankgauge.io.trec.careful import read_number

__all__ = ["Looks", "sniff"]

_LOOKED_AT = 1 << 16
_MAGIC = {
    b"\x1f\x8b": "gzip data; give the file the ending .gz",
    b"\x28\xb5\x2f\xfd": "zstd data; give the file the ending .zst",
    b"PAR1": "Parquet; give the file the ending .parquet",
    b"PK\x03\x04": "a zip archive; unpack it",
    b"BZh": "bzip2 data; unpack it",
    b"\xff\xfe": "UTF-16 text; convert it to UTF-8",
    b"\xfe\xff": "UTF-16 text; convert it to UTF-8",
}
_BLANKS = re.compile(rb"[\x00-\x20]+")


class Looks(NamedTuple):
    """
    What a file looks like.

    Attributes:
        kind: A TREC run, TREC judgments, nothing at all, no text, or something else.

        what: The same for people, with what to do; empty where there is no telling.
    """

    kind: Literal["run", "judgments", "empty", "binary", "other"]
    what: str


def sniff(path: Path) -> Looks:
    """
    Look at the beginning of a file.

    Args:
        path: The file; decompressed by its ending.

    Returns:
        What it looks like.

    Raises:
        UnreadableError: The file cannot be read.
    """
    with open_file(path) as opened:
        data = opened.stream.read(_LOOKED_AT)
    for magic, what in _MAGIC.items():
        if data.startswith(magic):
            return Looks("binary", what)
    if b"\x00" in data:
        return Looks("binary", "no text at all")
    lines = [line for line in data.split(b"\n") if line.strip() and not line.startswith(b"#")]
    if len(data) == _LOOKED_AT and len(lines) > 1:
        del lines[-1]  # it may be cut off
    return _of_lines(lines) if lines else Looks("empty", "empty")


def _of_lines(lines: list[bytes]) -> Looks:
    rows = [[field for field in _BLANKS.split(line) if field] for line in lines]
    usual = Counter(map(len, rows)).most_common(1)[0][0]
    row = next(row for row in reversed(rows) if len(row) == usual)
    if lines[0].lstrip()[:1] in {b"{", b"["}:
        return Looks("other", "JSON; give the file the ending .json or .jsonl")
    if usual >= 6 and read_number(row[4]) is not None:
        return Looks("run", "a TREC run")
    if usual == 4 and read_number(row[3]) is not None:
        return Looks("judgments", "TREC judgments")
    if lines[0].lower().startswith(b"query-id"):
        return Looks("other", "BEIR judgments; give the file the ending .tsv")
    if usual == 3 and read_number(row[2]) is not None:
        return Looks("other", "`query document rank` or `query document score`, where TREC has more columns")
    if usual == 5:
        return Looks("other", "a run without its last column, the tag, or without `Q0`")
    if usual == 1 and b"," in row[0]:
        return Looks("other", "values separated by commas; give the file the ending .csv")
    return Looks("other", "")
