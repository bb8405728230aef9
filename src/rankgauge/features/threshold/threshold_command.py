"""
`rankgauge threshold`: below which score a system should say nothing.
"""

from __future__ import annotations

import argparse

from rankgauge.arguments import share
from rankgauge.cli.shared_options import AS_JSON, CLUSTER, DATASET, Command, Options, value

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
THRESHOLD = Command("RESULT [OPTIONS]", _ABOUT_THRESHOLD, _THRESHOLD_OPTIONS, f"{__name__}:execute_threshold")


def execute_threshold(given: argparse.Namespace) -> int:
    """Print below which score a system should say nothing."""
    from rankgauge.cli.console import print_answer
    from rankgauge.cli.conventions import clusters_typed
    from rankgauge.cli.result_folders import stored_results
    from rankgauge.comparison.clusters import clustered
    from rankgauge.engine.comparing import named_clusters
    from rankgauge.features.threshold.threshold import threshold, threshold_lines

    hint = "a threshold needs questions that are declared unanswerable, which runs cannot say"
    results = stored_results([given.folder], given.dataset, of_runs=hint)
    by, clusters = named_clusters(results, clusters_typed(given.cluster))
    (result,) = results.values()
    if clusters is not None:
        result = clustered(result, clusters, by)
    how = {"at_most": given.at_most, "confidence": given.confidence, "seed": given.seed}
    chosen = threshold(result, given.metric, **how)
    return print_answer(given, chosen.to_dict(), threshold_lines(chosen))
