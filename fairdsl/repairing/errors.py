"""What stands in the way of a repair: one constructor a code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fairdsl.counterexamples.errors import no_question
from fairdsl.diagnostics import Diagnostic, Label
from fairdsl.diagnostics.wording import short_path
from fairdsl.source import Span


def estimator_not_usable(name: str, reason: str, remedy: str | None = None) -> Diagnostic:
    """E0590: no estimator comes from the factory, or it does not learn and predict."""
    return Diagnostic(
        code="E0590",
        title=f"the estimator `{name[-40:]}` cannot be trained",
        notes=(reason,),
        why="a repair trains the model again, on the same rows and more; there is nothing to train",
        help=remedy
        or "write `--estimator MODULE:FUNCTION`; the function returns a new estimator with `fit` and `predict`",
    )


def not_exported(name: str, reason: str, remedy: str) -> Diagnostic:
    """E0591: the trained estimator does not become a file that the spec's model can be read from."""
    return Diagnostic(
        code="E0591",
        title=f"the estimator `{name[-40:]}` does not become a model file",
        notes=(reason,),
        why="what is measured, kept and checked is the file that decides about people, not the object that wrote it",
        help=remedy,
    )


def not_repairable(reason: str, span: Span | None, help_text: str) -> Diagnostic:
    """E0592: a question whose rate cannot be measured, or a model that no file can replace."""
    return Diagnostic(
        code="E0592",
        title="the property cannot be repaired by training again",
        primary=Label(span, reason) if span else None,
        notes=() if span else (reason,),
        why="a model replaces another only where it is measured to discriminate less",
        help=help_text,
    )


def rows_too_few(path: str, reason: str, counts: Sequence[str]) -> Diagnostic:
    """E0593: rows that cannot be divided into those to train on, to choose by and to report on."""
    name = short_path(path)
    return Diagnostic(
        code="E0593",
        title=f"`{name}` has too few rows to repair a model with",
        notes=(reason, *counts),
        why="a model is trained on some rows, chosen by others, and reported on by rows that did neither",
        help="give more rows; where outcomes are rare, rows of each of them",
    )


def no_guarantee(name: str, reason: str, span: Span | None, help_text: str) -> Diagnostic:
    """E0594: a model that no file can be written for that decides alike by construction."""
    return Diagnostic(
        code="E0594",
        title=f"there is no guarantee for `{name}`",
        primary=Label(span, reason) if span else None,
        notes=() if span else (reason,),
        why="the new file asks the model about a person with all protected values, and drops the person's own",
        help=help_text,
    )


def several_properties(path: str, names: Sequence[str]) -> Diagnostic:
    """Which of several properties about rates is meant, where there is none about pairs."""
    listing = ", ".join(f"`{name}`" for name in names)
    return replace(
        no_question(path, names, None),
        title=f"the spec has {len(names)} properties about rates of groups",
        notes=(f"`{short_path(path)}` asks about groups in {listing}",),
        why="a model is trained for one property",
    )
