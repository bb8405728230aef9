"""`judge run --lock`: a judge stays the one it was, or says that it is another."""

import json

import pytest


@pytest.fixture
def judge(server, rankgauge, write_queue, tmp_path):
    """Return a function that runs `judge run` on a queue, with a lock."""
    names = iter(f"out-{number}.jsonl" for number in range(9))

    def run(*more, text="It is 3 m tall."):
        queue = write_queue(text, name=f"q-{next(names)}")
        output = tmp_path / next(names)
        endpoint = ("--model", "m", "--base-url", server.url)
        return rankgauge("judge", "run", queue, *endpoint, "--lock", tmp_path / "judge.lock", "-o", output, *more)

    return run


def serving(name):
    """Return a script whose answers are of a model with this name."""

    def script(request, number):
        choice = {"index": 0, "message": {"role": "assistant", "content": '{"reason": "So.", "grade": 1}'}}
        return 200, json.dumps({"model": name, "choices": [choice | {"finish_reason": "stop"}]})

    return script


def locked(tmp_path):
    return json.loads((tmp_path / "judge.lock").read_text(encoding="utf-8"))


class TestLock:
    def test_the_first_run_writes_what_it_pins(self, judge, tmp_path):
        done = judge("--votes", "3")
        assert done.code == 0
        assert f"wrote {tmp_path / 'judge.lock'}, which pins this judge; the endpoint calls it m-2026" in done.out
        lock = locked(tmp_path)
        assert len(lock.pop("rubric")) == 16
        assert lock == {
            "schema_version": "rankgauge.judge_lock.v1",
            "model": "m",
            "temperature": 0.0,
            "seed": 0,
            "votes": 3,
            "max_chars": 20_000,
            "served": ["m-2026"],
        }

    def test_the_same_judge_goes_on_and_writes_no_other_lock(self, judge, tmp_path):
        judge()
        before = (tmp_path / "judge.lock").read_bytes()
        assert judge(text="another").code == 0
        assert (tmp_path / "judge.lock").read_bytes() == before

    @pytest.mark.parametrize(
        ("more", "told"),
        [
            (("--votes", "3"), "votes 1, not 3"),
            (("--seed", "4", "--temperature", "0.5"), "temperature 0.0, not 0.5; seed 0, not 4"),
            (("--rubric", "binary"), "rubric '"),
            (("--max-chars", "9"), "max_chars 20000, not 9"),
        ],
    )
    def test_another_judge_is_refused_before_anything_is_asked(self, judge, server, more, told):
        judge()
        done = judge(*more)
        assert (done.code, len(server.requests)) == (2, 1)
        assert told in done.err

    def test_a_model_that_changed_behind_its_name_ends_the_run(self, judge, server, tmp_path):
        server.script = serving("m-2026-01")
        assert judge().code == 0
        server.script = serving("m-2026-09")
        done = judge(text="another")
        assert (done.code, len(list(tmp_path.glob("out-*")))) == (3, 1)
        assert "ended early: m is 'm-2026-09' now, and the lock has 'm-2026-01'\n" in done.out

    def test_kept_answers_of_another_model_do_not_count(self, judge, server, tmp_path):
        server.script = serving("m-2026-01")
        judge()
        lock = locked(tmp_path) | {"served": ["m-2026-09"]}
        (tmp_path / "judge.lock").write_text(json.dumps(lock), encoding="utf-8")
        server.script = serving("m-2026-09")
        assert (judge().code, len(server.requests)) == (0, 2)

    def test_an_endpoint_that_does_not_name_its_model(self, judge, server, tmp_path):
        server.script = serving("")
        done = judge()
        assert "a change behind the name would not be noticed" in done.out
        assert locked(tmp_path)["served"] == []
        server.script = serving("m-2026-09")
        assert judge(text="another").code == 0

    def test_nothing_is_pinned_where_nothing_was_answered(self, judge, server, tmp_path):
        server.script = lambda request, number: "no"
        assert (judge().code, (tmp_path / "judge.lock").exists()) == (3, False)

    def test_a_lock_in_no_folder_is_refused_before_anything_is_asked(self, server, rankgauge, write_queue, tmp_path):
        endpoint = ("--model", "m", "--base-url", server.url)
        done = rankgauge(
            "judge", "run", write_queue("x"), *endpoint, "--lock", tmp_path / "no" / "l", "-o", tmp_path / "o.jsonl"
        )
        assert (done.code, server.requests) == (2, [])
        assert "there is no folder" in done.err

    @pytest.mark.parametrize(
        "text", ["", "[]", "{}", '{"schema_version": "x", "served": []}', '{"served": 3}', "[" * 9999]
    )
    def test_a_file_that_is_no_lock(self, judge, server, tmp_path, text):
        (tmp_path / "judge.lock").write_text(text, encoding="utf-8")
        done = judge()
        assert (done.code, server.requests) == (2, [])
        assert "it is no lock of a judge" in done.err
