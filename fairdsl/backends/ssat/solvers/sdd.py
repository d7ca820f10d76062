"""Sentential decision diagrams: one choice outside of the chances, evaluated exactly (package `PySDD`).

Darwiche, *SDD: a new canonical representation of propositional knowledge bases*, IJCAI 2011; Oztok, Choi and
Darwiche, *Solving PP^PP-complete problems using knowledge compilation*, KR 2016 (constrained vtrees).

Theorem. Let the clauses, with the innermost choices quantified out, be compiled for a vtree that is constrained to
the variables X of the outermost block: on its right-most path lies a node such that the variables outside of it are
X. A decision node above it has primes over X alone, which part the assignments of X (none is empty), so its value is
the greatest value of its subs (X existential) or the least (X universal). Below that node there is no variable of X,
and the value is the sum over the elements of the value of the prime times that of the sub; a variable that does not
occur contributes p + (1 - p) = 1. A node over X alone that is not constant is worth 1, or 0 if X is universal.

The diagram is compiled in native code and evaluated with fractions.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from fairdsl.backends.ssat.instance import Instance, Quantifier
from fairdsl.backends.ssat.solvers.libraries import Valued


def evaluate(instance: Instance) -> Valued:
    """The value of an instance whose prefix the adapter accepts, and the outermost choice that attains it."""
    from pysdd.sdd import SddManager, Vtree

    blocks = [(quantifier, {bound.variable for bound in bounds}) for quantifier, bounds in instance.blocks]
    outer: set[int] = set() if blocks[0][0] is Quantifier.RANDOM else blocks[0][1]
    inner: set[int] = blocks[-1][1] if blocks[-1][0] is Quantifier.EXISTS else set()
    if outer:
        constrained = array("q", [0, *(int(variable in outer) for variable in range(1, instance.variables + 1))])
        vtree = Vtree(var_count=instance.variables, is_X_var=constrained, vtree_type="balanced")
    else:
        vtree = Vtree(var_count=instance.variables, vtree_type="balanced")
    manager = SddManager.from_vtree(vtree)
    root = manager.true()
    for clause in sorted(instance.clauses, key=lambda clause: max(map(abs, clause))):
        literals = manager.false()
        for literal in clause:
            literals = manager.disjoin(literals, manager.literal(literal))
        root = manager.conjoin(root, literals)
    for variable in sorted(inner):
        root = manager.exists(variable, root)
    chances = {bound.variable: bound.chance for bound in instance.prefix if bound.chance is not None}
    sides = _sides(manager.vtree(), outer)
    reading = _Reading(outer=outer, least=blocks[0][0] is Quantifier.FORALL, chances=chances, sides=sides)
    value = reading.value(root)
    return Valued(value, reading.choice(root) if outer and not reading.least else None)


@dataclass(slots=True)
class _Reading:
    """One pass over a diagram, children before parents; nodes and vtrees are the library's."""

    outer: set[int]
    least: bool
    chances: Mapping[int, Fraction]
    sides: Mapping[int, tuple[bool, bool]]
    values: dict[int, Fraction] = field(default_factory=dict)

    def value(self, root: Any) -> Fraction:
        """The value of the function that the node stands for."""
        waiting = [root]
        while waiting:
            node = waiting[-1]
            if node.id in self.values:
                waiting.pop()
                continue
            parts = [part for element in node.elements() for part in element] if node.is_decision() else []
            later = [part for part in parts if part.id not in self.values]
            if later:
                waiting += later
                continue
            self.values[node.id] = self._of(node)
            waiting.pop()
        return self.values[root.id]

    def choice(self, root: Any) -> dict[int, bool]:
        """Truths of the outermost block that attain the value, once that is known: down the best subs."""
        truths: dict[int, bool] = {}
        node = root
        while node.is_decision() and all(self.sides[node.vtree().position()]):
            prime, node = max(node.elements(), key=lambda element: self.values[element[1].id])
            self._satisfy(prime, truths)
        if not node.is_false():
            self._satisfy(node, truths)
        return {variable: truths.get(variable, False) for variable in sorted(self.outer)}

    def _satisfy(self, root: Any, truths: dict[int, bool]) -> None:
        """Add truths of the outermost block that satisfy a node over it; a node below it takes none."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node.is_literal():
                truths[abs(node.literal)] = node.literal > 0
            elif node.is_decision():
                waiting += next(element for element in node.elements() if not element[1].is_false())

    def _of(self, node: Any) -> Fraction:
        """The value of a node whose parts have theirs."""
        if node.is_true() or node.is_false():
            return Fraction(int(node.is_true()))
        if node.is_literal():
            return self._literal(node.literal)
        within, without = self.sides[node.vtree().position()]
        if not without:
            return Fraction(int(not self.least))
        values = [(self.values[prime.id], self.values[sub.id]) for prime, sub in node.elements()]
        if not within:
            return sum((prime * sub for prime, sub in values), Fraction(0))
        subs = [sub for _, sub in values]
        return min(subs) if self.least else max(subs)

    def _literal(self, literal: int) -> Fraction:
        variable = abs(literal)
        if variable in self.outer:
            return Fraction(int(not self.least))
        chance = self.chances[variable]
        return chance if literal > 0 else 1 - chance


def _sides(root: Any, outer: set[int]) -> dict[int, tuple[bool, bool]]:
    """By a vtree's position: whether it has variables of the outermost block, and whether others.

    Raises ValueError where primes would be over both.
    """
    order = [root]
    for vtree in order:
        if not vtree.is_leaf():
            order += [vtree.left(), vtree.right()]
    sides: dict[int, tuple[bool, bool]] = {}
    for vtree in reversed(order):
        if vtree.is_leaf():
            sides[vtree.position()] = (vtree.var() in outer, vtree.var() not in outer)
            continue
        left, right = sides[vtree.left().position()], sides[vtree.right().position()]
        sides[vtree.position()] = both = (left[0] or right[0], left[1] or right[1])
        if all(both) and left[1]:
            raise ValueError("the vtree is not constrained to the outermost block")
    return sides
