"""Files that are compressed in other ways, or UTF-16, and datasets of several splits: called what they are."""

import bz2
import io
import json
import lzma
import zipfile

import pytest

import rankgauge
from draws import some
from rankgauge import Engine
from rankgauge.cli import call
from rankgauge.errors import DataError

RUN = b"q1 Q0 d1 1 2.0 t\n" * 20
LINE = json.dumps({"id": "q1", "expected_output": ["d1"], "actual_output": ["d1"]}).encode()
LZ4 = b"\x04\x22\x4d\x18\x64\x40\xa7" + RUN


def zipped(data):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("data", data)
    return stream.getvalue()


KINDS = {
    "bz2": (bz2.compress, "bzip2 data"),
    "xz": (lzma.compress, "xz data"),
    "zip": (zipped, "a zip archive; unpack it"),
    "lz4": (lambda data: LZ4, "lz4 data"),
    "utf-16": (lambda data: data.decode().encode("utf-16"), "UTF-16 text; convert it to UTF-8"),
    "utf-16-le": (lambda data: data.decode().encode("utf-16-le"), "UTF-16 text; convert it to UTF-8"),
    "utf-16-be": (lambda data: data.decode().encode("utf-16-be"), "UTF-16 text; convert it to UTF-8"),
}


@pytest.mark.parametrize("kind", some(list(KINDS)))
@pytest.mark.parametrize("ending", ["", ".kind", ".txt.kind", ".jsonl", ".json", ".yaml", ".csv", ".tsv", ".run"])
def test_every_command_calls_them_what_they_are(kind, ending, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    make, said = KINDS[kind]
    name = f"data{ending.replace('kind', kind)}"
    (tmp_path / name).write_bytes(make(RUN))
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "gold.jsonl").write_bytes(LINE)
    for arguments in (
        ["trec", "qrels", name, "-m", "RR"],
        ["trec", name, "qrels", "-m", "RR"],
        ["validate", "qrels", name],
        ["compare", "--qrels", "qrels", name, name + "x", "-m", "RR"],
        ["judge", "queue", name, "--depth", "1", "-o", "q.jsonl"],
        ["run", "--data", name, "-m", "RR"],
        ["run", "--data", "gold.jsonl", "--outputs", name, "-m", "RR"],
        ["gold", "check", "gold.jsonl", "--corpus", name],
    ):
        if arguments[0] == "compare":
            (tmp_path / (name + "x")).write_bytes(make(RUN))
        assert call(arguments) == 2, arguments
        assert said in capsys.readouterr().err, arguments


def test_standard_input_too(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(bz2.compress(RUN))))
    with pytest.raises(DataError, match="standard input: it is bzip2 data"):
        rankgauge.evaluate({"q1": {"d1": 1}}, "-", ["RR"])


@pytest.mark.parametrize("query", ["BZ", "PK", "é", "BZh", "\ufeffq1"])
def test_text_stays_text(query, tmp_path):
    (tmp_path / "run.txt").write_text(f"{query} Q0 d1 1 2.0 t\n", encoding="utf-8")
    judged = {query.lstrip("\ufeff"): {"d1": 1}}
    assert rankgauge.evaluate(judged, tmp_path / "run.txt", ["RR"])["RR"].mean == 1.0


class Split:
    column_names = ("id",)


class DatasetDict(dict):
    """As Hugging Face has it: datasets by the names of their splits."""


def test_splits_are_named():
    data = DatasetDict(train=Split(), test=Split())
    message = r"a DatasetDict has several datasets, its splits 'train', 'test'; give one, as data\['train'\]"
    with pytest.raises(DataError, match=message):
        Engine().dataset(data)
    with pytest.raises(DataError, match=message):
        rankgauge.evaluate(data, {"q1": {"d1": 1.0}}, ["RR"])
    with pytest.raises(DataError, match=message):
        rankgauge.evaluate({"q1": {"d1": 1}}, data, ["RR"])
