"""What the tests share: a scripted endpoint, a queue, and the command line in this process."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import pytest

import rankgauge_judge.endpoint
from certificates import read_once  # noqa: F401  # a fixture of every test
from rankgauge.cli import call
from rankgauge_judge import model_calls

HEADER = {
    "schema_version": "rankgauge.queue.v1",
    "judgments": "sha256:abc",
    "grades": [0, 1, 2, 3],
    "guideline": "How well?",
}


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


class Server:
    """
    An OpenAI-compatible server whose answers are what `script` returns for a request and its number.

    A script returns a text, which becomes a chat completion; a status with a body and headers; or a function that is
    given the handler. `requests` are the bodies that came in, `headers` what came with them.
    """

    def __init__(self):
        self.script = lambda request, number: '{"reason": "It says so.", "grade": 1}'
        self.requests, self.headers = [], []
        self.lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer.lock:
                    outer.requests.append(body)
                    outer.headers.append(dict(self.headers))
                    number = len(outer.requests)
                reply = outer.script(body, number)
                if callable(reply):
                    reply(self)
                elif isinstance(reply, str):
                    self.answer(200, outer.complete(reply, body))
                else:
                    self.answer(*reply)

            def answer(self, status, body, headers=()):
                data = body.encode()
                self.send_response(status)
                for name, value in dict(headers).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *of: None  # whoever hung up is not there to be told
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @staticmethod
    def complete(text, request, *, finish="stop", usage=(100, 20)):
        """Return the body of a chat completion."""
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
        tokens = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        return json.dumps({"id": "x", "model": f"{request['model']}-2026", "choices": [choice], "usage": tokens})


@pytest.fixture(autouse=True)
def _surroundings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RANKGAUGE_JUDGE_ANSWERS", str(tmp_path / "answers.jsonl"))
    monkeypatch.delenv("RANKGAUGE_JUDGE_KEY", raising=False)
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def rankgauge(capsys):
    """Return a function that calls the command line in this process."""

    def run(*arguments):
        code = call([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return run


@pytest.fixture
def write_queue(tmp_path):
    """Return a function that writes a queue of documents, of one query where no other is given."""

    def write(*documents, name="q.jsonl", **header):
        rows = [
            {"query": "q1", "query_text": "how tall is it", "document": f"d{number}", "grade": None, "judge": None}
            | (document if isinstance(document, dict) else {"document_text": document})
            for number, document in enumerate(documents, 1)
        ]
        lines = [json.dumps(row) for row in [HEADER | header, *rows]]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return tmp_path / name

    return write


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def pauses(monkeypatch):
    """Record how long was waited between tries, without waiting."""
    seconds = []
    usual = rankgauge_judge.endpoint.Endpoint
    monkeypatch.setattr(model_calls, "Endpoint", lambda *given, **more: usual(*given, **more, sleep=seconds.append))
    return seconds
