"""
Systems under test that a config names: made by a plugin, with secrets kept out of results and messages.
"""

from __future__ import annotations

import copy
import json
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib import parse

from rankgauge.base.guard import ForeignError, guarded
from rankgauge.errors import ParameterError, Problem, RankgaugeError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from rankgauge.catalog import Catalog
    from rankgauge.config import LoadedConfig

__all__ = ["ConfiguredSystem", "check_options", "system_of"]

_SHORTEST = 4
"""How many characters a value of a variable has at least that messages do not show."""


class SystemFailedError(Exception):
    """A call that failed, reported without what is secret."""


class ConfiguredSystem:
    """
    A system under test of a config, which is called with each sample's input.

    Attributes:
        kind: Which it is.

        options: Its options as the config has them, variables as they are written.

        inner: What the plugin made.
    """

    def __init__(
        self, kind: str, options: Mapping[str, Any], inner: Callable[[Any], object], hidden: Mapping[str, str]
    ) -> None:
        """Take what a plugin made; *hidden* are values of variables, each with how the config writes it."""
        self.kind, self.options, self.inner = kind, dict(options), inner
        self._hidden = hidden
        self.__module__, self.__qualname__ = "system", kind  # what manifests call it

    def __call__(self, given: Any) -> object:  # noqa: ANN401  # whatever samples have
        """Return what the system returns."""
        with self._telling():
            output = self.inner(given)
        return self._awaited(output) if isinstance(output, Awaitable) else output

    def check(self) -> None:
        """Raise a `ParameterError` for a system that says, before it is called, that it cannot be used."""
        if hasattr(self.inner, "check"):
            self.prepared("check")

    def prepared(self, method: str, *given: object) -> Any:  # noqa: ANN401  # whatever it returns
        """Return what a method returns that is called before the system is; a `ParameterError` for what it raises."""
        try:
            with guarded(), self._telling():
                return getattr(self.inner, method)(*given)
        except ForeignError as error:
            cause = error.__cause__
            if isinstance(cause, RankgaugeError):
                raise cause from None
            raise ParameterError(f"system {self.kind!r} cannot be used: {error}") from None

    def close(self) -> None:
        """Close what is open, if the system has anything to close."""
        close = getattr(self.inner, "close", None)
        if close is not None:
            with self._telling():
                close()

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Raise what a system raises; in other words if these have a secret."""
        try:
            yield
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
            shown = "".join(traceback.format_exception(error))
            if _without(self._hidden, shown) == shown:
                raise
            raise SystemFailedError(_without(self._hidden, told)) from None

    async def _awaited(self, output: Awaitable[object]) -> object:
        with self._telling():
            return await output


def _without(hidden: Mapping[str, str], text: str) -> str:
    """Return a text with variables in place of their values, the longest first, also of one that was cut at its end."""
    forms = {form: name for value, name in hidden.items() for form in _forms(value)}
    longest_first = sorted(forms, key=len, reverse=True)
    for form in longest_first:
        text = text.replace(form, forms[form])
    body = text.rstrip("'\"\n .")
    for form in longest_first:
        if not forms[form].startswith("${"):
            continue  # begins with what is no secret, such as an address
        for end in range(len(form) - 1, _SHORTEST - 1, -1):
            if body.endswith(form[:end]):
                return f"{body[:-end]}{forms[form]}{text[len(body) :]}"
    return text


def _forms(value: str) -> set[str]:
    """Return how a value is in messages: as it is, in addresses, and quoted once or twice."""
    in_addresses = {quote(value, "", errors="surrogateescape") for quote in (parse.quote, parse.quote_plus)}
    in_addresses.add(parse.quote(value, errors="surrogateescape"))
    quoted = {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    twice = {json.dumps(each)[1:-1] for each in quoted}
    shown = {repr(each)[1:-1] for each in (value, *quoted)}
    return {value, *in_addresses, *quoted, *twice, *shown}


def system_of(loaded: LoadedConfig, catalog: Catalog, changes: Mapping[str, Any] | None = None) -> ConfiguredSystem:
    """
    Make the system under test of a config.

    Args:
        loaded: The config; it has a system.

        catalog: What plugins offer.

        changes: Options in place of the config's; dots in a name lead into options.

    Returns:
        The system. Close it in the end.

    Raises:
        ConfigError: Options that cannot be used, all of them at once; a variable that is not set.

        UnknownNameError: No plugin offers the kind.

        ParameterError: A change of an option that is none; or the plugin cannot make the system, with what it says.
    """
    written = _changed(loaded.config.system or {}, changes or {})
    kind = str(written.pop("kind"))
    declaration = catalog.system(kind).declaration
    hidden: dict[str, str] = {}
    options = _checked(loaded, declaration.model, written, hidden, changes or {})
    try:
        with guarded():
            inner = declaration.function(options)
    except ForeignError as error:
        message = _without(hidden, str(error))
        cause = error.__cause__
        if isinstance(cause, RankgaugeError) and message == str(error):
            raise cause from None
        raise ParameterError(f"system {kind!r} cannot be used: {message}") from None
    if not callable(inner):
        raise ParameterError(f"system {kind!r} returned {type(inner).__name__}, which cannot be called")
    return ConfiguredSystem(kind, written, inner, hidden)


def check_options(loaded: LoadedConfig, catalog: Catalog, changes: Mapping[str, Any] | None = None) -> None:
    """Raise the errors of `system_of` for the options of a config's system, if it has one, and make nothing."""
    if loaded.config.system is None:
        return
    written = _changed(loaded.config.system, changes or {})
    kind = str(written.pop("kind"))
    _checked(loaded, catalog.system(kind).declaration.model, written, {}, changes or {})


def _changed(written: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with some changed; dots lead into mappings."""
    options = copy.deepcopy(dict(written))
    for name, value in changes.items():
        *parts, last = name.split(".")
        holder: Any = options
        for part in parts:
            holder = holder.setdefault(part, {}) if isinstance(holder, dict) else None
        if not isinstance(holder, dict):
            raise ParameterError(f"{name} leads into an option of the system that is no mapping")
        holder[last] = value
    return options


def _checked(
    loaded: LoadedConfig,
    model: type[BaseModel],
    written: Mapping[str, Any],
    hidden: dict[str, str],
    changes: Mapping[str, Any],
) -> BaseModel:
    """Return options as the plugin's model, of which *changes* are some; add values of variables to *hidden*."""
    from pydantic import ValidationError

    from rankgauge.config.config_files import dotted, unusable

    problems: list[Problem] = []

    def refuse(why: str, *keys: str | int) -> None:
        at = _written_at(keys, changes, loaded.config.sweep)
        problems.append(Problem(why, *loaded.place(*at), dotted(at)))

    options = {name: _expanded(value, (name,), hidden, refuse) for name, value in written.items()}
    if problems:
        raise unusable(loaded.path, problems)
    try:
        return model.model_validate(options, context={"folder": loaded.path.parent})
    except ValidationError as error:
        flaws = error.errors(include_url=False, include_input=False, include_context=False)
    for flaw in flaws:
        message = _without(hidden, flaw["msg"].removeprefix("Value error, "))
        known = f"; known are {', '.join(model.model_fields)}" if flaw["type"] == "extra_forbidden" else ""
        refuse(f"{message}{known}", *(part for part in flaw["loc"] if isinstance(part, str | int)))
    raise unusable(loaded.path, problems)


def _written_at(
    keys: tuple[str | int, ...],
    changes: Mapping[str, Any],
    sweep: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
) -> tuple[str | int, ...]:
    """Return where a config has an option: among those of its system, or, of one that was changed, in its sweep."""
    for name, value in changes.items():
        parts = tuple(name.split("."))
        tried: dict[tuple[str | int, ...], Any]
        if isinstance(sweep, Mapping):
            tried = {(name, at): each for at, each in enumerate(sweep.get(name, ()))}
        else:
            tried = {(at, name): point[name] for at, point in enumerate(sweep) if name in point}
        for at, each in tried.items():
            if each == value and keys[: len(parts)] == parts:
                return "sweep", *at, *keys[len(parts) :]
    return "system", *keys


def _expanded(
    value: object, path: tuple[str | int, ...], hidden: dict[str, str], refuse: Callable[..., None]
) -> object:
    """Return a value with what variables stand for; remember what they stood for, which may be secret."""
    if isinstance(value, dict):
        return {key: _expanded(inner, (*path, key), hidden, refuse) for key, inner in value.items()}
    if isinstance(value, list):
        return [_expanded(inner, (*path, place), hidden, refuse) for place, inner in enumerate(value)]
    if not isinstance(value, str) or "${" not in value:
        return value
    from rankgauge.config.variables import Variables

    variables = Variables(telling=_SHORTEST)
    text = variables.filled(value, lambda why: refuse(why, *path))
    hidden |= {each: name for each, name in variables.written.items() if len(each) >= _SHORTEST}
    return text
