"""
What can be typed for `rankgauge metrics check` and `rankgauge plugins check`.
"""

from __future__ import annotations

from rankgauge.cli.shared_options import AS_JSON, FUNCTION, Command, Options, count, flag, value

_HERE = "rankgauge.features.testing.check_commands"
_LAWS: Options = (
    value("--without", "LAW", "A law not to check.", many=True),
    count("--cases", "How many cases to draw for each law.", says="100"),
    flag("--quick", "Draw 10 cases for each law, which takes about a tenth of the time."),
    AS_JSON,
)
_ABOUT_CHECK = "Takes any function, too; the exit code is 1 if a law is broken."
_CALLS = """\
What the parameters of your function are, in order: gold,retrieved,k (also set, list, gains, ideal, n-gold, relevances,
scores); batch: before it for lists of rankings; or sample. Not needed if the parameters have these names."""
_CHECK_OPTIONS: Options = (
    value("name", "NAME", f"A metric, or a function of your own: {FUNCTION}."),
    value("--calls", "ROLES", _CALLS),
    value("--range", "LOW..HIGH", "The range of your function; 0.. has no highest value.", default="0..1"),
    flag("--lower-is-better", "Say that lower scores of your function are better."),
    value("--law", "LAW", "A law to check, instead of all.", many=True),
    value("--like", "METRIC", "A metric that it equals, such as recall@k, or recall@k where binary.", many=True),
    value("--reference", "FUNCTION", f"A plain function that defines the same score: {FUNCTION}."),
    *_LAWS,
)
METRICS_CHECK = Command("[OPTIONS] NAME", _ABOUT_CHECK, _CHECK_OPTIONS, f"{_HERE}:check_metrics")
_ABOUT_PLUGIN = """\
With NAME, check one against the laws. Exit code 1 if anything is wrong.

Readers, reporters, aggregates, profiles, sets, sections and observers are tried on tiny data."""
_PLUGIN = "One plugin, by its distribution or entry point; everything it offers is checked against the laws."
_PLUGIN_OPTIONS: Options = (value("name", "NAME", _PLUGIN, nargs="?"), *_LAWS)
PLUGINS_CHECK = Command("[OPTIONS] [NAME]", _ABOUT_PLUGIN, _PLUGIN_OPTIONS, f"{_HERE}:check_plugins")
