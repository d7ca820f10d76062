"""The model as SMT-LIB, whole and unfolded: every unit of both copies, as the definition has it.

Layer: ``z = weight @ h + bias``, ``h = max(z, 0) + slope * min(z, 0)``. Weights are printed exactly.
"""

from __future__ import annotations

from collections.abc import Iterator

from fairdsl.backends.smt import terms
from fairdsl.backends.smt.individuals import Individuals
from fairdsl.backends.smt.terms import Term
from fairdsl.ir.feature import AttributeInput, Input
from fairdsl.ir.model import Layer, Model

__all__ = ["input_term", "scores", "whole_model"]


def input_term(people: Individuals, who: str, item: Input) -> Term:
    """What the model reads, as a Real."""
    if isinstance(item, AttributeInput):
        return people.number(who, item.attribute)
    return f"(ite {people.holds(item.predicate, who)} 1.0 0.0)"


def scores(model: Model, who: str, *, prefix: str = "") -> list[Term]:
    """The symbols of one copy's scores, as :func:`whole_model` defines them."""
    return [f"{prefix}s{who}.{index}" for index in range(model.score_count)]


def whole_model(model: Model, people: Individuals, who: str, *, prefix: str = "") -> Iterator[str]:
    """Definitions of one copy, layer by layer: inputs ``v``, sums ``z``, outputs ``h``, scores ``s``.

    ``prefix`` stands before all of them where a script has several models.
    """
    outputs: list[Term] = []
    for index, item in enumerate(model.inputs):
        outputs.append(f"{prefix}v{who}.{index}")
        yield _defined(outputs[-1], input_term(people, who, item))
    for depth, layer in enumerate(model.layers, start=1):
        last = depth == len(model.layers)
        yield f"; {who}, layer {depth} of {len(model.layers)}: {'scores' if last else 'units'}"
        names = (
            scores(model, who, prefix=prefix)
            if last
            else [f"{prefix}h{who}.{depth}.{unit}" for unit in range(layer.width)]
        )
        for unit, name in enumerate(names):
            yield from _unit(layer, unit, outputs, name, f"{prefix}z{who}.{depth}.{unit}")
        outputs = names


def _unit(layer: Layer, unit: int, inputs: list[Term], name: Term, before: Term) -> Iterator[str]:
    weights = layer.weight.exact[unit]
    summands = [terms.product(w, term) for w, term in zip(weights, inputs, strict=True) if w]
    value = terms.total(summands, layer.bias.exact[unit])
    slope = layer.slope.exact[unit]
    if slope == 1:
        yield _defined(name, value)
        return
    yield _defined(before, value)
    below = "0.0" if slope == 0 else terms.product(slope, before)
    yield _defined(name, f"(ite (>= {before} 0.0) {before} {below})")


def _defined(name: Term, value: Term) -> str:
    return f"(define-fun {name} () Real {value})"
