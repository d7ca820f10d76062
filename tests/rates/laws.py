"""Random laws over few columns, and their masses by enumeration."""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from fairdsl.ir.population import Factor, Network
from tests.strategies import attributes, shares
from tests.subset_sum.laws import masses, points

__all__ = ["masses", "random_laws"]


@st.composite
def random_laws(draw: st.DrawFn, columns_at_most: int = 4) -> Network:
    """Two columns or more; independent in about one of three, otherwise with up to two parents each."""
    count = draw(st.integers(2, columns_at_most))
    columns = tuple(draw(attributes(f"x{place}")) for place in range(count))
    cells = [points(column.values or ()) for column in columns]
    order = draw(st.permutations(range(count)))
    most = draw(st.sampled_from([0, 1, 2]))
    factors = []
    for place, column in enumerate(order):
        before = st.sampled_from(order[:place]) if place else st.nothing()
        parents = tuple(draw(st.lists(before, max_size=min(most, place), unique=True)))
        table = {
            key: draw(shares(len(cells[column])))
            for key in product(*(range(len(cells[parent])) for parent in parents))
            if not parents or draw(st.integers(0, 9))
        }
        factors.append(Factor(column=column, parents=parents, rows=table))
    return Network(name="law", columns=columns, cells=tuple(cells), factors=tuple(factors))
