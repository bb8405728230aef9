import json
from pathlib import Path

import yaml

from rankgauge.config import json_schema


def content():
    return {path.as_posix(): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


def test_what_it_writes_runs_and_is_valid(rankgauge):
    done = rankgauge("init", "fresh")
    assert done.code == 0
    assert "now run: rankgauge run" in done.out
    assert sorted(content()) == ["fresh/rankgauge.schema.json", "fresh/rankgauge.yaml", "fresh/samples.jsonl"]
    assert rankgauge("validate", "fresh/rankgauge.yaml").code == 0
    run = rankgauge("run", "fresh/rankgauge.yaml", "--json")
    assert run.code == 0
    # Of three questions the first finds its one document at rank 2, the second one of two at rank 1, the third none.
    assert run.json["samples"] == 3
    assert run.mean("retrieval-mrr") == 0.5
    assert run.mean("recall@1") == 0.5 / 3


def test_the_first_line_names_the_schema_to_editors(rankgauge):
    rankgauge("init")
    first = Path("rankgauge.yaml").read_text("utf-8").partition("\n")[0]
    name = first.removeprefix("# yaml-language-server: $schema=")
    schema = json.loads(Path(name).read_text("utf-8"))
    assert schema == json_schema()
    assert schema["$id"] == "urn:rankgauge:config:1"


def test_every_metric_set_that_it_writes_runs(rankgauge):
    rankgauge("init")
    for name in yaml.safe_load(Path("rankgauge.yaml").read_text("utf-8"))["metrics"]["sets"]:
        assert rankgauge("run", "rankgauge.yaml", "--set", name).code == 0


def test_the_config_explains_itself(rankgauge):
    rankgauge("init")
    lines = Path("rankgauge.yaml").read_text("utf-8").splitlines()
    assert sum("#" in line for line in lines) >= 10


def test_what_is_commented_out_can_be_used(rankgauge):
    rankgauge("init")
    text = Path("rankgauge.yaml").read_text("utf-8")
    for line in ("- {metric:", "- {set:", "output:", "  directory:"):
        assert f"# {line}" in text
        text = text.replace(f"# {line}", line)
    Path("rankgauge.yaml").write_text(text, "utf-8")
    done = rankgauge("run", "rankgauge.yaml")
    assert done.code == 0
    assert "ndcg-exp" in done.out
    assert "saved to" in done.err


def test_folders_above_are_made(rankgauge):
    assert rankgauge("init", "a/b/c").code == 0
    assert "a/b/c/rankgauge.yaml" in content()


def test_nothing_is_ever_overwritten(rankgauge):
    rankgauge("init")
    Path("rankgauge.yaml").write_text("mine", "utf-8")
    before = content()
    done = rankgauge("init")
    assert done.code == 2
    assert "would be overwritten; nothing was written" in done.err
    assert before == content()


def test_when_one_of_the_files_exists_the_other_is_not_written(rankgauge, write):
    write("fresh/samples.jsonl", "mine")
    done = rankgauge("init", "fresh")
    assert done.code == 2
    assert "samples.jsonl" in done.err
    assert content() == {"fresh/samples.jsonl": b"mine"}


def test_other_files_of_the_folder_are_left_alone(rankgauge, write):
    write("fresh/notes.txt", "mine")
    assert rankgauge("init", "fresh").code == 0
    assert content()["fresh/notes.txt"] == b"mine"


def test_a_file_in_the_way_is_refused(rankgauge, write):
    write("fresh", "mine")
    done = rankgauge("init", "fresh")
    assert done.code == 2
    assert "fresh" in done.err
    assert content() == {"fresh": b"mine"}
