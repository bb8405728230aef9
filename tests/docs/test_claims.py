"""
What pages claim in prose: numbers, and names of options.

A number in a sentence is printed by a block of its page, or it is a figure of the source (`FIGURES`), or it was
measured (`MEASURED`, which says on what). A number of none of these kinds is an error, so that none goes unchecked.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from itertools import chain
from math import log2, sqrt
from pathlib import Path

import pytest

from rankgauge import Engine
from rankgauge.catalog import Catalog
from rankgauge.cli import command_line
from rankgauge.comparison import compare, power
from rankgauge.engine import workers
from rankgauge.errors import DataError, ParameterError
from rankgauge.features.html import html_report
from rankgauge.features.html import page as html_page
from rankgauge.io import datasets, problems
from rankgauge.plugin import ReportTable
from rankgauge.stats import aggregates, effects, estimates, paired_tests

ROOT = Path(__file__).parents[2]
PAGES = {
    path.stem: path
    for path in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").rglob("[a-z]*.md")),
        *sorted(ROOT.glob("design/*.md")),
    )
}
ELSEWHERE = {
    **dict.fromkeys(
        ("metrics", "matchers", "config", "command-line", "laws", "measures-by-tool"),
        "docs/generate.py",
    ),
    **dict.fromkeys(("speed", "decisions", "simulations"), "benchmarks"),
    "engines": "make docs-systems, held by `make test-systems`",
}
"""Pages that are generated, which a test keeps fresh, and pages of measurements, whose tables name their script."""

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
WRITTEN = re.compile(r"^<!-- table: .*?^<!-- end of table -->$", re.MULTILINE | re.DOTALL)
"""A table that a script writes, which a test keeps fresh."""

CODE = re.compile(r"`[^`]*`")
NOT_PROSE = re.compile(r"^#.*$|`[^`]*`|\]\([^)]*\)", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w@.,^/<-])(\d[\d,]*(?:\.\d+)?|\.\d+)(?![\w.]*\d)( %)?")
SMALL, YEARS = 12, range(1945, 2100)
"""Whole numbers that count steps, ranks and grades of an example, which its block shows; and years of papers."""


def _short(number: float) -> str:
    """Return a number as tables of statistics write it."""
    return f"{number:.2f}".removeprefix("0")


def _detectable(n: int) -> str:
    return _short((effects.detectable_by_signs(n, 0.05) or 0.0) / sqrt(n))


_PYTHON = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_METRICS = len({claim.declaration.alias for claim in Catalog.discover(own_only=True).all("metric").values()})
_MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
_VERSIONS = re.findall(r"3\.\d+", next(line for line in _MAKEFILE.splitlines() if line.startswith("NEWEST =")))
_QUESTIONS = len((ROOT / "configs/quickstart/outputs.bm25.jsonl").read_text(encoding="utf-8").splitlines())
_POWER = f"with a power of {100 * effects._POWER:g} %"
_NDCG = 2 / log2(3), 2 + 1 / log2(3)

FIGURES = {
    "CONTRIBUTING": [
        f"from {_VERSIONS[0]} to {_VERSIONS[-1]}",
        "about 40 to 350 lines, or up to 600 if",
        "may take 190 s of processor time, 100 s on two idle cores (and some 40 s",  # a rule, and what it was set by
    ],
    "README": [
        f"With Python {_PYTHON['requires-python'].removeprefix('>=')} or later",
        f"(nDCG, recall, MRR, MAP and about {(_METRICS - 4) // 10 * 10} more metrics)",
    ],
    "comparing": [
        f"most {paired_tests._ENUMERATED} differences are not 0, all patterns are tried",
        _POWER,
        f"upper {100 * power._SURE:g} % bound",
        f"above {estimates._MOST_DRAWS // 100_000:,} pairs it takes fewer resamples than 100,000, at least 1,000",
        f"whose p is never below 2^(1-5) = .{2.0**-4 * 10_000:04.0f}",
        f"Differences of at most {estimates.TIED:g} | are ties",
        f"Below {estimates.FEW_CLUSTERS} clusters a note warns",
        "With 95 % confidence at most a share of 1 - .05^(1/n) of all queries differs",
        f"reaches {1 / 0.05:g} times what it was with a probability of at most .05",
        "Only one side can be wrong, so that both may have 5 %",
        "the middle 95 % of the change points of random samples with replacement",
    ],
    "judge-with-a-model": ["`--questions 40` does, and 40 are part of 80"],
    "compare-runs": ["only if the corrected p is at most 0.05"],
    "file-formats": [
        f"in one piece, and may have {problems._DEFAULT >> 20} MB each",
        f"in powers of {problems._UNITS['kb']:,}",
        f"up to {datasets._MOST_PROBLEMS:,}: malformed lines",
    ],
    "glossary": [_POWER],
    "how-a-number-is-made": [
        rf"\frac{{{_NDCG[0]:.5f}}}{{{_NDCG[1]:.5f}}} = {_NDCG[0] / _NDCG[1]:.5f}",
        f"k = 2: {_NDCG[0] / _NDCG[1]:.5f}.",
    ],
    "share-and-follow": [
        "between which two entries it lies with 95 % confidence",
        "means with their 95 % interval",
        f"of sets of more than {html_report._ALL:,}, the {html_report._MOST:,} that are worst",
        f"at most {html_page._TEXT_BUDGET // 1_000_000} MB of texts",
    ],
    "past-one-machine": [
        f"nDCG@2 | {(1 + 3 / log2(3)) / (3 + 1 / log2(3)):.3f} | {(1 + 3 / log2(3)) / (3 + 1 / log2(3)):.3f} |",
        f"the same, nDCG@3 | 1 | 1 | {1 + 1 / log2(3) + 1 / log2(4):.2f} |",
        f"P@1 | {1 / 2} | {1 / 2} | 1 |",
        f"one is started for every {workers.ENOUGH >> 20} MB of the file",
    ],
    "decide-in-python": [f"but {_QUESTIONS - 1} questions cannot tell that from nothing"],
    "decide": [
        f"Ours are {_QUESTIONS} questions and what two retrievers returned",
        f"(The {_QUESTIONS}th has no answer",
    ],
    "quickstart": ["their 95 % interval", "95th percentile"],
    "how-many-questions": [
        f"({compare._MOST_PAIRS} pairs at the most)",
        "95th percentile",
    ],
    "policy": [
        f"document of grade 3, is {(2**3 - 1) / 2**3}",
        f"graded nDCG of the same is {1 + 1 / log2(3):.2f}",
    ],
    "why-numbers-differ": [
        f"anywhere from {1.5 / 5:.2f} to {1.5 / 2:.2f}",
        f"As C floats (trec_eval before 10), {2**24 + 1} and {2**24} are tied",
        f"below {aggregates._FLOOR:.5f} to that",
    ],
}
"""By page, what sentences say of constants of the source, and of what is computed here."""

LIMITS = {
    "explain-a-score": [
        "with that gold item at rank 1, for the best 20 |",
        "deeper than 100, `ranks` has the first 100 and every one below that holds a gold item",
    ],
    "file-formats": ["nesting deeper than 100"],
    "plugins": ["up to 30 columns and 1,000 rows"],
}
"""By page, limits that a user meets; the tests at the end of this file meet them, too."""

NAMES = {
    "catch-leaks": ["ISO 8601"],
    "come-from-search-tools": ["a recall of 0.1 is 1.2 documents"],
    "compare-runs": ["equations 32 for the extrapolation, 11 and 30 for the bounds"],
    "file-formats": ["ISO 8601"],
    "gate-in-ci": [
        "74 questions of which five lose their document",
        "| 10 to 40 |",
        "a margin of 0.05 or more",
        "| 40 to 300 |",
    ],
    "expressions": ["1,000 ranks count, as in cwl_eval"],
    "evaluate-on-spark": ["Spark 4 and Java 17", "1 GB by default"],
    "how-many-questions": ["called five times are 30 values, not 150"],
    "policy": ["haystack-ai 3.4"],
    "match-by-text": ["chunks of 200 and of 800 characters", "so that 41 is not found in 1941"],
    "come-from-rag-tools": ["the columns before 0.2"],
    "score-answers": ["over 1 instead of 100"],
    "score-your-traces": [
        "The SDKs keep 128 attributes of a span",
        "40 documents with four each have 160",
        "what came 38th would pass",
    ],
    "api": ["Before 1.0", "From 1.0 on"],
    "write-a-plugin": ["about 15 minutes"],
}
"""By page, numbers that are no figure of ours: of versions, equations and examples."""

DECISIONS = "documents of configs/chunking, tests/decisions"
CHUNKINGS = "documents of configs/chunking, tests/matchers/test_chunkings.py"
PLANTED = "documents of configs with planted faults, benchmarks/label_doubts.py"
SIMULATED, PAPER, MACHINE = (
    "drawn scores, tests/comparison, tests/gates, benchmarks/intervals.py and benchmarks/histories.py",
    "a paper, which is cited",
    "one machine, benchmarks",
)

PEER = "the other tool was run, in the version that the page names"
MEASURED = {
    "comparing": {
        "Bootstrap intervals are popular": SIMULATED,
        "In [simulations](../../design/simulations.md#the-smallest-difference": SIMULATED,
        "Comparisons of as many questions as [simulated pilots]": SIMULATED,
        "standard intervals covered the true mean in .924 to .984 of the sets, exact ones in .998...": SIMULATED,
        "| model | metric | covers: people |": SIMULATED,
        "In [simulations](../../design/simulations.md#gates-that-stop-early)": SIMULATED,
        "was found in .91 of the histories, and the interval held the change in .999...": SIMULATED,
        "entries of 50 samples, a score that falls by 30 % in...": SIMULATED,
        "| differences | n | t |": SIMULATED,
        "Randomization, bootstrap and t test agree": PAPER,
        "Wilson's interval (1927)...": PAPER,
        "the true share may well be .8...": PAPER,
        "Clopper and Pearson's interval (1934)...": PAPER,
        "A betting interval holds": PAPER,
        "This is how often nominal 95 % intervals": SIMULATED,
        "| scores | n | standard |": SIMULATED,
        "with a probability of at most .05. Bets of several sizes...": PAPER,
        "The guarantee makes intervals": SIMULATED,
        "Wilson's intervals of hits": SIMULATED,
        "*No difference shown* does not mean equal": SIMULATED,
        "This is how often it was said": SIMULATED,
        "From 20 questions on *both* covers": SIMULATED,
        "| differences | n | metrics |": SIMULATED,
        "If you look at ten metrics": SIMULATED,
        "With several systems against a baseline": SIMULATED,
    },
    "past-one-machine": {
        "| what | takes | grows with |": MACHINE,
        "Where rows have no repeats": MACHINE,
        "Ten times the rows": MACHINE,
    },
    "check-labels": {
        "100,000 documents": MACHINE,
        "Two corpora of 100,000 documents": MACHINE,
        "On the project's own documents": PLANTED,
        "On two collections for which nothing": PLANTED,
    },
    "evaluate-on-spark": {"some 20 million queries and three metrics...": MACHINE},
    "evaluate-trec-runs": {"A run is read in blocks": MACHINE, "If the lines of a query": MACHINE},
    "call-your-engine": {"Of LanceDB and Qdrant it also says": PEER},
    "come-from-search-tools": {
        "1.9 is 1, and .5 is 0...": PEER,
    },
    "judge-with-a-model": {
        "(a slope of 2.5, 40 of 500 questions, 20 draws), its standard error is twice as large: .23 for .11...": PEER,
    },
    "gates": {"A change that is none (A/A) fails": SIMULATED},
    "share-and-follow": {"Every sample opens": MACHINE},
    "compare-chunkings": {
        "`configs/chunking` has ten documents": DECISIONS,
        "Chunks of 200 characters or of 800": DECISIONS,
        "Both are true": DECISIONS,
        "| you compare | true by offsets": DECISIONS,
        "detected 4 times out of 5 by 80 pairs...": DECISIONS,
    },
    "match-by-text": {
        "How near that comes to the truth": CHUNKINGS,
        "| characters of a chunk": CHUNKINGS,
    },
}
"""By page, how paragraphs begin whose numbers were measured, or what stands in one (with dots), and on what."""


def named(page: str) -> list[str]:
    """Return what this file says of the numbers of a page, but for what was measured."""
    return [figure for table in (FIGURES, LIMITS, NAMES) for figure in table.get(page, ())]


def prose(page: str) -> str:
    """Return a page without blocks; each paragraph is a line, of a table too."""
    text = WRITTEN.sub("", FENCE.sub("", PAGES[page].read_text(encoding="utf-8")))
    return "\n\n".join(
        " ".join(part.split()) for part in re.split(r"\n\n+(?!#)", re.sub(r"(?m)^(#.*)$", r"\1\n", text))
    )


def shown(page: str) -> set[float]:
    """Return the numbers of the blocks of a page, which the tests run and compare, and those in code."""
    text = PAGES[page].read_text(encoding="utf-8")
    code = chain((block[0] for block in FENCE.finditer(text)), CODE.findall(FENCE.sub("", text)))
    return {float(number) for part in code for number in re.findall(r"\d+(?:\.\d+)?|\.\d+", part.replace(",", ""))}


def unchecked(page: str) -> list[str]:
    """Return the numbers in prose that nothing holds, each with the words around it."""
    text = prose(page)
    for figure in (*named(page), *MEASURED.get(page, ())):
        whole = figure in MEASURED.get(page, ()) and not figure.endswith("...")
        text = (
            re.sub(rf"(?m)^{re.escape(figure)}.*$", "", text) if whole else text.replace(figure.removesuffix("..."), "")
        )
    known = shown(page)
    left = []
    for paragraph in text.split("\n\n"):
        plain = NOT_PROSE.sub(" ", paragraph)
        for number in NUMBER.finditer(plain):
            written = number[1].replace(",", "")
            value, decimals = float(written), len(written.partition(".")[2])
            if not decimals and (value <= SMALL or value in YEARS):
                continue
            if any(value in {round(one, decimals), round(100 * one, decimals) if number[2] else None} for one in known):
                continue
            left.append(plain[max(0, number.start() - 40) : number.end() + 40])
    return left


@pytest.mark.parametrize("page", sorted(set(PAGES) - set(ELSEWHERE)))
def test_every_number_in_prose_is_shown_computed_or_measured(page: str) -> None:
    assert unchecked(page) == []


@pytest.mark.parametrize("page", sorted(FIGURES.keys() | LIMITS.keys() | NAMES.keys()))
def test_figures_of_the_source_are_on_their_page(page: str) -> None:
    text = prose(page)
    assert [figure for figure in named(page) if figure not in text] == []


@pytest.mark.parametrize("page", MEASURED)
def test_measured_paragraphs_are_there(page: str) -> None:
    text = "\n\n" + prose(page)
    starts = [start.removesuffix("...") if start.endswith("...") else f"\n\n{start}" for start in MEASURED[page]]
    assert [start for start in starts if start not in text] == []


def test_every_section_on_speed_names_what_measured_it() -> None:
    sections_of_page = re.split(r"(?m)^## ", PAGES["speed"].read_text(encoding="utf-8"))[1:]
    scripts = {f"benchmarks/{path.name}" for path in (ROOT / "benchmarks").glob("*.py")}
    unnamed = [
        part.partition("\n")[0]
        for part in sections_of_page
        if not any(script in part for script in scripts) and "Measured once" not in part
    ]
    assert unnamed == []


COMMANDS = command_line._with_plugins()
"""Those of the plugins in this repository, too."""


def options(name: str) -> dict[str, argparse.Action]:
    """Return what can be typed behind a command, or before one."""
    parser = command_line._parser(name, COMMANDS) if name else command_line._root()
    if name:
        command_line._command(name, COMMANDS).add_options(parser)
    return {written: action for action in parser._actions for written in action.option_strings}


OPTIONS = {name: options(name) for name in ("", *COMMANDS.commands)}
FOREIGN = {"--hook-type", "--scorer", "--action", "--overwrite", "--only", "--large"}
"""Options of other tools, and of our benchmarks."""


def test_every_option_on_a_page_is_one() -> None:
    known = FOREIGN.union(*OPTIONS.values())
    written = {
        (page, option)
        for page, path in PAGES.items()
        for option in re.findall(r"(?<![\w-])--[a-z][\w-]*", path.read_text(encoding="utf-8"))
    }
    assert {(page, option) for page, option in written if option not in known and "--rankgauge-" not in option} == set()


def test_ranks_of_an_explanation_are_a_hundred_and_those_with_gold() -> None:
    retrieved = [f"d{rank}" for rank in range(1, 131)]
    sample = {"id": "q", "expected_output": ["d120", *(f"m{n}" for n in range(30))], "actual_output": retrieved}
    explanation = Engine().dataset([sample]).with_metrics(["ndcg@130"]).run().explain("q")
    assert [rank.rank for rank in explanation.ranks] == [*range(1, 101), 120]
    assert len(explanation.with_missing_on_top) == 20


def test_yaml_may_be_nested_a_hundred_levels_deep(tmp_path: Path) -> None:
    def read(levels: int) -> object:
        nested = "[" * (levels - 3) + "]" * (levels - 3)  # in a list of samples, a sample, its metadata
        path = tmp_path / "deep.yaml"
        path.write_text(f"- {{id: q, expected_output: [a], metadata: {{deep: {nested}}}}}", encoding="utf-8")
        return Engine().dataset(path).with_outputs({"q": ["a"]}).with_metrics(["RR"]).run()

    read(100)
    with pytest.raises(DataError, match="the nesting is deeper than 100"):
        read(101)


def test_a_table_of_a_report_has_thirty_columns_and_a_thousand_rows() -> None:
    columns = [str(number) for number in range(30)]
    ReportTable(columns, [columns] * 1_000)
    with pytest.raises(ParameterError, match="at most 30, not 31"):
        ReportTable([*columns, "31"], [])
    with pytest.raises(ParameterError, match="at most 1,000, not 1,001"):
        ReportTable(columns, [columns] * 1_001)
