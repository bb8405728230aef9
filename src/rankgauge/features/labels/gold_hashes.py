"""
Hashes of gold documents: what a result keeps of the corpus, so that a later comparison sees which texts were edited.

The texts are those of the corpus, not those that were retrieved: a gold document that a system misses has one, too.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from rankgauge.catalog import Catalog
from rankgauge.engine.evaluation import Evaluation
from rankgauge.engine.profile_differences import samples_of
from rankgauge.errors import NothingToEvaluateError, counted
from rankgauge.io.corpus import Corpus, read_corpus
from rankgauge.result.meaning import GOLD_DOCUMENTS
from rankgauge.result.result import Result
from rankgauge.samples import Sample

__all__ = ["NORMALIZATION", "hash_of_text", "hashes_for", "with_gold_hashes"]

NORMALIZATION = "nfkc casefold spaces 1"
"""How a text is normalized before it is hashed; it changes with whatever changes a hash."""


def hash_of_text(text: str) -> str:
    """Return 16 hex digits, the same for texts that differ in case, white space and compatibility forms only."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def with_gold_hashes(result: Result, corpus: Corpus) -> Result:
    """
    Return a result with a hash of each document that its ground truth names, as the corpus has it.

    If both of two results have such hashes, `rankgauge.compare` and gates see which gold documents were edited,
    added or deleted between them, and give no verdict across that.

    Args:
        result: The result of samples; the data are read again.

        corpus: The documents as they were when the outputs were made, such as `rankgauge.files.read_corpus` reads.

    Returns:
        The same result; saved, merged and in a baseline it keeps the hashes.

    Raises:
        ResultError: The result is of a run and judgments, or its data are not kept or have changed.

        NothingToEvaluateError: No label names a document of the corpus.
    """
    return result.with_manifest({GOLD_DOCUMENTS: _hashes(_documents_of(result.samples()), corpus, "")})


def hashes_for(
    path: Path, evaluations: Sequence[Evaluation], catalog: Catalog
) -> Callable[[Evaluation, Result], Result]:
    """Return what puts the hashes of a corpus file into the results of evaluations, whose data are read for it."""
    documents = {id(evaluation): _documents_of(samples_of(evaluation)) for evaluation in evaluations}
    named = frozenset(name for of in documents.values() for names in of.values() for name in names)
    corpus = read_corpus(path, catalog=catalog, named=named)
    kept = {key: _hashes(of, corpus, str(path)) for key, of in documents.items()}

    def with_hashes(evaluation: Evaluation, result: Result) -> Result:
        return result.with_manifest({GOLD_DOCUMENTS: kept[id(evaluation)]})

    return with_hashes


def _documents_of(samples: Iterable[Sample]) -> dict[str, list[str]]:
    """Return the documents that the labels of each sample name: relevant ids, and those in which spans are."""
    documents = {}
    for sample in samples:
        relevant = (name for name, gain in (sample.expected.relevant or {}).items() if gain > 0)
        spans = (span.place.document for span in sample.expected.spans or ())
        names = list(dict.fromkeys((*relevant, *spans)))
        if names:
            documents[sample.id] = names
    return documents


def _hashes(documents: Mapping[str, Sequence[str]], corpus: Corpus, path: str) -> dict[str, Any]:
    """Return the entry of a manifest."""
    names = dict.fromkeys(name for of in documents.values() for name in of)
    places = {name: corpus.number_of.get(name) for name in names}
    if all(place is None for place in places.values()):
        n, example = counted(len(names), "document"), next(iter(names), None)
        what = f"labels name {n}, such as {example!r}, none of which it has" if names else "no label names a document"
        raise NothingToEvaluateError(f"no gold document can be hashed by {path or 'the corpus'}: {what}", [])
    hashes = {name: None if place is None else hash_of_text(corpus.wholes[place]) for name, place in places.items()}
    facts = {"path": path or None, "documents": len(corpus.ids)}
    return {"normalization": NORMALIZATION, "corpus": facts, "hashes": hashes, "samples": dict(documents)}
