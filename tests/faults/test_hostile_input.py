"""Hostile input that took minutes, gigabytes or exit code 5: refused, with a message that says why."""

import json
import os
import resource
import sys
from pathlib import Path

import pytest

from draws import in_thorough_suite
from rankgauge import Engine
from rankgauge.cli import call
from rankgauge.errors import UnreadableError

SAMPLE = {"id": "q", "expected_output": ["a"], "actual_output": ["a"]}
CONFIG = "version: 1\ndatasets: {s: {path: s.jsonl}}\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("s.jsonl").write_text(json.dumps(SAMPLE) + "\n")
    Path("qrels").write_text("q1 0 a 1\nq2 0 a 1\n")
    Path("run").write_text("q1 Q0 a 1 2 t\nq2 Q0 a 1 1 t\n")
    Path("loop").symlink_to("loop")
    return tmp_path


def sets(count, entry):
    lines = "\n".join(f"    s{number}: {entry.format(number + 1)}" for number in range(count))
    return f"{CONFIG}metrics:\n  use: [{{set: s0}}]\n  sets:\n{lines}\n    s{count}: [P@1, RR]\n"


@pytest.mark.parametrize(
    ("count", "entry"),
    [
        (30, "[{{set: s{0}}}, {{set: s{0}}}]"),
        (30, "[{{set: s{0}, k: 3}}, {{set: s{0}, k: [1, 2]}}]"),
        (3000, "[{{set: s{0}}}]"),
    ],
)
def test_sets_that_include_each_other_without_end_are_refused_with_their_chain(folder, capsys, count, entry):
    Path("c.yaml").write_text(sets(count, entry))
    assert call(["run", "c.yaml"]) == 2
    assert "too many sets within each other, by s0 -> s1 -> s2 -> s3 -> ... -> s" in capsys.readouterr().err


def test_sets_within_sets_are_still_expanded(folder, capsys):
    Path("c.yaml").write_text(sets(20, "[{{set: s{0}}}]"))
    assert call(["run", "c.yaml"]) == 0


@pytest.mark.parametrize("twice", [False, True])
def test_includes_without_end_are_refused_with_their_chain(folder, capsys, twice):
    for number in range(40):
        following = [f"a{number + 1}.yaml", f"b{number + 1}.yaml"] if twice else [f"a{number + 1}.yaml"]
        for letter, names in (("a", following), ("b", following[::-1])):
            Path(f"{letter}{number}.yaml").write_text(f"include: {json.dumps(names)}\n")
    assert call(["run", "a0.yaml"]) == 2
    err = capsys.readouterr().err
    assert "too many includes, by a0.yaml -> a1.yaml -> a2.yaml -> a3.yaml -> ... -> a18.yaml" in err
    assert "(1 problem)" in err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("run loop", "cannot read loop"),
        ("run --data loop -m RR", "cannot read loop"),
        ("run --data s.jsonl -m RR -o loop", "cannot save to"),
        ("run --data s.jsonl -m RR -o loop/out", "cannot save to"),
        ("run --data s.jsonl -m RR --sut json:dumps --resume loop", "loop"),
        ("trec qrels loop", "loop"),
        ("report loop", "loop"),
        ("trec qrels run -M 99999999999999999999", "'depth' is an integer"),
        ("run --data s.jsonl -m RR --limit 99999999999999999999", "limit must be below 2**63"),
        ("trec qrels run -l nan", "a finite number, not nan"),
        ("trec qrels run -l inf", "a finite number, not inf"),
        ("trec qrels run -m P.inf", "cutoffs, such as P.5,10, not 'inf'"),
        ("trec qrels run -m ndcg_cut." + "9" * 30, "cannot read 'ndcg_cut.999"),
        ("trec qrels run -m Rprec_mult.nan", "levels, such as Rprec_mult.0.1,0.5, not 'nan'"),
        ("trec qrels run -m iprec_at_recall.-1e400", "cannot read 'iprec_at_recall.-1e400'"),
        ("trec qrels run --against run -m overlap@99999999999999999999", "from 1 to 2**53"),
        ("validate qrels run --rel nan", "takes a finite number, not 'nan'"),
        ("judge read queue --qrels qrels -o new --rel inf", "takes a finite number, not 'inf'"),
        ("run --data s.jsonl -m RR --html .", "cannot write the report .: it is a folder"),
        ("plugins lock c.yaml -o /", "cannot write the lock /"),
        ("run --data s.jsonl -m RR -o out --history /dev/null", "--history /dev/null cannot be written: it is a pipe"),
    ],
)
def test_links_in_circles_and_numbers_out_of_bounds_are_usage_errors(folder, capsys, line, words):
    Path("c.yaml").write_text(f"{CONFIG}metrics: {{use: [RR]}}\n")
    before = sorted(Path().iterdir())
    assert call(line.split()) == 2
    err = capsys.readouterr().err
    assert words in err
    assert "internal error" not in err
    assert sorted(Path().iterdir()) == before


@pytest.mark.parametrize("name", ["", "a\0b"])
@pytest.mark.parametrize(
    "line",
    ["run", "run --data", "run --data s.jsonl -m RR --html", "run --data s.jsonl -m RR -o", "init", "report out -o"],
)
def test_what_no_file_can_be_called_is_a_usage_error(folder, capsys, line, name):
    assert call([*line.split(), name]) == 2
    assert f"takes the name of a file or folder, not {name!r}" in capsys.readouterr().err


@pytest.mark.parametrize("byte", [0, 1, 8, 14, 27, 31])
@pytest.mark.parametrize("scattered", [False, True])
def test_control_bytes_in_trec_text_are_refused_with_their_line(folder, capsys, byte, scattered):
    more = b"q1 Q0 b 1 1 t\n" if scattered else b""
    Path("run").write_bytes(b"%cq1 Q0 a 1 2 t\nq2 Q0 a 1 1 t\n" % byte + more)
    assert call(["trec", "qrels", "run"]) == 2
    assert "run:1: it holds a control character" in capsys.readouterr().err
    Path("run").write_bytes(b"q1\tQ0\x0ba\x0c1 2 t\r\n")
    assert call(["trec", "qrels", "run"]) == 0  # white space as C knows it


@in_thorough_suite()
def test_comments_between_lines_of_a_query_are_not_held(folder, capsys):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with Path("run").open("w") as file:
        for number in range(30):
            file.write(f"q1 Q0 d{number} 1 {30 - number} t\n")
            file.write("# nothing\n" * 60_000)
        file.write("q1 Q0 a 1 0 t\n")
    assert call(["trec", "qrels", "run", "-m", "recip_rank"]) == 0
    assert "0.0161" in capsys.readouterr().out  # a stands at rank 31, and q2 is missing: (1/31 + 0) / 2
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before  # kB, of bytes on other systems
    assert grown < 150_000 or sys.platform != "linux"


def test_a_document_that_is_repeated_without_end_makes_a_short_message(folder, capsys):
    Path("run").write_text("q1 Q0 a 1 1 t\n" * 20_000)
    assert call(["trec", "qrels", "run", "--policy", "duplicates=error"]) == 2
    err = capsys.readouterr().err
    assert "20000 times (ranks 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 19,990 more)" in err
    assert len(err) < 1000


@in_thorough_suite()
@pytest.mark.parametrize(
    ("matcher", "text", "refused"),
    [
        ("fuzzy-chunk", "document {}", False),  # nothing of it stands in an answer, which is seen before it is compared
        ("fuzzy-chunk", "answer number {}", True),
        ("tests-partial", "document {}", True),
    ],
)
def test_very_many_pairs_of_texts_are_quick_or_fail_their_sample(folder, capsys, monkeypatch, matcher, text, refused):
    from rankgauge.matchers import comparers

    monkeypatch.setattr(comparers, "_PAIRS", 10_000)
    answers = [f"answer number {number}" for number in range(1000)]
    sample = {"id": "q", "expected_output": {"passages": answers}}
    sample["actual_output"] = [{"id": f"d{number}", "text": text.format(f"{number}x")} for number in range(100)]
    Path("s.jsonl").write_text(json.dumps(sample) + "\n")
    more = "matchers: {tests-partial: {compare: partial-ratio, threshold: 0.9}}\n"
    use = f"metrics: {{use: ['recall(gold=passages,matcher={matcher})@100']}}\n"
    Path("c.yaml").write_text(CONFIG + more + use)
    assert call(["run", "c.yaml"]) == (3 if refused else 0)
    assert ("would take too long for " in capsys.readouterr().out) == refused


@pytest.mark.parametrize("name", ["manifest.json", "outputs.jsonl", "begun.json"])
def test_pipes_in_what_a_killed_run_left_are_not_waited_for(folder, capsys, name):
    left = Path(".out.0123456789ab.partial")
    left.mkdir()
    (left / "outputs.jsonl").write_text('{"id":"q","actual_output":["a"],"attempt":1}\n')
    (left / name).unlink(missing_ok=True)
    os.mkfifo(left / name)
    assert call(["run", "--data", "s.jsonl", "-m", "RR", "--sut", "json:dumps", "--resume", str(left)]) == 2


def test_names_are_no_commands_and_no_mentions(folder, capsys, monkeypatch):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    Path("qrels").write_text("::stop-commands::x 0 a 1\n")
    Path("run").write_text("::stop-commands::x Q0 a 1 2 t\n")
    assert call(["trec", "qrels", "run", "-q", "-m", "P@1"]) == 0
    out = capsys.readouterr()
    assert not any(line.lstrip().startswith("::") for line in (out.out + out.err).splitlines())
    from rankgauge.base.tables import cell

    assert cell("@user") == "@&#8203;user"
    assert cell("https://evil.example www.evil.example a@evil.example") == (
        "https:&#8203;//evil.example www&#8203;.evil.example a@&#8203;evil.example"
    )
    assert cell("ndcg@10") == "ndcg@10"


def test_included_files_and_variables_are_named_and_their_content_is_not(folder, capsys, monkeypatch):
    monkeypatch.setenv("TOKEN", "hunter2")
    Path("secret").write_text("version: hunter2\nmetrics: hunter2\n")
    for included, words in (("secret", "secret:1, version"), ("${TOKEN}/x", "cannot read ${TOKEN}/x")):
        Path("c.yaml").write_text(f"{CONFIG}include: '{included}'\n")
        assert call(["run", "c.yaml"]) == 2
        err = capsys.readouterr().err
        assert words in err or "secret:2, metrics" in err
        assert "hunter2" not in err


@pytest.mark.parametrize("command", ["run", "validate"])
@pytest.mark.parametrize(
    "entry",
    [
        "datasets: {s: {path: '${TOKEN}/a.jsonl'}}",
        "datasets: {s: {path: '${TOKEN}'}}",
        "datasets: {s: {path: 'damaged-${TOKEN}.jsonl'}}",
        "datasets: {s: {path: 's.jsonl', outputs: './x//${TOKEN}/b'}}",
        "baseline: '${TOKEN}/b.json'\ngates: [{metric: RR, max_drop: 0.1}]",
        "baseline: 'damaged-${TOKEN}.jsonl'\ngates: [{metric: RR, max_drop: 0.1}]",
        "plugins: {locked: '${TOKEN}/lock.yaml'}",
        "output: {directory: 's.jsonl/${TOKEN}/out'}",
        "include: 'damaged-${TOKEN}.jsonl'",
    ],
)
def test_no_path_shows_the_value_of_a_variable(folder, capsys, monkeypatch, entry, command):
    monkeypatch.setenv("TOKEN", "hunter-2")
    Path("damaged-hunter-2.jsonl").write_text("{")
    Path("c.yaml").write_text(
        f"{CONFIG if 'datasets' not in entry else 'version: 1'}\nmetrics: {{use: [RR]}}\n{entry}\n"
    )
    code = call([command, "c.yaml"])
    err = capsys.readouterr().err
    assert code == (0 if "directory" in entry and command == "validate" else 2)
    assert "hunter" not in err
    assert code == 0 or "${TOKEN}" in err


def test_a_missing_file_is_named_by_its_variable_in_python_too(folder, monkeypatch):
    monkeypatch.setenv("TOKEN", "a/b")
    Path("c.yaml").write_text("version: 1\ndatasets: {s: {path: '${TOKEN}/a.jsonl'}}\nmetrics: {use: [RR]}\n")
    with pytest.raises(UnreadableError) as caught:
        Engine.from_config("c.yaml").dataset("s").run()
    (problem,) = caught.value.problems
    assert str(problem) == "c.yaml:2, datasets.s.path: ${TOKEN}/a.jsonl: no such file"


@pytest.mark.parametrize("kept", [0, 1, 30])
def test_a_result_whose_lines_are_cut_is_refused(folder, capsys, kept):
    assert call(["run", "--data", "s.jsonl", "-m", "RR", "--details", "-o", "out"]) == 0
    lines = Path("out/per_sample.jsonl").read_bytes()
    Path("out/per_sample.jsonl").write_bytes(lines[:kept])
    assert call(["report", "out", "-o", "page.html"]) == 2
    assert "out is not a complete result folder" in capsys.readouterr().err


def test_a_narrow_terminal_is_no_internal_error(folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1")
    for line in ("run --data s.jsonl -m RR", "trec qrels run", "metrics list", "matchers list"):
        assert call(line.split()) == 0


@pytest.mark.parametrize(
    ("line", "last", "first"),
    [
        ("judge queue run --qrels qrels -o q.jsonl", "q.jsonl", "q.jsonl.key.jsonl"),
        ("judge read queue --qrels qrels --judge me -o new", "new", "new.provenance.jsonl"),
        ("init .", "rankgauge.schema.json", "samples.jsonl"),
    ],
)
def test_files_that_belong_together_are_written_all_or_none(folder, capsys, monkeypatch, line, last, first):
    Path("run").write_text("q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\n")
    assert call(["judge", "queue", "run", "--qrels", "qrels", "-o", "queue"]) == 0
    rows = [json.loads(row) for row in Path("queue").read_text().splitlines()]
    Path("queue").write_text("".join(json.dumps(row | {"grade": 1} if "query" in row else row) + "\n" for row in rows))
    link, replace = os.link, Path.replace

    def full(part, path, wrapped):
        if Path(path).name == last:
            raise OSError(28, "No space left on device")
        return wrapped(part, path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "link", lambda part, path: full(part, path, link))
        patched.setattr(Path, "replace", lambda part, path: full(part, path, replace))
        assert call(line.split()) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert not Path(first).exists()
    assert call(line.split()) == 0
    assert not [path for path in Path().iterdir() if path.suffix == ".part"]


@pytest.mark.parametrize("links", [True, False])
def test_of_two_writers_of_new_files_the_later_one_is_told(folder, monkeypatch, links):
    from rankgauge.io.whole_files import write_new

    def refused(*_):
        raise PermissionError("this file system has no links")

    if not links:
        monkeypatch.setattr(os, "link", refused)
    write_new({Path("a"): b"first", Path("b"): b"first"})
    if links:
        with pytest.raises(FileExistsError):
            write_new({Path("c"): b"second", Path("b"): b"second"})
        assert Path("b").read_bytes() == b"first"
        assert not Path("c").exists()
    assert not [path for path in Path().iterdir() if path.suffix == ".part"]


def test_a_result_of_runs_is_replaced_where_that_is_asked_for(folder, capsys):
    line = ["trec", "qrels", "run", "-m", "RR", "-o", "out"]
    assert call(line) == 0
    assert call(line) == 2
    assert "with --force" in capsys.readouterr().err
    assert call([*line, "--force"]) == 0
    assert [path.name for path in Path().iterdir() if path.name.startswith(".")] == []


def test_a_result_that_cannot_be_moved_away_stays_and_leaves_nothing(folder, capsys, monkeypatch):
    line = ["run", "--data", "s.jsonl", "-m", "RR", "-o", "out", "--force"]
    assert call(line) == 0
    before = Path("out/manifest.json").read_bytes()
    rename = Path.rename

    def refused(path, target):
        if path.name == "out":
            raise OSError(28, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refused)
    assert call(line) == 2
    assert Path("out/manifest.json").read_bytes() == before
    assert [path.name for path in Path().iterdir() if path.name.startswith(".")] == []


def test_a_system_that_stops_the_loop_or_returns_what_raises_loses_nothing(folder, capsys):
    rows = [{"id": f"q{number}", "input": number, "expected_output": ["a"]} for number in range(4)]
    Path("s.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    Path("evil_systems.py").write_text(EVIL)
    line = "run --data s.jsonl -m RR --concurrency 1 --sut evil_systems.py:"
    for name in ("stops", "cancels"):
        assert call([*f"{line}{name} -o {name}".split()]) == 3
        assert "stopped the event loop or cancelled" in capsys.readouterr().err
        assert [json.loads(row)["id"] for row in Path(name, "outputs.jsonl").read_text().splitlines()] == ["q0", "q1"]
    assert call([*f"{line}raises -o raises".split()]) == 3
    rows = list(map(json.loads, Path("raises/outputs.jsonl").read_text().splitlines()))
    assert ["error" in row for row in rows] == [False, False, True, False]
    assert rows[2]["error"]["type"] == "ZeroDivisionError"


EVIL = """\
import asyncio

class Evil(dict):
    def get(self, *names):
        raise ZeroDivisionError("never")
    __getitem__ = __iter__ = __len__ = items = keys = get

async def stops(given):
    if given == 2:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(60)
    return ["a"]

async def cancels(given):
    if given == 2:
        for task in asyncio.all_tasks():
            task.cancel()
    await asyncio.sleep(0)
    return ["a"]

def raises(given):
    return Evil(a=1) if given == 2 else ["a"]
"""
