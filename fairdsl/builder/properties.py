"""What is required or measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from fairdsl.builder.words import Number, Texts, clauses, line, listed, name, number, quoted, several


@dataclass(frozen=True, kw_only=True)
class _Property:
    """What all properties have in common."""

    name: str
    #: What is meant, in a sentence for readers.
    sentence: str | None = None
    #: Demands, as ``"impact_ratio >= 80%"`` or ``"same decision"``.
    require: Texts = ()
    #: Numbers to report, as ``"fair_share within 1%"``.
    measure: Texts = ()
    #: Whom it is about, ``"age >= 18"``.
    among: Texts = ()
    #: The distribution.
    under: str | None = None
    #: The model, where there are several.
    model: str | None = None
    #: Further clauses, as the language writes them.
    clauses: Texts = ()

    def lines(self) -> Iterator[str]:
        """As the language writes it."""
        sentence = "" if self.sentence is None else f" {quoted(self.sentence, 'the sentence of a property')}"
        yield f"property {name(self.name, 'a property')}{sentence} {{"
        yield from self._asked()
        yield from line("model", self.model or "", self.model)
        yield from clauses("among", self.among, "`among`")
        yield from line("under", self.under or "", self.under)
        yield from clauses("", self.clauses, "a clause")
        yield from clauses("require", self.require, "`require`")
        yield from clauses("measure", self.measure, "`measure`")
        yield "}"

    def _asked(self) -> Iterator[str]:
        yield from ()


@dataclass(frozen=True, kw_only=True)
class Pairs(_Property):
    """Two people who differ in what is protected, and in nothing else but what is named."""

    domain: str
    #: In what they differ.
    differ: Texts
    #: Whether they differ in some of several columns, or in each.
    mode: Literal["any", "each"] = "any"
    #: How far apart they may be in a column.
    within: Mapping[str, Number] = field(default_factory=dict)
    #: In what they may have any values.
    regardless_of: Texts = ()

    def _asked(self) -> Iterator[str]:
        differ = several(self.differ, "`differ`")
        yield f"  compare a, b : {name(self.domain, 'a domain')}"
        yield f"  differ in {f'{self.mode} ' if len(differ) > 1 else ''}{listed(differ, '`differ`')}"
        for column, by in self.within.items():
            yield f"  within {number(by, '`within`')} in {name(column, 'a column')}"
        yield from line("regardless of", listed(self.regardless_of, "`regardless_of`"), self.regardless_of)


@dataclass(frozen=True, kw_only=True)
class Groups(_Property):
    """Rates of groups of people under a distribution."""

    #: What makes groups.
    across: Texts
    #: By each value of which the metric is taken by itself.
    for_each: Texts = ()
    #: Groups of fewer rows are listed and not counted.
    excluding_below: int | None = None
    #: The group that everybody else is compared with, ``"sex = male"``.
    privileged: str | None = None

    def _asked(self) -> Iterator[str]:
        yield f"  across {listed(self.across, '`across`')}"
        yield from line("for each", listed(self.for_each, "`for_each`"), self.for_each)
        below = f"below {self.excluding_below} rows"
        yield from line("excluding groups", below, self.excluding_below is not None)
        yield from line("privileged", self.privileged or "", self.privileged)


@dataclass(frozen=True)
class Preset:
    """What regulators ask, as it ships with the language: ``Preset("four_fifths", "approve", "sex", "test")``."""

    name: str
    model: str
    across: Texts
    under: str

    def lines(self) -> Iterator[str]:
        """As the language writes it."""
        asked = f"to {name(self.model, 'a model')} across {listed(self.across, '`across`')}"
        yield f"apply preset {name(self.name, 'a preset')} {asked} under {name(self.under, 'a distribution')}"
