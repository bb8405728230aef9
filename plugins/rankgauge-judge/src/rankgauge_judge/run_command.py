"""
`rankgauge judge run`: a model fills in a queue.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rankgauge.cli.console import echo, print_json, progress_bar, remark
from rankgauge.errors import DataError, ParameterError, Problem, counted
from rankgauge.io.files import read_bytes
from rankgauge.io.problems import refuse
from rankgauge.pooling.queue_files import lines_of, read_header, read_row, write_files
from rankgauge_judge.answers import KeptAnswers, answers_file
from rankgauge_judge.budget import Budget, Prices, Spent
from rankgauge_judge.endpoint import Endpoint, check_url
from rankgauge_judge.judging import Judge, Judged, Outcome, Task, judge_all
from rankgauge_judge.rubric import read_rubric

__all__ = ["run"]

_INCOMPLETE = 3
_SHOWN = 5
_TEXTS = ("query_text", "document_text")


@dataclass(frozen=True, slots=True)
class _Queue:
    header: Mapping[str, Any]
    rows: Sequence[dict[str, Any]]


def run(given: argparse.Namespace) -> int:
    """Do what `judge run` was given, and return its exit code."""
    if given.output.exists():
        raise ParameterError(f"{given.output} exists; choose another name, or delete it")
    if not given.output.absolute().parent.is_dir():
        raise ParameterError(f"cannot write {given.output}: there is no folder {given.output.parent}")
    queue = _read(given.queue)
    rubric = read_rubric(given.rubric, queue.header["grades"])
    tasks = _tasks(queue, given)
    stop = threading.Event()
    budget = _budget(given)
    with contextlib.ExitStack() as stack:
        endpoint = _endpoint(given, budget, stop)
        if endpoint is not None:
            stack.callback(endpoint.close)
        judge = Judge(
            model=given.model,
            rubric=rubric,
            endpoint=endpoint,
            answers=KeptAnswers(given.answers or answers_file()),
            votes=given.votes,
            temperature=given.temperature,
            seed=given.seed,
            now=lambda: datetime.now(UTC).isoformat(timespec="seconds"),
        )
        report = stack.enter_context(progress_bar("judging", wanted=True))
        begun = time.monotonic()
        outcome = judge_all(
            judge,
            tasks,
            concurrency=given.concurrency,
            stop=stop,
            progress=lambda done: report(done, len(tasks)) if report else None,
        )
        seconds = time.monotonic() - begun
    is_complete = not outcome.ended and not outcome.failed and len(outcome.judged) == len(tasks)
    is_written = is_complete or given.partial
    if is_written:
        write_files({given.output: lines_of(_lines(queue, outcome, judge))})
    summary = _summary(outcome, judge, budget.spent, n_tasks=len(tasks)) | {"seconds": round(seconds, 3)}
    if given.as_json:
        print_json(summary | {"queue": str(given.output) if is_written else None})
    else:
        echo("\n".join(_told(summary, outcome)))
        echo(f"wrote {given.output}" if is_written else _unwritten(given.output))
    return 0 if is_complete else _INCOMPLETE


def _read(file: Path) -> _Queue:
    """Read a queue; refuse lines that no judge could fill in."""
    lines = read_bytes(file).splitlines()
    header = read_header(lines, str(file))
    rows, problems = [], []
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        try:
            row = read_row(line)
        except ValueError as error:
            problems.append(Problem(str(error), str(file), number))
        else:
            absent = [key for key in _TEXTS if not isinstance(row.get(key), str) or not row[key].strip()]
            flaw = f"{row['document']!r} has no {{}}; `judge queue` adds it with --texts and --queries"
            problems += [Problem(flaw.format(key), str(file), number) for key in absent]
            rows.append(row)
    refuse(f"the queue cannot be judged ({counted(len(problems), 'problem')}):", problems)
    if not rows:
        raise DataError("the queue cannot be judged:", [Problem("there is no document in it", str(file))])
    return _Queue(header, rows)


def _tasks(queue: _Queue, given: argparse.Namespace) -> list[Task]:
    """Return the documents without a grade; say how many are cut off."""
    rows = [(place, row) for place, row in enumerate(queue.rows) if row.get("grade") in {None, ""}]
    if cut := sum(len(row["document_text"]) > given.max_chars for _, row in rows):
        remark(f"{counted(cut, 'document')} shown up to character {given.max_chars:,} only (--max-chars)")
    return [Task(place, row["query_text"], row["document_text"][: given.max_chars]) for place, row in rows]


def _budget(given: argparse.Namespace) -> Budget:
    prices = None
    if given.prices is not None:
        try:
            prices = Prices(*(float(price) for price in given.prices.split(",")))
            is_price = all(0 <= price < float("inf") for price in (prices.tokens_in, prices.tokens_out))
        except (ValueError, TypeError):
            is_price = False
        if not is_price:
            raise ParameterError(f"--prices are two numbers of 0 or more, such as 0.15,0.6; not {given.prices!r}")
    if given.max_cost is not None and (prices is None or not given.max_cost >= 0):
        raise ParameterError("--max-cost is a number of 0 or more, and needs --prices IN,OUT to know what a call costs")
    return Budget(max_calls=given.max_calls, max_cost=given.max_cost, prices=prices)


def _endpoint(given: argparse.Namespace, budget: Budget, stop: threading.Event) -> Endpoint | None:
    """Return where the model is asked, with the key that the environment has; None to ask nobody."""
    if given.offline:
        return None
    if given.base_url is None:
        raise ParameterError("--base-url says where the model is; or use kept answers only, with --offline")
    url = urlsplit(check_url(given.base_url))
    if not given.timeout > 0:
        raise ParameterError(f"--timeout is a number of seconds above 0, not {given.timeout:g}")
    key = os.environ.get(given.key_env, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ParameterError(f"the key in {given.key_env} has characters that no key can have; set it again")
    if key and url.scheme == "http" and url.hostname not in {"localhost", "127.0.0.1", "::1"}:
        remark(f"warning: the key in {given.key_env} is sent to {url.hostname} without encryption; use https")
    return Endpoint(given.base_url, key=key or None, budget=budget, timeout=given.timeout, stop=stop)


def _lines(queue: _Queue, outcome: Outcome, judge: Judge) -> Iterator[dict[str, Any]]:
    """Yield the queue with its grades; documents without one are left out, as a judge leaves them out."""
    yield dict(queue.header)
    for place, row in enumerate(queue.rows):
        judged = outcome.judged.get(place)
        if judged is not None and judged.grade is not None:
            yield row | _filled(judged, judged.grade, judge)
        elif row.get("grade") not in {None, ""}:
            yield row


def _filled(judged: Judged, grade: float, judge: Judge) -> dict[str, Any]:
    """Return what a line says of the judge: who, by which rubric, when, and every vote."""
    answers = judged.answers
    return {
        "grade": int(grade) if grade.is_integer() else grade,
        "judge": f"model:{judge.model}",
        "rubric": judge.rubric.hash,
        "when": max(answer.when for answer in answers),
        "votes": [answer.grade for answer in answers],
        "served": sorted({answer.served for answer in answers if answer.served}),
        "reason": answers[0].reason,
    }


def _summary(outcome: Outcome, judge: Judge, spent: Spent, *, n_tasks: int) -> dict[str, Any]:
    graded = sum(one.grade is not None for one in outcome.judged.values())
    return {
        "model": judge.model,
        "rubric": judge.rubric.hash,
        "documents": n_tasks,
        "graded": graded,
        "failed": len(outcome.failed),
        "ended": outcome.ended,
        "answers": {"asked": outcome.kept["asked"], "kept": outcome.kept["kept"], "repairs": outcome.kept["repaired"]},
        "spent": asdict(spent),
        "retries": judge.endpoint.retries if judge.endpoint else 0,
        "left_out": sorted(judge.endpoint.refused) if judge.endpoint else [],
        "failures": [{"place": one.task.place, "why": one.failure} for one in outcome.failed],
    }


def _told(summary: Mapping[str, Any], outcome: Outcome) -> Iterator[str]:
    graded, answers, spent = summary["graded"], summary["answers"], summary["spent"]
    yield f"{graded:,} of {counted(summary['documents'], 'document')} graded by model:{summary['model']}"
    took = f"{answers['asked']:,} asked ({answers['repairs']:,} after a repair), {answers['kept']:,} kept from before"
    yield f"answers: {took}"
    cost = "" if spent["cost"] is None else f", cost {spent['cost']:.4f}"
    rate = f"; {graded / summary['seconds']:.1f} documents a second" if summary["seconds"] else ""
    tokens = f"{spent['tokens_in']:,} + {spent['tokens_out']:,} tokens"
    yield f"{counted(spent['calls'], 'call')} ({summary['retries']:,} tried again), {tokens}{cost}{rate}"
    if summary["left_out"]:
        yield f"the endpoint refused {', '.join(summary['left_out'])}, so the answers were made without"
    for one in outcome.failed[:_SHOWN]:
        yield f"no grade for document {one.task.place + 1:,} of the queue: {one.failure}"
    if len(outcome.failed) > _SHOWN:
        yield f"and {len(outcome.failed) - _SHOWN:,} more without a grade"
    if outcome.ended:
        yield f"ended early: {outcome.ended}; run the same command again to go on"


def _unwritten(output: Path) -> str:
    return f"{output} is not written, because grades are missing; answers are kept, and --partial writes it anyway"
