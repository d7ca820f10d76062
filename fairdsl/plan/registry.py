"""The backends: one line each. Order matters where several can decide a question.

Engines that other packages bring: their word is taken and named, and their pairs are replayed here.

A package names its engines as entry points of the group ``fairdsl.engines``: ``NAME = "module:Class"``. The class
implements :class:`fairdsl.backends.contract.Procedure`, and may say what it is asked at all by ``asked`` (``"pairs"``,
``"groups"`` or ``"rows"``) and what it needs of a model by ``needs`` (an :class:`fairdsl.ir.opaque.Access`).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from functools import cache
from importlib import import_module
from importlib.resources import files
from inspect import getmembers, isclass
from types import MappingProxyType
from typing import NamedTuple, cast, get_args

from fairdsl.backends.brought import Brought, brought
from fairdsl.backends.contract import Budget, Capability, Facts, Observer, Offer, Procedure, Refusal
from fairdsl.ir.opaque import Access
from fairdsl.ir.problem import Problem
from fairdsl.options import Section
from fairdsl.replay import on_their_word
from fairdsl.verdict import Evidence, Reason, Unknown, Verdict


class Outside:
    """An engine of another package, held to what verdicts of fairdsl promise."""

    def __init__(self, brought: Brought) -> None:
        self.name, self.package, self._brought = brought.name, brought.package, brought
        self._broken = ""
        self._procedure: Procedure | None = None
        self.about = Capability(questions=(f"those of {self.package}, if it can be loaded",), quantities=(), models=())
        try:
            self._procedure = brought.point.load()()
            about = self._procedure.about
            self.about = replace(about, questions=(*about.questions, f"an engine of {self.package}"))
        except Exception as error:  # whatever it is, our engines go on
            self._procedure = None
            self._broken = (
                f"`{brought.point.value}` of {self.package} cannot be loaded: {type(error).__name__}: {error}"
            )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Its own offer, asked after those of fairdsl."""
        if self._procedure is None:
            return Refusal(why=self._broken)
        try:
            offer = self._procedure.offer(problem)
        except Exception as error:
            return Refusal(why=self._brought.failed(error))
        if isinstance(offer, Offer):
            return replace(offer, method=f"{offer.method} ({self.package})", fits=-1)
        return offer if isinstance(offer, Refusal) else Refusal(why=f"{self.package} made no offer and did not refuse")

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """Its verdict, whose word is that of another solver but for pairs that were replayed."""
        evidence = Evidence(backend=self.name, method=f"by {self.package}")
        assert self._procedure is not None, "it refused"
        own = Facts(alone=facts.alone, enough=facts.enough, witnesses=list(facts.witnesses))
        try:
            verdict = self._procedure.answer(problem, own, budget, observer)
        except Exception as error:
            return Unknown(reason=Reason.ENGINE_CRASHED, detail=self._brought.failed(error), evidence=evidence)
        if not isinstance(verdict, get_args(Verdict)):
            detail = f"{self.package} gave no verdict"
            return Unknown(reason=Reason.MALFORMED, detail=detail, evidence=evidence)
        return on_their_word(problem, verdict, self.name, self.package)


class About(Enum):
    """What a backend answers at all."""

    PAIRS = "questions about pairs of individuals"
    GROUPS = "metrics of groups"
    ROWS = "what the rows of a table say"
    MASSES = "metrics of groups, and shares of people under a distribution"
    BOTH = "questions about pairs of individuals, and metrics of groups"


class Registered(NamedTuple):
    """A backend: its module, which is imported when it may answer, its class, what that answers, of which models.

    ``brought`` is one that another package brings, ``made_by`` then its name.
    """

    module: str
    made_by: str
    about: About = About.PAIRS
    needs: Access = Access.LAYERS
    brought: Brought | None = None

    def procedure(self) -> Procedure:
        """One of it."""
        if self.brought is not None:
            return Outside(self.brought)
        return cast(Procedure, getattr(import_module(self.module), self.made_by)())


#: By name, exact ones first.
BACKENDS: dict[str, Registered] = {
    "search": Registered("fairdsl.backends.search", "Search", needs=Access.ANSWERS),
    "enumerate": Registered("fairdsl.backends.enumerate", "Enumerate", needs=Access.EVALUATION),
    "leaf_boxes": Registered("fairdsl.backends.leaf_boxes", "LeafBoxes"),
    "smt": Registered("fairdsl.backends.smt", "Smt"),
    "intervals": Registered("fairdsl.backends.intervals", "Intervals"),
    "rows": Registered("fairdsl.backends.rows", "OverRows", About.ROWS, Access.ANSWERS),
    "sampling": Registered("fairdsl.backends.sampling", "Sampling", About.BOTH, Access.ANSWERS),
    "rates": Registered("fairdsl.backends.rates", "Rates", About.MASSES, Access.EVALUATION),
    "ssat": Registered("fairdsl.backends.ssat.procedure", "Ssat", About.GROUPS),
}

#: The group of entry points by which other packages bring engines.
ENGINES = "fairdsl.engines"

#: The backend that answers a question partition by partition.
PARTITIONING = "smt"


def engines() -> Mapping[str, Registered]:
    """Those of fairdsl, and behind them those that other packages bring; a name that is taken says whose it is."""
    found = dict(BACKENDS)
    for one in brought(ENGINES, BACKENDS):
        about, needs = About.PAIRS, Access.LAYERS
        with suppress(Exception):  # what cannot be loaded refuses, and says so
            made = one.point.load()
            about, needs = About[getattr(made, "asked", "pairs").upper()], getattr(made, "needs", needs)
        found[one.name] = Registered(one.point.module, one.name, about, needs, one)
    return found


def procedures() -> tuple[Procedure, ...]:
    """All procedures in registry order."""
    return tuple(registered.procedure() for registered in engines().values())


@cache
def sections() -> Mapping[str, type[Section]]:
    """What can be set for the backends, by section: the classes in the modules ``options`` of their folders."""
    found: dict[str, type[Section]] = {}
    for name in BACKENDS:
        if (files("fairdsl.backends") / name / "options.py").is_file():
            own = f"fairdsl.backends.{name}.options"
            classes = [one for _, one in getmembers(import_module(own), isclass) if one.__module__ == own]
            declared = [one for one in classes if issubclass(one, Section)]
            found |= {one.section: one for one in sorted(declared, key=lambda one: one.section != name)}
    return MappingProxyType(found)


def engine_of(section: type[Section]) -> str:
    """The backend that declares a section in its folder, and reads it."""
    return section.__module__.split(".")[2]
