"""
`rankgauge rescore`: compute metrics over the outputs of a result folder, without any call.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from rankgauge.cli.command_line import Command
from rankgauge.cli.shared_options import add_score_options, path
from rankgauge.errors import ParameterError

if TYPE_CHECKING:
    from rankgauge.catalog import Catalog
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.engine.result import Result

__all__ = ["RESCORE"]

_ABOUT = """\
Metrics, profile, policy and cutoff are those of the folder unless others are given. Data and outputs are read from
where the folder's manifest says, and refused if they have changed. Exit codes: as `run`.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    folder = "A result folder, or a folder of several. [default: the working directory]"
    parser.add_argument("folder", metavar="FOLDER", nargs="?", default=".", type=path, help=folder)
    add_score_options(parser)


def _rescore(given: argparse.Namespace) -> int:
    from rankgauge.cli.conventions import make_catalog
    from rankgauge.cli.dataset_scores import Scoring, score_datasets
    from rankgauge.cli.result_folders import Folders
    from rankgauge.engine.result import Result

    inner = sorted(manifest.parent for manifest in given.folder.glob("*/manifest.json"))
    is_one = (given.folder / "manifest.json").exists() or not inner
    results = [Result.load(folder) for folder in ([given.folder] if is_one else inner)]
    catalog = make_catalog()
    limits = {result.manifest.get("dataset", {}).get("limit") for result in results}
    return score_datasets(
        Scoring(
            evaluations=[_evaluation(result, given, catalog) for result in results],
            given=given,
            folders=Folders(output=given.output, several=not is_one, keep_data=given.keep_data),
            catalog=catalog,
            limit=limits.pop() if len(limits) == 1 else None,
        )
    )


def _evaluation(result: Result, given: argparse.Namespace, catalog: Catalog) -> Evaluation:
    from rankgauge.cli.dataset_scores import overridden
    from rankgauge.engine.reopen import evaluation_of, is_of_run

    if is_of_run(result):
        import shlex

        files = result.manifest["files"]
        command = shlex.join(["rankgauge", "trec", files["qrels"] or "QRELS", files["run"] or "RUN", "-m", "METRIC"])
        msg = f"{result.folder} has the scores of a run; compute other metrics from its files: {command}"
        raise ParameterError(msg)
    from rankgauge.engine.evaluation import Evaluation

    evaluation = Evaluation.of(evaluation_of(result, catalog=catalog))
    if given.metric:
        evaluation = evaluation.with_metrics(given.metric)
    return overridden(evaluation, given, _changed_options(evaluation))


def _changed_options(evaluation: Evaluation) -> dict[str, Any]:
    """Return the policy options that differ from the profile's: another profile leaves them as they are."""
    from dataclasses import asdict

    usual = asdict(evaluation.catalog().profile(evaluation.profile.name).policy)
    options = asdict(evaluation.profile.policy)
    return {name: value for name, value in options.items() if value != usual[name]}


RESCORE = Command("[OPTIONS] [FOLDER]", _ABOUT, _add_options, _rescore)
