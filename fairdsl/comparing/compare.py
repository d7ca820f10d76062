"""Two reports side by side: files by their names, properties by theirs, demands by their words, groups by their values.

Two demands are the same question only if they have the same words, and a metric of the spec's own the same definition.
A line whose threshold was changed is another demand: the old one is not asked any more, and the new one was not asked
before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction

from fairdsl.comparing import errors
from fairdsl.comparing.model import (
    Change,
    Comparison,
    Confidences,
    DemandChange,
    Favoured,
    FileChange,
    GroupChange,
    PropertyChange,
    Side,
)
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.enclosure import Enclosure
from fairdsl.prelude import ideal_of
from fairdsl.report.model import DemandReport, HashedFile, PropertyReport, Report
from fairdsl.report.words import group_words, in_percent
from fairdsl.verdict import Interval, Part, Value

#: Groups that are named as the most or the least favoured.
_NAMED = 3
#: A demand among those of its property: its words, how its metric is defined where the spec does that, and how many
#: lines with the same ones stand before it.
_Place = tuple[str, str | None, int]


def compared(
    names: tuple[str, str],
    before: Report,
    after: Report,
    tolerance: Fraction | None = None,
    removed: Collection[str] = (),
) -> Comparison:
    """What changed from one report to the other, which messages call by their ``names``.

    Of the properties ``removed``, what is not asked any more was removed on purpose.

    Raises DiagnosticError for a report without verdicts, and where the two have no demand in common.
    """
    for name, report in zip(names, (before, after), strict=True):
        if not report.properties:
            raise DiagnosticError(errors.no_verdicts(name))
    properties = changes(before, after, removed, tolerance)
    if not any(demand.in_both for item in properties for demand in item.demands):
        raise DiagnosticError(errors.nothing_in_common(*names))
    return Comparison(
        before=Side(report=names[0], fairdsl=before.fairdsl, seed=before.seed),
        after=Side(report=names[1], fairdsl=after.fairdsl, seed=after.seed),
        spec=FileChange(name="spec", before=_spec(before), after=_spec(after)),
        used=_files(before.spec.uses or (), after.spec.uses or ()),
        models=_files(before.models, after.models),
        data=_files(before.data, after.data),
        properties=properties,
        tolerance=tolerance,
    )


def changes(
    before: Report, after: Report, removed: Collection[str] = (), tolerance: Fraction | None = None
) -> tuple[PropertyChange, ...]:
    """What became of each property; of those ``removed``, what is not asked any more was removed on purpose."""
    first, second = ({item.name: item for item in report.properties} for report in (before, after))
    return tuple(
        _property(name, first.get(name), second.get(name), tolerance, meant=name in removed)
        for name in {**first, **second}
    )


def _spec(report: Report) -> HashedFile:
    return HashedFile(name="spec", path=report.spec.path, sha256=report.spec.sha256)


def _files(before: Sequence[HashedFile], after: Sequence[HashedFile]) -> tuple[FileChange, ...]:
    first, second = {file.name: file for file in before}, {file.name: file for file in after}
    return tuple(FileChange(name=name, before=first.get(name), after=second.get(name)) for name in {**first, **second})


def _property(
    name: str, before: PropertyReport | None, after: PropertyReport | None, tolerance: Fraction | None, *, meant: bool
) -> PropertyChange:
    first, second = _by_place(before), _by_place(after)
    old = () if before is None else before.clauses
    new = () if after is None else after.clauses
    both = before is not None and after is not None
    return PropertyChange(
        name=name,
        before=None if before is None else before.judgement,
        after=None if after is None else after.judgement,
        left=tuple(clause for clause in old if both and clause not in new),
        joined=tuple(clause for clause in new if both and clause not in old),
        demands=tuple(
            replace(_demand(first.get(place), second.get(place), tolerance), meant=meant)
            for place in {**first, **second}
        ),
    )


def _by_place(item: PropertyReport | None) -> dict[_Place, DemandReport]:
    seen: Counter[tuple[str, str | None]] = Counter()
    found: dict[_Place, DemandReport] = {}
    for demand in () if item is None else item.demands:
        asked = demand.text, demand.definition
        found[*asked, seen[asked]] = demand
        seen[asked] += 1
    return found


def _demand(before: DemandReport | None, after: DemandReport | None, tolerance: Fraction | None) -> DemandChange:
    """A line in both reports, or in the one that has it."""
    one = before or after
    assert one is not None
    old, new = _groups(before), _groups(after)
    parts = _parts(() if old is None else old.beside, () if new is None else new.beside)
    value = Change(None if before is None else before.value, None if after is None else after.value)
    return DemandChange(
        text=one.text,
        metric=one.metric,
        before=None if before is None else before.judgement,
        after=None if after is None else after.judgement,
        value=None if value == _NO_NUMBER else value,
        sampling=_sampling(None if old is None else old.sampling, None if new is None else new.sampling),
        spread=bool(parts) or (one.comparison is not None and one.comparison.is_span),
        groups=_rates(old, new),
        parts=parts,
        favoured={} if old is None or new is None else _favoured(old, new),
        percent=in_percent(one),
        ideal=ideal_of(one.metric, one.definition),
        confidences=Confidences(before=_confidence(before), after=_confidence(after)),
        tolerance=tolerance,
    )


def _confidence(demand: DemandReport | None) -> Fraction | None:
    """That of the estimate which the demand's value is; None where the value is proved.

    Beside a proved number for the rows of a table there may be an estimate of another one, for whom they come from.
    """
    return None if demand is None or demand.value is None else demand.estimated_with


_NO_NUMBER = Change(None, None)


def _groups(demand: DemandReport | None) -> Value | None:
    return None if demand is None else demand.groups


def _sampling(before: Enclosure | None, after: Enclosure | None) -> Change | None:
    """Intervals that cover sampling error; None where neither report has one."""
    first, second = (None if number is None else Interval(*number) for number in (before, after))
    return None if first is None and second is None else Change(first, second)


def _rates(before: Value | None, after: Value | None) -> tuple[GroupChange, ...]:
    first, second = (
        {} if value is None else {rate.group | rate.given: rate for rate in value.rates} for value in (before, after)
    )
    found = []
    for at in {**first, **second}:
        old, new = first.get(at), second.get(at)
        rates = (None if one is None else Interval(*one.number) for one in (old, new))
        covered = _sampling(None if old is None else old.sampling, None if new is None else new.sampling)
        found.append(GroupChange(at=at, number=Change(*rates), sampling=covered))
    return tuple(found)


def _parts(before: Sequence[Part], after: Sequence[Part]) -> tuple[GroupChange, ...]:
    first, second = ({one.at: one for one in parts} for parts in (before, after))
    found = []
    for at in {**first, **second}:
        old, new = first.get(at), second.get(at)
        ends = (None if one is None or not one.defined else Interval(*one.number) for one in (old, new))
        # Of what is not a number, no interval covers it either.
        covered = _sampling(
            *(None if one is None or not one.defined else one.sampling for one in (old, new)),
        )
        found.append(GroupChange(at=at, number=Change(*ends), sampling=covered))
    return tuple(found)


def _favoured(before: Value, after: Value) -> dict[str, Favoured]:
    """The most and the least favoured groups before and after; empty where they are the same."""
    old, new = _marked(before), _marked(after)
    if not old or not new or old == new:
        return {}
    return {which: Favoured(before=old[which], after=new[which]) for which in old}


def _marked(value: Value) -> dict[str, str]:
    """The groups that may be the most, and those that may be the least favoured, in words.

    Where rates are given something else too, groups are compared several times, and this says nothing.
    """
    if any(rate.given for rate in value.rates) or not value.most + value.least:
        return {}
    named = {"most": value.most, "least": value.least}
    return {
        which: _listed(sorted(group_words(value.rates[place].group) for place in places))
        for which, places in named.items()
    }


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return " or ".join([*names[:_NAMED], *([f"{more} more"] if more > 0 else [])])
