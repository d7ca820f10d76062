"""Two reports side by side: files by their names, properties by theirs, demands by their words, groups by their values.

Two demands are the same question only if they have the same words. A line whose threshold was changed is another
demand: the old one is not asked any more, and the new one was not asked before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from fairdsl.comparing import errors
from fairdsl.comparing.model import (
    Change,
    Comparison,
    DemandChange,
    FileChange,
    GroupChange,
    PropertyChange,
    Side,
)
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.metric import Metric
from fairdsl.ir.metric_registry import registered
from fairdsl.report.model import (
    Cell,
    DemandReport,
    GroupReport,
    GroupsReport,
    HashedFile,
    Interval,
    PartReport,
    PropertyReport,
    Report,
)
from fairdsl.report.words import group_words, in_percent

__all__ = ["compared"]

#: Groups that are named as the most or the least favoured.
_NAMED = 3
#: A demand among those of its property: its words, and how many lines with the same words stand before it.
_Place = tuple[str, int]


def compared(names: tuple[str, str], before: Report, after: Report, tolerance: Fraction | None = None) -> Comparison:
    """What changed from one report to the other, which messages call by their ``names``.

    Raises DiagnosticError for a report without verdicts, and where the two have no demand in common.
    """
    for name, report in zip(names, (before, after), strict=True):
        if not report.properties:
            raise DiagnosticError(errors.no_verdicts(name))
    first, second = _by_name(before.properties), _by_name(after.properties)
    properties = tuple(_property(name, first.get(name), second.get(name)) for name in {**first, **second})
    if not any(demand.in_both for item in properties for demand in item.demands):
        raise DiagnosticError(errors.nothing_in_common(*names))
    return Comparison(
        before=Side(name=names[0], version=before.version, seed=before.seed),
        after=Side(name=names[1], version=after.version, seed=after.seed),
        spec=FileChange(name="", before=_spec(before), after=_spec(after)),
        models=_files(before.models, after.models),
        data=_files(before.data, after.data),
        properties=properties,
        tolerance=tolerance,
    )


def _by_name(properties: Iterable[PropertyReport]) -> dict[str, PropertyReport]:
    return {item.name: item for item in properties}


def _spec(report: Report) -> HashedFile:
    return HashedFile(name="", path=report.path, sha256=report.sha256)


def _files(before: Sequence[HashedFile], after: Sequence[HashedFile]) -> tuple[FileChange, ...]:
    first, second = {file.name: file for file in before}, {file.name: file for file in after}
    return tuple(FileChange(name=name, before=first.get(name), after=second.get(name)) for name in {**first, **second})


def _property(name: str, before: PropertyReport | None, after: PropertyReport | None) -> PropertyChange:
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
        demands=tuple(_demand(first.get(place), second.get(place)) for place in {**first, **second}),
    )


def _by_place(item: PropertyReport | None) -> dict[_Place, DemandReport]:
    seen: Counter[str] = Counter()
    found: dict[_Place, DemandReport] = {}
    for demand in () if item is None else item.demands:
        found[demand.text, seen[demand.text]] = demand
        seen[demand.text] += 1
    return found


def _demand(before: DemandReport | None, after: DemandReport | None) -> DemandChange:
    """A line in both reports, or in the one that has it."""
    one = before or after
    assert one is not None
    old, new = _groups(before), _groups(after)
    parts = _parts(old.parts, new.parts)
    about = registered(one.metric)
    value = Change(None if before is None else before.value, None if after is None else after.value)
    return DemandChange(
        text=one.text,
        metric=one.metric,
        before=None if before is None else before.judgement,
        after=None if after is None else after.judgement,
        value=None if value == _NO_NUMBER else value,
        sampling=_sampling(old.sampling, new.sampling),
        spread=bool(parts) or (isinstance(about, Metric) and about.is_span),
        groups=_rates(old.groups, new.groups),
        parts=parts,
        favoured=() if before is None or after is None else _favoured(old.groups, new.groups),
        percent=in_percent(one),
        ideal=None if about is None else about.ideal,
        confidences=(_confidence(before), _confidence(after)),
    )


def _confidence(demand: DemandReport | None) -> Fraction | None:
    """That of the estimate which the demand's value is; None where the value is proved.

    Beside a proved number for the rows of a table there may be an estimate of another one, for whom they come from;
    that one has no unit of its own.
    """
    if demand is None or demand.value is None or demand.estimate is None or demand.estimate.unit is None:
        return None
    return demand.estimate.confidence


_NO_NUMBER = Change(None, None)
_NO_GROUPS = GroupsReport(groups=())


def _groups(demand: DemandReport | None) -> GroupsReport:
    return _NO_GROUPS if demand is None or demand.groups is None else demand.groups


def _sampling(before: Interval | None, after: Interval | None) -> Change | None:
    """Intervals that cover sampling error; None where neither report has one."""
    return None if before is None and after is None else Change(before, after)


def _rates(before: Sequence[GroupReport], after: Sequence[GroupReport]) -> tuple[GroupChange, ...]:
    first, second = ({_key({**one.group, **one.given}): one for one in groups} for groups in (before, after))
    found = []
    for key in {**first, **second}:
        old, new = first.get(key), second.get(key)
        one = old or new
        assert one is not None
        rate = Change(None if old is None else old.rate, None if new is None else new.rate)
        covered = _sampling(None if old is None else old.sampling, None if new is None else new.sampling)
        found.append(GroupChange(at={**one.group, **one.given}, number=rate, sampling=covered))
    return tuple(found)


def _parts(before: Sequence[PartReport], after: Sequence[PartReport]) -> tuple[GroupChange, ...]:
    first, second = ({_key(one.at): one for one in parts} for parts in (before, after))
    found = []
    for key in {**first, **second}:
        old, new = first.get(key), second.get(key)
        one = old or new
        assert one is not None
        value = Change(None if old is None else old.value, None if new is None else new.value)
        covered = _sampling(None if old is None else old.sampling, None if new is None else new.sampling)
        found.append(GroupChange(at=one.at, number=value, sampling=covered))
    return tuple(found)


def _key(at: Mapping[str, Cell]) -> frozenset[tuple[str, type, Cell]]:
    """A group by its values; a truth value is no number."""
    return frozenset((name, type(value), value) for name, value in at.items())


def _favoured(before: Sequence[GroupReport], after: Sequence[GroupReport]) -> tuple[tuple[str, str], ...]:
    """The most and the least favoured groups before and after; empty where they are the same."""
    old, new = _marked(before), _marked(after)
    return tuple(zip(old, new, strict=True)) if old and new and old != new else ()


def _marked(groups: Sequence[GroupReport]) -> tuple[str, ...]:
    """The groups that may be the most, and those that may be the least favoured, in words.

    Where rates are given something else too, groups are compared several times, and this says nothing.
    """
    if any(group.given for group in groups) or not any(group.most or group.least for group in groups):
        return ()
    most = sorted(group_words(group.group) for group in groups if group.most)
    least = sorted(group_words(group.group) for group in groups if group.least)
    return _listed(most), _listed(least)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return " or ".join([*names[:_NAMED], *([f"{more} more"] if more > 0 else [])])
