"""
Kinds: every finding with its severity and its words, and the making of findings from them.

Words are templates over the counts of a finding and what else its check passes. A field with two nouns or verbs, such
as ``{queries:is|are}``, takes the first one for 1.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankgauge.columns import Flags
from rankgauge.features.preflight.findings import About, Finding, Severity
from rankgauge.judging.ranking import shown

__all__ = ["MOST_EXAMPLES", "finding", "flagged", "named_queries", "query_named"]

MOST_EXAMPLES = 100


class _Kind(NamedTuple):
    """A kind of finding: how bad it usually is, what was found, and what to do about it."""

    severity: Severity
    message: str
    advice: str


_JUDGMENTS: Mapping[str, _Kind] = {
    "judgments-unreadable": _Kind(
        "error",
        "the judgments cannot be read; {least}{problems:,} {problems:problem|problems}{looks}",
        "{ask}fix these lines: each is `query iteration document grade`, with white space between and finite numbers",
    ),
    "judgments-empty": _Kind("error", "the judgments are empty", "was the file written completely?"),
    "judged-twice": _Kind(
        "error",
        "{judgments:,} {judgments:judgment repeats|judgments repeat} a document that was judged before for the query",
        "keep one line for each document of a query; the rest of this report uses the first",
    ),
    "no-relevant": _Kind(
        "warning",
        "{queries:,} of {of:,} judged queries {queries:has|have} no document with a grade of {rel:g} or more",
        "they score 0 in every run; lower the grade from which a document is relevant (rel), or remove these queries",
    ),
    "merged-judgments": _Kind(
        "info",
        "{judgments:,} {judgments:document has|documents have} several judgments for a query, by intent or by assessor "
        "(column two of TREC text)",
        "the highest counts, and trec_eval refuses them; metrics by intent, such as alpha_ndcg@10, read each; grades "
        "of assessors are better merged before",
    ),
    "negative-grades": _Kind(
        "info",
        "{judgments:,} {judgments:judgment is|judgments are} negative, the lowest {lowest:g}",
        "they are never relevant; trec_eval, and so the trec profiles, take them for unjudged in bpref, infAP and -J",
    ),
    "fractional-grades": _Kind(
        "info",
        "{judgments:,} {judgments:grade is|grades are} not whole numbers",
        "they are used as they are; trec_eval itself cuts off the fraction (1.5 becomes 1), so numbers will differ",
    ),
    "high-grades": _Kind(
        "info",
        "{judgments:,} {judgments:grade is|grades are} above {limit}, the highest {highest:g}",
        "give ERR its max_grade; and nDCG with exponential gain grows by 2 to the grade",
    ),
}

_RUN: Mapping[str, _Kind] = {
    "run-unreadable": _Kind(
        "error",
        "the run cannot be read; {least}{problems:,} {problems:problem|problems}{looks}",
        "{ask}fix these lines: each is `query Q0 document rank score tag`, with white space between and finite numbers",
    ),
    "run-empty": _Kind("error", "the run is empty", "was the file written completely?"),
    "repeated-documents": _Kind(
        "error",
        "{queries:,} {queries:query has|queries have} a document more than once; surplus results: {results:,}",
        "fix the run, or say which of them counts: policy duplicates=first, last or best",
    ),
    "score-direction": _Kind(
        "warning",
        "in {queries:,} of {queries_with_several_scores:,} queries the scores rise with {by}",
        "are these distances? higher scores have to be better: negate scores if lower is better",
    ),
    "constant-scores": _Kind(
        "warning",
        "in {queries:,} of {queries_with_several_results:,} queries with several results all scores are equal",
        "documents are then ordered by id, as stated ranks are never read; write scores that fall with the rank",
    ),
    "rank-contradicts-score": _Kind(
        "warning",
        "in {queries:,} of {of:,} queries the stated ranks give another order than the scores",
        "scores decide, as in trec_eval; if the ranks are right, write scores that fall with the rank",
    ),
    "unsorted-queries": _Kind(
        "info",
        "in {queries:,} of {of:,} queries the lines are not in order of score",
        "harmless: results are ranked by score; tools that read lines in order, such as cwl_eval, will differ",
    ),
    "no-ranks": _Kind(
        "info",
        "in {queries:,} of {of:,} queries the rank column holds no ranks, but the same number everywhere",
        "harmless: ranks are never read; but nothing could be checked against them",
    ),
    "shifted-fields": _Kind(
        "warning",
        "{lines:,} {lines:line has|lines have} more than six fields, or a rank that is no number",
        "is there a blank in an id? it shifts the fields behind it, and another field is read as the score; lines are "
        "read as trec_eval reads them",
    ),
    "rank-gaps": _Kind(
        "warning",
        "in {queries:,} of {of:,} queries the stated ranks are not consecutive: some are missing or repeated",
        "results may have been lost or added after ranking; scores decide, so those below a gap move up",
    ),
    "first-rank": _Kind(
        "warning",
        "in {queries:,} of {of:,} queries the first rank is not 1 (it is {first_rank:g} in the first of them)",
        "harmless if ranks begin at 0, as they are never read; else the top of these rankings may have been lost",
    ),
    "ties": _Kind(
        "info",
        "{results_tied:,} of {of_results:,} results ({share:.1f} %), in {queries_tied:,} queries, share their score",
        "harmless: no documents of different grades share one",
    ),
    "float32-ties": _Kind(
        "warning",
        "in {queries:,} of {of:,} queries scores are equal as 32-bit floats only; in {queries_that_matter:,} that "
        "can change a metric",
        "trec_eval up to 9.0.8 and pytrec_eval take them for equal, as the profile trec9 and score_dtype=float32 do",
    ),
    "short-queries": _Kind(
        "warning",
        "{queries:,} of {of:,} queries {queries:has|have} less than half the usual {depth_median:g} results; the "
        "fewest are {depth_min:,}",
        "were they cut off? deep metrics, such as recall@100 and AP, get lower; precision@k still divides by k",
    ),
    "own-document": _Kind(
        "warning",
        "{queries:,} of {of:,} queries retrieve a document with the query's own id, {first:,} of them first",
        "if that document is the query itself, as in ArguAna and Quora, leave it out with the policy exclude_self=true"
        "{kept}; if the ids are equal by chance, do nothing",
    ),
    "scattered-queries": _Kind(
        "info",
        "the lines of {queries:,} of {of:,} queries are not together in the file",
        "harmless: they are grouped, which takes disk space and time; sort the file by query to save both",
    ),
}

_BOTH: Mapping[str, _Kind] = {
    "swapped": _Kind(
        "error",
        "the files are swapped: a line of {qrels} has the six columns of a run, a line of {run} the four of judgments",
        "name the judgments first, then the run",
    ),
    "swapped-sides": _Kind(
        "warning",
        "the judgments and the run {may}: {why}",
        "name the judgments first, then the run",
    ),
    "nested-otherwise": _Kind("error", "{why}", "turn one of them round"),
    "query-overlap": _Kind(
        "error",
        "0 of {queries_judged:,} query ids overlap; the run's look like `{near.of_run}`, the judgments' like "
        "`{near.of_qrels}`{near.because}",
        "make them the same in one of the files; {then}",
    ),
    "missing-queries": _Kind(
        "warning",
        "{queries:,} of {of:,} judged queries {queries:is|are} missing from the run{hint}",
        "they count as 0 in every mean; trec_eval 9 leaves them out without -c",
    ),
    "unjudged-queries": _Kind(
        "info", "{queries:,} of {of:,} queries of the run {queries:is|are} not judged", "they are left out"
    ),
    "document-overlap": _Kind(
        "error", "none of the {judged:,} judged documents of these queries is retrieved; {looks}", "{advice}"
    ),
    "near-documents": _Kind(
        "warning",
        "{near_misses:,} of {looked_at:,} sampled documents nearly match judged ones that are not retrieved, as "
        "`{near.of_run}` and `{near.of_qrels}`{near.because}",
        "write the ids in the same way in both files",
    ),
    "unjudged-top": _Kind(
        "info",
        "of the first {top}, {percent:.1f} % are judged on average; a query has {judgments_a_query:.1f} judgments",
        "unjudged results count as not relevant; score judged@10, too; if many are, consider bpref or judged_only",
    ),
    "ties-that-matter": _Kind(
        "warning",
        "in {queries:,} of {of:,} queries documents of different grades have equal scores, so their order changes "
        "metrics; {results_tied:,} of {of_results:,} results ({share:.1f} %) share their score",
        "ties are ordered by id, as in trec_eval; see how much they matter with ties=average, or write more digits",
    ),
}

_ABOUT: Mapping[About, Mapping[str, _Kind]] = {"judgments": _JUDGMENTS, "run": _RUN, "both": _BOTH}
_KINDS = {code: (about, kind) for about, kinds in _ABOUT.items() for code, kind in kinds.items()}


class _Words(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:  # noqa: ANN401  # whatever a check counts
        one, bar, several = format_spec.partition("|")
        return (one if value == 1 else several) if bar else super().format_field(value, format_spec)


def finding(
    code: str,
    counts: Mapping[str, float] | None = None,
    examples: Iterable[str] = (),
    severity: Severity | None = None,
    **words: object,
) -> Finding:
    """Return a finding; *severity* replaces the usual one of its kind."""
    about, kind = _KINDS[code]
    values = {**(counts or {}), **words}
    message, advice = (_Words().vformat(text, (), values) for text in (kind.message, kind.advice))
    return Finding(code, severity or kind.severity, about, message, advice, counts or {}, tuple(examples))


def flagged(
    code: str,
    names: Sequence[bytes],
    flags: Flags,
    counts: Mapping[str, float] | None = None,
    *,
    examples: Iterable[str] | None = None,
    severity: Severity | None = None,
    **words: object,
) -> Iterator[Finding]:
    """Yield a finding about the flagged queries, if there are any; some of them are its examples unless others are."""
    if n := int(np.count_nonzero(flags)):
        examples = named_queries(names, flags) if examples is None else examples
        yield finding(code, {"queries": n, **(counts or {})}, examples, severity, of=len(names), **words)


def named_queries(names: Sequence[bytes], flags: Flags) -> Iterator[str]:
    """Return some of the flagged queries as examples."""
    return (query_named(names[place]) for place in np.flatnonzero(flags)[:MOST_EXAMPLES].tolist())


def query_named(name: bytes) -> str:
    """Return how examples name a query."""
    return f"query {shown(name)!r}"
