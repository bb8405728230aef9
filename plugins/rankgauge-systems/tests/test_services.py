"""Services over HTTP: what is sent, what is read of answers, and what becomes of those that cannot be used."""

import json
from typing import ClassVar

import httpx
import pytest

from rankgauge import Engine
from rankgauge.errors import ConfigError, ParameterError
from rankgauge_systems.engines import IS_SHORT, Document, Loaded
from rankgauge_systems.http_system import filled

DOCUMENTS = [Document("d1", "Salt", "the sea is salt"), Document("d2", "", "sweet")]
VECTOR_OPTIONS = {"by": "vectors", "embed": "letters.py:embed"}


@pytest.fixture
def made(config, server):
    """Return a function that makes a system which asks the server."""
    systems = []

    def make(kind="http", **options):
        systems.append(Engine.from_config(config(system={"kind": kind, "url": server.url, **options})).system())
        return systems[-1]

    yield make
    for system in systems:
        system.close()


class TestRequests:
    def test_a_post_has_the_question_and_fields_of_the_input(self, made, server):
        server.script = lambda *asked: (200, ["d1"])
        body = {"query": "{question}", "filter": {"tenant": "{tenant}"}, "say": "top {k} of {{all}}", "n": 3}
        made(body=body, k=7, params={"lang": "de"})({"question": "salz & meer", "tenant": 12})
        ((method, path, sent),) = server.requests
        assert (method, path) == ("POST", "/?lang=de")
        assert json.loads(sent) == {"query": "salz & meer", "filter": {"tenant": 12}, "say": "top 7 of {all}", "n": 3}

    def test_a_get_escapes_the_question_in_the_url(self, made, server):
        server.script = lambda *asked: (200, ["d1"])
        made(method="GET", url=f"{server.url}/s/{{question}}", params={"q": "{question}", "k": "{k}"}, k=2)("a/b & c?")
        ((method, path, sent),) = server.requests
        assert (method, sent) == ("GET", "")
        assert path == "/s/a%2Fb%20%26%20c%3F?q=a%2Fb+%26+c%3F&k=2"

    def test_parameters_join_those_of_the_address(self, made, server):
        server.script = lambda *asked: (200, ["d1"])
        made(method="GET", url=f"{server.url}/s?index=a", params={"q": "{question}"})("salt")
        assert server.requests[0][1] == "/s?index=a&q=salt"

    def test_headers_come_from_the_environment(self, made, server, monkeypatch):
        monkeypatch.setenv("SEARCH_KEY", "s3cr3t-value")
        server.script = lambda *asked: (200, ["d1"])
        made(headers={"Authorization": "Bearer ${SEARCH_KEY}"})("x")
        assert server.headers[0]["authorization"] == "Bearer s3cr3t-value"

    def test_a_field_that_the_input_lacks_is_named(self, made):
        with pytest.raises(ParameterError, match=r"the request needs \{tenant\}, and the sample's input has question"):
            made(body={"t": "{tenant}"})("x")

    def test_an_input_without_a_question(self, made):
        with pytest.raises(ParameterError, match=r"needs \{question\}"):
            made(body={"q": "{question}"})({"tenant": 1})

    def test_an_input_without_a_question_for_the_address(self, made, server):
        with pytest.raises(ParameterError, match=r"needs \{question\}, and the sample's input has tenant "):
            made(url=f"{server.url}/s/{{question}}")({"tenant": 1})
        assert server.requests == []

    def test_what_is_no_address_is_refused(self, config):
        with pytest.raises(ConfigError, match=r"system\.url"):
            Engine.from_config(config(system={"kind": "http", "url": "ftp://x"})).system()


class TestAnswers:
    def test_paths_lead_to_results(self, made, server):
        hits = [
            {"_id": 7, "_source": {"body": "the sea"}, "_score": 1.5},
            {"_id": "d2", "_source": {}, "_score": None},
        ]
        server.script = lambda *asked: (200, {"hits": {"hits": hits}, "reply": {"text": "Salt."}})
        paths = {
            "results": "hits.hits[]",
            "id": "_id",
            "text": "_source.body",
            "score": "_score",
            "answer": "reply.text",
        }
        output = made(**paths)("x")
        assert output["retrieved"] == [{"id": "7", "text": "the sea", "score": 1.5}, {"id": "d2"}]
        assert output["answer"] == "Salt."

    def test_an_output_is_taken_as_it_is_with_time_and_bytes(self, made, server):
        server.script = lambda *asked: (200, '{"retrieved": ["d1"], "cost": 2}')
        output = made()("x")
        assert (output["retrieved"], output["cost"], output["bytes"]) == (["d1"], 2, 32)
        assert output["seconds"] > 0

    def test_its_columns_are_metrics(self, config, server):
        server.script = lambda *asked: (200, ["tides", "salt"])
        engine = Engine.from_config(config(system={"kind": "http", "url": server.url, "method": "GET"}))
        system = engine.system()
        metrics = ["mrr", "response_bytes", "latency_p95"]
        result = engine.dataset("sea").with_metrics(metrics).run(sut=system)
        system.close()
        # `tides` is first, `salt` second, and two questions find nothing
        assert (result["mrr"].mean, result["response_bytes"].mean) == (0.375, len('["tides", "salt"]'))
        assert result["latency_p95"].mean > 0

    @pytest.mark.parametrize(
        ("status", "answer", "told"),
        [
            (500, "on fire", "HTTP 500: on fire"),
            (404, {"error": "no index"}, 'HTTP 404: {"error": "no index"}'),
            (200, "<html>", "the answer is not JSON: '<html>'"),
            (200, "3", "the answer is neither an object nor a list"),
            (302, "", "HTTP 302"),
        ],
    )
    def test_others_say_what_came_instead(self, made, server, status, answer, told):
        server.script = lambda *asked: (status, answer)
        with pytest.raises(ValueError, match=told[:30].replace("{", r"\{")):
            made()("x")

    @pytest.mark.parametrize("answer", [{"hits": [], "took": 3}, {"hits": None}, {}, []])
    def test_nothing_is_found(self, made, server, answer):
        server.script = lambda *asked: (200, answer)
        assert made(results="hits[]")("x")["retrieved"] == []

    @pytest.mark.parametrize("answer", [{"hit": [], "took": 3}, {"hits": {"hit": []}, "took": 3}])
    def test_a_path_that_leads_nowhere(self, made, server, answer):
        server.script = lambda *asked: (200, answer)
        with pytest.raises(ValueError, match=r"no list 'hits', which is where results should be; it has hits?, took"):
            made(results="hits[]")("x")

    def test_a_result_without_an_id(self, made, server):
        server.script = lambda *asked: (200, {"hits": [{"name": "d1"}]})
        with pytest.raises(ValueError, match="a result has no 'id'"):
            made(results="hits[]")("x")

    def test_a_server_that_is_not_there(self, config):
        system = Engine.from_config(config(system={"kind": "http", "url": "http://127.0.0.1:9"})).system()
        with pytest.raises(httpx.ConnectError, match="refused"):
            system("x")
        system.close()


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{a}", 5),
        ("x{a}", "x5"),
        ("{{a}}", "{a}"),
        (["{a}", {"b": "{a}{a}"}], [5, {"b": "55"}]),
        ("query { id }", "query { id }"),
        (None, None),
    ],
)
def test_templates(template, value):
    assert filled(template, {"a": 5}) == value


@pytest.mark.parametrize("kind", ["elasticsearch", "opensearch"])
class TestElastic:
    """Recorded forms of requests and answers; no real server was asked."""

    ANSWER: ClassVar = {
        "hits": {"hits": [{"_id": "d1", "_score": 2.5, "_source": {"title": "Salt", "text": "the sea is salt"}}]}
    }

    def test_words(self, made, server, kind):
        server.script = lambda *asked: (200, self.ANSWER)
        output = made(kind, index="pages", k=5, fields=["title^2", "text"])("salt")
        ((method, path, sent),) = server.requests
        assert (method, path) == ("POST", "/pages/_search")
        assert json.loads(sent) == {
            "query": {"multi_match": {"query": "salt", "fields": ["title^2", "text"]}},
            "size": 6,  # one more than are returned shows a tie
            "_source": ["title", "text"],
        }
        assert output["retrieved"] == [{"id": "d1", "score": 2.5, "text": "Salt\nthe sea is salt"}]

    @pytest.mark.parametrize("index", ["logs-*", "_all", "a,b", "*", "a/b"])
    def test_what_may_be_several_indices_is_not_replaced(self, made, server, kind, index):
        with pytest.raises(ParameterError, match="may be several indices; name the one that is replaced"):
            made(kind, index=index).inner.index(DOCUMENTS)
        assert server.requests == []

    def test_a_query_of_ones_own(self, made, server, kind):
        server.script = lambda *asked: (200, self.ANSWER)
        made(kind, query={"match": {"text": {"query": "{question}", "operator": "and"}}}, texts=False)("salt")
        sent = json.loads(server.requests[0][2])
        assert sent["query"] == {"match": {"text": {"query": "salt", "operator": "and"}}}
        assert sent["_source"] is False

    def test_vectors(self, made, server, kind):
        server.script = lambda *asked: (200, self.ANSWER)
        made(kind, **VECTOR_OPTIONS, k=3, candidates=50)("salt")
        made(kind, **VECTOR_OPTIONS, k=3, exact=True)("salt")
        near, exact = (json.loads(sent) for _, path, sent in server.requests if path == "/documents/_search")
        if kind == "elasticsearch":
            assert near["knn"].keys() == {"field", "query_vector", "k", "num_candidates"}
            assert near["knn"]["num_candidates"] == 50
            assert "cosineSimilarity" in exact["query"]["script_score"]["script"]["source"]
        else:
            knn = near["query"]["knn"]["vector"]
            assert (knn["k"], knn["method_parameters"]) == (4, {"ef_search": 50})
            assert exact["query"]["script_score"]["script"]["lang"] == "knn"

    def test_fewer_than_there_are_is_said(self, made, server, kind):
        server.script = lambda method, path, body: (200, {"count": 7} if path.endswith("/_count") else self.ANSWER)
        assert made(kind, **VECTOR_OPTIONS, k=3)("salt")["remarks"] == [IS_SHORT]
        assert json.loads(server.requests[1][2]) == {"query": {"exists": {"field": "vector"}}}
        server.script = lambda method, path, body: (200, {"count": 1} if path.endswith("/_count") else self.ANSWER)
        assert "remarks" not in made(kind, **VECTOR_OPTIONS, k=3)("salt")

    def test_more_results_than_a_search_may_have_are_not_asked_for(self, made, server, kind):
        server.script = lambda *asked: (200, self.ANSWER)
        made(kind, k=10_000)("salt")
        assert json.loads(server.requests[0][2])["size"] == 10_000

    def test_documents_are_loaded_into_a_new_index(self, made, server, kind):
        server.script = lambda method, path, body: (404 if method == "DELETE" else 200, {"errors": False})
        assert made(kind, **VECTOR_OPTIONS, analyzer="german").inner.index(DOCUMENTS) == Loaded(2)
        methods = [(method, path) for method, path, _ in server.requests]
        assert methods == [
            ("DELETE", "/documents"),
            ("PUT", "/documents"),
            ("POST", "/_bulk"),
            ("POST", "/documents/_refresh"),
        ]
        mapping = json.loads(server.requests[1][2])["mappings"]["properties"]
        assert mapping["text"] == {"type": "text", "analyzer": "german"}
        assert mapping["vector"]["type"] == ("dense_vector" if kind == "elasticsearch" else "knn_vector")
        lines = [json.loads(line) for line in server.requests[2][2].splitlines()]
        assert lines[0] == {"index": {"_index": "documents", "_id": "d1"}}
        assert (lines[1]["title"], len(lines[1]["vector"])) == ("Salt", 64)

    def test_refused_documents_are_told(self, made, server, kind):
        refused = {"errors": True, "items": [{"index": {"error": {"reason": "mapper_parsing"}}}]}
        server.script = lambda method, path, body: (200, refused if path == "/_bulk" else {})
        with pytest.raises(ParameterError, match=r"documents were refused: .*mapper_parsing"):
            made(kind).inner.index(DOCUMENTS)

    def test_nothing_to_load(self, made, kind):
        with pytest.raises(ParameterError, match="no document to load"):
            made(kind).inner.index([])

    def test_keys_and_users(self, made, server, kind, monkeypatch):
        monkeypatch.setenv("ES_KEY", "key-of-es")
        server.script = lambda *asked: (200, self.ANSWER)
        made(kind, api_key="${ES_KEY}")("x")
        made(kind, user="me", password="${ES_KEY}")("x")  # noqa: S106  # a variable
        assert server.headers[0]["authorization"] == "ApiKey key-of-es"
        assert server.headers[1]["authorization"].startswith("Basic ")

    def test_a_missing_index_is_told_before_any_call(self, made, server, kind):
        server.script = lambda *asked: (404, {"error": "index_not_found_exception"})
        with pytest.raises(ParameterError, match=r"HTTP 404: .*index_not_found"):
            made(kind).check()

    def test_an_answer_of_another_form(self, made, server, kind):
        server.script = lambda *asked: (200, {"took": 3})
        with pytest.raises(ValueError, match="no hits as a search engine gives them"):
            made(kind)("x")
