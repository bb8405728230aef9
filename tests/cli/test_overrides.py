"""What is typed beside a profile counts, whether the profile stands in the config or on the command line."""

import json

import pytest

# MRR under `classic`, where a sample without ground truth or output counts as 0: (1/2 + 0 + 0) / 3 = 1/6. Recall with
# the built-in cutoff of 5: (1 + 0 + 0) / 3 = 1/3. One of three samples has no output, so that the exit code is 3.
ROWS = (
    {"id": "q1", "expected_output": ["a"], "actual_output": [{"id": "b", "score": 1}, {"id": "a", "score": 2}]},
    {"id": "q2", "expected_output": [], "actual_output": ["a"]},
    {"id": "q3", "expected_output": ["a"]},
)

SOURCES = {
    "--profile": ("", ["--profile", "classic"]),
    "config": ("profile: classic\n", []),
    "--profile over that of the config": ("profile: eval-harness\n", ["--profile", "classic"]),
}

OVERRIDES = {
    "nothing": ([], 3, 1 / 6, 1 / 3, {}),
    # Rank 1 of q1 is not relevant.
    "--policy depth=1": (["--policy", "depth=1"], 3, 0.0, 0.0, {"depth": 1}),
    # By score, q1 has its relevant document first: (1 + 0 + 0) / 3.
    "--policy order=score": (["--policy", "order=score"], 3, 1 / 3, 1 / 3, {"order": "score"}),
    # Without q2, (1/2 + 0) / 2 and (1 + 0) / 2.
    "--policy no_gold": (["--policy", "no_gold=undefined"], 3, 1 / 4, 1 / 2, {"no_gold": "undefined"}),
    "several --policy": (
        ["--policy", "depth=1", "--policy", "order=score", "--policy", "no_gold=undefined"],
        3,
        1 / 2,
        1 / 2,
        {"depth": 1, "order": "score", "no_gold": "undefined"},
    ),
    "--max-failed": (["--max-failed", "0.5"], 0, 1 / 6, 1 / 3, {"max_failed": 0.5}),
    "--max-failed too low": (["--max-failed", "0.25"], 3, 1 / 6, 1 / 3, {"max_failed": 0.25}),
    "--policy and --max-failed": (
        ["--policy", "depth=1", "--max-failed", "0.5"],
        0,
        0.0,
        0.0,
        {"depth": 1, "max_failed": 0.5},
    ),
    "--k": (["--k", "1"], 3, 1 / 6, 0.0, {}),
    "-k": (["-k", "1"], 3, 1 / 6, 0.0, {}),
    # Of the first sample alone.
    "--limit": (["--limit", "1"], 0, 1 / 2, 1.0, {}),
    # q1 and q3 have the relevant document first, q2 has no ground truth: 2/3.
    "--outputs": (["--outputs", "outputs.jsonl"], 0, 2 / 3, 2 / 3, {}),
    "--set": (["--set", "both"], 3, 1 / 6, 1 / 3, {}),
    "--set and --metric": (["--set", "one", "-m", "retrieval-recall-at-k"], 3, 1 / 6, 1 / 3, {}),
}


@pytest.fixture
def config(write):
    write("samples.jsonl", ROWS)
    write("outputs.jsonl", [{"id": f"q{number}", "actual_output": ["a"]} for number in (1, 2, 3)])

    def with_text(text):
        return write(
            "c.yaml",
            "version: 1\ndatasets: {mine: {path: samples.jsonl}}\nmetrics:\n  use: [MRR, retrieval-recall-at-k]\n"
            f"  sets: {{one: [MRR], both: [MRR, retrieval-recall-at-k]}}\n{text}",
        )

    return with_text


def expect(done, code, mrr, recall, policy):
    assert done.code == code
    assert (done.json["profile"], done.json["policy"]["duplicates"]) == ("classic", "keep")
    assert done.mean("mrr") == pytest.approx(mrr, rel=1e-12)
    assert done.mean("retrieval-recall-at-k") == pytest.approx(recall, rel=1e-12)
    assert {name: done.json["policy"][name] for name in policy} == policy


@pytest.mark.parametrize("override", OVERRIDES)
@pytest.mark.parametrize("source", SOURCES)
def test_every_option_counts_whatever_names_the_profile(rankgauge, config, source, override):
    text, named = SOURCES[source]
    typed, *expected = OVERRIDES[override]
    expect(rankgauge("run", config(text), *named, *typed, "--json"), *expected)


@pytest.mark.parametrize("override", [name for name in OVERRIDES if not name.startswith("--set")])
def test_every_option_counts_without_a_config(rankgauge, config, override):
    config("")
    typed, *expected = OVERRIDES[override]
    metrics = ("-m", "MRR", "-m", "retrieval-recall-at-k")
    expect(rankgauge("run", "--data", "samples.jsonl", *metrics, "--profile", "classic", *typed, "--json"), *expected)


@pytest.mark.parametrize("source", SOURCES)
def test_a_typed_option_beats_that_of_the_config_which_beats_the_profile(rankgauge, config, source):
    text, named = SOURCES[source]
    path = config(f"{text}policy: {{depth: 1, max_failed: 0.5}}\n")
    expect(rankgauge("run", path, *named, "--json"), 0, 0.0, 0.0, {"depth": 1, "max_failed": 0.5})
    typed = ("--policy", "depth=2", "--max-failed", "0")
    expect(rankgauge("run", path, *named, *typed, "--json"), 3, 1 / 6, 1 / 3, {"depth": 2, "max_failed": 0})


def test_options_are_judged_together_and_not_one_layer_after_the_other(rankgauge, config):
    """`ties: average` has no closed form with the repeats that `classic` keeps; with `duplicates: first` it has."""
    path = config("policy: {order: score, ties: average}\n")
    refused = rankgauge("run", path, "--profile", "classic")
    assert (refused.code, refused.out) == (2, "")
    assert "ties=average" in refused.err
    done = rankgauge("run", path, "--profile", "classic", "--policy", "duplicates=first", "--json")
    assert (done.code, done.json["policy"]["duplicates"]) == (3, "first")


class TestNamedColumns:
    """A column is asked for by the name that the config gives it, wherever a metric is."""

    TEXT = "metrics:\n  use: [{metric: P@1, as: top}, MRR]\n  sets: {more: [{metric: recall@2, as: wide}]}\n"

    @pytest.fixture
    def named(self, rankgauge, config, write):
        return write("n.yaml", f"version: 1\ndatasets: {{mine: {{path: samples.jsonl}}}}\n{self.TEXT}")

    @pytest.mark.parametrize(("name", "standard"), [("top", "P@1"), ("wide", "recall@2"), ("MRR", "MRR")])
    def test_by_run_and_rescore(self, rankgauge, named, name, standard):
        expected = rankgauge("run", named, "-m", standard, "--json").json["metrics"].values()
        for command in (("run", named), ("rescore", "kept", "--config", named)):
            if command[0] == "rescore":
                rankgauge("run", named, "-m", "AP", "-o", "kept")
            done = rankgauge(*command, "-m", name, "--json")
            assert [column["mean"] for column in done.json["metrics"].values()] == [c["mean"] for c in expected]
            assert list(done.json["metrics"]) == ([name] if name != "MRR" else list(done.json["metrics"]))

    def test_a_matcher_that_the_config_declares_later_is_one_for_rescore(self, rankgauge, write):
        """The texts differ in case, so that only a matcher that folds it matches them."""
        truth = {"passages": ["Forty-one"]}
        output = [{"id": "a", "text": "forty-one"}]
        write("s.jsonl", [{"id": "q", "expected_output": truth, "actual_output": output}])
        text = "version: 1\ndatasets: {d: {path: s.jsonl}}\nmetrics: {use: [recall(gold=passages)@1]}\n"
        assert rankgauge("run", write("c.yaml", text), "-o", "kept").code == 0
        declared = "matchers: {mine: 'casefold > equal'}\n"
        later = write("later.yaml", text + declared)
        metric = "recall(gold=passages, matcher=mine)@1"
        assert "unknown matcher 'mine'" in rankgauge("rescore", "kept", "-m", metric).err
        done = rankgauge("rescore", "kept", "--config", later, "-m", metric, "--json")
        assert [column["mean"] for column in done.json["metrics"].values()] == [1.0]

    def test_by_rescore_of_a_folder_that_has_it(self, rankgauge, named):
        rankgauge("run", named, "-o", "kept")
        assert list(rankgauge("rescore", "kept", "-m", "top", "--json").json["metrics"]) == ["top"]

    def test_an_unknown_name_is_still_one(self, rankgauge, named):
        assert "unknown metric 'tops'" in rankgauge("run", named, "-m", "tops").err


class TestTrec:
    """MRR of q1 is 1/2: x has the higher score. q2 is missing, so that the mean is 1/4, and 1/2 under trec9."""

    @pytest.fixture
    def files(self, write):
        return write("qrels.txt", "q1 0 a 2\nq1 0 b 1\nq2 0 a 1\n"), write("run.txt", "q1 Q0 x 1 2 t\nq1 Q0 b 2 1 t\n")

    @pytest.mark.parametrize(
        ("typed", "mean", "policy"),
        [
            ([], 1 / 2, {"score_dtype": "float32", "queries": "intersection"}),
            (["--policy", "depth=1"], 0.0, {"depth": 1}),
            (["-M", "1"], 0.0, {"depth": 1}),
            (["--policy", "depth=1", "-M", "2"], 1 / 2, {"depth": 2}),
            (["-J"], 1.0, {"judged_only": True}),
            (["--policy", "judged_only=true"], 1.0, {"judged_only": True}),
            (["-c"], 1 / 4, {"queries": "judged"}),
            (["--policy", "queries=intersection", "-c"], 1 / 4, {"queries": "judged"}),
            (
                ["-c", "-J", "--policy", "ties=given"],
                1 / 2,
                {"queries": "judged", "judged_only": True, "ties": "given"},
            ),
            (["-l", "2"], 0.0, {}),
            (["-l", "2", "-J", "-M", "1"], 0.0, {"judged_only": True, "depth": 1}),
        ],
    )
    def test_every_option_counts_beside_a_profile(self, rankgauge, files, typed, mean, policy):
        done = rankgauge("trec", *files, "--profile", "trec9", *typed, "-m", "RR", "--json")
        assert done.code == 0
        report = json.loads(done.out)
        (column,) = report["metrics"].values()
        assert (report["profile"], report["policy"]["score_dtype"]) == ("trec9", "float32")
        assert column["mean"] == mean
        assert {name: report["policy"][name] for name in policy} == policy

    def test_k_is_the_default_cutoff(self, rankgauge, files):
        """Recall of q1 is 1/2 at 5 and 0 at 1; q2 counts as 0."""
        for typed, mean in (([], 1 / 4), (["-k", "1"], 0.0), (["--profile", "trec9", "-k", "1"], 0.0)):
            done = rankgauge("trec", *files, *typed, "-m", "retrieval-recall-at-k", "--json")
            (column,) = json.loads(done.out)["metrics"].values()
            assert column["mean"] == mean
