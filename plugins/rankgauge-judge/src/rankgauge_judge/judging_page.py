"""
The page on which people judge a queue: one file that loads and sends nothing, blind and shuffled.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from rankgauge_judge.queue_input import TextQueue
from rankgauge_judge.rubric import Rubric

__all__ = ["judging_page", "parts_of", "shuffled"]

_KEPT = ("query", "query_text", "document", "document_text")
"""What a judge sees of a row: whatever else is there, such as a model's reason, would not be blind."""

Row = Mapping[str, Any]


def shuffled(rows: Sequence[Row], seed: int) -> list[list[Row]]:
    """Return the documents of each query, both in an order that the seed draws and the queue's order does not show."""
    by_query: dict[str, list[Row]] = {}
    for row in rows:
        by_query.setdefault(row["query"], []).append({name: row[name] for name in _KEPT})
    ordered = sorted(by_query.items(), key=lambda item: _draw(seed, item[0]))
    return [sorted(own, key=lambda row: _draw(seed, row["query"], row["document"])) for _, own in ordered]


def parts_of(questions: Sequence[Sequence[Row]], judges: int, overlap: float) -> Iterator[list[Row]]:
    """Yield the documents for each judge: a share of the questions is for all of them, the others go round."""
    common = round(overlap * len(questions))
    for judge in range(judges):
        own = [
            rows for place, rows in enumerate(questions) if place < common or (place - common) % judges == judge
        ]  # shuffled before, so that the first ones are as good as any
        turn = (judge * len(own)) // judges  # each begins elsewhere: who gives up early leaves others to do
        yield [row for rows in (*own[turn:], *own[:turn]) for row in rows]


def judging_page(queue: TextQueue, rows: Sequence[Row], rubric: Rubric | None, title: str) -> str:
    """Return the page for some documents of a queue, graded as its header or a rubric says."""
    meanings = dict.fromkeys(queue.header["grades"], "") if rubric is None else rubric.grades
    data = {
        "header": queue.header,
        "rows": rows,
        "grades": [[int(grade) if grade == int(grade) else grade, meaning] for grade, meaning in meanings.items()],
        "instruction": "" if rubric is None else _unfolded(rubric.instruction),
        "rubric": None if rubric is None else rubric.hash,
    }
    content = json.dumps(data, sort_keys=True)
    data["key"] = f"rankgauge-judge:{hashlib.sha256(content.encode()).hexdigest()[:16]}"
    style, script = _asset("page.css"), _asset("page.js")
    facts = {
        "title": html.escape(title),
        "style": style,
        "script": script,
        "style_hash": _hash(style),
        "script_hash": _hash(script),
        # ASCII only, and nothing that ends a script: what a text says stays a text.
        "data": json.dumps(data).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
    }
    page = _asset("page.html")
    parts = page.split("{{")
    return parts[0] + "".join(
        facts[name] + rest for name, _, rest in (part.partition("}}") for part in parts[1:])
    )  # in one go, so that no text can stand for another


def _unfolded(text: str) -> str:
    """Return paragraphs without the line breaks within them."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n")).strip()


def _asset(name: str) -> str:
    return (files("rankgauge_judge.page_files") / name).read_text("utf-8")


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _draw(seed: int, *names: str) -> bytes:
    return hashlib.sha256("\0".join((str(seed), *names)).encode("utf-8", "surrogatepass")).digest()
