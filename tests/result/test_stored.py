"""Results as JSON objects: equal after a round trip on every road, in one form with result folders, refused if odd."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given

import rankgauge
from rankgauge import Catalog, Engine, HostScorer, Result, compare, judge_gates, load_baseline, save_baseline
from rankgauge.errors import DataError, ParameterError, ResultError, SampleRefusedError
from rankgauge.plugin import (
    Cutoff,
    GateFinding,
    GoldItem,
    aggregate,
    gate_kind,
    gold_kind,
    hookimpl,
    run_metric,
    sample_metric,
)
from roads import filters
from roads.case import cases
from roads.road import as_mappings


@aggregate("second-lowest")
def second_lowest(values):
    """Return the second lowest value."""
    return values[min(1, len(values) - 1)]


@sample_metric("stored-depth", aggregate="second-lowest", range=(0, None))
def depth(ranking):
    """Count what was retrieved."""
    return float(ranking.depth)


@run_metric("stored-distinct-at-k", short=("stored-distinct",), range=(0.0, None))
def distinct(rankings, *, k: Cutoff) -> float | None:
    """Count the different ids in the first results of all samples."""
    return float(len({name for ranking in rankings for name in ranking}))


@gold_kind("stored-facts", matcher="keyword")
def facts(raw):
    """Facts by their weight."""
    return [GoldItem(text, text, weight) for text, weight in raw.items()]


@gate_kind("median_at_least")
def median_at_least(values, number):
    """The middle score is at least a number."""
    middle = float(np.median(values))
    return GateFinding("passed" if middle >= number else "missed", f"the median is {middle:.2f}", middle)


PLUGIN = SimpleNamespace(
    __name__="stored",
    rankgauge_metrics=hookimpl(lambda: [depth, distinct]),
    rankgauge_aggregates=hookimpl(lambda: [second_lowest]),
    rankgauge_gold_kinds=hookimpl(lambda: [facts]),
    rankgauge_gate_kinds=hookimpl(lambda: [median_at_least]),
)
CATALOG = Catalog.discover(own_only=True, plugins={"stored": PLUGIN})
OWN = Catalog.discover(own_only=True)
FILTERS = Catalog.discover(own_only=True, plugins={"filters": filters})


@pytest.fixture
def nothing_installed(monkeypatch):
    """Let every look for installed plugins fail."""

    def refused(*_, **__):
        raise AssertionError("installed plugins were looked for")

    monkeypatch.setattr(Catalog, "installed", refused)
    monkeypatch.setattr(Catalog, "discover", refused)


def through_json(result, **how):
    """Return a result after a round trip through the text of strict JSON, whose keys a database may sort."""
    return type(result).from_dict(json.loads(json.dumps(result.to_dict(), allow_nan=False, sort_keys=True)), **how)


def bits(array):
    return None if array is None else (array.dtype, array.shape, array.tobytes())


def shown(result):
    """Return everything that a result shows, to the last bit."""
    columns = {
        name: (
            column.info,
            bits(column.values),
            bits(column.codes),
            bits(column.repeats),
            bits(column.clusters),
            dict(column.reasons),
            column.rankings,
            None if column.details is None else json.dumps(column.details, sort_keys=True),
            (column.mean, column.failure, column.counts, column.std, column.interval_found(0.9), column.broken),
        )
        for name, column in result.metrics.items()
    }
    whole = (result.sample_ids, result.tags, result.notes, result.manifest, bits(result.gold_keys))
    told = (result.texts, result.listed, result.unscored, result.errors, result.incomplete_because, repr(result))
    return list(columns), columns, whole, told, result.per_sample.to_dicts()


SAMPLES = [
    {
        "id": "q1",
        "input": {"question": "Which oven?", "turns": [1, None]},
        "expected_output": {"relevant": {"d1": 2, "d9": 1}},
        "actual_output": {"retrieved": [{"id": "d3", "score": 0.9}, {"id": "d1", "text": "An oven."}]},
        "metadata": {"tags": ["de", "legal"], "customer": "a"},
    },
    {"id": "é", "expected_output": {"relevant": {}}, "actual_output": ["d1"], "metadata": {"customer": "b"}},
    {"id": "lost", "expected_output": ["d1"], "metadata": {"tags": ["de"], "customer": "b"}},
    {
        "id": "broken",
        "expected_output": ["d1"],
        "actual_output": {"retrieved": "no list"},
        "metadata": {"customer": "c"},
    },
]
"""Scored, undefined, missing and failed."""


def of_samples(metrics=("ndcg@3", "RR", "recall@5"), samples=SAMPLES, catalog=OWN, **how):
    return Engine(catalog=catalog).dataset(samples).with_metrics(list(metrics)).run(**how)


def called_repeatedly():
    samples = [{"id": f"q{number}", "expected_output": ["d1"]} for number in range(3)]
    outputs = [
        {"id": f"q{number}", "actual_output": answer, "repeat": repeat}
        for number, answers in enumerate([(["d1"], ["d3", "d1"]), (["d3"], None), (["d3", "d1"], ["x", "y", "d1"])])
        for repeat, answer in enumerate(answers, 1)
    ]
    return Engine(catalog=OWN).dataset(samples).with_metrics(["RR", "hit@1"]).run(outputs=outputs)


def of_run():
    qrels = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}, "q3": {"d": 0}}
    return rankgauge.evaluate(qrels, {"q1": {"a": 1.0, "x": 2.0}, "q3": {"d": 1.0}}, ["nDCG@10", "AP"], catalog=OWN)


def of_plugins():
    gold = {"stored-facts": {"oven": 2, "pump": 1}}
    retrieved = [[{"id": "a", "text": "An oven."}], [{"id": "b", "text": "A pump."}, {"id": "a", "text": "An oven."}]]
    samples = [
        {"id": f"q{number}", "expected_output": {**gold, "relevant": ["a"]}, "actual_output": {"retrieved": items}}
        for number, items in enumerate(retrieved)
    ]
    metrics = ["stored-depth", "stored-distinct@2", {"metric": "ndcg(gold=stored-facts)@5", "as": "ndcg@5"}]
    return of_samples(metrics, samples, CATALOG)


MADE = {
    "samples": of_samples,
    "samples with details": lambda: of_samples(details=True),
    "samples with texts": lambda: of_samples().with_texts(),
    "samples with the worst": lambda: of_samples().with_worst("RR", 2),
    "clusters": lambda: of_samples().with_clusters({"q1": "a", "é": "b", "lost": "b", "broken": "c"}),
    "a cohort": lambda: of_samples().by_tag()["de"],
    "a budget": lambda: of_samples(["recall@10tok"]),
    "no sample": lambda: of_samples().take([]),
    "repeated calls": called_repeatedly,
    "a run": of_run,
    "a run, cut": lambda: of_run().take([0, 2]),
    "plugins": of_plugins,
    "scores of another tool": lambda: rankgauge.load_scores({"q1": {"ndcg": 0.5}, "q2": {"ndcg": 0.25}}, name="b")["b"],
}


GIVEN = {"scores of another tool"}
"""They have no data, which a folder names."""


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_a_result_is_equal_after_a_round_trip_through_json(made):
    result = made()
    assert shown(through_json(result, catalog=CATALOG)) == shown(result)


@pytest.mark.parametrize("name", [name for name in MADE if name not in {"samples with the worst", "no sample", *GIVEN}])
def test_a_folder_and_an_object_hold_the_same(tmp_path, name):
    """Of the worst samples a folder has the reports alone."""
    loaded = Result.load(MADE[name]().save(tmp_path / "out"), catalog=CATALOG)
    assert shown(through_json(loaded, catalog=CATALOG)) == shown(loaded)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    stored = loaded.to_dict()
    assert {key: stored[key] for key in manifest} == manifest


@given(case=cases())
def test_drawn_runs_are_equal_after_a_round_trip(case):
    qrels, run = as_mappings(case)
    try:
        result = rankgauge.evaluate(qrels, run, case.metrics, profile=case.profile, catalog=FILTERS)
    except (DataError, SampleRefusedError):  # the policy refuses it
        return
    assert shown(through_json(result)) == shown(result)


def test_scores_are_what_a_reader_of_json_expects():
    """Found at rank 2: RR is 1/2; the second has nothing relevant, the third no output, the fourth one that is none."""
    stored = json.loads(json.dumps(of_samples(["RR"]).to_dict(), allow_nan=False))
    assert stored["per_sample"]["sample_id"] == ["q1", "é", "lost", "broken"]
    assert stored["per_sample"]["rr"] == [0.5, None, 0.0, 0.0]
    assert stored["per_sample"]["rr_status"] == ["scored", "undefined", "missing", "failed"]
    assert stored["per_sample"]["tags"] == [["de", "legal"], [], ["de"], []]
    assert [(error["sample_id"], error["status"]) for error in stored["errors"]] == [
        ("é", "undefined"),
        ("lost", "missing"),
        ("broken", "failed"),
    ]
    assert all(error["reason"] for error in stored["errors"])
    assert all(len(key) == 16 and int(key, 16) < 2**64 for key in stored["per_sample"]["gold_key"])


def test_what_json_has_no_value_for_is_kept_as_it_prints():
    samples = [
        {
            "id": "q",
            "input": {"at": complex(1, 2), "or": float("nan")},
            "expected_output": ["a"],
            "actual_output": ["a"],
        }
    ]
    stored = of_samples(["RR"], samples).with_texts().to_dict()
    assert stored["texts"] == [{"input": {"at": "(1+2j)", "or": None}, "retrieved": [{"id": "a", "text": None}]}]


def test_a_text_that_is_no_unicode_is_refused():
    samples = [{"id": "q", "input": "\ud800", "expected_output": ["a"], "actual_output": ["a"]}]
    with pytest.raises(ResultError, match="the result cannot be stored as JSON: str is not valid UTF-8"):
        of_samples(["RR"], samples).with_texts().to_dict()


class TestRefused:
    def test_the_form_of_another_version(self):
        stored = of_samples().to_dict() | {"schema_version": "rankgauge.result.v2"}
        said = "has the schema 'rankgauge.result.v2'; this version reads 'rankgauge.result.v1'"
        with pytest.raises(ResultError, match=said):
            Result.from_dict(stored)

    @pytest.mark.parametrize("data", [None, [], "{}", {}, {"schema_version": 1}])
    def test_what_is_no_result(self, data):
        with pytest.raises(ResultError, match="the stored result has the schema"):
            Result.from_dict(data)

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (lambda stored: stored.pop("metrics"), "the result lacks 'metrics'"),
            (lambda stored: stored.pop("errors"), "the result lacks 'errors'"),
            (lambda stored: stored["per_sample"].pop("rr"), "KeyError: 'rr'"),
            (lambda stored: stored["per_sample"]["rr"].pop(), "does not have one value for each sample"),
            (lambda stored: stored["per_sample"]["tags"].pop(), "does not have one value for each sample"),
            (lambda stored: stored["details"]["rr"].pop(), "does not have one value for each sample"),
            (lambda stored: stored["per_sample"]["rr"].__setitem__(0, "0.5"), "a score of 'rr' is no number"),
            (lambda stored: stored["per_sample"]["rr"].__setitem__(0, True), "a score of 'rr' is no number"),
            (lambda stored: stored["per_sample"]["rr"].__setitem__(0, 1e200), "a score of 'rr' is beyond"),
            (lambda stored: stored["per_sample"]["rr_status"].__setitem__(0, "fine"), "not in tuple"),
            (lambda stored: stored["per_sample"]["gold_key"].__setitem__(0, "no"), "invalid literal"),
            (lambda stored: stored["per_sample"]["sample_id"].__setitem__(0, "é"), "a sample is in it twice"),
            (lambda stored: stored["per_sample"]["sample_id"].__setitem__(0, 1), "a sample id cannot be"),
            (lambda stored: stored["errors"][0].pop("reason"), "'errors' of the result lacks 'reason'"),
            (lambda stored: stored["errors"][0].update(sample_id="who"), "KeyError: 'who'"),
            (lambda stored: stored["metrics"][1].update(k="3"), "'k' of 'metrics' of the result cannot be '3'"),
            (lambda stored: stored["metrics"][1].update(newer=1), "which a later version of rankgauge wrote"),
            (lambda stored: stored["policy"].update(max_failed="all"), "'policy.max_failed' of the manifest"),
            (lambda stored: stored["texts"].pop(), "there are texts of 3 samples for 4"),
            (lambda stored: stored["texts"][0]["retrieved"][0].update(id=3), "'id' of .* cannot be 3"),
            (lambda stored: stored.update(notes="none"), "'notes' of the result cannot be 'none'"),
        ],
    )
    def test_what_is_damaged(self, change, said):
        stored = json.loads(json.dumps(of_samples(["ndcg@3", "RR"], details=True).with_texts().to_dict()))
        change(stored)
        with pytest.raises(ResultError, match=f"not a stored result that can be read: .*{said}"):
            Result.from_dict(stored)


@pytest.mark.usefixtures("nothing_installed")
class TestCatalog:
    """A service with a catalog of its own never looks for installed plugins."""

    def test_aggregates_are_those_of_the_catalog_of_who_reads(self, tmp_path):
        """Depths 1 and 2: the second lowest is 2; the ids retrieved within the first two are a and b."""
        result = of_plugins()
        for found in (
            through_json(result, catalog=CATALOG),
            Result.load(result.save(tmp_path / "out"), catalog=CATALOG),
        ):
            assert found["stored-depth"].mean == 2.0
            assert found["stored-distinct@2"].mean == 2.0
            assert found.take([0])["stored-depth"].mean == 1.0

    def test_what_the_catalog_lacks_is_said_and_nothing_else_is_looked_through(self):
        found = through_json(of_plugins(), catalog=OWN)
        assert (found["stored-depth"].mean, found["stored-distinct@2"].mean) == (None, None)
        assert "second-lowest" in found["stored-depth"].failure
        assert found["ndcg@5"].mean == of_plugins()["ndcg@5"].mean

    def test_a_baseline_has_it_too(self, tmp_path):
        path = save_baseline({"data": of_plugins()}, tmp_path / "main.json")
        assert load_baseline(path, catalog=CATALOG)["data"]["stored-depth"].mean == 2.0
        folder = of_plugins().save(tmp_path / "out")
        (loaded,) = load_baseline(folder, catalog=CATALOG).values()
        assert loaded["stored-depth"].mean == 2.0

    def test_gates_of_a_kind_are_looked_up_in_it(self):
        gate = "ndcg@5 median_at_least 0.2"
        result = of_plugins()
        assert result.gate(gate, catalog=CATALOG).exit_code == 0
        assert through_json(result, catalog=CATALOG).gate(gate).exit_code == 0
        assert judge_gates(through_json(result), gate, catalog=CATALOG).exit_code == 0
        with pytest.raises(ParameterError, match="is not a gate"):
            through_json(result, catalog=OWN).gate(gate)

    def test_data_are_read_again_with_it(self, tmp_path):
        folder = of_plugins().save(tmp_path / "out", keep_data=True)
        loaded = Result.load(folder, catalog=CATALOG)
        assert loaded.explain("q0", "ndcg@5").score == loaded["ndcg@5"].values[0]
        assert [sample.id for sample in loaded.samples()] == ["q0", "q1"]
        assert loaded.with_clusters({"q0": 1, "q1": 2})["ndcg@5"].clusters.tolist() == [0, 1]

    def test_results_are_compared_with_it(self, tmp_path):
        folder = of_plugins().save(tmp_path / "out", keep_data=True)
        both = {"one": Result.load(folder, catalog=CATALOG), "two": Result.load(folder, catalog=CATALOG)}
        assert compare(both)["two"]["ndcg@5"].difference == 0.0
        plain = {name: through_json(result) for name, result in both.items()}
        assert compare(plain, catalog=CATALOG)["two"]["ndcg@5"].difference == 0.0

    def test_a_scorer_is_made_with_it(self, tmp_path):
        scorer = HostScorer(metrics="stored-depth", catalog=CATALOG)
        assert scorer.score(expected=["a"], retrieved=["a", "b"])["stored-depth"].value == 2.0
        assert scorer.aggregated([3.0, 1.0, 2.0]) == 2.0
        config = tmp_path / "rankgauge.yaml"
        config.write_text("version: 1\nmetrics: {use: [stored-depth]}\n", encoding="utf-8")
        assert HostScorer(config=str(config), catalog=CATALOG).column.name == "stored-depth"


def test_scorers_with_other_catalogs_are_told_apart():
    assert HostScorer(metrics="stored-depth", catalog=CATALOG).column.range == (0, None)
    with pytest.raises(rankgauge.RankgaugeError, match="stored-depth"):
        HostScorer(metrics="stored-depth", catalog=OWN)
    assert "catalog" not in repr(HostScorer(metrics="RR", catalog=OWN))
