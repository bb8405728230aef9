"""
What is public, read from the source: every name of every public module, with the first sentence of its docstring.

`docs/generate.py` writes the page from it, grouped by what names are for.
No module is imported, because those of `rankgauge_hosts` need their hosts.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

__all__ = ["MODULES", "SECTIONS", "Name", "Section", "exported", "page", "public_names"]


TEMPLATE = Path(__file__).parent / "api.template"


class Name(NamedTuple):
    """
    One public name.

    Attributes:
        name: As it is imported.

        kind: `class`, `function` or `value`.

        doc: Its docstring; empty if it has none.
    """

    name: str
    kind: str
    doc: str

    @property
    def summary(self) -> str:
        """Return the first paragraph of the docstring, on one line."""
        return " ".join(self.doc.partition("\n\n")[0].split()).replace("``", "`")


class Section(NamedTuple):
    """
    A part of the page, and a page of the site.

    Attributes:
        title: Its heading: what the names are for, or the module that all of them are imported from.

        purpose: What they are for.

        names: The names by module, in the order of the page; None for all that a module exports.
    """

    title: str
    purpose: str
    names: Mapping[str, Sequence[str] | None]


def _module(name: str, purpose: str) -> Section:
    return Section(name, purpose, {name: None})


SECTIONS = (
    Section(
        "Evaluate",
        "From judgments and rankings, or from samples, to scores.",
        {
            "rankgauge": (
                "evaluate",
                "Engine",
                "Evaluation",
                "Result",
                "MetricSummary",
                "Policy",
                "Profile",
                "Catalog",
                "HostScorer",
                "__version__",
            ),
            "rankgauge.typing": (
                "MetricSpec",
                "HostColumn",
                "SampleScore",
                "Stop",
                "CallOptions",
                "RunConventions",
                "MetricExpression",
            ),
        },
    ),
    Section(
        "Compare",
        "Results against each other, and rankings without judgments. `Result.compare` does the same for two results.",
        {
            "rankgauge": (
                "compare",
                "Comparison",
                "load_scores",
                "over_datasets",
                "prediction_powered",
                "rank_agreement",
            ),
            "rankgauge.typing": (
                "MethodOptions",
                "DatasetMean",
                "PoweredComparison",
                "PoweredMetric",
                "PoweredDifference",
                "PoweredMean",
                "RankAgreement",
                "Bounds",
            ),
        },
    ),
    Section(
        "Gate",
        "Bounds of means and of drops against a baseline. `Result.gate` judges the gates of one result.",
        {
            "rankgauge": ("judge_gates", "GateReport", "load_baseline", "save_baseline"),
            "rankgauge.typing": ("GateOutcome",),
        },
    ),
    Section("Explain", "What `Result.explain` and `Result.worst` return.", {"rankgauge": ("Explanation",)}),
    Section(
        "Threshold",
        "The score below which a system should say nothing.",
        {"rankgauge": ("threshold",), "rankgauge.typing": ("Threshold", "Half", "Share")},
    ),
    Section(
        "Funnel",
        "Where a pipeline loses what is relevant.",
        {"rankgauge": ("funnel",), "rankgauge.typing": ("Funnel", "FunnelStage", "Traced")},
    ),
    Section("Report", "Results as one HTML file, one of them or several.", {"rankgauge": ("html_report",)}),
    Section(
        "Files",
        "What data may be, and checking it before anything is scored. `Result.save` and `Result.load` keep results.",
        {
            "rankgauge": ("preflight", "Preflight", "Sample"),
            "rankgauge.typing": ("Finding", "QrelsLike", "RunLike"),
            "rankgauge.files": None,
        },
    ),
    Section(
        "History",
        "[Results over time](../how-to/share-and-follow.md#follow-results-over-time) in one index file.",
        {"rankgauge.history": ("History", "Entry")},
    ),
    Section(
        "Scale",
        "[Past one machine](../explanation/past-one-machine.md): the same evaluation in parts, with the same bits.",
        {"rankgauge.scale": None},
    ),
    Section(
        "Labels",
        "[Whether labels hold](../how-to/check-labels.md), and [queues of what to judge](../how-to/judge-more.md).",
        {"rankgauge.labels": None},
    ),
    Section(
        "Systems",
        "[The system under test of a config](../how-to/call-your-engine.md), called from Python.",
        {"rankgauge.systems": None},
    ),
    Section(
        "Errors",
        "What to catch; [errors](errors.md) lists all of them with their attributes.",
        {"rankgauge": ("RankgaugeError", "RunInterrupted"), "rankgauge.errors": ("Problem",)},
    ),
    Section(
        "Text",
        "What messages and names are made with.",
        {"rankgauge.text": None},
    ),
    _module("rankgauge.plugin", "What a plugin declares. [Plugins](plugins.md) shows each with an example."),
    _module("rankgauge.arguments", "Types of options of a [command](plugins.md#a-command): `type=path` and so on."),
    _module("rankgauge.testing", "Check a plugin against the [laws](laws.md). Needs the extra `testing`."),
    _module("rankgauge.compat.classic", "The classic blog library's names and numbers."),
    _module("rankgauge.compat.haystack", "Haystack's evaluators, without Haystack."),
    _module("rankgauge.compat.keyword", "The keyword article's functions."),
    _module("rankgauge.compat.remem", "REMem's metrics."),
    _module("rankgauge_hosts", "What the modules for the hosts share. It is a distribution of its own."),
    _module(
        "rankgauge_hosts.beir", "[In place of BEIR's function](../how-to/inside-your-platform.md#embedding-models)."
    ),
    _module("rankgauge_hosts.deepeval", "[Inside DeepEval](../how-to/inside-your-platform.md#deepeval)."),
    _module("rankgauge_hosts.haystack", "[Inside Haystack](../how-to/inside-your-platform.md#haystack)."),
    _module("rankgauge_hosts.inspect_ai", "[Inside inspect_ai](../how-to/inside-your-platform.md#inspect_ai)."),
    _module(
        "rankgauge_hosts.ir_measures",
        "[Inside ir_measures and PyTerrier](../how-to/inside-your-platform.md#ir_measures-and-pyterrier).",
    ),
    _module("rankgauge_hosts.mlflow", "[Inside MLflow](../how-to/inside-your-platform.md#mlflow)."),
    _module("rankgauge_hosts.mlflow_history", "[A history in MLflow](../../plugins/rankgauge-hosts/README.md#mlflow)."),
    _module("rankgauge_hosts.mteb", "[Beside MTEB](../../plugins/rankgauge-hosts/README.md#mteb)."),
    _module("rankgauge_hosts.promptfoo", "[Inside promptfoo](../how-to/inside-your-platform.md#promptfoo)."),
    _module("rankgauge_hosts.ragas", "[Inside ragas](../how-to/inside-your-platform.md#ragas)."),
    _module(
        "rankgauge_hosts.sentence_transformers",
        "[Inside sentence-transformers](../how-to/inside-your-platform.md#embedding-models).",
    ),
    _module(
        "rankgauge_recsys", "[For recommenders](../../plugins/rankgauge-recsys/README.md), a distribution of its own."
    ),
    _module(
        "rankgauge_semantic", "[By embeddings](../../plugins/rankgauge-semantic/README.md), a distribution of its own."
    ),
    _module("rankgauge_spark", "[On Spark](../how-to/evaluate-on-spark.md), a distribution of its own."),
)
"""The page, part by part; a name of `rankgauge` that is in none of them is missing in it, which a test refuses."""

MODULES = list(dict.fromkeys(module for section in SECTIONS for module in section.names))
"""The public modules."""


def public_names(module: str) -> list[Name]:
    """
    Return what is public of a module.

    Args:
        module: Its dotted name.

    Returns:
        The names that the sections list, in their order; those of its `__all__` where a section has all of them.
    """
    listed = [section.names[module] for section in SECTIONS if module in section.names]
    return [_found(module, name) for names in listed for name in (exported(module) if names is None else names)]


def exported(module: str) -> list[str]:
    """
    Return what a module exports.

    Args:
        module: Its dotted name.

    Returns:
        Its `__all__`.
    """
    listed = next(node for node in _tree(module).body if "__all__" in _bound(node))
    assert isinstance(listed, ast.Assign | ast.AnnAssign)  # noqa: S101  # for mypy
    assert listed.value is not None  # noqa: S101  # for mypy
    return list(ast.literal_eval(listed.value))


def page() -> str:
    """
    Return the text of `docs/reference/api.md`.

    Returns:
        A table for each section.
    """
    parts = list[str]()
    for title, purpose, modules in SECTIONS:
        parts += ["", f"## {title}", "", purpose, "", "| name | module | |", "|---|---|---|"]
        for module, names in modules.items():
            entries = [_found(module, name) for name in (exported(module) if names is None else names)]
            parts += [
                f"| `{entry.name}` | `{module}` | {entry.summary} |".replace(" |  |", " | |") for entry in entries
            ]
    return TEMPLATE.read_text(encoding="utf-8").replace("{names}", "\n".join(parts[1:]))


def _found(module: str, name: str) -> Name:
    """Follow a name to where it is defined."""
    if name == "__version__":
        return Name(name, "value", "The installed version, such as `0.1.0`.")  # looked up by `__getattr__`
    body = _tree(module).body
    for at, node in reversed(list(enumerate(body))):  # the last one counts: overloads come before
        if name not in _bound(node):
            continue
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            return Name(name, "class" if isinstance(node, ast.ClassDef) else "function", ast.get_docstring(node) or "")
        if isinstance(node, ast.ImportFrom):
            (original,) = (alias.name for alias in node.names if (alias.asname or alias.name) == name)
            return _found(node.module or "", original)._replace(name=name)
        text = body[at + 1].value if at + 1 < len(body) and isinstance(body[at + 1], ast.Expr) else None
        is_text = isinstance(text, ast.Constant) and isinstance(text.value, str)
        return Name(name, "value", inspect.cleandoc(text.value) if is_text else "")
    msg = f"{module} exports {name!r}, and neither defines nor imports it"
    raise LookupError(msg)


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a module binds."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return {node.name}
    if isinstance(node, ast.ImportFrom):
        return {alias.asname or alias.name for alias in node.names}
    if isinstance(node, ast.AnnAssign):
        return {node.target.id} if isinstance(node.target, ast.Name) else set()
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    return set()


def _tree(module: str) -> ast.Module:
    """Parse a module; names under ``if TYPE_CHECKING:`` count, too."""
    package, *parts = module.split(".")
    found = importlib.util.find_spec(package)  # imports nothing, as the name has no dot
    if found is None or found.origin is None:
        msg = f"{package} is not installed; `make docs` installs it"
        raise LookupError(msg)
    place = Path(found.origin).parent.joinpath(*parts)
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    tree.body = [inner for node in tree.body for inner in (node.body if isinstance(node, ast.If) else [node])]
    return tree
