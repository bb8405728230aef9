"""
What can be typed for the commands that read results: compare, explain and power.
"""

from __future__ import annotations

from rankgauge.arguments import share
from rankgauge.cli import shared_options as shared
from rankgauge.cli.shared_options import AS_JSON, CLUSTER, DATASET, Command, Options, count, file, flag, value

_USAGE_COMPARE = """\
[OPTIONS] BASE NEW [MORE ...]
--qrels QRELS -m METRIC [OPTIONS] BASE NEW [MORE ...]
--data DATA -m METRIC [OPTIONS] BASE NEW [MORE ...]
--config CONFIG [OPTIONS] BASE NEW [MORE ...]
--judgments QRELS --human QRELS -m METRIC [OPTIONS] RUN [MORE ...]"""
_ABOUT_COMPARE = """\
BASE and NEW are result folders, baseline files of --save-baseline, or scores of queries that trec_eval -q, ir_measures
-q, pytrec_eval or PyTerrier wrote; one file may have several systems. With --qrels they are TREC runs, with --data or
--config outputs files. With --judgments and --human they are TREC runs that a model judged, and people in part: what
people say corrects the model, and its errors stay in the interval.

Of each metric it prints the mean difference with its interval, p values corrected for the number of metrics and runs,
wins and losses, the smallest difference that this many samples detect, and the samples that changed most.

Exit codes: 0 done, 1 a gate failed, 2 usage, unreadable input or results that do not compare, 4 nothing to evaluate,
5 internal error.
"""
COMPARISON_FORMATS = ("table", "json", "markdown", "csv", "latex")
_COMMON = "all; or unchanged: samples whose ground truth is the same."
_MATTERS = """\
The smallest difference that matters, for all metrics or for one: 0.02, ndcg@10=0.02. Repeatable. A true difference
shown to be smaller makes two systems equivalent."""
_BETTER = """\
Of scores of other tools: which way a measure is better that rankgauge does not know, such as latency=lower."""
_TEST = "sign-flip, t, wilcoxon, bootstrap-bca, or one of a plugin."
COMPARE_OPTIONS: Options = (
    value("runs", "BASE NEW", "What to compare; the first is the baseline.", nargs="+"),
    "systems and samples",
    value("-m --metric", "METRIC", "A metric to compare.", many=True, says="all means that both have"),
    value("--qrels", "QRELS", "Judgments: BASE and NEW are TREC runs."),
    value("--judgments", "QRELS", "Judgments of a model, which --human corrects: of all questions."),
    value("--human", "QRELS", "Judgments of people, of questions drawn at random from those."),
    file("--data", "Samples with ground truth: BASE and NEW are outputs."),
    file("--config", "A config: BASE and NEW are outputs of its dataset.", "CONFIG"),
    DATASET,
    flag("--all-pairs", "Compare each with each, not only with BASE."),
    CLUSTER,
    shared.WEIGHTS,
    shared.GROUPS,
    value("--better", "MEASURE=WAY", _BETTER, many=True, says="those are left out"),
    value("--common", "SAMPLES", _COMMON, default="all", choices=("all", "unchanged")),
    *shared.unjudged("not latex"),
    *shared.FIELDS,
    "intervals and tests",
    shared.INTERVAL,
    value("--matters", "SIZE", _MATTERS, action="append", says="none, or those of --config"),
    value("--test", "NAME", _TEST, says="sign-flip, or that of --config"),
    value("--confidence", "SHARE", "Confidence level of intervals and tests.", type=share, default=0.95),
    value("--resamples", "N", "Random sign flips to try.", type=int, default=100_000),
    value("--seed", "N", "Random seed.", type=int, default=0),
    "printing and writing",
    *shared.formats("table, json, markdown, csv or latex (booktabs)", choices=COMPARISON_FORMATS),
    shared.ALL_COLUMNS,
    shared.html(),
    *shared.TEXTS,
    *shared.gates(more="Every other system is judged against BASE.", has_baseline=False),
    *shared.JUDGING,
)
_FIRST = ("-m", "--qrels", "--data", "--config", "--cluster", "--matters", "--test", "--html", "--gate")
COMPARE = Command(
    _USAGE_COMPARE,
    _ABOUT_COMPARE,
    COMPARE_OPTIONS,
    "compare_command:execute_compare",
    first=_FIRST,
    calls_nothing=lambda _: True,
)

_USAGE_EXPLAIN = "[-m METRIC] [--json] RESULT_DIR SAMPLE\n--qrels QRELS --run RUN -m METRIC [OPTIONS] QUERY"
_ABOUT_EXPLAIN = """\
Of a result folder: rankgauge explain RESULT_DIR SAMPLE. Its data are read again, and have to give the saved score. Of a
TREC run: rankgauge explain --qrels QRELS --run RUN QUERY -m METRIC, with the options of rankgauge trec; nothing else is
scored.

It shows what each rank adds to the score, which gold items are missing, the arithmetic, which result cost most, and
which gold item would help most.

Exit codes: 0 done, 2 usage or unreadable input, 5 internal error.
"""
_EXPLAIN_OPTIONS: Options = (
    value("names", "RESULT_DIR SAMPLE | QUERY", "A result folder and a sample, or a query.", nargs="+"),
    value("-m --metric", "METRIC", "The metric, such as ndcg@10.", says="the folder's first"),
    AS_JSON,
    value("--qrels", "QRELS", "The judgments of a run."),
    value("--run", "RUN", "The run."),
    *shared.JUDGING,
)
EXPLAIN = Command(
    _USAGE_EXPLAIN,
    _ABOUT_EXPLAIN,
    _EXPLAIN_OPTIONS,
    "result_commands:execute_explain",
    calls_nothing=lambda _: True,
)

_ABOUT_POWER = """\
RESULT is a result folder or a baseline file: the pilot. Of two, the spread of their differences is known, and how much
their metrics agree. Of one it is taken from its scores and --correlation.

It prints how many questions show a true difference with a power of 80 %, by the test that rankgauge compare uses, at
the level that its correction leaves; then the smallest difference that some numbers of questions show. Where the pilot
is too small to say, it says so.

Exit codes: 0 done, 2 usage or unreadable input, 5 internal error.
"""
_CORRELATION = "Of one result: how its scores correlate with those of another system."
_POWER_OPTIONS: Options = (
    value("runs", "RESULT", "One result or two.", nargs="+"),
    value("-m --metric", "METRIC", "A metric.", many=True, says="all means"),
    DATASET,
    value("--detect", "SIZE", "A difference to show.", many=True, says="0.01, 0.02, 0.05 and 0.1", type=float),
    count("--metrics", "How many metrics will be compared.", says="as many as there are"),
    count("--systems", "How many systems will be compared with the baseline.", default=1),
    value("--correlation", "NUMBER", _CORRELATION, type=float, default=0.5),
    CLUSTER,
    shared.TEST,
    value("--confidence", "SHARE", "1 minus the level of the test.", type=share, default=0.95),
    AS_JSON,
)
POWER = Command("RESULT [RESULT] [OPTIONS]", _ABOUT_POWER, _POWER_OPTIONS, "result_commands:execute_power")
