"""
Measure `chunk` and `passage` against REMem's original loop, and `fuzzy-chunk` against edlib on every pair.

Both sides run in turns in one process, on the same texts: samples with 20 chunks of about 500 characters and 1 to 3
gold passages of about 2,000 characters. A quarter of the chunks are cut from the sample's own passages; they are
unchanged, prefixed with a date or a role, JSON-escaped, or have up to a tenth of their characters changed. A bare
``chunk in gold`` for each pair is the lower bound. Times are CPU times of one thread. Verdicts (and scores, for
`fuzzy-chunk`) are compared for every pair, outside the measured time. `passage` is also measured where gold passages
are single sentences of about 90 characters.

Run it with ``make bench`` or ``python benchmarks/matching.py [--samples N] [--runs N]``.
"""

from __future__ import annotations

import argparse
import functools
import gc
import json
import random
import resource
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import edlib
import numpy as np

from rankgauge.catalog import Catalog, ResolvedMatcher
from rankgauge.judging import Target, judge
from rankgauge.judging.by_text import scores_of
from rankgauge.matchers.infix import allowed_edits
from rankgauge.matchers.normalizers import json_unescape
from rankgauge.policy import profile
from rankgauge.samples import Expected, Output, Sample

CHUNKS = 20
BATCH = 256
AT_ONCE = 32
FORMS = ("plain", "dated", "spoken", "escaped", "altered")
LETTERS = "abcdefghijklmnopqrstuvwxyz "
COMMON = """
the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which one
you were her all she there would their we him been has when who will more no if out so said what up its about into than
them can only other new some could time these two may then do first any my now such like our over man
"""
Scores = np.ndarray


class Question(NamedTuple):
    """The texts of one sample."""

    chunks: list[str]
    golds: list[str]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--samples", type=int, default=10_000)
    options.add_argument("--runs", type=int, default=3)
    given = options.parse_args()
    questions = list(generated(given.samples))
    pairs = sum(len(question.chunks) * len(question.golds) for question in questions)
    catalog = Catalog.discover(own_only=True)
    chunk, fuzzy, cover = map(catalog.matcher, ("chunk", "fuzzy-chunk", "passage"))
    print(f"{given.samples:,} samples x {CHUNKS} chunks, {pairs:,} pairs; medians of {given.runs}")

    exact = {
        "chunk": lambda: matched(chunk, questions),
        "literal loop": lambda: literal(questions),
        "bare `in`": lambda: bare(questions),
        "passage": lambda: matched(cover, questions),
    }
    times, scores = alternated(exact, given.runs)
    report(times, "chunk")
    ours, theirs = (np.concatenate(scores[side]) >= 1 for side in ("chunk", "literal loop"))
    print(f"  matches: {ours.sum():,} of ours, {theirs.sum():,} of the loop, {(theirs & ~ours).sum():,} of it alone")

    sentences = [question._replace(golds=[sentence(gold) for gold in question.golds]) for question in questions]
    short = {
        f"{matcher.name}, gold sentences": functools.partial(matched, matcher, sentences) for matcher in (chunk, cover)
    }
    report(alternated(short, given.runs)[0], "chunk, gold sentences")

    near = {
        "fuzzy-chunk": lambda: matched(fuzzy, questions),
        "edlib, every pair": lambda: every_pair(fuzzy, questions),
    }
    times, scores = alternated(near, given.runs)
    report(times, "fuzzy-chunk")
    ours, theirs = (np.concatenate(scores[side]) for side in near)
    differing = int((ours != theirs).sum())
    print(f"  matches: {(ours >= 0.9).sum():,}; pairs whose score differs: {differing:,}")

    for matcher in (chunk, cover, fuzzy):
        begun = time.perf_counter()
        judged(matcher, questions)
        print(f"judging all samples by {matcher.name}, rows and columns included: {time.perf_counter() - begun:.2f} s")
    for count in (given.samples // 4, given.samples // 2):
        print(f"peak memory of fuzzy-chunk over {count:,} samples: {peak(fuzzy, questions[:count]):.1f} MB")
    kilobyte = 1 if sys.platform == "darwin" else 1024
    whole = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * kilobyte / 1e6
    print(f"peak memory of this process, texts included: {whole:.0f} MB")
    if differing:
        sys.exit("scores differ")


def matched(matcher: ResolvedMatcher, questions: Sequence[Question]) -> list[Scores]:
    """Return the scores of every pair, batch by batch, as judging computes them."""
    found = []
    for start in range(0, len(questions), AT_ONCE):
        some = questions[start : start + AT_ONCE]
        retrieved, gold = ([list(matcher.normalize_all(texts)) for texts in side] for side in zip(*some, strict=True))
        blocks = matcher.compare_batch(retrieved, gold)
        found += [
            scores_of(block, len(own), len(other)).ravel() for block, (own, other) in zip(blocks, some, strict=True)
        ]
    return found


def sentence(passage: str) -> str:
    """Return a sentence from the middle of a passage."""
    sentences = passage.split(". ")
    return sentences[len(sentences) // 2]


def literal(questions: Sequence[Question]) -> list[Scores]:
    """Return the verdicts of REMem's loop: strip, test, JSON-escape, test, for every chunk and gold."""
    return [
        np.array([is_chunk(chunk, gold) for chunk in question.chunks for gold in question.golds], dtype=np.float64)
        for question in questions
    ]


def is_chunk(chunk: str, original: str) -> bool:
    """Decide as REMem does, in its order, but drop the quotes of the JSON, so that it can match at all."""
    if chunk.startswith("Date: "):
        chunk = chunk.split("\n", 1)[1] if "\n" in chunk else ""
    if chunk.startswith("user: "):
        chunk = chunk[len("user: ") :]
    elif chunk.startswith("assistant: "):
        chunk = chunk[len("assistant: ") :]
    return chunk in original or json.dumps(chunk)[1:-1] in original


def bare(questions: Sequence[Question]) -> list[Scores]:
    """Return whether each gold passage contains each chunk unchanged."""
    return [
        np.array([chunk in gold for chunk in question.chunks for gold in question.golds], dtype=np.float64)
        for question in questions
    ]


def every_pair(matcher: ResolvedMatcher, questions: Sequence[Question]) -> list[Scores]:
    """Return the scores of edlib (infix mode, bounded) for every pair that is not contained."""
    threshold = matcher.matcher.threshold
    found = []
    for question in questions:
        golds = [matcher.normalize(gold) for gold in question.golds]
        encoded = [gold.encode("latin-1") for gold in golds]
        row = []
        for text in question.chunks:
            chunk = matcher.normalize(text)
            forms = other_forms(chunk)
            code, length = chunk.encode("latin-1"), len(chunk)
            most = allowed_edits(length, threshold)
            for gold, gold_code in zip(golds, encoded, strict=True):
                if chunk in gold or any(form in gold for form in forms):
                    row.append(1.0)
                    continue
                edits = edlib.align(code, gold_code, mode="HW", task="distance", k=most)["editDistance"]
                row.append((length - edits) / length if edits >= 0 else 0.0)
        found.append(np.array(row))
    return found


def other_forms(text: str) -> list[str]:
    """Return the JSON-escaped and JSON-unescaped forms of a text that differ from it."""
    forms = {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    if "\\" in text:
        forms.add(json_unescape(text))
    return [form for form in forms if form and form != text]


def judged(matcher: ResolvedMatcher, questions: Sequence[Question]) -> None:
    """Judge all samples as a run does, in its batches."""
    target = Target("passages", "retrieved", matcher.name, joint=matcher.covers)
    ids = [f"d{rank}" for rank in range(CHUNKS)]
    for start in range(0, len(questions), BATCH):
        samples = [
            Sample(str(place), expected=Expected(passages=tuple(question.golds)), output=Output(ids, question.chunks))
            for place, question in enumerate(questions[start : start + BATCH])
        ]
        judge(samples, target, profile("default"), matcher)


def generated(samples: int) -> Iterator[Question]:
    """Generate samples with a fixed seed."""
    chance = random.Random(11)
    words = [*COMMON.split(), *("".join(chance.choices(SYLLABLES, k=chance.randint(1, 4))) for _ in range(6_000))]
    weights = list(accumulate(1 / (rank + 8) for rank in range(len(words))))
    counts = [chance.randint(1, 3) for _ in range(samples)]
    passages = [passage(chance, words, weights) for _ in range(sum(counts))]
    start = 0
    for count in counts:
        golds = passages[start : start + count]
        start += count
        chunks = []
        for _ in range(CHUNKS):
            source = chance.choice(golds if chance.random() < 0.25 else passages)
            chunks.append(cut(chance, source))
        # A fifth of the passages are stored as JSON strings.
        yield Question(chunks, [json.dumps(gold)[1:-1] if chance.random() < 0.2 else gold for gold in golds])


ONSETS = ("b", "br", "c", "ch", "d", "f", "g", "gr", "h", "l", "m", "n", "p", "pr", "r", "s", "st", "t", "tr", "v")
CODAS = ("", "", "n", "r", "l", "s", "ng", "ck", "st")
SYLLABLES = [f"{onset}{vowel}{coda}" for onset in ONSETS for vowel in "aeiou" for coda in CODAS]


def passage(chance: random.Random, words: Sequence[str], weights: Sequence[float]) -> str:
    """Return about 2,000 characters of sentences, some of them quoted, in paragraphs; some have accents."""
    length, sentences = 0, []
    while length < 1_950:
        sentence = " ".join(chance.choices(words, cum_weights=weights, k=chance.randint(6, 22))).capitalize()
        if chance.random() < 0.1:
            sentence = f'"{sentence}," {chance.choice(words)} {chance.choice(words)}'
        sentence += chance.choices((". ", "? ", ".\n", ".\n\n"), (12, 1, 2, 1))[0]
        sentences.append(sentence)
        length += len(sentence)
    text = "".join(sentences)
    return text.replace("ie", "\u00e9") if chance.random() < 0.05 else text


def cut(chance: random.Random, source: str) -> str:
    """Return about 500 characters of a passage, in one of the forms in which systems return them."""
    length = chance.randint(440, 560)
    start = chance.randrange(max(1, len(source) - length))
    chunk = source[start : start + length].strip()
    match chance.choice(FORMS):
        case "dated":
            return f"Date: 2023-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}\n{chunk}"
        case "spoken":
            return f"{chance.choice(('user', 'assistant'))}: {chunk}"
        case "escaped":
            return json.dumps(chunk)[1:-1]
        case "altered":
            return altered(chance, chunk)
    return chunk


def altered(chance: random.Random, chunk: str) -> str:
    """Return a chunk with up to a tenth of its characters replaced, dropped or doubled."""
    letters = list(chunk)
    for place in chance.sample(range(len(letters)), chance.randint(1, len(letters) // 10)):
        letters[place] = chance.choice((chance.choice(LETTERS), "", letters[place] * 2))
    return "".join(letters)


def alternated(
    sides: dict[str, Callable[[], list[Scores]]], runs: int
) -> tuple[dict[str, list[float]], dict[str, list[Scores]]]:
    """Run the sides in turns; return their times and each side's last result."""
    times: dict[str, list[float]] = {side: [] for side in sides}
    scores: dict[str, list[Scores]] = {}
    for _ in range(runs):
        for side, function in sides.items():
            gc.collect()
            begun = time.process_time()
            scores[side] = function()
            times[side].append(time.process_time() - begun)
    return times, scores


def report(times: dict[str, list[float]], ours: str) -> None:
    """Print medians, and how many times longer than ours each other side took, turn by turn."""
    for side, each in times.items():
        ratio = statistics.median(other / own for other, own in zip(each, times[ours], strict=True))
        print(f"  {side:18} {statistics.median(each):7.2f} s" + (f"   {ratio:5.2f} times ours" if side != ours else ""))


def peak(matcher: ResolvedMatcher, questions: Sequence[Question]) -> float:
    """Return the peak of the megabytes that matching allocates, without keeping scores."""
    tracemalloc.start()
    for start in range(0, len(questions), BATCH):
        matched(matcher, questions[start : start + BATCH])
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / 1e6


if __name__ == "__main__":
    main()
