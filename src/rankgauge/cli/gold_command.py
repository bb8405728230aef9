"""
`rankgauge gold`: whether labels still hold for a corpus, and new labels where documents moved.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rankgauge.base.plain_text import visible
from rankgauge.cli.command_line import Command
from rankgauge.cli.console import echo, print_json, progress_bar, remark, report_width, show
from rankgauge.cli.shared_options import add_columns_option, add_field_option, add_json_option, path, whole_number
from rankgauge.errors import ParameterError, ResultError, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.gold.label_findings import GoldReport
    from rankgauge.io.corpus import Corpus

__all__ = ["CHECK", "REPAIR"]

_ABOUT_CHECK = """\
Looks up each gold id, text and span of DATA, samples or a config, in a corpus: a file of documents (JSONL, Parquet,
TSV, JSON, YAML) with an id and a text, or a folder of text files. With --qrels, ids of judgments are looked up. A label
is valid, moved, edited, split over documents, ambiguous or gone. Also reported: near-duplicates of relevant documents
that have no label, questions that stand in the corpus, answers that stand in no gold text, the same question with other
gold, and gold of another document's title.

Exit codes: 0 done, 1 something was found (with --strict), 2 usage or unreadable input, 4 nothing to check.
"""

_ABOUT_REPAIR = """\
Writes the samples of DATA as JSON lines, or the judgments of --qrels, to a new file. Ids and spans that moved to one
other place get it; --twins and --edited change more. Each change is printed; what may be one thing or another is left
as it is. DATA does not change.

Exit codes: 0 done, 2 usage or unreadable input, 4 nothing to check.
"""


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("data", type=path, nargs="?", metavar="DATA", help="The samples, or a config that has them.")
    add("--dataset", metavar="NAME", help="The dataset of a config that has several.")
    add("--qrels", metavar="QRELS", help="Judgments in place of samples: TREC qrels, JSON, a table.")
    add("--queries", type=path, metavar="FILE", help="The texts of the queries of --qrels, by id.")
    add_columns_option(parser)
    add("--corpus", type=path, required=True, metavar="FILE", help="The documents: a file, or a folder of texts.")
    before = "The documents on which the labels were made: finds by text what became of ids."
    add("--before", type=path, metavar="FILE", help=before)
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
    add("-o", "--output", type=path, required=True, metavar="FILE", help="The new samples, JSON lines.")
    add("--twins", action="store_true", help="Make near-duplicates of relevant documents relevant, too.")
    add("--edited", action="store_true", help="Give texts that were edited the wording of the corpus.")
    add("--result", type=path, metavar="FOLDER", help="A result folder of DATA: say what changes in its scores.")


def _check(given: argparse.Namespace) -> int:
    report = _checked(given)[2]
    if given.as_json:
        print_json(report.to_dict())
    else:
        from rankgauge.gold.label_layouts import finding_lines

        show(finding_lines(report, most=given.limit or None, width=report_width()))
    return 1 if given.strict and report.findings else 0


def _checked(given: argparse.Namespace) -> tuple[Evaluation, Corpus, GoldReport]:
    """Check what was typed, and return it with the data and the corpus."""
    from rankgauge.gold.check_labels import check_labels
    from rankgauge.gold.labels import labels_of
    from rankgauge.io.corpus import read_corpus
    from rankgauge.io.datasets import DatasetReader

    evaluation = _evaluation(given)
    catalog = evaluation.catalog()
    reader = DatasetReader(evaluation.data, catalog=catalog, contract=evaluation.profile.contract)
    samples = [sample for batch in reader.batches() for sample in batch]
    named = frozenset(label.document for label in labels_of(samples) if label.document is not None)
    corpus = read_corpus(given.corpus, catalog=catalog, named=named)
    if corpus.naming:
        remark(f"ids of {visible(str(given.corpus))}: {corpus.naming}, as the labels have them")
    before = None if given.before is None else read_corpus(given.before, catalog=catalog, named=named)
    with progress_bar("checking labels", wanted=True) as progress:
        return evaluation, corpus, check_labels(samples, corpus, before=before, progress=progress)


def _evaluation(given: argparse.Namespace) -> Evaluation:
    """Return the evaluation whose samples have the labels."""
    from rankgauge.cli.conventions import described, is_config, make_engine

    if (given.data is None) == (given.qrels is None):
        raise ParameterError("labels stand in samples or in judgments: give DATA, or --qrels QRELS")
    if given.qrels is not None and (given.field or given.preset or given.separator or given.dataset):
        raise ParameterError(
            "--field, --preset, --separator and --dataset are for samples; leave them out with --qrels"
        )
    if given.qrels is None and (given.queries or given.columns):
        raise ParameterError(f"{'--queries' if given.queries else '--columns'} is for --qrels")
    if given.qrels is not None:
        return make_engine(None).dataset(list(_judged(given)))
    if not is_config(given.data):
        if given.dataset is not None:
            raise ParameterError("--dataset names a dataset of a config file; leave it out with samples")
        return described(make_engine(None).dataset(given.data), given)
    engine = make_engine(given.data)
    names = engine.dataset_names
    if given.dataset is None and len(names) != 1:
        raise ParameterError(f"{given.data} has {len(names)} datasets ({listed(names)}); name one with --dataset")
    return described(engine.dataset(given.dataset or names[0]), given)


def _judged(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield the judgments of each query as a sample."""
    from rankgauge.cli.conventions import make_catalog, table_columns
    from rankgauge.io.file_records import read_texts
    from rankgauge.io.open_sources import open_qrels

    catalog = make_catalog()
    qrels = open_qrels(given.qrels, columns=table_columns(given.columns), catalog=catalog)
    texts = (
        {} if given.queries is None else read_texts(given.queries, set(qrels.query_names), of="query", catalog=catalog)
    )
    ends = qrels.lengths.cumsum().tolist()
    grades = qrels.grades.tolist()
    for query, begin, end in zip(qrels.query_names, [0, *ends], ends, strict=False):
        relevant = dict(zip(qrels.names[begin:end], grades[begin:end], strict=True))
        yield {"id": query, "input": texts.get(query), "expected_output": {"relevant": relevant}}


def _repair(given: argparse.Namespace) -> int:
    from rankgauge.gold.label_layouts import change_lines
    from rankgauge.gold.repair_labels import repair_labels
    from rankgauge.io.datasets import DatasetReader
    from rankgauge.io.whole_files import obstacle
    from rankgauge.pooling.new_judgments import qrels_lines
    from rankgauge.pooling.queue_files import lines_of, write_files

    if given.qrels is not None and given.result is not None:
        raise ParameterError(
            "--result is a result of samples, and --qrels has judgments; evaluate the run again instead"
        )
    if given.output.exists():
        raise ParameterError(f"{given.output} exists, and repair changes no file; name a new one")
    if why := obstacle(given.output):
        raise ParameterError(f"--output {given.output} cannot be written: {why}")
    evaluation, corpus, report = _checked(given)
    reader = DatasetReader(evaluation.data, catalog=evaluation.catalog(), contract=evaluation.profile.contract)
    repaired = repair_labels(reader.rows(), report, corpus, edited=given.edited, twins=given.twins)
    scores = {} if given.result is None else _effect(given.result, evaluation, repaired.records)
    of_qrels = given.qrels is not None
    records = repaired.records
    write_files({given.output: qrels_lines(given.output, _judgments(records)) if of_qrels else lines_of(records)})
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


def _judgments(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[bytes, bytes, float]]:
    for row in rows:
        for name, grade in row["expected_output"]["relevant"].items():
            yield row["id"].encode(), name.encode(), float(grade)


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


CHECK = Command(
    "[OPTIONS] DATA --corpus FILE\n[OPTIONS] --qrels QRELS --corpus FILE", _ABOUT_CHECK, _check_options, _check
)
REPAIR = Command(
    "[OPTIONS] DATA --corpus FILE -o FILE\n[OPTIONS] --qrels QRELS --corpus FILE -o FILE",
    _ABOUT_REPAIR,
    _repair_options,
    _repair,
)
