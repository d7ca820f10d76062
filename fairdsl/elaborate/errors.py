"""What elaboration says: questions and models that do not fit together once both are known."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic, Label, nearest
from fairdsl.source import Span


def override_of_nothing(name: str, known: Sequence[str]) -> Diagnostic:
    """``--model NAME=PATH`` for a model that the spec does not declare."""
    guess = nearest(name, known)
    listing = ", ".join(f"`{model}`" for model in known)
    return Diagnostic(
        code="E0550",
        title=f"`--model {name}=...` names no model of this spec",
        why="an option that is quietly ignored would leave another model under audit",
        help=f"did you mean `{guess}`?" if guess else f"the spec declares {listing or 'no model'}",
    )


def no_single_score(model: str, has: str, span: Span) -> Diagnostic:
    """A score gap of a model that does not give one score."""
    return Diagnostic(
        code="E0551",
        title=f"`score(a)` is not one number of `{model}`",
        primary=Label(span, f"`{model}` has {has}"),
        why="a gap is a distance between two numbers that the model gives",
        help="write `require same decision`, or audit a model whose only output is its score",
    )


def never_read(attribute: str, model: str, span: Span) -> Diagnostic:
    """A differing attribute that is no input of the model."""
    return Diagnostic(
        code="W0805",
        title=f"`{model}` never reads `{attribute}`",
        primary=Label(span, f"asks what changing `{attribute}` does"),
        why="the model cannot react to what it does not read, so this says nothing about proxies that it does read",
        help="relax the attributes that stand in for it (`relax ... freely`), or ask about groups of a population",
    )
