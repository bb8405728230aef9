"""
`rankgauge funnel`: where a pipeline loses what is relevant, stage by stage.
"""

from __future__ import annotations

import argparse

from rankgauge.cli.command_line import Command
from rankgauge.cli.console import print_json, show, terminal_width
from rankgauge.cli.shared_options import add_json_option, whole_number

__all__ = ["FUNNEL"]

_USAGE = "RESULT_DIR [-m METRIC] [--items N] [--json]"
_ABOUT = """\
RESULT_DIR is a result folder whose outputs tell their stages (`actual_output.stages`). Its data are read again.

For each stage it shows how many relevant items it returned, added and lost, the metric over its ranking, and the
ceiling: the most that later stages can make of it. Then what became of all relevant items, whether each stage is
better than what it was given, and lost items with their ranks on the way.

Exit codes: 0 done, 2 usage or unreadable input, 4 no output tells every stage, 5 internal error.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="RESULT_DIR", help="A result folder.")
    add("-m", "--metric", metavar="METRIC", help="The metric, such as recall@10. [default: the folder's first]")
    items = "How many lost items to list of each stage, and of those never retrieved. [default: %(default)s]"
    add("--items", type=whole_number(0), default=3, metavar="N", help=items)
    add_json_option(parser)


def _funnel(given: argparse.Namespace) -> int:
    from rankgauge.cli.conventions import make_catalog
    from rankgauge.engine.funneling import funnel_of
    from rankgauge.engine.result import Result
    from rankgauge.funnel.funnel import funnel_lines

    funnel = funnel_of(Result.load(given.folder), given.metric, traced=given.items, catalog=make_catalog())
    if given.as_json:
        print_json(funnel.to_dict())
    else:
        show(funnel_lines(funnel, width=terminal_width()))
    return 0


FUNNEL = Command(_USAGE, _ABOUT, _add_options, _funnel)
