"""The result in words: what each property detects, and what became of each discriminator."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from fairdsl.audit_sensitivity.result import AskedProperty, Fate, Kind, LeftOut, Planted, Sensitivity
from fairdsl.ir.numbers import shown

__all__ = ["lines"]

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
    said = []
    for kind in Kind:
        mine = [each for each in found.planted if each.kind is kind and each.fate is not Fate.EMPTY]
        detected = [each.strength for each in mine if asked.name in each.detected_by]
        if mine:
            said.append(f"{kind.value} {f'from {_percent(min(detected))}' if detected else 'never'}")
    return ", ".join(said)


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
