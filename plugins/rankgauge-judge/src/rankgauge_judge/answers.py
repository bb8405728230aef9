"""
Answers of models: what counts as one, and the file that keeps them, so that nothing is paid for twice.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import threading
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rankgauge.errors import ResultError

__all__ = ["Answer", "KeptAnswers", "answers_file", "content_key", "read_grade", "read_object"]

_FENCE = re.compile(r"\s*```(?:json)?\s*\n(?P<inside>.*)\n\s*```\s*", re.DOTALL | re.IGNORECASE)
_LONGEST_REASON = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer of a model that could be used, as it was given; `served` is what the endpoint called the model."""

    text: str
    served: str
    when: str
    tokens_in: int
    tokens_out: int


def read_grade(text: str, grades: Collection[float]) -> tuple[float, str]:
    """Return the grade and the reason of an answer; a `ValueError` says what is wrong, which the model is shown."""
    answer = read_object(text, ("reason", "grade"))
    grade, reason = answer["grade"], answer["reason"]
    if isinstance(grade, bool) or not isinstance(grade, int | float) or grade not in grades:
        raise ValueError(f"the grade is none of {', '.join(f'{allowed:g}' for allowed in grades)}")
    if not isinstance(reason, str) or len(reason) > _LONGEST_REASON:
        raise ValueError("the reason is not a short text")
    return float(grade), reason


def read_object(text: str, keys: Collection[str]) -> dict[str, Any]:
    """Return the JSON object that an answer is, perhaps fenced as code; a `ValueError` says what is wrong with it."""
    fenced = _FENCE.fullmatch(text)
    try:
        answer = json.loads(fenced["inside"] if fenced else text, object_pairs_hook=_once)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON: {error.msg}") from None
    if not isinstance(answer, dict) or answer.keys() != set(keys):
        named = " and ".join(f'"{key}"' for key in keys)
        raise ValueError(f"it is not an object with {named} and nothing else")
    return answer


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is in it twice")
    return dict(pairs)


def content_key(request: Mapping[str, Any]) -> str:
    """Return the hash of all that an answer depends on: the model, the messages, the seed and the temperature."""
    content = json.dumps(request, sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def answers_file() -> Path:
    """Return where answers are kept by default: RANKGAUGE_JUDGE_ANSWERS, or a file of the user's cache folder."""
    if named := os.environ.get("RANKGAUGE_JUDGE_ANSWERS"):
        return Path(named)
    if sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "rankgauge" / "judge" / "answers.jsonl"


class KeptAnswers:
    """
    The answers in a file of JSON lines, by content; each is written when it arrives.

    A line that cannot be read, such as the last one of a process that was killed, is as if it were not there.
    """

    def __init__(self, path: Path) -> None:
        """Read what there is; raise `ResultError` if the file cannot be read or written."""
        self.path = path
        self._lock = threading.Lock()
        self._answers: dict[str, Answer] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a+b") as file:
                file.seek(0)
                data = file.read()
                if data and not data.endswith(b"\n"):
                    file.write(b"\n")
        except OSError as error:
            hint = "nothing was called; name another file with --answers"
            raise ResultError(f"answers cannot be kept in {path}: {error.strerror or error}; {hint}") from error
        for line in data.splitlines():
            try:
                row = json.loads(line)
                key = str(row.pop("key"))
                answer = Answer(**row)
            except (ValueError, TypeError, AttributeError, KeyError):
                continue
            if isinstance(answer.text, str):
                self._answers[key] = answer

    def get(self, key: str) -> Answer | None:
        """Return the answer to a request, None if there is none."""
        return self._answers.get(key)

    def put(self, key: str, answer: Answer) -> None:
        """Keep an answer, on disk before this returns."""
        line = json.dumps({"key": key, **asdict(answer)}, ensure_ascii=True) + "\n"
        with self._lock:
            self._answers[key] = answer
            try:
                with self.path.open("ab") as file:
                    file.write(line.encode())
            except OSError as error:
                raise ResultError(f"answers cannot be kept in {self.path}: {error.strerror or error}") from error
