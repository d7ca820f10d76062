"""What can be wrong with a data file: one constructor a code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from fairdsl.data.cells import BOOLEANS, GAPS, code_cells, decimal_of, named_cells, values_in_words
from fairdsl.diagnostics import Diagnostic, Label, nearest
from fairdsl.diagnostics.wording import listed, short_path
from fairdsl.ir.domain import Attribute, Boolean, Category, Integer, Real, show_number
from fairdsl.source import Span
from fairdsl.source.names import unspelled, value_text

#: So many names are listed at most.
_LISTED = 12
#: And so many values are written out in a category.
_VALUES = 6
_DECIMAL_COMMA = re.compile(r"[+-]?\d{1,3}(?:[.\d]*),\d+")


def file_not_read(path: str, reason: str, span: Span | None, help_text: str, more: int = 0) -> Diagnostic:
    """E0530: no table can be had from the file; ``more`` rows are wrong in the same way."""
    alike = (f"so {'are' if more != 1 else 'is'} {more:,} more {_plural('row', more)}",) if more else ()
    return Diagnostic(
        code="E0530",
        title=f"the data file `{short_path(path)}` cannot be read",
        primary=Label(span, reason) if span else None,
        notes=alike if span else (reason, *alike),
        why="a count over half a table would look like one over the whole",
        help=help_text,
    )


def named_at(findings: Iterable[Diagnostic], span: Span) -> Iterator[Diagnostic]:
    """Findings about a file as a whole with ``span``, where its path is written; others have places in the file."""
    for finding in findings:
        whole = finding.primary is None and finding.notes
        yield replace(finding, primary=Label(span, finding.notes[0]), notes=finding.notes[1:]) if whole else finding


def column_not_found(names: Sequence[str], header: Sequence[str], span: Span, *, twice: bool = False) -> Diagnostic:
    """E0531: attributes without a column of their name, or (``twice``) with two."""
    first = names[0]
    spread = [column for column in header if re.fullmatch(rf"{re.escape(first)}[_=.: -].+", column)]
    guess = None if twice or len(spread) > 1 else nearest(first, header)
    several = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return Diagnostic(
        code="E0531",
        title=f"the data has {'two columns' if twice else 'no column'} `{first[:30]}`{several}",
        primary=Label(span, f"needed: {listed(names, _LISTED)}" if not twice else "which one is meant is not known"),
        notes=() if twice else (f"the file's columns: {listed(header, _LISTED)}",),
        why="a column that is guessed or filled in makes every row another individual",
        help="keep one of the two columns"
        if twice
        else f"join {listed(spread, _VALUES)} into one column `{first[:30]}` with the names of the values"
        if len(spread) > 1
        else (f"did you mean `{guess}`? " if guess else "") + 'give the attribute the file\'s name with `column "..."`',
    )


def value_not_in_domain(
    wrong: Mapping[str, int], attribute: Attribute, span: Span, *, mixed: bool, label: bool
) -> Diagnostic:
    """E0532: cells that are not values of their attribute, with how many rows have each; ``span`` is the first of them.

    ``mixed``: the column has names, and some of these are codes. ``label``: it is the label.
    """
    name, texts = attribute.name, list(wrong)
    first = _quoted(texts[0]) if texts[0] else "an empty cell"
    others = len(texts) - 1
    title = f"`{name}` has an empty cell" if not texts[0] else f"{first} is not a value of `{name}`"
    if others:
        title = f"{first} and {others:,} other {_plural('text', others)} are not values of `{name}`"
    if mixed:
        title = f"`{name}` mixes names of values and codes"
    return Diagnostic(
        code="E0532",
        title=title,
        primary=Label(
            span, "a code, where other cells are names" if mixed else f"its values are {values_in_words(attribute)}"
        ),
        secondary=(Label(attribute.span, "declared here"),) if attribute.span else (),
        notes=(*_counted(wrong), *_read_as(wrong, attribute)),
        why="individuals outside the domain are not what the audit is about, and no row is dropped silently"
        if not mixed
        else "a number may be the name of one value and the code of another, and a guess makes people up",
        help=_remedy(texts, attribute, mixed=mixed, label=label),
    )


def _counted(wrong: Mapping[str, int]) -> tuple[str, ...]:
    """The wrong cells with their rows, unless there is only the one that the place shows."""
    if sum(wrong.values()) == 1:
        return ()
    shown = [
        f"{_quoted(text) if text else 'empty'} ({rows:,} {_plural('row', rows)})"
        for text, rows in list(wrong.items())[:_LISTED]
    ]
    left = len(wrong) - len(shown)
    return (f"not values: {', '.join(shown)}{f' and {left:,} more' if left else ''}",)


def _read_as(wrong: Mapping[str, int], attribute: Attribute) -> tuple[str, ...]:
    if code_cells(attribute) or not any(decimal_of(text) for text in wrong):
        return ()
    return (f"names of `{attribute.name}` look like numbers, so its cells are names and never codes",)


def _remedy(texts: Sequence[str], attribute: Attribute, *, mixed: bool, label: bool) -> str:
    if mixed:
        return "write every cell of the column by its name, or every cell by its code"
    if "" in texts and label:
        return 'leave rows without a label out of the table, or list the empty one: `category { "", NAME, NAME }`'
    if "" in texts and isinstance(attribute.type, Boolean):
        return (
            f"correct or remove the row, or list the values by their names in the table, as in `{attribute.name} : "
            "category { no, yes } or missing`, if somebody may lack it"
        )
    if "" in texts and attribute.missing is None:
        return f"correct or remove the row, or write `{attribute.name} : ... or missing` if somebody may lack it"
    if not label and attribute.missing is None and all(text.lower() in GAPS for text in texts):
        return f"leave these cells empty, and write `{attribute.name} : ... or missing` if somebody may lack it"
    if isinstance(attribute.type, Integer | Real) and any(_DECIMAL_COMMA.fullmatch(text) for text in texts):
        return "write decimals with a point, as in `0.5`, and no separators between thousands"
    names = set(map(unspelled, named_cells(attribute)))
    if names and all(unspelled(text) in names for text in texts):
        return (
            "write each value as the spec does: capitals count, and so do blanks other than spaces, and whether an "
            "accented letter is one character or two"
        )
    wider = _wider(texts, attribute)
    if wider:
        return f"correct or remove the row, or declare `{attribute.name} : {wider}` if the cells are right"
    return "correct or remove the row, or widen the domain if such individuals exist"


def _wider(texts: Sequence[str], attribute: Attribute) -> str:
    """A type that has these values as well, as a spec writes it; empty where there is none, or none that is short."""
    kind = attribute.known.type
    match kind:
        case Boolean() | Category():
            known = [value.name for value in kind.values] if isinstance(kind, Category) else []
            values = [value_text(text) for text in (*known, *texts)]
            coded = isinstance(kind, Category) and kind.coded
            if coded or len(values) > _VALUES or not all(text and '"' not in text for text in texts):
                return ""
            left = [] if known or len(values) > 1 else ["..."]
            return f"category {{ {', '.join([*values, *left])} }}"
        case Integer() | Real():
            if all(text.lower() in BOOLEANS for text in texts):
                return "boolean"
            read = [decimal_of(text) for text in texts]
            numbers = [Fraction(each[0]) * Fraction(10) ** each[1] for each in read if each is not None]
            if len(numbers) < len(texts) or kind.low is None or kind.high is None:
                return ""
            low, high = min(Fraction(kind.low), *numbers), max(Fraction(kind.high), *numbers)
            whole = isinstance(kind, Integer) and all(number.denominator == 1 for number in numbers)
            return f"{'integer' if whole else 'real'} {show_number(low)} .. {show_number(high)}"


def _quoted(text: str) -> str:
    """The text, with blanks other than spaces and further unseen characters as their codes."""
    seen = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
    return f"`{seen if len(seen) <= 30 else f'{seen[:27]}...'}`"


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"


def row_excluded(domain: str, span: Span, more: int) -> Diagnostic:
    """E0533: a row that the domain's ``where`` says cannot exist; ``more`` rows like it follow."""
    return Diagnostic(
        code="E0533",
        title=f"a row describes nobody of `{domain}`: its `where` excludes it",
        primary=Label(span, "excluded"),
        notes=(f"so {'are' if more != 1 else 'is'} {more:,} more row{'s' if more != 1 else ''}",) if more else (),
        why="either the data or the `where` is wrong about who exists",
        help="correct or remove the row, or loosen the `where`",
    )


def not_the_pinned_data(path: str, expected: str, found: str, span: Span) -> Diagnostic:
    """E0534: the SHA-256 of the data file is not the one that the spec pins."""
    is_digest = re.fullmatch("[0-9a-fA-F]{64}", expected) is not None
    return Diagnostic(
        code="E0534",
        title=f"`{short_path(path)}` is not the data that the spec pins"
        if is_digest
        else f"`{short_path(path)}` is pinned by something that is not a SHA-256",
        primary=Label(span, "another SHA-256" if is_digest else "a SHA-256 is 64 hexadecimal digits"),
        notes=(f"pinned  {expected}", f"found   {found}  (`{path}`)"),
        why="rates among other rows than the ones agreed on are rates among other people",
        help=f'{"use the pinned file, or " if is_digest else ""}write `sha256 "{found}"` to take this one',
    )
