"""JSON results and judgments: ``{query: {document: number}}``."""

import gzip
import json

import pytest

import rankgauge
from ranked_tables import WORKED_QRELS, WORKED_RUN, scores_of, write_qrels, write_run
from rankgauge.errors import DataError, UnreadableError
from rankgauge.io.open_sources import open_qrels


def nested(rows):
    """Return rows as an object of objects."""
    objects = {}
    for query, document, number in rows:
        objects.setdefault(query, {})[document] = number
    return json.dumps(objects)


def messages(error):
    return [str(problem) for problem in error.value.problems]


@pytest.fixture
def qrels(tmp_path):
    return write_qrels(tmp_path / "qrels", WORKED_QRELS)


@pytest.mark.parametrize("rows", [1, 1000])
def test_json_scores_as_the_same_rows_in_trec_text(rows, generated, as_trec, tmp_path, monkeypatch):
    monkeypatch.setattr("rankgauge.io.nested_mappings._AT_ONCE", rows)
    (tmp_path / "qrels.json").write_text(nested(generated[0]), encoding="utf-8")
    (tmp_path / "run.json.gz").write_bytes(gzip.compress(nested(generated[1]).encode()))
    assert scores_of(tmp_path / "qrels.json", tmp_path / "run.json.gz") == as_trec


@pytest.mark.parametrize(
    "policy",
    [
        {"ties": "average"},
        {"ties": "given", "depth": 3},
        {"order": "given"},
        {"exclude_self": True, "judged_only": True},
        {"score_dtype": "float32", "duplicates": "keep"},
    ],
)
def test_json_and_trec_text_have_the_same_scores_under_every_policy(policy, generated, tmp_path):
    paths = write_qrels(tmp_path / "qrels", generated[0]), write_run(tmp_path / "run", generated[1])
    (tmp_path / "run.json").write_text(nested(generated[1]), encoding="utf-8")
    assert scores_of(paths[0], tmp_path / "run.json", policy=policy) == scores_of(*paths, policy=policy)


def test_json_is_known_by_what_stands_in_it(qrels, tmp_path):
    expected = scores_of(qrels, write_run(tmp_path / "run", WORKED_RUN))
    for text in (nested(WORKED_RUN), json.dumps(json.loads(nested(WORKED_RUN)), indent=2)):
        (tmp_path / "results").write_text(text, encoding="utf-8")
        assert scores_of(qrels, tmp_path / "results") == expected


def test_queries_with_nothing_retrieved_count_and_queries_with_nothing_judged_do_not(tmp_path):
    (tmp_path / "q.json").write_text('{"q1": {"a": 1}, "q2": {"c": 1}, "q3": {}}', encoding="utf-8")
    (tmp_path / "r.json").write_text('{"q2": {}, "q1": {"a": 3}}', encoding="utf-8")
    rows = scores_of(tmp_path / "q.json", tmp_path / "r.json")
    assert [(row["sample_id"], row["ap"]) for row in rows] == [("q1", 1.0), ("q2", 0.0)]


@pytest.mark.parametrize(
    "text",
    [
        '{"q1": {"a": 1, "b": 2, "a": 3}}',
        '{"q1": {"a": 1}, "q1": {"b": 3}}',
        '{"q1": {"\\u0061": 1, "a": 3}}',
        '{"q1": {"a\\"": 1, "b\\\\": 1, "a\\"": 3}}',
    ],
)
def test_keys_that_stand_twice_are_refused(text, qrels, tmp_path):
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match="is listed more than once in the same object"):
        scores_of(qrels, tmp_path / "r.json")


@pytest.mark.parametrize("document", ['a"', "a\\", '\\"', '":"', "\u2028é"])
def test_quotes_in_ids_are_no_repeated_keys(document, tmp_path):
    (tmp_path / "q.json").write_text(json.dumps({"q": {document: 1}}), encoding="utf-8")
    (tmp_path / "r.json").write_text(json.dumps({"q": {document: 0.5, "b": 0.75}}), encoding="utf-8")
    assert scores_of(tmp_path / "q.json", tmp_path / "r.json")[0]["rr"] == 0.5


def test_everything_that_is_no_number_is_told(qrels, tmp_path):
    path = tmp_path / "r.json"
    path.write_text('{"q1": {"a": "1", "b": null, "c": true, "d": 2, "": 1}, "q2": ["a"], "q3": {"e": []}}', "utf-8")
    with pytest.raises(DataError) as error:
        scores_of(qrels, path)
    assert messages(error) == [
        f"{path}, q1.a: the score must be a number, found the string '1'",
        f"{path}, q1.b: the score must be a number, found null",
        f"{path}, q1.c: the score must be a number, found a truth value",
        f"{path}, q1: an id is empty",
        f"{path}, q2: expected an object of documents, found a list",
        f"{path}, q3.e: the score must be a number, found a list",
    ]


def test_what_is_no_json_or_another_document_is_refused(qrels, tmp_path):
    path = tmp_path / "r.json"
    path.write_text('{"q1": {"a": NaN}}', encoding="utf-8")
    with pytest.raises(UnreadableError, match=r"r\.json:1: not valid JSON: .*NaN is not a JSON number"):
        scores_of(qrels, path)
    path.write_text("[1]", encoding="utf-8")
    with pytest.raises(DataError, match="expected an object of objects, found a list"):
        scores_of(qrels, path)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match="there are no judgments"):
        scores_of(path, qrels)


@pytest.mark.parametrize("blank", ["", " "])
def test_a_queue_is_told_apart_from_judgments(tmp_path, blank):
    """With a blank as `judge queue` writes it, without one as the page of a judge does."""
    queue = tmp_path / "filled.jsonl"
    queue.write_text(
        f'{{"schema_version":{blank}"rankgauge.queue.v1"}}\n{{"query": "q", "document": "d", "grade": 1}}\n'
    )
    with pytest.raises(UnreadableError, match="it is a queue; once it is filled in, `rankgauge judge read` makes"):
        open_qrels(queue)


RANKINGS = {"q1": {"d1": 0.9, "d2": 0.5}, "q2": {"d2": 0.1}}


class TestPredictionsOfMteb:
    """`mteb.evaluate(..., prediction_folder=...)` writes rankings below a subset and a split, beside the model."""

    def write(self, tmp_path, **parts):
        path = tmp_path / "SciFact_predictions.json"
        meta = {"model_name": "acme/small", "revision": "1"}
        path.write_text(json.dumps({"mteb_model_meta": meta, **parts}), encoding="utf-8")
        return path

    def test_they_are_a_run_of_the_model(self, tmp_path):
        path = self.write(tmp_path, default={"test": RANKINGS})
        result = rankgauge.evaluate({"q1": {"d2": 1}, "q2": {"d2": 1}}, path, ["RR"])
        assert result["rr"].mean == 0.75  # second, and first
        assert result.manifest["outputs"]["tag"] == "acme/small"

    @pytest.mark.parametrize(
        ("parts", "told"),
        [
            ({}, "it has none"),
            ({"default": {"test": RANKINGS, "dev": RANKINGS}}, "it has several (default/test, default/dev)"),
            ({"de": {"test": RANKINGS}, "en": {"test": RANKINGS}}, "it has several (de/test, en/test)"),
        ],
    )
    def test_one_subset_and_split_is_needed(self, tmp_path, parts, told):
        with pytest.raises(UnreadableError) as caught:
            rankgauge.evaluate({"q1": {"d2": 1}}, self.write(tmp_path, **parts), ["RR"])
        assert told in str(caught.value)

    def test_scores_that_are_none_are_refused(self, tmp_path):
        with pytest.raises(DataError, match="the score must be a number, found the string 'x'"):
            rankgauge.evaluate({"q1": {"d2": 1}}, self.write(tmp_path, default={"test": {"q1": {"d2": "x"}}}), ["RR"])
