"""
Files of ratings, as search teams keep them, as judgments: those of OpenSearch and Elasticsearch, and of RRE.

- ``{judgmentRatings: [{query, ratings: [{docId, rating}]}]}``: judgments of OpenSearch's search relevance;
- ``{requests: [{id, ratings: [{_id, rating}]}]}``: what `_rank_eval` of both is given;
- ``{topics: [{query_groups: [{name, relevant_documents}]}]}``: RRE, whose relevant documents are
  ``{id: {gain: 3}}`` or ``{"3": [id, ...]}``; without a name a group is called by the `$query` of its first query.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rankgauge.base.plain_text import read_number
from rankgauge.errors import Problem

__all__ = ["MARKS", "graded", "is_ratings", "judgments_of_ratings"]

_LISTS = {"judgmentRatings": "query", "requests": "id"}
"""What a list of rated queries is called, and the id in each."""

_GROUPS = ("topics", "query_groups", "queries")

MARKS = (*_LISTS, *_GROUPS, "relevant_documents")
"""The keys of which a document has one."""

_IDS = ("docId", "_id", "doc_id", "docid", "id")


def is_ratings(value: object) -> bool:
    """Return whether a JSON document has ratings."""
    if not isinstance(value, dict):
        return False
    rated = (item for key in _LISTS if isinstance(value.get(key), list) for item in value[key])
    return any(isinstance(item, dict) and "ratings" in item for item in rated) or any(True for _ in _groups(value))


def judgments_of_ratings(
    value: Mapping[str, Any], letters: Mapping[str, float], name: str, problems: list[Problem]
) -> dict[str, dict[str, float]]:
    """Return the grades of each query by document, or add what is wrong with ratings to *problems*."""
    judgments: dict[str, dict[str, float]] = {}
    for place, query, rated in _rated(value):
        if not isinstance(query, str | int) or isinstance(query, bool) or query == "":
            problems.append(Problem("the query has no id", name, path=place))
            continue
        grades = judgments.setdefault(str(query), {})
        for document, rating in rated:
            grade = graded(rating, letters)
            if grade is None or not isinstance(document, str | int) or document == "":
                flaw = "has no id of a document" if grade is not None else f"is no number: {rating!r}; {HINT}"
                problems.append(Problem(f"a rating of query {str(query)!r} {flaw}", name, path=place))
            elif grades.setdefault(str(document), grade) != grade:
                problems.append(
                    Problem(f"{document!r} is rated differently for query {str(query)!r}", name, path=place)
                )
    return judgments


HINT = "what letters are worth is said by --letters, such as E=3,S=2,C=1,I=0"
"""How ratings that are no numbers are read."""


def graded(rating: object, letters: Mapping[str, float]) -> float | None:
    """Return a rating as a grade: a number, a text of one, or a letter that is worth one; None for anything else."""
    if isinstance(rating, str) and rating.strip() in letters:
        return letters[rating.strip()]
    if isinstance(rating, bool) or not isinstance(rating, int | float | str):
        return None
    number = read_number(str(rating).strip().encode())
    return None if number != number else number  # noqa: PLR0124  # NaN


def _rated(value: Mapping[str, Any]) -> Iterator[tuple[str, object, list[tuple[object, object]]]]:
    """Yield place, query, and documents with their ratings."""
    for key, name in _LISTS.items():
        for at, item in enumerate(value[key] if isinstance(value.get(key), list) else ()):
            ratings = item.get("ratings") if isinstance(item, dict) else None
            pairs = [(_id(each), each.get("rating")) for each in ratings or () if isinstance(each, dict)]
            yield f"{key}[{at}]", item.get(name) if isinstance(item, dict) else None, pairs
    for at, group in enumerate(_groups(value)):
        yield f"relevant_documents {at}", _name(group), list(_relevant(group["relevant_documents"]))


def _id(item: Mapping[str, Any]) -> object:
    return next((item[key] for key in _IDS if key in item), None)


def _groups(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the groups of queries of an RRE file that have relevant documents, at any depth."""
    if isinstance(value.get("relevant_documents"), dict):
        yield value
    for key in _GROUPS:
        for item in value[key] if isinstance(value.get(key), list) else ():
            if isinstance(item, dict):
                yield from _groups(item)


def _name(group: Mapping[str, Any]) -> object:
    queries = [group, *(group["queries"] if isinstance(group.get("queries"), list) else ())]
    held = (each.get("placeholders") for each in queries if isinstance(each, dict))
    texts = (places.get("$query") for places in held if isinstance(places, dict))
    return group.get("name") or next(filter(None, texts), None)


def _relevant(documents: Mapping[str, Any]) -> Iterator[tuple[object, object]]:
    """Yield documents and their gains, which are keys where lists of documents are beside them."""
    for key, held in documents.items():
        if isinstance(held, list):
            yield from ((document, key) for document in held)
        else:
            yield key, held.get("gain") if isinstance(held, dict) else held
