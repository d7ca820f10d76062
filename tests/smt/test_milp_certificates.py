"""The checker trusts nothing of a certificate: whatever is in it, it never proves what is false."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.smt.case_bounds import Bounder
from fairdsl.backends.smt.cases import cases
from fairdsl.backends.smt.milp.branch import Search
from fairdsl.backends.smt.milp.certificate import Leaf, OrderSplit, PhaseSplit, Tree, ValueSplit, certified
from fairdsl.backends.smt.milp.program import Unit
from fairdsl.backends.smt.milp.query import Query, pair_query
from fairdsl.clock import Deadline
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from tests.builders import BOOLEAN, domain, integer, layer, model, problem
from tests.drawing import examples
from tests.oracle import truth
from tests.smt.test_milp_agreement import meeting
from tests.strategies import problems

NETWORKS = problems(Quantity.HOLDS, widths=(2, 3, 4))
WILD = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300, 1e-300]


def arbitrary(query: Query, rng: np.random.Generator) -> Leaf:
    units = tuple(
        Unit(copy, depth, position)
        for copy in range(len(query.copies))
        for depth, hidden in enumerate(query.layers[:-1])
        for position in range(len(hidden.bias))
    )

    def numbers(count: int) -> np.ndarray:
        return np.where(rng.random(count) < 0.1, rng.choice(WILD, count), rng.normal(0, 3, count))

    return Leaf(numbers(len(query.targets.constants)), numbers(len(query.limits)), units, numbers(len(units)))


def arbitrary_tree(query: Query, region, rng: np.random.Generator, depth: int) -> Tree:
    """Splits and leaves at random; cuts and units may be nonsense."""
    if depth == 0 or rng.random() < 0.2:
        return arbitrary(query, rng)
    parts = [arbitrary_tree(query, region, rng, depth - 1) for _ in range(2)]
    match rng.integers(3):
        case 0:
            return PhaseSplit(Unit(int(rng.integers(2)), 0, int(rng.integers(3))), *parts)
        case 1:
            who, attribute = query.attributes[rng.integers(len(query.attributes))]
            return ValueSplit(who, attribute, Fraction(int(rng.integers(-3, 4))), *parts)
        case _:
            return OrderSplit(int(rng.integers(len(region.a))), *parts)


def mutated(tree: Tree, rng: np.random.Generator) -> Tree:
    """One certificate made from another: numbers changed, sides exchanged, one side put in the other's place."""
    if isinstance(tree, Leaf):
        how = rng.integers(4)
        if how == 0:
            return replace(tree, gradients=rng.permutation(tree.gradients))
        if how == 1:
            return replace(tree, gradients=tree.gradients * rng.normal(1, 1, tree.gradients.shape))
        if how == 2:
            return replace(tree, targets=np.abs(rng.normal(0, 1, tree.targets.shape)))
        return replace(tree, rows=np.abs(rng.normal(0, 1, tree.rows.shape)))
    below, above = tree.below, tree.above
    match rng.integers(5):
        case 0:
            return replace(tree, below=above, above=below)
        case 1:
            return replace(tree, above=below)
        case 2:
            return below
        case 3:
            return replace(tree, below=mutated(below, rng))
        case _:
            return replace(tree, above=mutated(above, rng))


@settings(max_examples=examples(0.7))
@given(NETWORKS, st.integers(0, 2**32 - 1))
def test_arbitrary_certificates_prove_nothing_false(asked: Problem, seed: int) -> None:
    rng = np.random.default_rng(seed)
    violations = truth(asked).violations
    for case in cases(asked)[:4]:
        query, pairs = pair_query(asked, case), meeting(asked, violations, case, case.region)
        for _ in range(8):
            tree = arbitrary_tree(query, case.region, rng, 3)
            assert not (certified(query, case.region, tree) and pairs)


@settings(max_examples=examples(0.5))
@given(NETWORKS, st.integers(0, 2**32 - 1))
def test_mutated_certificates_prove_nothing_false(asked: Problem, seed: int) -> None:
    """Proofs for a part of a region, changed or not, are offered for the whole one, in which there is a pair."""
    rng = np.random.default_rng(seed)
    violations = truth(asked).violations
    broken = [case for case in cases(asked) if meeting(asked, violations, case, case.region)]
    for case in broken[:2]:
        query = pair_query(asked, case)
        for half in [half for way in case.region.halves() for half in way][:4]:
            tree = Search(query, None, None, Deadline.within(5), 50).run(half).tree
            for _ in range(4 if tree is not None else 0):
                assert not certified(query, case.region, tree)
                tree = mutated(tree, rng)


#: |age| + |hours| less the same once more: the score is always 1/4, and it takes the signs of units to see.
PEOPLE = domain(age=integer(-9, 9), hours=integer(-9, 9), sex=BOOLEAN)
ENDS = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]]
NETWORK = model(layer([*ENDS, *ENDS], [0] * 8, "1/10"), layer([[1, 1, 1, 1, -1, -1, -1, -1]], ["1/4"], 1), attributes=3)


@pytest.fixture(scope="module")
def proof() -> Iterator[tuple]:
    asked = problem(PEOPLE, NETWORK, 2)
    for case in cases(asked):
        (bounded,) = Bounder(asked.model, case).bound([case.region])
        query = pair_query(asked, case)
        tree = Search(query, (bounded.a, bounded.b), None, Deadline.within(600), 5000).run(case.region).tree
        assert tree is not None
        if not isinstance(tree, Leaf):
            yield query, case.region, tree
            return
    raise AssertionError("every case is refuted without a split")


def test_a_proof_is_checked(proof: tuple) -> None:
    query, region, tree = proof
    assert certified(query, region, tree)
    assert leaves(tree) > 1


def test_every_leaf_is_needed(proof: tuple) -> None:
    """Without its multipliers, any leaf leaves the certificate without proof."""
    query, region, tree = proof
    nothing = Leaf(0 * query.targets.constants, 0 * query.limits, (), np.zeros(0))
    for number in range(leaves(tree)):
        assert not certified(query, region, _with_leaf(tree, number, nothing)[0])


def leaves(tree: Tree) -> int:
    return 1 if isinstance(tree, Leaf) else leaves(tree.below) + leaves(tree.above)


def _with_leaf(tree: Tree, number: int, leaf: Leaf) -> tuple[Tree, int]:
    """The tree with its leaf of that number replaced, and the number less the leaves that were passed."""
    if isinstance(tree, Leaf):
        return (leaf if number == 0 else tree), number - 1
    below, number = _with_leaf(tree.below, number, leaf)
    above, number = _with_leaf(tree.above, number, leaf)
    return replace(tree, below=below, above=above), number


def test_the_whole_of_a_side_is_not_the_side(proof: tuple) -> None:
    """A proof of one side proves nothing about both."""
    query, region, tree = proof
    assert not all(certified(query, region, part) for part in (tree.below, tree.above))


def test_nonsense_is_no_proof(proof: tuple) -> None:
    query, region, tree = proof
    leaf = Leaf(np.ones_like(query.targets.constants), 0 * query.limits, (), np.zeros(0))
    nonsense = [
        PhaseSplit(Unit(2, 0, 0), tree, tree),
        PhaseSplit(Unit(0, 2, 0), tree, tree),
        PhaseSplit(Unit(0, 0, 99), tree, tree),
        ValueSplit("c", 0, Fraction(3), tree, tree),
        ValueSplit("a", 99, Fraction(3), tree, tree),
        OrderSplit(0, tree, tree),
        replace(leaf, targets=np.ones(7)),
        replace(leaf, gradients=np.ones(3)),
        replace(leaf, units=(Unit(0, 0, -1),), gradients=np.ones(1)),
    ]
    for certificate in nonsense:
        assert not certified(query, region, certificate)


def test_only_empty_sides_need_no_proof(proof: tuple) -> None:
    query, region, tree = proof
    nothing = Leaf(0 * query.targets.constants, 0 * query.limits, (), np.zeros(0))
    assert certified(query, region, ValueSplit("a", 0, Fraction(-10), nothing, tree))
    assert certified(query, region, ValueSplit("a", 0, Fraction(9), tree, nothing))
    assert not certified(query, region, ValueSplit("a", 0, Fraction(-9), nothing, tree))
    assert not certified(query, region, ValueSplit("a", 0, Fraction(8), tree, nothing))
