"""
What can be typed for the commands that read results: compare, report, explain, funnel, power, threshold and history.
"""

from __future__ import annotations

from rankgauge.arguments import share
from rankgauge.cli import shared_options as shared
from rankgauge.cli.command_line import Command
from rankgauge.cli.shared_options import AS_JSON, CLUSTER, DATASET, Options, count, file, flag, value

_USAGE_COMPARE = """\
[OPTIONS] BASE NEW [MORE ...]
--qrels QRELS -m METRIC [OPTIONS] BASE NEW [MORE ...]
--config CONFIG [OPTIONS] BASE NEW [MORE ...]
--judgments QRELS --human QRELS -m METRIC [OPTIONS] RUN [MORE ...]"""
_ABOUT_COMPARE = """\
BASE and NEW are result folders, or baseline files of --save-baseline. With --qrels they are TREC runs, with the options
of rankgauge trec; with --config they are outputs files of one dataset. With --judgments and --human they are TREC runs
that a model judged, and people in part: what people say corrects the model, and its errors stay in the interval.

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
_TEST = "sign-flip, t, wilcoxon, bootstrap-bca, or one of a plugin."
COMPARE_OPTIONS: Options = (
    value("runs", "BASE NEW", "What to compare; the first is the baseline.", nargs="+"),
    "what is compared",
    value("-m --metric", "METRIC", "A metric to compare.", many=True, says="all means that both have"),
    value("--qrels", "QRELS", "Judgments: BASE and NEW are TREC runs."),
    value("--judgments", "QRELS", "Judgments of a model, which --human corrects: of all questions."),
    value("--human", "QRELS", "Judgments of people, of questions drawn at random from those."),
    file("--config", "A config: BASE and NEW are outputs files of its dataset.", "CONFIG"),
    DATASET,
    flag("--all-pairs", "Compare each with each, not only with BASE."),
    CLUSTER,
    value("--common", "SAMPLES", _COMMON, default="all", choices=("all", "unchanged")),
    *shared.unjudged("not latex"),
    "intervals and tests",
    shared.INTERVAL,
    value("--matters", "SIZE", _MATTERS, action="append", says="none, or those of --config"),
    value("--test", "NAME", _TEST, says="sign-flip, or that of --config"),
    value("--confidence", "SHARE", "Confidence level of intervals and tests.", type=share, default=0.95),
    value("--resamples", "N", "Random sign flips to try.", type=int, default=100_000),
    value("--seed", "N", "Random seed.", type=int, default=0),
    "what is printed and written",
    *shared.formats("table, json, markdown, csv or latex (booktabs)", choices=COMPARISON_FORMATS),
    shared.ALL_COLUMNS,
    shared.html(),
    *shared.TEXTS,
    *shared.gates(more="Every other system is judged against BASE.", has_baseline=False),
    *shared.JUDGING,
)
COMPARE = Command(_USAGE_COMPARE, _ABOUT_COMPARE, COMPARE_OPTIONS, "compare_command:execute_compare")

_ABOUT_REPORT = """\
It is one self-contained file: it opens by double-click, loads nothing and needs no server. It shows the verdict, every
metric, every sample to filter and sort, ranked lists, cohorts and depth; of several results, the first is the baseline.

Exit codes: 0 done, 2 usage, unreadable input or results that do not compare, 5 internal error.
"""
_REPORT_OPTIONS: Options = (
    value("folders", "FOLDER", "Result folders, or baseline files.", nargs="+"),
    file("-o --output", "The file.", default="report.html"),
    DATASET,
    *shared.TEXTS,
)
REPORT = Command("[OPTIONS] FOLDER [FOLDER ...]", _ABOUT_REPORT, _REPORT_OPTIONS, "result_commands:execute_report")

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
EXPLAIN = Command(_USAGE_EXPLAIN, _ABOUT_EXPLAIN, _EXPLAIN_OPTIONS, "result_commands:execute_explain")

_USAGE_FUNNEL = "[-m METRIC] [OPTIONS] RESULT_DIR\n--qrels QRELS --stage NAME=RUN --stage NAME=RUN -m METRIC [OPTIONS]"
_ABOUT_FUNNEL = """\
Of a result folder whose outputs tell their stages (`actual_output.stages`); its data are read again. Of TREC runs: one
run for each stage, in the order of the pipeline.

For each stage it shows how many relevant items it returned, added and lost, the metric over its ranking, and the
ceiling: the most that later stages can make of it. Then what became of all relevant items, whether each stage is
better than what it was given, and lost items with their ranks on the way.

Exit codes: 0 done, 2 usage or unreadable input, 4 no output tells every stage, 5 internal error.
"""
_SOURCES = "Which stages gave a stage its results, such as fused=dense,sparse."
FUNNEL_OF_RUNS: Options = (
    value("--qrels", "QRELS", "The judgments of runs."),
    value("--stage", "NAME=RUN", "A stage and its run, in the order of the pipeline.", many=True),
    value("--from", "NAME=STAGES", _SOURCES, many=True, says="the one before it", dest="sources"),
    *shared.JUDGING,
)
_FUNNEL_OPTIONS: Options = (
    value("folder", "RESULT_DIR", "A result folder.", nargs="?"),
    value("-m --metric", "METRIC", "The metric, such as recall@10.", says="the folder's first"),
    count("--items", "How many lost items to list of each stage, and of those never retrieved.", 0, default=3),
    AS_JSON,
    *FUNNEL_OF_RUNS,
)
FUNNEL = Command(_USAGE_FUNNEL, _ABOUT_FUNNEL, _FUNNEL_OPTIONS, "result_commands:execute_funnel")

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

_ABOUT_THRESHOLD = """\
RESULT is a result folder with the columns false_answers, false_abstentions and top_score: `rankgauge run -m` them. The
data says which questions have no answer (metadata.answerable: false), and outputs have scores.

It chooses the lowest score of the first result from which on the system may answer, so that at most a share of the
unanswerable questions is still answered. It is chosen on one half of the questions and reported on the other, because
the half that chose it flatters it.

Exit codes: 0 done, 2 usage or unreadable input, 5 internal error.
"""
_QUALITY = "The metric that says how good answers are, from 0 to 1."
_THRESHOLD_OPTIONS: Options = (
    value("folder", "RESULT", "A result folder."),
    DATASET,
    value("-m --metric", "METRIC", _QUALITY, says="none; answering is good enough"),
    value("--at-most", "SHARE", "Which share of the unanswerable questions may be answered.", type=float, default=0.05),
    value("--confidence", "SHARE", "The confidence of intervals.", type=share, default=0.95),
    value("--seed", "N", "Which halves.", type=int, default=0),
    CLUSTER,
    AS_JSON,
)
THRESHOLD = Command("RESULT [OPTIONS]", _ABOUT_THRESHOLD, _THRESHOLD_OPTIONS, "result_commands:execute_threshold")

_CODES = "Exit codes: 0 done, 2 usage, or a folder or history that cannot be used, 5 internal error.\n"
_OF_HISTORY = "rankgauge.features.history.history_command"
_HISTORY = file("--history", "The history.", default="rankgauge.history")
_COLUMN = value("-m --metric", "METRIC", "A column.", many=True, says="all")


def _selected(newest: int) -> Options:
    """Return the options that select entries of a history, by default its *newest*."""
    return (
        _HISTORY,
        value("--dataset", "NAME", "The entries of this dataset only."),
        value("--system", "NAME", "The entries of this system only: a function, run tag or outputs file."),
        value("--tag", "TAG", "The entries with this tag only."),
        count("--last", "The newest entries of each dataset.", default=newest),
    )


_ABOUT_ADD = f"""\
The folders stay where they are: the history keeps means, intervals, counts and fingerprints, and names each folder by
its content. A folder of result folders adds all of them. A folder that is there already gets what is given now.

{_CODES}"""
_ADD_OPTIONS: Options = (
    file("folders", "Result folders, or folders of result folders.", "DIR", nargs="+"),
    _HISTORY,
    value("--name", "NAME", "What the entry is called.", says="as its folder"),
    value("--commit", "HASH", "The commit that it was made at.", says="as the result says"),
    value("--tag", "TAG", "A word to select entries by.", many=True),
    flag("--passed", "It met its gates: `--baseline last-good` finds it.", default=None),
)
HISTORY_ADD = Command("[OPTIONS] DIR [MORE ...]", _ABOUT_ADD, _ADD_OPTIONS, f"{_OF_HISTORY}:execute_add")
HISTORY_LIST = Command("[OPTIONS]", _CODES, (*_selected(50), AS_JSON), f"{_OF_HISTORY}:execute_list")

_ABOUT_SHOW = f"""\
A line is one metric of one dataset. It breaks where the samples, their ground truth or the definition changed, and says
which. Changes between neighbours are tested sample by sample, with p values corrected over all that are shown; since
when a line is better or worse is told with an interval.

{_CODES}"""
HISTORY_SHOW = Command(
    "[OPTIONS]",
    _ABOUT_SHOW,
    (*_selected(20), _COLUMN, AS_JSON),
    f"{_OF_HISTORY}:execute_show",
)

_ABOUT_HTML = f"""\
One file that loads nothing: every line with its intervals, breaks and changes, each point with a link to its report,
and small lines by cohort.

{_CODES}"""
_PAGE = file("-o --output", "The page.", default="history.html", says="")
HISTORY_HTML = Command(
    "[OPTIONS]",
    _ABOUT_HTML,
    (*_selected(100), _COLUMN, _PAGE),
    f"{_OF_HISTORY}:execute_html",
)

_ABOUT_EXPORT = f"One row for each entry, metric and cohort.\n\n{_CODES}"
_EXPORT_OPTIONS: Options = (*_selected(1_000_000), file("output", "The table: .csv or .parquet."))
HISTORY_EXPORT = Command("[OPTIONS] FILE", _ABOUT_EXPORT, _EXPORT_OPTIONS, f"{_OF_HISTORY}:execute_export")
