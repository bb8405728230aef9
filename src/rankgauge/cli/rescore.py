"""
`rankgauge rescore`: compute metrics over the outputs of a result folder, without any call.
"""

from __future__ import annotations

import dataclasses
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from rankgauge.cli.evaluating import ScoreOptions, evaluate_all, overridden, tell_idle
from rankgauge.cli.folders import Folders
from rankgauge.cli.options import make_catalog
from rankgauge.cli.typed import taking
from rankgauge.errors import ParameterError

if TYPE_CHECKING:
    from rankgauge.catalog import Catalog
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.engine.result import Result

__all__ = ["HELP", "rescore"]

HELP = """\
Score the outputs of a result folder again, without calling anything.

Metrics, profile, policy and cutoff are those of the folder unless others are given. Data and outputs are read from
where the folder's manifest says, and refused if they have changed. Exit codes: as `run`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options(ScoreOptions):
    """What was typed."""

    folder: Annotated[Path, Argument(metavar="FOLDER", help="A result folder, or a folder of several.")] = Path()


@taking(_Options)
def rescore(options: _Options) -> None:
    """Score again; see `HELP`."""
    from rankgauge.engine.result import Result

    inner = sorted(each.parent for each in options.folder.glob("*/manifest.json"))
    is_one = (options.folder / "manifest.json").exists() or not inner
    results = [Result.load(folder) for folder in ([options.folder] if is_one else inner)]
    catalog = make_catalog()
    limits = {result.manifest.get("dataset", {}).get("limit") for result in results}
    folders = Folders(output=options.output, several=not is_one, keep_data=options.keep_data)
    tell_idle(options, folders)
    evaluate_all(
        [_evaluation(result, options, catalog) for result in results],
        options,
        folders,
        catalog=catalog,
        limit=limits.pop() if len(limits) == 1 else None,
    )


def _evaluation(result: Result, options: _Options, catalog: Catalog) -> Evaluation:
    from rankgauge.engine.reopen import evaluation_of, is_of_run

    if is_of_run(result):
        files = result.manifest["files"]
        command = shlex.join(["rankgauge", "trec", files["qrels"] or "QRELS", files["run"] or "RUN", "-m", "METRIC"])
        msg = f"{result.folder} has the scores of a run; compute other metrics from its files: {command}"
        raise ParameterError(msg)
    from rankgauge.engine.evaluation import Evaluation

    evaluation = Evaluation.of(evaluation_of(result, catalog=catalog))
    if options.metric:
        evaluation = evaluation.with_metrics(options.metric)
    return overridden(evaluation, options, _changed_options(evaluation))


def _changed_options(evaluation: Evaluation) -> dict[str, Any]:
    """Return the policy options that differ from the profile's: another profile leaves them as they are."""
    usual = dataclasses.asdict(evaluation.catalog().profile(evaluation.profile.name).policy)
    options = dataclasses.asdict(evaluation.profile.policy)
    return {name: value for name, value in options.items() if value != usual[name]}
