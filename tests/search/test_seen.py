"""The set of what was tried: as Python's own sets, for keys of both kinds."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.search.sampling import Sampler
from fairdsl.backends.search.seen import Keys, Seen
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import TRUE
from tests.builders import BOOLEAN, category, domain, integer, real
from tests.drawing import examples

PACKED = domain(age=integer(-3, 200), job=category(7, -2, 40), sex=BOOLEAN, month=integer(1, 2))
WITH_REALS = domain(rate=real(-1, 1), sex=BOOLEAN)
TOO_LARGE = domain(**{f"x{index}": integer(-(10**6), 10**6) for index in range(4)})


def sampler_of(people: Domain) -> Sampler:
    return Sampler(people, TRUE, np.random.default_rng(0))


@settings(max_examples=examples(1))
@given(
    st.sampled_from([PACKED, WITH_REALS, TOO_LARGE]),
    st.lists(st.lists(st.integers(0, 400), max_size=40), max_size=12),
)
def test_new_rows_are_new_and_come_once(people: Domain, batches: list[list[int]]) -> None:
    sampler = sampler_of(people)
    pool = sampler.draw(401)
    keys, seen, known = Keys(sampler.columns), Seen(), set()
    for batch in batches:
        rows = pool[np.array(batch, dtype=np.int64)]
        plain = [tuple(row) for row in rows.tolist()]
        of = keys.of(rows)
        assert seen.contains(of).tolist() == [row in known for row in plain]
        new = seen.new(of).tolist()
        first = {row: place for place, row in reversed(list(enumerate(plain)))}
        assert new == sorted(place for row, place in first.items() if row not in known)
        seen.add(of[new])
        known.update(plain)
        assert len(seen) == len(known)


def test_every_individual_of_a_small_domain_has_its_own_number() -> None:
    sampler = sampler_of(domain(age=integer(-3, 5), job=category(7, -2, 40), sex=BOOLEAN))
    rows = np.array([[age, job, sex] for age in range(-3, 6) for job in (7, -2, 40) for sex in (0, 1)], dtype=float)
    keys = Keys(sampler.columns)
    assert keys.packed
    assert sorted(keys.of(rows).tolist()) == list(range(len(rows)))


def test_minus_zero_is_zero() -> None:
    keys = Keys(sampler_of(WITH_REALS).columns)
    assert not keys.packed
    one, other = keys.of(np.array([[0.0, 1.0], [-0.0, 1.0]])).tolist()
    assert one == other
