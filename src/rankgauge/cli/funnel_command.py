"""
`rankgauge funnel`: where a pipeline loses what is relevant, stage by stage.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rankgauge.cli.command_line import Command
from rankgauge.cli.console import print_json, show, terminal_width
from rankgauge.cli.shared_options import add_json_option, add_judging_options, judging_typed, whole_number
from rankgauge.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from rankgauge.funnel import Funnel

__all__ = ["FUNNEL"]

_USAGE = "[-m METRIC] [OPTIONS] RESULT_DIR\n--qrels QRELS --stage NAME=RUN --stage NAME=RUN -m METRIC [OPTIONS]"
_ABOUT = """\
Of a result folder whose outputs tell their stages (`actual_output.stages`); its data are read again. Of TREC runs: one
run for each stage, in the order of the pipeline.

For each stage it shows how many relevant items it returned, added and lost, the metric over its ranking, and the
ceiling: the most that later stages can make of it. Then what became of all relevant items, whether each stage is
better than what it was given, and lost items with their ranks on the way.

Exit codes: 0 done, 2 usage or unreadable input, 4 no output tells every stage, 5 internal error.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="RESULT_DIR", nargs="?", help="A result folder.")
    add("-m", "--metric", metavar="METRIC", help="The metric, such as recall@10. [default: the folder's first]")
    items = "How many lost items to list of each stage, and of those never retrieved. [default: %(default)s]"
    add("--items", type=whole_number(0), default=3, metavar="N", help=items)
    add_json_option(parser)
    add("--qrels", metavar="QRELS", help="The judgments of runs.")
    stage = "A stage and its run, in the order of the pipeline. Repeatable."
    add("--stage", action="append", metavar="NAME=RUN", help=stage)
    source = (
        "Which stages gave a stage its results, such as fused=dense,sparse. Repeatable. [default: the one before it]"
    )
    add("--from", dest="sources", action="append", metavar="NAME=STAGES", help=source)
    add_judging_options(parser)


def _funnel(given: argparse.Namespace) -> int:
    from rankgauge.funnel.funnel_lines import funnel_lines

    funnel = _of_folder(given) if given.folder is not None else _of_runs(given)
    if given.as_json:
        print_json(funnel.to_dict())
    else:
        show(funnel_lines(funnel, width=terminal_width()))
    return 0


def _of_folder(given: argparse.Namespace) -> Funnel:
    of_runs = [f"--{name}" for name in ("qrels", "stage") if getattr(given, name)]
    if idle := [*of_runs, *(["--from"] if given.sources else []), *judging_typed(given)]:
        raise ParameterError(f"{idle[0]} is for runs (--qrels and --stage); a result folder tells its stages")
    from rankgauge.cli.conventions import make_catalog
    from rankgauge.engine.funneling import funnel_of
    from rankgauge.engine.result import Result

    return funnel_of(Result.load(given.folder), given.metric, traced=given.items, catalog=make_catalog())


def _of_runs(given: argparse.Namespace) -> Funnel:
    for option, name in (("--qrels", "qrels"), ("--stage", "stage"), ("-m", "metric")):
        if not getattr(given, name):
            raise ParameterError(f"give a result folder; or, of runs, --qrels, --stage and -m ({option} is missing)")
    from rankgauge.cli.conventions import Conventions
    from rankgauge.engine.funneling import funnel_of_runs
    from rankgauge.io.open_sources import open_run

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
    measures = conventions.measures([given.metric])
    plan = conventions.plan([measure.spec for measure in measures if measure.spec is not None])
    if len(plan.metrics) != 1:
        raise ParameterError(f"-m {given.metric} stands for {len(plan.metrics)} metrics; name one")
    runs = {
        name: open_run(file, columns=conventions.columns, catalog=conventions.catalog) for name, file in files.items()
    }
    return funnel_of_runs(plan, conventions.judgments(given.qrels, plan), runs, sources, traced=given.items)


def _assigned(typed: list[str], option: str, form: str) -> dict[str, str]:
    """Return what was typed as pairs of a name and a value."""
    pairs: dict[str, str] = {}
    for text in typed:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise ParameterError(f"{option} takes {form}, not {text!r}")
        if name in pairs:
            raise ParameterError(f"{option} names {name!r} twice")
        pairs[name] = value
    return pairs


FUNNEL = Command(_USAGE, _ABOUT, _add_options, _funnel)
