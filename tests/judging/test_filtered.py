"""Ranking filters of plugins: where in the policy they stand, what they see, and what is said where they fail."""

import json
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

import rankgauge
from rankgauge import Catalog, Engine, Policy, Result
from rankgauge.config.lock_file import write_lock
from rankgauge.errors import DataError, DeclarationError, PlanError, PolicyError, RankgaugeError
from rankgauge.plugin import ranking_filter
from rankgauge.testing import check_plugin

PAGES = """
    from rankgauge.plugin import hookimpl, ranking_filter

    @ranking_filter("one-per-page", version="4")
    def one_per_page(results, *, most: int = 1):
        \"\"\"Keep the first results of each page.\"\"\"
        pages = [(name or "").partition("#")[0] for name in results.ids]
        return [pages[:place].count(page) < most for place, page in enumerate(pages)]

    @hookimpl
    def rankgauge_ranking_filters():
        return [one_per_page]
"""

RETRIEVED = [
    {"id": "a#1", "score": 4.0},
    {"id": "a#2", "score": 3.0},
    {"id": "a#3", "score": 2.0},
    {"id": "b#1", "score": 1.0},
]
SAMPLE = {"id": "q", "expected_output": ["b#1"], "actual_output": {"retrieved": RETRIEVED}}


@pytest.fixture
def _pages(installed):
    installed.add("page-filters", PAGES, version="2.0")


def declared(function, name="mine", **how):
    made = ranking_filter(name, **how)(function)
    hooks = SimpleNamespace(
        rankgauge_ranking_filters=rankgauge.plugin.hookimpl(specname="rankgauge_ranking_filters")(lambda: [made])
    )
    return Catalog.discover(plugins={"acme": hooks})


def run(sample=SAMPLE, catalog=None, metrics=("RR",), **policy):
    engine = Engine(catalog=catalog) if catalog else Engine()
    return (
        engine.dataset([sample] if isinstance(sample, dict) else sample)
        .with_metrics(list(metrics))
        .with_profile(**policy)
        .run()
    )


@pytest.mark.usefixtures("_pages")
@pytest.mark.parametrize(
    ("filters", "rr"),
    [
        ((), 1 / 4),
        ("one-per-page", 1 / 2),
        (["one-per-page(most=2)"], 1 / 3),
        (["one-per-page(most=2)", "one-per-page"], 1 / 2),
        (["one-per-page(most=1)"], 1 / 2),
    ],
)
def test_ranks_close_up_behind_what_a_filter_drops(filters, rr):
    assert run(filters=filters)["rr"].mean == rr


@pytest.mark.usefixtures("_pages")
def test_depth_and_cutoffs_count_what_stays():
    assert run(metrics=["hit@2"])["hit@2"].mean == 0
    assert run(metrics=["hit@2"], filters=["one-per-page"])["hit@2"].mean == 1
    assert run(metrics=["RR"], filters=["one-per-page"], depth=2)["rr"].mean == 1 / 2


def test_a_filter_sees_the_order_of_ranks_and_is_before_duplicates():
    seen = []

    def mine(results):
        seen.append((list(results.ids), results.scores, results.texts))
        return [True] * len(results.ids)

    items = [{"id": "a", "score": 1}, {"id": "b", "score": 2}, {"id": "a", "score": 3}, {"id": "c", "score": 2}]
    sample = {"id": "q", "expected_output": ["a"], "actual_output": {"retrieved": items}}
    for order, ties in (("given", "docno"), ("score", "docno"), ("score", "given")):
        run(sample, declared(mine), order=order, ties=ties, filters=["mine"])
    orders = [["a", "b", "a", "c"], ["a", "c", "b", "a"], ["a", "b", "c", "a"]]
    assert seen == [(ids, None, None) for ids in orders]


def test_a_filter_sees_the_scores_and_texts_that_it_needs():
    seen = []

    def mine(results):
        seen.append((tuple(results.scores), tuple(results.texts)))
        return np.array([True, False])

    items = [{"id": "a", "score": 1, "text": "low"}, {"id": "b", "score": 2, "text": "high"}]
    sample = {"id": "q", "expected_output": ["a"], "actual_output": {"retrieved": items}}
    result = run(sample, declared(mine, needs=("scores", "texts")), order="score", filters=["mine"])
    assert seen == [((2.0, 1.0), ("high", "low"))]
    assert result["rr"].mean == 0


def test_a_sample_that_lacks_what_a_filter_needs_fails_with_that_reason():
    result = run(SAMPLE, declared(lambda results: [], needs="texts"), max_failed=1, filters=["mine"])
    assert [error.reason for error in result.unscored] == ["policy filter mine needs texts; retrieved[0] has none"]
    assert result["rr"].n_failed == 1


def raising(_results):
    raise SystemExit("no licence")


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (raising, "SystemExit: no licence"),
        (lambda results: [True], "it returned [True] where 4 flags, true for what stays, is needed"),
        (lambda results: results.ids, "where 4 flags"),
        (lambda results: [1, 0, 1, 0], "it returned [1, 0, 1, 0] where 4 flags"),
        (lambda results: None, "TypeError"),
    ],
)
def test_a_filter_that_fails_fails_its_sample_and_names_the_query_of_a_run(function, why):
    catalog = declared(function)
    result = run(SAMPLE, catalog, max_failed=1, filters=["mine"])
    (error,) = result.unscored
    assert error.reason.startswith("policy filter mine (by this process (plugin acme)")
    assert why in error.reason
    scores = {each["id"]: each["score"] for each in RETRIEVED}
    with pytest.raises(DataError, match="query 'q': policy filter mine") as raised:
        rankgauge.evaluate({"q": {"b#1": 1}}, {"q": scores}, "RR", policy={"filters": ["mine"]}, catalog=catalog)
    assert why in str(raised.value)


@pytest.mark.usefixtures("_pages")
def test_stages_and_searches_are_filtered():
    rankings = {"dense": ["a#1", "a#2", "b#1"], "fused": ["a#2", "a#1", "b#1"]}
    stages = [{"name": name, "retrieved": ranking} for name, ranking in rankings.items()]
    sample = {"id": "q", "expected_output": ["b#1"], "actual_output": {"stages": stages}}
    result = run(sample, metrics=["RR", "RR(stage=dense)"], filters=["one-per-page"])
    assert [column.mean for column in result.metrics.values()] == [1 / 2, 1 / 2]
    searched = {"id": "q", "expected_output": ["b#1"], "actual_output": {"searches": [["a#1", "a#2"], ["b#1"]]}}
    assert run(searched, filters=["one-per-page"])["rr"].mean == 1 / 2


@pytest.mark.usefixtures("_pages")
def test_one_sample_alone_and_dictionaries_are_filtered_too():
    policy, catalog = {"filters": ["one-per-page"]}, Catalog.discover()
    evaluation = Engine().dataset([]).with_metrics(["RR"]).with_profile(**policy)
    assert evaluation.score(SAMPLE)["rr"].value == 1 / 2
    scores = {each["id"]: each["score"] for each in RETRIEVED}
    for numbers in (scores, {name: np.float32(score) for name, score in scores.items()}):
        assert (
            rankgauge.evaluate({"q": {"b#1": 1}}, {"q": numbers}, "RR", policy=policy, catalog=catalog)["rr"].mean
            == 1 / 2
        )


@pytest.mark.usefixtures("_pages")
def test_a_unit_is_made_of_what_stays():
    retrieved = ["a#1", "c#1", "a#2", "b#1"]
    sample = {"id": "q", "expected_output": ["b"], "actual_output": retrieved}
    result = run(sample, metrics=["RR(unit=document)"], filters=["one-per-page"])
    assert next(iter(result.metrics.values())).mean == 1 / 3


@pytest.mark.usefixtures("_pages")
def test_fingerprints_cover_the_filter_its_version_and_every_parameter(installed):
    plain, one, two, same = (
        run(filters=filters)["rr"].info.fingerprint
        for filters in ((), ["one-per-page"], ["one-per-page(most=2)"], ["one-per-page(most=1)"])
    )
    assert len({plain, one, two}) == 3
    assert one == same
    with pytest.raises(RankgaugeError, match="filters"):
        rankgauge.compare({"old": run(), "new": run(filters=["one-per-page"])})
    installed.add("newer-filters", PAGES.replace('version="4"', 'version="5"').replace("one-per-page", "one-a-page"))
    assert run(filters=["one-a-page"])["rr"].info.fingerprint not in {plain, one, two}


def test_without_a_filter_nothing_of_a_policy_changes():
    assert "filters" not in Policy().plain()
    assert Policy(filters=[]) == Policy()
    assert "filters" not in str(Policy())
    assert str(Policy(filters=["x(a=1)", "y"])).split(" filters=")[1].startswith("[x(a=1), y]")


@pytest.mark.usefixtures("_pages")
def test_a_saved_result_is_read_again_with_its_filter(tmp_path):
    (tmp_path / "data.jsonl").write_text(json.dumps(SAMPLE), encoding="utf-8")
    evaluation = Engine().dataset(tmp_path / "data.jsonl").with_metrics(["RR"]).with_profile(filters=["one-per-page"])
    evaluation.run().save(tmp_path / "result")
    loaded = Result.load(tmp_path / "result")
    assert loaded.manifest["policy"]["filters"] == ["one-per-page"]
    explanation = loaded.explain("q")
    assert explanation.score == 1 / 2


def test_a_lock_holds_the_filter_and_its_source(installed, tmp_path):
    file = installed.add("page-filters", PAGES, version="2.0")
    (tmp_path / "data.jsonl").write_text(json.dumps(SAMPLE), encoding="utf-8")
    config = tmp_path / "rankgauge.yaml"
    text = "version: 1\ndatasets: {d: {path: data.jsonl}}\nmetrics: {use: [RR]}\npolicy: {filters: one-per-page}\n"
    config.write_text(text, encoding="utf-8")
    engine = Engine.from_config(config)
    assert engine.dataset("d").run()["rr"].mean == 1 / 2
    lock = engine.lock()
    parts = [(part.kind, part.name, part.who) for part in lock.entries[0].parts]
    assert parts[1:] == [("filter", "one-per-page", "page-filters 2.0")]
    write_lock(lock, tmp_path / "rankgauge.lock.yaml")
    config.write_text(text + "plugins: {locked: rankgauge.lock.yaml}\n", encoding="utf-8")
    assert Engine.from_config(config).dataset("d").run()["rr"].mean == 1 / 2
    installed.upgrade(file, "3.0")
    with pytest.raises(PlanError, match=r"page-filters 2.0 provides filter 'one-per-page' of metric 'retrieval-mrr'"):
        Engine.from_config(config).dataset("d").run()


@pytest.mark.usefixtures("_pages")
def test_a_plan_is_sent_with_its_filter():
    plan = Engine().dataset([SAMPLE]).with_metrics(["RR"]).with_profile(filters=["one-per-page(most=2)"]).plan()
    received = pickle.loads(pickle.dumps(plan))  # noqa: S301  # our own
    (each,) = received.profile.policy.filters
    assert str(each) == "one-per-page(most=2)"
    assert each.step.keep(SimpleNamespace(ids=["a#1", "a#2", "a#3"])) == [True, True, False]
    assert received.metrics[0].fingerprint == plan.metrics[0].fingerprint


@pytest.mark.usefixtures("_pages")
@pytest.mark.parametrize(
    ("filters", "message"),
    [
        (["one-per-pag"], r"unknown filter 'one-per-pag' \(did you mean 'one-per-page'\?\)"),
        (["one-per-page(least=1)"], "filter 'one-per-page' has no parameter 'least'; known are most"),
        (["one-per-page(most=few)"], "parameter 'most' of filter 'one-per-page' cannot be 'few'"),
    ],
)
def test_what_cannot_be_planned_is_said_before_anything_is_read(filters, message):
    with pytest.raises(PlanError, match=message):
        run(filters=filters)


@pytest.mark.parametrize("filters", [5, [5], ["a b"], ["a@10"], [{"a": {}}], b"a"])
def test_what_is_no_list_of_filters_is_refused(filters):
    with pytest.raises(PolicyError, match="policy option 'filters' is a list of filters"):
        Policy(filters=filters)


@pytest.mark.parametrize(
    ("needs", "what"),
    [("texts", "texts"), (("scores", "metadata", "sample_metadata"), "metadata, sample metadata"), ("input", "input")],
)
def test_a_run_has_only_ids_and_scores(needs, what):
    catalog = declared(lambda results: [], needs=needs)
    with pytest.raises(PlanError, match=f"policy filter mine needs {what}, and a run has only ids and scores; eval"):
        rankgauge.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "RR", policy={"filters": "mine"}, catalog=catalog)


TENANTS = """
    from rankgauge.plugin import hookimpl, ranking_filter

    @ranking_filter("same-tenant", needs=("metadata", "sample_metadata"))
    def same_tenant(results, *, unless: str = ""):
        \"\"\"Keep results of the tenant who asks.\"\"\"
        wanted = results.sample_metadata.get("tenant")
        return [unless in own.get("tags", []) or own.get("tenant") == wanted for own in results.metadata]

    @hookimpl
    def rankgauge_ranking_filters():
        return [same_tenant]
"""

OWNED = [
    {"id": "a", "metadata": {"tenant": "acme"}},
    {"id": "b", "metadata": {"tenant": "zeta"}},
    {"id": "c", "metadata": {"tags": ["public"]}},
    {"id": "d", "metadata": {"tenant": "zeta"}},
]


def of_zeta(retrieved=OWNED, wanted="d", name="q"):
    outputs = {"retrieved": retrieved}
    return {"id": name, "metadata": {"tenant": "zeta"}, "expected_output": [wanted], "actual_output": outputs}


def test_a_filter_sees_the_metadata_of_results_and_of_their_sample(installed):
    installed.add("tenants", TENANTS)
    asked = {"id": "r", "expected_output": ["d"], "actual_output": {"retrieved": OWNED}}  # of no tenant
    samples = [of_zeta(), asked]
    evaluation = Engine().dataset(samples).with_metrics(["RR"])
    narrowed = evaluation.with_profile(filters="same-tenant")
    assert evaluation.run()["rr"].values.tolist() == [1 / 4, 1 / 4]
    assert narrowed.run()["rr"].values.tolist() == [1 / 2, 0]
    assert narrowed.score(samples[0])["rr"].value == 1 / 2
    public = evaluation.with_profile(filters="same-tenant(unless=public)")
    assert public.run()["rr"].values.tolist() == [1 / 3, 0]
    assert public.run()["rr"].info.fingerprint != narrowed.run()["rr"].info.fingerprint


def test_what_a_filter_sees_is_read_only_and_in_order_of_rank():
    seen = []

    def mine(results):
        seen.append(results)
        results.sample_metadata["tenant"] = "acme"

    retrieved = [{**item, "score": score} for score, item in enumerate(OWNED)]
    sample = {**of_zeta(retrieved), "input": {"question": "why?"}}
    catalog = declared(mine, needs=("metadata", "input", "sample_metadata"))
    result = run(sample, catalog, max_failed=1, order="score", filters=["mine"])
    (error,) = result.unscored
    assert "cannot be changed" in error.reason
    assert [own.get("tenant") for own in seen[0].metadata] == ["zeta", None, "zeta", "acme"]
    assert seen[0].input == {"question": "why?"}
    assert sample["metadata"] == {"tenant": "zeta"}
    with pytest.raises(TypeError, match="cannot be changed"):
        seen[0].metadata[1]["tags"].append("x")


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ({"id": "e"}, "needs metadata; retrieved[1] has none"),
        ({"id": "e", "metadata": None}, "needs metadata; retrieved[1] has none"),
        ({"id": "e", "metadata": "zeta"}, "needs metadata; retrieved[1] has none"),
        (
            {"id": "e", "tenant": "zeta"},
            "needs metadata; retrieved[1] has none; nothing reads 'tenant' of results, which metadata may hold",
        ),
    ],
)
def test_a_result_without_metadata_fails_its_sample_and_one_without_fields_does_not(item, why):
    catalog = declared(lambda results: [own.get("tenant") != "acme" for own in results.metadata], needs="metadata")
    samples = [of_zeta([OWNED[0], item]), of_zeta([{"id": "f", "metadata": {}}], "f", "r")]
    result = run(samples, catalog, max_failed=1, filters=["mine"])
    assert [error.reason for error in result.unscored] == [f"policy filter mine {why}"]
    assert result["rr"].values.tolist() == [0, 1]


def test_the_metadata_of_stages_are_theirs():
    catalog = declared(lambda results: [own["tenant"] == "zeta" for own in results.metadata], needs="metadata")
    stages = [{"name": "dense", "retrieved": [*OWNED[:2], OWNED[3]]}, {"name": "fused", "retrieved": [OWNED[3]]}]
    sample = {"id": "q", "expected_output": ["d"], "actual_output": {"stages": stages}}
    result = run(sample, catalog, metrics=["RR", "RR(stage=dense)"], filters=["mine"])
    assert [column.mean for column in result.metrics.values()] == [1, 1 / 2]


def test_metadata_of_a_parquet_file_and_of_outputs_in_a_file_of_their_own(installed, tmp_path):
    polars = pytest.importorskip("polars")
    installed.add("tenants", TENANTS)
    retrieved = [{"id": item["id"], "metadata": {"tenant": item["metadata"].get("tenant")}} for item in OWNED]
    polars.DataFrame([of_zeta(retrieved)]).write_parquet(tmp_path / "data.parquet")
    (tmp_path / "outputs.jsonl").write_text(json.dumps({"id": "q", "actual_output": {"retrieved": OWNED}}))
    (tmp_path / "data.jsonl").write_text(json.dumps({**of_zeta(), "actual_output": None}))
    for data, outputs in (("data.parquet", None), ("data.jsonl", "outputs.jsonl")):
        evaluation = Engine().dataset(tmp_path / data).with_metrics(["RR"]).with_profile(filters=["same-tenant"])
        if outputs:
            evaluation = evaluation.with_outputs(tmp_path / outputs)
        assert evaluation.run()["rr"].mean == 1 / 2


@pytest.mark.parametrize(
    ("function", "how", "reason"),
    [
        (lambda **_: [], {}, "has to take what was retrieved"),
        (lambda results, most: [], {}, "must be keyword-only"),
        (lambda results, *, most: [], {}, "needs an annotation and a default"),
        (
            lambda results: [],
            {"needs": "ids"},
            "needs 'ids'; it may need scores, texts, metadata, input, sample_metadata",
        ),
    ],
)
def test_a_declaration_that_cannot_be_used_is_refused(function, how, reason):
    with pytest.raises(DeclarationError, match=reason):
        ranking_filter("mine", **how)(function)


@pytest.mark.usefixtures("_pages")
def test_a_profile_may_have_filters():
    catalog = Catalog.discover().with_profiles({"ours": {"policy": {"filters": ["one-per-page"]}}})
    result = Engine(catalog=catalog).dataset([SAMPLE]).with_metrics(["RR"]).with_profile("ours").run()
    assert result["rr"].mean == 1 / 2


def test_plugins_check_tries_it_on_tiny_rankings():
    hookimpl = rankgauge.plugin.hookimpl(specname="rankgauge_ranking_filters")
    assert check_plugin(SimpleNamespace(rankgauge_ranking_filters=hookimpl(lambda: [steady]))).ok
    report = check_plugin(SimpleNamespace(rankgauge_ranking_filters=hookimpl(lambda: [short])))
    assert report.broken == {"short": ("tiny-rankings",)}
    assert "it returned [] where 1 flag" in report["short"]["tiny-rankings"].reason


@pytest.mark.parametrize(("error", "ok"), [(ValueError("no 'tenant'"), True), (KeyError("tenant"), False)])
def test_plugins_check_lets_a_filter_refuse_metadata_without_its_field_in_words(error, ok):
    @ranking_filter("mine", needs="metadata")
    def mine(results):
        for own in results.metadata:
            if "tenant" not in own:
                raise error
        return []

    hookimpl = rankgauge.plugin.hookimpl(specname="rankgauge_ranking_filters")
    assert check_plugin(SimpleNamespace(rankgauge_ranking_filters=hookimpl(lambda: [mine]))).ok == ok


@ranking_filter("steady", needs=("scores", "texts"))
def steady(results):
    """Keep everything."""
    return [True for _ in results.texts]


@ranking_filter("short")
def short(results):
    """Return nothing."""
    return []


SCATTERED = "q1 Q0 d1 1 9 t\nq2 Q0 d1 1 9 t\nq1 Q0 d2 2 8 t\nq1 Q0 d3 3 7 t\nq2 Q0 d2 2 8 t\nq1 Q0 d4 4 6 t\n"

OTHERS = """
    from rankgauge.plugin import hookimpl, ranking_filter

    @ranking_filter("every-other")
    def every_other(results):
        \"\"\"Keep every other rank.\"\"\"
        return [place % 2 == 0 for place, _ in enumerate(results.ids)]

    @hookimpl
    def rankgauge_ranking_filters():
        return [every_other]
"""


@pytest.fixture
def scattered(installed, tmp_path):
    """Return judgments and a run whose queries are not together, and a filter that must see each whole and once."""
    installed.add("others", OTHERS)
    (tmp_path / "run").write_text(SCATTERED, encoding="utf-8")
    (tmp_path / "qrels").write_text("q1 0 d3 1\nq1 0 d1 -1\nq2 0 d1 1\n", encoding="utf-8")
    return tmp_path / "qrels", tmp_path / "run"


def test_what_reads_a_run_again_filters_whole_rankings(scattered, tmp_path):
    qrels, run_file = map(str, scattered)
    policy, catalog = {"filters": ["every-other"]}, Catalog.discover()
    for given in (run_file, {"q1": {"d1": 9.0, "d2": 8.0, "d3": 7.0, "d4": 6.0}, "q2": {"d1": 9.0, "d2": 8.0}}):
        result = rankgauge.evaluate(qrels, given, ["RR", "unjudged@2"], policy=policy, catalog=catalog)
        assert result["rr"].values.tolist() == [1 / 2, 1]
        assert [rank.id for rank in result.explain("q1").ranks] == ["d1", "d3"]
        assert result.condensed()["rr"].values.tolist() == [1, 1]  # -1 says that d1 is not judged
        assert result.bounds()["rr"].worst == 3 / 4
    result.save(tmp_path / "of-dictionaries")
    rankgauge.evaluate(qrels, run_file, "RR", policy=policy, catalog=catalog).save(tmp_path / "result")
    assert Result.load(tmp_path / "result").explain("q1").score == 1 / 2


def test_a_metric_that_sees_ids_of_a_run_sees_what_stays(scattered):
    seen = []

    @rankgauge.plugin.sample_metric("seen-ids", needs="ids", range=(0, None))
    def seen_ids(ranking):
        """Look at ids."""
        seen.append(ranking.seen.ids)
        return 0.0

    policy, catalog = {"filters": ["every-other"]}, Catalog.discover()
    rankgauge.evaluate(*map(str, scattered), [seen_ids], policy=policy, catalog=catalog)
    assert seen == [("d1", "d3"), ("d1",)]
