"""Regions that are halved, individuals that are looked at alone, bounds that are kept: against brute force."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from fairdsl.backends.smt.case_bounds import Bounder
from fairdsl.backends.smt.cases import cases
from fairdsl.backends.smt.milp import place
from fairdsl.backends.smt.milp.branch import Search
from fairdsl.backends.smt.milp.certificate import Leaf, OrderSplit, PhaseSplit, Tree, ValueSplit, certified
from fairdsl.backends.smt.milp.cuts import cut_of
from fairdsl.backends.smt.milp.decide import Candidates
from fairdsl.backends.smt.milp.place import Enclosures, places
from fairdsl.backends.smt.milp.query import pair_query
from fairdsl.backends.smt.milp.sides import left_by_sides
from fairdsl.clock import Deadline
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.numerics.evaluate import BatchEvaluator
from tests.builders import BOOLEAN, domain, integer, layer, model, problem
from tests.drawing import examples
from tests.oracle import truth
from tests.smt.test_milp_agreement import meeting
from tests.strategies import problems

NETWORKS = problems(Quantity.HOLDS, widths=(0, 2, 3, 4))
GRID = [[1, 1, 0], [-1, 1, 0], [1, -1, 0], [-1, -1, 0]]


def peaks(bias: str) -> Problem:
    """Sums of units of sums of units; attribute 2 has a small weight of its own."""
    return problem(
        domain(x=integer(-20, 20), y=integer(-20, 20), group=integer(0, 4)),
        model(
            layer([*GRID, [0, 0, 1]], [3, -3, 2, -2, 0]),
            layer([[1, 1, -1, 0, 0], [0, 1, 1, -1, 0], [-1, 0, 1, 1, 0], [0, 0, 0, 0, "1/8"]], [1, 2, -1, 0]),
            layer([["1/4", "1/4", "1/4", 1]], [bias], 1),
            attributes=3,
        ),
        2,
    )


def cancelling() -> Problem:
    """|x| + |y| less the same once more: the score is always 1/4, and it takes splits to see."""
    ends = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]]
    network = model(
        layer([*ends, *ends], [0] * 8, "1/10"), layer([[1, 1, 1, 1, -1, -1, -1, -1]], ["1/4"], 1), attributes=3
    )
    return problem(domain(x=integer(-9, 9), y=integer(-9, 9), sex=BOOLEAN), network, 2)


def splits(tree: Tree) -> Iterator[Tree]:
    """All nodes but the leaves."""
    if not isinstance(tree, Leaf):
        yield tree
        yield from splits(tree.below)
        yield from splits(tree.above)


@settings(max_examples=examples(0.15))
@given(NETWORKS)
def test_halving_at_once_proves_nothing_false(asked: Problem) -> None:
    """With no patience at all every region is halved down to its single values."""
    violations = truth(asked).violations
    enclosures = Enclosures(*_network(asked))
    for case in cases(asked)[:4]:
        query, known = pair_query(asked, case), meeting(asked, violations, case, case.region)
        points = Candidates(asked, case, query)
        found = Search(query, None, points, Deadline.within(10), 3000, 0, enclosures).run(case.region)
        assert found.pair is None or found.pair in known
        if found.tree is not None:
            assert not (certified(query, case.region, found.tree, None, enclosures) and known)


@settings(max_examples=examples(0.7))
@given(NETWORKS)
def test_sides_leave_every_case_that_somebody_meets(asked: Problem) -> None:
    violations = truth(asked).violations
    every = cases(asked)
    left = left_by_sides(asked, every, Enclosures(*_network(asked)), seconds=10.0, least=1)
    assert all(case in left for case in every if meeting(asked, violations, case, case.region))
    assert all(case in every for case in left)


def test_where_all_are_decided_alike_sides_are_enough() -> None:
    asked = peaks("1/2")
    every = cases(asked)
    everybody = np.array(list(product(range(-20, 21), range(-20, 21), range(5))), dtype=np.float64)
    assert len(set(BatchEvaluator(asked.model).settled(everybody).decisions.tolist())) == 1
    assert len(every) == 20
    assert any(not Bounder(asked.model, case).bound([case.region])[0].settled for case in every)
    assert left_by_sides(asked, every, Enclosures(*_network(asked)), seconds=600.0) == []


def test_where_they_are_not_sides_refute_nothing() -> None:
    asked = peaks("-3")
    every = cases(asked)
    assert left_by_sides(asked, every, Enclosures(*_network(asked)), seconds=600.0) == list(every)


def test_few_cases_are_asked_of_pairs() -> None:
    asked = peaks("1/2")
    every = cases(asked)[:2]
    assert left_by_sides(asked, every, Enclosures(*_network(asked)), seconds=600.0) == list(every)


def test_an_impatient_search_halves_and_its_proof_is_checked() -> None:
    asked = cancelling()
    case = cases(asked)[0]
    query = pair_query(asked, case)
    kinds = {}
    for patience in (None, 1):
        enclosures = Enclosures(*_network(asked))
        found = Search(query, None, None, Deadline.within(600), 5000, patience, enclosures).run(case.region)
        assert found.tree is not None
        assert certified(query, case.region, found.tree, None, enclosures)
        assert certified(query, case.region, found.tree)  # computed anew
        kinds[patience] = {type(node) for node in splits(found.tree)}
    assert kinds[None] <= {PhaseSplit, OrderSplit}
    assert ValueSplit in kinds[1]


def test_the_widest_attribute_that_counts_is_cut_in_the_middle() -> None:
    asked = peaks("1/2")
    case = cases(asked)[0]
    query = pair_query(asked, case)
    cut = cut_of(query, places(query, [case.region])[0])
    assert cut is not None
    assert (cut.who, cut.attribute, cut.cut) in {("a", 0, -1), ("a", 1, -1)}
    single = case.region
    for attribute in (0, 1):
        single = single.with_values("a", attribute, type(single.a[attribute])(range(3, 4)))
    assert cut_of(query, places(query, [single])[0]) is None


def test_bounds_that_are_kept_are_those_that_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "_KEPT", 3)
    asked = peaks("1/2")
    layers, reads = _network(asked)
    products = [half.a for way in cases(asked)[0].region.halves() for half in way]
    kept = Enclosures(layers, reads)
    for few in (products[:2], products[1:3], products, products[:1] * 2):
        for sets, found in zip(few, kept.on(few), strict=True):
            (fresh,) = Enclosures(layers, reads).on([sets])
            assert np.array_equal(found.low, fresh.low)
            assert np.array_equal(found.high, fresh.high)
            for ours, theirs in zip(found.layers, fresh.layers, strict=True):
                # Several boxes at once are summed in another order: both enclose, within a few units in the last place.
                assert np.allclose(ours.low, theirs.low, rtol=1e-12, atol=1e-12)
                assert np.allclose(ours.high, theirs.high, rtol=1e-12, atol=1e-12)


def _network(asked: Problem):
    query = pair_query(asked, cases(asked)[0]) if cases(asked) else None
    return ((), ()) if query is None else (query.layers, query.reads)
