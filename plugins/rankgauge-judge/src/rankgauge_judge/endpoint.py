"""
Endpoints: one call of an OpenAI-compatible server, with what is tried again and what is not.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from rankgauge.errors import ParameterError, RankgaugeError
from rankgauge.text import visible
from rankgauge_judge.budget import Budget

__all__ = ["BudgetSpentError", "CallFailedError", "Endpoint", "EndpointError", "Reply", "StoppedError", "check_url"]

_TRIES: Final = 6
_FIRST_PAUSE: Final = 1.0
_LONGEST_PAUSE: Final = 120.0
_MOST_BYTES: Final = 1 << 22
_FATAL: Final = frozenset({401, 402, 403, 404, 405})
_AGAIN: Final = frozenset({408, 425, 429})
_OPTIONAL: Final = ("seed", "response_format", "temperature")
"""What is sent where a server takes it."""

_LENGTH: Final = "max_tokens"
"""How long an answer may be; some servers say that it goes by the other name."""

_NEW_LENGTH: Final = "max_completion_tokens"

_SHOWN: Final = 300


class EndpointError(RankgaugeError):
    """An endpoint that cannot be used at all, such as for a wrong key or a model that it does not have."""


class CallFailedError(Exception):
    """
    A call that failed for good; others may work.

    Attributes:
        is_unreachable: Whether it is no use to try many others: not if an answer was only looked up.
    """

    def __init__(self, message: str, *, is_unreachable: bool = True) -> None:
        """Take what is reported of it."""
        super().__init__(message)
        self.is_unreachable = is_unreachable


class BudgetSpentError(Exception):
    """A call that the budget does not allow."""


class StoppedError(Exception):
    """A call that was not made because somebody asked to stop."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered; `whole` is whether it ended by itself."""

    text: str
    model: str
    tokens_in: int
    tokens_out: int
    whole: bool


def check_url(url: str) -> str:
    """Return a base URL without the slash behind it; refuse what is none, or has a password or a query in it."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ParameterError(f"--base-url is where the endpoint is, such as http://localhost:8000/v1, not {url!r}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ParameterError("--base-url must have no user, password, query or fragment; a key comes from --key-env")
    return url.rstrip("/")


class Endpoint:
    """
    Calls ``POST {base_url}/chat/completions``; threads may share it.

    Args:
        base_url: Where it is, without ``/chat/completions``.

        key: Sent as bearer token, and never shown; None for none.

        budget: What calls are taken from.

        timeout: Seconds to wait for an answer.

        stop: Set to end waiting and begin no call.

        sleep: Waits for some seconds; by default until `stop` is set.
    """

    def __init__(
        self,
        base_url: str,
        *,
        key: str | None = None,
        budget: Budget,
        timeout: float = 60.0,
        stop: threading.Event | None = None,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        """Open a client; nothing is sent."""
        self._url = f"{check_url(base_url)}/chat/completions"
        self._key = key
        self._budget = budget
        self._stop = stop or threading.Event()
        self._sleep = sleep or self._stop.wait
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self._client = httpx.Client(headers=headers, timeout=timeout)
        self.refused: set[str] = set()  # parameters that are left out, or go by another name
        self._lock = threading.Lock()
        self.retries = 0

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(self, request: Mapping[str, Any]) -> Reply:
        """
        Return the answer to a request.

        Status 408, 425, 429 and 5xx, and connections that end early, are tried again with growing pauses, or those that
        the server asks for. An optional parameter that the server refuses is left out from then on.

        Raises:
            CallFailedError: This call failed for good.

            EndpointError: No call can work.

            BudgetSpentError: The budget does not allow the call.

            StoppedError: Somebody asked to stop.
        """
        pause, why = _FIRST_PAUSE, ""
        tries = 0
        while tries < _TRIES:
            if self._stop.is_set():
                raise StoppedError
            sent = self._sent(request)
            asked = None
            try:
                response = self._post(sent)
            except httpx.HTTPError as error:
                why = self._hidden(f"{type(error).__name__}: {error}")
            else:
                if response.status_code == httpx.codes.OK:
                    reply = _reply(response)
                    if reply is not None:
                        return reply
                    why = "the answer is not that of a chat completion"
                elif response.status_code in _AGAIN or response.is_server_error:
                    why, asked = self._said(response), _seconds(response.headers.get("retry-after"))
                elif not self._leave_out(sent, response):
                    self._refuse(response)
                else:
                    continue
            tries += 1
            if tries < _TRIES:
                with self._lock:
                    self.retries += 1
                self._sleep(min(pause if asked is None else asked, _LONGEST_PAUSE))
                pause *= 2
        raise CallFailedError(f"no answer in {_TRIES} tries; the last: {why}")

    def _sent(self, request: Mapping[str, Any]) -> dict[str, Any]:
        sent = {name: value for name, value in request.items() if name not in self.refused}
        return sent if _LENGTH in sent else {**sent, _NEW_LENGTH: request[_LENGTH]}

    def _post(self, sent: Mapping[str, Any]) -> httpx.Response:
        """Send one request and return the response, of which no more is read than fits into memory."""
        body = json.dumps(sent).encode()
        most = (len(body), int(sent.get(_LENGTH) or sent[_NEW_LENGTH]))
        if not self._budget.take(*most):
            raise BudgetSpentError
        took = most
        try:
            with self._client.stream(
                "POST", self._url, content=body, headers={"Content-Type": "application/json"}
            ) as response:
                read = bytearray()
                for part in response.iter_bytes():
                    read += part
                    if len(read) > _MOST_BYTES:
                        raise httpx.DecodingError(f"the response is longer than {_MOST_BYTES:,} bytes")
            whole = httpx.Response(response.status_code, headers=_plain(response.headers), content=bytes(read))
            took = _usage(whole, most)
        except httpx.ConnectError:
            took = (0, 0)
            raise
        finally:
            self._budget.settle(*most, tokens_in=took[0], tokens_out=took[1])
        return whole

    def _leave_out(self, sent: Mapping[str, Any], response: httpx.Response) -> bool:
        """Leave out an optional parameter that a refusal names; return whether there is one."""
        if response.status_code not in {400, 422}:
            return False
        quoted = [
            name for name in (*_OPTIONAL, _LENGTH) if f'"{name}"' in response.text or f"'{name}'" in response.text
        ]
        named = [name for name in quoted if name in sent and (name != _LENGTH or _NEW_LENGTH in response.text)]
        self.refused.update(named)
        return bool(named)

    def _refuse(self, response: httpx.Response) -> None:
        if response.status_code in _FATAL:
            hint = "check --base-url, --model and the key, which comes from the variable that --key-env names"
            raise EndpointError(f"{self._url} answered {self._said(response)}; {hint}")
        raise CallFailedError(self._said(response))

    def _said(self, response: httpx.Response) -> str:
        text = self._hidden(" ".join(response.text.split()))[:_SHOWN]  # cut after that, so that no part of it is left
        return f"{response.status_code} {self._hidden(response.reason_phrase)}: {text}".rstrip(": ")

    def _hidden(self, text: str) -> str:
        """Return a text of the server without the key, which some servers repeat, and without control characters."""
        return visible(text.replace(self._key, "(the key)") if self._key else text)


def _plain(headers: httpx.Headers) -> dict[str, str]:
    """Return headers without those of a coding, which is undone."""
    return {name: value for name, value in headers.items() if name not in {"content-encoding", "content-length"}}


def _usage(response: httpx.Response, most: tuple[int, int]) -> tuple[int, int]:
    """Return the tokens that a response says were taken; none for an error, and the most where it does not say."""
    if response.status_code != httpx.codes.OK:
        return 0, 0
    try:
        usage = response.json()["usage"]
        taken = usage["prompt_tokens"], usage["completion_tokens"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return most
    return taken if all(type(number) is int and number >= 0 for number in taken) else most


def _reply(response: httpx.Response) -> Reply | None:
    """Return what a chat completion says, None for anything else."""
    try:
        data = response.json()
        choice = data["choices"][0]
        content = choice["message"].get("content") or choice["message"].get("refusal") or ""
        model = data.get("model") or ""
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return None
    if not isinstance(content, str) or not isinstance(model, str):
        return None
    tokens = _usage(response, (0, 0))
    return Reply(content, model, *tokens, whole=choice.get("finish_reason") != "length")


def _seconds(header: str | None) -> float | None:
    """Return the seconds of a `Retry-After`; None without one, or for a date."""
    try:
        seconds = float(header or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
