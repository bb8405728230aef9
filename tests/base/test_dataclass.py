"""The same classes by our decorator and by the standard library's do the same."""

import copy
import dataclasses
import functools
import inspect
import pickle
import re
from pathlib import Path

import pytest

import rankgauge
from rankgauge.base.dataclass import dataclass

DECORATORS = {"ours": dataclass, "theirs": dataclasses.dataclass}
OPTIONS = [
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "kw_only": True},
    {"frozen": True, "slots": True, "kw_only": True},
    {"frozen": True, "eq": False},
    {"repr": False},
    {"init": False},
]


def made(by, options):
    """Return a class with every kind of field; its values have the same names, whoever made it."""

    @DECORATORS[by](**options)
    class Value:
        """A value."""

        a: int
        b: "str | None" = None
        c: list = dataclasses.field(default_factory=list)
        d: int = dataclasses.field(default=3, repr=False, compare=False)
        e: int = dataclasses.field(default=7, init=False)
        f: dict = dataclasses.field(default_factory=dict, init=False, hash=False)

        def double(self):
            return self.a * 2

    return Value


def outcome(call):
    """Return what a call returns, or its error."""
    try:
        return call()
    except Exception as error:  # noqa: BLE001  # any error is to be the same
        return type(error), str(error)


ARGUMENTS = [
    ((1,), {}),
    ((), {"a": 1, "b": "x", "c": [2], "d": 4}),
    ((1, "x"), {}),
    ((), {}),
    ((1,), {"a": 1}),
    ((1,), {"e": 1}),
    ((1, 2, 3, 4, 5), {}),
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_values_are_made_shown_compared_and_changed_the_same(options):
    def facts(by):
        cls = made(by, options)
        yield str(inspect.signature(cls)), cls.__doc__, cls.__match_args__, repr(cls.__dataclass_params__)
        yield [(field.name, field.kw_only, field.type) for field in dataclasses.fields(cls)]
        yield (getattr(cls.__init__, "__qualname__", None), getattr(cls.__init__, "__annotations__", None))
        for given, named in ARGUMENTS:
            value = outcome(functools.partial(cls, *given, **named))
            shown = outcome(functools.partial(repr, value))
            yield outcome(functools.partial(dataclasses.asdict, value)), re.sub("0x[0-9a-f]+", "", str(shown))
        if options.get("init", True):
            one, same, other = cls(a=1), cls(a=1, d=9), cls(a=2)
            yield one == same, one == other, one != other, one == 1, outcome(lambda: len({one, same, other}))
            yield outcome(lambda: setattr(one, "a", 5)), outcome(lambda: delattr(same, "b"))
            if not (options.get("frozen") and options.get("slots")):  # the library's raises a TypeError about `super`
                yield outcome(lambda: setattr(one, "z", 5)), outcome(lambda: delattr(same, "zz"))
            yield dataclasses.asdict(dataclasses.replace(other, a=8)), other.double()
            yield dataclasses.asdict(copy.deepcopy(other)), dataclasses.asdict(copy.copy(other))
            one_in_itself = cls(a=1, c=(loop := []))
            loop.append(one_in_itself)
            yield re.sub("0x[0-9a-f]+", "", repr(one_in_itself))

    for ours, theirs in zip(facts("ours"), facts("theirs"), strict=True):
        assert ours == theirs


def own_methods(by):
    @DECORATORS[by](frozen=True)
    class Own:
        """With methods of its own, of which none is replaced."""

        a: int
        more: dict = dataclasses.field(default_factory=dict)

        def __post_init__(self):
            object.__setattr__(self, "more", {"seen": self.a})

        def __eq__(self, other):
            return self.a % 2 == other.a % 2

        def __hash__(self):
            return 5

        def __repr__(self):
            return f"<{self.a}>"

        @functools.cached_property
        def late(self):
            return self.a + 1

    return Own


@pytest.mark.parametrize("by", DECORATORS)
def test_methods_of_a_class_stay(by):
    value = own_methods(by)(3)
    assert (repr(value), hash(value), value == own_methods(by)(5), value.more, value.late) == (
        "<3>",
        5,
        True,
        {"seen": 3},
        4,
    )


@pytest.mark.parametrize("by", DECORATORS)
def test_equal_by_a_method_of_its_own_still_hashes_fields(by):
    @DECORATORS[by](frozen=True)
    class Own:  # noqa: PLW1641  # that is the case
        """Python itself gives a class with `__eq__` no hash."""

        a: int

        def __eq__(self, other):
            return True

    assert hash(Own(1)) == hash((1,))


@pytest.mark.parametrize("by", DECORATORS)
def test_subclasses_may_add_attributes_and_call_up(by):
    base = made(by, {"frozen": True})

    class Plain(base):
        def __init__(self, a):
            super().__init__(a, "up")
            self.more = a

    value = Plain(4)
    assert (value.b, value.more) == ("up", 4)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'a'"):
        value.a = 1
    assert str(inspect.signature(Plain)) == "(a)"

    @DECORATORS[by](frozen=True, kw_only=True)
    class Child(base):
        """With a field more."""

        g: int

    assert dataclasses.astuple(Child(1, g=2)) == (1, None, [], 3, 7, {}, 2)


@dataclass(frozen=True, slots=True)
class Pickled:
    """A value that pickle finds."""

    a: int
    b: tuple = ()


def test_frozen_values_with_slots_are_pickled_as_the_standard_library_does():
    value = Pickled(1, ("x",))
    assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301  # our own
    assert value.__getstate__() == [1, ("x",)]


def test_methods_are_compiled_when_they_are_needed():
    cls = made("ours", {"frozen": True, "slots": True})
    assert not inspect.isfunction(vars(cls)["__init__"])
    cls(1)
    assert inspect.isfunction(vars(cls)["__init__"])


def test_every_dataclass_of_ours_is_made_by_it():
    sources = Path(rankgauge.__file__).parent
    theirs = re.compile(r"from dataclasses import .*\bdataclass\b|dataclasses\.dataclass\(")
    users = {
        path.relative_to(sources).as_posix() for path in sources.rglob("*.py") if theirs.search(path.read_text("utf-8"))
    }
    assert users == {"base/dataclass.py"}
