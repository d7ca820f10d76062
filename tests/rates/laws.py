"""Random laws over few columns, and their masses by enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import strategies as st

from fairdsl.ir.population import Factor, Network
from tests.strategies import attributes
from tests.subset_sum.laws import masses, points

__all__ = ["masses", "random_laws"]


@st.composite
def _rows(draw: st.DrawFn, size: int) -> tuple[Fraction, ...]:
    weights = draw(st.lists(st.integers(0, 5), min_size=size, max_size=size).filter(any))
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


@st.composite
def random_laws(draw: st.DrawFn) -> Network:
    """Two to four columns; independent in about one of three, otherwise with up to two parents each."""
    count = draw(st.integers(2, 4))
    columns = tuple(draw(attributes(f"x{place}")) for place in range(count))
    cells = [points(column.values or ()) for column in columns]
    order = draw(st.permutations(range(count)))
    most = draw(st.sampled_from([0, 1, 2]))
    factors = []
    for place, column in enumerate(order):
        before = st.sampled_from(order[:place]) if place else st.nothing()
        parents = tuple(draw(st.lists(before, max_size=min(most, place), unique=True)))
        table = {
            key: draw(_rows(len(cells[column])))
            for key in product(*(range(len(cells[parent])) for parent in parents))
            if not parents or draw(st.integers(0, 9))
        }
        factors.append(Factor(column=column, parents=parents, rows=table))
    return Network(name="law", columns=columns, cells=tuple(cells), factors=tuple(factors))
