"""From runs to first judgments: `judge queue` and `judge read` where nothing is judged yet."""

import json

RUNS = {
    "A": {f"q{at}": {"a": 3.0, "b": 2.0, "c": 1.0} for at in range(8)},
    "B": {f"q{at}": {"x": 2.0, "a": 1.0} for at in range(8)},
}


def filled(path, judge="me"):
    header, *rows = map(json.loads, path.read_text().splitlines())
    rows = [row | {"grade": int(row["document"] == "a"), "judge": judge} for row in rows]
    path.write_text("".join(json.dumps(row) + "\n" for row in (header, *rows)))


def test_the_way_from_runs_to_first_judgments(rankgauge, tmp_path):
    for name, run in RUNS.items():
        lines = (f"{q} Q0 {d} 1 {score} x\n" for q, rows in run.items() for d, score in rows.items())
        (tmp_path / name).write_text("".join(lines))
    todo, qrels = tmp_path / "todo.jsonl", tmp_path / "first.qrels"
    shown = rankgauge("judge", "queue", tmp_path / "A", tmp_path / "B", "-m", "P@2", "-o", todo, "--questions", 2)
    assert "of 2 queries: every one in the first 2 results of any run" in shown.out
    filled(todo)
    shown = rankgauge("judge", "read", todo, "-o", qrels)
    assert shown.code == 0
    assert shown.out.splitlines()[0].endswith("new judgments (me 6)")
    assert sorted(line.split()[2:] for line in qrels.read_text().splitlines()) == [
        ["a", "1"], ["a", "1"], ["b", "0"], ["b", "0"], ["x", "0"], ["x", "0"]
    ]  # fmt: skip
    again = rankgauge("judge", "read", todo, "-o", tmp_path / "again.qrels", "--qrels", qrels)
    assert (again.code, "the queue was made without judgments; leave out --qrels" in again.err) == (2, True)


def test_options_of_the_other_kind_of_queue_are_refused(rankgauge, tmp_path):
    for more, why in (
        (("--limit", 3), "--limit is for judgments that exist"),
        (("--questions", 3, "--qrels", "x"), "--questions is for judging from scratch"),
    ):
        shown = rankgauge("judge", "queue", "A", "-o", tmp_path / "q", *more)
        assert (shown.code, why in shown.err) == (2, True)


def test_a_queue_that_was_made_for_judgments_needs_them(rankgauge, tmp_path):
    (tmp_path / "run").write_text("q0 Q0 b 1 2 x\nq0 Q0 a 2 1 x\n")
    (tmp_path / "qrels").write_text("q0 0 a 1\n")
    rankgauge("judge", "queue", tmp_path / "run", "--qrels", tmp_path / "qrels", "-o", tmp_path / "q")
    shown = rankgauge("judge", "read", tmp_path / "q", "-o", tmp_path / "new")
    assert (shown.code, "the queue was made for judgments; give them with --qrels" in shown.err) == (2, True)
