"""
`rankgauge gold`: whether labels still hold for a corpus, and new labels where documents moved.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.base.plain_text import visible
from rankgauge.cli.console import echo, print_answer, print_json, progress_bar, remark, report_width
from rankgauge.cli.conventions import described, is_config, make_catalog, make_engine, table_columns
from rankgauge.cli.shared_options import refuse
from rankgauge.engine.evaluation import Evaluation
from rankgauge.engine.reopen import evaluation_of
from rankgauge.errors import ParameterError, ResultError, listed
from rankgauge.features.labels.check_labels import check_labels
from rankgauge.features.labels.label_findings import GoldReport, finding_lines
from rankgauge.features.labels.new_judgments import qrels_lines
from rankgauge.features.labels.repair_labels import change_lines, repair_labels
from rankgauge.io.corpus import Corpus, read_corpus
from rankgauge.io.datasets import DatasetReader
from rankgauge.io.file_records import read_texts
from rankgauge.io.gold_labels import labels_of
from rankgauge.io.open_sources import open_qrels
from rankgauge.io.whole_files import json_lines, obstacle, write_whole
from rankgauge.result import Result
from rankgauge.stats.estimates import TIED


def execute_check(given: argparse.Namespace) -> int:
    """Print whether labels still hold for a corpus."""
    _, _, report = _checked(given)
    print_answer(given, report.to_dict(), finding_lines(report, most=given.limit or None, width=report_width()))
    return 1 if given.strict and not report.is_clean else 0


def execute_copies(given: argparse.Namespace) -> int:
    """Print which documents of one corpus are in another one."""
    from rankgauge.features.labels.corpus_copies import copies_between, copy_lines

    catalog = make_catalog()
    first, second = (read_corpus(path, catalog=catalog) for path in (given.first, given.second))
    with progress_bar("comparing documents", wanted=True) as progress:
        found = copies_between(first, second, least=given.least, progress=progress)
    print_answer(given, found.to_dict(), copy_lines(found, most=given.limit or None, width=report_width()))
    return 1 if given.strict and found.copies else 0


def _checked(given: argparse.Namespace) -> tuple[Evaluation, Corpus, GoldReport]:
    """Check what was typed, and return it with the data and the corpus."""
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
    of_samples, which = given.qrels is None, "give DATA, or --qrels QRELS"
    for_samples = given.field or given.preset or given.separator or given.system or given.dataset
    idle = "--field, --preset, --separator, --system and --dataset are for samples; leave them out with --qrels"
    refuse(
        ((given.data is None) == of_samples, f"labels are in samples or in judgments: {which}"),
        (not of_samples and for_samples, idle),
        (of_samples and given.queries, "--queries is for --qrels"),
        (of_samples and given.columns, "--columns is for --qrels"),
    )
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
    catalog = make_catalog()
    qrels = open_qrels(given.qrels, columns=table_columns(given.columns, letters=given.letters), catalog=catalog)
    texts = (
        {} if given.queries is None else read_texts(given.queries, set(qrels.query_names), of="query", catalog=catalog)
    )
    ends = qrels.lengths.cumsum().tolist()
    grades = qrels.grades.tolist()
    for query, begin, end in zip(qrels.query_names, [0, *ends], ends, strict=False):
        relevant = dict(zip(qrels.names[begin:end], grades[begin:end], strict=True))
        yield {"id": query, "input": texts.get(query), "expected_output": {"relevant": relevant}}


def execute_repair(given: argparse.Namespace) -> int:
    """Write samples or judgments whose labels that moved have their new place."""
    if given.to_other_documents and not given.edited:
        raise ParameterError("--to-other-documents is about edited texts; give --edited with it")
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
    options = {"edited": given.edited, "twins": given.twins, "to_other_documents": given.to_other_documents}
    repaired = repair_labels(reader.rows(), report, corpus, **options)
    scores = {} if given.result is None else _effect(given.result, evaluation, repaired.records)
    of_qrels = given.qrels is not None
    records = repaired.records
    write_whole({given.output: qrels_lines(given.output, _judgments(records)) if of_qrels else json_lines(records)})
    if given.as_json:
        changes = [change.to_dict() for change in repaired.changes]
        reasons = zip(repaired.left, repaired.reasons, strict=True)
        left = [finding.to_dict() | {"left_because": reason} for finding, reason in reasons]
        print_json({"output": str(given.output), "changes": changes, "left": left, "scores": scores})
        return 0
    echo(visible("\n".join(change_lines(repaired)), keep="\n"))
    for name, score in scores.items():
        means = ["-" if mean is None else f"{mean:.4f}" for mean in (score["before"], score["after"])]
        echo(f"{name}: {means[0]} -> {means[1]}, {score['samples_changed']:,} of {score['samples']:,} samples changed")
    remark(f"wrote {visible(str(given.output))}")
    return 0


def _judgments(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[bytes, bytes, float]]:
    for row in rows:
        for name, grade in row["expected_output"]["relevant"].items():
            yield row["id"].encode(), name.encode(), float(grade)


def _effect(folder: Path, evaluation: Evaluation, rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return each mean of a saved result, before and after, and how many samples have another score."""
    result = Result.load(folder)
    saved = evaluation_of(result, catalog=evaluation.catalog())
    if saved.data.fingerprint() != evaluation.data.fingerprint():
        raise ResultError(f"{folder} is a result of {saved.data.label}, whose content is not that of the samples given")
    data = saved.data._replace(
        source=rows, fields={}, preset="", separator="", reader="", number_rows=False, letters=""
    )
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
