"""Groups of queries: files of any form give the same groups, and what is none is refused."""

import json
import pickle
from pathlib import Path

import polars as pl
import pytest

from rankgauge.errors import DataError, ParameterError
from rankgauge.io.query_groups import QueryGroups

GROUPS = {"q1": ("short", "legal"), "q2": ("long",)}


def read(tmp_path: Path, name: str, content: str) -> QueryGroups:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return QueryGroups.read(path)


def plain(groups: QueryGroups) -> dict[str, tuple[str, ...]]:
    return {query: groups.of_query(query) for query in ("q1", "q2")}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.tsv", "q1\tshort\tlegal\nq2\tlong\n"),
        ("g.tsv", "q1\tshort\nq1\tlegal\n\nq2\tlong\t\n"),  # lines of a query add up
        ("g.tsv", "q1\tshort\nq1\tlegal\nq1\tshort\nq2\tlong\n"),  # and each group counts once
        ("g.csv", "q1,short,legal\nq2,long,\n"),
        ("g.txt", "q1 short\nq1 legal\nq2 long\n"),
        ("g.csv", "query_id,group,tags\nq1,short,legal\nq2,long,\n"),
        ("g.tsv", "qid\tgroup\nq1\tshort\nq1\tlegal\nq2\tlong\n"),
        ("g.jsonl", '{"id": "q1", "groups": ["short", "legal"]}\n{"id": "q2", "group": "long"}\n'),
        ("g.json", '[{"qid": "q1", "tags": ["short", "legal"]}, {"qid": "q2", "tags": "long"}]'),
        ("g.json", '{"q1": ["short", "legal"], "q2": "long"}'),
    ],
)
def test_every_form_gives_the_same_groups(tmp_path, name, content):
    groups = read(tmp_path, name, content)
    assert plain(groups) == GROUPS
    assert groups.fingerprint == QueryGroups.of({"q1": ["legal", "short"], "q2": "long"}).fingerprint
    assert pickle.loads(pickle.dumps(groups)) == groups  # noqa: S301  # its own


def test_columns_of_other_names_are_part_of_the_group(tmp_path):
    table = read(tmp_path, "g.csv", "qid,type,lang\nq1,short,de\nq2,long,\n")
    assert plain(table) == {"q1": ("type=short", "lang=de"), "q2": ("type=long",)}
    frame = pl.DataFrame({"query_id": [1, 2], "type": ["short", None], "hops": [2, 3]})
    frame.write_parquet(tmp_path / "g.parquet")
    groups = QueryGroups.read(tmp_path / "g.parquet")
    assert [groups.of_query(query) for query in ("1", "2")] == [("type=short", "hops=2"), ("hops=3",)]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("g.txt", "q1 0 d1 1\nq2 0 d1 1\n", r"g.txt:1: each line .*; this one has 4 fields\n.*g.txt:2"),
        ("g.tsv", "q1\tshort\nq2\n", "g.tsv:2: .*this one has 1 field"),
        ("g.csv", "qid,type\nq1,short,de\n", "g.csv:2: 3 cells under a header of 2"),
        (
            "g.csv",
            "qid,type\n,short\n",
            "g.csv:2: a row has the id of a query .query_id, qid or id.; this one has 'qid', 'type'",
        ),
        ("g.csv", "qid,type\nq1,\n", "it has no group"),
        ("g.txt", "", "it has no group"),
        ("g.jsonl", '{"type": "short"}\n[1]\n', r"g.jsonl:1: a row has the id of a query.*\n.*g.jsonl:2: "),
        ("g.jsonl", '{"id": "q1", "group": {"a": 1}}\n', "'group' of query 'q1' is a group or a list of groups"),
        ("g.json", '{"q1": {"a": 1}}', "query 'q1': its groups are a text or a list of texts"),
    ],
)
def test_what_is_no_file_of_groups_is_refused(tmp_path, name, content, message):
    with pytest.raises(DataError, match=message):
        read(tmp_path, name, content)
    with pytest.raises(DataError):
        QueryGroups.read(tmp_path / "nowhere.tsv")


def test_groups_in_python_are_a_file_or_a_mapping(tmp_path):
    (tmp_path / "g.json").write_text(json.dumps(GROUPS), encoding="utf-8")
    assert plain(QueryGroups.of(str(tmp_path / "g.json"))) == plain(QueryGroups.of(GROUPS)) == GROUPS
    for wrong in (5, {"q1": {"a": 1}}, {1: "short"}):
        with pytest.raises(ParameterError, match="groups are a file, or groups by query"):
            QueryGroups.of(wrong)


def test_how_they_fit_the_queries_is_said():
    groups = QueryGroups.of({"q1": "short", "q2": [], "q9": "long", "q8": "long"})
    assert list(groups.notes(["q1", "q2", "q3"])) == [
        "2 of 3 queries have no group in groups of 4 queries, such as 'q2'",
        "2 queries of groups of 4 queries are not among those evaluated, such as 'q8'",
    ]
    assert list(QueryGroups.of({"q1": "short"}).notes(["q1"])) == []
    groups.check(["q1"])
    with pytest.raises(DataError, match="no query of groups of 4 queries was evaluated: it has 'q1', 'q2', 'q9' and 1"):
        groups.check(["x1"])
