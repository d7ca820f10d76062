"""PySAT's encodings: that the two which are used keep the number of models, which upstream does not promise."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.backends.ssat.encode.linear import TooLargeError, sum_reaches
from fairdsl.backends.ssat.gates import FALSE, TRUE, Gates
from tests.ssat.extensions import extensions, truth

TERMS = st.lists(
    st.tuples(
        st.one_of(st.integers(1, 5), st.integers(-5, -1), st.sampled_from([TRUE, FALSE])),
        st.one_of(st.integers(-5, 9), st.sampled_from([60, -1000, 10**9])),
    ),
    max_size=6,
)


@pytest.mark.parametrize("encoding", ["adder", "mixedradix"])
@given(terms=TERMS, data=st.data())
def test_every_assignment_has_one_extension(encoding: str, terms: list[tuple[int, int]], data: st.DataObject) -> None:
    gates = Gates()
    for number in range(5):
        gates.choice(f"x{number}")
    totals = {}
    for values in product([False, True], repeat=5):
        of = dict(enumerate(values, start=1))
        totals[values] = sum(weight for literal, weight in terms if truth(of, literal))
    bound = data.draw(st.one_of(st.sampled_from(sorted(set(totals.values()))), st.integers(-20, 40)))
    literal = sum_reaches(gates, terms, bound, encoding)
    for values, total in totals.items():
        models = extensions(gates, [number if value else -number for number, value in enumerate(values, start=1)])
        assert len(models) == 1
        assert truth(models[0], literal) == (total >= bound)


def test_weights_of_more_than_64_bits_are_refused() -> None:
    gates = Gates()
    terms = [(gates.choice("x"), 2**61), (gates.choice("y"), 3)]
    with pytest.raises(TooLargeError, match="61 bits"):
        sum_reaches(gates, terms, 5, "adder")
    assert sum_reaches(gates, terms, 2**62, "adder") == FALSE
