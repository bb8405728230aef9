"""Programs that answer lines of JSON, and pipelines of several searches."""

import os
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest

from rankgauge import Engine
from rankgauge.errors import ConfigError, ParameterError
from rankgauge_systems.engines import ENDS_IN_TIE
from rankgauge_systems.pipeline_system import FuseOptions, fused
from sea_documents import write

ECHO = """
    import json, os, sys
    print("ready", file=sys.stderr)
    for line in sys.stdin:
        given = json.loads(line)["input"]
        if given == "die":
            print("no disk", file=sys.stderr)
            sys.exit(3)
        if given == "mumble":
            print("mm")
        else:
            print(json.dumps({"retrieved": [given, str(os.getpid()), os.environ.get("MOOD", "")]}))
        sys.stdout.flush()
"""


@pytest.fixture
def program(folder, config):
    """Return a function that makes a system of a program."""
    systems = []

    def make(source=ECHO, **options):
        (folder / "program.py").write_text(textwrap.dedent(source), encoding="utf-8")
        system = {"kind": "command", "command": [sys.executable, "-u", "program.py"], "folder": ".", **options}
        systems.append(Engine.from_config(config(system=system)).system())
        return systems[-1]

    yield make
    for system in systems:
        system.close()


class TestPrograms:
    def test_one_is_asked_again_as_long_as_it_runs(self, program):
        system = program(environment={"MOOD": "fine"})
        first, second = (system(question)["retrieved"] for question in ("what ist größer?", "b"))
        assert (first[0], first[2]) == ("what ist größer?", "fine")
        assert first[1] == second[1]  # the same process

    def test_calls_at_once_have_one_each_and_get_their_own_answers(self, program):
        system = program()
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(system, map(str, range(40))))
        assert [answer["retrieved"][0] for answer in answers] == list(map(str, range(40)))
        assert len({answer["retrieved"][1] for answer in answers}) <= 4

    def test_one_that_ends_says_how_and_the_next_call_starts_another(self, program):
        system = program()
        with pytest.raises(ValueError, match=r"(?s)ended with exit code 3 and did not answer; it said: .*no disk"):
            system("die")
        assert system("a")["retrieved"][0] == "a"

    def test_a_line_that_is_no_json(self, program):
        with pytest.raises(ValueError, match="answered no line of JSON: 'mm"):
            program()("mumble")

    def test_a_second_line_for_one_call_is_an_error_and_no_answer_to_the_next(self, program):
        system = program("""
            import json, sys
            for line in sys.stdin:
                given = json.loads(line)["input"]
                sys.stdout.write(json.dumps([given]) + ("\\n[1]\\n" if given == "twice" else "\\n"))
                sys.stdout.flush()
        """)
        assert system("a") == ["a"]
        with pytest.raises(ValueError, match=r"more than one line for one call, .* no call asked for '\[1\]'"):
            system("twice")
        assert system("b") == ["b"]  # of another process

    def test_a_line_that_comes_later_is_an_error_of_a_later_call_or_of_the_end(self, program):
        system = program("import sys\nfor line in sys.stdin:\n    print(1, flush=True)\n    print(2, flush=True)\n")
        with pytest.raises((ValueError, ParameterError), match="may be those of other calls"):
            (list(map(system, "x" * 20)), system.close())

    def test_what_one_says_when_its_input_ends_is_no_answer(self, program):
        system = program("import sys\nfor line in sys.stdin:\n    print(1, flush=True)\nprint('bye', flush=True)\n")
        assert [system("x"), system("y")] == [1, 1]
        system.close()

    def test_one_that_is_not_there(self, config):
        system = Engine.from_config(config(system={"kind": "command", "command": ["/no/such/program"]})).system()
        with pytest.raises(ParameterError, match="there is no program /no/such/program"):
            system.check()
        with pytest.raises(FileNotFoundError):
            system("x")

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({"command": ["no-such-program"]}, "there is no program no-such-program"),
            ({"command": ["./program.py"], "folder": "nowhere"}, "there is no folder"),
            ({"command": ["./other.py"]}, r"there is no program \./other\.py"),
        ],
    )
    def test_what_cannot_be_run_is_told_before_any_call(self, program, options, told):
        program().check()
        with pytest.raises(ParameterError, match=told):
            program(**options).check()

    def test_a_signal_to_our_group_does_not_end_it(self, program):
        """Ctrl-C in a terminal reaches the whole group, and a call that is under way may end."""
        source = "import os, sys\nfor line in sys.stdin:\n    print(os.getpgid(0), flush=True)\n"
        assert program(source)("x") != os.getpgid(0)

    def test_one_that_does_not_end_is_ended(self, program, monkeypatch):
        from rankgauge_systems import command_system

        monkeypatch.setattr(command_system, "_GRACE", 0.2)
        source = "import os, sys\nfor line in sys.stdin:\n    print(os.getpid(), flush=True)\nwhile True:\n    pass\n"
        system = program(source)
        process = system("a")
        os.kill(process, 0)  # it runs
        system.close()
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def items(*names, scores=None):
    return [{"id": name} | ({} if scores is None else {"score": scores[name]}) for name in names]


class TestFusion:
    def test_reciprocal_ranks_are_added(self):
        """With k = 60: a gets 1/61 + 1/62, b 1/62 + 1/61, c 1/63, d 1/63; equals stand as they are met."""
        found = fused({"x": items("a", "b", "c"), "y": items("b", "a", "d")}, FuseOptions())
        assert [item["id"] for item in found] == ["a", "b", "c", "d"]
        assert found[0]["score"] == pytest.approx(1 / 61 + 1 / 62)

    def test_weights_and_depth(self):
        how = FuseOptions(weights={"y": 3.0}, depth=2, k=1)
        found = fused({"x": items("a", "b"), "y": items("c", "a")}, how)
        # a: 1/2 + 3/3, c: 3/2
        assert [(item["id"], item["score"]) for item in found] == [("a", 1.5), ("c", 1.5)]

    def test_scores_are_scaled_by_ranking(self):
        """x scales 10, 5, 0 to 1, .5, 0; y scales .2, .1 to 1, 0."""
        x = items("a", "b", "c", scores={"a": 10.0, "b": 5.0, "c": 0.0})
        y = items("b", "d", scores={"b": 0.2, "d": 0.1})
        found = fused({"x": x, "y": y}, FuseOptions(method="scores"))
        assert [(item["id"], item["score"]) for item in found] == [("b", 1.5), ("a", 1.0), ("c", 0.0), ("d", 0.0)]

    def test_scores_are_needed_for_that(self):
        with pytest.raises(ValueError, match="search 'x' gives no scores"):
            fused({"x": items("a"), "y": items("b")}, FuseOptions(method="scores"))

    @pytest.mark.parametrize("method", ["rrf", "scores"])
    def test_an_item_counts_once_in_a_ranking(self, method):
        """Chunks may have the id of their document: a counts at its first rank, b at its second."""
        scores = {"a": 2.0, "b": 1.0}
        once = items("a", "b", scores=scores)
        found = fused({"x": [*once, *once[:1]], "y": once[1:]}, FuseOptions(method=method, k=0))
        gains = {"rrf": {"a": 1.0, "b": 0.5 + 1.0}, "scores": {"a": 1.0, "b": 0.0 + 1.0}}
        assert {item["id"]: item["score"] for item in found} == gains[method]

    def test_nothing_found_anywhere(self):
        assert fused({"x": [], "y": []}, FuseOptions()) == []


@pytest.fixture
def pipeline(folder, config, rankgauge):
    """Return a function that makes a pipeline of two searches, loaded with documents."""
    systems = []
    (folder / "steps.py").write_text(
        textwrap.dedent("""
            def short(given, items):
                return [item for item in items if len(item["text"]) < 70]

            def backwards(given, items):
                return [item["id"] for item in reversed(items)]

            def invented(given, items):
                return ["nothing"]

            def forgotten(given, items):
                items.reverse()
        """),
        encoding="utf-8",
    )

    def make(**options):
        search = {
            "words": {"kind": "sqlite", "path": "words.db", "k": 4},
            "parts": {"kind": "sqlite", "path": "parts.db", "tokenize": "trigram", "k": 4},
        }
        path = config(system={"kind": "pipeline", "search": search, "fuse": {}} | options)
        rankgauge("systems", "index", path, folder / "corpus.jsonl")
        systems.append(Engine.from_config(path).system())
        return systems[-1]

    yield make
    for system in systems:
        system.close()


class TestPipelines:
    def test_every_stage_is_told_with_where_it_came_from(self, pipeline):
        system = pipeline(filter="steps.py:short", rerank={"by": "steps.py:backwards", "depth": 2}, keep=1)
        stages = {stage["name"]: stage for stage in system("moon sea")["stages"]}
        assert list(stages) == ["words", "parts", "fused", "filtered", "reranked", "kept"]
        assert (stages["words"]["from"], stages["fused"]["from"]) == ([], ["words", "parts"])
        names = {name: [item["id"] for item in stage["retrieved"]] for name, stage in stages.items()}
        assert set(names["fused"]) == {*names["words"], *names["parts"]}
        assert names["reranked"] == names["filtered"][:2][::-1]
        assert names["kept"] == names["reranked"][:1]
        assert all(stage["seconds"] >= 0 for stage in stages.values())

    def test_what_a_search_says_of_its_answer_is_said_with_its_name(self, pipeline, folder):
        write(folder / "corpus.jsonl", [{"id": name, "text": "the sea"} for name in "abcdef"])
        output = pipeline()("sea")
        assert output["remarks"] == [f"words: {ENDS_IN_TIE}", f"parts: {ENDS_IN_TIE}"]

    def test_scores_go_where_the_order_is_another(self, pipeline):
        stages = {stage["name"]: stage for stage in pipeline(rerank={"by": "steps.py:backwards"})("moon sea")["stages"]}
        assert all("score" in item for item in stages["fused"]["retrieved"])
        assert not any("score" in item for item in stages["reranked"]["retrieved"])

    def test_a_function_that_invents_documents_is_refused(self, pipeline):
        with pytest.raises(ValueError, match="rerank returned 'nothing', which it was not given"):
            pipeline(rerank={"by": "steps.py:invented"})("moon")
        with pytest.raises(TypeError, match="filter returns items or ids, not None"):
            pipeline(filter="steps.py:forgotten")("moon")

    def test_the_funnel_reads_what_it_tells(self, pipeline, rankgauge, folder):
        pipeline(filter="steps.py:short")
        assert rankgauge("run", folder / "c.yaml", "-o", folder / "r").code == 0
        funnel = rankgauge("funnel", folder / "r", "--json").json
        assert [stage["name"] for stage in funnel["stages"]] == ["words", "parts", "fused", "filtered"]

    @pytest.mark.parametrize(
        ("options", "told"),
        [
            ({"search": {}}, "searches are systems by name"),
            ({"search": {"a": {"kind": "http"}}}, "system.search"),
            ({"search": {"a": {"kind": "pipeline"}}}, "search 'a' needs a kind, one of bm25s"),
            ({"fuse": None}, "fuse goes with two searches or more"),
            ({"fuse": {"weights": {"wrods": 2}}}, "fuse.weights names 'wrods', which is no search"),
            ({"filter": "steps.py"}, "write module:function, or file.py:function"),
        ],
    )
    def test_wrong_options(self, config, options, told):
        search = {"a": {"kind": "sqlite", "path": "a"}, "b": {"kind": "sqlite", "path": "b"}}
        path = config(system={"kind": "pipeline", "search": search, "fuse": {}} | options)
        with pytest.raises(ConfigError) as caught:
            Engine.from_config(path).system()
        assert told in str(caught.value)
