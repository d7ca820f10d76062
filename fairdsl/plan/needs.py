"""What a problem asks of a backend, computed once."""

from __future__ import annotations

from fairdsl.backends.contract import Needs
from fairdsl.ir.domain import Domain, Real
from fairdsl.ir.expr import TRUE
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.numerics.narrow import Interval, count_points, narrow
from fairdsl.source import Span

__all__ = ["needs_of"]


def needs_of(problem: Problem) -> Needs:
    """Walk the problem once."""
    question = problem.question
    target = question.target if isinstance(question, Pair) else TRUE
    sets = narrow(problem.domain, target)
    reals = [i for i, value_set in enumerate(sets) if isinstance(value_set, Interval)]
    return Needs(
        question="pair" if isinstance(question, Pair) else question.metric,
        quantity=problem.quantity,
        points=None if reals else count_points(sets),
        has_reals=bool(reals),
        unbounded=any(sets[i].low is None or sets[i].high is None for i in reals),
        population=not isinstance(question, Pair),
        because=_causes(problem.domain),
    )


def _causes(domain: Domain) -> dict[str, Span]:
    """The place of the first real attribute and of the widest finite one, for refusals to point at."""
    causes: dict[str, Span] = {}
    real = next((a for a in domain.attributes if isinstance(a.type, Real) and a.span), None)
    if real is not None and real.span is not None:
        causes["real"] = real.span
    finite = [a for a in domain.attributes if a.size is not None and a.span]
    widest = max(finite, key=lambda attribute: attribute.size or 0, default=None)
    if widest is not None and widest.span is not None:
        causes["points"] = widest.span
    return causes
