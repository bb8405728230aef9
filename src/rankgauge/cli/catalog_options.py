"""
What can be typed for the commands about what is installed: metrics, matchers, plugins, doctor and init.
"""

from __future__ import annotations

from rankgauge.cli import shared_options as shared
from rankgauge.cli.shared_options import AS_JSON, CONFIG, Command, Options, count, file, flag, value

_BROKEN = "Broken plugins are named on stderr."

METRICS_LIST = Command("[OPTIONS]", _BROKEN, (AS_JSON, shared.ALL_COLUMNS), "metrics_command:execute_list")

_ABOUT_METRIC = "Its definition, parameters, inputs, cutoff and provider."
_TOOL = "What it is in this tool, in a line: a profile such as lightgbm."
_METRIC: Options = (
    value("name", "NAME", "Any name of the metric, such as ndcg."),
    value("--as", "TOOL", _TOOL, dest="tool"),
    AS_JSON,
)
METRICS_SHOW = Command("[OPTIONS] NAME", _ABOUT_METRIC, _METRIC, "metrics_command:execute_show")

_USAGE_DIFF = "[OPTIONS] (--profile A --profile B | --as TOOL) DATA [OUTPUTS]"
_ABOUT_DIFF = """\
For each metric: both means, the conventions that differ, and the first samples whose value changes, with both values
and the conventions that change them. Without -m: every metric that the data has ground truth for. The exit code is 0,
whether they differ or not.
"""
_DIFF_OPTIONS: Options = (
    file("data", "The data file, or judgments.", "DATA"),
    shared.OUTPUTS,
    shared.profile("Give two.", action="append"),
    value("--as", "TOOL", "Short for --profile default --profile TOOL: why the tool's number is another.", dest="tool"),
    value("-m --metric", "METRIC", "A metric, such as ndcg@10 or recall@1,5.", many=True),
    *shared.DATA,
    CONFIG,
    shared.CUTOFF,
    count("--samples", "How many changed samples to show for each metric.", 0, default=5),
    AS_JSON,
)
METRICS_DIFF = Command(_USAGE_DIFF, _ABOUT_DIFF, _DIFF_OPTIONS, "metrics_command:execute_diff")

_USAGE_NUMBER = "[OPTIONS] NUMBER METRIC"
_ABOUT_NUMBER = """\
Without the data: whether n queries can have this mean, its interval (of counts if scores are 0 or 1; else the widest
that scores within their range can have), and what it can be told from. Exit code 1 if no n queries have it.
"""
_NUMBER_OPTIONS: Options = (
    value("number", "NUMBER", "The mean with all its digits, such as 0.4170 or 41.7%%."),
    value("metric", "METRIC", "What it is the mean of, such as hit@5; with --as in the tool's spelling, too."),
    count("-n --queries", "How many queries it is the mean of.", 1, required=True),
    value("--as", "TOOL", "The tool that computed it: a profile such as lightgbm.", dest="tool"),
    value("--other", "NUMBER", "Another mean over the same queries: can they be distinguished?"),
    AS_JSON,
)
METRICS_NUMBER = Command(_USAGE_NUMBER, _ABOUT_NUMBER, _NUMBER_OPTIONS, "number_command:execute")

MATCHERS_LIST = Command("[OPTIONS]", _BROKEN, (CONFIG, AS_JSON), "matchers_command:execute_list")

_ABOUT_MATCHER = "Its normalizers, its comparer with all parameters, and their providers."
_MATCHER: Options = (
    value("name", "NAME", "A matcher's name, or a composition such as 'casefold > equal >= 1'."),
    CONFIG,
    AS_JSON,
)
MATCHERS_SHOW = Command("[OPTIONS] NAME", _ABOUT_MATCHER, _MATCHER, "matchers_command:execute_show")

_USAGE_TRY = "[OPTIONS] --retrieved TEXT --gold TEXT NAME"
_ABOUT_TRY = "Both are printed after each normalizer, then score and verdict; exit code 0."
_TRY_OPTIONS: Options = (
    value("--retrieved", "TEXT", "The retrieved text, or @FILE; @- is standard input.", required=True),
    value("--gold", "TEXT", "The gold text, or @FILE; @- is standard input.", required=True),
    *_MATCHER,
)
MATCHERS_TRY = Command(_USAGE_TRY, _ABOUT_TRY, _TRY_OPTIONS, "matchers_command:execute_try")

_PLUGINS: Options = (flag("-v --verbose", "Name everything that each plugin offers, with file and line."), AS_JSON)
PLUGINS_LIST = Command("[OPTIONS]", "", _PLUGINS, "plugins_command:execute_list")

_ABOUT_LOCK = "It holds what a config's metrics and matchers mean, and who provides them."
_LOCK_FILE = "the one that the config names, or rankgauge.lock.yaml beside it"
_LOCK_OPTIONS: Options = (
    file("config", "The config file.", "CONFIG", nargs="?", default="rankgauge.yaml"),
    file("-o --output", "The lock file.", says=_LOCK_FILE),
)
PLUGINS_LOCK = Command("[OPTIONS] [CONFIG]", _ABOUT_LOCK, _LOCK_OPTIONS, "plugins_command:execute_lock")

_ABOUT_DOCTOR = """\
Versions, plugins, what is slow to import, what is missing, and whether terminal, workers and browser work. Exit code 1
if something is broken."""
DOCTOR = Command("[OPTIONS]", _ABOUT_DOCTOR, (AS_JSON,), "setup_commands:execute_doctor")

_FOLDER = "The folder; created if needed."
_INIT_OPTIONS: Options = (file("directory", _FOLDER, "FOLDER", nargs="?", default=".", says="the working directory"),)
INIT = Command("[FOLDER]", "Nothing is ever overwritten.", _INIT_OPTIONS, "setup_commands:execute_init")

_ABOUT_HELP = """\
Without COMMAND: all commands. Without GROUP: as COMMAND --help. GROUP is a group of the command's options, as its help
lists them, or all."""
_HELP_WORDS = value("words", "COMMAND [GROUP]", "A command, such as run or gold check, and a group.", nargs="*")
HELP = Command("[COMMAND] [GROUP]", _ABOUT_HELP, (_HELP_WORDS,), "command_line:execute_help")
