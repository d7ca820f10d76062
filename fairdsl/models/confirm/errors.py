"""What is said of a file whose reading is not what the file computes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fairdsl.diagnostics import Diagnostic, Label
from fairdsl.diagnostics.wording import short_path
from fairdsl.models.confirm.compare import Difference
from fairdsl.models.confirm.steps import Step
from fairdsl.source import Span

#: Digits that are shown of a number.
_DIGITS = 9
_SCALE = "scale inputs and weights: the file's numbers are too large for its type"
_TORN = "export the model again with its weights inside: where they begin in the middle of a number, all are others"
_REPORT = (
    "the importer reads an operator wrongly: please report it, with the file; until it is mended, "
    '`from black_box "..."` audits the file as it runs'
)


def misread(
    path: str,
    individual: Mapping[str, str],
    different: Difference,
    step: Step | None,
    span: Span | None,
    torn: str | None = None,
) -> Diagnostic:
    """E0519: for some individual the file gives something else than what was read of it.

    ``torn``: which weights begin in the middle of a number. What is too large then is no weight.
    """
    where = "the decision" if different.tensor is None else f"output `{different.tensor}`{_place(different.place)}"
    both = f"{where}: {_shown(different.file)} by the file, {_shown(different.reading)} by its reading"
    overflows = _overflows(different.file) or (step is not None and _overflows(step.file))
    remedy = _REPORT if not overflows else _SCALE if torn is None else _TORN
    return _refusal(path, both, individual, (_step(step), *([] if torn is None else [torn])), span, remedy)


def not_evaluated(path: str, problem: Exception, span: Span | None) -> Diagnostic:
    """E0519: the reading could not be evaluated at all, so nothing confirms it."""
    what = f"its reading cannot be evaluated ({type(problem).__name__}: {problem})"
    return _refusal(path, what[:200], {}, ("no individual was tried",), span, _REPORT)


def _refusal(
    path: str, both: str, individual: Mapping[str, str], notes: Sequence[str], span: Span | None, help_text: str
) -> Diagnostic:
    who = ", ".join(f"{name} = {value}" for name, value in individual.items())
    return Diagnostic(
        code="E0519",
        title=f"`{short_path(path)}` does not compute what was read of it",
        primary=None if span is None else Label(span, both),
        notes=(*((f"individual: {who}",) if who else ()), *notes),
        why="every verdict would be about another model than the one that is deployed",
        help=help_text,
    )


def _overflows(value: Any) -> bool:
    """Whether the file gives something that is not a finite number."""
    value = value.item() if hasattr(value, "item") else value
    return isinstance(value, float) and not math.isfinite(value)


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
