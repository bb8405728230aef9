"""Profiles and sets of metrics, in a config and of plugins."""

from types import SimpleNamespace

import pytest

from rankgauge import Catalog, Engine, Result
from rankgauge.engine.reopen import evaluation_of
from rankgauge.errors import ConfigError, DeclarationError, PlanError, PolicyError
from rankgauge.plugin import hookimpl, metric_set, named_profile
from rankgauge.policy import PROFILES

SAMPLE = {"id": "q", "expected_output": {"a": 3, "b": 1}, "actual_output": ["b", "x", "a"]}


@named_profile(
    "acme",
    {
        "extends": "eval-harness",
        "policy": {"no_gold": "undefined"},
        "parameters": {"ndcg": {"gain": "exponential"}, "EM": {"matcher": "exact"}},
        "relevance": 2,
        "contract": {"coerce": False},
    },
)
def acme():
    """Count as Acme's dashboard does."""


@metric_set("acme-nightly", ["ndcg@10", {"metric": "retrieval-recall-at-k", "k": 3}, {"set": "acme-core"}])
def nightly():
    """List what the nightly run reports."""


@metric_set("acme-core", ["MRR", "P_5"])
def core():
    """List what every report has."""


def catalog_of(*, profiles=(), sets=()):
    plugin = SimpleNamespace(
        rankgauge_profiles=hookimpl(lambda: list(profiles), specname="rankgauge_profiles"),
        rankgauge_metric_sets=hookimpl(lambda: list(sets), specname="rankgauge_metric_sets"),
    )
    return Catalog.discover(own_only=True, plugins={"acme": plugin})


@pytest.fixture(scope="module")
def catalog():
    found = catalog_of(profiles=[acme], sets=[nightly, core])
    assert found.faults == ()
    return found


@pytest.fixture
def engine_of(tmp_path, catalog):
    def make(text):
        path = tmp_path / "rankgauge.yaml"
        path.write_text(f"version: 1\n{text}", encoding="utf-8")
        return Engine.from_config(path, catalog=catalog)

    return make


@pytest.fixture
def problems_of(engine_of):
    def found(text):
        with pytest.raises(ConfigError) as caught:
            engine_of(text)
        return [(problem.line, problem.message) for problem in caught.value.problems]

    return found


def specs(entries):
    return [getattr(entry, "spec", entry) for entry in entries]


class TestProfilesOfPlugins:
    def test_one_changes_what_it_says_of_the_one_that_it_extends(self, catalog):
        found, base = catalog.profile("acme"), PROFILES["eval-harness"]
        assert (found.name, found.relevance, found.policy.no_gold) == ("acme", 2, "undefined")
        assert found.policy.with_options({"no_gold": base.policy.no_gold}) == base.policy
        assert found.contract == base.contract._replace(coerce=False)
        assert found.parameters == {
            "retrieval-ndcg-at-k": {"clamp": True, "gain": "exponential"},
            "answer-containment-at-k": {"fold": "lower"},
            "answer-exact-match": {"matcher": "exact"},
        }

    def test_it_is_chosen_by_name_and_results_tell_it(self, catalog, tmp_path):
        evaluation = Engine(catalog=catalog).dataset([SAMPLE]).with_metrics(["ndcg@10", "recall@1"])
        result = evaluation.with_profile("acme").run()
        # Gains of 2**1 - 1 at rank 1 and 2**3 - 1 at rank 3, where the best order has the 7 first.
        assert result["ndcg@10"].mean == pytest.approx((1 + 7 / 2) / (7 + 1 / 1.584962500721156))
        assert result["recall@1"].mean == 0.0  # only grades of 2 are relevant
        assert result.manifest["profile"] == "acme"
        result.save(tmp_path / "run", keep_data=True)
        again = evaluation_of(Result.load(tmp_path / "run"), catalog=catalog).run()
        assert again["ndcg@10"].mean == result["ndcg@10"].mean

    def test_an_unknown_name_is_told_with_all_that_there_are(self, catalog):
        with pytest.raises(
            PolicyError, match=r"unknown profile 'acmee' \(did you mean 'acme'.*known are acme, .*classic"
        ):
            Engine(catalog=catalog).dataset([SAMPLE]).with_profile("acmee")

    def test_a_built_in_profile_cannot_be_replaced(self):
        declared = named_profile("haystack", {})(lambda: None)
        (fault,) = catalog_of(profiles=[declared]).faults
        assert "profile 'haystack' is built in and cannot be replaced" in fault.message

    @pytest.mark.parametrize(
        ("spec", "told"),
        [
            ({"extends": "haystakc"}, "profile 'mine' extends 'haystakc': unknown profile 'haystakc' (did you mean"),
            ({"extends": "mine"}, "profiles extend each other: mine -> mine"),
            ({"policy": {"tie": "average"}}, "unknown policy option 'tie' (did you mean 'ties'?)"),
            ({"parameters": {"ndgc": {}}}, "unknown metric 'ndgc' (did you mean 'ndcg'"),
            ({"parameters": {"ndcg": {"gian": "linear"}}}, "has no parameter 'gian' (did you mean 'gain'?)"),
            ({"parameters": {"EM": {"matcher": "exct"}}}, "unknown matcher 'exct' (did you mean 'exact'"),
        ],
    )
    def test_one_that_cannot_be_used_says_why_when_it_is_asked_for(self, spec, told):
        catalog = catalog_of(profiles=[named_profile("mine", spec)(lambda: None)])
        with pytest.raises(PolicyError) as caught:
            catalog.profile("mine")
        assert told in str(caught.value)

    @pytest.mark.parametrize(
        ("spec", "told"),
        [
            ({"extend": "remem"}, "a profile has no 'extend' (did you mean 'extends'?)"),
            (
                {"relevance": "all"},
                "'relevance' of a profile cannot be 'all'; choose from positive, listed or a number",
            ),
            ({"negatives": 1}, "'negatives' of a profile cannot be 1; choose from judged, unjudged"),
            (
                {"contract": {"coerce": "yes"}},
                "'coerce' of the contract of a profile cannot be 'yes'; it is true or false",
            ),
            ({"parameters": {"ndcg": 3}}, "that of 'ndcg' is 3"),
        ],
    )
    def test_one_that_cannot_be_read_is_refused_where_it_is_declared(self, spec, told):
        with pytest.raises(PolicyError) as caught:
            named_profile("mine", spec)(lambda: None)
        assert told in str(caught.value)


class TestProfilesOfAConfig:
    def test_one_may_extend_a_built_in_one_one_of_a_plugin_and_another(self, engine_of):
        engine = engine_of(
            "profile: ours\npolicy: {max_failed: 0.5}\nprofiles:\n"
            "  theirs: {extends: acme, policy: {order: score}}\n"
            "  ours: {extends: theirs, relevance: positive, parameters: {ndcg: {gain: linear}}}\n"
        )
        profile = engine.dataset([]).profile
        assert (profile.name, profile.relevance, profile.policy.order) == ("ours", "positive", "score")
        assert (profile.policy.max_failed, profile.policy.no_gold) == (0.5, "undefined")
        assert profile.parameters["retrieval-ndcg-at-k"] == {"clamp": True, "gain": "linear"}

    def test_it_comes_before_one_of_a_plugin(self, engine_of):
        profile = engine_of("profile: acme\nprofiles: {acme: {extends: remem}}\n").dataset([]).profile
        assert profile.policy == PROFILES["remem"].policy

    def test_a_saved_result_can_be_scored_again(self, engine_of, tmp_path):
        engine = engine_of(
            "profile: ours\nprofiles:\n  ours: {extends: remem, parameters: {ndcg: {gain: exponential}}}\n"
        )
        result = engine.dataset([SAMPLE]).with_metrics(["ndcg@10"]).run()
        result.save(tmp_path / "run", keep_data=True)
        evaluation = evaluation_of(Result.load(tmp_path / "run"))
        assert evaluation.profile == engine.dataset([]).profile
        assert evaluation.run()["ndcg@10"].mean == result["ndcg@10"].mean

    def test_what_is_wrong_comes_with_its_line(self, problems_of):
        ((line, message),) = problems_of("profiles:\n  mine:\n    extend: remem\n")
        assert (line, "unknown key (did you mean 'extends'?)" in message) == (4, True)
        ((line, message),) = problems_of("profiles:\n  default: {extends: remem}\n")
        assert (line, "profile 'default' is built in" in message) == (3, True)
        ((line, message),) = problems_of("profiles:\n  mine: {parameters: {ndgc: {}}}\nprofile: mine\n")
        assert (line, "did you mean 'ndcg'" in message) == (4, True)

    def test_one_that_is_not_chosen_breaks_nothing(self, engine_of):
        assert engine_of("profiles:\n  mine: {extends: gone}\n").dataset([]).profile == PROFILES["default"]


class TestSetsOfPlugins:
    def test_they_are_included_by_name(self, engine_of):
        engine = engine_of("metrics:\n  use: [hit@1, {set: acme-nightly}]\n")
        wanted = ["hit@1", "ndcg@10", {"metric": "retrieval-recall-at-k", "k": 3}, "MRR", "P_5"]
        assert specs(engine.metrics()) == wanted
        assert list(engine.dataset([SAMPLE]).run().metrics)[1:] == ["ndcg@10", "retrieval-recall-at-k", "mrr", "p@5"]

    def test_they_need_no_config(self, catalog):
        assert specs(Engine(catalog=catalog).metrics(["acme-core"])) == ["MRR", "P_5"]
        with pytest.raises(ConfigError, match=r"unknown metric set 'acme-cor' \(did you mean 'acme-core'"):
            Engine(catalog=catalog).metrics(["acme-cor"])

    def test_a_set_of_the_config_comes_first(self, engine_of):
        engine = engine_of("metrics:\n  use: [{set: acme-core}]\n  sets: {acme-core: [hit@1]}\n")
        assert specs(engine.metrics()) == ["hit@1"]

    @pytest.mark.parametrize("metrics", [[], "ndcg@10", [3]])
    def test_what_is_no_list_of_metrics_is_refused_where_it_is_declared(self, metrics):
        with pytest.raises(DeclarationError, match="is a list of metrics"):
            metric_set("mine", metrics)(lambda: None)


class TestChanges:
    CORE = "  sets:\n    core: [ndcg@10, P_5, recall(rel=2)@3, {metric: retrieval-hit-at-k, as: hit}, MRR, ndcg]\n"

    def columns(self, engine_of, use):
        engine = engine_of(f"metrics:\n  use: [{use}]\n{self.CORE}")
        return {column.name: column for column in engine.dataset([SAMPLE]).plan().metrics}

    def test_another_cutoff_goes_to_every_metric_that_has_one(self, engine_of):
        found = self.columns(engine_of, "{set: core, k: 20}")
        assert list(found) == ["ndcg@20", "p@20", "recall(rel=2)@20", "hit", "mrr", "ndcg"]
        assert [(column.cut.rule, column.cut.k) for column in found.values()] == [
            ("pinned", 20),
            ("pinned", 20),
            ("pinned", 20),
            ("free", 20),  # a sample's own still beats it, as it did
            ("none", None),
            ("none", None),
        ]

    def test_several_cutoffs_make_a_column_each(self, engine_of):
        engine = engine_of("metrics:\n  use: [{set: core, k: [1, 20]}]\n  sets: {core: [ndcg@10, recall@3, MRR]}\n")
        columns = [column.name for column in engine.dataset([SAMPLE]).plan().metrics]
        assert columns == ["ndcg@1", "ndcg@20", "recall@1", "recall@20", "mrr"]

    def test_a_budget_takes_the_place_of_a_cutoff_and_the_other_way_round(self, engine_of):
        text = "metrics:\n  use: [{set: core, %s}]\n  sets: {core: [recall@2000tok, P_5, hit@3, MRR]}\n"
        in_tokens = engine_of(text % "budget: 500tok").dataset([SAMPLE]).plan().metrics
        in_ranks = engine_of(text % "k: 7").dataset([SAMPLE]).plan().metrics
        kept = engine_of(text % "rel: 2").dataset([SAMPLE]).plan().metrics
        assert [column.name for column in in_tokens] == ["recall@500tok", "p@500tok", "hit@500tok", "mrr"]
        assert [column.name for column in in_ranks] == ["recall@7", "p@7", "hit@7", "mrr"]
        assert [column.name for column in kept][:2] == ["recall(rel=2)@2000tok", "p(rel=2)@5"]

    def test_parameters_go_to_the_metrics_that_have_them(self, engine_of):
        found = self.columns(engine_of, "{set: core, gain: exponential, rel: 1}")
        assert list(found) == ["ndcg(gain=exponential)@10", "p(rel=1)@5", "recall(rel=1)@3", *list(found)[3:]]
        assert found["recall(rel=1)@3"].rel == 1.0  # what the set itself says is changed

    def test_a_set_that_is_changed_may_include_one_that_is(self, engine_of):
        engine = engine_of(
            "metrics:\n  use: [{set: outer, k: 7}]\n  sets:\n    outer: [{set: inner, rel: 2}]\n    inner: [P@5]\n"
        )
        assert specs(engine.metrics()) == [{"metric": "P(rel=2)@7"}]

    def test_a_metric_that_cannot_be_read_is_told_where_it_stands(self, engine_of):
        engine = engine_of("metrics:\n  use: [{set: core, k: 3}]\n  sets:\n    core:\n      - P@5\n      - ndgc@10\n")
        with pytest.raises(PlanError, match=r"rankgauge.yaml:7: unknown metric 'ndgc'"):
            engine.dataset([SAMPLE]).plan()

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ("gian: linear", "no metric of the set 'core' has a parameter 'gian' (did you mean 'gain'?)"),
            ("k: 0", "the k of set 'core'"),
            ("k: [1, x]", "the k of set 'core'"),
            ("as: all", "expected a metric such as 'ndcg@10', a mapping with 'metric', or {set: NAME}"),
        ],
    )
    def test_what_changes_nothing_is_a_problem_with_its_line(self, problems_of, change, told):
        ((line, message),) = problems_of(f"metrics:\n  use:\n    - MRR\n    - {{set: core, {change}}}\n{self.CORE}")
        assert (line, told in message) == (5, True), message
