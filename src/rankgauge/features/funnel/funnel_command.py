"""
`rankgauge funnel`: where a pipeline loses what is relevant, stage by stage.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rankgauge.cli import shared_options as shared
from rankgauge.cli.shared_options import AS_JSON, Command, Options, count, typed, value
from rankgauge.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from rankgauge.features.funnel.funnel import Funnel

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
FUNNEL = Command(_USAGE_FUNNEL, _ABOUT_FUNNEL, _FUNNEL_OPTIONS, f"{__name__}:execute_funnel")


def execute_funnel(given: argparse.Namespace) -> int:
    """Print where a pipeline loses what is relevant, stage by stage."""
    from rankgauge.cli.console import print_answer, terminal_width
    from rankgauge.features.funnel.funnel import funnel_lines

    found = _funnel_of_folder(given) if given.folder is not None else _funnel_of_runs(given)
    return print_answer(given, found.to_dict(), funnel_lines(found, width=terminal_width()))


def _funnel_of_folder(given: argparse.Namespace) -> Funnel:
    """Return the funnel of a result folder."""
    from rankgauge.cli.conventions import make_catalog
    from rankgauge.features.funnel.funneling import funnel
    from rankgauge.result import Result

    if idle := typed(given, FUNNEL_OF_RUNS):
        raise ParameterError(f"{idle[0]} is for runs (--qrels and --stage); a result folder tells its stages")
    return funnel(Result.load(given.folder), given.metric, items=given.items, catalog=make_catalog())


def _funnel_of_runs(given: argparse.Namespace) -> Funnel:
    """Return the funnel of the runs of a pipeline."""
    from rankgauge.cli.conventions import Conventions
    from rankgauge.features.funnel.funneling import funnel_of_runs

    for option, name in (("--qrels", "qrels"), ("--stage", "stage"), ("-m", "metric")):
        if not getattr(given, name):
            raise ParameterError(f"give a result folder; or, of runs, --qrels, --stage and -m ({option} is missing)")
    files = _assigned(given.stage, "--stage", "NAME=RUN")
    order = list(files)
    sources = {name: order[:at][-1:] for at, name in enumerate(order)}
    for name, text in _assigned(given.sources or [], "--from", "NAME=STAGES").items():
        if name not in files:
            raise ParameterError(f"--from {name}={text}: no --stage is called {name!r}{did_you_mean(name, order)}")
        earlier = order[: order.index(name)]
        sources[name] = [source for source in text.split(",") if source]
        for source in sources[name]:
            if source not in earlier:
                hint = did_you_mean(source, earlier)
                raise ParameterError(f"--from {name}={text}: {source!r} is no earlier --stage{hint}")
    conventions = Conventions.of(given)
    plan = conventions.plan_one(given.metric)
    runs = {name: conventions.run(file, plan) for name, file in files.items()}
    return funnel_of_runs(plan, conventions.judgments(given.qrels, plan), runs, sources, items=given.items)


def _assigned(written: list[str], option: str, form: str) -> dict[str, str]:
    """Return what was typed as pairs of a name and a value."""
    pairs: dict[str, str] = {}
    for text in written:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise ParameterError(f"{option} takes {form}, not {text!r}")
        if name in pairs:
            raise ParameterError(f"{option} names {name!r} twice")
        pairs[name] = value
    return pairs
