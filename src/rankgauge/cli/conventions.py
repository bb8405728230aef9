"""
What was typed, as values: the conventions by which runs are judged, catalogs and engines, names and fields.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankgauge.base.plain_text import visible
from rankgauge.catalog import Catalog
from rankgauge.catalog.tool_profiles import tool_names, tool_of
from rankgauge.catalog.trec_eval import TrecColumn, expand
from rankgauge.cli.console import reword_errors
from rankgauge.cli.shared_options import OF_RUNS
from rankgauge.cli.streams import keep_stdout
from rankgauge.columns import Qrels, RunSource
from rankgauge.errors import ParameterError, RankgaugeError, did_you_mean
from rankgauge.io.documents import decode_text
from rankgauge.io.field_names import FieldMap, read_field
from rankgauge.io.files import read_bytes

if TYPE_CHECKING:
    from rankgauge.engine.engine import Engine
    from rankgauge.engine.evaluation import Evaluation
    from rankgauge.planning.plan import Plan
    from rankgauge.planning.requests import MetricSpec
    from rankgauge.result import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Conventions:
    """
    The conventions by which runs are read and judged: what decides, beside the files, which number a metric is.

    Attributes:
        profile: The name of a profile.

        policy: The policy options that were typed.

        columns: The names of the columns of tables.

        catalog: What is installed.

        rel: The lowest grade of a relevant document; None as the profile says.

        k: The default cutoff.
    """

    profile: str
    policy: Mapping[str, Any]
    columns: Mapping[str, str] | None
    catalog: Catalog
    rel: float | None = None
    k: int | None = None

    @classmethod
    def of(cls, given: argparse.Namespace, **policy: object) -> Conventions:
        """Return what was typed for `JUDGING`, with further policy options unless None."""
        options = {"judged_only": given.judged_only or None, "depth": given.depth, **policy}
        return cls(
            profile=given.profile or OF_RUNS,
            policy=policy_options(given.policy, **options),
            columns=table_columns(given.columns, given.reader, given.letters),
            catalog=make_catalog(),
            rel=given.relevance,
            k=given.k,
        )

    def measures(self, names: Sequence[str]) -> list[TrecColumn]:
        """
        Return what measures stand for, in any spelling, with the families and sets of trec_eval written out.

        Under the profile of a tool a measure that the tool itself writes so stays as it is.
        """
        if self.profile not in tool_names():
            return expand(names, self.catalog.built_in, version=9 if self.profile == "trec9" else 10)
        tool, columns = tool_of(self.profile), list[TrecColumn]()
        for name in names:
            columns += expand([name], self.catalog.built_in) if tool.read(name) is None else [TrecColumn(name)]
        return columns

    def specs(self, names: Sequence[str]) -> list[MetricSpec]:
        """Return the metrics among measures, which may also be facts of a run."""
        return [measure.spec for measure in self.measures(names) if measure.spec is not None]

    def plan(self, metrics: Sequence[MetricSpec]) -> Plan:
        """Plan the evaluation of a run."""
        from rankgauge.engine.runs import plan_run

        return plan_run(metrics, profile=self.profile, policy=self.policy, rel=self.rel, k=self.k, catalog=self.catalog)

    def plan_one(self, metric: str) -> Plan:
        """Plan the evaluation of a run by one metric; refuse what stands for several."""
        plan = self.plan(self.specs([metric]))
        names = [column.name for column in plan.metrics]
        if len(names) != 1:
            shown = ", ".join([*names[:5], *(["..."] if len(names) > 5 else [])])
            raise ParameterError(f"-m {metric} stands for {len(names)} metrics ({shown}); name one")
        return plan

    def judgments(self, qrels: str, plan: Plan) -> Qrels:
        """Read judgments, with intents if a plan needs them."""
        from rankgauge.engine.runs import judgments_for

        return judgments_for(plan, qrels, self.columns)

    def run(self, file: str, plan: Plan) -> RunSource:
        """Read a run, without what the policy of a plan leaves out, and without what its filters drop."""
        from rankgauge.engine.excluded_runs import narrowed_run

        return narrowed_run(self.run_as_given(file), plan.profile.policy)

    def run_as_given(self, file: str) -> RunSource:
        """Read a run."""
        from rankgauge.io.open_sources import open_run

        return open_run(file, columns=self.columns, catalog=self.catalog)


def make_catalog() -> Catalog:
    """Return what is installed and not disabled."""
    keep_stdout()
    return Catalog.installed()


def make_engine(config: Path | None) -> Engine:
    """Return an engine, from a config file if one is given."""
    from rankgauge.engine.engine import Engine

    keep_stdout()
    if config is None:
        return Engine(catalog=make_catalog())
    engine = Engine.from_config(config)
    if engine.config is not None:
        reword_errors(engine.config.variables.unexpanded)
    return engine


def is_config(path: Path) -> bool:
    """Return whether a file is a config: YAML, but for a list of samples or a mapping that has them."""
    if path.suffix.lower() not in {".yaml", ".yml", ""}:
        return False
    from rankgauge.io.yaml_documents import read_yaml

    try:
        value = read_yaml(decode_text(read_bytes(path), str(path)), str(path)).value
    except (OSError, RankgaugeError):
        return True  # whoever reads it as a config says what is wrong
    return not isinstance(value, list) and not (isinstance(value, dict) and "samples" in value)


def policy_options(written: Sequence[str] | None, **others: object) -> Mapping[str, Any]:
    """Return policy options by name: those of `--policy`, and those with an option of their own unless None."""
    options: dict[str, Any] = {}
    for option in written or ():
        name, equals, value = option.partition("=")
        if not equals:
            raise ParameterError(f"--policy is NAME=VALUE, such as order=score, not {option!r}")
        from rankgauge.io.yaml_documents import read_yaml

        options[name.strip()] = read_yaml(value.strip(), "--policy").value
    return {**options, **{name: value for name, value in others.items() if value is not None}}


def table_columns(
    written: Sequence[str] | None, readers: Sequence[str] | None = None, letters: str | None = None
) -> dict[str, str] | None:
    """Return how tables are read: columns by what they hold, those of lines without a header, and readers."""
    columns = {} if letters is None else {"letters": letters}
    columns |= {f"{kind}.reader": name for kind, name in readers_typed(readers, ("run", "qrels")).items()}
    for text in written or ():
        parts = [part.strip() for part in text.split(",")]
        pairs = [part.partition("=") for part in parts]
        if all(part and "=" not in part for part in parts) and len(parts) > 1:
            kinds = {"rank": "run", "score": "run", "grade": "qrels"}
            columns[next((kinds[part] for part in parts if part in kinds), "run")] = ",".join(parts)
        elif all(equals and name.strip() and column.strip() for name, equals, column in pairs):
            columns |= {name.strip(): column.strip() for name, _, column in pairs}
        else:
            form = "NAME=COLUMN, separated by commas, such as query=qid,document=pid"
            bare = "or, for a file without a header, what each of its columns is, such as query,document,rank"
            raise ParameterError(f"--columns is {form}; {bare}; not {text!r}")
    return columns or None


def score_columns(written: Sequence[str] | None) -> dict[str, str] | None:
    """Return what the columns of scores are called, or, of lines without a header, what they are."""
    columns: dict[str, str] = {}
    for text in written or ():
        if "=" in text:
            columns |= table_columns([text]) or {}
        else:
            columns["lines"] = text
    return columns or None


def field_map(written: Sequence[str] | None) -> FieldMap:
    """Return where the data has each field, as `--field` says."""
    return {name: place for text in written or () for name, place in read_field(text).items()}


def described(evaluation: Evaluation, given: argparse.Namespace) -> Evaluation:
    """Return an evaluation with what was typed of how its records are written."""
    data = evaluation.data
    if given.preset or given.separator or given.system:
        how = {name: getattr(given, name) or getattr(data, name) for name in ("separator", "system")}
        evaluation = evaluation.with_preset(given.preset or data.preset, **how)
    readers, data = readers_typed(given.reader, ("data", "outputs")), evaluation.data
    if readers or given.number_rows or given.letters:
        name, outputs = readers.get("data", data.reader), readers.get("outputs", data.outputs_reader)
        is_numbered = given.number_rows or data.number_rows
        letters = given.letters or data.letters
        evaluation = evaluation.with_reader(name, outputs=outputs, number_rows=is_numbered, letters=letters)
    return evaluation.with_fields(field_map(given.field))


def readers_typed(written: Sequence[str] | None, kinds: Sequence[str]) -> dict[str, str]:
    """Return the reader of each kind of file, as `--reader` names them: ``NAME`` for the first, or ``outputs=NAME``."""
    readers: dict[str, str] = {}
    for text in written or ():
        kind, equals, name = text.partition("=")
        if equals and kind not in kinds:
            raise ParameterError(f"--reader is NAME, or {kinds[-1]}=NAME; not {text!r}")
        readers[kind if equals else kinds[0]] = name if equals else text
    return readers


def run_names(runs: Sequence[str]) -> list[str]:
    """Return a name for each run: its file's name, or its path if names meet."""
    short = [Path(run).name for run in runs]
    names = [run if short.count(name) > 1 else name for run, name in zip(runs, short, strict=True)]
    if len(set(names)) < len(names):
        raise ParameterError(f"{next(name for name in names if names.count(name) > 1)} is given twice")
    return names


def one_dataset(source: object, wanted: str | None, known: Collection[str]) -> str:
    """Return the dataset of a file that was named with ``--dataset``, or else the only one."""
    listed = ", ".join(map(visible, known))
    if wanted is None and len(known) != 1:
        raise ParameterError(f"{visible(str(source))} has {len(known)} datasets; name one with --dataset: {listed}")
    if wanted is not None and wanted not in known:
        hint = f"{did_you_mean(wanted, known)}; there are {listed}"
        raise ParameterError(f"{visible(str(source))} has no dataset {wanted!r}{hint}")
    return next(iter(known)) if wanted is None else wanted


def clusters_typed(written: str | None) -> str | dict[str, object] | None:
    """Return what `--cluster` names: a field of the metadata, or what a file says of each sample; None for nothing."""
    if written is None or not Path(written).is_file():
        return written
    from rankgauge.io.file_records import read_clusters

    return read_clusters(written, "--cluster")


def weights_typed(written: str) -> str | Path:
    """Return what `--weights` names: a file, or else a field of the metadata."""
    return Path(written) if Path(written).is_file() else written


def weighted_by_file(results: dict[str, Result], file: str | None) -> dict[str, Result]:
    """Return results in which queries count as much as a file says; as they are without one."""
    if file is None:
        return results
    from rankgauge.io.file_records import read_clusters
    from rankgauge.result.query_weights import weighted

    weights = read_clusters(file, "--weights", "weight")
    return {name: weighted(result, weights, file) for name, result in results.items()}
