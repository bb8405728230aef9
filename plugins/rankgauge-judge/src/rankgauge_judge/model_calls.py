"""
What commands that ask a model share: who is asked within which budget, how many at a time, and what that took.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from rankgauge.errors import ParameterError
from rankgauge.plugin import Console
from rankgauge.text import counted
from rankgauge_judge.answers import KeptAnswers, answers_file
from rankgauge_judge.asking import Count, Done, Model, Outcome, ask_all
from rankgauge_judge.budget import Budget, Prices
from rankgauge_judge.endpoint import Endpoint, check_url

__all__ = ["INCOMPLETE", "ask_given", "check_folder", "told_of_calls", "told_of_end"]

INCOMPLETE = 3
"""The exit code where something has no answer."""

D = TypeVar("D", bound=Done)
W = TypeVar("W")


def check_folder(output: Path) -> None:
    """Refuse a file whose folder does not exist."""
    if not output.absolute().parent.is_dir():
        raise ParameterError(f"cannot write {output}: there is no folder {output.parent}")


def ask_given(
    given: argparse.Namespace,
    console: Console,
    make: Callable[[Model], Callable[[W, Count], D]],
    tasks: Sequence[W],
    *,
    served: Collection[str] | None = None,
) -> tuple[Outcome[D], dict[str, Any]]:
    """
    Ask the model that options name, for each task; return what became of them, and what that took, as JSON.

    *served* is what the endpoint may call the model that answers, where a lock has it.
    """
    stop = threading.Event()
    budget = _budget(given)
    with contextlib.ExitStack() as stack:
        endpoint = _endpoint(given, console, budget, stop)
        if endpoint is not None:
            stack.callback(endpoint.close)
        model = Model(
            name=given.model,
            endpoint=endpoint,
            answers=KeptAnswers(given.answers or answers_file()),
            temperature=given.temperature,
            seed=given.seed,
            served=served,
            now=lambda: datetime.now(UTC).isoformat(timespec="seconds"),
        )
        report = stack.enter_context(console.progress("judging"))
        begun = time.monotonic()
        outcome = ask_all(
            make(model),
            tasks,
            concurrency=given.concurrency,
            stop=stop,
            progress=lambda done: report(done, len(tasks)),
        )
        seconds = time.monotonic() - begun
    took = {
        "failed": len(outcome.failed),
        "ended": outcome.ended,
        "answers": {"asked": outcome.kept["asked"], "kept": outcome.kept["kept"], "repairs": outcome.kept["repaired"]},
        "spent": asdict(budget.spent),
        "retries": endpoint.retries if endpoint else 0,
        "left_out": sorted(endpoint.refused) if endpoint else [],
        "failures": [{"place": one.place, "why": one.failure} for one in outcome.failed],
        "seconds": round(seconds, 3),
    }
    return outcome, took


def told_of_calls(took: Mapping[str, Any], done: int, noun: str) -> Iterator[str]:
    """Yield the lines on what calls took, for so many things that are done."""
    answers, spent = took["answers"], took["spent"]
    yield (
        f"answers: {answers['asked']:,} asked ({answers['repairs']:,} after a repair), "
        f"{answers['kept']:,} kept from before"
    )
    cost = "" if spent["cost"] is None else f", cost {spent['cost']:.4f}"
    rate = f"; {done / took['seconds']:.1f} {noun}s a second" if took["seconds"] else ""
    tokens = f"{spent['tokens_in']:,} + {spent['tokens_out']:,} tokens"
    yield f"{counted(spent['calls'], 'call')} ({took['retries']:,} tried again), {tokens}{cost}{rate}"
    if took["left_out"]:
        yield f"the endpoint refused {', '.join(took['left_out'])}, so the answers were made without"


def told_of_end(outcome: Outcome[Any], *, is_written: bool) -> Iterator[str]:
    """Yield why it ended early, if it did, and how it goes on."""
    if outcome.ended:
        how = "; the same command goes on with another FILE" if is_written else "; run the same command again to go on"
        yield f"ended early: {outcome.ended}{'' if outcome.is_final else how}"


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


def _endpoint(given: argparse.Namespace, console: Console, budget: Budget, stop: threading.Event) -> Endpoint | None:
    """Return where the model is asked, with the key that the environment has; None to ask no model."""
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
        console.note(f"warning: the key in {given.key_env} is sent to {url.hostname} without encryption; use https")
    return Endpoint(given.base_url, key=key or None, budget=budget, timeout=given.timeout, stop=stop)
