"""Formulas in conjunctive normal form, built gate by gate.

A gate is a *defined* variable: its clauses say both directions of its definition (two-sided Tseitin [Tseitin 1968]).
Theorem: for every assignment of the choices and chances there is exactly one extension to the defined variables that
satisfies all definitions; in it each variable has the truth of what it stands for. By induction in the order of
creation, since a definition speaks of earlier literals only. So definitions keep the number of models and the
weight of each, and defined variables may stand innermost in a prefix as existential ones: there is nothing to choose.

Constants never reach a clause: they are folded when a gate is made. Gates of the same definition are one variable.
Variables are numbered in the order of their creation, so the same calls make the same formula.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from fairdsl.backends.ssat.instance import Bound, Clause, Instance, Quantifier
from fairdsl.backends.ssat.options import PbEncoding

#: A variable or, negative, its negation; or one of the two constants.
Literal = int
TRUE: Final[Literal] = 1 << 60
FALSE: Final[Literal] = -TRUE


class Gates:
    """A growing formula: quantified variables, definitions, and required clauses.

    ``sums`` says how comparisons of weighted sums in it become clauses (:mod:`.encode.linear`).
    """

    def __init__(self, sums: PbEncoding = PbEncoding.DIAGRAM) -> None:
        self.sums = sums
        self._count = 0
        self._bounds: dict[int, Bound] = {}  # choices and chances, in order of creation
        self._definitions: dict[int, tuple[Clause, ...]] = {}
        self._companions: dict[int, int] = {}  # of a variable that is defined together with another: that one
        self._known: dict[Hashable, Literal] = {}
        self._required: dict[Clause, None] = {}
        self._names: dict[int, str] = {}

    @property
    def variables(self) -> int:
        """How many variables there are: 1 .. ``variables``."""
        return self._count

    @property
    def clauses(self) -> Iterator[Clause]:
        """All clauses: the definitions in order of creation, then what is required."""
        for clauses in self._definitions.values():
            yield from clauses
        yield from self._required

    def copy(self) -> Gates:
        """The same formula, which from here on grows by itself."""
        other = Gates(self.sums)
        other._count = self._count
        other._bounds, other._definitions = dict(self._bounds), dict(self._definitions)
        other._companions, other._known = dict(self._companions), dict(self._known)
        other._required, other._names = dict(self._required), dict(self._names)
        return other

    def choice(self, name: str, quantifier: Quantifier = Quantifier.EXISTS) -> Literal:
        """A new existential or universal variable."""
        variable = self._fresh()
        self._bounds[variable] = Bound(variable, quantifier)
        self._names[variable] = name
        return variable

    def chance(self, name: str, probability: Fraction) -> Literal:
        """A new random variable; of probability 0 or 1 there is none, but a constant."""
        if probability in (0, 1):
            return TRUE if probability else FALSE
        variable = self._fresh()
        self._bounds[variable] = Bound(variable, Quantifier.RANDOM, probability)
        self._names[variable] = name
        return variable

    def conjunction(self, literals: Iterable[Literal]) -> Literal:
        """The literal that is true iff all of these are."""
        parts = _distinct(literals)
        if parts is None:
            return FALSE
        if len(parts) <= 1:
            return parts[0] if parts else TRUE

        def clauses(gate: Literal) -> Iterator[Clause]:
            yield from ((-gate, part) for part in parts)
            yield (gate, *(-part for part in parts))

        return self.defined(("and", *parts), clauses)

    def disjunction(self, literals: Iterable[Literal]) -> Literal:
        """The literal that is true iff one of these is."""
        return -self.conjunction(-literal for literal in literals)

    def equivalent(self, left: Literal, right: Literal) -> Literal:
        """The literal that is true iff both have the same truth."""
        left, right = sorted((left, right), key=abs)
        if abs(right) == TRUE:
            return left if right == TRUE else -left
        if abs(left) == abs(right):
            return TRUE if left == right else FALSE
        sign = 1 if (left > 0) == (right > 0) else -1
        left, right = abs(left), abs(right)

        def clauses(gate: Literal) -> Iterator[Clause]:
            yield from ((-gate, -left, right), (-gate, left, -right), (gate, left, right), (gate, -left, -right))

        return sign * self.defined(("same", left, right), clauses)

    def select(self, condition: Literal, then: Literal, otherwise: Literal) -> Literal:
        """The literal that has the truth of ``then`` where the condition is true, else that of ``otherwise``."""
        if condition < 0:
            condition, then, otherwise = -condition, otherwise, then
        if condition == TRUE or then == otherwise:
            return then
        # Within a branch the condition is known.
        then = TRUE if then == condition else FALSE if then == -condition else then
        otherwise = FALSE if otherwise == condition else TRUE if otherwise == -condition else otherwise
        if then == -otherwise:
            return self.equivalent(condition, then)
        if abs(then) == TRUE:
            return (
                self.disjunction((condition, otherwise)) if then == TRUE else self.conjunction((-condition, otherwise))
            )
        if abs(otherwise) == TRUE:
            return self.disjunction((-condition, then)) if otherwise == TRUE else self.conjunction((condition, then))
        sign = 1 if then > 0 else -1
        then, otherwise = sign * then, sign * otherwise

        def clauses(gate: Literal) -> Iterator[Clause]:
            yield from ((-condition, -then, gate), (-condition, then, -gate))
            yield from ((condition, -otherwise, gate), (condition, otherwise, -gate))
            # Implied by these; unit propagation does not find them.
            yield from ((-then, -otherwise, gate), (then, otherwise, -gate))

        return sign * self.defined(("if", condition, then, otherwise), clauses)

    def defined(self, key: Hashable, clauses: Callable[[Literal], Iterable[Sequence[Literal]]]) -> Literal:
        """The variable of this key; the first time a new one, with the clauses that the function gives for it.

        The caller answers for the theorem: for every assignment of the other variables that satisfies their definitions
        exactly one truth of this one satisfies the clauses. They may have constants among their literals.
        """
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._fresh()
            simple = (_simplified(clause) for clause in clauses(known))
            self._definitions[known] = tuple(dict.fromkeys(clause for clause in simple if clause is not None))
        return known

    def defined_together(self, count: int, clauses: Iterable[Sequence[Literal]]) -> range:
        """``count`` new variables, from ``variables + 1`` on, that these clauses define all at once.

        The caller answers for the theorem, as with :meth:`defined`.
        """
        if count < 1:
            raise ValueError("there is nothing to define")
        new = range(self._count + 1, self._count + count + 1)
        self._count += count
        simple = (_simplified(clause) for clause in clauses)
        self._definitions[new[0]] = tuple(dict.fromkeys(clause for clause in simple if clause is not None))
        self._companions.update(dict.fromkeys(new[1:], new[0]))
        return new

    def require(self, *literals: Literal) -> None:
        """A clause: one of these must be true. Without literals nothing satisfies the formula."""
        clause = _simplified(literals)
        if clause is not None:
            self._required[clause] = None

    def instance(self, prefix: Sequence[Literal] = (), comments: Iterable[str] = ()) -> Instance:
        """The required clauses and the definitions that they rest on.

        ``prefix`` are choices and chances, outermost first; those that it leaves out follow in order of creation, and
        all defined variables come innermost. Definitions that no requirement leads to have no clauses: every
        assignment extends to them.
        """
        first = [literal for literal in prefix if abs(literal) != TRUE]
        if any(literal not in self._bounds for literal in first):
            raise ValueError("the prefix is of existential and random variables")
        outer = dict.fromkeys((*first, *self._bounds))
        inner = (number for number in range(1, self._count + 1) if number not in self._bounds)
        needed = self._needed()
        definitions = (clause for variable in sorted(needed) for clause in self._definitions.get(variable, ()))
        return Instance(
            variables=self._count,
            prefix=(
                *(self._bounds[variable] for variable in outer),
                *(Bound(variable, Quantifier.EXISTS) for variable in inner),
            ),
            clauses=tuple(dict.fromkeys((*definitions, *self._required))),
            names=dict(self._names),
            comments=tuple(comments),
        )

    def _needed(self) -> set[int]:
        """The variables that the required clauses lead to."""
        found: set[int] = set()
        stack = [abs(literal) for clause in self._required for literal in clause]
        while stack:
            variable = stack.pop()
            variable = self._companions.get(variable, variable)
            if variable not in found:
                found.add(variable)
                stack.extend(abs(literal) for clause in self._definitions.get(variable, ()) for literal in clause)
        return found

    def _fresh(self) -> int:
        self._count += 1
        return self._count


def _distinct(literals: Iterable[Literal]) -> tuple[Literal, ...] | None:
    """The literals of a conjunction without repetitions and constants, ordered; None if they contradict each other."""
    parts = set(literals)
    parts.discard(TRUE)
    if FALSE in parts or any(-part in parts for part in parts):
        return None
    return tuple(sorted(parts, key=_order))


def _simplified(literals: Iterable[Literal]) -> Clause | None:
    """A clause without repetitions and constants, ordered; None if it is always true."""
    parts = set(literals)
    parts.discard(FALSE)
    if TRUE in parts or any(-part in parts for part in parts):
        return None
    return tuple(sorted(parts, key=_order))


def _order(literal: Literal) -> tuple[int, bool]:
    return abs(literal), literal < 0


# ---- Columns in order encoding -------------------------------------------------------------------
# The values of a column are cut into *places*, ascending; each speaks for a part of a cell on which every predicate is
# constant. Literal ``below[k]`` is true iff the value is among the places 0 .. k. Since ``below[k]`` implies
# ``below[k + 1]``, exactly one place is taken in every assignment, and ``x <= 3`` and ``x > 5`` exclude each other
# without a clause. The places from ``first`` to ``last`` are taken iff ``below[last]`` and not ``below[first - 1]``.
#
# Theorem: :func:`among` is true iff the value is in one of the places. It is the disjunction of the runs of
# neighbours among them, or the negated disjunction of the runs between; both say the same, since every value has
# exactly one place.
#
# Sets of places are whole numbers, bit k for place k.


class NotSingleError(Exception):
    """Numbers of a column are asked for where a place is more than one number."""

    def __init__(self, column: int) -> None:
        super().__init__(f"column {column} has places of several values")
        self.column = column


@dataclass(frozen=True, slots=True)
class Column:
    """The places of a column: a ``value`` of each, whether it is the place's ``single`` one, and the order literals.

    ``values`` ascend and are distinct; ``below`` has one literal less. Whoever makes the literals answers for
    ``below[k]`` implying ``below[k + 1]`` in every assignment.
    """

    values: tuple[Fraction, ...]
    single: tuple[bool, ...]
    below: tuple[Literal, ...]

    def __post_init__(self) -> None:
        if not self.values or len(self.single) != len(self.values) or len(self.below) != len(self.values) - 1:
            raise ValueError("a column has a flag for each place, and an order literal for each but the last")
        if any(left >= right for left, right in zip(self.values, self.values[1:], strict=False)):
            raise ValueError("the places of a column ascend")

    @property
    def everywhere(self) -> int:
        """The set of all places."""
        return (1 << len(self.values)) - 1


def in_places(gates: Gates, below: Sequence[Literal], wanted: int) -> Literal:
    """The literal that is true iff the value is in one of the places, given the order literals of the column."""
    inside = list(runs(wanted))
    outside = list(runs(wanted ^ ((1 << (len(below) + 1)) - 1)))
    here, there = _cost(inside, len(below)), _cost(outside, len(below))
    # Of two that cost the same the one with the first place, so that a set and its complement share a variable.
    if there < here or (there == here and not wanted & 1):
        return -_union(gates, below, outside)
    return _union(gates, below, inside)


def runs(places: int) -> Iterator[tuple[int, int]]:
    """The runs of neighbours in a set of places: the first and the last place of each, ascending."""
    start = 0
    while places:
        gap = (places & -places).bit_length() - 1
        places >>= gap
        length = (~places & (places + 1)).bit_length() - 1
        yield start + gap, start + gap + length - 1
        places >>= length
        start += gap + length


def _cost(parts: Sequence[tuple[int, int]], last: int) -> tuple[int, int]:
    """Gates that a union of runs takes; a run at an end of the column takes none."""
    return sum(first > 0 and end < last for first, end in parts) + (len(parts) > 1), len(parts)


def _union(gates: Gates, below: Sequence[Literal], parts: Sequence[tuple[int, int]]) -> Literal:
    return gates.disjunction(
        gates.conjunction(
            (below[last] if last < len(below) else TRUE, -(below[first - 1] if first else FALSE)),
        )
        for first, last in parts
    )
