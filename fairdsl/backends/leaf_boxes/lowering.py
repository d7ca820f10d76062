"""From a question about a model of trees to its graph of tests: what is shared, who is compared, what decides.

What is said of one attribute alone (``where``, the target) cuts its values; every other condition becomes a tree of
its own, with the terminals *in* and *out*. The protected attributes are replaced by each combination of their parts in
turn: an *assignment*. Two people in the same parts are decided alike, so a unit is unfair if and only if two comparable
assignments of it are decided differently (docs/semantics.md, section 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from fairdsl.backends.contract import Refusal, only_pairs
from fairdsl.backends.leaf_boxes.cuts import Cut, Part, Test, test_of
from fairdsl.backends.leaf_boxes.graph import Graph, Passing
from fairdsl.backends.leaf_boxes.scores import Decides, decides_of
from fairdsl.ir.expr import TRUE, Member, Predicate, atoms, conjoin
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, Quantity, SameDecision
from fairdsl.numerics.derived import Kept, derived
from fairdsl.numerics.grid import Grid
from fairdsl.numerics.leaves import Leaves
from fairdsl.numerics.narrow import Finite, narrow
from fairdsl.source import Span

#: The terminals of the condition that says who is in domain and target.
IN, OUT = "in", "out"
#: Combinations of leaves of a forest at most, as powers of two, of which all that meet are gone through: where shares
#: are counted, most meet nowhere; for a proof that no unit is unfair, which bounds of scores often give at once, fewer
#: are worth it. Shares of more are bounded box by box, where one number decides.
_COUNTED, _PROVED = 64, 24
#: Combinations of protected parts, and parts of an attribute that is tested for single values, at most.
_ASSIGNMENTS, _SINGLES = 4096, 62
#: Tests times assignments at most.
_ANSWERS = 2**23
_FOUND: Kept[Problem, tuple[Cut, ...]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """A problem as a graph; ``roots`` are [assignments][trees], and the last tree says who is in the target.

    ``assignments`` are the parts of the protected attributes; ``compared`` are the pairs of different ones in which two
    people are comparable (None: all of them), and ``inside`` says which assignments hold two such people themselves.
    ``cuts`` are those of all attributes; ``decides`` reads the terminals of the model's trees.
    """

    problem: Problem
    pair: Pair
    graph: Graph
    roots: tuple[tuple[int, ...], ...]
    assignments: tuple[tuple[int, ...], ...]
    compared: tuple[tuple[int, int], ...] | None
    inside: tuple[bool, ...]
    decides: Decides
    cuts: tuple[Cut, ...]


def refusal_of(problem: Problem) -> Refusal | None:
    """Why the question is not treated by going through the leaves of a few trees, or by bounding one score of many."""
    pair = problem.question
    if not isinstance(pair, Pair):
        return only_pairs(problem)
    refusal = _of_question(problem, pair) or refusal_of_trees(problem) or _of_size(problem, pair)
    return refusal or refusal_of_domain(problem, pair, _cuts)


def is_large(model: Model) -> bool:
    """Whether the leaves of the model's trees meet in too many ways to go through them."""
    return _power(model) > _COUNTED


def _power(model: Model) -> int:
    """So many combinations of leaves, as a power of two; 0 of one tree."""
    leaves = Leaves.of(model)
    sizes = [len(group) for group in leaves.groups] + [2] * len(_indicators(model, leaves))
    return (prod(sizes) - 1).bit_length() if len(sizes) > 1 else 0


def _of_question(problem: Problem, pair: Pair) -> Refusal | None:
    if not isinstance(pair.demand, SameDecision):
        return Refusal(why="it compares decisions, not scores", span=pair.span, other=True)
    if pair.relax:
        return Refusal(
            why="`within` and `regardless of` compare people in different leaves of the same tree", span=pair.span
        )
    if pair.pair_target != TRUE:
        return Refusal(why="conditions that name `a` or `b` are not about one individual", span=pair.span)
    if pair.sure:
        return Refusal(why="it does not know the model's confidence", span=pair.sure[0].span)
    wanted = conjoin(problem.domain.where, pair.target)
    return _of_tests([wanted], problem.domain.span, "a condition")


def refusal_of_trees(problem: Problem) -> Refusal | None:
    """Why a model is not a sum of trees whose tests are on one attribute each."""
    model, leaves = problem.model, Leaves.of(problem.model)
    weighed = model.layers[0].weight.nonzero
    for position in leaves.others.tolist():
        if not isinstance(model.inputs[position], IndicatorInput) and weighed[:, position].any():
            return Refusal(why="the model weighs numbers, it is not a tree", span=model.span)
    lone = [model.inputs[position] for position in _indicators(model, leaves)]
    tests = leaves.ensemble.different
    tests += [item.predicate for item in lone if isinstance(item, IndicatorInput)]
    if (refusal := _of_tests(tests, model.span, "a test of the model")) is not None:
        return refusal
    several = leaves.trees + len(lone) > 1
    if several and (len(model.layers) > 1 or not model.rational):
        return Refusal(why="layers behind several trees", span=model.span)
    return None if model.rational else Refusal(why="smooth units behind the tree", span=model.span)


def _of_size(problem: Problem, pair: Pair) -> Refusal | None:
    model, power, shares = problem.model, _power(problem.model), problem.quantity is not Quantity.HOLDS
    bounded = shares and _all_compared(pair) and model.layers[-1].bias.shape[0] <= 2
    if power > (most := _COUNTED if shares else _PROVED) and not bounded:
        return Refusal(why=f"2^{power} combinations of leaves; its limit is 2^{most}", span=model.span)
    return None


def refusal_of_domain(
    problem: Problem, pair: Pair, cuts_of: Callable[[Problem], tuple[Cut, ...]], *, several: bool = False
) -> Refusal | None:
    """Why there are too many parts, or parts that have no size; ``several``: pairs are compared one by one."""
    sets = narrow(problem.domain, pair.target)
    if any(values.count == 0 for values in sets):
        return None
    cuts = cuts_of(problem)
    for index, (attribute, values, cut) in enumerate(zip(problem.domain.attributes, sets, cuts, strict=True)):
        if not cut.ordered and len(cut.parts) > _SINGLES and index not in pair.differ:
            why = f"`{attribute.name}` falls into {len(cut.parts):,} parts; its limit is {_SINGLES}"
            return Refusal(why=why, span=attribute.span)
        unbounded = not isinstance(values, Finite) and (values.low is None or values.high is None)
        if unbounded and problem.quantity is not Quantity.HOLDS:
            return Refusal(why=f"`{attribute.name}` is unbounded, so it has no volume", span=attribute.span)
        if isinstance(values, Finite) and not Grid.representable(values):
            return Refusal(why=f"`{attribute.name}` has values that are not float64 numbers", span=attribute.span)
    count = prod(len(cuts[index].parts) for index in pair.differ)
    tests = Leaves.of(problem.model).ensemble.shape.nodes
    most = _ASSIGNMENTS if _all_compared(pair) and not several else _ASSIGNMENTS // 16
    if count > most or count * tests > _ANSWERS:
        return Refusal(why=f"{count:,} combinations of protected values that the model tells apart", span=pair.span)
    return None


def _of_tests(predicates: Iterable[Predicate], span: Span | None, what: str) -> Refusal | None:
    for predicate in predicates:
        for atom in _atoms(predicate):
            if test_of(atom) is None:
                return Refusal(why=f"{what} is on several attributes at once", span=span)
    return None


def _atoms(predicate: Predicate) -> Iterator[Predicate]:
    """The comparisons in a predicate that depend on an individual."""
    return (atom for atom in atoms(predicate) if isinstance(atom, Member) or atom.left.terms)


def _indicators(model: Model, leaves: Leaves) -> list[int]:
    """Positions of the indicators that are leaves of no tree and count: each is a tree of two leaves."""
    weighed = model.layers[0].weight.nonzero
    return [
        position
        for position in leaves.others.tolist()
        if isinstance(model.inputs[position], IndicatorInput) and weighed[:, position].any()
    ]


def _cuts(problem: Problem) -> tuple[Cut, ...]:
    """The cuts of all attributes, of value sets that are not empty: an offer finds them, and its answer has them."""
    return derived(problem, _cut, _FOUND)


def _cut(problem: Problem) -> tuple[Cut, ...]:
    pair = problem.question
    assert isinstance(pair, Pair), "other questions are refused"
    sets = narrow(problem.domain, pair.target)
    wanted = tests_of(problem.model, [conjoin(problem.domain.where, pair.target)], len(sets))
    return tuple(Cut.of(values, tests) for values, tests in zip(sets, wanted, strict=True))


def tests_of(model: Model, conditions: Sequence[Predicate], attributes: int) -> list[set[Test]]:
    """The tests of each attribute, in the model and in conditions; not those of several attributes at once."""
    leaves = Leaves.of(model)
    tests: list[set[Test]] = [set() for _ in range(attributes)]
    predicates = [*conditions, *leaves.ensemble.different]
    for position in _indicators(model, leaves):
        item = model.inputs[position]
        assert isinstance(item, IndicatorInput)
        predicates.append(item.predicate)
    for predicate in predicates:
        for atom in _atoms(predicate):
            if (found := test_of(atom)) is not None:
                tests[found[0]].add(found[1])
    return tests


def lower(problem: Problem, pair: Pair) -> Lowered:
    """The graph of a question that is not refused and has value sets that are not empty."""
    return lowered(problem, pair, _cuts(problem), conjoin(problem.domain.where, pair.target))


def lowered(problem: Problem, pair: Pair, cuts: tuple[Cut, ...], wanted: Predicate, *, scores: bool = False) -> Lowered:
    """The graph of a model and of a condition over such cuts; of one tree too as ``scores``."""
    graph = Graph(cuts)
    model, leaves = problem.model, Leaves.of(problem.model)
    count = leaves.trees + len(_indicators(model, leaves))
    decides = decides_of(model, max(2, count) if scores else count)
    roots = [graph.tree(leaves, tree, lambda at: graph.terminal(decides.leaf(at))) for tree in range(leaves.trees)]
    for position in _indicators(model, leaves):
        item = model.inputs[position]
        assert isinstance(item, IndicatorInput)
        yes, no = graph.terminal(decides.leaf(position)), graph.terminal(decides.absent)
        roots.append(graph.graft(item.predicate, yes, no))
    if not roots:  # a constant: whatever is tested, the same is decided
        roots.append(graph.terminal(decides.absent))
    roots.append(graph.graft(wanted, graph.terminal(IN), graph.terminal(OUT)))
    people = compared_people(cuts, pair)
    return Lowered(
        problem=problem,
        pair=pair,
        graph=graph,
        roots=_restricted(graph, roots, pair.differ, people.assignments),
        assignments=people.assignments,
        compared=people.compared,
        inside=people.inside,
        decides=decides,
        cuts=cuts,
    )


@dataclass(frozen=True, slots=True)
class ComparedPeople:
    """Combinations of parts of the protected attributes, and which of them are compared, as in :class:`Lowered`."""

    assignments: tuple[tuple[int, ...], ...]
    compared: tuple[tuple[int, int], ...] | None
    inside: tuple[bool, ...]


def compared_people(cuts: Sequence[Cut], pair: Pair) -> ComparedPeople:
    """Those of a question over attributes that are cut into such parts."""
    assignments = tuple(product(*(range(len(cuts[index].parts)) for index in pair.differ)))
    several = [[cuts[i].parts[part].several for i, part in zip(pair.differ, a, strict=True)] for a in assignments]
    return ComparedPeople(
        assignments=assignments,
        compared=None if _all_compared(pair) else compared_pairs(cuts, pair.differ, assignments),
        inside=tuple((any if pair.mode is Differ.ANY else all)(each) for each in several),
    )


def _all_compared(pair: Pair) -> bool:
    return pair.mode is Differ.ANY or len(pair.differ) == 1


def compared_pairs(
    cuts: Sequence[Cut], differ: Sequence[int], assignments: Sequence[tuple[int, ...]]
) -> tuple[tuple[int, int], ...]:
    """Pairs of different assignments that hold two people who differ in every protected attribute."""
    columns: list[tuple[Part, ...]] = [cuts[index].parts for index in differ]

    def comparable(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
        return all(x != y or parts[x].several for x, y, parts in zip(a, b, columns, strict=True))

    numbered = list(enumerate(assignments))
    return tuple((i, j) for i, a in numbered for j, b in numbered[i + 1 :] if comparable(a, b))


def _restricted(
    graph: Graph, roots: Sequence[int], differ: Sequence[int], assignments: Sequence[tuple[int, ...]]
) -> tuple[tuple[int, ...], ...]:
    """The roots that are left for each assignment: tests of protected attributes are answered by it.

    Nodes are gone through once, children first, for all assignments together: where no protected attribute is tested
    at or below a node, it stays as it is.
    """
    places = {attribute: place for place, attribute in enumerate(differ)}
    changed: dict[int, list[int]] = {}
    everybody = range(len(assignments))
    for node in range(len(graph)):
        attribute, yes, no = graph.attributes[node], graph.yes[node], graph.no[node]
        place = places.get(attribute)
        if place is None and yes not in changed and no not in changed:
            continue
        ways = list(zip(changed.get(yes, [yes] * len(everybody)), changed.get(no, [no] * len(everybody)), strict=True))
        if place is None:
            made = {way: graph.node(attribute, graph.passing[node], *way) for way in set(ways)}
            changed[node] = [made[way] for way in ways]
        else:
            passes = _passes(graph.passing[node], len(graph.cuts[attribute].parts))
            changed[node] = [way[0] if passes[a[place]] else way[1] for a, way in zip(assignments, ways, strict=True)]
    return tuple(tuple(changed[root][i] if root in changed else root for root in roots) for i in everybody)


def _passes(passing: Passing, count: int) -> list[bool]:
    if isinstance(passing, int):
        return [index < passing for index in range(count)]
    return [index in passing for index in range(count)]
