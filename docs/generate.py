"""
Write what can be generated: references of metrics, matchers, errors, commands, public names and configs, and schemas.

Run it with ``make docs``; a test fails while a generated file differs from what this script would write.
"""

from __future__ import annotations

import inspect
import json
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from rankgauge import Explanation, GateReport, Result, config, errors
from rankgauge.catalog import Catalog
from rankgauge.catalog.resolved import signature_parameters
from rankgauge.errors import Problem
from rankgauge.expression import parse
from rankgauge.features.testing.foreign_metrics import ROLES
from rankgauge.features.testing.law import Kind
from rankgauge.plugin.metric import Metric
from rankgauge.testing import Law, laws_of

__all__ = ["generated", "main"]

ROOT = Path(__file__).parent.parent
_CUTOFFS = {
    "none": "none",
    "required": "always; the default cutoff is used when none is given",
    "droppable": "the default cutoff is used when none is given; the short name without `@` has none",
    "optional": "only when pinned or given to the metric",
}


_STORED = {"result": Result, "gate-report": GateReport, "explanation": Explanation}
"""What services store as JSON, by the name of its schema."""


def generated() -> dict[Path, str]:
    """
    Return every generated file.

    Returns:
        The text by path.
    """
    schema = _json(config.json_schema())
    return {
        ROOT / "docs/reference/metrics.md": _metrics(),
        ROOT / "docs/reference/matchers.md": _matchers(),
        ROOT / "docs/reference/laws.md": _laws(),
        ROOT / "docs/reference/config.md": _config(),
        ROOT / "docs/reference/errors.md": _errors(),
        ROOT / "docs/reference/command-line.md": runpy.run_path(str(ROOT / "docs/command_line.py"))["page"](),
        ROOT / "docs/reference/api.md": runpy.run_path(str(ROOT / "docs/api.py"))["page"](),
        ROOT / "docs/reference/measures-by-tool.md": runpy.run_path(str(ROOT / "docs/measures_by_tool.py"))["page"]()
        + runpy.run_path(str(ROOT / "docs/tools/profiles_page.py"))["section"](),
        **{ROOT / f"configs/{name}.schema.json": _json(found.json_schema()) for name, found in _STORED.items()},
        ROOT / "configs/schema.json": schema,
        Path(config.__file__).parent / "schema.json": schema,  # the one that is installed
    }


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def main() -> None:
    """Write the files that differ."""
    for path, text in generated().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")


def _metrics() -> str:
    parts = [
        "# Metrics",
        "",
        "Generated from the declarations by `make docs`. `rankgauge metrics show NAME` prints the same for any",
        "installed metric, with file and line.",
        "",
        "Where to begin: the ten that are asked for most. `@10` is a [cutoff](expressions.md); a name alone takes the",
        "default.",
        "",
        "| write | metric | when to use it |",
        "|---|---|---|",
        *_usual(),
        "",
        "By text and by place one result may hold several gold items: [which metric then takes which",
        "rank](../explanation/why-numbers-differ.md#which-metric-takes-which-rank).",
        "",
    ]
    for alias, claim in Catalog.discover(own_only=True).metrics.items():
        parts += _metric(alias, claim.declaration)
    return "\n".join(parts).rstrip() + "\n"


_USUAL = ("ndcg@10", "recall@10", "hit@5", "RR", "AP", "P@5", "bpref", "judged@10", "containment@5", "EM")


_OWN_RANKS = "../explanation/why-numbers-differ.md#several-gold-items-in-one-result"


def _usual() -> Iterator[str]:
    """Yield a row for each of the ten usual metrics, with the advice of its docstring."""
    catalog = Catalog.discover(own_only=True)
    for written in _USUAL:
        metric = catalog.read(parse(written)).claim.declaration
        advice = re.search(r"^When to use it: (.*?)(?:\n\n|\Z)", _definition(metric.source), re.MULTILINE | re.DOTALL)
        if advice is None:
            raise LookupError(metric.alias)
        yield f"| `{written}` | [{metric.alias}](#{metric.alias}) | {' '.join(advice[1].split()).removesuffix('.')} |"


def _metric(alias: str, metric: Metric) -> list[str]:
    definition = _definition(metric.source)
    low, high = metric.range
    parts = [f"## {alias}", "", definition, "", "| | |", "|---|---|"]
    parts.append(f"| names | {', '.join(f'`{name}`' for name in metric.names)} |")
    judged = "the generated answer" if metric.judging.judges == "answer" else "the retrieved items"
    gold = " or ".join(f"`{kind}`" for kind in metric.judging.gold)
    parts.append(f"| judges | {judged}, {f'against {gold}' if gold else 'without ground truth'} |")
    if metric.judging.own_ranks:
        parts.append(f"| by text | gold items that one result holds take [own ranks]({_OWN_RANKS}) |")
    parts.append(f"| cutoff | {_CUTOFFS[metric.cutoff.kind]} |")
    for parameter in metric.all_parameters:
        choices = " or ".join(f"`{choice}`" for choice in parameter.choices)
        kind = choices or f"`{getattr(parameter.annotation, '__name__', parameter.annotation)}`".replace("|", "or")
        parts.append(f"| `{parameter.name}` | {kind}; default `{parameter.default}` |")
    parts.append(f"| range | {'-inf' if low is None else f'{low:g}'} to {'inf' if high is None else f'{high:g}'} |")
    parts.append(f"| also takes | {', '.join(f'`{name}`' for name in metric.engine_parameters)} |")
    parts.append(f"| laws | {', '.join(sorted(metric.laws))} |")
    return [*parts, ""]


def _matchers() -> str:
    catalog = Catalog.discover(own_only=True)
    parts = [
        "# Matchers",
        "",
        "Generated from the declarations by `make docs`. A matcher is normalizers, a comparer and a threshold,",
        "written as `normalizer | normalizer > comparer(parameter=value) >= threshold`. `rankgauge matchers list` and",
        "`show` print the same for what is installed, and `try` what a matcher makes of two texts. How to choose one:",
        "[match by text](../how-to/match-by-text.md).",
        "",
        "## Matchers by name",
        "",
        "| name | composition | |",
        "|---|---|---|",
    ]
    for name, claim in catalog.all("matcher").items():
        composition = str(claim.declaration.matcher).replace("|", "\\|")
        parts.append(f"| `{name}` | `{composition}` | {claim.declaration.summary} |")
    parts += ["", "## Normalizers", "", "| name | stage | |", "|---|---|---|"]
    for name, claim in catalog.all("normalizer").items():
        definition = (inspect.getdoc(claim.declaration.source) or "").replace("``", "`")
        parts.append(f"| `{name}` | {claim.declaration.stage} | {' '.join(definition.split())} |")
    parts += ["", "Stages are in the order decode, strip, fold; a matcher that breaks it is refused.", ""]
    parts += ["## Comparers", "", "| name | parameters | |", "|---|---|---|"]
    for name, claim in catalog.all("comparer").items():
        definition = _definition(claim.declaration.source)
        parameters = [
            f"`{parameter.name}={_yaml(parameter.default)}`" + "".join(f", `{choice}`" for choice in others)
            for parameter in signature_parameters(claim.declaration.function)
            for others in [[choice for choice in parameter.choices if choice != parameter.default]]
        ]
        parts.append(f"| `{name}` | {'; '.join(parameters)} | {' '.join(definition.split())} |")
    parts += [
        "",
        "A score is from 0 to 1, for every retrieved text against every gold text. `cutoff` is the matcher's threshold",
        "unless given: below it 0 is as good as the score. A text that is empty once normalized matches nothing, but",
        "for `remem`, and for `equal-tokens` and `token-f1`, where two such texts are equal.",
    ]
    return "\n".join(parts).rstrip() + "\n"


def _definition(function: object) -> str:
    """Return a docstring down to its first section."""
    return re.split(r"\n\n(?:Args|Returns|Raises):\n", inspect.getdoc(function) or "")[0].replace("``", "`")


def _yaml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _errors() -> str:
    parts = [
        "# Errors",
        "",
        "Generated from `rankgauge.errors` by `make docs`. Every error that rankgauge raises on purpose is a",
        "`RankgaugeError`, except an interrupted run. Its message says what is wrong with which",
        "value, where that came from and what to do; its attributes hold the same facts. The command line prints the",
        "message to stderr and ends with the error's [exit code](command-line.md); anything else that is raised is a",
        "bug, and exit code 5. Errors can be pickled: one raised in a worker process arrives with its attributes.",
        "",
        "| error | is also | exit code | |",
        "|---|---|---|---|",
    ]
    kinds = _kinds_of_errors()
    for kind, depth in kinds:
        also = [base.__name__ for base in kind.__bases__ if base.__module__ == "builtins" and base is not Exception]
        parts.append(
            f"| {'&nbsp;&nbsp;' * depth}`{kind.__name__}` | {', '.join(f'`{name}`' for name in also)} "
            f"| {getattr(kind, 'exit_code', '')} | {_described(kind)[0]} |"
        )
    parts += ["", "An indented error is a kind of the one above it.", "", "## Attributes", ""]
    owners: dict[tuple[str, ...], list[str]] = {}
    for kind in [*(kind for kind, _ in kinds), Problem]:
        private = [base for base in kind.__bases__ if base.__name__.startswith("_")]
        attributes = [attribute for each in (kind, *private) for attribute in _described(each)[1]]
        owners.setdefault(tuple(attributes), []).append(f"`{kind.__name__}`")
    for attributes, names in owners.items():
        if attributes:
            parts += [f"{', '.join(names)}:", "", *(f"- {attribute}" for attribute in attributes), ""]
    return "\n".join(parts).rstrip() + "\n"


def _kinds_of_errors() -> list[tuple[type[BaseException], int]]:
    """Return the public errors in the order of their tree, each with its depth."""
    public = [getattr(errors, name) for name in errors.__all__]
    kinds = [kind for kind in public if isinstance(kind, type) and issubclass(kind, BaseException)]

    def below(parent: type[BaseException] | None, depth: int) -> list[tuple[type[BaseException], int]]:
        own = [kind for kind in kinds if next((base for base in kind.__mro__[1:] if base in kinds), None) is parent]
        return [entry for kind in own for entry in [(kind, depth), *below(kind, depth + 1)]]

    return below(None, 0)


def _described(kind: type) -> tuple[str, list[str]]:
    """Return the first paragraph of a class's documentation, and its attributes."""
    text, _, attributes = (inspect.getdoc(kind) or "").replace("``", "`").partition("\n\nAttributes:\n")
    found = [" ".join(each.split()) for each in attributes.split("\n\n") if each.strip()]
    named = [f"`{name}`: {about.strip()}" for name, _, about in (each.partition(":") for each in found)]
    return " ".join(text.partition("\n\n")[0].split()), named


def _laws() -> str:
    text = (ROOT / "docs/laws.template").read_text(encoding="utf-8")
    for kind in get_args(Kind):
        columns = ("law", "what it says", "checked of") if kind == "metric" else ("law", "what it says")
        rows = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
        for law in laws_of(kind).values():
            cells = [
                f"`{law.name}`",
                law.says + (", where declared" if kind != "metric" and law.when == "declared" else ""),
            ]
            rows.append(f"| {' | '.join([*cells, _subjects(law)] if kind == 'metric' else cells)} |")
        text = text.replace(f"{{{kind} laws}}", "\n".join(rows))
    listed = "\n".join(f"| `{role}` | {meaning} |" for role, meaning in ROLES.items())
    return text.replace("{roles}", f"| role | what the parameter is given |\n|---|---|\n{listed}")


_UNASKED = {"bounded": "all whose range has an end", "tail": "all with a cutoff, others where declared"}
"""Of which metrics laws are checked that need not be declared."""


def _subjects(law: Law) -> str:
    own = _UNASKED.get(law.name) or {"every": "all", "declared": "declared", "elsewhere": ""}[law.when]
    return ", ".join(filter(None, (own, "elsewhere" if law.elsewhere else "")))


def _config() -> str:
    schema = config.json_schema()
    parts = [
        "# Config files",
        "",
        "Generated from the schema by `make docs`; `configs/schema.json`, installed as",
        "`rankgauge/config/schema.json`, is the same as JSON Schema. `rankgauge init` writes it beside the config,",
        "whose first line names it to editors. A config is one YAML file that holds neither code nor import paths.",
        "Data files are named relative to it, result folders relative to the working directory. Unknown keys are",
        "errors; all problems are reported together.",
        "",
        "In paths, `~` is the home directory and `${DATA_DIR}` the environment variable, which must be set; quote a",
        "path with a variable inside `{...}`; errors of the command line name the variable, and not its value.",
        "`include` names other config files, whose paths are relative to them.",
        "What a file says wins over what it includes: mappings are joined key by key, lists and other values replaced.",
        "Two included files that say different things are an error unless the file itself decides, and so are files",
        "that include each other. Every problem has its file and line.",
        "",
        "```yaml include",
        "version: 1",
        "include: [shared/metrics.yaml]",
        "datasets:",
        "  nightly:",
        "    path: ${DATA_DIR}/nightly.jsonl",
        "    outputs: ~/runs/latest.jsonl",
        "```",
        "",
        "## The file",
        "",
        *_table(schema),
    ]
    for name, part in schema["$defs"].items():
        parts += [f"## {name}", "", part.get("description", ""), "", *_table(part)]
    parts += [
        "A metric in `use` or in a set is an expression (`ndcg@10`, `recall@1,5,10`), a mapping `{metric, as, k, ...}`",
        "whose further keys are parameters, or `{set: NAME}`: a set of this file or of a plugin. Further keys of that",
        "change what the set lists: `k` replaces the cutoff of each metric that has one, other keys the parameters of",
        "each metric that has such a parameter. A key that no metric of the set has is an error.",
        "",
        "```yaml",
        "version: 1",
        "metrics:",
        "  use: [MRR, {set: core, k: 20, rel: 2}]  # mrr, recall(rel=2)@20, p(rel=2)@20",
        "  sets:",
        "    core: [recall@10, P@5]",
        "profile: ours",
        "profiles:",
        "  ours:",
        "    extends: eval-harness",
        "    policy: {no_gold: undefined}",
        "    parameters:",
        "      ndcg: {gain: exponential}",
        "```",
    ]
    return "\n".join(parts).rstrip() + "\n"


def _table(model: dict[str, Any]) -> list[str]:
    rows = ["| key | type | default | |", "|---|---|---|---|"]
    for key, field in model.get("properties", {}).items():
        default = "required" if key in model.get("required", ()) else f"`{json.dumps(field.get('default'))}`"
        if "default" not in field and key not in model.get("required", ()):
            default = ""
        rows.append(f"| `{key}` | {_type(field)} | {default} | {field.get('description', '')} |")
    return [*rows, ""]


def _type(field: dict[str, Any]) -> str:
    if "$ref" in field:
        return f"[{field['$ref'].rpartition('/')[2]}](#{field['$ref'].rpartition('/')[2].lower()})"
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "enum" in field:
        return ", ".join(f"`{choice}`" for choice in field["enum"])
    if "anyOf" in field:
        kinds = [_type(option) for option in field["anyOf"] if option.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if field.get("type") == "array":
        inner = field.get("items", {})
        return f"list of {inner.get('title', 'metric')}s" if "anyOf" in inner else f"list of {_type(inner)}"
    if field.get("type") == "object":
        inner = field.get("additionalProperties")
        return f"map name -> {_type(inner)}" if isinstance(inner, dict) else "map"
    return str(field.get("type", "any"))


if __name__ == "__main__":
    main()
