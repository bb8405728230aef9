"""
Every error that rankgauge raises; `docs/reference/errors.md` shows which is a kind of which.

All but `RunInterrupted` are a `RankgaugeError`; those that Python code may expect are also one of Python's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from rankgauge.base.plain_text import visible

__all__ = [
    "BrokenLawError",
    "CatalogError",
    "ConfigError",
    "DataError",
    "DeclarationError",
    "ExpressionError",
    "MatcherError",
    "MetricFailedError",
    "MissingExtraError",
    "MissingGoldError",
    "NameClashError",
    "NotPicklableError",
    "NothingToEvaluateError",
    "ParameterError",
    "PlanError",
    "PluginError",
    "PolicyError",
    "Problem",
    "RankgaugeError",
    "RepeatedJudgmentsError",
    "RequiredPluginError",
    "ResultError",
    "RunInterrupted",
    "SampleRefusedError",
    "UnknownNameError",
    "UnreadableError",
    "WorkerError",
    "counted",
    "did_you_mean",
    "listed",
    "suggest",
]

_SHOWN = 50
_MANY, _ALIKE = 8, 5  # of so many problems of one kind so many are shown
_NUMBER = re.compile(r"\d+")
_LAYOUT = "\n\t"


class RankgaugeError(Exception):
    """
    Base of every error raised on purpose.

    Attributes:
        exit_code: What the command line exits with.
    """

    exit_code = 2

    def __str__(self) -> str:
        return visible(super().__str__(), keep=_LAYOUT)  # names of files, ids and keys come from outside

    def __reduce__(self) -> tuple[Any, ...]:
        # The constructor's arguments are gone, so the finished error is sent: without this, one raised in a worker
        # process would break the pool instead of reaching the caller.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[BaseException], args: tuple[Any, ...], attributes: dict[str, Any]) -> BaseException:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error


class Problem(NamedTuple):
    """
    One thing that is wrong in outside data.

    Attributes:
        message: What is wrong with which value, and what to do.

        file: Its file; empty for data given in Python.

        line: The line in that file, from 1.

        path: The place inside the document, such as ``samples[3].metadata.k``.

        sample: The id of the sample, if it is known.
    """

    message: str
    file: str = ""
    line: int | None = None
    path: str = ""
    sample: str | None = None

    def __str__(self) -> str:
        where = self.file
        if self.line is not None:
            where = f"{where}:{self.line}" if where else f"line {self.line}"
        sample = f"sample {self.sample!r}" if self.sample is not None else ""
        parts = [visible(part) for part in (where, self.path, sample) if part]
        message = visible(self.message, keep=_LAYOUT)
        return f"{', '.join(parts)}: {message}" if parts else message


class _ProblemsError(RankgaugeError):
    """
    An error made of several problems, all reported at once.

    Attributes:
        problems: Every `Problem` that was found.
    """

    def __init__(self, title: str, problems: Iterable[Problem | str]) -> None:
        self.problems: tuple[Problem, ...] = tuple(Problem(p) if isinstance(p, str) else p for p in problems)
        super().__init__("\n".join([title, *_problem_lines(self.problems)]))


def _problem_lines(problems: Sequence[Problem]) -> Iterator[str]:
    """Yield the first problems, a line each; of many places of a file that differ in numbers alone only some."""
    kinds = [_NUMBER.sub("0", each.message) if each.line is not None or each.sample else "" for each in problems]
    sizes, seen, lines = Counter(kinds), Counter[str](), list[str]()
    n_left = len(problems)
    for problem, kind in zip(problems, kinds, strict=True):
        is_many = bool(kind) and sizes[kind] > _MANY
        seen[kind] += 1
        if is_many and seen[kind] > _ALIKE:
            continue
        if len(lines) == _SHOWN:
            break
        lines.append(f"  {problem}")
        n_left -= 1
        if is_many and seen[kind] == _ALIKE:
            lines[-1] += f"\n  ... and {sizes[kind] - _ALIKE:,} more of this kind"
            n_left -= sizes[kind] - _ALIKE
    yield from lines
    if n_left:
        yield f"  ... and {n_left:,} more"


class ExpressionError(RankgaugeError, ValueError):
    """
    A metric expression that cannot be read.

    Attributes:
        text: The expression as written.

        position: Where reading stopped, from 0.
    """

    def __init__(self, message: str, *, text: str, position: int = 0) -> None:
        self.text = text
        self.position = position
        super().__init__(message)


class PolicyError(RankgaugeError, ValueError):
    """An unknown profile, policy option or option value."""


class ParameterError(RankgaugeError, ValueError):
    """A metric parameter or a cutoff that is not acceptable."""


class DeclarationError(RankgaugeError, ValueError):
    """A declaration by a plugin author that cannot be used."""


class CatalogError(RankgaugeError):
    """Something is wrong with what plugins offer."""


class UnknownNameError(CatalogError, LookupError):
    """
    A name that no installed plugin offers.

    Attributes:
        kind: ``metric``, ``matcher``, ``normalizer``, ``comparer``, ``tokenizer``, ``reader``, ``reporter``,
            ``aggregate`` or ``test``, as `Catalog.all` takes it.

        name: The name as written.

        suggestions: Known names that look like it, best first.

        hint: What else is known, such as which names there are.
    """

    def __init__(self, kind: str, name: str, *, suggestions: Sequence[str] = (), hint: str = "") -> None:
        self.kind = kind
        self.name = name
        self.hint = hint
        self.suggestions = tuple(suggestions)
        close = f" (did you mean {' or '.join(map(repr, suggestions))}?)" if suggestions else ""
        super().__init__(f"unknown {kind} {name!r}{close}{f'; {hint}' if hint else ''}")


class NameClashError(CatalogError, LookupError):
    """
    A name that several plugins claim, so that it works for none of them.

    Attributes:
        kind: ``metric``, ``matcher``, ``normalizer``, ``comparer``, ``tokenizer``, ``reader``, ``reporter`` or
            ``aggregate``.

        name: The name.

        claims: One line for each claim: distribution, version, file and line.
    """

    def __init__(self, kind: str, name: str, claims: Sequence[str]) -> None:
        self.kind = kind
        self.name = name
        self.claims = tuple(claims)
        listed = "".join(f"\n  {claim}" for claim in claims)
        super().__init__(
            f"{kind} {name!r} is claimed by {len(claims)} plugins; uninstall one, or disable it with "
            f"`plugins.disable` or RANKGAUGE_DISABLE_PLUGINS:{listed}"
        )


class PluginError(CatalogError):
    """
    A plugin whose code fails, and without which nothing can go on, such as the reporter that was asked for.

    Attributes:
        provider: Distribution, version, file and line of what failed.
    """

    def __init__(self, what: str, provider: str, reason: str) -> None:
        self.provider = provider
        super().__init__(f"{what} (by {provider}) failed: {reason}; this is a fault of the plugin, not of your data")


class RequiredPluginError(CatalogError):
    """A plugin that the config requires is absent, disabled or broken."""


class MatcherError(RankgaugeError, ValueError):
    """A matcher that cannot be built, or whose comparer misbehaves."""


class PlanError(_ProblemsError):
    """All problems of an evaluation, found before any data is read; also differences from a lock."""


class ConfigError(_ProblemsError):
    """All problems of a config file or a lock file, each with its line."""


class DataError(_ProblemsError):
    """All problems of a dataset or outputs file, each with its place."""


class UnreadableError(DataError):
    """A file that cannot be opened, decompressed or decoded."""


class RepeatedJudgmentsError(DataError):
    """
    Documents that are judged more than once for one query.

    Attributes:
        kept: The judgments with the first one of each document, which `rankgauge.evaluate` takes.
    """

    def __init__(self, title: str, problems: Iterable[Problem | str], kept: Any) -> None:  # noqa: ANN401  # the type lives in a higher layer
        self.kept = kept
        super().__init__(title, problems)


class MissingGoldError(DataError):
    """No sample has the kind of ground truth that a metric needs."""


class NothingToEvaluateError(DataError):
    """
    There is no sample to evaluate, or no output of any.

    Attributes:
        result: If there are samples without outputs, the `rankgauge.Result` in which all are missing; else None.
    """

    exit_code = 4

    def __init__(self, title: str, problems: Iterable[Problem | str], result: Any = None) -> None:  # noqa: ANN401  # the type lives in a higher layer
        self.result = result
        super().__init__(title, problems)


class SampleRefusedError(_ProblemsError):
    """Samples that the policy turns into an error (`no_gold`, `missing_output`, `failed_output`)."""


class MetricFailedError(_ProblemsError):
    """
    A metric whose code, or that of a matcher or filter, failed for every sample, so that its numbers say nothing.

    Attributes:
        result: What would have been returned, such as the `rankgauge.Result`, with every other column; None of
            `Evaluation.stream`, which has yielded all of it.

        problems: A `Problem` for each metric.
    """

    exit_code = 3

    def __init__(self, problems: Iterable[Problem | str], result: Any) -> None:  # noqa: ANN401  # the type lives in a higher layer
        self.result = result
        problems = list(problems)
        kept = "" if result is None else "; the other columns are in the error's `result`"
        super().__init__(f"{counted(len(problems), 'metric')} failed for every sample{kept}:", problems)


class NotPicklableError(RankgaugeError, TypeError):
    """A function given in Python that cannot be pickled, and so cannot be sent to another process."""


class WorkerError(RankgaugeError):
    """A worker process cannot do its part of an evaluation, or ended before it was done."""


class ResultError(RankgaugeError):
    """Results that cannot be merged, saved, loaded or compared."""


class BrokenLawError(RankgaugeError, AssertionError):
    """
    A metric, normalizer, comparer, matcher or plugin does not behave.

    Attributes:
        report: Which law is broken, with the smallest example; a report of `rankgauge.testing`.
    """

    exit_code = 1

    def __init__(self, message: str, report: Any) -> None:  # noqa: ANN401  # the type lives in a higher layer
        self.report = report
        super().__init__(message)


class MissingExtraError(RankgaugeError, ImportError):
    """
    Something needs a distribution that only an extra of rankgauge installs.

    Attributes:
        extra: The extra.
    """

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{what} needs an extra of rankgauge: `pip install 'rankgauge[{extra}]'`")


class RunInterrupted(KeyboardInterrupt):
    """
    The run was interrupted; the results so far are kept.

    Attributes:
        result: The `rankgauge.Result` over the samples that were finished.
    """

    exit_code = 3
    __reduce__ = RankgaugeError.__reduce__  # sent to another process like every error

    def __init__(self, message: str, result: Any) -> None:  # noqa: ANN401  # the result type lives in a higher layer
        self.result = result
        super().__init__(message)


def counted(count: float, one: str, several: str = "") -> str:
    """Return ``1 sample`` or ``1,234 samples``; *several* is the plural if it takes more than an s."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return the first *most* names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def suggest(name: str, known: Iterable[str], *, most: int = 3, cutoff: float = 0.6) -> tuple[str, ...]:
    """Return up to *most* known names that look like *name* to the degree of *cutoff*, best first."""
    by_folded: dict[str, str] = {}
    for candidate in known:
        by_folded.setdefault(candidate.casefold(), candidate)
    import difflib

    close = difflib.get_close_matches(name.casefold(), list(by_folded), n=most, cutoff=cutoff)
    return tuple(by_folded[folded] for folded in close)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the closest known name, or nothing."""
    close = suggest(name, known, most=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
