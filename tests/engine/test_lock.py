"""Locked configs: what a lock holds, what it refuses before data is read, and what it says about it."""

import dataclasses
import pickle

import pytest
import yaml

from fake_plugins import metric_module
from rankgauge import Catalog, Engine, Result
from rankgauge.config.lock_file import write_lock
from rankgauge.errors import ConfigError, PlanError, ResultError, UnreadableError
from rankgauge.io.yaml_documents import read_yaml

CONFIG = """\
version: 1
datasets: {{mine: {{path: absent.jsonl}}}}
metrics:
  use:
    - {metric}
  sets: {sets}
profile: {profile}
plugins: {{locked: locks/mine.yaml}}
{more}
"""


TOKENIZER = """
    from rankgauge.plugin import hookimpl, tokenizer

    @tokenizer("acme", version="{version}")
    def acme(text):
        \"\"\"Count characters.\"\"\"
        return len(text)

    @hookimpl
    def rankgauge_tokenizers():
        return [acme]
"""


DOTS = """
    import re

    from rankgauge.plugin import hookimpl, normalizer

    class Marks:
        def __init__(self, marks):
            self.marks = marks

        def removed(self, text):
            return re.sub(self.marks, "", text)

    def without_dots(text):
        return Marks("[.]").removed(text)

    @normalizer("drop-dots", stage="strip")
    def drop_dots(text):
        return without_dots(text)

    @hookimpl
    def rankgauge_normalizers():
        return [drop_dots]
"""

EQUAL = """
    import numpy as np

    from rankgauge.plugin import comparer, hookimpl

    def each(retrieved, gold):
        return [[float(text == other) for other in gold] for text in retrieved]

    @comparer("alike")
    def alike(retrieved, gold):
        return np.array(each(retrieved, gold)).reshape(len(retrieved), len(gold))

    @hookimpl
    def rankgauge_comparers():
        return [alike]
"""

MEDIAN = """
    from statistics import median

    from rankgauge.plugin import aggregate, hookimpl, sample_metric

    def middle(values):
        return median(values)

    @aggregate("median")
    def of_all(values):
        return middle(values)

    @sample_metric("alpha-depth", aggregate="median")
    def depth(ranking):
        \"\"\"Count what was retrieved.\"\"\"
        return float(ranking.depth > 0)

    @hookimpl
    def rankgauge_aggregates():
        return [of_all]

    @hookimpl
    def rankgauge_metrics():
        return [depth]
"""


class Locked:
    """A config in a folder, its lock, and what comes of running it."""

    def __init__(self, folder):
        self.folder = folder
        self.path = folder / "rankgauge.yaml"
        self.lock = folder / "locks" / "mine.yaml"
        self.lock.parent.mkdir()

    def write(self, metric="ndcg@10", *, sets="{}", profile="default", more=""):
        text = CONFIG.format(metric=metric, sets=sets, profile=profile, more=more)
        self.path.write_text(text, encoding="utf-8")

    def engine(self, **options):
        return Engine.from_config(self.path, **options)

    def relock(self):
        write_lock(self.engine().lock(), self.lock)

    def entries(self, kind):
        return read_yaml(self.lock.read_text(encoding="utf-8"), "lock").value[kind]

    def plan(self, **options):
        return self.engine(**options).dataset("mine").plan()

    def problems(self, **options):
        """The dataset does not exist: whatever is raised is raised before data is read."""
        with pytest.raises(PlanError) as caught:
            self.engine(**options).dataset("mine").run()
        return [str(problem) for problem in caught.value.problems]


@pytest.fixture
def config(tmp_path):
    locked = Locked(tmp_path)
    locked.write()
    return locked


class TestWhatIsLocked:
    def test_a_metric_with_who_provides_it_and_what_it_means(self, config, installed):
        installed.add("alpha-tools", metric_module("alpha-depth", short=("adepth",)), version="1.2")
        config.write("adepth")
        config.relock()
        (entry,) = config.entries("metrics")
        (column,) = config.plan().metrics
        expected = ("alpha-depth", "alpha-depth", "alpha-tools", "1.2", column.fingerprint, ["alpha-depth", "adepth"])
        keys = ("name", "alias", "distribution", "version", "fingerprint", "names")
        assert expected == tuple(entry[key] for key in keys)
        assert ("1", "relevant retrieved", "none") == tuple(
            entry["definition"][key] for key in ("version", "judged", "cutoff")
        )

    def test_a_matcher_with_who_provides_each_of_its_parts(self, config):
        config.write("EM(matcher=mine)", more="matchers: {mine: casefold > contained >= 0.5}")
        config.relock()
        (entry,) = config.entries("matchers")
        assert ("mine", "casefold > contained >= 0.5") == (entry["name"], entry["definition"]["composition"])
        assert {"direction": "gold-in-retrieved"} == entry["definition"]["parameters"]
        assert ["casefold", "contained"] == [part["name"] for part in entry["parts"]]
        assert {"rankgauge"} == {part["distribution"] for part in entry["parts"]}

    def test_metrics_of_all_sets_also_where_one_name_means_two_things(self, config):
        config.write(sets="{a: [{metric: P@1, as: x}], b: [{metric: P@2, as: x}, recall@3, ndcg@10]}")
        config.relock()
        assert ["ndcg@10", "x", "x", "recall@3"] == [entry["name"] for entry in config.entries("metrics")]
        engine = config.engine()
        for name in ("a", "b"):
            planned = engine.dataset("mine").with_metrics(engine.metrics([name])).plan().metrics
            assert "x" == planned[0].name
        with pytest.raises(PlanError, match="cutoff is 'pinned 3', locked is 'pinned 1'"):
            engine.dataset("mine").with_metrics([{"metric": "P@3", "as": "x"}]).plan()

    def test_policy_and_conventions_stand_in_the_file_once(self, config):
        config.write("recall@1,5,10", profile="remem")
        config.relock()
        text = config.lock.read_text(encoding="utf-8")
        assert (1, 1) == (text.count("duplicate_texts:"), text.count("missing_output:"))

    def test_whatever_the_names_and_numbers_the_file_reads_back_as_the_lock(self, config):
        config.write("{metric: 'err(max_grade=1e-7)@3', as: '12e34: no'}")
        lock = config.engine().lock()
        write_lock(lock, config.lock)
        assert lock == config.engine()._lock

    def test_a_fingerprint_that_looks_like_a_number_stays_a_text(self, config):
        lock = config.engine().lock()
        odd = dataclasses.replace(lock.entries[0], fingerprint="1234567890123e45")
        write_lock(dataclasses.replace(lock, entries=(odd,)), config.lock)
        assert "1234567890123e45" == config.engine()._lock.entries[0].fingerprint

    def test_the_tokenizer_of_a_budget_with_who_provides_it(self, config, installed):
        installed.add("acme-tokens", TOKENIZER.format(version="7"), version="1.2")
        config.write("recall(tokenizer=acme)@2000tok")
        config.relock()
        (entry,) = config.entries("metrics")
        (part,) = entry["parts"]
        assert 16 == len(part.pop("source"))
        assert {"name": "acme", "distribution": "acme-tokens", "version": "1.2", "kind": "tokenizer"} == part
        budget = {"budget": 2000, "unit": "tok", "tokenizer": "acme 7", "partial": False}
        assert budget == entry["definition"]["cutoff"]
        assert config.engine().lock() == config.engine()._lock
        config.plan()

    def test_other_source_code_under_the_same_version_is_a_note_and_no_problem(self, config, installed):
        old = installed.add("alpha-tools", metric_module("alpha-depth"), version="1.2")
        (config.folder / "s.jsonl").write_text(
            '{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}\n', "utf-8"
        )
        config.path.write_text(
            "version: 1\ndatasets: {mine: {path: s.jsonl}}\nmetrics: {use: [alpha-depth, MRR]}\n"
            "plugins: {locked: locks/mine.yaml}\n",
            encoding="utf-8",
        )
        config.relock()
        assert [16, None] == [len(each["source"]) if "source" in each else None for each in config.entries("metrics")]
        assert () == config.plan().notes
        installed.uninstall(old)
        changed = metric_module("alpha-depth").replace("ranking.depth > 0", "ranking.depth > 1")
        installed.add("alpha-tools", changed, version="1.2")
        result = config.engine().dataset("mine").run()
        (note,) = result.notes
        assert "metric 'alpha-depth' of alpha-tools 1.2 has other source code than the lock" in note
        assert "under the same version (1)" in note
        assert "its author has to raise `version`; if the change is intended, write the lock again" in note
        assert 0.0 == result["alpha-depth"].mean

    def test_a_lock_without_source_hashes_is_read(self, config, installed):
        installed.add("alpha-tools", metric_module("alpha-depth"), version="1.2")
        config.write("alpha-depth")
        config.relock()
        lines = config.lock.read_text("utf-8").splitlines(keepends=True)
        config.lock.write_text("".join(line for line in lines if "source:" not in line), "utf-8")
        assert () == config.plan().notes


class TestWhatIsRefused:
    def test_another_tokenizer_version_or_distribution(self, config, installed):
        file = installed.add("acme-tokens", TOKENIZER.format(version="7"), version="1.2")
        config.write("{metric: recall(tokenizer=acme)@2000tok, as: main}")
        config.relock()
        config.write("{metric: recall@2000tok, as: main}")
        (problem,) = config.problems()
        assert "cutoff.tokenizer is 'words 1', locked is 'acme 7'" in problem
        config.write("{metric: recall(tokenizer=acme)@2000tok, as: main}")
        installed.upgrade(file, "1.3")
        (problem,) = config.problems()
        says = "says that acme-tokens 1.2 provides tokenizer 'acme' of metric 'main'; found is acme-tokens 1.3"
        assert says in problem
        installed.uninstall(file)
        (problem,) = config.problems()
        assert "unknown tokenizer 'acme'" in problem
        assert "names acme-tokens 1.2 as the provider of 'acme': it is not installed" in problem
        assert "`pip install acme-tokens==1.2`" in problem

    def test_nothing_while_everything_is_as_it_was(self, config):
        config.relock()
        assert ["ndcg@10"] == [column.name for column in config.plan().metrics]

    def test_another_spelling_of_the_same_is_the_same(self, config):
        config.relock()
        config.write("ndcg_cut_10")
        assert ["ndcg@10"] == [column.name for column in config.plan().metrics]

    def test_another_short_name_of_the_same_is_the_same(self, config):
        config.write("retrieval-mrr")
        config.relock()
        config.write("RR")
        assert ["rr"] == [column.name for column in config.plan().metrics]

    def test_a_metric_that_is_not_in_the_lock(self, config):
        config.relock()
        config.write("ndcg@5")
        (problem,) = config.problems()
        assert f"{config.path}:5: metric 'ndcg@5' is not in the lock {config.lock}" in problem
        assert "found is retrieval-ndcg-at-k of rankgauge" in problem
        assert f"`rankgauge plugins lock {config.path}`" in problem

    def test_one_that_has_another_name_in_the_lock(self, config):
        config.relock()
        config.write("{metric: ndcg@10, as: main}")
        (problem,) = config.problems()
        assert "metric 'main' is not in the lock" in problem
        assert "(it has the same one under the name 'ndcg@10')" in problem

    def test_a_function_given_in_python(self, config):
        config.relock()

        def depth(ranking):
            return float(ranking.depth)

        with pytest.raises(PlanError, match=r"metric 'depth' is not in the lock .*found is depth of no distribution"):
            config.engine().dataset("mine").with_metrics([depth]).plan()

    def test_another_policy_told_once_for_all_metrics(self, config):
        config.write("recall@1,5,10")
        config.relock()
        config.write("recall@1,5,10", more="policy: {order: score, max_failed: 0.5}")
        (problem,) = config.problems()
        assert 3 == problem.count("metric 'recall@")
        assert "policy.order is 'score', locked is 'given'" in problem
        assert "max_failed" not in problem

    def test_another_profile_and_other_parameters(self, config):
        config.write("{metric: ndcg@10, as: main}")
        config.relock()
        config.write("{metric: 'ndcg(gain=exponential)@10', as: main}", profile="haystack")
        matcher, metric = config.problems()
        assert "parameters.gain is 'exponential', locked is 'linear'" in metric
        assert "parameters.ideal is 'gold', locked is 'gold-at-k'" in metric
        assert "matcher 'exact' is not in the lock" in matcher

    def test_another_matcher_of_the_same_name(self, config):
        config.write("EM(matcher=mine)", more="matchers: {mine: casefold > equal}")
        config.relock()
        config.write("EM(matcher=mine)", more="matchers: {mine: equal}")
        metric, matcher = config.problems()
        assert "metric 'answer-exact-match(matcher=mine)'" in metric
        assert "composition is 'equal >= 1', locked is 'casefold > equal >= 1'" in matcher

    def test_a_default_cutoff_that_is_overridden(self, config):
        config.write("retrieval-recall-at-k")
        config.relock()
        with pytest.raises(PlanError, match="cutoff is 'free 3', locked is 'free 5'"):
            config.engine().dataset("mine").with_defaults(k=3).plan()

    @pytest.mark.parametrize("changed", ["1.3", "1.1"])
    def test_another_version_of_the_distribution(self, config, installed, changed):
        file = installed.add("alpha-tools", metric_module("alpha-depth"), version="1.2")
        config.write("alpha-depth")
        config.relock()
        installed.upgrade(file, changed)
        (problem,) = config.problems()
        assert f"says that alpha-tools 1.2 provides metric 'alpha-depth'; found is alpha-tools {changed}" in problem
        assert "`pip install alpha-tools==1.2`" in problem

    def test_another_distribution(self, config, installed):
        file = installed.add("alpha-tools", metric_module("alpha-depth"), version="1.2")
        config.write("alpha-depth")
        config.relock()
        installed.uninstall(file)
        installed.add("beta-tools", metric_module("alpha-depth"), version="1.2")
        (problem,) = config.problems()
        assert "says that alpha-tools 1.2 provides metric 'alpha-depth'; found is beta-tools 1.2" in problem

    def test_another_declared_version_in_the_same_distribution(self, config, installed):
        source = metric_module("alpha-depth")
        file = installed.add("alpha-tools", source)
        config.write("alpha-depth")
        config.relock()
        installed.uninstall(file)
        installed.add("alpha-tools", source.replace("short=()", 'version="2"'))
        (problem,) = config.problems()
        assert "version is '2', locked is '1'" in problem

    def test_another_declared_version_of_a_normalizer(self, config, installed):
        source = """\
            from rankgauge.plugin import hookimpl, normalizer

            @normalizer("drop-dots", stage="strip", version="{}")
            def drop_dots(text):
                return text.replace(".", "")

            @hookimpl
            def rankgauge_normalizers():
                return [drop_dots]
        """
        file = installed.add("alpha-tools", source.format(1))
        config.write("EM(matcher='drop-dots > equal')")
        config.relock()
        installed.uninstall(file)
        installed.add("alpha-tools", source.format(2))
        metric, matcher = config.problems()
        assert "metric " in metric
        assert "matcher 'drop-dots > equal >= 1'" in matcher
        assert "versions.drop-dots is '2', locked is '1'" in matcher

    def test_everything_that_is_wrong_at_once(self, config, installed):
        file = installed.add("alpha-tools", metric_module("alpha-depth"), version="1.2")
        config.write("alpha-depth\n    - ndcg@10\n    - hit@1\n    - recall@2")
        config.relock()
        installed.uninstall(file)
        config.write("alpha-depth\n    - ndcg@7\n    - {metric: hit(rel=2)@1, as: hit@1}\n    - ngcd@3")
        missing, unknown, new, redefined = config.problems()
        assert "unknown metric 'alpha-depth'" in missing
        assert "unknown metric 'ngcd'" in unknown
        assert "metric 'ndcg@7' is not in the lock" in new
        assert "parameters.rel is 2.0, locked is None" in redefined

    @pytest.mark.parametrize(
        ("source", "metric", "part"),
        [
            (DOTS, "EM(matcher='drop-dots > equal')", "normalizer 'drop-dots' of matcher 'drop-dots > equal >= 1'"),
            (EQUAL, "EM(matcher='casefold > alike')", "comparer 'alike' of matcher 'casefold > alike >= 1'"),
            (TOKENIZER.format(version=1), "recall(tokenizer=acme)@9tok", "tokenizer 'acme' of metric "),
            (MEDIAN, "alpha-depth", "aggregate 'median' of metric 'alpha-depth'"),
        ],
    )
    def test_another_version_of_a_part_is_named(self, config, installed, source, metric, part):
        file = installed.add("alpha-tools", source, version="1")
        config.write(f'"{metric}"')
        config.relock()
        installed.upgrade(file, "2")
        problem = "".join(config.problems())
        assert "says that alpha-tools 1 provides " in problem
        assert part in problem
        assert "found is alpha-tools 2; `pip install alpha-tools==1`" in problem

    @pytest.mark.parametrize(
        ("source", "old", "new", "metric", "part"),
        [
            (DOTS, '"[.]"', '"[.,]"', "EM(matcher='drop-dots > equal')", "normalizer 'drop-dots' of matcher"),
            (DOTS, 'self.marks, ""', 'self.marks, " "', "EM(matcher='drop-dots > equal')", "normalizer 'drop-dots'"),
            (EQUAL, "text == other", "text in other", "EM(matcher='casefold > alike')", "comparer 'alike' of matcher"),
            (TOKENIZER.format(version=1), "len(text)", "2 * len(text)", "recall(tokenizer=acme)@9tok", "tokenizer"),
            (MEDIAN, "median(values)", "max(values)", "alpha-depth", "aggregate 'median' of metric 'alpha-depth'"),
        ],
    )
    def test_other_source_code_of_a_part_or_its_helpers_is_a_note(
        self, config, installed, source, old, new, metric, part
    ):
        file = installed.add("alpha-tools", source, version="1")
        config.write(f'"{metric}"')
        config.relock()
        assert () == config.plan().notes
        installed.uninstall(file)
        installed.add("alpha-tools", source.replace(old, new), version="1")
        (note,) = config.plan().notes
        assert note.startswith(part)
        assert " of alpha-tools 1 has other source code than the lock" in note
        assert "under the same version (1); if its scores changed" in note


class TestWhatIsMissing:
    @pytest.fixture
    def plugin(self, config, installed):
        file = installed.add("alpha-tools", metric_module("alpha-depth", short=("adepth",)), version="1.2")
        config.write("adepth")
        config.relock()
        return file

    def test_a_distribution_that_was_uninstalled_is_named_with_what_to_do(self, config, installed, plugin):
        installed.uninstall(plugin)
        (problem,) = config.problems()
        assert f"{config.path}:5: unknown metric 'adepth'" in problem
        assert f"the lock {config.lock} names alpha-tools 1.2 as the provider of 'alpha-depth'" in problem
        assert "it is not installed; `pip install alpha-tools==1.2`" in problem

    def test_one_that_is_disabled(self, config, plugin):
        (problem,) = config.problems(disable=["alpha-tools"])
        assert "names alpha-tools 1.2 as the provider of 'alpha-depth': it is disabled" in problem

    def test_one_that_is_broken(self, config, plugin, installed):
        installed.uninstall(plugin)
        installed.add("alpha-tools", "raise ImportError('no backend')", version="1.2")
        (problem,) = config.problems()
        assert "it failed to load: importing 'fake_plugin_1' failed: ImportError: no backend" in problem

    def test_one_that_no_longer_has_it(self, config, plugin, installed):
        installed.uninstall(plugin)
        installed.add("alpha-tools", metric_module("alpha-width"), version="2.0")
        (problem,) = config.problems()
        assert "installed is 2.0; `pip install alpha-tools==1.2`" in problem

    def test_one_that_another_distribution_clashes_with(self, config, plugin, installed):
        installed.add("beta-tools", metric_module("beta-depth", short=("adepth",)))
        (problem,) = config.problems()
        assert "metric 'adepth' is claimed by 2 plugins" in problem
        assert "names alpha-tools 1.2 as the provider of 'alpha-depth': uninstall or disable the others" in problem

    def test_part_of_a_matcher(self, config, installed):
        source = """\
            from rankgauge.plugin import hookimpl, normalizer

            @normalizer("drop-dots", stage="strip")
            def drop_dots(text):
                return text.replace(".", "")

            @hookimpl
            def rankgauge_normalizers():
                return [drop_dots]
        """
        file = installed.add("alpha-tools", source, version="1.2")
        config.write("EM(matcher='drop-dots > equal')")
        config.relock()
        installed.uninstall(file)
        (problem,) = config.problems()
        assert "unknown normalizer 'drop-dots'" in problem
        assert "names alpha-tools 1.2 as the provider of 'drop-dots'" in problem

    def test_a_name_that_the_lock_does_not_know_is_just_unknown(self, config, plugin):
        config.write("ngcd@3")
        (problem,) = config.problems()
        assert "unknown metric 'ngcd'" in problem
        assert "the lock" not in problem


class TestLockFiles:
    def test_one_that_is_missing_says_what_writes_it(self, config):
        with pytest.raises(
            UnreadableError, match=r"locks/mine\.yaml: no such file.*`rankgauge plugins lock .*` writes it"
        ):
            config.engine().dataset("mine")

    def test_one_that_is_no_lock_says_what_is_wrong_and_where(self, config):
        config.lock.write_text("schema_version: rankgauge.lock.v2\nmetrics: 3\nmatchers: []\npolicy: {}\n", "utf-8")
        with pytest.raises(ConfigError, match="is not a lock file this version of rankgauge can read") as caught:
            config.engine().dataset("mine")
        assert {("metrics", 2), ("conventions", None)} == {
            (problem.path, problem.line) for problem in caught.value.problems
        }

    @pytest.mark.parametrize("version", ["v1", "v3"])
    def test_one_of_another_version_is_refused_with_what_writes_it(self, config, version):
        config.relock()
        text = config.lock.read_text(encoding="utf-8")
        config.lock.write_text(text.replace("lock.v2", f"lock.{version}"), encoding="utf-8")
        with pytest.raises(ConfigError, match=r"`rankgauge plugins lock .*` writes it again") as caught:
            config.engine().dataset("mine")
        assert ["schema_version"] == [problem.path for problem in caught.value.problems]
        assert "rankgauge.lock.v2" in str(caught.value)

    def test_one_that_cannot_be_written_leaves_the_old_one(self, config, monkeypatch):
        config.relock()
        before = config.lock.read_bytes()

        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("rankgauge.io.whole_files.os.fsync", full)
        with pytest.raises(ConfigError, match="No space left on device; nothing was written"):
            config.relock()
        assert before == config.lock.read_bytes()
        assert [config.lock] == list(config.lock.parent.iterdir())

    def test_an_engine_without_a_config_has_nothing_to_lock(self):
        with pytest.raises(ConfigError, match="only the metrics of a config file can be locked"):
            Engine().lock()

    def test_metrics_that_cannot_be_used_cannot_be_locked(self, config):
        config.write("ngcd@3\n    - hitt@2")
        with pytest.raises(PlanError, match=r"cannot be locked \(2 problems\)"):
            config.engine().lock()


class TestResults:
    def test_a_result_says_by_what_it_was_locked_and_its_config_is_locked_too(self, config, tmp_path):
        (tmp_path / "absent.jsonl").write_text(
            '{"id": "q", "expected_output": ["a"], "actual_output": ["a"]}\n', encoding="utf-8"
        )
        config.relock()
        result = config.engine().dataset("mine").run()
        told = result.manifest["lock"]
        assert (str(config.lock), "sha256:") == (told["path"], told["fingerprint"][:7])
        folder = result.save(tmp_path / "out")
        again = Engine.from_config(folder / "config.resolved.yaml").dataset("mine").run()
        assert told["fingerprint"] == again.manifest["lock"]["fingerprint"]
        assert result["ndcg@10"].info.fingerprint == again["ndcg@10"].info.fingerprint
        config.lock.write_text(config.lock.read_text(encoding="utf-8").replace("ndcg@10", "other"), encoding="utf-8")
        with pytest.raises(PlanError, match="metric 'ndcg@10' is not in the lock"):
            Engine.from_config(folder / "config.resolved.yaml").dataset("mine").run()

    def test_a_result_without_a_lock_says_so(self, engine):
        row = {"id": "q", "expected_output": ["a"], "actual_output": ["a"]}
        assert engine.dataset([row]).with_metrics(["hit@1"]).run().manifest["lock"] is None

    def test_the_fingerprint_stands_in_manifest_and_summary(self, engine, tmp_path):
        row = {"id": "q", "expected_output": ["a"], "actual_output": ["a"]}
        result = engine.dataset([row]).with_metrics(["hit@1"]).run()
        folder = result.save(tmp_path / "out")
        fingerprint = result["hit@1"].info.fingerprint
        manifest = yaml.safe_load((folder / "manifest.json").read_text(encoding="utf-8"))
        summary = yaml.safe_load((folder / "summary.json").read_text(encoding="utf-8"))
        assert fingerprint == manifest["metrics"][0]["fingerprint"] == summary["metrics"]["hit@1"]["fingerprint"]


def test_a_locked_evaluation_stays_locked_when_it_is_pickled(config):
    config.relock()
    evaluation = pickle.loads(pickle.dumps(config.engine().dataset("mine")))  # noqa: S301  # our own
    with pytest.raises(PlanError, match=r"metric 'hit@1' is not in the lock .*mine\.yaml"):
        evaluation.with_metrics(["hit@1"]).plan()


def test_parts_that_two_functions_of_one_name_computed_are_not_merged(engine):
    rows = [{"id": name, "expected_output": ["a"], "actual_output": ["a"]} for name in "pq"]

    def depth(ranking):
        return float(ranking.depth)

    first = engine.dataset(rows[:1]).with_metrics([depth]).run()
    again = engine.dataset(rows[1:]).with_metrics([depth]).run()
    assert [1.0, 1.0] == Result.merge([first, again])["depth"].values.tolist()

    def depth(ranking):
        return 2.0 * ranking.depth

    second = engine.dataset(rows[1:]).with_metrics([depth]).run()
    with pytest.raises(ResultError, match=r"'depth' was computed by other code: depth of test_lock\.py:\d+ in one"):
        Result.merge([first, second])


def test_parts_that_two_versions_of_a_plugin_computed_are_not_merged(installed):
    file = installed.add("alpha-tools", metric_module("alpha-depth"), version="1.2")
    rows = [{"id": name, "expected_output": ["a"], "actual_output": ["a"]} for name in "pq"]
    first = Engine().dataset(rows[:1]).with_metrics(["alpha-depth"]).run()
    installed.upgrade(file, "1.3")
    second = Engine().dataset(rows[1:]).with_metrics(["alpha-depth"]).run()
    assert first["alpha-depth"].info.fingerprint == second["alpha-depth"].info.fingerprint
    with pytest.raises(
        ResultError, match=r"alpha-depth of alpha-tools 1\.2 in one, alpha-depth of alpha-tools 1\.3 in"
    ):
        Result.merge([first, second])


def test_a_catalog_given_in_python_can_be_locked(config):
    engine = Engine.from_config(config.path, catalog=Catalog.discover(own_only=True))
    assert ["rankgauge"] == [entry.parts[0].distribution for entry in engine.lock().entries if entry.kind == "metric"]
