"""Opening judgments and runs: standard input and pipes."""

import io
import json
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import polars as pl
import pytest

from ranked_tables import WORKED_QRELS, WORKED_RUN, qrels_frame, run_frame, scores_of, write_qrels, write_run
from rankgauge.errors import DataError
from rankgauge.io.open_sources import open_run


@pytest.fixture
def files(tmp_path):
    return write_qrels(tmp_path / "qrels", WORKED_QRELS), write_run(tmp_path / "run", WORKED_RUN)


def forms_of(frame, trec, tmp_path):
    """Return the bytes of a table in every form that has no ending to be known by."""
    frame.write_parquet(tmp_path / "x")
    objects = {}
    for query, document, number in frame.rows():
        objects.setdefault(query, {})[document] = number
    return {
        "trec": trec.read_bytes(),
        "tsv": frame.write_csv(separator="\t").encode(),
        "csv": frame.write_csv().encode(),
        "json": json.dumps(objects).encode(),
        "parquet": (tmp_path / "x").read_bytes(),
    }


@pytest.mark.parametrize("form", ["trec", "tsv", "csv", "json", "parquet"])
@pytest.mark.parametrize("side", ["qrels", "run"])
def test_standard_input_may_be_judgments_or_a_run_in_any_form(side, form, files, tmp_path, monkeypatch):
    qrels, run = files
    expected = scores_of(qrels, run)
    frame = qrels_frame(WORKED_QRELS) if side == "qrels" else run_frame(WORKED_RUN)
    data = forms_of(frame, qrels if side == "qrels" else run, tmp_path)[form]
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert scores_of(*(("-", run) if side == "qrels" else (qrels, "-"))) == expected


@pytest.mark.usefixtures("process")
@pytest.mark.promise
def test_a_process_reads_its_standard_input(files):
    qrels, run = files
    script = f"import rankgauge\nprint(rankgauge.evaluate({str(qrels)!r}, '-', 'RR')['RR'].mean)"
    with run.open("rb") as stream:
        done = subprocess.run([sys.executable, "-c", script], stdin=stream, capture_output=True, check=True)
    assert float(done.stdout) == 0.75


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_read_once_and_whole(files, tmp_path):
    qrels, run = files
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(run.read_bytes(),))
    writer.start()
    assert scores_of(qrels, pipe) == scores_of(qrels, run)
    writer.join()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_that_nobody_writes_to_is_refused_instead_of_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr("rankgauge.io.open_sources._PATIENCE", 0.0)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(DataError, match="no process writes to this pipe") as caught:
        open_run(pipe)
    assert caught.value.problems[0].file == str(pipe)


def test_a_stream_without_a_line_end_is_not_copied_forever(monkeypatch):
    class Endless(io.RawIOBase):
        def read(self, size=-1):
            return bytes(size)

    monkeypatch.setenv("RANKGAUGE_MAX_LINE", "1MB")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Endless()))
    with pytest.raises(DataError, match="standard input: a line of it has more than 1 MB"):
        open_run("-")


def test_a_frame_and_a_file_may_be_mixed(files):
    qrels, run = files
    assert scores_of(qrels, run_frame(WORKED_RUN)) == scores_of(qrels_frame(WORKED_QRELS), run)
    ids = pl.col("query_id").cast(pl.Enum(["q1", "q2"]))
    assert scores_of(qrels, run_frame(WORKED_RUN).with_columns(ids)) == scores_of(qrels, run)
