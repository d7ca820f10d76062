"""Those who break a general demand: one individual or several, and what every model named makes of each."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from fairdsl.codec import Upper
from fairdsl.verdict.named import Individual


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One of the individuals, by the name that the spec gives to it."""

    #: The name: `a`.
    name: str
    #: Its attributes.
    values: Individual


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a model makes of an individual."""

    #: The model's name.
    model: str
    #: The individual's.
    individual: str
    #: The outcome, `undecided` where it stays open.
    decision: str
    #: The scores.
    scores: tuple[Fraction, ...] = ()
    #: How far the scores may be from the exact ones; 0 where they are rational.
    score_error: Upper = Fraction(0)
    #: What the deployed file decides; None where no file is deployed.
    float32_decision: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A comparison of the formula that is not as it would have to be."""

    #: As the spec writes it.
    text: str
    #: Whether it is true, and would have to be false.
    true: bool = False
    #: How far it is from its border, where it compares numbers.
    by: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """Individuals that the demand is about and who break it, checked on the original models."""

    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("agrees",)

    #: Who: one individual or several.
    individuals: tuple[Person, ...]
    #: What each model that the demand names makes of each of them.
    given: tuple[Given, ...]
    #: Which comparisons of the formula fail.
    failed: tuple[Failed, ...]
    #: Whether they break the demand in exact arithmetic.
    exact: bool
    #: Whether they do in the deployed files' own arithmetic; None where no file is deployed.
    float32: bool | None = None
    #: Whether a model is a black box, whose answers about each individual alone stand in place of exact arithmetic.
    asked: bool = False

    @property
    def agrees(self) -> bool:
        """Whether both arithmetics call it a breach."""
        return self.exact and self.float32 is not False

    @property
    def differing(self) -> tuple[str, ...]:
        """The attributes in which the individuals are not all the same."""
        first, *others = (person.values for person in self.individuals)
        return tuple(name for name, value in first.items() if any(other[name] != value for other in others))
