"""The residual formula under a partial assignment: propagation, components, and the way back.

Propagation makes only assignments and removals that keep the value:

* *unit*: a clause has one literal l left. If its variable is existential, the other truth gives 0, and the greater
  value is that of l. If it is random, the value is the weight of l times that under l, wherever the variable stands in
  the prefix: the other truth gives 0, and factors that are not negative pass through maxima, minima and means. If it
  is universal, the value is 0, since the smaller value counts.
* *pure*: the negation of l occurs no more. Whatever satisfies the formula without l satisfies it with l; values are
  monotone in that, so an existential l is made true and a universal one false.
* *definitions* that nothing uses any more are removed (see ``formula``).

Components. Clauses that share no variables, transitively, form components. **Theorem**: the value of a formula is the
product of the values of its components, under any prefix. *Proof* by induction over the variables of the prefix. With
none left it says that a conjunction holds where all its parts do. Let x be the outermost variable and F the component
it belongs to, with the product w of the values of the others. Under either truth of x, the formula consists of the
others and of F restricted, whose value is the product of its own components' values by the induction hypothesis; so the
formula's value there is w times F's. Since w is not negative and the same under both truths, it passes through the
maximum, minimum or mean at x. What x leaves is F's value at x, times w. Variables in no clause count with the factor
1. So a component may be solved with its own prefix, from its own outermost block inward.

A component is identified by its variables and its clauses: the literals of an open clause that are not among
the variables are false, so both together determine the residual formula, and nothing else does.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fairdsl.backends.ssat.engine.formula import EXISTS, FORALL, Formula, typecode

Mark: TypeAlias = tuple[int, int]
"""How many literals were assigned, and how many clauses closed: a state to go back to."""

#: A number above all sweeps.
_NEVER = 1 << 60


@dataclass(frozen=True, slots=True)
class Component:
    """Variables in ascending order, and the key that identifies the component: equal only for equal ones."""

    variables: list[int]
    key: bytes


class Residual:
    """A formula with some variables assigned. A clause is *open* unless a literal of it is true or it was removed."""

    __slots__ = (
        "_clause_seen",
        "_closed",
        "_code",
        "_formula",
        "_free",
        "_idle",
        "_open",
        "_seen",
        "_silent",
        "_sweep",
        "_trail",
        "_uses",
        "count",
        "truth",
    )

    def __init__(self, formula: Formula) -> None:
        self._formula = formula
        self._code = typecode(formula)
        self._free = [len(clause) for clause in formula.clauses]
        self._open = [True] * len(formula.clauses)
        self._uses = list(formula.uses)
        self._trail: list[int] = []
        self._closed: list[int] = []
        #: The latest sweep that came along, and _NEVER for what is assigned or closed: no sweep does.
        self._seen = [0] * (formula.variables + 1)
        self._clause_seen = [0] * len(formula.clauses)
        self._sweep = 0
        #: Of a literal: 1 true, -1 false, 0 not assigned.
        self.truth = [0] * (2 * formula.variables + 2)
        #: Of a literal: in how many open clauses it occurs.
        self.count = [len(indices) for indices in formula.occurs]
        #: Literals that occur no more, and definitions that are used no more, to be looked at.
        self._silent: list[int] = []
        self._idle: list[int] = []

    # ---- forth and back ----------------------------------------------------------------------

    def mark(self) -> Mark:
        """The present state: how many literals are assigned, and how many clauses closed."""
        return len(self._trail), len(self._closed)

    def since(self, mark: Mark) -> list[int]:
        """The literals that were assigned since an earlier state."""
        return self._trail[mark[0] :]

    def undo(self, mark: Mark) -> None:
        """Back to an earlier state."""
        assigned, closed = mark
        formula, truth, free, count, uses = self._formula, self.truth, self._free, self.count, self._uses
        while len(self._closed) > closed:
            index = self._closed.pop()
            self._open[index] = True
            self._clause_seen[index] = 0
            for literal in formula.clauses[index]:
                count[literal] += 1
            for variable in formula.used[index]:
                uses[variable] += 1
        while len(self._trail) > assigned:
            literal = self._trail.pop()
            truth[literal] = truth[-literal] = 0
            self._seen[abs(literal)] = 0
            for index in formula.occurs[-literal]:
                free[index] += 1

    def assume(self, literals: Iterable[int]) -> int:
        """Make literals true, with all that follows; the product of all their weights, or 0 for a contradiction.

        No weight is 0, so 0 says that the value is 0.
        """
        return self._propagate(list(literals))

    def decide(self, literal: int) -> int:
        """Make one literal true, with all that follows; the weights of what followed, without its own, or 0."""
        pending: list[int] = []
        consistent = self._assign(literal, pending)
        return self._propagate(pending, consistent=consistent)

    def settle(self) -> int:
        """At the beginning: literals that are certain, pure ones, definitions of no use; the factor, or 0."""
        formula = self._formula
        self._idle.extend(variable for variable in formula.defining if not self._uses[variable])
        self._silent.extend(
            literal
            for variable in range(1, formula.variables + 1)
            for literal in (variable, -variable)
            if not self.count[literal]
        )
        return self._propagate(list(formula.fixed))

    def _propagate(self, pending: list[int], *, consistent: bool = True) -> int:
        """Assign what is pending, and what follows, until nothing does; the product of the weights, or 0."""
        formula, truth, kind = self._formula, self.truth, self._formula.kind
        silent, idle = self._silent, self._idle
        factor = 1
        while consistent:
            if pending:
                literal = pending.pop()
                if not truth[literal]:
                    factor *= formula.weight[literal]
                    consistent = self._assign(literal, pending)
                else:
                    consistent = truth[literal] > 0
            elif idle:
                variable = idle.pop()
                if not truth[variable] and not self._uses[variable]:
                    for index in formula.defining[variable]:
                        if self._open[index]:
                            self._close(index)
            elif silent:
                literal = silent.pop()
                if not truth[literal] and self.count[-literal] and kind[abs(literal)] <= FORALL:
                    pending.append(-literal if kind[abs(literal)] == EXISTS else literal)
            else:
                return factor
        # What was noted is about an assignment that will be taken back.
        silent.clear()
        idle.clear()
        return 0

    def _assign(self, literal: int, pending: list[int]) -> bool:
        """Make a literal true; what follows from single clauses is appended. Whether no clause is false."""
        formula, truth, free, is_open = self._formula, self.truth, self._free, self._open
        truth[literal] = 1
        truth[-literal] = -1
        self._seen[abs(literal)] = _NEVER
        self._trail.append(literal)
        for index in formula.occurs[literal]:
            if is_open[index]:
                self._close(index)
        consistent = True
        # All clauses are counted down, whatever is found: `undo` counts all of them up.
        for index in formula.occurs[-literal]:
            left = free[index] = free[index] - 1
            if left < 2 and is_open[index]:
                last = next((other for other in formula.clauses[index] if not truth[other]), 0)
                if not last or formula.kind[abs(last)] == FORALL:
                    consistent = False
                else:
                    pending.append(last)
        return consistent

    def _close(self, index: int) -> None:
        """The clause needs nothing any more: it holds, or was removed. Notes what occurs no more, or is not used."""
        formula, count, uses = self._formula, self.count, self._uses
        self._open[index] = False
        self._clause_seen[index] = _NEVER
        self._closed.append(index)
        for literal in formula.clauses[index]:
            left = count[literal] = count[literal] - 1
            if not left:
                self._silent.append(literal)
        for variable in formula.used[index]:
            left = uses[variable] = uses[variable] - 1
            if not left:
                self._idle.append(variable)

    def urgency(self, variable: int) -> tuple[int, int, int, int]:
        """How much a decision goes on with those made: clauses that shrank, then all; definitions count less.

        A definition counts only where the variable that it defines has a truth, so that its inputs matter.
        """
        formula, is_open, free = self._formula, self._open, self._free
        demands = shrunk = defining = 0
        for index in formula.around[variable]:
            if is_open[index]:
                shrank = free[index] < len(formula.members[index])
                defined = formula.owner[index]
                if not defined:
                    demands += 1
                    shrunk += shrank
                elif self.truth[defined]:
                    defining += shrank
        return shrunk, defining, demands, self.count[variable] + self.count[-variable]

    # ---- components --------------------------------------------------------------------------

    def split(self, variables: Sequence[int]) -> tuple[list[int], list[Component]]:
        """Those among variables (ascending) that are in no clause any more, and the components of the others."""
        count, seen = self.count, self._seen
        self._sweep += 1
        sweep = self._sweep
        free, found = [], []
        for variable in variables:
            if seen[variable] >= sweep:
                continue
            if count[variable] or count[-variable]:
                found.append(self._component(variable))
            else:
                free.append(variable)
        return free, found

    def _component(self, start: int) -> Component:
        """The component of its least variable. The walk depends on the component alone, so its order is canonical."""
        seen, clause_seen, sweep = self._seen, self._clause_seen, self._sweep
        around, members = self._formula.around, self._formula.members
        variables, clauses = [start], []
        seen[start] = sweep
        for here in variables:  # which grows meanwhile
            for index in around[here]:
                if clause_seen[index] < sweep:
                    clause_seen[index] = sweep
                    clauses.append(index)
                    for other in members[index]:
                        if seen[other] < sweep:
                            seen[other] = sweep
                            variables.append(other)
        variables.sort()
        # Variables are at least 1, so the zero tells where the clauses begin.
        return Component(variables, array(self._code, [*variables, 0, *clauses]).tobytes())
