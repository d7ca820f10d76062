"""Sums of groups against adding up, one assignment after the other."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

from hypothesis import given
from hypothesis import strategies as st

from fairdsl.backends.ssat.encode.linear import FALSE_NODE, TRUE_NODE, Exclusive, Group, Ordered, at_least, diagram_of
from fairdsl.backends.ssat.gates import FALSE, TRUE, Gates
from fairdsl.backends.ssat.options import PbEncoding
from fairdsl.ir.domain import Attribute
from fairdsl.ir.expr import Relation
from tests.builders import integer
from tests.ssat.extensions import at_value, column_of, extensions, truth

WEIGHTS = st.one_of(
    st.integers(-4, 4).map(Fraction),
    st.builds(Fraction, st.integers(-9, 9), st.sampled_from([2, 3, 7])),
    st.integers(-(10**30), 10**30).map(Fraction),
)
METHODS = list(PbEncoding)
#: By group a list of alternatives: the literals that choose it, and its weight.
Alternatives = list[list[tuple[list[int], Fraction]]]


@st.composite
def weighted(draw: st.DrawFn, numbers: st.SearchStrategy[Fraction] = WEIGHTS) -> list[tuple[str, list[Fraction]]]:
    """Kinds of groups and the weights of their alternatives."""
    kinds = draw(st.lists(st.sampled_from(["literal", "column", "exclusive"]), min_size=0, max_size=4))
    sizes = {"literal": st.just(1), "column": st.integers(1, 4), "exclusive": st.integers(1, 4)}
    found = []
    for kind in kinds:
        size = draw(sizes[kind])
        found.append((kind, draw(st.lists(numbers, min_size=size, max_size=size))))
    return found


def grouped(gates: Gates, groups: list[tuple[str, list[Fraction]]]) -> tuple[list[Group], Alternatives]:
    made: list[Group] = []
    alternatives: Alternatives = []
    for number, (kind, weights) in enumerate(groups):
        if kind == "literal":
            literal = gates.choice(f"l{number}") * (-1 if number % 2 else 1)
            made.append(Ordered.of(literal, weights[0]))
            alternatives.append([([literal], weights[0]), ([-literal], Fraction(0))])
        else:
            column = column_of(gates, Attribute(name=f"x{number}", type=integer(0, len(weights) - 1)))
            ways = [at_value(column, value) for value in column.values]
            alternatives.append(list(zip(ways, weights, strict=True)))
            if kind == "column":
                made.append(Ordered(column.below, tuple(weights)))
            else:
                literals = [gates.conjunction(way) for way in ways]
                made.append(Exclusive(tuple(zip(literals, weights, strict=True))))
    return made, alternatives


def _a_little_more(number: Fraction) -> Fraction:
    return number + Fraction(1, 1000)


@given(weighted(), st.sampled_from(Relation), st.data(), st.sampled_from(METHODS))
def test_a_comparison_is_true_where_the_sum_says_so(
    groups: list[tuple[str, list[Fraction]]], relation: Relation, data: st.DataObject, method: PbEncoding
) -> None:
    constant = data.draw(WEIGHTS)
    gates = Gates(method)
    made, alternatives = grouped(gates, groups)
    assignments = list(product(*alternatives))
    sums = sorted({constant + sum(weight for _, weight in chosen) for chosen in assignments})
    # Mostly a sum that some assignment has, or a little more.
    bound = data.draw(st.one_of(st.sampled_from(sums), st.sampled_from(sums).map(_a_little_more), WEIGHTS))
    if method is not PbEncoding.DIAGRAM and max(map(abs, sums)) > 10**12:
        return  # more than 64 bits once scaled; a test of its own says what happens
    literal = at_least(gates, constant, made, relation, bound)
    for chosen in assignments:
        total = constant + sum(weight for _, weight in chosen)
        models = extensions(gates, [each for way, _ in chosen for each in way])
        assert len(models) == 1
        assert truth(models[0], literal) == relation.compares(total, bound), (total, relation, bound)


@given(st.lists(st.lists(st.integers(-5, 9), min_size=1, max_size=4), max_size=5), st.integers(-12, 30))
def test_diagrams_are_right_and_reduced(groups: list[list[int]], bound: int) -> None:
    diagram = diagram_of(groups, bound, 10**6)
    assert diagram is not None
    functions = {FALSE_NODE: None, TRUE_NODE: None}
    for number, node in enumerate(diagram.nodes, start=2):
        assert all(child < number for child in node.children)
        assert len(set(node.children)) > 1, "all children are the same"
        key = (node.group, node.children)
        assert key not in functions.values(), "two nodes are the same function"
        functions[number] = key
    for places in product(*(range(len(weights)) for weights in groups)):
        at = diagram.root
        while at > TRUE_NODE:
            node = diagram.nodes[at - 2]
            at = node.children[places[node.group]]
        assert (at == TRUE_NODE) == (sum(w[p] for w, p in zip(groups, places, strict=True)) >= bound)


def test_equal_weights_make_a_counter() -> None:
    diagram = diagram_of([[0, 1]] * 20, 10, 10**6)
    assert diagram is not None
    # Of the bound k left and m groups left only 0 < k <= m are nodes: a counter's 10 * 11.
    assert len(diagram.nodes) == 110
    assert diagram_of([[0, 1]] * 20, 10, 100) is None


def test_intervals_merge_bounds_between_attainable_sums() -> None:
    """Of weights 2 ** k each bound is its own function, yet in a chain there is one node a group."""
    groups = [[0, 2**k] for k in reversed(range(60))]
    diagram = diagram_of(groups, 0x5A5A5A5A5A5A5A5, 10**6)
    assert diagram is not None
    assert len(diagram.nodes) <= 60


def test_bounds_between_which_no_sum_lies_have_one_literal() -> None:
    gates = Gates()
    groups = [Ordered.of(gates.choice(f"x{k}"), Fraction(3 * k, 7)) for k in range(1, 6)]
    first = at_least(gates, Fraction(0), groups, Relation.GT, Fraction(3))
    second = at_least(gates, Fraction(0), groups, Relation.GE, Fraction(22, 7))
    assert first == second


def test_clauses_of_a_node_show_that_it_is_defined() -> None:
    """Any with the node and any with its negation disagree on another variable, so no theory is needed to drop it."""
    gates = Gates()
    columns = [column_of(gates, Attribute(name=f"x{k}", type=integer(0, 30))) for k in range(2)]
    choices = gates.variables
    groups = [Ordered(column.below, tuple(value * value for value in column.values)) for column in columns]
    at_least(gates, Fraction(0), groups, Relation.GE, Fraction(500))
    assert gates.variables > choices
    for node in range(choices + 1, gates.variables + 1):
        own = [set(clause) for clause in gates.clauses if max(map(abs, clause)) == node]
        for one in (clause - {node} for clause in own if node in clause):
            for other in (clause - {-node} for clause in own if -node in clause):
                assert any(-literal in other for literal in one)


def test_what_no_sum_can_be_is_never_equal() -> None:
    gates = Gates()
    groups = [Ordered.of(gates.choice(name), Fraction(2)) for name in "ab"]
    for bound in (Fraction(3), Fraction(5, 2), Fraction(-1, 3)):
        assert at_least(gates, Fraction(0), groups, Relation.EQ, bound) == FALSE
        assert at_least(gates, Fraction(0), groups, Relation.NE, bound) == TRUE
    one = at_least(gates, Fraction(0), groups, Relation.EQ, Fraction(2))
    assert [truth(model, one) for model in extensions(gates, [1, -2])] == [True]
    assert [truth(model, one) for model in extensions(gates, [1, 2])] == [False]


def test_nothing_to_add() -> None:
    gates = Gates()
    assert at_least(gates, Fraction(2), [], Relation.GE, Fraction(2)) == TRUE
    assert at_least(gates, Fraction(2), [], Relation.GT, Fraction(2)) == FALSE
    assert at_least(gates, Fraction(2), [], Relation.NE, Fraction(2)) == FALSE
    same = Exclusive(tuple((gates.choice(name), Fraction(5)) for name in "ab"))
    assert at_least(gates, Fraction(0), [same], Relation.EQ, Fraction(5)) == TRUE


def _hard(gates: Gates) -> list[Group]:
    return [Ordered.of(gates.choice(f"x{k}"), Fraction(10**6 + 7919 * k * k % 65537)) for k in range(14)]


def test_a_diagram_that_is_too_large_gives_way_to_an_adder() -> None:
    one, two = Gates(), Gates(PbEncoding.ADDER)
    given_way = at_least(one, Fraction(0), _hard(one), Relation.GE, Fraction(7 * 10**6 + 99999), edges=50)
    adder = at_least(two, Fraction(0), _hard(two), Relation.GE, Fraction(7 * 10**6 + 99999))
    assert given_way == adder
    assert list(one.clauses) == list(two.clauses)


@given(weighted(st.integers(-3, 3).map(Fraction)), st.integers(-6, 6).map(Fraction), st.sampled_from(METHODS))
def test_the_number_of_models_stays(
    groups: list[tuple[str, list[Fraction]]], bound: Fraction, method: PbEncoding
) -> None:
    gates = Gates(method)
    made, alternatives = grouped(gates, groups)
    at_least(gates, Fraction(0), made, Relation.GE, bound)
    count = prod(len(ways) for ways in alternatives)
    assert len(extensions(gates, [], most=count + 1)) == count
