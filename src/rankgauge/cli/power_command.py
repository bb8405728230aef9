"""
`rankgauge power`: how many questions a comparison needs to show a difference of some size.
"""

from __future__ import annotations

import argparse

from rankgauge.cli.command_line import Command
from rankgauge.cli.console import print_json, show
from rankgauge.cli.shared_options import add_cluster_option, add_json_option, share, whole_number

__all__ = ["POWER"]

_OF_RUNS = "save the scores of TREC runs as a result folder first: rankgauge trec QRELS RUN -o FOLDER"

_USAGE = "RESULT [RESULT] [OPTIONS]"
_ABOUT = """\
RESULT is a result folder or a baseline file: the pilot. Of two, the spread of their differences is known, and how much
their metrics agree. Of one it is taken from its scores and --correlation.

It prints how many questions show a true difference with a power of 80 %, by the test that rankgauge compare uses, at
the level that its correction leaves; then the smallest difference that some numbers of questions show. Where the pilot
is too small to say, it says so.

Exit codes: 0 done, 2 usage or unreadable input, 5 internal error.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("runs", metavar="RESULT", nargs="+", help="One result or two.")
    metric = "A metric. Repeatable. [default: all means]"
    add("-m", "--metric", action="append", metavar="METRIC", help=metric)
    add("--dataset", metavar="NAME", help="Which dataset, where there are several.")
    size = "A difference to show. Repeatable. [default: 0.01, 0.02, 0.05 and 0.1]"
    add("--detect", action="append", type=float, metavar="SIZE", help=size)
    count = "How many metrics will be compared. [default: as many as there are]"
    add("--metrics", type=whole_number(1), metavar="N", help=count)
    systems = "How many systems will be compared with the baseline. [default: %(default)s]"
    add("--systems", type=whole_number(1), default=1, metavar="N", help=systems)
    correlation = "Of one result: how its scores correlate with those of another system. [default: %(default)s]"
    add("--correlation", type=float, default=0.5, metavar="NUMBER", help=correlation)
    add_cluster_option(parser)
    test = "sign-flip, t, wilcoxon or bootstrap-bca. [default: %(default)s]"
    add("--test", default="sign-flip", metavar="NAME", help=test)
    confidence = "1 minus the level of the test. [default: %(default)s]"
    add("--confidence", type=share, default=0.95, metavar="SHARE", help=confidence)
    add_json_option(parser)


def _power(given: argparse.Namespace) -> int:
    from rankgauge.cli.conventions import clusters_typed
    from rankgauge.cli.result_folders import stored_results
    from rankgauge.comparison.estimate import Method
    from rankgauge.comparison.power import SIZES, plan_power, power_lines
    from rankgauge.engine.comparing import named_clusters

    results = stored_results(given.runs, given.dataset, of_runs=_OF_RUNS)
    plan = plan_power(
        results,
        method=Method(test=given.test, confidence=given.confidence),
        metrics=given.metric,
        sizes=given.detect or SIZES,
        compared=given.metrics,
        systems=given.systems,
        correlation=given.correlation,
        clusters=named_clusters(results, clusters_typed(given.cluster))[1],
    )
    if given.as_json:
        print_json(plan.to_dict())
    else:
        show(power_lines(plan))
    return 0


POWER = Command(_USAGE, _ABOUT, _add_options, _power)
