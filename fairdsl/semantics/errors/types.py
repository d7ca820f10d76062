"""Numbers, values and ranges that do not fit: E03, one constructor a code."""

from __future__ import annotations

from fairdsl.diagnostics import Diagnostic, Edit, Label
from fairdsl.source import Span


def reversed_range(low: str, high: str, span: Span, form: str = "{} .. {}") -> Diagnostic:
    """A range whose ends are the wrong way round; ``form`` is how the two are written."""
    return Diagnostic(
        code="E0301",
        title=f"the range {form.format(low, high)} runs backwards",
        primary=Label(span, f"{low} is above {high}"),
        why="no value lies in it, so everything asked about it would hold",
        help=f"write `{form.format(high, low)}`",
        fix=Edit(span, form.format(high, low)),
    )


def not_comparable(what: str, span: Span, why: str, help_text: str) -> Diagnostic:
    """Two sides of a comparison that do not belong together."""
    return Diagnostic(code="E0302", title=what, primary=Label(span), why=why, help=help_text)


def threshold_out_of_range(
    metric: str,
    written: str,
    span: Span,
    suggestion: str | None,
    *,
    what: str = "outside 0 % .. 100 %",
    remedy: str = "write a number from 0 to 1, or a percentage",
) -> Diagnostic:
    """A threshold on a share or rate that is always or never met: most often one outside 0 to 100 %."""
    return Diagnostic(
        code="E0303",
        title=f"`{metric}` lies between 0 and 1, so {written} decides nothing",
        primary=Label(span, what),
        why="the requirement would be always or never met, whatever the model does",
        help=f"did you mean `{suggestion}`?" if suggestion else remedy,
        fix=Edit(span, suggestion) if suggestion else None,
    )


def not_linear(span: Span, what: str) -> Diagnostic:
    """An expression that is not a linear form of the attributes."""
    return Diagnostic(
        code="E0304",
        title=f"{what} is not linear",
        primary=Label(span, "attributes may be added, and multiplied or divided by numbers only"),
        why="linear expressions are what every backend can treat exactly",
        help="write it as a sum of `number * attribute`, or bring the product into the data as an attribute",
    )


def category_clash(title: str, span: Span, first: Span | None, help_text: str) -> Diagnostic:
    """Two values of a category with one name or code, or a code that is not a whole number."""
    return Diagnostic(
        code="E0305",
        title=title,
        primary=Label(span),
        secondary=(Label(first, "the other one"),) if first else (),
        why="the model would read one number for two different people",
        help=help_text,
    )


def relaxed_label(attribute: str, kind: str, span: Span) -> Diagnostic:
    """`within NUMBER in CATEGORY`."""
    return Diagnostic(
        code="E0306",
        title=f"`{attribute}` is a {kind}: its values have no distance",
        primary=Label(span, "codes are labels, not numbers"),
        why="the distance of two codes means nothing, it depends on how the values happen to be numbered",
        help=f"write `regardless of {attribute}` to let it take any value",
    )


def wrong_kind(found: str, expected: str, span: Span, help_text: str) -> Diagnostic:
    """A number where a condition belongs, or the other way round."""
    return Diagnostic(
        code="E0307",
        title=f"this is {found}, but {expected} belongs here",
        primary=Label(span, found),
        help=help_text,
    )


def number_out_of_place(title: str, span: Span, help_text: str) -> Diagnostic:
    """A number that is negative, fractional, or out of order where it must not be."""
    return Diagnostic(code="E0308", title=title, primary=Label(span), help=help_text)


def not_a_distribution(
    title: str,
    span: Span,
    help_text: str,
    *,
    why: str = "probabilities of a distribution lie between 0 and 1 and sum to exactly 1",
) -> Diagnostic:
    """Probabilities, or clauses of a distribution, that do not make one distribution."""
    return Diagnostic(
        code="E0309",
        title=title,
        primary=Label(span),
        why=why,
        help=help_text,
    )
