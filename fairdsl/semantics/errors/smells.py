"""Warnings about what a reader would misread: W08, one constructor a code."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic, Label
from fairdsl.diagnostics.wording import short_path
from fairdsl.semantics.errors.wording import listing
from fairdsl.source import Span


def never_used(kind: str, name: str, span: Span) -> Diagnostic:
    """A declaration that nothing refers to."""
    protected = kind == "protected attribute"
    help_text = {
        "protected attribute": "name it in `differ in` or `across`, or remove it",
        "label": "write `over DOMAIN, LABEL` in a distribution, remove it, or, where only `fairdsl prune --data` or "
        "`fairdsl repair` reads it, name its `column`",
    }
    return Diagnostic(
        code="W0801",
        title=f"{kind} `{name}` is never {'compared' if protected else 'used'}",
        primary=Label(span),
        why=f"a reader of the audit will believe that it {'was examined' if protected else 'is in force'}",
        help=help_text.get(kind, "use it in a property, or remove it"),
    )


def says_nothing(clause: str, span: Span, detail: str, *, of: str = "everybody") -> Diagnostic:
    """A condition that is true of everybody, or a part behind `or` that is true of nobody."""
    return Diagnostic(
        code="W0802",
        title=f"this {clause} is true of {of}",
        primary=Label(span, detail),
        why="a reader will believe that it changes who is in question",
        help="remove it, or correct the bound",
    )


def relaxes_nothing(attribute: str, span: Span, detail: str) -> Diagnostic:
    """A distance that allows no difference, or any difference, without saying so."""
    return Diagnostic(
        code="W0803",
        title=f"this distance in `{attribute}` {detail}",
        primary=Label(span),
        why="the clause reads as something else than it is",
        help=f"remove it, correct the number, or write `regardless of {attribute}`",
    )


def reads_otherwise(title: str, span: Span, detail: str, why: str, instead: str) -> Diagnostic:
    """Something that is well formed, and that most readers would take for something else."""
    return Diagnostic(code="W0816", title=title, primary=Label(span, detail), why=why, help=instead)


def read_twice(feature: str, span: Span, first: Span) -> Diagnostic:
    """The same numbers fill two places of what the model reads."""
    return Diagnostic(
        code="W0806",
        title=f"`{feature}` is read twice",
        primary=Label(span, "read again"),
        secondary=(Label(first, "first read here"),),
        why="most often a slip for another attribute, and every number after it is then the wrong one",
        help="remove one of them, or name the attribute that was meant",
    )


def codes_left_out(attribute: str, span: Span, codes: Sequence[tuple[str, int]]) -> Diagnostic:
    """A category in which some values have a written code and others their position; ``codes`` of the latter."""
    taken = ", ".join(f"`{name}` is {code}" for name, code in codes[:4])
    more = f" and {len(codes) - 4} more" if len(codes) > 4 else ""
    return Diagnostic(
        code="W0807",
        title=f"only some values of `{attribute}` have a written code",
        primary=Label(span, f"by position {taken}{more}"),
        why="a value without a code takes its position from 0, and does not count on from the code before it",
        help=f"write the codes of {listing(name for name, _ in codes)} too",
    )


def another_unit(what: str, span: Span, detail: str) -> Diagnostic:
    """A range that is nearly empty, or that hardly anybody is in."""
    return Diagnostic(
        code="W0819",
        title=f"{what} seems to be in another unit",
        primary=Label(span, detail),
        why="a share over the range counts nearly nobody there is, and what is drawn from it is nobody either",
        help="write the range in the unit of the numbers, as the model reads them; "
        "a range that is meant can stay as it is",
    )


def no_such_file(path: str, what: str, span: Span, instead: str | None = None) -> Diagnostic:
    """A model or data file that a check would open in vain; ``instead``: the option that replaces it."""
    return Diagnostic(
        code="W0817",
        title=f"the {what} file `{short_path(path)}` is not there",
        primary=Label(span, "no such file"),
        why="a check of this spec ends before it begins, unless it is given another file",
        help="check the path: it counts from the folder of the file that names it"
        + (f"; `{instead} NAME=PATH` replaces the file" if instead else ""),
    )
