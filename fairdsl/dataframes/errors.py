"""What cannot be used of what a Python caller gave: one constructor a code."""

from __future__ import annotations

from fairdsl.diagnostics import Diagnostic


def not_a_table(what: str, reason: str, help_text: str) -> Diagnostic:
    """E0680: rows, or values, in a form that nobody reads."""
    return Diagnostic(
        code="E0680",
        title=f"{what} cannot be read as a table",
        notes=(reason,),
        why="a value that was read in another way than it was meant would be audited as somebody else's",
        help=help_text,
    )


def not_usable(what: str, reason: str, help_text: str) -> Diagnostic:
    """E0682: something given for a spec or a model that is neither a file nor can be made one."""
    return Diagnostic(
        code="E0682",
        title=f"{what} cannot be used",
        notes=(reason,),
        why="a verdict is about one model and one spec, and has to know which",
        help=help_text,
    )


def not_the_estimator(model: str, said: str, help_text: str) -> Diagnostic:
    """E0683: the file that an estimator became decides otherwise than the estimator."""
    return Diagnostic(
        code="E0683",
        title=f"read as `{model}`, the estimator decides otherwise than its `predict`",
        notes=(said,),
        why="a verdict about a file says nothing of an estimator that decides otherwise",
        help=help_text,
    )


def rows_decided_otherwise(model: str, said: str, first: str) -> Diagnostic:
    """W0709: the file that an estimator became decides single rows otherwise than the estimator."""
    return Diagnostic(
        code="W0709",
        title=f"the file of `{model}` decides single rows otherwise than its `predict`",
        notes=(said, first),
        why="the file is what is verified, and whoever lies on a threshold may be decided otherwise by float32",
        help="deploy the file, and not the estimator, if these rows matter",
    )
