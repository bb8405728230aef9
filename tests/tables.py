"""Tables of trivial cases: one test tries every row, and its failure names each row that fails."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any, Final

import pytest

__all__ = ["rows"]

OF_ONE_TEST: Final = {"capfd", "caplog", "capsys", "installed", "monkeypatch", "request", "tmp_path"}
"""Fixtures that a row would find as the row before left them."""

FAILURES: Final = (Exception, BaseExceptionGroup, pytest.fail.Exception, pytest.skip.Exception)
"""What fails a row: a row that is skipped would not be seen."""

_LONGEST = 160

Test = Callable[..., None]


def rows(
    names: str | Sequence[str], values: Iterable[Any], *, ids: Callable[[Any], object] | Iterable[str] | None = None
) -> Callable[[Test], Test]:
    """
    Let one test try all rows, for tables of which pytest would spend more time on each row than the row takes.

    It is used as `pytest.mark.parametrize` is, which makes a test of each row: that is for rows that take long or need
    fixtures of their own. Each row is tried, whichever fail; the failure holds them all, each with its traceback.

    Args:
        names: What the values of a row are called.

        values: The rows.

        ids: What rows are called in a failure, a name for each or a function of each value; by default, what their
            values are.

    Returns:
        A decorator of the test.
    """
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = list(_rows(wanted, values, ids))

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        if shared := OF_ONE_TEST & signature.parameters.keys():
            msg = f"{test.__name__} asks for {', '.join(sorted(shared))}, which rows would share: use parametrize"
            raise TypeError(msg)

        @wraps(test)
        def of_all(*self: Any, **fixtures: Any) -> None:
            failed = []
            for name, row in table:
                try:
                    test(*self, **row, **fixtures)
                except FAILURES as fault:
                    called = _described(row) if name is None else name
                    fault.add_note(f"row: {called}")
                    failed.append((called, fault))
            if failed:
                msg = f"{len(failed)} of {len(table)} rows failed: {'; '.join(called for called, _ in failed)}"
                raise BaseExceptionGroup(msg, [fault for _, fault in failed])

        of_all.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[each for name, each in signature.parameters.items() if name not in wanted]
        )
        of_all.rows = len(table)  # type: ignore[attr-defined]
        return of_all

    return decorate


def _rows(
    wanted: Sequence[str], values: Iterable[Any], ids: Callable[[Any], object] | Iterable[str] | None
) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """Yield the name, if it has one, and the values of each row."""
    given = None if ids is None or callable(ids) else iter(ids)
    for value in values:
        parameters = pytest.param(*(value if len(wanted) > 1 else [value])) if not _is_param(value) else value
        row = dict(zip(wanted, parameters.values, strict=True))
        if parameters.marks:
            msg = "a row has no marks: use parametrize"
            raise TypeError(msg)
        if given is not None:
            name = next(given)
        elif parameters.id is not None:
            name = str(parameters.id)
        elif callable(ids):
            name = "-".join(str(ids(each)) for each in row.values())
        else:
            name = None
        yield name, row


def _described(row: dict[str, Any]) -> str:
    """Return what a row without a name is called, however its values write themselves."""
    try:
        text = ", ".join(f"{name}={value!r}" for name, value in row.items())
    except Exception as fault:  # noqa: BLE001, of values that tests made hostile
        text = f"{', '.join(row)}, which cannot be written ({type(fault).__name__})"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _is_param(value: object) -> bool:
    return isinstance(value, type(pytest.param()))
