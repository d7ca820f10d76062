"""What is said of a file whose reading is not what the file computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairdsl.diagnostics import Diagnostic, Label
from fairdsl.diagnostics.wording import short_path
from fairdsl.models.confirm.compare import Difference
from fairdsl.models.confirm.steps import Step
from fairdsl.source import Span

__all__ = ["misread", "not_evaluated"]

#: Digits that are shown of a number.
_DIGITS = 9


def misread(
    path: str, individual: Mapping[str, str], different: Difference, step: Step | None, span: Span | None
) -> Diagnostic:
    """E0519: for some individual the file gives something else than what was read of it."""
    where = "the decision" if different.tensor is None else f"output `{different.tensor}`{_place(different.place)}"
    both = f"{where}: {_shown(different.file)} by the file, {_shown(different.reading)} by its reading"
    return _refusal(path, both, individual, _step(step), span)


def not_evaluated(path: str, problem: Exception, span: Span | None) -> Diagnostic:
    """E0519: the reading could not be evaluated at all, so nothing confirms it."""
    what = f"its reading cannot be evaluated ({type(problem).__name__}: {problem})"
    return _refusal(path, what[:200], {}, "no individual was tried", span)


def _refusal(path: str, both: str, individual: Mapping[str, str], step: str, span: Span | None) -> Diagnostic:
    who = ", ".join(f"{name} = {value}" for name, value in individual.items())
    return Diagnostic(
        code="E0519",
        title=f"`{short_path(path)}` does not compute what was read of it",
        primary=None if span is None else Label(span, both),
        notes=(*((f"individual: {who}",) if who else ()), step),
        why="every verdict would be about another model than the one that is deployed",
        help="if its numbers overflow float32, scale inputs and weights; otherwise the importer reads an operator "
        'wrongly, so please report the file; `from black_box "..."` audits it as it runs',
    )


def _step(step: Step | None) -> str:
    if step is None:
        return "every tensor on the way agrees; the decision that is made of them differs"
    return (
        f"first tensor that differs: `{step.tensor}`{_place(step.place)} of node `{step.node}` ({step.operator}): "
        f"{_shown(step.file)} by the file, {_shown(step.reading)} by its reading"
    )


def _place(place: int) -> str:
    return f" [{place}]"


def _shown(value: Any) -> str:
    """A number with few digits, a label as it is."""
    value = value.item() if hasattr(value, "item") else value
    return f"{value:.{_DIGITS}g}" if isinstance(value, float) else str(value)
