"""A comparison for people: the files, then each property with what became of its verdicts and numbers.

::

    four_fifths   VIOLATED -> HOLDS   better
        VIOLATED -> HOLDS   require impact_ratio >= 80%
        value      61.32% -> 84.2%, rose by 22.88 points
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.comparing.model import (
    Change,
    Comparison,
    Course,
    DemandChange,
    ExitCode,
    FileChange,
    GroupChange,
    Movement,
    PropertyChange,
)
from fairdsl.diagnostics.style import Paint, Style, display_width
from fairdsl.ir.numbers import Towards, shown
from fairdsl.report.model import HashedFile
from fairdsl.report.text import detail
from fairdsl.report.words import group_words, number
from fairdsl.verdict import Interval, Judgement

_INDENT = "    "
#: Groups that a table lists at most.
_ROWS = 20
#: Digits of a digest that are shown.
_DIGITS = 12

_PAINTS = {Course.WORSE: Paint.ERROR, Course.BETTER: Paint.GOOD, Course.SAME: Paint.FAINT}
_EXIT = {
    ExitCode.NOT_WORSE: "nothing got worse",
    ExitCode.WORSE: "a verdict got worse, or a number did by more than the tolerance",
    ExitCode.UNKNOWN: "no verdict got worse, but some number may have by more than the tolerance",
}


@dataclass(frozen=True, slots=True)
class _Marks:
    """How numbers are written, and which changes are pointed out."""

    percent: bool
    tolerance: Fraction | None
    ideal: Fraction | None


#: Rates are percentages, and neither better nor worse.
_RATES = _Marks(True, None, None)


def render(comparison: Comparison, style: Style) -> str:
    """The whole comparison."""
    blocks = ["\n".join(_header(comparison, style))]
    blocks += ["\n".join(_property(item, comparison.tolerance, style)) for item in comparison.properties]
    blocks.append("\n".join(_summary(comparison, style)))
    return "\n\n".join(blocks) + "\n"


def _header(comparison: Comparison, style: Style) -> Iterator[str]:
    before, after = comparison.before, comparison.after
    yield _row("before", before.report, style)
    yield _row("after", after.report, style)
    yield _row("spec", _file(comparison.spec), style)
    for heading, files in (("used", comparison.used), ("model", comparison.models), ("data", comparison.data)):
        for file in files:
            yield _row(heading, f"{file.name}  {_file(file)}", style)
    if before.fairdsl != after.fairdsl:
        yield _row("fairdsl", f"{before.fairdsl} -> {after.fairdsl}", style)
    if before.seed != after.seed:
        yield _row("seed", f"{before.seed} -> {after.seed}", style)
    if comparison.tolerance is not None:
        yield _row("tolerance", f"{shown(comparison.tolerance, percent=True)}", style)


def _row(heading: str, text: str, style: Style) -> str:
    return f"{heading:<10} {style.shown(text)}"


def _file(file: FileChange) -> str:
    """Both paths where they differ, and whether the bytes are the same."""
    if file.before is None or file.after is None:
        return f"{_path(file.before)} -> {_path(file.after)}"
    before, after = _path(file.before), _path(file.after)
    paths = before if before == after else f"{before} -> {after}"
    match file.same:
        case True:
            return f"{paths}  the same, sha256 {_digest(file.before)}"
        case False:
            return f"{paths}  changed, sha256 {_digest(file.before)} -> {_digest(file.after)}"
        case None:
            return paths if file.before.path is file.after.path is None else f"{paths}  without a digest"


def _path(file: HashedFile | None) -> str:
    return "not in the report" if file is None else file.path or "written in the spec"


def _digest(file: HashedFile) -> str:
    return (file.sha256 or "")[:_DIGITS]


def _property(item: PropertyChange, tolerance: Fraction | None, style: Style) -> Iterator[str]:
    name = style.paint(style.shown(item.name), Paint.BOLD)
    yield f"{name}   {_verdicts(item.before, item.after)}   {_course(item.course, style)}"
    for heading, clauses in (("no longer", item.left), ("new", item.joined)):
        for clause in clauses:
            yield from detail(heading, clause, style)
    tables: list[Sequence[GroupChange]] = []
    for demand in item.demands:
        course = "" if demand.course is Course.SAME else f"   {_course(demand.course, style)}"
        yield f"{_INDENT}{_verdicts(demand.before, demand.after)}   {style.shown(demand.text)}{course}"
        if not demand.in_both:
            continue
        yield from _numbers(demand, tolerance, style)
        if demand.groups and demand.groups not in tables:
            tables.append(demand.groups)
            yield from _table("groups", demand.groups, _RATES, style)
            yield from _favoured(demand, style)


def _verdicts(before: Judgement | None, after: Judgement | None) -> str:
    words = ["not asked" if one is None else one.value.upper() for one in (before, after)]
    return words[0] if before is after else " -> ".join(words)


def _course(course: Course, style: Style) -> str:
    word = "neither better nor worse" if course is Course.OTHER else course.value
    return style.paint(word, _PAINTS.get(course, Paint.WARNING))


def _numbers(demand: DemandChange, tolerance: Fraction | None, style: Style) -> Iterator[str]:
    """The value, what covers sampling error, and the values of ``given``; a span of rates is left to their table."""
    marks = _Marks(demand.percent, tolerance, demand.ideal)
    if demand.parts:
        yield from _table("given", demand.parts, marks, style)
    if demand.spread:
        return
    if demand.value is not None and demand.estimated:
        yield from detail("estimate", _estimated(demand, demand.value, tolerance), style)
    elif demand.value is not None:
        yield from detail("value", _sentence(demand.value, marks), style)
    if demand.sampling is not None:
        yield from detail("sampling", _covered(demand.sampling, demand.percent), style)


def _favoured(demand: DemandChange, style: Style) -> Iterator[str]:
    """The most and the least favoured groups, where they changed."""
    for which, one in demand.favoured.items():
        before, after = one.before, one.after
        text = f"{before}, as before" if before == after else f"{before} -> {after}"
        yield from detail("favoured" if which == "most" else "", f"{which}: {text}", style)


def _number(value: Interval | None, percent: bool) -> str:
    return "no number" if value is None else number(value, percent)


def _sentence(change: Change, marks: _Marks) -> str:
    """``61.32% -> 84.2%, rose by 22.88 points``, and what that is beside the tolerance."""
    if change.movement is Movement.SAME:
        return f"{_number(change.before, marks.percent)}, the same"
    parts = [f"{_number(change.before, marks.percent)} -> {_number(change.after, marks.percent)}"]
    parts.append(_moved(change, marks.percent))
    within: bool | None = True
    if marks.tolerance is not None and marks.ideal is not None:
        within = change.within(marks.tolerance, marks.ideal)
    if within is not True:
        parts.append(
            "worse by more than the tolerance" if within is False else "perhaps worse by more than the tolerance"
        )
    return ", ".join(part for part in parts if part)


def _estimated(demand: DemandChange, change: Change, tolerance: Fraction | None) -> str:
    """``between 4% and 6% (95%) -> 5%, perhaps the same; an estimate proves nothing``."""
    confidences = (demand.confidences.before, demand.confidences.after)
    ends = [
        _number(value, demand.percent) + ("" if confidence is None else f" ({shown(confidence, percent=True)})")
        for value, confidence in zip((change.before, change.after), confidences, strict=True)
    ]
    parts = [" -> ".join(ends)]
    if change.difference is not None and demand.apart is None:
        parts.append("perhaps the same")
    elif change.difference is not None:
        word = "higher" if change.movement is Movement.ROSE else "lower"
        parts.append(f"{word} with {shown(demand.apart or Fraction(0), percent=True)} confidence")
    if tolerance is not None and demand.ideal is not None:
        parts.append("perhaps worse by more than the tolerance")
    return ", ".join(parts) + "; an estimate proves nothing"


def _covered(change: Change, percent: bool) -> str:
    """Intervals that cover sampling error: whether they have numbers in common is all that they say."""
    ends = f"{_number(change.before, percent)} -> {_number(change.after, percent)}"
    match change.movement:
        case Movement.ROSE | Movement.FELL:
            return f"{ends}, {change.movement.value}"
        case Movement.MISSING:
            return ends
        case _:
            return f"{ends}, perhaps the same"


def _moved(change: Change, percent: bool) -> str:
    difference = change.difference
    if difference is None:
        return ""
    match change.movement:
        case Movement.ROSE:
            return f"rose by {_amount(difference, percent)}"
        case Movement.FELL:
            return f"fell by {_amount(_mirrored(difference), percent)}"
        case _:
            if difference.low is None or difference.high is None:
                return "perhaps the same"
            return f"changed by {_amount(difference, percent)}, perhaps not at all"


def _mirrored(value: Interval) -> Interval:
    low, high = (None if end is None else -end for end in (value.high, value.low))
    return Interval(low, high)


def _amount(value: Interval, percent: bool) -> str:
    """A difference; of percentages in points. Bounds are rounded outward."""
    unit = " points" if percent else ""
    if value.exact is not None:
        shown_exactly = _points(value.exact, percent, Towards.NEAREST)
        return shown_exactly + (" point" if percent and shown_exactly == "1" else unit)
    low = None if value.low is None else _points(value.low, percent, Towards.DOWN)
    high = None if value.high is None else _points(value.high, percent, Towards.UP)
    if low is None:
        return f"at most {high}{unit}"
    return (f"at least {low}" if high is None else f"{low} to {high}") + unit


def _points(value: Fraction, percent: bool, towards: Towards) -> str:
    return shown(value, percent=percent, towards=towards, landmarks=(Fraction(0),)).removesuffix("%")


def _table(heading: str, groups: Sequence[GroupChange], marks: _Marks, style: Style) -> Iterator[str]:
    """One line a group; its sampling interval under it, where there is one."""
    listed = groups[:_ROWS]
    names = [style.shown(group_words(group.at)) for group in listed]
    width = max(map(display_width, names))
    for place, (group, name) in enumerate(zip(listed, names, strict=True)):
        text = f"{name}{' ' * (width - display_width(name))}  {_sentence(group.number, marks)}"
        yield from detail("" if place else heading, text, style)
        if group.sampling is not None:
            yield from detail("", f"{' ' * width}  sampling {_covered(group.sampling, marks.percent)}", style)
    if len(groups) > _ROWS:
        yield from detail("", f"and {len(groups) - _ROWS:,} more in the JSON output", style)


def _summary(comparison: Comparison, style: Style) -> Iterator[str]:
    courses = [item.course for item in comparison.properties]
    words = ", ".join(f"{courses.count(course)} {_course(course, style)}" for course in Course if courses.count(course))
    yield f"{len(courses)} propert{'y' if len(courses) == 1 else 'ies'}: {words}"
    code = comparison.exit_code
    yield style.paint(f"exit code {code.value}: {_EXIT[code]}", Paint.FAINT)
