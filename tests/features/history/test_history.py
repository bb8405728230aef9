"""Results over time: what the index keeps, writers at once, breaks, tested changes, and the last good baseline."""

import csv
import io
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import orjson
import polars as pl
import pytest

from draws import in_thorough_suite
from rankgauge import Engine, evaluate, judge_gates
from rankgauge.cli import call
from rankgauge.errors import ParameterError, ResultError
from rankgauge.features.history.lines import history_lines, since_sentences
from rankgauge.history import History
from rankgauge.stats.effects import holm


def samples(right, n=40, gold="d1", tags=None):
    return [
        {
            "id": f"s{number}",
            "expected_output": [gold],
            "actual_output": [gold] if number in right else ["other"],
            **({"metadata": {"tags": [tags[number % len(tags)]]}} if tags else {}),
        }
        for number in range(n)
    ]


class Folders:
    """Makes result folders one after the other, a day apart."""

    def __init__(self, folder):
        self.folder, self.history, self.day = folder, History(folder / "index"), 0

    def save(self, right, metrics=("hit@1",), **how):
        self.day += 1
        result = Engine().dataset(samples(set(right), **how)).with_metrics(list(metrics)).run()
        result = result.with_manifest({"created_at": f"2026-01-{self.day:02}T00:00:00+00:00"})
        return result.save(self.folder / f"day{self.day}")

    def add(self, right, metrics=("hit@1",), passed=None, **how):
        return self.history.add(self.save(right, metrics, **how), passed=passed)

    def line(self, **how):
        (line,) = history_lines(self.history, self.history.entries(**how))
        return line


@pytest.fixture
def folders(tmp_path):
    return Folders(tmp_path)


def test_an_entry_says_what_its_result_says(folders):
    folder = folders.save(range(30), tags=["easy", "hard"])
    added = folders.history.add(folder, name="v1", commit="4f1c", tags=["nightly"], passed=True)
    (entry,) = folders.history.entries()
    assert entry == added
    assert (entry.name, entry.commit, entry.tags, entry.passed, entry.n, entry.failed) == (
        "v1",
        "4f1c",
        ("nightly",),
        True,
        40,
        0,
    )
    result = folders.history.load(entry)
    assert entry.means["hit@1"][:4] == (0.75, *result["hit@1"].interval(), 40)
    assert {tag: means["hit@1"].mean for tag, means in entry.cohorts.items()} == {"easy": 0.75, "hard": 0.75}


def test_entries_stand_in_order_of_time_and_not_of_adding(folders):
    first, second = folders.save([0]), folders.save([1])
    folders.history.add(second)
    folders.history.add(first)
    assert [entry.name for entry in folders.history.entries()] == ["day1", "day2"]
    assert [entry.name for entry in folders.history.entries(last=1)] == ["day2"]


def test_the_same_content_is_one_entry_wherever_it_is(folders, tmp_path):
    folder = folders.save([0])
    folders.history.add(folder, name="v1", tags=["a"])
    moved = folder.rename(tmp_path / "elsewhere")
    with pytest.raises(ResultError, match="add it again from where it is now"):
        folders.history.load(*folders.history.entries())
    folders.history.add(moved, tags=["b"], passed=True)
    (entry,) = folders.history.entries()
    assert (entry.name, entry.tags, entry.passed, Path(entry.folder)) == ("v1", ("a", "b"), True, moved)


def test_the_entries_of_one_system_are_selected_by_its_name(folders, tmp_path):
    for number, tag in enumerate(("bm25", "dense", "bm25")):
        (tmp_path / f"{number}.run").write_text(f"q1 Q0 d{number} 1 1.0 {tag}\n", encoding="utf-8")
        (tmp_path / "qrels").write_text("q1 0 d1 1\n", encoding="utf-8")
        result = evaluate(str(tmp_path / "qrels"), str(tmp_path / f"{number}.run"), "RR")
        folders.history.add(result.save(tmp_path / f"out{number}"))
    assert [entry.name for entry in folders.history.entries(system="bm25")] == ["out0", "out2"]
    with pytest.raises(ParameterError, match=r"has no system 'bm52' \(did you mean 'bm25'"):
        folders.history.entries(system="bm52")


def test_index_and_folders_can_be_moved_together(folders, tmp_path):
    place = tmp_path / "one"
    place.mkdir()
    folder = folders.save([0]).rename(place / "result")
    History(place / "index").add(folder)
    place.rename(tmp_path / "two")
    history = History(tmp_path / "two" / "index")
    assert history.load(*history.entries())["hit@1"].mean == 1 / 40


def test_a_folder_with_other_content_is_refused(folders):
    folder = folders.save([0])
    folders.history.add(folder)
    text = (folder / "manifest.json").read_text(encoding="utf-8")
    (folder / "manifest.json").write_text(text.replace("2026-01-01", "2026-01-02"), encoding="utf-8")
    with pytest.raises(ResultError, match="has other content than 'day1' had"):
        folders.history.load(*folders.history.entries())


def test_what_cannot_be_used_is_an_error(folders, tmp_path):
    with pytest.raises(ResultError, match="there is no history"):
        folders.history.entries()
    (tmp_path / "text").write_text("not a database, but a text that is long enough", encoding="utf-8")
    with pytest.raises(ResultError, match="cannot be used"):
        History(tmp_path / "text").entries()
    sqlite3.connect(tmp_path / "other").execute("CREATE TABLE notes (text TEXT)").connection.close()
    with pytest.raises(ResultError, match="is not a history of rankgauge"):
        History(tmp_path / "other").add(folders.save([0]))
    folders.add([0])
    with pytest.raises(ParameterError, match=r"has no dataset 'dat'.*there are data"):
        folders.history.entries(dataset="dat")
    with pytest.raises(ParameterError, match="has no tag 'nightly'"):
        folders.history.entries(tag="nightly")


def test_neighbours_are_tested_by_pairs_and_corrected_over_the_history(folders):
    for right in (range(20), range(20), range(10), range(11)):
        folders.add(right)
    line = folders.line()
    changes = [point.change for point in line.points[1:]]
    assert [change.verdict for change in changes] == ["same", "worse", "undecided"]
    assert [change.difference for change in changes] == pytest.approx([0, -0.25, 0.025])
    assert changes[1].p == pytest.approx(2 / 2**10)  # ten pairs lost, none won
    assert [change.p_adjusted for change in changes[1:]] == pytest.approx(holm([2 / 2**10, 1.0]))


def test_changes_are_computed_once_and_kept(folders):
    first, second = folders.add(range(20)), folders.add(range(10))
    before = folders.line()
    for entry in (first, second):
        (Path(entry.folder) / "per_sample.parquet").unlink()
    after = folders.line()
    assert after.points == before.points
    assert after.since == ()


def test_a_change_whose_folder_is_gone_is_not_tested_and_says_so(folders):
    entry = folders.add(range(20))
    folders.add(range(10))
    (Path(entry.folder) / "per_sample.parquet").unlink()
    change = folders.line().points[1].change
    assert (change.difference, change.verdict) == (None, "")
    assert "cannot be read" in change.why_not


def test_a_line_breaks_where_meaning_changed_and_says_what(folders):
    folders.add(range(20))
    folders.add(range(20), gold="d7")
    folders.add(range(20), n=41, gold="d7")
    folders.add(range(20), n=41, gold="d7", metrics=({"metric": "hit", "k": 3, "as": "hit@1"},))
    folders.add(range(20), n=41, gold="d7", metrics=({"metric": "hit", "k": 3, "as": "hit@1"},))
    line = folders.line()
    breaks = [point.breaks for point in line.points]
    assert breaks[:3] == ["", "ground truth changed", "other samples: 40 before, 41 now"]
    assert breaks[3].startswith("definition changed: k 1 to 3")
    assert breaks[4] == ""
    assert [point.change is None for point in line.points] == [True, True, True, True, False]


@pytest.mark.parametrize("before", [3, pytest.param(5, marks=in_thorough_suite())])
def test_since_when_it_is_worse(folders, before):
    for day in range(9):
        folders.add(range(day % 2, 30 if day < before else 18))
    (since,) = folders.line().since
    assert (since.verdict, since.entry.name) == ("worse", f"day{before + 1}")
    assert since.first.created_at <= since.entry.created_at <= since.last.created_at
    assert since.p < 0.01


def test_nothing_is_worse_where_nothing_changed(folders):
    for day in range(6):
        folders.add(range(day % 3, 20 + day % 3))
    assert folders.line().since == ()


def test_each_piece_between_breaks_is_looked_at_alone(folders):
    for right, gold in ((30, "d1"), (12, "d1"), (5, "d2"), (5, "d2"), (5, "d3"), (28, "d3")):
        folders.add(range(right), gold=gold)
    line = folders.line()
    assert [(since.verdict, since.entry.name) for since in line.since] == [("worse", "day2"), ("better", "day6")]
    assert next(since_sentences(line)).startswith("hit@1 is better since day6 (2026-01-06) with 95 % confidence: +0.57")


def test_the_last_good_result_is_a_baseline(folders):
    folders.add(range(30), passed=True)
    folders.add(range(32), passed=True)
    folders.add(range(2), passed=False)
    folders.add(range(3))
    baseline = folders.history.last_good()
    assert baseline["data"]["hit@1"].mean == 32 / 40
    now = Engine().dataset(samples(set(range(10)))).with_metrics(["hit@1"]).run()
    report = judge_gates(now, "hit@1 max_drop 0.01", baseline=baseline)
    assert report.exit_code == 1


def test_a_last_good_result_that_was_overwritten_is_told_with_what_to_do(folders):
    folder = folders.save([0])
    folders.history.add(folder, passed=True)
    text = (folder / "manifest.json").read_text(encoding="utf-8")
    (folder / "manifest.json").write_text(text.replace("2026-01-01", "2026-01-02"), encoding="utf-8")
    with pytest.raises(ResultError, match=r"no last good result: .* has other content .*; give every run a folder of "):
        folders.history.last_good()


_ADDING = """
import sys
from rankgauge.history import History
history = History(sys.argv[1])
for folder in sys.argv[2:]:
    history.add(folder)
"""


@pytest.mark.usefixtures("process")
@in_thorough_suite()
def test_processes_that_add_at_once_lose_nothing(folders, tmp_path):
    made = [folders.save([number]) for number in range(12)]
    index = tmp_path / "shared"
    jobs = [
        subprocess.Popen([sys.executable, "-c", _ADDING, str(index), *map(str, made[start::3])]) for start in range(3)
    ]
    assert [job.wait(timeout=120) for job in jobs] == [0, 0, 0]
    assert [entry.name for entry in History(index).entries()] == [folder.name for folder in made]


@pytest.mark.usefixtures("process")
def test_a_writer_that_dies_leaves_the_index_as_it_was(folders):
    folders.add([0])
    code = (
        "import os, sys\nfrom rankgauge.history import History\n"
        "with History(sys.argv[1])._writing() as index:\n"
        "    index.execute('DELETE FROM entries')\n    os._exit(9)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(folders.history.path)], check=False).returncode == 9
    assert len(folders.history.entries()) == 1
    folders.add([1])
    assert len(folders.history.entries()) == 2


@in_thorough_suite()
def test_thousands_of_entries_are_read(folders):
    folders.add(range(20), metrics=["hit@1", "ndcg@10", "recall@5", "MRR", "P@5"], tags=["a", "b", "c"])
    index = sqlite3.connect(folders.history.path)
    (facts,) = index.execute("SELECT facts FROM entries").fetchone()
    rows = []
    for number in range(3_000):
        entry = orjson.loads(facts) | {"id": f"{number:016x}"}
        rows.append((entry["id"], "data", f"2026-02-01T00:00:{number:05}", None, orjson.dumps(entry)))
    with index:
        index.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", rows)
    index.close()
    assert len(folders.history.entries()) == 3_001


def run(line, capsys):
    code = call(line.split())
    out, err = capsys.readouterr()
    assert code == 0, err
    return out


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, right in (("one", range(30)), ("two", range(31)), ("three", range(12))):
        rows = "".join(json.dumps(sample) + "\n" for sample in samples(set(right), tags=["easy", "hard"]))
        (tmp_path / f"{name}.jsonl").write_text(rows, encoding="utf-8")
    config = "version: 1\ndatasets: {qa: {path: data.jsonl}}\nmetrics: {use: [hit@1]}\nbaseline: last-good\n"
    (tmp_path / "config.yaml").write_text(f"{config}gates: [hit@1 max_drop 0.02]\n", encoding="utf-8")
    return tmp_path


def test_the_command_line_adds_lists_shows_and_exports(project, capsys):
    for name in ("one", "two", "three"):
        run(f"run --data {name}.jsonl -m hit@1 -o results/{name}", capsys)
    for name in ("one", "two", "three"):
        manifest = project / "results" / name / "manifest.json"
        saved = json.loads(manifest.read_text(encoding="utf-8"))
        saved["dataset"]["name"] = "qa"
        manifest.write_text(json.dumps(saved), encoding="utf-8")
    run("history add results/one results/two results/three --tag nightly", capsys)
    assert [entry["name"] for entry in json.loads(run("history list --json", capsys))] == ["one", "two", "three"]
    assert "qa: 3 entries" in run("history list --last 3 --tag nightly", capsys)
    text = run("history show -m HIT@1", capsys)
    assert "hit@1 is worse since three" in text
    (line,) = json.loads(run("history show --json", capsys))
    assert [point["mean"] for point in line["points"]] == [0.75, 0.775, 0.3]
    assert line["since"][0]["verdict"] == "worse"
    run("history export table.csv", capsys)
    run("history export table.parquet", capsys)
    rows = list(csv.DictReader(io.StringIO((project / "table.csv").read_text(encoding="utf-8"))))
    assert len(rows) == 3 * 3
    assert [row["mean"] for row in rows if not row["cohort"]] == ["0.75", "0.775", "0.3"]
    assert pl.read_parquet(project / "table.parquet").filter(pl.col("cohort").is_null())["mean"].to_list() == [
        0.75,
        0.775,
        0.3,
    ]
    assert call(["history", "export", "table.txt"]) == 2
    assert call(["history", "show", "-m", "P@3"]) == 2
    assert "no entry has a metric 'P@3'; there are hit@1" in capsys.readouterr().err


def test_what_is_computed_again_at_once_is_an_entry_of_its_own(project, capsys):
    for name in "cab":
        run(f"run --data one.jsonl -m hit@1 -o {name} --history index", capsys)
    assert [entry.name for entry in History("index").entries()] == ["c", "a", "b"]


def test_runs_are_judged_against_the_last_that_passed(project, capsys):
    codes = []
    for number, name in enumerate(("one", "two", "three", "one")):
        (project / "data.jsonl").write_bytes((project / f"{name}.jsonl").read_bytes())
        codes.append(call(f"run config.yaml --history index -o out{number}".split()))
        said = capsys.readouterr()
        if not number:
            assert "no result in the history has passed its gates yet: 1 gate on changes not judged" in said.err
    assert codes == [0, 0, 1, 0]
    assert "only 1 of 40 scores changed" in said.out  # the last lies 0.025 below the second, the last that passed
    assert [entry.passed for entry in History("index").entries()] == [True, True, False, None]


def test_what_lacks_for_a_history_is_said_before_anything_is_computed(project, capsys):
    assert call(["run", "--data", "one.jsonl", "-m", "hit@1", "--history", "index"]) == 2
    assert "so save them: -o FOLDER" in capsys.readouterr().err
    assert (
        call(["run", "--data", "one.jsonl", "-m", "hit@1", "--gate", "hit@1 max_drop 0.1", "--baseline", "last-good"])
        == 2
    )
    assert "name it with --history FILE" in capsys.readouterr().err


def test_the_page_loads_nothing_and_leads_to_reports(project, capsys):
    for name in ("one", "three"):
        (project / "data.jsonl").write_bytes((project / f"{name}.jsonl").read_bytes())
        run(f"run --data data.jsonl -m hit@1 -o results/{name} --html results/{name}.html", capsys)
    run("history add results", capsys)
    run("history html -o history.html", capsys)
    page = (project / "history.html").read_text(encoding="utf-8")
    assert "default-src &#39;none&#39;" in page or "default-src 'none'" in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert 'href="results/three/report.md"' in page
    assert page.count('<svg class="fig"') == 3  # the line, and one for each cohort
    assert 'class="dot worse"' in page
    assert "hit@1 is worse since three" in page


def test_the_page_shows_breaks_and_escapes_names(folders, tmp_path):
    folders.add(range(20))
    folders.history.add(folders.save(range(20), gold="d7"), name="<b>v2</b>")
    from rankgauge.features.history.trend import lay_out_history

    page = lay_out_history([folders.line()], tmp_path)
    assert "<b>v2" not in page
    assert "&lt;b&gt;v2&lt;/b&gt;" in page
    assert "ground truth changed" in page
    assert 'class="break"' in page
