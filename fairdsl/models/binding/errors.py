"""What can be wrong with the values that a file is given: one constructor per code."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic, Label
from fairdsl.diagnostics.wording import listed, short_path
from fairdsl.ir.domain import Attribute
from fairdsl.source import Span

#: So many values are listed at most.
_LISTED = 8


def values_misnamed(
    path: str, attribute: str, unknown: Sequence[str], known: Sequence[str], near: str | None, span: Span
) -> Diagnostic:
    """E0521: the file has none of an attribute's values, or one in another spelling, which is ``near``."""
    return Diagnostic(
        code="E0521",
        title=f"`{short_path(path)}` knows the values of `{attribute}` by other names or codes",
        primary=Label(span, f"it has no {listed(unknown, _LISTED)} of `{attribute}`"),
        notes=(f"it knows {listed(known, _LISTED)}",),
        why="a value that is not in its list is nobody's to the file: values that differ for people would be one and "
        "the same for the model, and a property that holds would say nothing",
        help=f'name the value as the file does, "{near}"' if near else "write the file's own names or codes",
    )


def values_unknown(path: str, attribute: str, unknown: Sequence[str], known: Sequence[str], span: Span) -> Diagnostic:
    """W0710: some values of an attribute are in no list of the file, which takes them for the same."""
    return Diagnostic(
        code="W0710",
        title=f"`{short_path(path)}` does not know {listed(unknown, _LISTED)} of `{attribute}`",
        primary=Label(span, "it takes whatever it does not know for one and the same"),
        notes=(f"it knows {listed(known, _LISTED)}",),
        why="nobody in its training data was such, it may be, or its own name or code for them is another one",
        help="leave out of the domain what nobody can have, or write the file's own names and codes, in cells as well",
    )


def range_elsewhere(attribute: Attribute, model: str, least: str, largest: str, span: Span) -> Diagnostic:
    """W0820: the trees of a file compare an attribute with numbers alone that lie far from its range."""
    numbers = least if least == largest else f"{least} .. {largest}"
    return Diagnostic(
        code="W0820",
        title=f"the range of `{attribute.name}` seems to be in another unit",
        primary=Label(attribute.span or span, f"`{model}` compares it with {numbers} alone"),
        why="the trees decide alike whatever it is in its range, so nothing that depends on it is seen",
        help="write the range in the unit of the training data, and scaled numbers as `reads (age - 38.6) / 13.2`; "
        "a range that is meant can stay as it is",
    )
