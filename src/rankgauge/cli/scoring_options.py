"""
What can be typed for the commands that score data or look at it before: run, rescore, trec and validate.
"""

from __future__ import annotations

import argparse

from rankgauge.arguments import finite, share
from rankgauge.cli import shared_options as shared
from rankgauge.cli.shared_options import Command, Option, Options, count, file, flag, value

_PROGRESS = "Show a progress bar when a run takes long. [default: --progress]"
_WORKERS = count("--workers", "Processes that read and judge a large file of JSON lines.", default=1)
_MAX_FAILED = "Exit with 3 if more than this share (0.1, or 10%%) of the samples is missing or failed."
_FORMATS = "table, json, jsonl, markdown, or a format of a plugin (rankgauge plugins list -v)"
_HASHES = "Keep a hash of each gold document as this corpus has it, so that comparisons see what was edited."
_COHORT = "Make a cohort of each value of a metadata field, such as metadata.language."
_METRIC = "A metric, such as ndcg@10 or recall@1,5; or your own: file.py:function@10."

_SCORES: Options = (
    "metrics and policy",
    value("-m --metric", "METRIC", _METRIC, many=True),
    *shared.policy(None),
    shared.CUTOFF,
    shared.INTERVAL,
    shared.CLUSTER,
    shared.WEIGHTS,
    value("--max-failed", "SHARE", _MAX_FAILED, type=share),
    value("--cohort", "FIELD", _COHORT, many=True),
    shared.GROUPS,
    "printing",
    *shared.formats(_FORMATS),
    flag("--details", "Keep the facts behind every score."),
    flag("--near-misses", "Also keep, for each gold text not found, the nearest retrieved text."),
    flag("--label-doubts", "Also list every label that rankings speak against, and count each sign."),
    count("--worst", "Also list the N worst samples, with what was retrieved and expected."),
    value("--worst-by", "METRIC", "The metric by which --worst picks samples.", says="the first"),
    shared.ALL_COLUMNS,
    flag("--bands", "Label each mean with a word, such as good."),
    Option(("--progress",), {"action": argparse.BooleanOptionalAction, "default": True, "help": _PROGRESS}),
    "writing",
    file("-o --output", "Write a result folder here.", "FOLDER"),
    shared.FORCE,
    flag("--keep-data", "Copy data and outputs into the result folder, so that it is self-contained."),
    file("--keep-hashes", _HASHES, "CORPUS"),
    flag("--with-text", "Also save each sample's question and top results beside its scores."),
    file("--history", "Add the results to this history; --baseline last-good is looked up there."),
    shared.html("Of several datasets each has its own, FILE-NAME.html."),
    *shared.gates(),
)
"""What `run` and `rescore` have in common: what is computed, printed, saved and judged."""

_ABOUT_RUN = """\
Without --data, all datasets of the config are evaluated. Options override the config; gates are added to its gates.

Exit codes: 0 done, 1 a gate failed, 2 usage, config or unreadable input, or a gate that cannot be judged, 3 incomplete
(more missing and failed samples than max_failed allows), 4 nothing to evaluate, 5 internal error.
"""
_STAGE = "Also score what this stage of the pipeline retrieved (`actual_output.stages`)."
_REPEAT = "Call --sut so often for each sample; its score is the mean of them."
_UNTIL = "Call --sut in random order, and stop when this gate is decided: 'ndcg@10 >= 0.6'."
CALLS: Options = (
    "calls of a system under test",
    value("--sut", "FUNCTION", f"The system under test, as {shared.FUNCTION}."),
    value("--concurrency", "N", "Maximum number of concurrent calls of --sut.", says="8", type=int),
    value("--timeout", "SECONDS", "Time allowed for each call of --sut.", type=float),
    value("--retries", "N", "How often to retry a failed call of --sut.", type=int, default=0),
    value("--repeat", "N", _REPEAT, says="1", type=int),
    value("--until", "GATE", _UNTIL, many=True),
    count("--seed", "What the random order of --until begins with.", 0, says="0"),
    file("--resume", "Call --sut only for samples that this earlier run has no output for.", "FOLDER"),
    flag("--retry-failed", "With --resume, also call again for samples whose output is a failure."),
)
_RUN_OPTIONS: Options = (
    file("config", "The config file; or a data file, as --data, unless it is YAML.", "CONFIG", nargs="?"),
    shared.OUTPUTS,
    "data",
    file("--data", "A data file, instead of the config's datasets."),
    value("--dataset", "NAME", "A dataset of the config; by default all.", many=True),
    value("--set", "NAME", "A metric set of the config or a plugin.", many=True, dest="metric_set"),
    value("--stage", "NAME", _STAGE, many=True),
    flag("--stages", "The same for every stage that the first 1,000 outputs tell."),
    value("--limit", "N", "Evaluate only the first N samples.", type=int),
    *shared.DATA,
    _WORKERS,
    *CALLS,
    *_SCORES,
)
_FIRST = ("--data", "--outputs", "--preset", "--sut", "-m", "--profile", "--worst", "-o", "--html", "--gate")
OF_CONFIGS = frozenset({".yaml", ".yml", ""})
"""How configs end; any other file is one of data."""


def _runs_data_alone(given: argparse.Namespace) -> bool:
    """Return whether outputs that are there are scored; a config may name a system."""
    is_data = given.config is None or given.config.suffix.lower() not in OF_CONFIGS
    return is_data and given.sut is None


RUN = Command(
    "[OPTIONS] [CONFIG | DATA [OUTPUTS]]",
    _ABOUT_RUN,
    _RUN_OPTIONS,
    "run_command:execute_run",
    first=_FIRST,
    calls_nothing=_runs_data_alone,
)

_ABOUT_RESCORE = """\
Metrics, profile, policy and cutoff are those of the folder unless others are given; matchers and named columns of
--config replace those of the folder. Data and outputs are read from where the folder's manifest says, and refused if
they have changed. Exit codes: as `run`.
"""
_RESCORED = "A result folder, or a folder of several."
_RESCORE_OPTIONS: Options = (
    file("folder", _RESCORED, "FOLDER", nargs="?", default=".", says="the working directory"),
    "data",
    shared.CONFIG,
    _WORKERS,
    *_SCORES,
)
_FIRST_RESCORE = ("--config", "-m", "--profile", "-k", "--worst", "-f", "-o", "--html", "--gate", "--baseline")
RESCORE = Command(
    "[OPTIONS] [FOLDER]",
    _ABOUT_RESCORE,
    _RESCORE_OPTIONS,
    "run_command:execute_rescore",
    first=_FIRST_RESCORE,
    calls_nothing=lambda _: True,
)

_USAGE_TREC = "[OPTIONS] QRELS RUN [RUN ...]\n[OPTIONS] [QRELS] RUN [RUN ...] --against OTHER"
_ABOUT_TREC = """\
QRELS and RUN are TREC files, BEIR files, Parquet, CSV or JSON, compressed or not; - is standard input. Write metrics as
trec_eval, ir_measures or rankgauge do: -m ndcg_cut.10 -m nDCG@10 -m P -m official -m all_trec.

With --against OTHER, the rankings of each RUN are compared with those of another run: -m rbo -m tau_ap -m overlap@10.
QRELS may then be left out; if it is given, only judged queries are compared.

Exit codes: 0 done, 1 a gate failed, 2 usage or unreadable input, 4 nothing to evaluate, 5 internal error.
"""
_AGAINST = "Compare rankings with those of this run, instead of judging them. (table, json, jsonl)"
_ALSO = "Another dataset, its judgments and its run; the mean over all of them counts each the same."
_CLUSTERS = "A file with a line for each query: its id, a blank, and the cluster it shares with others."
_WEIGHTS = "A file with a line for each query: its id, a blank, and how much it counts in means."
TREC_OPTIONS: Options = (
    value("qrels", "QRELS", "The judgments."),
    value("runs", "RUN", "The runs.", nargs="*"),
    "metrics and queries",
    value("-m --metric", "METRIC", "A metric, a family (P) or a set (official, all_trec).", many=True, says="official"),
    flag("-c --complete", "Count judged queries missing from a run as 0; only trec9 leaves them out otherwise."),
    value("--also", "QRELS,RUN", _ALSO, many=True, type=shared.two_files),
    value("--against", "OTHER", _AGAINST),
    *shared.unjudged("table, json"),
    value("--cluster", "FILE", _CLUSTERS),
    shared.GROUPS,
    value("--weights", "FILE", _WEIGHTS),
    *shared.JUDGING,
    "printing and writing",
    shared.INTERVAL,
    flag("-q --per-query", "Also print the scores of every query."),
    flag("-n --no-summary", "Leave out the summary over all queries."),
    *shared.formats("table, trec (as trec_eval does), json, jsonl, markdown, or a format of a plugin"),
    shared.ALL_COLUMNS,
    value("--sort", "METRIC", "The metric that orders several runs.", says="the first mean"),
    file("-o --output", "Write the scores to a .parquet file or a result folder.", "PATH"),
    shared.FORCE,
    *shared.gates(),
)
_FIRST_TREC = ("-m", "-c", "-q", "-l", "-J", "-M", "--profile", "-f", "-o", "--gate")
TREC = Command(
    _USAGE_TREC,
    _ABOUT_TREC,
    TREC_OPTIONS,
    "trec_command:execute_trec",
    first=_FIRST_TREC,
    calls_nothing=lambda _: True,
)

_ABOUT_VALIDATE = """\
Nothing is scored. With a config: check it, the metrics and matchers it names, and the data of its datasets, and report
every problem together. With a data file: check its samples. Exit codes: 0 everything can be used, 2 something cannot,
4 nothing to evaluate.

With two or more files, QRELS RUN [RUN ...]: check that the queries and documents of the runs are the judged ones, and
look for wrong ranks, equal scores, repeated documents and odd grades. `-` is standard input. Exit codes: 0 no error,
1 a check failed, 2 a file cannot be read.
"""
VALIDATED_SAMPLES: Options = (*shared.FIELDS, file("--outputs", "Outputs for the samples of a data file."))
VALIDATED_RUNS: Options = (
    "judgments and runs",
    shared.AS_JSON,
    flag("--strict", "Exit with 1 for warnings, too."),
    value("--rel", "GRADE", "Lowest grade of a relevant document.", says="1", type=finite),
    shared.COLUMNS,
)
_VALIDATE_OPTIONS: Options = (
    file("files", "What to check.", "CONFIG | SAMPLES | QRELS RUN...", nargs="+"),
    *VALIDATED_SAMPLES,
    shared.LETTERS,
    value(
        "--reader",
        "NAME",
        "The reader of the data or the runs, whatever their ending; outputs=NAME, qrels=NAME: of these.",
        many=True,
    ),
    file("--baseline", "Also check that the retrieved ids are those of a baseline."),
    flag("-v --verbose", "Of a config, also print what exactly each metric computes, its matchers, cutoff and file."),
    *VALIDATED_RUNS,
)
VALIDATE = Command(
    "[OPTIONS] CONFIG | SAMPLES | QRELS RUN [RUN ...]",
    _ABOUT_VALIDATE,
    _VALIDATE_OPTIONS,
    "validate_command:execute_validate",
    calls_nothing=lambda _: True,
)
