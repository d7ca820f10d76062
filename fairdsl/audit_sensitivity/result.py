"""What came of the planted discriminators, as data: the document ``fairdsl.sensitivity/2``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import takewhile
from typing import ClassVar

from fairdsl.codec import Document
from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.numbers import shown
from fairdsl.report.exit_code import ExitCode
from fairdsl.report.shown import Worded
from fairdsl.verdict import Judgement

#: Verdicts of the model as it is that leave room for a discriminator to break the property.
DETECTING = frozenset({Judgement.HOLDS, Judgement.UNKNOWN})


class Kind(Enum):
    """What a discriminator does."""

    PEOPLE = "people"  # decides about some people by their group alone
    GROUP = "group"  # refuses some of a group, by what is protected
    PROXY = "proxy"  # refuses some of a group, by an attribute that stands for it


class Fate(Enum):
    """What became of a discriminator."""

    DETECTED = "detected"  # some property is violated that was not
    SURVIVED = "survived"  # none is, and none is undecided
    UNDECIDED = "undecided"  # none is, as far as is known
    EMPTY = "empty"  # nobody there is decided otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedProperty:
    """A property about the model as it is."""

    #: Its name in the spec.
    name: str
    #: Its verdict about the model as it is.
    judgement: Judgement

    @property
    def detects(self) -> bool:
        """Whether a discriminator can be seen by it: it is neither violated already, nor a measure without a limit."""
        return self.judgement in DETECTING


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """One discriminator, and which properties saw it."""

    #: What it does.
    kind: Kind
    #: The model that it was planted in.
    model: str
    #: Against whom, as a condition of the language.
    group: str
    #: By what it knows them, as a condition of the language: the group itself, or a proxy.
    known_by: str
    #: How many of the group meet that condition.
    known_in_group: Fraction
    #: How many of the others do.
    known_elsewhere: Fraction
    #: What it decides about those it means.
    gives: str
    #: What it decides about everybody else among whom it looks; None: what the model decides.
    gives_others: str | None
    #: Among whom, as a condition of the language; ``true`` for everybody.
    among: str
    #: How much was to be planted: of all people, or of the group.
    strength: Fraction
    #: The part of all people whom it decides about otherwise than the model.
    changed: Fraction
    #: The part of the group whom it decides about otherwise than the model.
    changed_in_group: Fraction
    #: What became of it.
    fate: Fate
    #: The properties that detect it.
    detected_by: tuple[str, ...]
    #: The properties of which it is not known, in the time that they had.
    undecided: tuple[str, ...]
    #: The properties that do not detect it: they hold in spite of it.
    missed_by: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A discriminator that could not be planted."""

    #: What it would do.
    kind: Kind
    #: The model that it would be planted in.
    model: str
    #: Against whom, as a condition of the language.
    group: str
    #: How much was to be planted: of all people, or of the group.
    strength: Fraction
    #: Why it is not there.
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity(Worded, Document):
    """Which planted discriminators the properties of a spec detect."""

    SCHEMA: ClassVar[str] = "fairdsl.sensitivity/2"
    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("exit_code",)

    #: The path of the spec.
    spec: str
    #: By whom discriminators are measured: rows, or people who were drawn.
    people: tuple[str, ...]
    #: The seed of the draws, of where discriminators lie, and of every audit.
    seed: int
    #: The properties, in the order of the spec.
    properties: tuple[AskedProperty, ...]
    #: The discriminators, in the order in which they were planted.
    planted: tuple[Planted, ...]
    #: Those that could not be planted as strong as was asked for.
    left_out: tuple[LeftOut, ...]
    #: Whether some were not planted, because the run was ended.
    interrupted: bool
    #: Findings about the spec and its files.
    diagnostics: tuple[Diagnostic, ...]

    @property
    def exit_code(self) -> ExitCode:
        """Violated if a discriminator survives, unknown if of some it is not known, else success: all are detected."""
        if self.interrupted:
            return ExitCode.INTERRUPTED
        fates = {each.fate for each in self.planted}
        if Fate.SURVIVED in fates:
            return ExitCode.VIOLATED
        return ExitCode.UNKNOWN if Fate.UNDECIDED in fates or Fate.DETECTED not in fates else ExitCode.HOLDS

    def of_fate(self, fate: Fate) -> tuple[Planted, ...]:
        """The discriminators of which this became."""
        return tuple(each for each in self.planted if each.fate is fate)

    def lines(self) -> Iterator[str]:
        """What ``fairdsl sensitivity`` prints."""
        return lines(self)


_FATES = {
    Fate.DETECTED: "detected",
    Fate.SURVIVED: "survive",
    Fate.UNDECIDED: "undecided",
    Fate.EMPTY: "change nothing",
}

#: What stands before the lines below a discriminator.
_UNDER = " " * 19


def lines(found: Sensitivity) -> Iterator[str]:
    """Lines of text, none of which names a place on this machine or a time."""
    yield f"{found.spec}   seed {found.seed}"
    for whom in found.people:
        yield f"measured by {whom}"
    yield ""
    width = max((len(each.name) for each in found.properties), default=0)
    for each in found.properties:
        yield f"{each.name:<{width}}  {each.judgement.value.upper():<9} {_detects(each, found)}".rstrip()
    every: tuple[Planted | LeftOut, ...] = (*found.planted, *found.left_out)
    for model, group in dict.fromkeys((one.model, one.group) for one in every):
        yield ""
        yield f"in `{model}`, against {group}"
        for one in every:
            if (one.model, one.group) == (model, group):
                yield from _planted(one) if isinstance(one, Planted) else _left_out(one)
    yield ""
    yield _summary(found)


def _detects(asked: AskedProperty, found: Sensitivity) -> str:
    """From which strength on a property sees each kind of discriminator."""
    if not asked.detects:
        return "cannot tell: " + (
            "it sets no limit" if asked.judgement.value == "measured" else f"{asked.judgement.value} without any"
        )
    said = ((kind, _of_kind(asked.name, [each for each in found.planted if each.kind is kind])) for kind in Kind)
    return ", ".join(f"{kind.value} {words}" for kind, words in said if words)


def _of_kind(name: str, planted: Sequence[Planted]) -> str:
    """What a property sees of these, of each group by itself where it does not see the same of all."""
    groups: dict[tuple[str, str], list[Planted]] = {}
    for each in planted:
        groups.setdefault((each.model, each.group), []).append(each)
    said = {group: words for group, mine in groups.items() if (words := _from(name, mine))}
    if len(set(said.values())) <= 1:
        return next(iter(said.values()), "")
    several = len({model for model, _ in said}) > 1
    whom = {group: f"{group[1]} in `{group[0]}`" if several else group[1] for group in said}
    return " / ".join(f"{words} ({whom[group]})" for group, words in said.items())


def _from(name: str, planted: Sequence[Planted]) -> str:
    """The strength from which on a property detects all of these that it was asked about; empty where there is none.

    They are one of each strength. Nearly all that is detected grows with the strength, but ratios may recover.
    """
    asked = [each for each in planted if name in {*each.detected_by, *each.undecided, *each.missed_by}]
    asked.sort(key=lambda each: each.strength, reverse=True)
    seen = list(takewhile(lambda each: name in each.detected_by, asked))
    if seen:
        open_below = len(seen) < len(asked) and name in asked[len(seen)].undecided
        return f"from {_percent(seen[-1].strength)}" + (" or less" if open_below else "")
    if any(name in each.detected_by for each in asked):
        return "in part"
    return ("unknown" if any(name in each.undecided for each in asked) else "never") if asked else ""


def _planted(planted: Planted) -> Iterator[str]:
    said = {
        Fate.DETECTED: "detected by " + ", ".join(planted.detected_by),
        Fate.SURVIVED: "SURVIVES",
        Fate.UNDECIDED: "undecided: " + ", ".join(planted.undecided),
        Fate.EMPTY: "changes nothing for these people",
    }[planted.fate]
    yield f"    {planted.kind.value:<7} {_percent(planted.strength):>5}  {said}"
    others = "" if planted.gives_others is None else f", {planted.gives_others} to all others"
    where = "" if planted.among == "true" else f" where {planted.among}"
    yield f"{_UNDER}gives {planted.gives} to {planted.known_by}{others}{where}"
    if planted.kind is Kind.PROXY:
        known = f"{_percent(planted.known_in_group)} of the group, {_percent(planted.known_elsewhere)} of the others"
        yield f"{_UNDER}knows them by {planted.known_by}: {known}"
    yield f"{_UNDER}changes {_percent(planted.changed_in_group)} of the group, {_percent(planted.changed)} of all"


def _left_out(left: LeftOut) -> Iterator[str]:
    yield f"    {left.kind.value:<7} {_percent(left.strength):>5}  not planted: {left.reason}"


def _summary(found: Sensitivity) -> str:
    counts = [(len(found.of_fate(fate)), words) for fate, words in _FATES.items()]
    said = ", ".join(f"{count} {words}" for count, words in counts if count)
    ended = "; interrupted, so that not all were planted" if found.interrupted else ""
    return f"{len(found.planted)} planted: {said or 'none'}{ended}; exit code {found.exit_code.value}"


def _percent(part: Fraction) -> str:
    return shown(part, percent=True)
