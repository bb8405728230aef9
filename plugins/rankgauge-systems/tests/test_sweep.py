"""`systems index` and `systems sweep`, over SQLite."""

import hashlib
import json
import shutil

import pytest

from rankgauge import Result
from rankgauge_systems.engines import ENDS_IN_TIE
from rankgauge_systems.sweep_points import exact_changes, halves, points_of
from sea_documents import needs, write

SQLITE = {"kind": "sqlite", "path": "sea.db"}
SWEEP = {"k": [1, 2], "operator": ["or", "and"]}


@pytest.fixture
def sweep(config, rankgauge, folder):
    """Return a function that loads the documents and sweeps."""

    def run(*more, system=SQLITE, sweep=SWEEP, output="sw", **config_more):
        path = config(system=system, sweep=sweep, **config_more)
        rankgauge("systems", "index", path, folder / "corpus.jsonl")
        return rankgauge("systems", "sweep", path, "-o", folder / output, *more)

    return run


class TestIndex:
    def test_it_says_how_many(self, config, rankgauge, folder):
        done = rankgauge("systems", "index", config(system=SQLITE), folder / "corpus.jsonl")
        assert (done.code, done.out.startswith("loaded 5 documents into sqlite in ")) == (0, True)
        assert (
            rankgauge("systems", "index", folder / "c.yaml", folder / "corpus.jsonl", "--json").json["documents"] == 5
        )

    def test_it_says_which_have_an_embedding_of_zeros(self, config, rankgauge, folder):
        needs("duckdb")
        source = "import letters\n\n\ndef embed(texts):\n"
        source += "    return [[0.0] * 64 if 'salt' in text else letters.embed([text])[0] for text in texts]\n"
        (folder / "zeros.py").write_text(source, encoding="utf-8")
        system = {"kind": "duckdb", "path": "d.duckdb", "by": "vectors", "embed": "zeros.py:embed"}
        done = rankgauge("systems", "index", config(system=system), folder / "corpus.jsonl")
        assert done.out.startswith("loaded 4 documents into duckdb in ")
        told = "1 document cannot be found by vectors, because the embedding is all zeros: salt"
        assert told in done.err
        again = rankgauge("systems", "index", folder / "c.yaml", folder / "corpus.jsonl", "--json").json
        assert (again["documents"], again["zeros"]) == (4, ["salt"])
        done = rankgauge("run", folder / "c.yaml")
        assert "the embedding of the question is all zeros" in done.err + done.out

    def test_a_run_counts_rankings_that_end_inside_a_tie(self, config, rankgauge, folder):
        write(folder / "corpus.jsonl", [{"id": name, "text": "the sea and the moon"} for name in "cab"])
        path = config(system={**SQLITE, "k": 2})
        rankgauge("systems", "index", path, folder / "corpus.jsonl")
        done = rankgauge("run", path, "-o", folder / "r")
        assert f"the system says of 2 samples (q1, q3): {ENDS_IN_TIE}" in done.err + done.out

    def test_a_system_that_cannot_be_loaded(self, config, rankgauge, folder):
        path = config(system={"kind": "http", "url": "http://localhost"})
        done = rankgauge("systems", "index", path, folder / "corpus.jsonl")
        assert done.code == 2
        assert "a system of the kind 'http' cannot be loaded with documents" in done.err

    def test_a_config_without_a_system(self, folder, rankgauge):
        (folder / "none.yaml").write_text("version: 1\n", encoding="utf-8")
        done = rankgauge("systems", "index", folder / "none.yaml", folder / "corpus.jsonl")
        assert done.code == 2
        assert "has no system under test" in done.err


class TestPoints:
    def test_the_last_option_of_a_grid_changes_fastest(self):
        assert [point.name for point in points_of(SWEEP)] == [
            "k=1 operator=or",
            "k=1 operator=and",
            "k=2 operator=or",
            "k=2 operator=and",
        ]

    def test_points_of_a_list_may_differ_and_count_once(self):
        points = points_of([{"k": 1}, {"k": 1}, {"fuse.weights": {"a": 2}}])
        assert [point.name for point in points] == ["k=1", 'fuse.weights={"a": 2}']
        assert len({point.folder for point in points}) == 2

    def test_halves_are_parts_of_all_and_the_same_each_time(self):
        names = [f"q{number}" for number in range(101)]
        chosen, held = halves(names, 0.5, 0)
        assert (len(chosen), sorted([*chosen, *held])) == (50, list(range(101)))
        assert halves(names, 0.5, 0) == (chosen, held)
        assert halves(names, 0.5, 1) != (chosen, held)
        assert [len(part) for part in halves(names[:2], 0.999, 0)] == [1, 1]

    @pytest.mark.parametrize(
        ("kind", "options", "changes"),
        [
            ("qdrant", {"ef": 9, "k": 3}, {"ef": None, "exact": True}),
            ("elasticsearch", {"by": "vectors", "candidates": 9}, {"candidates": 100, "exact": True}),
            ("postgres", {"by": "words"}, {}),
            ("postgres", {"by": "vectors", "probes": 2}, {"probes": None, "exact": True}),
            ("chroma", {"ef": 3}, {}),
            ("sqlite", {}, {}),
            ("acme", {}, {}),
            (
                "pipeline",
                {"search": {"a": {"kind": "sqlite"}, "b": {"kind": "lancedb", "nprobes": 2}}},
                {"search.b.nprobes": None, "search.b.exact": True},
            ),
        ],
    )
    def test_what_makes_a_search_exact(self, kind, options, changes):
        assert exact_changes(kind, options) == changes


class TestSweep:
    def test_every_point_is_a_result(self, sweep, folder):
        """
        Of the four questions the first two have `sea` and `salt`; asked for all their words nothing is found, but for
        the last, whose *und* is in no document.
        """
        done = sweep("--json")
        assert done.code == 0
        told = done.json
        means = {tuple(point["options"].values()): point["metrics"]["mrr"]["mean"] for point in told["points"]}
        assert means[1, "and"] == means[2, "and"] == 0
        assert 0 < means[1, "or"] <= means[2, "or"] <= 1
        for point in told["points"]:
            result = Result.load(folder / "sw" / point["folder"])
            assert result["mrr"].mean == point["metrics"]["mrr"]["mean"]
            options = result.manifest["outputs"]["options"]
            assert options == {"path": "sea.db", **point["options"]}

    def test_the_table_marks_what_no_other_beats(self, sweep):
        done = sweep("--cost", "latency_p50")
        assert "4 points: recall@2 against latency_p50" in done.out
        assert done.out.count("best for its cost") >= 1
        assert "the best of 4 points is flattered by chance; --holdout" in done.out

    def test_what_is_there_is_not_asked_again(self, sweep, folder):
        sweep()
        (folder / "sea.db").unlink()
        shutil.copy(folder / "corpus.jsonl", folder / "sea.db")  # no database: a call would fail
        before = {path: path.read_bytes() for path in (folder / "sw").rglob("summary.json")}
        from rankgauge.cli import call

        assert call(["systems", "sweep", str(folder / "c.yaml"), "-o", str(folder / "sw")]) == 0
        assert {path: path.read_bytes() for path in (folder / "sw").rglob("summary.json")} == before

    def test_results_of_other_options_are_refused(self, sweep, folder):
        sweep()
        done = sweep(system={**SQLITE, "title_weight": 3})
        assert done.code == 2
        assert "outputs.options.title_weight was None and is 3" in done.err
        assert "(a run of something else needs another folder)" in done.err
        done = sweep("-m", "ndcg@2")
        assert "config.metrics.use had recall@2, mrr, and no longer has" in done.err

    def test_results_of_another_policy_are_refused(self, sweep):
        sweep()
        done = sweep(policy={"depth": 1})
        assert (done.code, "policy.depth was None and is 1" in done.err) == (2, True)

    def test_a_sweep_of_some_samples_goes_on_with_the_others(self, sweep, folder):
        def asked():
            return [path.read_text().count("\n") for path in sorted((folder / "sw").glob("*/outputs.jsonl"))]

        assert {point["metrics"]["mrr"]["n"] for point in sweep("--json", "--limit", "1").json["points"]} == {1}
        first = {path: path.read_text() for path in (folder / "sw").glob("*/outputs.jsonl")}
        assert {point["metrics"]["mrr"]["n"] for point in sweep("--json").json["points"]} == {4}
        assert asked() == [4] * 4
        assert all(path.read_text().startswith(kept) for path, kept in first.items())  # not asked for again
        done = sweep("--limit", "2")
        assert (done.code, "is a result of all samples, and the limit is 2" in done.err) == (2, True)

    def test_calls_that_failed_are_made_again(self, config, rankgauge, folder, server):
        server.script = lambda *asked: (500, "starting")
        path = config(system={"kind": "http", "url": server.url}, sweep={"k": [1]})
        assert rankgauge("systems", "sweep", path, "-o", folder / "x").code == 3
        server.script = lambda *asked: (200, ["tides"])
        done = rankgauge("systems", "sweep", path, "-o", folder / "x", "--json")
        assert (done.code, done.json["points"][0]["metrics"]["mrr"]["mean"]) == (0, 0.25)

    def test_the_best_is_chosen_on_one_half_and_told_of_the_other(self, sweep):
        done = sweep("--holdout", "--json")
        held = done.json["holdout"]
        assert (held["n_chosen"], held["n_held"]) == (2, 2)
        assert held["options"]["operator"] == "or"
        assert "on the other 2 it has" in sweep("--holdout").out

    def test_failing_calls_make_it_incomplete(self, sweep, config, rankgauge, folder):
        path = config(system={"kind": "http", "url": "http://127.0.0.1:9", "timeout": 5}, sweep={"k": [1]})
        done = rankgauge("systems", "sweep", path, "-o", folder / "x")
        assert done.code == 3
        assert "incomplete, with more failed calls than max_failed allows: k=1" in done.err

    @pytest.mark.parametrize(
        ("changes", "told"),
        [
            ({"sweep": {}}, "the config has no `sweep`"),
            ({"metrics": {"use": []}}, "it names no metric"),
            ({"sweep": {"kk": [1]}}, "sweep.kk[0]"),
            ({"sweep": {"k": [1, 0]}}, "sweep.k[1]"),
            ({"datasets": {}}, "has 0 datasets; name one with --dataset"),
        ],
    )
    def test_what_is_wrong_is_said_before_anything_is_called(self, config, rankgauge, folder, changes, told):
        path = config(**({"system": SQLITE, "sweep": SWEEP} | changes))
        done = rankgauge("systems", "sweep", path, "-o", folder / "sw")
        assert (done.code, (folder / "sw").exists() and any((folder / "sw").iterdir())) == (2, False)
        assert told in done.err

    def test_the_cost_may_be_a_metric_of_the_config(self, sweep):
        done = sweep("--cost", "latency_p95", "--json", metrics={"use": ["mrr", "latency_p95", "recall@2"]})
        assert done.code == 0
        assert (done.json["metric"], done.json["cost"]) == ("mrr", "latency_p95")
        assert list(done.json["points"][0]["metrics"]) == ["mrr", "recall@2", "latency_p50", "latency_p95"]

    @pytest.mark.parametrize(
        ("more", "told"),
        [
            (("--choose-on", "0.3"), "--choose-on is about the part on which the best point is chosen"),
            (("--seed", "3"), "--seed is about the part"),
            (("--holdout", "--choose-on", "2"), "takes a share between 0 and 1"),
            (("--cost", "recall@2"), "--cost is what recall@2 is weighed against; name another column"),
        ],
    )
    def test_options_that_say_nothing_are_refused(self, sweep, more, told):
        done = sweep(*more)
        assert (done.code, told in done.err) == (2, True)

    def test_an_engine_that_cannot_be_exact(self, sweep):
        assert "the system cannot search exactly" in sweep("--exact").err


def test_the_share_of_an_exact_search(sweep, folder):
    """An index of four parts, one of which is looked at, finds less than all of them."""
    needs("lancedb")
    texts = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(400)]
    rows = [{"id": f"d{number}", "text": text} for number, text in enumerate(texts)]
    (folder / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    system = {
        "kind": "lancedb",
        "path": "lance",
        "embed": "letters.py:embed",
        "index_kind": "ivf_flat",
        "partitions": 8,
    }
    done = sweep("--exact", "--json", system=system, sweep={"nprobes": [1, 8]})
    one, all_of_them = (point["index_recall"] for point in done.json["points"])
    assert list(one) == ["1", "10"]
    assert one["10"]["mean"] < all_of_them["10"]["mean"] == 1
    assert "of exact 10" in sweep("--exact", system=system, sweep={"nprobes": [1, 8]}).out
