"""The schema of a config file."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, create_model

from rankgauge.base.plain_text import read_share
from rankgauge.config.schema_entries import GateEntry, Parameters, SystemEntry
from rankgauge.io.field_names import FieldMap, check_field, field_name
from rankgauge.plugin.matching import parse_matcher
from rankgauge.policy import PROFILES, Contract, Policy, Profile
from rankgauge.samples.sample_records import check_cohort

__all__ = ["Config", "DatasetConfig", "MetricEntry", "Model", "PolicyConfig", "ProfileConfig", "json_schema"]

_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)


class Model(BaseModel):
    """A part of a config; an unknown key is an error."""

    model_config = _STRICT


def _share(value: object) -> object:
    return read_share(value) if isinstance(value, str) and value.rstrip().endswith("%") else value


_SHARE = {"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "string", "pattern": "%$"}]}
_BOUNDS: Mapping[str, Any] = {
    "max_failed": Annotated[float, Field(ge=0, le=1), BeforeValidator(_share), WithJsonSchema(_SHARE)],
    "depth": Annotated[int, Field(ge=1)],
    "excluded": str | dict[str, list[str]],
    "filters": str | list[str],
    "abstains": str | list[str],
}


def _optional(options: type, names: Iterable[str]) -> dict[str, Any]:
    """Return fields of a model for options, each of which may be left out; their docstring describes them."""
    hints = get_type_hints(options)
    described = dict(re.findall(r"^    (\w+): ((?:.+(?:\n|$))+)", inspect.getdoc(options) or "", re.MULTILINE))
    texts = {name: " ".join(text.split()).replace("``", "`") for name, text in described.items()}
    return {name: (_BOUNDS.get(name, hints[name]) | None, Field(None, description=texts.get(name))) for name in names}


_POLICY = _optional(Policy, [field.name for field in dataclasses.fields(Policy)])
_CONTRACT = _optional(Contract, Contract._fields)
_POLICY_DOC = "Policy options; the profile decides the others."
_CONTRACT_DOC = "How strictly data is read; the extended profile decides the rest."
PolicyConfig = create_model("PolicyConfig", __config__=_STRICT, __doc__=_POLICY_DOC, **_POLICY)
_ContractConfig = create_model("ContractConfig", __config__=_STRICT, __doc__=_CONTRACT_DOC, **_CONTRACT)

_CONVENTIONS = {
    "relevance": "What counts as relevant, or the lowest grade that does.",
    "negatives": "What a grade below 0 is.",
    "duplicate_texts": "What identifies a retrieved item that is judged by text.",
    "missing_texts": "Whether an item without a text, if one is needed, fails its sample or counts as empty.",
    "own_ranks": "Whether all gold items that one result holds earn, by text and places, or one of them.",
    "places": "Whether places of retrieved items are held to the texts beside them, or taken as they are given.",
}
_Parameters = dict[str, dict[str, str | bool | int | float | None]]
_FIELDS: dict[str, Any] = {
    "extends": (str, Field("default", description="The other profile: built in, of this file, or of a plugin.")),
    "policy": (PolicyConfig | None, Field(None, description="Policy options.")),
    **{
        name: (get_type_hints(Profile)[name] | None, Field(None, description=what))
        for name, what in _CONVENTIONS.items()
    },
    "parameters": (
        _Parameters,
        Field(default_factory=dict, description="Parameters by metric, such as `ndcg: {gain: exponential}`."),
    ),
    "contract": (_ContractConfig | None, Field(None, description="How strictly data is read.")),
}
ProfileConfig = create_model(
    "ProfileConfig", __config__=_STRICT, __doc__="A profile: what it changes of another.", **_FIELDS
)


def _checked_by(check: Callable[[str], object]) -> AfterValidator:
    """Return a validator that leaves a string as it is, once *check* has raised nothing."""

    def checked(value: str) -> str:
        check(value)
        return value

    return AfterValidator(checked)


def _expect(is_fit: Callable[[Any], bool], expected: str) -> BeforeValidator:
    """Return a validator for values of several forms."""

    def checked(value: object) -> object:
        if is_fit(value):
            return value
        raise ValueError(f"expected {expected}")

    return BeforeValidator(checked)


def _checked_fields(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    for name, place in fields.items():
        check_field(name, place if isinstance(place, str) else place.model_dump(exclude_none=True))
    return fields


def _are_paths(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(path, str) for path in value))


def _is_metric_entry(value: object) -> bool:
    if isinstance(value, Mapping):
        is_set = isinstance(value.get("set"), str) and "metric" not in value and "as" not in value
        return is_set or isinstance(value.get("metric"), str)
    return isinstance(value, str) and bool(value.strip())


_BUDGET = {"type": "string", "pattern": "^ *[0-9]+ *(tok|char) *$"}
_CUTOFF_OF_TEXT = {
    "anyOf": [_BUDGET, {"type": "array", "items": _BUDGET}],
    "description": "A cutoff in tokens or characters, such as 2000tok or 8000char.",
}
_CUTOFF = {
    "anyOf": [{"type": "integer", "minimum": 1}, {"type": "array", "items": {"type": "integer", "minimum": 1}}],
    "description": "A cutoff that a sample's own may override; a list pins one column each.",
}

_WHETHER = {
    "partial": "Whether a result that begins inside the budget counts.",
    "joint": "Whether what several results hold of a gold text or span adds up.",
}

MetricEntry = Annotated[
    Any,
    _expect(_is_metric_entry, "a metric such as 'ndcg@10', a mapping with 'metric', or {set: NAME}"),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "description": "An expression such as ndcg@10."},
                {
                    "type": "object",
                    "properties": {
                        "set": {"type": "string", "description": "A named set to include."},
                        "k": _CUTOFF,
                        "budget": _CUTOFF_OF_TEXT,
                    },
                    "required": ["set"],
                    "description": "Further keys are parameters that its metrics get, each if it has one.",
                },
                {
                    "type": "object",
                    "properties": {
                        "metric": {"type": "string", "description": "An expression, or a name."},
                        "as": {"type": "string", "description": "The name of the column."},
                        "k": _CUTOFF,
                        "budget": _CUTOFF_OF_TEXT,
                        "unit": {"type": "string", "description": "What ids are rolled up to, such as document."},
                        "stage": {"type": "string", "description": "The stage of the pipeline that is judged."},
                        "tokenizer": {"type": "string", "description": "What counts the tokens of a budget."},
                        "words": {
                            "enum": ["blanks", "unicode"],
                            "description": "What separates the words of answers and budgets: blanks, or their script.",
                        },
                        **{name: {"type": "boolean", "description": text} for name, text in _WHETHER.items()},
                    },
                    "required": ["metric"],
                },
            ]
        }
    ),
]


class FieldConfig(Model):
    """Where the data has a field."""

    path: str = Field(min_length=1, description="Your name for it; names joined by dots lead into a record.")
    strings: Literal["id", "text"] | None = Field(
        None, description="What bare strings in `retrieved` are: ids, as usual, or texts."
    )


class DatasetConfig(Model):
    """One dataset."""

    path: str = Field(
        description="The file, relative to the config file; `~` and `${VARIABLE}` are replaced, in every path."
    )
    outputs: str | None = Field(None, description="A file with outputs, relative to the config file.")
    excluded: str | dict[str, list[str]] | None = Field(
        None, description="Documents left out for each query, in place of those of the policy."
    )
    groups: str | dict[str, str | list[str]] | None = Field(
        None, description="Cohorts of queries by their ids, beside tags: a file, relative to the config, or by query."
    )
    fields: Annotated[
        dict[
            Annotated[str, _checked_by(field_name)],
            Annotated[
                str | FieldConfig,
                _expect(
                    lambda value: isinstance(value, str | Mapping),
                    "your name for the field, or {path: NAME, strings: text}",
                ),
            ],
        ],
        AfterValidator(_checked_fields),
    ] = Field(
        default_factory=dict,
        description="Your name for a field of samples, such as `id: qid`, or `retrieved: {path: contexts, strings: "
        "text}` for a list of texts.",
    )
    preset: str | None = Field(None, min_length=1, description="Whose records these are, such as `ragas`.")
    separator: str | None = Field(
        None, min_length=1, description="What separates the entries of a list that is written as one text."
    )
    reader: str | None = Field(None, min_length=1, description="The reader of the file, whatever its ending.")
    outputs_reader: str | None = Field(None, min_length=1, description="The reader of the outputs, likewise.")
    number_rows: bool = Field(
        default=False, description="Whether records without an id are called by their line, row or place in a list."
    )
    letters: str | None = Field(
        None,
        min_length=1,
        description="What grades that are no numbers are worth in judgments, such as `E=3,S=2,C=1,I=0`.",
    )
    system: str | None = Field(
        None,
        min_length=1,
        description="Whose records are read, if the preset finds those of several systems in one file.",
    )

    @property
    def field_map(self) -> FieldMap:
        """Return the fields as plain values."""
        return {
            name: place if isinstance(place, str) else place.model_dump(exclude_none=True)
            for name, place in self.fields.items()
        }


class RetrievalConfig(Model):
    """Settings of the retrieval family."""

    default_k: int | None = Field(None, ge=1, description="Default cutoff, used when a metric has none.")


class MetricsConfig(Model):
    """Which metrics to compute."""

    retrieval: RetrievalConfig = Field(default_factory=RetrievalConfig, description="Settings of the retrieval family.")
    use: list[MetricEntry] = Field(default_factory=list, description="The metrics of a run.")
    sets: dict[str, list[MetricEntry]] = Field(
        default_factory=dict,
        description="Named sets; a set may include others with {set: NAME}, and change their cutoff and parameters: "
        "{set: NAME, k: 20, rel: 2}.",
    )


class MatcherConfig(Model):
    """A matcher composed of normalizers and a comparer."""

    normalize: list[str] = Field(default_factory=list, description="Normalizers, in order.")
    compare: str = Field("equal", description="A comparer, with parameters in parentheses.")
    threshold: float = Field(1.0, gt=0, le=1, description="Lowest score of a match.")


class PluginsConfig(Model):
    """Which plugins are disabled, required and locked."""

    disable: list[str] = Field(default_factory=list, description="Distributions not to load.")
    require: list[str] = Field(default_factory=list, description="Distributions that must be installed and working.")
    locked: str | None = Field(
        None,
        min_length=1,
        description="A lock file written by `rankgauge plugins lock`, relative to the config file; a run refuses any "
        "metric or matcher that differs from it.",
    )


class OutputConfig(Model):
    """Where results go."""

    directory: str | None = Field(None, description="A folder for result folders, relative to the working directory.")
    details: bool = Field(False, description="Whether to keep the facts behind every score.")
    bands: bool = Field(False, description="Whether to add a word, such as good, for each mean.")


class Config(Model):
    """A rankgauge config file."""

    version: Annotated[Literal[1], _expect(lambda value: not isinstance(value, bool), "the number 1")] = Field(
        description="The version of this schema."
    )
    include: Annotated[str | list[str], _expect(_are_paths, "the path of a config file, or a list of them")] = Field(
        default_factory=list,
        description="Other config files, relative to this one. What this file says wins over what they say.",
    )
    datasets: dict[str, DatasetConfig] = Field(default_factory=dict, description="Datasets by name.")
    cohorts: list[Annotated[str, _checked_by(check_cohort)]] = Field(
        default_factory=list,
        description="Fields of the metadata whose values make cohorts beside the tags, such as `metadata.language`.",
    )
    cluster: str | None = Field(None, min_length=1, description="Metadata field of samples that are not independent.")
    weights: str | None = Field(
        None, min_length=1, description="Metadata field that says how much samples count; or a file: id, weight."
    )
    metrics: MetricsConfig = Field(default_factory=MetricsConfig, description="Which metrics to compute.")
    profile: str = Field("default", description=f"One of {', '.join(PROFILES)}, or one of `profiles` or of a plugin.")
    profiles: dict[str, ProfileConfig] = Field(default_factory=dict, description="Profiles by name.")
    policy: PolicyConfig | None = Field(None, description="Options that differ from the profile's.")
    matchers: dict[str, Annotated[str, _checked_by(parse_matcher)] | MatcherConfig] = Field(
        default_factory=dict, description="Matchers by name: compositions, or names of other matchers."
    )
    plugins: PluginsConfig = Field(default_factory=PluginsConfig, description="Which are disabled, required, locked.")
    output: OutputConfig = Field(default_factory=OutputConfig, description="Where results go.")
    matters: dict[str, Annotated[float, Field(gt=0)]] = Field({}, description="What matters in comparisons, by metric.")
    system: SystemEntry | None = Field(None, description="What is called for outputs; see `rankgauge plugins list`.")
    sweep: Parameters = Field(default_factory=dict, description="Options of the system to try, by `systems sweep`.")
    gates: list[GateEntry] = Field(default_factory=list, description="What metrics have to meet; a miss exits with 1.")
    until: list[GateEntry] = Field(default_factory=list, description="Gates that end the calls of --sut when decided.")
    inconclusive: Literal["fell", "fail", "warn", "pass"] | None = Field(
        None, description="What open gates on changes do; by default (fell) they fail if the mean fell for certain."
    )
    test: str | None = Field(None, min_length=1, description="The test by which `compare --config` gives a p.")
    short_lists: Literal["open", "allow"] | None = Field(
        None, description="Whether changes under a budget that the worse run's lists do not fill are judged (allow)."
    )
    baseline: str | None = Field(
        None, min_length=1, description="A baseline that gates on changes compare with, relative to the config file."
    )


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of config files, for editors; `configs/schema.json`, and a file in the wheel, hold it."""
    names = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:rankgauge:config:1"}
    return {**names, **Config.model_json_schema(), "title": "rankgauge config"}
