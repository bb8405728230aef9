"""Re-chunks the sessions of sessions.jsonl as a chat memory would, and records what BM25 finds in the chunks.

It writes dataset.jsonl, where the gold passages are the whole sessions that questions.yaml names, and outputs.jsonl,
where the results are chunks: only their text tells where they come from, and that got a date, a role, JSON escapes
or typos on the way. Run again with the versions in PINS, this script writes the same bytes:

    pip install bm25s==0.3.16 numpy==2.4.6 orjson pyyaml
    python record.py
"""

import json
import math
import random
import re
import string
import sys
from collections.abc import Iterator
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
DEPTH = 10
SEED = 82  # one with every form among the results and with no more than the usual gap between exact and fuzzy
FORMS = ("plain", "dated", "role", "escaped", "altered", "altered")  # twice, to keep fuzzy matching busy
PREFIXES = {"user": "user: ", "assistant": "Assistant: "}
TURN = re.compile(r"^(user|assistant): ", re.MULTILINE)
GAP = re.compile(r"(?<!:)\s|$")  # never between a role and what it says


def draw(rng: random.Random, low: int, high: int) -> int:
    """Draw an integer from low to high by random(), whose numbers are the same in every version of Python."""
    return low + int(rng.random() * (high - low + 1))


def cut(text: str, rng: random.Random) -> Iterator[slice]:
    """Cut a text into consecutive pieces of 60 to 500 characters, whole words each."""
    start = 0
    while start < len(text):
        gap = GAP.search(text, start + draw(rng, 80, 400))
        end = gap.start() if gap and len(text) - gap.start() > 60 else len(text)
        yield slice(start, end)
        start = end + 1


def alter(piece: str, rng: random.Random) -> str:
    """Replace, drop or double 1 to 8 % of the characters, only letters and none at the ends."""
    letters = [place for place in range(5, len(piece) - 5) if piece[place].isalpha()]
    letters.sort(key=lambda _: rng.random())
    characters = list(piece)
    for place in letters[: draw(rng, math.ceil(0.01 * len(piece)), math.floor(0.08 * len(piece)))]:
        old = characters[place]
        others = string.ascii_lowercase.replace(old.lower(), "")
        characters[place] = ("", old + old, others[draw(rng, 0, len(others) - 1)])[draw(rng, 0, 2)]
    return "".join(characters)


def emit(session: dict[str, str], part: slice, rng: random.Random) -> str:
    """Write a part of a session in one of the forms in which memory systems hand out what they stored."""
    text, date = session["text"], session["date"]
    match FORMS[draw(rng, 0, len(FORMS) - 1)]:
        case "dated":
            time = f"{draw(rng, 7, 22):02}:{draw(rng, 0, 59):02}"
            return (f"Date: {date}\n", f"[{date} {time}]\n")[draw(rng, 0, 1)] + text[part]
        case "role":
            turn = [turn for turn in TURN.finditer(text) if turn.start() <= part.start][-1]
            return PREFIXES[turn[1]] + text[max(part.start, turn.end()) : part.stop]
        case "escaped":
            return json.dumps(text[part])[1:-1]
        case "altered":
            return alter(text[part], rng)
        case _:
            return text[part]


def chunk(sessions: list[dict[str, str]]) -> list[dict[str, str]]:
    """Cut all sessions, and number the chunks in an order that does not tell their session."""
    rng = random.Random(SEED)  # noqa: S311 - typos need no cryptography
    texts = [emit(session, part, rng) for session in sessions for part in cut(session["text"], rng)]
    texts.sort(key=lambda _: rng.random())
    return [{"id": f"c{number:04}", "text": text} for number, text in enumerate(texts, start=1)]


def tokenize(texts: list[str]) -> list[list[str]]:
    """Split into words rather than ids: the ids of two calls come from two unrelated vocabularies."""
    return list(bm25s.tokenize(texts, lower=True, stopwords="english", return_ids=False, show_progress=False))


def rank(chunks: list[dict[str, str]], scores: npt.NDArray[np.float64]) -> list[dict[str, Any]]:
    """Order the chunks that share a word with the question by written score, then by id."""
    hits: list[dict[str, Any]] = [
        {**found, "score": round(float(score), 4)} for found, score in zip(chunks, scores, strict=True) if score > 0
    ]
    return sorted(hits, key=lambda hit: (-hit["score"], hit["id"]))[:DEPTH]


def main() -> None:
    """Check the pinned versions, then write dataset.jsonl and outputs.jsonl."""
    for name, pinned in PINS.items():
        if (installed := version(name)) != pinned:
            sys.exit(
                f"record.py: {name} {installed} is installed, but the committed outputs were recorded with {pinned}: "
                f"pip install {name}=={pinned}"
            )
    sessions = [orjson.loads(line) for line in (HERE / "sessions.jsonl").read_bytes().splitlines()]
    texts = {session["id"]: session["text"] for session in sessions}
    chunks = chunk(sessions)
    # As in the quickstart: parameters spelled out, float64, and all scores because the top k leaves ties open.
    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75, dtype="float64", backend="numpy")
    index.index(tokenize([found["text"] for found in chunks]), show_progress=False)
    files: dict[str, list[dict[str, Any]]] = {"dataset.jsonl": [], "outputs.jsonl": []}
    for row in yaml.safe_load((HERE / "questions.yaml").read_text(encoding="utf-8")):
        gold = {"passages": [texts[session] for session in row["sessions"]]}
        gold |= {"answer": row["answer"], "keywords": row["keywords"]}
        sample = {"id": row["id"], "input": {"question": row["question"]}, "expected_output": gold}
        files["dataset.jsonl"].append({**sample, "metadata": {"tags": row["tags"]}})
        retrieved = rank(chunks, index.get_scores(tokenize([row["question"]])[0]))
        files["outputs.jsonl"].append({"id": row["id"], "actual_output": {"retrieved": retrieved}})
    for name, lines in files.items():
        (HERE / name).write_bytes(b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))


if __name__ == "__main__":
    main()
