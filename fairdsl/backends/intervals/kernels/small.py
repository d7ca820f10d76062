"""Small boxes: every unit and every compared assignment evaluated, with a bound for the rounding error."""

from __future__ import annotations

from fairdsl.backends.intervals.kernels.layout import TABLE, Floats, Layers, Net, Paths, Shape, Work
from fairdsl.backends.intervals.kernels.node import FALSIFIED, VIOLATING, VIOLATING32
from fairdsl.backends.intervals.kernels.units import activate
from fairdsl.backends.intervals.kernels.vectors import copy_into
from fairdsl.numerics.kernels.compiled import part

_SURE, _NEVER, _DOUBT = 1, 0, 2


@part
def count_box(net: Net, work: Work, low, high, comparison: int) -> None:  # type: ignore[no-untyped-def]
    """Shares of a box of lattice and table positions by evaluation, into ``work.result``.

    A unit is unfair when two compared assignments surely decide differently, fair when all surely decide
    alike; what rounding leaves open counts as neither.
    """
    position = work.scratch.position
    copy_into(position, low)
    units = 0
    maybe = 0
    surely = 0
    maybe32 = 0
    while True:
        units += 1
        verdict, verdict32 = _unit(net, work, position, comparison)
        maybe += verdict != _NEVER
        surely += verdict == _SURE
        maybe32 += verdict32 != _NEVER
        attribute = 0
        while attribute < len(position):
            if position[attribute] < high[attribute]:
                position[attribute] += 1
                break
            position[attribute] = low[attribute]
            attribute += 1
        if attribute == len(position):
            break
    work.result[VIOLATING] = maybe / units
    work.result[FALSIFIED] = surely / units * (1.0 - 1e-15)
    work.result[VIOLATING32] = max(maybe, maybe32) / units


@part
def _unit(net: Net, work: Work, position, comparison: int) -> tuple[int, int]:  # type: ignore[no-untyped-def]
    """Whether one unit is treated unfairly: for exact arithmetic and for the deployed float32 file."""
    decided = -1
    doubt = False
    doubt32 = False
    unlike = False
    for group in range(net.paths.group_start[comparison], net.paths.group_start[comparison + 1]):
        _evaluate(net.layers, net.paths, net.shape, work.scratch.hidden, position, group)
        outcome, close = _winner(net, work, False)
        _, close32 = _winner(net, work, net.layers.error32[0] >= 0.0)
        doubt = doubt or close
        doubt32 = doubt32 or close32
        if not close:
            if decided >= 0 and outcome != decided:
                unlike = True
            decided = outcome
    if unlike:
        return _SURE, _SURE
    return (_DOUBT if doubt else _NEVER), (_DOUBT if doubt or doubt32 else _NEVER)


@part
def _evaluate(layers: Layers, paths: Paths, shape: Shape, hidden: Floats, position, group: int) -> None:  # type: ignore[no-untyped-def]
    """All rows of one individual into ``hidden[0]``."""
    last = len(layers.widths) - 1
    for p in range(layers.widths[1]):
        value = paths.groups[group, p]
        row = p * layers.widths[0]
        for attribute in range(len(shape.kinds)):
            if shape.kinds[attribute] == TABLE:
                value += layers.weight[row + shape.first[attribute] + position[attribute]]
            else:
                value += layers.weight[row + shape.first[attribute]] * position[attribute]
        hidden[0, p] = value if last == 1 else activate(value, layers.slope[p], layers.curve[p])
    for layer in range(2, last + 1):
        below = layers.widths[layer - 1]
        first = layers.unit[layer - 1]
        for p in range(layers.widths[layer]):
            value = layers.bias[first + p]
            row = layers.at[layer - 1] + p * below
            for q in range(below):
                value += layers.weight[row + q] * hidden[0, q]
            hidden[1, p] = value if layer == last else activate(value, layers.slope[first + p], layers.curve[first + p])
        for p in range(layers.widths[layer]):
            hidden[0, p] = hidden[1, p]


@part
def _winner(net: Net, work: Work, in_float32: bool) -> tuple[int, bool]:
    """The outcome of the rows in ``hidden[0]``, and whether it is in doubt; for one row 1 where it is granted."""
    layers = net.layers
    rows = layers.widths[len(layers.widths) - 1]
    beaten = work.scratch.beaten
    beaten[:] = 0
    for r in range(rows):
        slack = net.forward_error + (layers.error32[r] if in_float32 else 0.0)
        low = work.scratch.hidden[0, r] + layers.margin[r, 0] - slack
        high = work.scratch.hidden[0, r] + layers.margin[r, 1] + slack
        # A tie that is known exactly goes to the first of the two, unless the comparison is strict.
        tie = low == 0.0 == high
        strict = net.strict and rows == 1
        first_wins = low > 0.0 or (tie and not strict)
        second_wins = high < 0.0 or (tie and strict)
        if rows == 1:
            return (1 if first_wins else 0), not (first_wins or second_wins)
        if first_wins:
            beaten[layers.rivals[r, 1]] = 1
        elif second_wins:
            beaten[layers.rivals[r, 0]] = 1
    best = -1
    for outcome in range(len(beaten)):
        if not beaten[outcome]:
            if best >= 0:
                return 0, True
            best = outcome
    return best, False
