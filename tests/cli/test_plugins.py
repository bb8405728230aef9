"""`rankgauge plugins lock`, and what listings say of plugins that are broken."""

import pytest

from fake_plugins import metric_module


@pytest.fixture(autouse=True)
def _with_plugins(monkeypatch):
    monkeypatch.delenv("RANKGAUGE_NO_PLUGINS")


@pytest.fixture
def locked(write, project, tmp_path):
    """Name a lock in the config, which is not written yet."""
    write(project, (tmp_path / project).read_text(encoding="utf-8") + "plugins: {locked: rankgauge.lock.yaml}\n")
    return project


class TestLock:
    def test_it_writes_a_lock_beside_the_config_and_says_how_to_use_it(self, rankgauge, project, tmp_path):
        done = rankgauge("plugins", "lock", project)
        assert (0, True) == (done.code, (tmp_path / "rankgauge.lock.yaml").is_file())
        assert done.out.startswith("wrote rankgauge.lock.yaml: 4 metrics, 1 matcher, ")
        assert ", from rankgauge " in done.out
        assert "add to rankgauge.yaml:\nplugins:\n  locked: rankgauge.lock.yaml\n" in done.err

    def test_the_config_of_the_working_directory_needs_no_name(self, rankgauge, project, tmp_path):
        assert 0 == rankgauge("plugins", "lock").code
        assert (tmp_path / "rankgauge.lock.yaml").is_file()

    def test_it_writes_where_the_config_says_also_anew(self, rankgauge, project, write, tmp_path):
        text = (tmp_path / project).read_text(encoding="utf-8") + "plugins: {locked: my.lock.yaml}\n"
        write(project, text)
        assert 2 == rankgauge("run", project).code
        assert (0, "") == rankgauge("plugins", "lock", project)[::2]
        assert 0 == rankgauge("run", project).code
        write(project, text.replace("P@1", "P@2"))
        assert "metric 'p@2' is not in the lock my.lock.yaml" in rankgauge("run", project, "--set", "strict").err
        assert 0 == rankgauge("plugins", "lock", project).code
        assert 0 == rankgauge("run", project, "--set", "strict").code

    def test_it_writes_where_it_is_told(self, rankgauge, project, tmp_path):
        done = rankgauge("plugins", "lock", project, "-o", "other.yaml")
        assert (0, True) == (done.code, (tmp_path / "other.yaml").is_file())
        assert "locked: other.yaml" in done.err
        assert 2 == rankgauge("plugins", "lock", project, "-o", "no/such/folder.yaml").code

    @pytest.mark.parametrize(
        "options",
        [["-m", "ndcg@3"], ["--k", "4"], ["--profile", "remem"], ["--policy", "order=score"]],
        ids=lambda options: options[0],
    )
    def test_a_locked_config_refuses_options_that_change_what_is_measured(self, rankgauge, locked, options):
        assert 0 == rankgauge("plugins", "lock", locked).code
        assert 0 == rankgauge("run", locked, "--limit", "1", "--max-failed", "0.5").code
        done = rankgauge("run", locked, *options)
        assert (2, "") == (done.code, done.out)
        assert "rankgauge.lock.yaml" in done.err

    def test_validate_tells_what_a_run_would(self, rankgauge, locked, write, tmp_path):
        rankgauge("plugins", "lock", locked)
        assert 0 == rankgauge("validate", locked).code
        text = (tmp_path / locked).read_text(encoding="utf-8")
        write(locked, text.replace("[MRR,", "[hit@3, MRR,"))
        done = rankgauge("validate", locked)
        assert (2, True) == (done.code, "metric 'hit@3' is not in the lock" in done.err)

    def test_two_profiles_of_a_locked_config_can_still_be_compared(self, rankgauge, locked):
        rankgauge("plugins", "lock", locked)
        profiles = ["--profile", "remem", "--profile", "default"]
        found = rankgauge("metrics", "diff", "samples.jsonl", *profiles, "--config", locked, "-m", "hit@1", "--json")
        first, second = found.json["metrics"][0]["fingerprints"]
        assert (0, 16) == (found.code, len(first))
        assert first != second

    def test_a_distribution_that_is_gone_is_named_before_data_is_read(self, rankgauge, write, installed):
        file = installed.add("alpha-tools", metric_module("alpha-depth"), version="1.2")
        write(
            "c.yaml",
            "version: 1\ndatasets: {a: {path: absent.jsonl}}\nmetrics: {use: [alpha-depth]}\n"
            "plugins: {locked: rankgauge.lock.yaml}\n",
        )
        assert 0 == rankgauge("plugins", "lock", "c.yaml").code
        installed.uninstall(file)
        done = rankgauge("run", "c.yaml")
        assert 2 == done.code
        assert "c.yaml:3: unknown metric 'alpha-depth'" in done.err
        assert "names alpha-tools 1.2 as the provider" in done.err
        assert "`pip install alpha-tools==1.2`" in done.err
        assert "absent.jsonl" not in done.err


class TestBrokenPlugins:
    @pytest.mark.parametrize("listing", [["metrics", "list"], ["matchers", "list"], ["metrics", "list", "--json"]])
    def test_one_costs_a_warning_that_names_it_and_nothing_else(self, rankgauge, installed, listing):
        for number in range(5):
            installed.add(f"fine-{number}", metric_module(f"fine-{number}-depth"))
        before = rankgauge(*listing)
        installed.add("broken-tools", "raise ImportError('no backend')", version="0.3")
        after = rankgauge(*listing)
        assert (0, before.out, "") == (after.code, after.out, before.err)
        assert (
            "warning: plugin broken-tools:main 0.3 is broken: importing 'fake_plugin_5' failed: ImportError: no backend"
        ) in after.err
        assert 1 == after.err.count("\n")
