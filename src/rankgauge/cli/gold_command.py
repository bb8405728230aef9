"""
`rankgauge gold`: whether labels still hold for a corpus, and new labels where documents moved.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, NamedTuple

from rankgauge.base.plain_text import visible
from rankgauge.cli.command_line import Command
from rankgauge.cli.console import echo, print_json, remark, report_width, show
from rankgauge.cli.shared_options import add_field_option, add_json_option, path, whole_number
from rankgauge.errors import ParameterError, ResultError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.gold.label_findings import GoldReport
    from rankgauge.io.corpus import Corpus
    from rankgauge.io.datasets import DatasetReader

__all__ = ["CHECK", "REPAIR"]

_ABOUT_CHECK = """\
Looks up each gold id, text and span of DATA in a corpus. DATA are samples, a config that names them, or judgments (TREC
lines or a table). The corpus is a file of documents (JSONL, Parquet, TSV, JSON, YAML) with an id and a text, or a
folder of text files. A label is valid, moved, edited, split over documents, ambiguous or gone. Also reported:
near-duplicates of relevant documents that have no label, questions that stand in the corpus, answers that stand in no
gold text, the same question with other gold, and gold of another document's title.

Exit codes: 0 done, 1 something was found (with --strict), 2 usage or unreadable input, 4 nothing to check.
"""

_ABOUT_REPAIR = """\
Writes the samples of DATA as JSON lines to a new file, judgments as TREC lines. Ids and spans that moved to one other
place get it; --twins and --edited change more. Each change is printed; what may be one thing or another is left as it
is. DATA does not change.

Exit codes: 0 done, 2 usage or unreadable input, 4 nothing to check.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("data", type=path, metavar="DATA", help="Samples, a config whose dataset they are, or TREC judgments.")
    add("--corpus", type=path, required=True, metavar="FILE", help="The documents: a file, or a folder of texts.")
    before = "The documents on which the labels were made: finds by text what became of ids."
    add("--before", type=path, metavar="FILE", help=before)
    add("--dataset", metavar="NAME", help="Which dataset of a config, where there are several.")
    add("--queries", type=path, metavar="FILE", help="Texts of the queries of judgments, by id.")
    add_field_option(parser)
    add_json_option(parser)


def _check_options(parser: argparse.ArgumentParser) -> None:
    _add_options(parser)
    add = parser.add_argument
    add("--strict", action="store_true", help="Exit with 1 if anything was found.")
    limit = "Findings to print; 0 for all. [default: %(default)s]"
    add("--limit", type=whole_number(0), default=20, metavar="N", help=limit)


def _repair_options(parser: argparse.ArgumentParser) -> None:
    _add_options(parser)
    add = parser.add_argument
    add("-o", "--output", type=path, required=True, metavar="FILE", help="The new samples, JSON lines; or judgments.")
    add("--twins", action="store_true", help="Make near-duplicates of relevant documents relevant, too.")
    add("--edited", action="store_true", help="Give texts that were edited the wording of the corpus.")
    add("--result", type=path, metavar="FOLDER", help="A result folder of DATA: say what changes in its scores.")


def _check(given: argparse.Namespace) -> int:
    report = _checked(given).report
    if given.as_json:
        print_json(report.to_dict())
    else:
        from rankgauge.gold.label_layouts import finding_lines

        show(finding_lines(report, most=given.limit or None, width=report_width()))
    return 1 if given.strict and report.findings else 0


class _Checked(NamedTuple):
    """What was checked, and what it was checked against."""

    evaluation: Evaluation
    corpus: Corpus
    report: GoldReport
    is_qrels: bool


def _checked(given: argparse.Namespace) -> _Checked:
    """Check what was typed."""
    from rankgauge.gold.check_labels import check_labels
    from rankgauge.gold.labels import labels_of
    from rankgauge.io.corpus import read_corpus

    evaluation, is_qrels = _labelled(given)
    reader = _reader(evaluation)
    samples = [sample for batch in reader.batches() for sample in batch]
    wanted = frozenset(label.document for label in labels_of(samples) if label.document is not None)
    catalog = evaluation.catalog()
    corpus = read_corpus(given.corpus, catalog=catalog, wanted=wanted)
    before = None if given.before is None else read_corpus(given.before, catalog=catalog, wanted=wanted)
    if corpus.naming:
        remark(f"ids of {visible(str(given.corpus))}: {corpus.naming}, as the labels have them")
    return _Checked(evaluation, corpus, check_labels(samples, corpus, before=before), is_qrels=is_qrels)


def _reader(evaluation: Evaluation) -> DatasetReader:
    from rankgauge.io.datasets import DatasetReader

    return DatasetReader(evaluation.data, catalog=evaluation.catalog(), contract=evaluation.profile.contract)


def _labelled(given: argparse.Namespace) -> tuple[Evaluation, bool]:
    """Return the data whose labels are meant, and whether these are judgments of queries."""
    from rankgauge.cli.conventions import described, is_config, make_engine
    from rankgauge.gold.label_files import is_judgments, judgment_records

    typed = {"--field": given.field, "--preset": given.preset, "--separator": given.separator}
    of_samples = next((option for option, value in typed.items() if value), None)
    engine = make_engine(None)
    is_qrels = of_samples is None and is_judgments(given.data, engine.catalog)
    if is_config(given.data) and not is_qrels:
        if of_samples is not None:
            raise ParameterError(f"{of_samples} is for a data file; {given.data} says itself how its datasets are read")
        engine = make_engine(given.data)
    elif given.dataset is not None:
        raise ParameterError(f"--dataset is for a config, and {given.data} is none; leave it out")
    if given.queries is not None and not is_qrels:
        raise ParameterError(f"--queries is for judgments, and {given.data} is none; a sample has its own `input`")
    if is_qrels:
        return engine.dataset(judgment_records(given.data, given.queries, engine.catalog)), True
    if known := engine.dataset_names:
        if given.dataset is None and len(known) > 1:
            raise ParameterError(f"{given.data} has {len(known)} datasets; name one with --dataset: {', '.join(known)}")
        if given.dataset is not None and given.dataset not in known:
            raise ParameterError(f"{given.data} has no dataset {given.dataset!r}; there are {', '.join(known)}")
        return engine.dataset(given.dataset or known[0]), False
    return described(engine.dataset(given.data), given), False


def _repair(given: argparse.Namespace) -> int:
    from rankgauge.gold.label_files import judgment_lines
    from rankgauge.gold.label_layouts import change_lines
    from rankgauge.gold.repair_labels import repair_labels
    from rankgauge.io.whole_files import obstacle
    from rankgauge.pooling.queue_files import write_bytes, write_lines

    if given.output.exists():
        raise ParameterError(f"{given.output} exists, and repair changes no file; name a new one")
    if why := obstacle(given.output):
        raise ParameterError(f"--output {given.output} cannot be written: {why}")
    evaluation, corpus, report, is_qrels = _checked(given)
    if is_qrels and given.result is not None:
        raise ParameterError("--result is for results of samples; judge the run by both files and compare the two")
    rows = [value for value in _reader(evaluation).records() if isinstance(value, dict)]
    repaired = repair_labels(rows, report, corpus, edited=given.edited, twins=given.twins)
    scores = {} if given.result is None else _effect(given.result, evaluation, repaired.records)
    if is_qrels:
        write_bytes(given.output, judgment_lines(repaired.records, given.output))
    else:
        write_lines(given.output, repaired.records)
    if given.as_json:
        changes = [change.to_dict() for change in repaired.changes]
        left = [finding.to_dict() for finding in repaired.left]
        print_json({"output": str(given.output), "changes": changes, "left": left, "scores": scores})
        return 0
    echo(visible("\n".join(change_lines(repaired)), keep="\n"))
    for name, score in scores.items():
        means = [_EMPTY if mean is None else f"{mean:.4f}" for mean in (score["before"], score["after"])]
        echo(f"{name}: {means[0]} -> {means[1]}, {score['samples_changed']:,} of {score['samples']:,} samples changed")
    remark(f"wrote {visible(str(given.output))}")
    return 0


_EMPTY = "-"


def _effect(folder: Path, evaluation: Evaluation, rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return each mean of a saved result, before and after, and how many samples have another score."""
    from dataclasses import replace

    import numpy as np

    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.engine.reopen import evaluation_of
    from rankgauge.engine.result import Result
    from rankgauge.stats.estimates import TIED

    result = Result.load(folder)
    saved = Evaluation.of(evaluation_of(result, catalog=evaluation.catalog()))
    if saved.data.fingerprint() != evaluation.data.fingerprint():
        raise ResultError(f"{folder} is a result of {saved.data.label}, whose content is not that of the samples given")
    data = saved.data._replace(source=rows, fields={}, preset="", separator="")
    after = replace(saved, data=data, lock=None).run()
    scores = {}
    for name, column in result.metrics.items():
        pair = column.values, after.metrics[name].values
        changed = (np.abs(pair[0] - pair[1]) > TIED) | (np.isnan(pair[0]) != np.isnan(pair[1]))
        scores[name] = {
            "before": column.mean,
            "after": after.metrics[name].mean,
            "samples_changed": int(np.count_nonzero(changed)),
            "samples": len(changed),
        }
    return scores


CHECK = Command("[OPTIONS] DATA --corpus FILE", _ABOUT_CHECK, _check_options, _check)
REPAIR = Command("[OPTIONS] DATA --corpus FILE --output FILE", _ABOUT_REPAIR, _repair_options, _repair)
