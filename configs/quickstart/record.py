"""Records what two retrievers return for the questions of dataset.yaml over corpus.jsonl.

The results are the committed files outputs.bm25.jsonl and outputs.char-ngram.jsonl, so the demo
itself needs neither a retriever nor a model. They were recorded with the versions in PINS; run
again with those, this script writes the same bytes:

    pip install bm25s==0.3.16 numpy==2.4.6 orjson pyyaml
    python record.py
"""

import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
import numpy.typing as npt
import orjson
import yaml

PINS = {"bm25s": "0.3.16", "numpy": "2.4.6"}
HERE = Path(__file__).resolve().parent
DEPTH = 20
NGRAM = 4

Scores = npt.NDArray[np.float64]  # one row a question, one column a passage


def score_bm25(documents: list[str], questions: list[str]) -> Scores:
    """Score by words: Lucene's BM25 without stemming, so other forms of a word do not match."""

    def tokenize(texts: list[str]) -> list[list[str]]:
        # Words rather than ids: the ids of two calls come from two unrelated vocabularies.
        tokens: list[list[str]] = bm25s.tokenize(
            texts, lower=True, stopwords="english", return_ids=False, show_progress=False
        )
        return tokens

    # Parameters are spelled out, so that changed defaults cannot change the recording;
    # float64 keeps sums away from the fourth decimal, which is what gets written.
    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75, dtype="float64", backend="numpy")
    index.index(tokenize(documents), show_progress=False)
    # All scores rather than the library's top k, which leaves the order of ties open.
    return np.stack([index.get_scores(tokens) for tokens in tokenize(questions)])


def count_ngrams(text: str) -> Counter[str]:
    """Count the character n-grams of lower-cased text, with single blanks also at both ends."""
    padded = f" {' '.join(text.lower().split())} "
    return Counter(padded[start : start + NGRAM] for start in range(len(padded) - NGRAM + 1))


def score_char_ngram(documents: list[str], questions: list[str]) -> Scores:
    """Score by spelling: cosine of TF-IDF vectors, which catches word forms and also accidents."""
    document_counts = [count_ngrams(text) for text in documents]
    # Sorted, because the order of a set of strings differs between two runs of Python.
    vocabulary = sorted(set().union(*document_counts))
    column = {ngram: position for position, ngram in enumerate(vocabulary)}

    def count_matrix(counts: list[Counter[str]]) -> Scores:
        matrix = np.zeros((len(counts), len(vocabulary)))
        for row, counter in enumerate(counts):
            for ngram, count in counter.items():
                if ngram in column:
                    matrix[row, column[ngram]] = count
        return matrix

    document_matrix = count_matrix(document_counts)
    idf = np.log((1 + len(documents)) / (1 + np.count_nonzero(document_matrix, axis=0))) + 1

    def to_unit_vectors(matrix: Scores) -> Scores:
        weighted = np.log1p(matrix) * idf
        norms = np.linalg.norm(weighted, axis=1, keepdims=True)
        return np.asarray(weighted / np.maximum(norms, 1e-12))

    question_matrix = count_matrix([count_ngrams(text) for text in questions])
    return np.asarray(to_unit_vectors(question_matrix) @ to_unit_vectors(document_matrix).T)


def write_outputs(path: Path, samples: list[dict[str, Any]], corpus: list[dict[str, str]], scores: Scores) -> None:
    """Write one line a sample: its best passages, ordered by written score, then by id."""
    lines: list[bytes] = []
    for sample, row in zip(samples, scores, strict=True):
        retrieved: list[dict[str, Any]] = [
            {"id": passage["id"], "text": passage["text"], "score": round(float(score), 4)}
            for passage, score in zip(corpus, row, strict=True)
            if score > 0  # a passage that shares nothing with the question is no result
        ]
        # Rounding comes first, so that the order agrees with the scores a reader can see.
        retrieved.sort(key=lambda hit: (-hit["score"], hit["id"]))
        output = {"id": sample["id"], "actual_output": {"retrieved": retrieved[:DEPTH]}}
        lines.append(orjson.dumps(output, option=orjson.OPT_APPEND_NEWLINE))
    path.write_bytes(b"".join(lines))


def main() -> None:
    """Check the pinned version, then record both retrievers."""
    for name, pinned in PINS.items():
        if (installed := version(name)) != pinned:
            sys.exit(
                f"record.py: {name} {installed} is installed, but the committed outputs were recorded with {pinned}: "
                f"pip install {name}=={pinned}"
            )
    corpus = [orjson.loads(line) for line in (HERE / "corpus.jsonl").read_bytes().splitlines()]
    dataset = yaml.safe_load((HERE / "dataset.yaml").read_text(encoding="utf-8"))
    samples = dataset["samples"]
    documents = [f"{passage['title']} {passage['text']}" for passage in corpus]
    questions = [sample["input"]["question"] for sample in samples]
    bm25_scores = score_bm25(documents, questions)
    write_outputs(HERE / "outputs.bm25.jsonl", samples, corpus, bm25_scores)
    ngram_scores = score_char_ngram(documents, questions)
    write_outputs(HERE / "outputs.char-ngram.jsonl", samples, corpus, ngram_scores)


if __name__ == "__main__":
    main()
