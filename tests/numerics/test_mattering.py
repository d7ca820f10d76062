"""Tables that do not matter: without them a product has the same sums over what is read."""

from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from fairdsl.numerics.elimination import mattering

_COLUMNS = 4
#: A table's columns, the one whose distribution it is, and its numbers by the cells, of which each column has two.
_Drawn = tuple[tuple[int, ...], int | None, dict[tuple[int, ...], Fraction]]


@st.composite
def _tables(draw: st.DrawFn) -> list[_Drawn]:
    """A distribution of each column, a whole one or not, and conditions."""
    found: list[_Drawn] = []
    for column in range(_COLUMNS):
        parents = tuple(draw(st.sets(st.integers(0, column - 1), max_size=2))) if column else ()
        numbers: dict[tuple[int, ...], Fraction] = {}
        whole = draw(st.booleans())
        for cells in product(range(2), repeat=len(parents)):
            chance = Fraction(draw(st.integers(0, 4)), 4)
            lost = Fraction(1, 1 if whole else 2)
            numbers |= {(*cells, 0): chance * lost, (*cells, 1): (1 - chance) * lost}
        found.append(((*parents, column), column if whole else None, numbers))
    for _ in range(draw(st.integers(0, 2))):
        axes = tuple(sorted(draw(st.sets(st.integers(0, _COLUMNS - 1), min_size=1, max_size=2))))
        found.append(
            (axes, None, {cells: Fraction(draw(st.integers(0, 1))) for cells in product((0, 1), repeat=len(axes))})
        )
    return found


def _sums(tables: list[_Drawn], read: tuple[int, ...]) -> dict[tuple[int, ...], Fraction]:
    """The sums of the product by the cells of what is read, over the columns that the tables have, or are read."""
    columns = sorted({column for axes, _, _ in tables for column in axes}.union(read))
    found: dict[tuple[int, ...], Fraction] = {}
    for cells in product((0, 1), repeat=len(columns)):
        at = dict(zip(columns, cells, strict=True))
        mass = Fraction(1)
        for axes, _, numbers in tables:
            mass *= numbers[tuple(at[axis] for axis in axes)]
        key = tuple(at[column] for column in read)
        found[key] = found.get(key, Fraction(0)) + mass
    return found


@given(_tables(), st.sets(st.integers(0, _COLUMNS - 1)))
def test_what_does_not_matter_changes_no_sum(tables: list[_Drawn], read: set[int]) -> None:
    kept = [tables[place] for place in mattering([(axes, child) for axes, child, _ in tables], read)]
    assert _sums(kept, tuple(sorted(read))) == _sums(tables, tuple(sorted(read)))


def test_leaves_that_nothing_reads_go_one_after_the_other() -> None:
    scopes = [((0,), 0), ((0, 1), 1), ((1, 2), 2)]
    assert mattering(scopes, ()) == []
    assert mattering(scopes, (1,)) == [0, 1]
