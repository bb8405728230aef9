"""
What `systems check` loads and asks: documents and questions of its own, whose right answers are known.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from rankgauge_systems.engines import Document

__all__ = ["NOTHING", "SCRIPTS", "SEED", "SIZE", "TWIN", "TWINS", "documents", "embed", "exact", "questions"]

SEED: Final = 1
SIZE: Final = 1000
"""How many documents there are beside twins and texts in other scripts."""

TWIN, NOTHING = "twinnedword", "nothingness"
"""A question that some documents answer equally well; one that no document has a word of, and whose vector is zeros."""

TWINS: Final = tuple(f"twin-{letter}" for letter in "fbhdagec")
"""Documents that are equal, in the order in which they are loaded."""

SCRIPTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "German": ("Die Größe der Wellen hängt vom Wind ab.", "Größe"),
        "Hindi": ("समुद्र में नमक नदियों से आता है", "नदियों"),
        "Tamil": ("ஆறுகள் கடலுக்கு உப்பைக் கொண்டு செல்கின்றன", "கடலுக்கு"),
        "Bengali": ("নদী সমুদ্রে লবণ বহন করে", "সমুদ্রে"),
        "Telugu": ("నదులు సముద్రానికి ఉప్పును తీసుకువస్తాయి", "సముద్రానికి"),
        "Arabic": ("تحمل الأنهار الملح إلى البحر", "الملح"),
        "Thai": ("แม่น้ำพาเกลือลงสู่ทะเล", "เกลือ"),
        "Chinese": ("河流把盐带入大海", "大海"),
        "Korean": ("강물은 소금을 바다로 나른다", "소금을"),
        "C++": ("Written in C++ for speed.", "C++"),
        "numbers": ("Form 48213 is due in March.", "48213"),
    }
)
"""By script, or kind of word: a text, and a whole word of it."""

_WORDS, _QUESTIONS, _DIMENSIONS = 400, 20, 16


def documents(*, by_vectors: bool) -> list[Document]:
    """Return the documents; by vectors one of them has only zeros."""
    draw = random.Random(SEED)  # noqa: S311  # no secret
    words = [f"{first}{second}{number}k" for number, (first, second) in enumerate(_syllables(_WORDS))]
    weights = [1 / (rank + 1) for rank in range(_WORDS)]
    rows = [
        Document(f"d{number}", "", " ".join([f"item{number}", *draw.choices(words, weights, k=draw.randint(20, 40))]))
        for number in range(SIZE)
    ]
    rows[100:100] = [Document(name, "", f"{TWIN} of a twin") for name in TWINS]
    if by_vectors:
        return [*rows, Document("zeros", "", NOTHING)]
    return rows + [Document(f"in {name}", "", text) for name, (text, _) in SCRIPTS.items()]


def questions() -> list[str]:
    """Return questions: two words of the documents each, a frequent and a rarer one."""
    draw = random.Random(SEED + 1)  # noqa: S311  # no secret
    words = [f"{first}{second}{number}k" for number, (first, second) in enumerate(_syllables(_WORDS))]
    return [f"{draw.choice(words[:20])} {draw.choice(words[20:200])}" for _ in range(_QUESTIONS)]


def _syllables(count: int) -> list[tuple[str, str]]:
    """Return beginnings of words that no stemmer shortens."""
    return [("bdfgmnprtvz"[number % 11] + "aou"[number % 3], "gmnrv"[number % 5] + "o") for number in range(count)]


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Return a vector of each text: drawn by the text, equal for twins, zeros for `NOTHING`."""
    return [list(_vector(TWIN if text.startswith(TWIN) else text)) for text in texts]


@functools.cache
def _vector(text: str) -> tuple[float, ...]:
    draw = random.Random(f"{SEED} {text}")  # noqa: S311  # no secret
    return tuple(0.0 if text == NOTHING else draw.gauss(0.0, 1.0) for _ in range(_DIMENSIONS))


def exact(question: str, *, by_vectors: bool) -> list[str]:
    """Return the ids of all documents by the cosine of their vectors; by words those that have one, in no order."""
    rows = documents(by_vectors=by_vectors)
    if not by_vectors:
        wanted = set(question.split())
        return [row.id for row in rows if wanted & set(row.text.split())]
    rows = [row for row in rows if row.text != NOTHING]
    vectors = np.array(embed([row.text for row in rows]))
    (asked,) = np.array(embed([question]))
    cosines = vectors @ asked / (np.linalg.norm(vectors, axis=1) * np.linalg.norm(asked))
    return [rows[at].id for at in np.argsort(-cosines, kind="stable")]
