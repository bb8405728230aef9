"""
The plugin: its commands with their options, and its reader. What they need is imported when they run.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence

from rankgauge.arguments import add_json, path
from rankgauge.plugin import Console, Record, Source, command, hookimpl, reader

__all__ = ["rankgauge_readers", "read_otlp", "traces_read", "traces_scores"]

RANKGAUGE_API = (1, 0)


def _read_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    spans = "Files of spans: OTLP (JSON lines, .json, .pb), or what Phoenix, MLflow or Langfuse return."
    add("spans", metavar="SPANS", type=path, nargs="+", help=spans)
    add("-o", "--output", required=True, type=path, metavar="FILE", help="The samples, as JSON lines.")
    add("--skip-broken", action="store_true", help="Leave out lines that cannot be read, and say how many.")
    add_json(parser)

    add = parser.add_argument_group("ground truth").add_argument
    add("--gold", type=path, metavar="FILE", help="Samples with ground truth; traces without one are left out.")
    by = "Join by question, id, or the name of an attribute that has the id. [default: question]"
    add("--by", metavar="WHAT", help=by)
    missing = "Add the samples of --gold that have no trace; each counts as missing."
    add("--with-missing", action="store_true", help=missing)

    add = parser.add_argument_group("what traces mean").add_argument
    add("--id-key", default="", metavar="KEY", help="Take ids of documents from this key of their metadata.")
    root = "Make a sample of each span of this name, where one trace holds several questions."
    add("--root", default="", metavar="SPAN", help=root)
    name = "Call the stage of a span so; can be repeated."
    add("--name", action="append", metavar="SPAN=STAGE", help=name)


@command(options=_read_options, usage="[OPTIONS] -o FILE SPANS [SPANS ...]")
def traces_read(given: argparse.Namespace, console: Console) -> int:
    """
    Make samples of traces, with a stage for each retriever and reranker.

    Reads spans of OpenInference, of OpenTelemetry's GenAI conventions, of MLflow, Langfuse and OpenLLMetry. Says which
    stages there are, and what the traces lack.

    Exit codes: 0 done, 2 usage or input that cannot be read, 4 no trace can be used.
    """
    from rankgauge_traces.read_command import run  # noqa: PLC0415  # see above

    return run(given, console)


def _scores_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="FOLDER", type=path, help="A result folder, of samples that `traces read` made.")
    add("-o", "--output", required=True, type=path, metavar="FILE", help="The scores, as JSON lines.")
    form = "otlp (events of OpenTelemetry), phoenix (annotations) or mlflow (assessments). [default: %(default)s]"
    add("--as", dest="form", choices=("otlp", "phoenix", "mlflow"), default="otlp", metavar="FORM", help=form)
    add("-m", "--metric", metavar="METRIC", help="One column of the result. [default: all]")
    add_json(parser)


@command(options=_scores_options, usage="[OPTIONS] -o FILE FOLDER")
def traces_scores(given: argparse.Namespace, console: Console) -> int:
    """
    Write the scores of a result for the spans that they are about.

    Each score goes to the span of the last stage, or to that of the stage that its metric judges, with the definition
    of the metric and its fingerprint.

    Exit codes: 0 done, 2 usage, or a result that cannot be used, 4 no sample came from a trace.
    """
    from rankgauge_traces.scores_command import run  # noqa: PLC0415  # see above

    return run(given, console)


@reader("otlp", suffixes=(".otlp",))
def read_otlp(source: Source) -> Iterator[Record]:
    """Read one sample a trace, without ground truth, of OTLP as JSON lines."""
    from rankgauge_traces.in_memory import samples_of_source  # noqa: PLC0415  # see above

    return (Record(sample, None, f"traces[{place}]") for place, sample in enumerate(samples_of_source(source)))


@hookimpl
def rankgauge_readers() -> Sequence[Callable[[Source], Iterator[Record]]]:
    """Return the reader."""
    return (read_otlp,)
