"""Control characters in data: escapes wherever people read, raw data in JSON, and no broken lines."""

import json
import logging
import re

import pytest

import rankgauge
from rankgauge import Engine, Result, preflight
from rankgauge.cli import call as _call

EVIL = {
    "controls": "\x1b]0;owned\x07\x1b[2J\x9b31mok\b\b\x7f",
    "bidi": "\u202egnp.exe\u2066",
    "lines and markup": "a\nerror: b\r\u2028c[bold red]|`*<script>",
}
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(autouse=True)
def _as_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RANKGAUGE_NO_PLUGINS", "1")
    root = logging.getLogger("rankgauge")
    before = (root.handlers[:], root.level)
    yield
    root.handlers[:], root.level = before[0], before[1]


@pytest.fixture
def rankgauge_(capsys):
    """Return what calls the command line: exit code, stdout and stderr, neither with anything unsafe in it."""

    def call(*arguments):
        capsys.readouterr()
        code = _call([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert UNSAFE.findall(out + err) == []
        assert "internal error" not in err
        return code, out, err

    return call


@pytest.fixture(params=EVIL)
def evil(request):
    return EVIL[request.param]


def rows(evil):
    expected = {"relevant": [evil, "b"], "answer": evil}
    return [
        {"id": f"q{evil}", "expected_output": expected, "actual_output": [evil, "x"], "metadata": {"tags": [evil]}},
        {"id": "q2", "expected_output": expected, "actual_output": evil, "metadata": {"tags": ["plain", evil]}},
        {"id": f"q3{evil}", "expected_output": expected},
    ]


@pytest.fixture
def data(tmp_path, evil):
    path = tmp_path / "data.json"
    path.write_text(json.dumps({"name": evil, "samples": rows(evil)}), encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["table", "markdown", "json", "jsonl"])
def test_a_report_shows_what_came_from_outside_as_escapes(rankgauge_, data, evil, form):
    name = {"metric": "hit@1", "as": f"hit {evil}"}
    config = {"version": 1, "datasets": {evil: {"path": "data.json"}}, "metrics": {"use": [name]}}
    (data.parent / "c.yaml").write_text(json.dumps(config), encoding="utf-8")
    for arguments in (["--data", data, "-m", "hit@1"], ["c.yaml"]):
        code, out, _ = rankgauge_("run", *arguments, "--format", form)
        assert code == 3  # two of the samples have no output that can be read
        assert out
    if form == "jsonl":
        assert [json.loads(line)["sample_id"] for line in out.splitlines()] == [row["id"] for row in rows(evil)]
    if form == "json":
        assert json.loads(out)["dataset"]["name"] == evil


def test_a_saved_report_for_people_is_safe_and_the_data_is_as_it_was(rankgauge_, data, evil):
    rankgauge_("run", "--data", data, "-m", "hit@1", "-o", "out")
    assert UNSAFE.findall((data.parent / "out/report.md").read_text(encoding="utf-8")) == []
    assert list(Result.load(data.parent / "out").sample_ids) == [row["id"] for row in rows(evil)]


def test_problems_of_data_files_are_safe(rankgauge_, tmp_path, evil):
    broken = [{"id": "q", "expected_output": {evil: ["x"]}}, {"id": f"r{evil}", "expected_output": 5.5}, {evil: 1}]
    (tmp_path / "d.json").write_text(json.dumps(broken), encoding="utf-8")
    code, _, err = rankgauge_("run", "--data", "d.json", "-m", "hit@1")
    assert code == 2
    assert "\nerror: b" not in err
    outputs = [{"id": f"nobody{evil}", "actual_output": [evil]}]
    (tmp_path / "ok.json").write_text(json.dumps([{"id": "q", "expected_output": ["x"]}]), encoding="utf-8")
    (tmp_path / "o.json").write_text(json.dumps(outputs), encoding="utf-8")
    assert rankgauge_("run", "--data", "ok.json", "--outputs", "o.json", "-m", "hit@1")[0] == 2


def test_problems_of_a_config_are_safe(rankgauge_, tmp_path, evil):
    for config in (
        {"version": 1, evil: 5},
        {"version": 1, "datasets": {evil: {"path": f"{evil}.jsonl".replace("/", "")}}, "metrics": {"use": [evil]}},
        {"version": 1, "matchers": {evil: "casefold > equal"}, "metrics": {"sets": {evil: ["hit@1", evil]}}},
    ):
        (tmp_path / "c.yaml").write_text(json.dumps(config), encoding="utf-8")
        for command in (["run"], ["validate"], ["plugins", "lock"]):
            assert rankgauge_(*command, "c.yaml")[0] in {2, 4}


def test_names_of_files_are_safe(rankgauge_, tmp_path, evil):
    name = evil.replace("/", "")
    for text in ("", "{", '{"id": 5}\n'):
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
        assert rankgauge_("run", "--data", f"{name}.jsonl", "-m", "hit@1")[0] in {2, 4}
    assert rankgauge_("run", "--data", f"no-{name}.jsonl", "-m", "hit@1")[0] == 2
    assert rankgauge_("trec", f"{name}.jsonl", f"no-{name}")[0] == 2
    assert rankgauge_("run", f"{name}.yaml")[0] == 2


@pytest.fixture
def runs(tmp_path, evil):
    """Write judgments and a run as JSON, where an id can be anything."""
    (tmp_path / "qrels.json").write_text(json.dumps({f"q{evil}": {evil: 1}, "q2": {"d": 1}}), encoding="utf-8")
    for name in (f"run{evil}".replace("/", ""), "run"):
        (tmp_path / f"{name}.json").write_text(json.dumps({f"q{evil}": {evil: 2.0, "d": 1.0}}), encoding="utf-8")
    return [f"{name}.json" for name in (f"run{evil}".replace("/", ""), "run")]


@pytest.mark.parametrize("form", ["table", "markdown", "json", "jsonl"])
def test_tables_of_runs_are_safe(rankgauge_, runs, evil, form):
    for given in (runs[:1], runs):
        code, out, _ = rankgauge_("trec", "qrels.json", *given, "-m", "P@1", "-q", "--format", form)
        assert code == 0
        if form == "json":
            found = json.loads(out)
            assert [each["run"] for each in found] == given if len(given) > 1 else found["samples"] == 2


def test_trec_output_refuses_names_that_would_break_its_lines(rankgauge_, runs, evil):
    code, out, err = rankgauge_("trec", "qrels.json", runs[1], "-m", "P@1", "-q", "--format", "trec")
    assert (code, out) == (2, "")
    assert "--format trec cannot print the query" in err
    assert "--format jsonl" in err
    assert rankgauge_("trec", "qrels.json", runs[1], "-m", "P@1", "--format", "trec")[0] == 0  # no query is printed


@pytest.mark.parametrize("name", ["two words", "", "tab\tbed"])
def test_trec_output_refuses_white_space(rankgauge_, tmp_path, name):
    (tmp_path / "qrels.json").write_text(json.dumps({name: {"d": 1}}), encoding="utf-8")
    (tmp_path / "run.json").write_text(json.dumps({name: {"d": 1.0}}), encoding="utf-8")
    code, out, err = rankgauge_("trec", "qrels.json", "run.json", "-m", "P@1", "-q", "--format", "trec")
    assert (code, out) == (2, "")
    assert "cannot print the query" in err or "empty" in err


def test_what_is_checked_before_a_run_is_safe(rankgauge_, runs, evil):
    rankgauge_("validate", "qrels.json", *runs)
    found = preflight({f"q{evil}": {evil: 1}}, {f"q{evil}": {f"x{evil}": 1.0}, f"z{evil}": {evil: 1.0}})
    assert UNSAFE.findall(str(found)) == []


def test_log_lines_are_safe(rankgauge_, data, evil):
    same = [{"id": f"q{n}", "expected_output": [f"gold{evil}"], "actual_output": [f"{evil}-found"]} for n in range(3)]
    data.write_text(json.dumps(same), encoding="utf-8")
    for form in ("console", "json"):
        _, _, err = rankgauge_("--log-format", form, "run", "--data", data, "-m", "hit@1")
        assert "no retrieved id is ever a relevant id" in err
        if form == "json":
            assert evil[:2] in json.loads(err.splitlines()[0])["event"] or "\\" in err


def test_error_messages_are_safe_in_python(evil):
    with pytest.raises(rankgauge.RankgaugeError) as caught:
        Engine().dataset([{"id": "q", "expected_output": {evil: ["x"]}}]).with_metrics(["hit@1"]).run()
    assert UNSAFE.findall(str(caught.value)) == []


@pytest.mark.parametrize("form", ["table", "json", "markdown", "latex"])
def test_comparisons_are_safe(rankgauge_, runs, form):
    assert rankgauge_("compare", "--qrels", "qrels.json", "-m", "P@1", "--format", form, *runs)[0] == 0


def test_queues_for_judges_are_safe(rankgauge_, runs):
    assert rankgauge_("judge", "queue", "--qrels", "qrels.json", "-m", "P@2", "-o", "queue.jsonl", *runs)[0] in {0, 4}


def test_explanations_are_safe(rankgauge_, data, evil):
    rankgauge_("run", "--data", data, "-m", "hit@1", "-o", "out", "--details")
    for more in ([], ["--json"]):
        assert rankgauge_("explain", "out", f"q{evil}", *more)[0] == 0
        assert rankgauge_("explain", "out", f"no{evil}", *more)[0] == 2


def test_what_ci_reads_is_safe(rankgauge_, data, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    arguments = ["run", "--data", data, "-m", "hit@1", "--gate", "hit@1 >= 0.9", "--junit", "junit.xml"]
    code, _, _ = rankgauge_(*arguments)
    assert code in {1, 3}
    text = (data.parent / "junit.xml").read_text(encoding="utf-8")
    assert UNSAFE.findall(text) == []
