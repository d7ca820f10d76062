"""Models as formulas against the definition of their decision, individual by individual."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fairdsl.backends.ssat.encode.model import End, ends, favourable_literal, require_favourable, unsupported
from fairdsl.backends.ssat.gates import FALSE, TRUE, Column, Gates, NotSingleError
from fairdsl.backends.ssat.options import PbEncoding
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import And, Member, Not, Or, Predicate, Relation, Variable, Who, opposite
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import ByHighest, ByThreshold, Curve, Layer, Model, linear_layer
from tests.builders import BOOLEAN, category, domain, integer, layer, linear, member, model, score
from tests.oracle import outcome, scores, true_for, values_of
from tests.ssat.extensions import at_point, columns_of, extensions, truth
from tests.strategies import COMPARISONS, SMALL, domains, models, predicates
from tests.tree_strategies import tree_models

METHODS = list(PbEncoding)


@st.composite
def problems(draw: st.DrawFn) -> tuple[Domain, Model]:
    """Sums of attributes and predicates, trees with and without anything else, and all relations."""
    people = draw(domains())
    drawn = tree_models(people, single_score=False) if draw(st.booleans()) else models(people, False, (0,))
    made = draw(drawn)
    assume(len(made.layers) == 1)
    if isinstance(made.rule, ByThreshold):
        made = replace(made, rule=replace(made.rule, relation=draw(COMPARISONS)))
    if made.one_of and draw(st.booleans()):
        # Trees alone: nothing else is weighed.
        kept = {position for group in made.one_of[: draw(st.integers(1, 2))] for position in group}
        rows = made.layers[0].weight.exact.tolist()
        weight = [[w if position in kept else Fraction(0) for position, w in enumerate(row)] for row in rows]
        made = replace(made, layers=(linear_layer(weight, made.layers[0].bias.exact.tolist()),))
    return people, replace(made, favourable=draw(st.integers(0, len(made.outcomes) - 1)))


@st.composite
def lone(draw: st.DrawFn) -> tuple[Domain, Model]:
    """A rule, or inputs about one column alone."""
    people = draw(domains())
    columns = people.attributes[:1] if draw(st.booleans()) else people.attributes
    inputs = [IndicatorInput(draw(predicates(columns)))]
    if len(columns) == 1:
        inputs += [AttributeInput(0), IndicatorInput(draw(predicates(columns)))]
    weight = [draw(SMALL) for _ in inputs]
    threshold = draw(SMALL)
    rule = ByThreshold(relation=draw(COMPARISONS), low=threshold, high=threshold, granted=1, otherwise=0)
    return people, Model(
        name="m",
        outcomes=("no", "yes"),
        inputs=tuple(inputs),
        layers=(linear_layer([weight], [draw(SMALL)]),),
        rule=rule,
        favourable=draw(st.integers(0, 1)),
    )


def points(people: Domain) -> list[tuple[Fraction, ...]]:
    return list(product(*(values_of(attribute.type) for attribute in people.attributes)))


@given(st.one_of(problems(), problems(), lone()), st.sampled_from(METHODS))
def test_the_literal_is_true_where_the_decision_is_favourable(case: tuple[Domain, Model], method: PbEncoding) -> None:
    people, made = case
    gates = Gates(method)
    columns = columns_of(gates, people)
    literal = favourable_literal(gates, made, columns)
    for point in points(people):
        found = extensions(gates, at_point(columns, point))
        assert len(found) == 1
        assert truth(found[0], literal) == (outcome(made, point) == made.favourable)


@given(st.one_of(problems(), problems(), lone()), st.booleans(), st.sampled_from(METHODS))
def test_a_demand_has_one_extension_where_it_is_met(
    case: tuple[Domain, Model], favourable: bool, method: PbEncoding
) -> None:
    people, made = case
    gates = Gates(method)
    columns = columns_of(gates, people)
    require_favourable(gates, made, columns, favourable)
    for point in points(people):
        met = (outcome(made, point) == made.favourable) == favourable
        assert len(extensions(gates, at_point(columns, point))) == met


@given(st.one_of(problems(), lone()), st.integers(1, 3))
def test_ends_of_a_threshold_enclose_it(case: tuple[Domain, Model], width: int) -> None:
    """Scores inside the interval are favourable at the HIGH end alone, on whichever side the favourable ones are."""
    people, made = case
    assume(isinstance(made.rule, ByThreshold))
    low, high = made.rule.low, made.rule.low + Fraction(width, 2)
    vague = replace(made, rule=replace(made.rule, high=high))
    assert (ends(made), ends(vague)) == ((End.LOW,), (End.LOW, End.HIGH))
    gates = Gates()
    columns = columns_of(gates, people)
    literals = [favourable_literal(gates, vague, columns, end) for end in End]
    relation = made.rule.relation
    for point in points(people):
        (extension,) = extensions(gates, at_point(columns, point))
        found = scores(made, point)[0]
        # Of thresholds strictly between, these see all that any sees of this score.
        near, tiny = (high - low) / 10**6, Fraction(1, 10**9)
        thresholds = [low + near, high - near, *([found - tiny, found + tiny] if low < found < high else [])]
        granted = [relation.compares(found, threshold) for threshold in thresholds]
        good = [
            made.rule.granted == made.favourable if each else made.rule.otherwise == made.favourable for each in granted
        ]
        least, most = (truth(extension, literal) for literal in literals)
        if relation in (Relation.EQ, Relation.NE):
            assert least <= all(good)
            assert most >= any(good)
        else:
            assert (least, most) == (all(good), any(good))


@given(st.one_of(problems(), lone()), st.booleans(), st.sampled_from(End))
def test_demands_at_an_end_say_what_its_literal_says(case: tuple[Domain, Model], favourable: bool, end: End) -> None:
    people, made = case
    if isinstance(made.rule, ByThreshold):
        made = replace(made, rule=replace(made.rule, high=made.rule.low + 1))
    one, two = Gates(), Gates()
    columns, others = columns_of(one, people), columns_of(two, people)
    literal = favourable_literal(one, made, columns, end)
    require_favourable(two, made, others, favourable, end)
    for point in points(people):
        (extension,) = extensions(one, at_point(columns, point))
        assert len(extensions(two, at_point(others, point))) == (truth(extension, literal) == favourable)


def test_ends_are_one_literal_where_no_score_is_between() -> None:
    people = domain(x=integer(0, 9), y=integer(0, 9))
    made = score([2, 4], relation=">", threshold=Fraction(13, 2))
    vague = replace(made, rule=replace(made.rule, high=Fraction(15, 2)))
    gates = Gates()
    columns = columns_of(gates, people)
    assert favourable_literal(gates, vague, columns, End.LOW) == favourable_literal(gates, vague, columns, End.HIGH)
    wider = replace(made, rule=replace(made.rule, high=Fraction(17, 2)))
    assert favourable_literal(gates, wider, columns, End.LOW) != favourable_literal(gates, wider, columns, End.HIGH)


def tree(people: Domain, ways: list[tuple[tuple[Predicate, ...], int]]) -> Model:
    """A decision tree: its paths, and 1 where the leaf is favourable."""
    rule = ByThreshold(relation=Relation.GT, low=Fraction(1, 2), high=Fraction(1, 2), granted=1, otherwise=0)
    return Model(
        name="tree",
        outcomes=("no", "yes"),
        inputs=tuple(IndicatorInput(And(way)) for way, _ in ways),
        layers=(linear_layer([[Fraction(good) for _, good in ways]], [Fraction(0)]),),
        rule=rule,
        favourable=1,
        groups=(tuple(range(len(ways))),),
    )


def test_a_tree_excludes_the_paths_to_its_other_leaves() -> None:
    """One clause a path, the tests of one attribute merged to a range, and no variable."""
    people = domain(x=integer(0, 9), y=integer(0, 9))
    low, mid, right = linear({0: 1}, "<=", 3), linear({0: 1}, "<=", 6), linear({1: 1}, "<=", 4)
    ways = [
        ((low,), 0),
        ((opposite(low), mid, right), 0),
        ((opposite(low), mid, opposite(right)), 1),
        ((opposite(low), opposite(mid)), 1),
    ]
    gates = Gates()
    columns = columns_of(gates, people)
    before = set(gates.clauses)
    require_favourable(gates, tree(people, ways), columns, True)
    x, y = columns[0].below, columns[1].below
    assert set(gates.clauses) - before == {(-x[3],), (x[3], -x[6], -y[4])}
    assert gates.variables == len(x) + len(y)
    literal = favourable_literal(gates, tree(people, ways), columns)
    assert gates.variables == literal == len(x) + len(y) + 1, "one variable for the whole tree"


def test_a_deep_tree_is_written_quickly() -> None:
    """4,096 leaves of 12 tests each."""
    people = domain(**{f"x{k}": integer(0, 63) for k in range(12)})
    ways: list[tuple[tuple[Predicate, ...], int]] = [((), 0)]
    for depth in range(12):
        grown = []
        for number, (way, _) in enumerate(ways):
            test = linear({(depth * 5 + number) % 12: 1}, "<=", (17 * number + 7 * depth) % 63)
            grown += [((*way, test), number % 2), ((*way, opposite(test)), (number + 1) % 2)]
        ways = grown
    made = tree(people, ways)
    gates = Gates()
    columns = columns_of(gates, people)
    start = time.process_time()
    require_favourable(gates, made, columns, True)
    assert time.process_time() - start < 2
    assert gates.variables == 12 * 63


def test_a_rule_in_conjunctive_form_is_its_clauses() -> None:
    people = domain(x=integer(0, 5), y=integer(0, 5), z=integer(0, 5))
    rule = And(
        (
            Or((linear({0: 1}, "<=", 2), linear({1: 1}, ">", 3))),
            Or((linear({1: 1}, "<=", 1), Not(linear({2: 1}, "<", 4)))),
        )
    )
    made = replace(score([1], relation=">", threshold=Fraction(1, 2)), inputs=(IndicatorInput(rule),))
    gates = Gates()
    columns = columns_of(gates, people)
    before, variables = set(gates.clauses), gates.variables
    require_favourable(gates, made, columns, True)
    assert len(set(gates.clauses) - before) == 2
    assert gates.variables == variables


def test_equal_predicates_share_a_literal() -> None:
    people = domain(x=integer(0, 3), y=integer(0, 3))
    same = [IndicatorInput(linear({0: 1, 1: 1}, ">", 3)) for _ in range(2)]
    made = replace(score([1, 1], relation=">=", threshold=1), inputs=tuple(same))
    gates, other = Gates(), Gates()
    columns = columns_of(gates, people)
    literal = favourable_literal(gates, made, columns)
    one = replace(score([1], relation=">=", threshold=1), inputs=(same[0],))
    assert literal == favourable_literal(other, one, columns_of(other, people))
    negated = replace(made, inputs=(same[0], IndicatorInput(Not(same[0].predicate))))
    assert favourable_literal(gates, negated, columns) == TRUE


def test_one_hot_codes_are_places_of_their_column() -> None:
    people = domain(job=category(3, 5, 9), x=integer(0, 3))
    codes = tuple(IndicatorInput(member(0, code)) for code in (3, 5, 9))
    made = replace(
        score([1, 4, 2, 1], relation=">=", threshold=3), inputs=(*codes, AttributeInput(1)), groups=((0, 1, 2),)
    )
    gates = Gates()
    columns = columns_of(gates, people)
    literal = favourable_literal(gates, made, columns)
    for point in points(people):
        (found,) = extensions(gates, at_point(columns, point))
        assert truth(found, literal) == (outcome(made, point) == 1)
    assert gates.variables == 2 + 3 + 1, "one node and no literal of a code"


def test_rule_lists_of_several_outcomes() -> None:
    """The first rule that fires decides: indicators "this one and none before", a score an outcome."""
    people = domain(x=integer(0, 4), y=integer(0, 4), z=BOOLEAN)
    rules = [
        (And((linear({0: 1}, ">", 2), member(2, 1))), 2),
        (Or((linear({1: 1}, "<", 2), linear({0: 1, 1: 1}, "=", 5))), 0),
        (linear({0: 1}, "=", 1), 1),
    ]
    first = [And((*(Not(rule) for rule, _ in rules[:k]), rules[k][0])) for k in range(len(rules))]
    first.append(And(tuple(Not(rule) for rule, _ in rules)))
    decided = [*(then for _, then in rules), 1]
    weight = [[Fraction(then == k) for then in decided] for k in range(3)]
    made = replace(
        score([0]),
        outcomes=("a", "b", "c"),
        inputs=tuple(IndicatorInput(each) for each in first),
        layers=(linear_layer(weight, [Fraction(0)] * 3),),
        groups=((0, 1, 2, 3),),
    )
    for favourable in range(3):
        asked = replace(made, rule=ByHighest(), favourable=favourable)
        gates = Gates()
        columns = columns_of(gates, people)
        literal = favourable_literal(gates, asked, columns)
        for point in points(people):
            (found,) = extensions(gates, at_point(columns, point))
            fires = next((then for rule, then in rules if true_for(rule, {Who.EACH: point})), 1)
            assert truth(found, literal) == (fires == favourable)


def test_numbers_of_a_column_need_single_places() -> None:
    gates = Gates()
    columns = columns_of(gates, domain(x=integer(0, 3), y=integer(0, 3)))
    columns[1] = replace(columns[1], single=(True, False, True, True))
    with pytest.raises(NotSingleError) as found:
        favourable_literal(gates, score([1, 1], threshold=2), columns)
    assert found.value.column == 1
    assert favourable_literal(gates, score([1, 0], threshold=2), columns) == -columns[0].below[2]
    with pytest.raises(NotSingleError):
        require_favourable(gates, score([0, 1], threshold=2), columns, True)


def test_models_that_are_not_written() -> None:
    made = score([1, 1])
    assert unsupported(made) is None
    hidden = model(layer([[1, 1]], [0]), layer([[1]], [0], 1), attributes=2)
    curved = Layer(
        weight=hidden.layers[0].weight, bias=hidden.layers[0].bias, slope=hidden.layers[0].slope, curves=(Curve.TANH,)
    )
    assert "hidden" in (unsupported(hidden) or "")
    assert "smooth" in (unsupported(replace(hidden, layers=(curved, hidden.layers[1]))) or "")
    with pytest.raises(ValueError, match="hidden"):
        favourable_literal(Gates(), hidden, {})


def test_constant_models() -> None:
    gates = Gates()
    columns = columns_of(gates, domain(x=integer(0, 3)))
    assert favourable_literal(gates, score([0], bias=1), columns) == TRUE
    assert favourable_literal(gates, score([0], bias=-1), columns) == FALSE
    require_favourable(gates, score([0], bias=1), columns, True)
    assert extensions(gates, [])
    require_favourable(gates, score([0], bias=1), columns, False)
    assert () in gates.clauses
    unused = Member(variable=Variable(0), values=frozenset())
    assert isinstance(columns[0], Column)
    never = replace(score([1], threshold=0), inputs=(IndicatorInput(unused),))
    assert favourable_literal(gates, never, columns) == FALSE
