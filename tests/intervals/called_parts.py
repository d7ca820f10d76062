"""Parts of kernels as kernels of their own, to be called by tests; named and called as the parts are."""

from __future__ import annotations

from typing import Any

from fairdsl.backends.intervals.kernels import (
    bounds,
    extremes,
    fibres,
    groups,
    node,
    rows,
    slots,
    units,
)
from fairdsl.backends.intervals.kernels import law as law_of_sums
from fairdsl.numerics.kernels.compiled import exact

__all__ = [
    "activate",
    "analyse",
    "analyses_of_groups",
    "bound_groups",
    "choose_fibres",
    "compose",
    "derivative_range",
    "greatest",
    "law_without",
    "least",
    "least_within",
    "lines_of",
    "load_slot",
    "mass_inside",
    "mass_touching",
    "measure_spans",
    "relax",
    "row_bound",
    "row_least",
    "slopes_of_row",
]


@exact
def compose(net, work, first_move, count) -> Any:  # type: ignore[no-untyped-def]
    return bounds.compose(net, work, first_move, count)


@exact
def row_bound(layers, units, forms, back, target, layer, r, frontier, side, lower, record, count) -> Any:  # type: ignore[no-untyped-def]
    return rows.row_bound(layers, units, forms, back, target, layer, r, frontier, side, lower, record, count)


@exact
def relax(net, work, frontier, side, count, in_force, steps) -> Any:  # type: ignore[no-untyped-def]
    return bounds.relax(net, work, frontier, side, count, in_force, steps)


@exact
def row_least(net, work, layer, r, frontier, side, lower, record, count, in_force, steps) -> Any:  # type: ignore[no-untyped-def]
    return rows.row_least(net, work, layer, r, frontier, side, lower, record, count, in_force, steps)


@exact
def least(box, form, start, stop) -> Any:  # type: ignore[no-untyped-def]
    return extremes.least(box, form, start, stop)


@exact
def greatest(box, form, start, stop) -> Any:  # type: ignore[no-untyped-def]
    return extremes.greatest(box, form, start, stop)


@exact
def least_within(box, halves, in_force, form, offset, count, error, plain) -> Any:  # type: ignore[no-untyped-def]
    return extremes.least_within(box, halves, in_force, form, offset, count, error, plain)


@exact
def slopes_of_row(layers, units, forms, row, r, frontier, side, count, first_move) -> Any:  # type: ignore[no-untyped-def]
    return fibres.slopes_of_row(layers, units, forms, row, r, frontier, side, count, first_move)


@exact
def choose_fibres(shape, law, box, row, shared, count) -> Any:  # type: ignore[no-untyped-def]
    return fibres.choose_fibres(shape, law, box, row, shared, count)


@exact
def measure_spans(shape, law, box, mean) -> Any:  # type: ignore[no-untyped-def]
    return law_of_sums.measure_spans(shape, law, box, mean)


@exact
def law_without(shape, law, box, mean, left_out, cells) -> Any:  # type: ignore[no-untyped-def]
    return law_of_sums.law_without(shape, law, box, mean, left_out, cells)


@exact
def mass_touching(masses, top, step, slope, width, real, low, high, per_fibre) -> Any:  # type: ignore[no-untyped-def]
    return law_of_sums.mass_touching(masses, top, step, slope, width, real, low, high, per_fibre)


@exact
def mass_inside(masses, top, step, slope, width, real, low, high) -> Any:  # type: ignore[no-untyped-def]
    return law_of_sums.mass_inside(masses, top, step, slope, width, real, low, high)


@exact
def analyse(net, work, comparison, cells) -> Any:  # type: ignore[no-untyped-def]
    return node.analyse(net, work, comparison, cells)


@exact
def analyses_of_groups(net, work, comparison) -> Any:  # type: ignore[no-untyped-def]
    return groups.analyses_of_groups(net, work, comparison)


@exact
def bound_groups(net, work, comparison, cells) -> Any:  # type: ignore[no-untyped-def]
    return groups.bound_groups(net, work, comparison, cells)


@exact
def load_slot(net, work, tree, slot) -> Any:  # type: ignore[no-untyped-def]
    return slots.load_slot(net, work, tree, slot)


@exact
def lines_of(low, high, slope, curve) -> Any:  # type: ignore[no-untyped-def]
    return units.lines_of(low, high, slope, curve)


@exact
def derivative_range(low, high, slope, curve) -> Any:  # type: ignore[no-untyped-def]
    return units.derivative_range(low, high, slope, curve)


@exact
def activate(z, slope, curve) -> Any:  # type: ignore[no-untyped-def]
    return units.activate(z, slope, curve)
