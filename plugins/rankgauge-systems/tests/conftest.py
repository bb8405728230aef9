"""What the tests share: documents, configs with a system, a server on the loopback, and the command line."""

import json
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

from certificates import read_once  # noqa: F401  # a fixture of every test
from rankgauge.cli import call
from sea_documents import DOCUMENTS, write

HERE = Path(__file__).parent


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def rankgauge(capsys):
    """Return a function that calls the command line in this process."""

    def run(*arguments):
        code = call([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with documents, samples and a function that makes vectors."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(HERE / "letters.py", tmp_path / "letters.py")
    write(tmp_path / "corpus.jsonl", DOCUMENTS)
    samples = [
        ("q1", "what pulls the sea", ["tides"]),
        ("q2", "where does salt come from", ["salt"]),
        ("q3", "one side of the moon", ["moon"]),
        ("q4", "wellen und wind", ["größe/1"]),
    ]
    rows = [{"id": name, "input": question, "expected_output": gold} for name, question, gold in samples]
    write(tmp_path / "samples.jsonl", rows)
    return tmp_path


@pytest.fixture
def config(folder):
    """Return a function that writes a config with a system, and returns its path."""

    def make(name="c.yaml", *, system, **more):
        content = {
            "version": 1,
            "datasets": {"sea": {"path": "samples.jsonl"}},
            "metrics": {"use": ["recall@2", "mrr"]},
            "system": system,
        }
        (folder / name).write_text(json.dumps(content | more), encoding="utf-8")
        return folder / name

    return make


class Server:
    """A server whose answers are what `script` returns for a method, a path and a body: a status and JSON or text."""

    def __init__(self):
        self.script = lambda method, path, body: (200, {})
        self.requests, self.headers = [], []
        lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def _answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                with lock:
                    outer.requests.append((self.command, self.path, body))
                    outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                status, answer = outer.script(self.command, self.path, body)
                data = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815  # the base class looks for these names

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    server = Server()
    yield server
    server.close()
