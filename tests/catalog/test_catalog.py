# the expected value stands first
import json

import pytest

import rankgauge
from fake_plugins import METRIC_LINE, metric_module
from rankgauge.catalog import Catalog
from rankgauge.errors import MatcherError, NameClashError, RequiredPluginError, UnknownNameError
from rankgauge.expression import parse
from rankgauge.planning.cutoffs import Conventions
from rankgauge.planning.plan import make_plan
from rankgauge.policy import PROFILES
from tables import rows

FAILING_IMPORT = "raise ImportError('no module named fancy_backend')"


def reading(catalog, text):
    return catalog.read(parse(text))


def alias_of(catalog, text):
    return reading(catalog, text).claim.declaration.alias


def unknown(catalog, text):
    with pytest.raises(UnknownNameError) as caught:
        catalog.read(parse(text))
    return caught.value


class TestSpellings:
    @rows(
        ("text", "alias", "k", "is_short"),
        [
            ("retrieval-ndcg-at-k", "retrieval-ndcg-at-k", None, False),
            ("retrieval-ndcg-at-10", "retrieval-ndcg-at-k", 10, False),
            ("Retrieval-NDCG-at-k@10", "retrieval-ndcg-at-k", 10, False),
            ("ndcg", "retrieval-ndcg-at-k", None, True),
            ("nDCG@10", "retrieval-ndcg-at-k", 10, True),
            ("ndcg_cut_10", "retrieval-ndcg-at-k", 10, True),
            ("ndcg_at_10", "retrieval-ndcg-at-k", 10, True),
            ("P_5", "retrieval-precision-at-k", 5, True),
            ("R@5", "retrieval-recall-at-k", 5, True),
            ("recall_100", "retrieval-recall-at-k", 100, True),
            ("success_1", "retrieval-hit-at-k", 1, True),
            ("map_cut_5", "retrieval-map", 5, True),
            ("map", "retrieval-map", None, True),
            ("recip_rank", "retrieval-mrr", None, True),
            ("retrieval-mrr", "retrieval-mrr", None, False),
        ],
    )
    def test_every_spelling_finds_its_metric_and_its_cutoff(self, text, alias, k, is_short):
        found = reading(Catalog.discover(own_only=True), text)
        assert (alias, k, is_short) == (found.claim.declaration.alias, found.k, found.is_short)

    def test_a_template_is_no_name_without_its_cutoff(self):
        catalog = Catalog.discover(own_only=True)
        for text in ("ndcg_cut", "ndcg_cut_x", "ndcg_cut_10@5"):
            assert text.partition("@")[0] == unknown(catalog, text).name

    def test_the_metrics_are_listed_by_alias_in_order(self):
        aliases = list(Catalog.discover(own_only=True).metrics)
        assert sorted(aliases) == aliases
        assert {"answer-exact-match", "retrieval-hit-at-k", "retrieval-mrr"} <= set(aliases)


class TestClashes:
    @pytest.fixture
    def files(self, installed):
        return (
            installed.add("alpha-tools", metric_module("alpha-depth", short=("Depth", "ad")), version="1.2"),
            installed.add("beta-tools", metric_module("beta-depth", short=("depth", "bd")), version="3.4"),
        )

    @pytest.mark.parametrize("text", ["depth", "Depth", "DEPTH@5"])
    def test_a_name_claimed_twice_works_for_nobody(self, files, text):
        with pytest.raises(NameClashError):
            reading(Catalog.discover(), text)

    def test_the_error_lists_each_claim_with_distribution_version_file_and_line(self, files):
        with pytest.raises(NameClashError) as caught:
            reading(Catalog.discover(), "depth")
        alpha = f"alpha-tools 1.2 (plugin main), {files[0]}:{METRIC_LINE}"
        beta = f"beta-tools 3.4 (plugin main), {files[1]}:{METRIC_LINE}"
        assert ("metric", "depth", (alpha, beta)) == (caught.value.kind, caught.value.name, caught.value.claims)
        assert (
            "metric 'depth' is claimed by 2 plugins; uninstall one, or disable it with `plugins.disable` or "
            f"RANKGAUGE_DISABLE_PLUGINS:\n  {alpha}\n  {beta}"
        ) == str(caught.value)

    def test_the_names_that_do_not_clash_still_work(self, files):
        catalog = Catalog.discover()
        found = [alias_of(catalog, text) for text in ("alpha-depth", "ad", "beta-depth", "bd")]
        assert ["alpha-depth", "alpha-depth", "beta-depth", "beta-depth"] == found

    def test_both_plugins_get_a_fault_that_names_both(self, files):
        faults = Catalog.discover().faults
        assert [("alpha-tools:main", "1.2", "name"), ("beta-tools:main", "3.4", "name")] == [
            (fault.plugin, fault.version, fault.stage) for fault in faults
        ]
        for fault in faults:
            assert "is claimed by 2 plugins, so it works for none of them" in fault.message
            assert f"{files[0]}:{METRIC_LINE}" in fault.message
            assert f"{files[1]}:{METRIC_LINE}" in fault.message

    def test_disabling_one_gives_the_name_to_the_other(self, files):
        catalog = Catalog.discover(disable=["alpha-tools"])
        assert ("beta-depth", ()) == (alias_of(catalog, "depth"), catalog.faults)

    def test_two_claims_on_one_alias_take_it_off_the_list(self, installed):
        installed.add("alpha-tools", metric_module("same-depth", short=("ad",)))
        installed.add("beta-tools", metric_module("same-depth", short=("bd",)))
        catalog = Catalog.discover()
        assert "same-depth" not in catalog.metrics
        assert "same-depth" == alias_of(catalog, "ad")

    def test_a_column_is_not_called_by_a_name_that_works_for_nobody(self, files):
        catalog = Catalog.discover()
        plan = make_plan(["alpha-depth", "beta-depth"], Conventions(catalog=catalog, profile=PROFILES["default"]))
        assert ["alpha-depth", "beta-depth"] == [metric.name for metric in plan.metrics]

    def test_one_declaration_offered_by_two_entry_points_is_no_clash(self, installed):
        installed.add("alpha-tools", metric_module("alpha-depth"), points={"one": "{module}", "two": "{module}"})
        catalog = Catalog.discover()
        assert ((), "alpha-depth") == (catalog.faults, alias_of(catalog, "alpha-depth"))


class TestBuiltIns:
    @pytest.mark.parametrize("name", ["ndcg", "nDCG", "mrr", "AP", "ndcg_cut_{k}"])
    def test_nobody_shadows_a_name_of_theirs(self, installed, name):
        file = installed.add("alpha-tools", metric_module("alpha-depth", short=(name,)), version="1.2")
        catalog = Catalog.discover()
        text = name.replace("{k}", "10")
        assert "rankgauge" == reading(catalog, text).claim.provider.distribution
        (fault,) = catalog.faults
        assert ("alpha-tools:main", "1.2", "name") == (fault.plugin, fault.version, fault.stage)
        assert "is built in and cannot be replaced" in fault.message
        assert f"{file}:{METRIC_LINE}" in fault.message
        assert "alpha-depth" == alias_of(catalog, "alpha-depth")

    def test_an_alias_of_theirs_cannot_be_taken_either(self, installed):
        installed.add("alpha-tools", metric_module("retrieval-mrr", short=("amrr",)))
        catalog = Catalog.discover()
        assert "rankgauge" == catalog.metrics["retrieval-mrr"].provider.distribution
        assert "rankgauge" == reading(catalog, "retrieval-mrr").claim.provider.distribution
        assert 1 == len(catalog.faults)

    @pytest.mark.parametrize("text", ["recall_100", "P_5", "ndcg_cut_10", "ndcg_at_10", "success_1"])
    def test_nobody_shadows_a_spelling_of_theirs_with_the_cutoff_in_it(self, installed, text):
        installed.add("alpha-tools", metric_module("alpha-depth", short=(text,)))
        catalog = Catalog.discover()
        assert "rankgauge" == reading(catalog, text).claim.provider.distribution
        assert ["alpha-tools:main"] == [fault.plugin for fault in catalog.faults]

    def test_a_column_of_somebody_elses_is_not_called_like_one_of_theirs(self, installed):
        source = """\
            from rankgauge.plugin import hookimpl, sample_metric

            @sample_metric("fake-ndcg-at-k", short=("ndcg",))
            def fake(ranking, *, k: int):
                "Score one."
                return 1.0

            @hookimpl
            def rankgauge_metrics():
                return [fake]
        """
        installed.add("alpha-tools", source)
        plan = make_plan(["fake-ndcg-at-k@10"], Conventions(catalog=Catalog.discover(), profile=PROFILES["default"]))
        assert ["fake-ndcg-at-k@10"] == [metric.name for metric in plan.metrics]

    def test_nobody_takes_a_file_ending_of_theirs(self, installed):
        source = """\
            from rankgauge.plugin import hookimpl, reader

            @reader("aaa", suffixes=[".jsonl", ".aaa"])
            def read(source):
                yield

            @hookimpl
            def rankgauge_readers():
                return [read]
        """
        installed.add("alpha-tools", source)
        catalog = Catalog.discover()
        assert "rankgauge" == catalog.reader(".jsonl").provider.distribution
        assert "alpha-tools" == catalog.reader(".aaa").provider.distribution
        assert ["alpha-tools:main"] == [fault.plugin for fault in catalog.faults]

    @pytest.mark.parametrize(
        ("kind", "declaration", "name"),
        [
            ("normalizers", '@normalizer("casefold", stage="fold")', "normalizer 'casefold'"),
            ("comparers", '@comparer("equal")', "comparer 'equal'"),
            ("matchers", '@named_matcher("folded", "equal >= 1")', "matcher 'folded'"),
            ("reporters", '@reporter("markdown", suffix=".md")', "reporter 'markdown'"),
        ],
    )
    def test_nobody_shadows_the_other_kinds(self, installed, kind, declaration, name):
        source = f"""\
            from rankgauge.plugin import comparer, hookimpl, named_matcher, normalizer, reporter

            {declaration}
            def mine(*args):
                "Do it."

            @hookimpl
            def rankgauge_{kind}():
                return [mine]
        """
        installed.add("alpha-tools", source)
        catalog = Catalog.discover()
        (fault,) = catalog.faults
        assert f"{name} is built in and cannot be replaced" in fault.message
        key = name.split("'")[1]
        assert "rankgauge" == catalog.all(kind.removesuffix("s"))[key].provider.distribution


class TestUnknownNames:
    def test_names_that_look_alike_are_suggested_best_first(self):
        error = unknown(Catalog.discover(own_only=True), "ndgc@10")
        assert ("metric", "ndgc") == (error.kind, error.name)
        assert "ndcg" == error.suggestions[0].lower()
        assert "unknown metric 'ndgc' (did you mean 'ndcg'" in str(error)
        assert "`rankgauge metrics list` lists the installed ones" in str(error)

    def test_templates_are_not_suggested(self):
        error = unknown(Catalog.discover(own_only=True), "ndcg_cut")
        assert [] == [name for name in error.suggestions if "{" in name]

    def test_nothing_is_suggested_where_nothing_looks_alike(self):
        error = unknown(Catalog.discover(own_only=True), "zzzzzzzz")
        assert () == error.suggestions
        assert "did you mean" not in str(error)

    def test_what_plugins_offer_is_suggested_too(self, installed):
        installed.add("alpha-tools", metric_module("sounding-depth"))
        assert ("sounding-depth",) == unknown(Catalog.discover(), "sounding-deptj").suggestions

    def test_a_broken_plugin_is_mentioned_because_it_may_have_the_name(self, installed):
        installed.add("alpha-tools", FAILING_IMPORT)
        message = str(unknown(Catalog.discover(), "alpha-depth"))
        assert "a plugin that failed (alpha-tools:main: importing 'fake_plugin_0' failed: " in message
        assert message.endswith("see `rankgauge plugins check`)")

    def test_a_disabled_plugin_is_mentioned_because_it_may_have_the_name(self, installed):
        installed.add("alpha-tools", metric_module("alpha-depth"))
        message = str(unknown(Catalog.discover(disable=["alpha-tools"]), "alpha-depth"))
        assert "disabled (alpha-tools)" in message
        assert "; or by one" not in message

    def test_a_broken_and_a_disabled_plugin_are_both_mentioned(self, installed):
        installed.add("alpha-tools", FAILING_IMPORT)
        installed.add("beta-tools", metric_module("beta-depth"))
        message = str(unknown(Catalog.discover(disable=["beta-tools"]), "beta-depth"))
        assert "failed (alpha-tools:main" in message
        assert "disabled (beta-tools)" in message

    def test_a_plugin_that_only_clashes_is_not_called_broken(self, installed):
        installed.add("alpha-tools", metric_module("alpha-depth", short=("ndcg",)))
        assert "failed" not in str(unknown(Catalog.discover(), "zzzzzzzz"))

    def test_other_kinds_say_the_same(self):
        catalog = Catalog.discover(own_only=True)
        with pytest.raises(UnknownNameError, match=r"unknown reporter 'tabel' \(did you mean 'table'") as caught:
            catalog.reporter("tabel")
        assert "reporter" == caught.value.kind
        assert catalog.reader(".docx") is None


class TestRequire:
    @pytest.mark.parametrize("name", ["alpha-tools", "Alpha_Tools", "alpha.tools"])
    def test_a_plugin_that_is_there_and_whole_passes(self, installed, name):
        installed.add("Alpha-Tools", metric_module("alpha-depth"))
        assert Catalog.discover().require([name, "rankgauge"]) is None

    def test_one_that_is_absent_is_refused_with_how_to_get_it(self):
        with pytest.raises(RequiredPluginError) as caught:
            Catalog.discover().require(["rankgauge", "absent-tools"])
        expected = "the plugin 'absent-tools' is required and not installed; `pip install absent-tools`"
        assert expected == str(caught.value)

    def test_one_that_is_disabled_is_refused(self, installed):
        installed.add("alpha-tools", metric_module("alpha-depth"))
        with pytest.raises(RequiredPluginError, match="the plugin 'alpha-tools' is required and disabled"):
            Catalog.discover(disable=["alpha-tools"]).require(["alpha-tools"])

    def test_one_that_is_broken_is_refused_with_what_is_wrong(self, installed):
        installed.add("alpha-tools", FAILING_IMPORT)
        with pytest.raises(RequiredPluginError, match=r"'alpha-tools' is required and broken: .*fancy_backend"):
            Catalog.discover().require(["alpha-tools"])

    def test_a_broken_plugin_that_is_not_required_is_no_matter(self, installed):
        installed.add("alpha-tools", FAILING_IMPORT)
        installed.add("beta-tools", metric_module("beta-depth"))
        assert Catalog.discover().require(["beta-tools"]) is None


class TestIndependence:
    def test_two_catalogs_in_one_process_know_nothing_of_each_other(self, installed):
        installed.add("alpha-tools", metric_module("alpha-depth"))
        with_it, without = Catalog.discover(), Catalog.discover(disable=["alpha-tools"])
        again = Catalog.discover()
        found = ["alpha-depth" in catalog.metrics for catalog in (with_it, without, again)]
        assert [True, False, True] == found
        assert ((), ()) == (with_it.faults, again.faults)

    def test_matchers_of_a_config_are_known_to_the_new_catalog_only(self):
        catalog = Catalog.discover(own_only=True)
        extended = catalog.with_matchers({"loose": "casefold > equal >= 0.5"})
        assert 0.5 == extended.matcher("loose").matcher.threshold
        with pytest.raises(UnknownNameError):
            catalog.matcher("loose")

    def test_matchers_of_a_config_add_up(self):
        catalog = Catalog.discover(own_only=True).with_matchers({"one": "equal"}).with_matchers({"two": "contained"})
        assert ["equal", "contained"] == [catalog.matcher(name).matcher.comparer for name in ("one", "two")]

    def test_a_matcher_of_a_config_may_be_another_name(self):
        own = {"near": "fuzzy-chunk", "nearest": "near", "plain": "equal"}
        catalog = Catalog.discover(own_only=True).with_matchers(own)
        found = catalog.matcher("nearest")
        assert ("nearest", catalog.matcher("fuzzy-chunk").matcher) == (found.name, found.matcher)
        assert "fuzzy-chunk" == found.providers[0][0]
        assert "equal >= 1" == str(catalog.matcher("plain").matcher)  # a comparer, which no matcher is called by

    def test_a_name_that_stands_for_no_matcher_is_told_when_it_is_used(self):
        catalog = Catalog.discover(own_only=True).with_matchers({"near": "fuzzy-chnk"})
        with pytest.raises(UnknownNameError, match=r"unknown matcher 'fuzzy-chnk' .did you mean 'fuzzy-chunk'"):
            catalog.matcher("near")

    def test_names_that_stand_for_each_other_are_refused(self):
        catalog = Catalog.discover(own_only=True).with_matchers({"a": "b", "b": "a"})
        with pytest.raises(MatcherError, match="matchers stand for each other: a -> b -> a"):
            catalog.matcher("a")

    def test_a_config_cannot_take_the_name_of_a_matcher(self):
        with pytest.raises(MatcherError, match="matcher 'Folded' is already declared by a plugin"):
            Catalog.discover(own_only=True).with_matchers({"Folded": "equal"})

    def test_a_plugin_given_in_python_is_known_to_its_catalog_only(self, installed):
        file = installed.add("alpha-tools", metric_module("alpha-depth"))
        import fake_plugin_0

        catalog = Catalog.discover(own_only=True, plugins={"mine": fake_plugin_0})
        provider = catalog.metrics["alpha-depth"].provider
        assert f"this process (plugin mine), {file}:{METRIC_LINE}" == str(provider)
        assert "alpha-depth" not in Catalog.discover(own_only=True).metrics


TAKEN = "words, unit, stage, aggregate, undefined, missing, ties, score_above, as"


class TestMetricsCommand:
    def test_list_prints_alias_short_names_summary_and_provider(self, installed, command_line):
        installed.add("alpha-tools", metric_module("alpha-depth", short=("adepth", "a_{k}")), version="2.1")
        code, out, _ = command_line("metrics", "list", "--all-columns")
        (row,) = [line.split() for line in out.splitlines() if "alpha-depth" in line]
        assert 0 == code
        assert ["alpha-depth", "adepth", "Count", "what", "was", "retrieved.", "alpha-tools", "2.1"] == row
        for alias in Catalog.discover().metrics:
            assert alias in out

    def test_list_is_of_short_names_unless_asked_for_more(self, installed, command_line):
        installed.add("alpha-tools", metric_module("alpha-depth", short=("adepth", "a_{k}")), version="2.1")
        code, out, _ = command_line("metrics", "list")
        (row,) = [line for line in out.splitlines() if line.startswith("adepth")]
        assert (0, True) == (code, row.endswith("Count what was retrieved. (alpha-tools 2.1)"))
        assert out.endswith("--all-columns shows aliases and where each comes from\n")

    def test_list_as_json_holds_the_same_for_programs(self, installed, command_line):
        file = installed.add("alpha-tools", metric_module("alpha-depth", short=("adepth",)), version="2.1")
        code, out, err = command_line("metrics", "list", "--json")
        listed = {each["alias"]: each for each in json.loads(out)}
        assert (0, "") == (code, err)
        assert list(Catalog.discover().metrics) == list(listed)
        found = listed["alpha-depth"]
        assert (["alpha-depth", "adepth"], "none", ["relevant"]) == (found["names"], found["cutoff"], found["gold"])
        expected = {
            "distribution": "alpha-tools",
            "version": "2.1",
            "plugin": "main",
            "file": str(file),
            "line": METRIC_LINE,
        }
        assert expected == found["provider"]

    @pytest.mark.parametrize("name", ["ndcg", "nDCG@10", "ndcg_cut_10", "retrieval-ndcg-at-k"])
    def test_show_finds_a_metric_by_any_name(self, command_line, name):
        code, out, _ = command_line("metrics", "show", name)
        assert (0, "retrieval-ndcg-at-k") == (code, out.splitlines()[0])

    def test_show_prints_definition_inputs_cutoff_parameters_and_provider(self, command_line):
        _, out, _ = command_line("metrics", "show", "ndcg")
        for line in (
            "Discounted gain of the first k results over that of the best possible order.",
            "names       retrieval-ndcg-at-k, ndcg, nDCG, ndcg_cut_{k}",
            "inputs      the retrieved items, against expected_output: relevant or passages or spans, matcher passage",
            "  gain = linear, one of linear, exponential, binary",
            "  clamp = false",
            "  gains = (empty)",
            f"  it also takes k, budget, tokenizer, partial, gold, matcher, joint, {TAKEN}",
            "range       0 to 1; higher is better",
            "aggregate   mean",
        ):
            assert line in out.splitlines()
        ways = "pinned (@10, or a budget: @2000tok) > metadata.k of the sample > k of the metric > --k > 5"
        cutoff = f"{ways}; a short name without @ has none"
        assert f"cutoff (k)  {cutoff}" in out.splitlines()
        assert f"provider    rankgauge {rankgauge.__version__} (plugin metrics), " in out

    def test_show_says_where_rel_has_an_effect_and_where_there_are_no_parameters(self, command_line):
        _, out, _ = command_line("metrics", "show", "ndcg")
        shown = out.partition("parameters\n")[2].splitlines()
        assert shown[1].startswith("      linear takes gold gains as they are, exponential uses 2**gain - 1, and")
        assert not {"Args:", "Returns:", "``", "*k*"} & {
            word for word in ("Args:", "Returns:", "``", "*k*") if word in out
        }

        _, out, _ = command_line("metrics", "show", "f1")
        taken = f"k, budget, tokenizer, partial, rel, gold, matcher, joint, {TAKEN}"
        also = f"  it also takes {taken}"
        assert also in out.splitlines()
        assert "parameters  none of its own" in out.splitlines()
        assert "Returns:" not in out  # its docstring has no `Args`

    def test_show_lists_parameters_that_only_choose_the_matcher(self, command_line):
        _, out, _ = command_line("metrics", "show", "answer-containment-at-k")
        assert "  fold = casefold, one of casefold, lower" in out.splitlines()

    def test_show_as_json_is_json_only(self, command_line):
        code, out, err = command_line("metrics", "show", "mrr", "--json")
        found = json.loads(out)
        assert (0, "", "retrieval-mrr", "optional") == (code, err, found["alias"], found["cutoff"])
        assert [0.0, 1.0] == found["range"]

    def test_show_refuses_an_unknown_name_with_suggestions_on_stderr(self, command_line):
        code, out, err = command_line("metrics", "show", "ndgc")
        assert (2, "") == (code, out)
        assert "error: unknown metric 'ndgc' (did you mean 'ndcg'" in err

    def test_show_refuses_a_clash_and_lists_the_claims(self, installed, command_line):
        installed.add("alpha-tools", metric_module("alpha-depth", short=("depth",)), version="1.2")
        installed.add("beta-tools", metric_module("beta-depth", short=("depth",)), version="3.4")
        code, _, err = command_line("metrics", "show", "depth")
        assert 2 == code
        assert "alpha-tools 1.2 (plugin main)" in err
        assert "beta-tools 3.4 (plugin main)" in err


@pytest.mark.parametrize("name", ["faithfulness", "AnswerRelevancy", "context_precision", "ROUGE-L", "bert_score"])
def test_metrics_of_generated_texts_are_found_elsewhere(name):
    with pytest.raises(UnknownNameError) as caught:
        Catalog.discover(own_only=True).read(parse(name))
    assert "rankgauge scores what was retrieved" in str(caught.value)
    assert "pip install rankgauge-hosts" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("kendall_tau", "`rankgauge trec RUN --against OTHER`"),
        ("RBO", "rankgauge.rank_agreement"),
        ("gini", "pip install rankgauge-recsys"),
        ("intra-list-diversity", "pip install rankgauge-recsys"),
    ],
)
def test_measures_of_rankings_and_of_catalogues_are_found_elsewhere(name, where):
    with pytest.raises(UnknownNameError) as caught:
        Catalog.discover(own_only=True).read(parse(name))
    assert where in str(caught.value)


def test_any_other_unknown_name_is_no_matter_for_other_tools():
    with pytest.raises(UnknownNameError) as caught:
        Catalog.discover(own_only=True).read(parse("faithful"))
    assert "rankgauge-hosts" not in str(caught.value)
