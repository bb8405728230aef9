import asyncio
import functools
import signal

import pytest

from rankgauge.base.guard import ForeignError, guarded, shown, told, was_interrupted
from tables import rows


class SpeechlessError(Exception):
    def __str__(self):
        raise SystemExit(0)


class HostileError(Exception):
    def __getattribute__(self, name):
        raise GeneratorExit(name)


class Unprintable:
    def __repr__(self):
        raise KeyboardInterrupt


class LyingError(Exception):
    __traceback__ = None
    __context__ = 5
    __cause__ = 5


def raising(error):
    raise error


def interrupt():
    signal.raise_signal(signal.SIGINT)


@rows(
    ("error", "message"),
    [
        (ValueError("no"), "ValueError: no"),
        (ValueError(), "ValueError"),
        (SystemExit(0), "SystemExit: 0"),
        (GeneratorExit(), "GeneratorExit"),
        (StopIteration(3), "StopIteration: 3"),
        (KeyboardInterrupt("mine"), "KeyboardInterrupt: mine"),
        (BaseException("bare"), "BaseException: bare"),
        (asyncio.CancelledError(), "CancelledError"),
        (SpeechlessError(), "SpeechlessError: (its message cannot be shown: __str__ raised SystemExit)"),
        (HostileError("x"), "HostileError: x"),
        (LyingError("x"), "LyingError: x"),
        (ValueError("x" * 5000), f"ValueError: {'x' * 2000}... (5,000 characters)"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_whatever_is_raised_becomes_one_error_with_its_type_and_message(error, message):
    with pytest.raises(ForeignError) as caught, guarded():
        raising(error)
    assert caught.value.told == message
    assert caught.value.__cause__ is error


def test_nothing_is_changed_where_nothing_is_raised():
    with guarded():
        found = 1
    assert found == 1


def test_kinds_that_pass_are_raised_as_they_are():
    error = ValueError("mine")
    with pytest.raises(ValueError) as caught, guarded(ValueError, TypeError):  # noqa: PT011  # the object is compared
        raising(error)
    assert caught.value is error


def test_the_place_is_the_innermost_line_of_the_first_module_that_is_not_ours(tmp_path):
    file = tmp_path / "somebody.py"
    code = compile("def outer(call):\n    inner(call)\n\ndef inner(call):\n    call()\n", file, "exec")
    module = {"__name__": "somebody.plugin"}
    exec(code, module)  # noqa: S102  # a module with a name and a file of its own
    with pytest.raises(ForeignError) as caught, guarded():
        module["outer"](lambda: {}["missing"])
    assert caught.value.place.startswith(f"{__file__}:")  # this module is the first: it makes the call
    with pytest.raises(ValueError, match="invalid literal") as foreign:
        module["outer"](functools.partial(int, "x"))
    error = foreign.value.with_traceback(foreign.tb.tb_next)  # as if the engine had called `outer`
    assert ForeignError(error).place == f"{file}:5"
    assert str(ForeignError(error)).endswith(f" ({file}:5)")


def test_the_place_of_a_file_that_cannot_be_parsed_is_its_line(tmp_path):
    with pytest.raises(ForeignError) as caught, guarded():
        compile("a = 1\nb = = 2\n", str(tmp_path / "bad.py"), "exec")
    assert caught.value.place == f"{tmp_path / 'bad.py'}:2"


class TestInterrupts:
    def test_ctrl_c_passes(self):
        with pytest.raises(KeyboardInterrupt), guarded():
            interrupt()

    def test_ctrl_c_passes_under_a_handler_that_is_written_in_python(self):
        def handler(_number, _frame):
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGINT, functools.partial(handler))
        try:
            with pytest.raises(KeyboardInterrupt), guarded():
                interrupt()
        finally:
            signal.signal(signal.SIGINT, before)

    def test_ctrl_c_passes_when_it_was_caught_and_raised_again(self):
        def careful():
            try:
                interrupt()
            except KeyboardInterrupt as error:  # noqa: TRY203  # as code that cleans up does
                raise error  # noqa: TRY201  # some write it like this

        with pytest.raises(KeyboardInterrupt), guarded():
            careful()

    def test_ctrl_c_is_seen_behind_the_error_that_code_made_of_it(self):
        def wrapping():
            try:
                interrupt()
            except KeyboardInterrupt:
                raise RuntimeError("stopped") from None

        with pytest.raises(RuntimeError, match="stopped") as caught, guarded():
            wrapping()
        assert was_interrupted(caught.value)

    def test_a_raise_statement_is_no_ctrl_c(self):
        with pytest.raises(ForeignError) as caught, guarded():
            raise KeyboardInterrupt
        assert not was_interrupted(caught.value.__cause__)

    def test_errors_that_go_round_in_a_circle_are_no_ctrl_c(self):
        one, other = ValueError("one"), ValueError("other")
        one.__cause__, other.__cause__ = other, one
        assert not was_interrupted(one)

    def test_ctrl_c_while_a_message_is_made_passes(self):
        class SlowError(Exception):
            def __str__(self):
                interrupt()
                return "never"

        with pytest.raises(KeyboardInterrupt):
            told(SlowError())


def test_values_are_shown_whatever_their_repr_does():
    assert shown([1]) == "[1]"
    assert shown(Unprintable()) == "<Unprintable object that cannot be printed>"
    assert shown("x" * 3000) == f"'{'x' * 1999}... (3,002 characters)"
