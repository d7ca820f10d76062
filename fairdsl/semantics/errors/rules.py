"""What lists of rules say: E0212 to E0214 and W0810, one constructor a code."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic, Label
from fairdsl.source import Span


def rules_out_of_order(model: str, span: Span, what: str, help_text: str, other: Span | None) -> Diagnostic:
    """A list that does not begin with `first`, or has a rule or a second `otherwise` behind its end."""
    return Diagnostic(
        code="E0212",
        title=f"the list of rules of `{model}` {what}",
        primary=Label(span),
        secondary=(Label(other, "written here"),) if other else (),
        why="the first rule that fits decides, so a reader has to see which one comes first and which last",
        help=help_text,
    )


def otherwise_missing(model: str, span: Span, outcome: str) -> Diagnostic:
    """A list that leaves open what happens to those whom no rule is about."""
    return Diagnostic(
        code="E0213",
        title=f"the list of rules of `{model}` does not say what happens otherwise",
        primary=Label(span, "the last rule"),
        why="somebody may meet no condition, and nothing about a decision is assumed",
        help=f"end the list with an outcome for everybody else, for instance `otherwise {outcome}`",
    )


def rules_beside(model: str, what: str, span: Span, rules: Span) -> Diagnostic:
    """Rules that name the outcomes, and something else that decides."""
    return Diagnostic(
        code="E0214",
        title=f"`{model}` has a list of rules and {what} as well",
        primary=Label(span, "does not go with a list of rules"),
        secondary=(Label(rules, "the rules name the outcomes themselves"),),
        why="only one of them could be in force, and a reader could not tell which",
        help="keep the one that is audited; what a rule needs of a score belongs in its condition, as a formula "
        "over attributes",
    )


def never_decides(span: Span, earlier: Sequence[Span]) -> Diagnostic:
    """A rule that comes too late: `earlier` rules decide about all whom it is about; none: it is about nobody."""
    shown = tuple(Label(place, "decides before it") for place in earlier[:3])
    return Diagnostic(
        code="W0810",
        title="this rule never decides",
        primary=Label(span, "earlier rules fit whoever it fits" if earlier else "nobody meets its condition"),
        secondary=shown,
        why="a reader will believe that it gives some people this outcome",
        help=f"{'move it above those rules' if earlier else 'correct its bound'}, or remove it",
    )
