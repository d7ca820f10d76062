"""Dataclasses whose methods are made when they are first called are those that Python makes."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from fairdsl.cli.classes import make_methods_when_called

#: What classes of a module are like; ``fairdsl.of_a_test`` is one of the package, and ``another`` none.
CLASSES = """
from dataclasses import dataclass, field

@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    one: int
    more: tuple[int, ...] = ()
    made: dict[str, int] = field(default_factory=dict, compare=False)

@dataclass(frozen=True, slots=True)
class Derived(Frozen):
    other: int = 3

@dataclass(order=True)
class Ordered:
    key: int
    name: str = field(default="x", compare=False, repr=False)
    seen: list[int] = field(init=False, default_factory=list)

    def __post_init__(self):
        self.seen.append(self.key)

@dataclass(slots=True, eq=False)
class ByIdentity:
    value: int

@dataclass(frozen=True)
class Around:
    inside: "Around | None" = None
"""
#: Each is asked of classes of both kinds, and what comes of it, or is raised, must be alike.
ASKED: tuple[Callable[[dict[str, Any]], object], ...] = (
    lambda made: made["Frozen"](one=1),
    lambda made: made["Frozen"](one=1) == made["Frozen"](one=1, made={"a": 2}),
    lambda made: made["Frozen"](one=1) == made["Derived"](one=1),
    lambda made: hash(made["Frozen"](one=1, more=(2,))),
    lambda made: made["Frozen"](1),
    lambda made: made["Frozen"](),
    lambda made: setattr(made["Frozen"](one=1), "one", 2),
    lambda made: setattr(made["Frozen"](one=1), "none", 2),
    lambda made: delattr(made["Frozen"](one=1), "one"),
    lambda made: made["Derived"](4, one=1),
    lambda made: (made["Derived"](one=1).other, made["Derived"](one=1) != made["Derived"](5, one=1)),
    lambda made: setattr(made["Derived"](one=1), "other", 2),
    lambda made: dataclasses.replace(made["Derived"](one=1), more=(7,)),
    lambda made: dataclasses.asdict(made["Derived"](one=1)),
    lambda made: sorted([made["Ordered"](2), made["Ordered"](1, "z")]),
    lambda made: made["Ordered"](1) < made["Frozen"](one=1),
    lambda made: made["Ordered"](1) >= made["Ordered"](1, "y"),
    lambda made: hash(made["Ordered"](1)),
    lambda made: made["Ordered"](3).seen,
    lambda made: made["ByIdentity"](1) == made["ByIdentity"](1),
    lambda made: repr(made["Around"](made["Around"]())),
    lambda made: [each.name for each in dataclasses.fields(made["Derived"])],
    lambda made: made["Frozen"].__init__.__qualname__,
)


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, Any], dict[str, Any]]:
    """The classes as Python makes them, and as a command of the package does."""
    monkeypatch.setattr(dataclasses, "_create_fn", vars(dataclasses).get("_create_fn"), raising=False)
    make_methods_when_called()
    modules = ModuleType("another"), ModuleType("fairdsl.of_a_test")
    for module in modules:
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(CLASSES, vars(module))
    return vars(modules[0]), vars(modules[1])


def answer(ask: Callable[[dict[str, Any]], object], made: dict[str, Any]) -> str:
    try:
        return repr(ask(made))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("ask", ASKED)
def test_methods_made_later_do_what_those_made_at_once_do(
    ask: Callable[[dict[str, Any]], object], both: tuple[dict[str, Any], dict[str, Any]]
) -> None:
    at_once, later = both
    assert answer(ask, later) == answer(ask, at_once)
    assert answer(ask, later) == answer(ask, at_once), "the second time"


def test_only_classes_of_the_package_wait_and_only_until_they_are_used(
    both: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    at_once, later = (made["Frozen"] for made in both)
    names = at_once.__init__.__code__.co_varnames
    assert later.__init__.__code__.co_varnames != names
    later(one=1)
    assert later.__init__.__code__.co_varnames == names
