"""Classes that a file calls by the spec's own outcomes: then their order is known, and must be the declared one."""

from __future__ import annotations

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import ModelDeclaration, WhenClass, WhenScore
from fairdsl.models import errors

__all__ = ["check_class_names"]


def check_class_names(declaration: ModelDeclaration, output: str, named: tuple[int | str, ...]) -> None:
    """Refuse a clause that takes a column or a class for another outcome than the one it is named after (E0511).

    scikit-learn sorts its classes, so columns of `grant` and `reject` come in this order whatever the spec's is. A
    threshold of a score names its outcome itself.
    """
    outcomes, clause = declaration.outcomes, declaration.decision
    if isinstance(clause, WhenScore) or named == outcomes or {*named} != {*outcomes}:
        return
    if isinstance(clause, WhenClass) and named[clause.index : clause.index + 1] == (outcomes[clause.outcome],):
        return
    names = [f"`{outcome}`" for outcome in named]
    raise DiagnosticError(
        errors.decision_does_not_fit(
            f"the classes of the file are the outcomes in another order than `{declaration.name}` lists them",
            "classes and columns are read as the outcomes in the order of the declaration",
            f"list the outcomes as the file does: `{{ {', '.join(str(outcome) for outcome in named)} }}`",
            clause.span,
            [f"output `{output}`: {', '.join(names)}, in this order"],
        )
    )
