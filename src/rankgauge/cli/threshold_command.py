"""
`rankgauge threshold`: below which score a system should say nothing.
"""

from __future__ import annotations

import argparse

from rankgauge.cli.command_line import Command
from rankgauge.cli.console import print_json, show
from rankgauge.cli.shared_options import add_cluster_option, add_json_option, share

__all__ = ["THRESHOLD"]

_OF_RUNS = "a threshold needs questions that are declared unanswerable, which runs cannot say"

_USAGE = "RESULT [OPTIONS]"
_ABOUT = """\
RESULT is a result folder with the columns false_answers, false_abstentions and top_score: `rankgauge run -m` them. The
data says which questions have no answer (metadata.answerable: false), and outputs have scores.

It chooses the lowest score of the first result from which on the system may answer, so that at most a share of the
unanswerable questions is still answered. It is chosen on one half of the questions and reported on the other, because
the half that chose it flatters it.

Exit codes: 0 done, 2 usage or unreadable input, 5 internal error.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="RESULT", help="A result folder.")
    add("--dataset", metavar="NAME", help="Which dataset, where there are several.")
    metric = "The metric that says how good answers are, from 0 to 1. [default: none; answering is good enough]"
    add("-m", "--metric", metavar="METRIC", help=metric)
    rate = "Which share of the unanswerable questions may be answered. [default: %(default)s]"
    add("--at-most", type=float, default=0.05, metavar="SHARE", help=rate)
    confidence = "The confidence of intervals. [default: %(default)s]"
    add("--confidence", type=share, default=0.95, metavar="SHARE", help=confidence)
    add("--seed", type=int, default=0, metavar="N", help="Which halves. [default: %(default)s]")
    add_cluster_option(parser)
    add_json_option(parser)


def _threshold(given: argparse.Namespace) -> int:
    from rankgauge.abstention import choose_threshold
    from rankgauge.abstention.threshold_lines import threshold_lines
    from rankgauge.cli.conventions import clusters_typed
    from rankgauge.cli.result_folders import stored_results
    from rankgauge.comparison.clusters import clustered
    from rankgauge.engine.comparing import named_clusters

    results = stored_results([given.folder], given.dataset, of_runs=_OF_RUNS)
    by, clusters = named_clusters(results, clusters_typed(given.cluster))
    (result,) = results.values()
    if clusters is not None:
        result = clustered(result, clusters, by)
    found = choose_threshold(result, given.metric, at_most=given.at_most, confidence=given.confidence, seed=given.seed)
    if given.as_json:
        print_json(found.to_dict())
    else:
        show(threshold_lines(found))
    return 0


THRESHOLD = Command(_USAGE, _ABOUT, _add_options, _threshold)
