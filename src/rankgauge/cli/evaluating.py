"""
Evaluating on the command line: what `run` and `rescore` share, from options to scores, folders and the exit code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from rankgauge.base.plain_text import read_share
from rankgauge.cli import INTERRUPTED
from rankgauge.cli.calling import Interrupts, System
from rankgauge.cli.console import complain, echo, is_debugging, progress_bar, remark
from rankgauge.cli.folders import Folders, plain_name
from rankgauge.cli.options import POLICY_HELP, PROFILE_HELP, policy_options
from rankgauge.cli.outcome import explain_incomplete, print_tables, print_texts
from rankgauge.cli.reading import with_readings, worst_column
from rankgauge.cli.report import HTML_HELP, check_html, write_html
from rankgauge.cli.typed import BASELINE, CUTOFF, GATES, JUNIT, MARKDOWN, METRICS, SAVE_BASELINE
from rankgauge.errors import RunInterrupted

if TYPE_CHECKING:
    from rankgauge.catalog import Catalog, Claim
    from rankgauge.cli.gating import Gating
    from rankgauge.config import LoadedConfig
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.engine.result import Result
    from rankgauge.plugin.declarations import Reporter

__all__ = ["ScoreOptions", "Several", "evaluate_all", "name_of", "overridden", "tell_idle"]

_COHORT = "Make a cohort of each value of a metadata field, such as metadata.language."
_FORMATS = "How to print: table, json, jsonl, markdown, or a format of a plugin (rankgauge plugins list -v)."
_KEEP_DATA = "Copy data and outputs into the result folder, so that it stands alone."
_MAX_FAILED = "Exit with 3 if more than this share (0.1, or 10%) of the samples is missing or failed."
_NEAR_MISSES = "Also keep, for each gold text not found, the nearest retrieved text."
_WITH_TEXT = "Also save each sample's question and top results beside its scores."
_WORKERS = "Processes that read and judge a large file of JSON lines."
_WORST = "Also list the N worst samples, with what was retrieved and expected."
_WORST_BY = "The metric that --worst goes by. [default: the first]"

_SUMMARIES = {"table", "json", "markdown"}
"""The formats that do not list samples one by one."""

_SEVERAL_HTML = "Of several datasets each has its own, FILE-NAME.html."

Several = list[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOptions:
    """What was typed for scoring, printing and saving."""

    metric: Annotated[Several, METRICS] = None
    profile: Annotated[str | None, Option(metavar="NAME", help=PROFILE_HELP)] = None
    policy: Annotated[Several, Option(metavar="NAME=VALUE", help=f"{POLICY_HELP} Repeatable.")] = None
    k: Annotated[int | None, CUTOFF] = None
    max_failed: Annotated[float | None, Option(metavar="SHARE", parser=read_share, help=_MAX_FAILED)] = None
    cohort: Annotated[Several, Option(metavar="FIELD", help=f"{_COHORT} Repeatable.")] = None
    output: Annotated[Path | None, Option("--output", "-o", metavar="FOLDER", help="Write a result folder here.")] = (
        None
    )
    keep_data: Annotated[bool, Option("--keep-data", help=_KEEP_DATA)] = False
    form: Annotated[str, Option("--format", "-f", metavar="FORMAT", help=_FORMATS)] = "table"
    as_json: Annotated[bool, Option("--json", help="Same as --format json.")] = False
    details: Annotated[bool, Option("--details", help="Keep the facts behind every score.")] = False
    near_misses: Annotated[bool, Option("--near-misses", help=_NEAR_MISSES)] = False
    with_text: Annotated[bool, Option("--with-text", help=_WITH_TEXT)] = False
    worst: Annotated[int | None, Option(metavar="N", min=1, help=_WORST)] = None
    worst_by: Annotated[str | None, Option(metavar="METRIC", help=_WORST_BY)] = None
    bands: Annotated[bool, Option("--bands", help="Add a word, such as good, for each mean.")] = False
    gate: Annotated[Several, GATES] = None
    baseline: Annotated[Path | None, BASELINE] = None
    save_baseline: Annotated[Path | None, SAVE_BASELINE] = None
    junit: Annotated[Path | None, JUNIT] = None
    markdown: Annotated[Path | None, MARKDOWN] = None
    html: Annotated[Path | None, Option("--html", metavar="FILE", help=f"{HTML_HELP} {_SEVERAL_HTML}")] = None
    workers: Annotated[int, Option(metavar="N", min=1, help=_WORKERS)] = 1
    progress: Annotated[bool, Option(help="Show a progress bar when a run takes long.")] = True


def name_of(evaluation: Evaluation) -> str:
    """Return what the dataset of an evaluation is called."""
    return evaluation.data.name or "data"


def overridden(evaluation: Evaluation, options: ScoreOptions, declared: dict[str, Any]) -> Evaluation:
    """Return an evaluation with what was typed; under another profile the policy options that are *declared* stay."""
    policy = policy_options(options.policy, max_failed=options.max_failed)
    if options.profile is None:
        evaluation = evaluation.with_profile(**policy)
    else:
        evaluation = evaluation.with_profile(options.profile, **{**declared, **policy})
    if options.k is not None:
        evaluation = evaluation.with_defaults(k=options.k, source="--k")
    return evaluation.with_cohorts(options.cohort) if options.cohort else evaluation


def tell_idle(options: ScoreOptions, folders: Folders) -> None:
    """Tell of options whose effect is in a result folder, where none is written, or in another format."""
    if folders.saves:
        return
    form = "json" if options.as_json else options.form
    beside = {"--details": options.details, "--near-misses": options.near_misses, "--with-text": options.with_text}
    for name, is_given in beside.items():
        if is_given and form in _SUMMARIES:
            remark(f"{name} shows in a result folder (--output) or with --format jsonl; here it has no effect")
    if options.worst is not None and form == "jsonl":
        remark("--worst shows in a result folder (--output) or with other formats; here it has no effect")


def evaluate_all(
    evaluations: Sequence[Evaluation],
    options: ScoreOptions,
    folders: Folders,
    *,
    catalog: Catalog,
    config: LoadedConfig | None = None,
    limit: int | None = None,
    system: System | None = None,
) -> None:
    """Plan, score, save and print evaluations, judge gates, and exit with 3 where an evaluation is incomplete."""
    from rankgauge.cli.gating import GateOptions, Gating

    form = "json" if options.as_json else options.form
    reporter = None if form == "table" else catalog.reporter(form)
    settings = None if config is None else config.config.output
    gating = Gating.of(GateOptions.of(options), config)
    names = list(map(name_of, evaluations))
    pages = _pages(options.html, names)
    evaluations = [_with_gates(evaluation, gating) for evaluation in evaluations]
    gating.check_datasets(names if config is None else [*config.config.datasets, *names])
    worst = [worst_column(evaluation.plan(), options.worst_by, options.worst) for evaluation in evaluations]
    arguments: dict[str, Any] = {
        "limit": limit,
        "details": options.details or bool(settings and settings.details),
        "near_misses": options.near_misses,
        "sketch_ids": gating.wants_ids,
        "workers": options.workers,
    }
    results: dict[str, Result] = {}
    unscored = ""
    is_shown = True
    interrupts = Interrupts()
    with interrupts.handled(), folders.staged(map(name_of, evaluations)):
        if system is not None:
            system.prepare(evaluations, folders)
        try:
            for evaluation, column in zip(evaluations, worst, strict=True):
                unscored = name_of(evaluation)
                with interrupts.stopping(calls=system is not None) as stop:
                    calls = {} if system is None else system.arguments(evaluation, folders, stop)
                    result = _scored(evaluation, {**arguments, **calls}, is_shown=options.progress)
                    result = results[unscored] = with_readings(
                        result, worst=options.worst, column=column, texts=options.with_text
                    )
                    folders.save(unscored, result)  # first: whoever reads stdout may be gone
                unscored = ""
                if result.manifest["interrupted"]:
                    break
            is_shown = gating.judge(results)
        except KeyboardInterrupt:
            if not results:
                complain("interrupted; nothing was scored")
                raise typer.Exit(INTERRUPTED) from None
        finally:
            try:
                if is_shown:
                    bands = options.bands or bool(settings and settings.bands)
                    _print_results(results, reporter, gating, bands=bands, is_list=len(evaluations) > 1)
            finally:
                folders.tell()
    gating.tell(show=echo if reporter is None else remark)
    if not unscored:
        gating.save(results)
    _write_pages(pages, results)
    _end(list(results.values()), unscored)
    if gating.exit_code:
        raise typer.Exit(gating.exit_code)


def _write_pages(pages: Mapping[str, Path], results: Mapping[str, Result]) -> None:
    """Write the HTML report of every result that there is."""
    for name, page in pages.items():
        if name in results:
            write_html(page, {name: results[name]})


def _pages(path: Path | None, names: Sequence[str]) -> dict[str, Path]:
    """Return where the HTML report of each dataset goes; refuse what cannot be written, before anything is scored."""
    if path is None:
        return {}
    several = len(names) > 1
    pages = {
        name: path.with_name(f"{path.stem}-{plain_name(name)}{path.suffix}") if several else path for name in names
    }
    for page in pages.values():
        check_html(page)
    return pages


def _with_gates(evaluation: Evaluation, gating: Gating) -> Evaluation:
    """Return an evaluation that computes what its gates need, too."""
    asked = gating.ask(
        name_of(evaluation), evaluation.metrics, lambda specs: evaluation.with_metrics(specs).plan().metrics
    )
    if fields := gating.fields(name_of(evaluation)):
        evaluation = evaluation.with_cohorts([*evaluation.data.cohorts, *fields])
    return evaluation if asked == evaluation.metrics else evaluation.with_metrics(asked)


def _print_results(
    results: Mapping[str, Result], reporter: Claim[Reporter] | None, gating: Gating, *, bands: bool, is_list: bool
) -> None:
    """Print tables, or what a reporter makes of results, with the gates."""
    if reporter is None:
        print_tables(list(results.values()), bands=bands)
        return
    if not results:
        return
    from rankgauge.report.rendering import rendered

    form = reporter.declaration.name
    reports = {name: rendered(reporter, result) for name, result in results.items()}
    print_texts(list(gating.added(reports, form).values()), form, is_list=is_list)


def _end(results: Sequence[Result], unscored: str) -> None:
    """Say what is missing, and exit with 3 where something is."""
    if unscored:
        complain(f"interrupted: {unscored} was not scored or not saved")
    explain_incomplete(results)
    if unscored or any(result.is_incomplete for result in results):
        raise typer.Exit(3)


def _scored(evaluation: Evaluation, arguments: dict[str, Any], *, is_shown: bool) -> Result:
    """Return a result; that of what was done where a run is interrupted."""
    with progress_bar(name_of(evaluation), wanted=is_shown) as report:
        try:
            result: Result = evaluation.run(progress=report, **arguments)
        except RunInterrupted as interruption:
            result = interruption.result
    if is_debugging():
        for sample_id, output in result.outputs.items():
            if output.error is not None and output.error.traceback:
                remark(f"sample {sample_id!r}:\n{output.error.traceback.rstrip()}")
    return result
