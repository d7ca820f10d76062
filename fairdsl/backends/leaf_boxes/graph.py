"""Trees and conditions as one reduced graph of tests, the children of each node before it.

A node tests one attribute and goes on to one of two others; a *terminal* ends the way. Nodes with the same test and
the same children are one node, and a test whose children are one is left out (Bryant, Graph-based algorithms for
Boolean function manipulation, IEEE Transactions on Computers 35, 1986). So two assignments of the protected attributes
that arrive at the same node are treated alike by all that is below it, which ends most of the work.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from fairdsl.backends.leaf_boxes.cuts import Cut, Test, test_of
from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate
from fairdsl.numerics.leaves import Leaves

#: In place of the attribute of a terminal.
TERMINAL = -1
#: The parts that pass a test: how many from the first, or their positions.
Passing = tuple[int, ...] | int


@dataclass(slots=True)
class Graph:
    """Node i tests whether the part of attribute ``attributes[i]`` is in ``passing[i]``, then ``yes[i]`` or ``no[i]``.

    Terminals follow themselves.
    """

    cuts: Sequence[Cut]
    attributes: list[int] = field(default_factory=list)
    passing: list[Passing] = field(default_factory=list)
    yes: list[int] = field(default_factory=list)
    no: list[int] = field(default_factory=list)
    terminals: dict[Hashable, int] = field(default_factory=dict)
    _known: dict[tuple[int, Passing, int, int], int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.attributes)

    def terminal(self, meaning: Hashable) -> int:
        """The terminal that stands for this."""
        if meaning not in self.terminals:
            self.terminals[meaning] = self._add(TERMINAL, 0, len(self), len(self))
        return self.terminals[meaning]

    def node(self, attribute: int, passing: Passing, yes: int, no: int) -> int:
        """The node with this test and these children; the child where the test makes no difference."""
        passed = passing if isinstance(passing, int) else len(passing)
        if yes == no or passed == len(self.cuts[attribute].parts):
            return yes
        if not passed:
            return no
        key = (attribute, passing, yes, no)
        if key not in self._known:
            self._known[key] = self._add(*key)
        return self._known[key]

    def graft(self, predicate: Predicate, yes: int, no: int) -> int:
        """A node that leads to ``yes`` where the predicate holds, and else to ``no``.

        ValueError for conditions on several attributes at once: callers look for them first.
        """
        match predicate:
            case And(parts):
                for part in reversed(parts):
                    yes = self.graft(part, yes, no)
                return yes
            case Or(parts):
                for part in reversed(parts):
                    no = self.graft(part, yes, no)
                return no
            case Not(part):
                return self.graft(part, no, yes)
            case Compare(left=Linear(terms=()) as left, relation=relation):
                return yes if relation.compares(left.constant, left.constant * 0) else no
            case Compare() | Member():
                return self._tested(predicate, yes, no)

    def tree(self, leaves: Leaves, number: int, leaf: Callable[[int], int]) -> int:
        """The root of a tree, in which ``leaf`` gives the terminal of the leaf at a position among the inputs."""
        ensemble, shape = leaves.ensemble, leaves.ensemble.shape
        root = int(shape.roots[number])
        mapped: dict[int, int] = {}
        for node in range(int(shape.ends[root]) - 1, root - 1, -1):  # children before their parents
            if shape.inner[node]:
                yes, no = mapped.pop(int(shape.yes[node])), mapped.pop(int(shape.no[node]))
                mapped[node] = self.graft(ensemble.predicate(node), yes, no)
            else:
                mapped[node] = leaf(int(leaves.positions[node]))
        return mapped[root]

    def _tested(self, predicate: Predicate, yes: int, no: int) -> int:
        found = test_of(predicate)
        if found is None:
            raise ValueError("a condition on several attributes at once")
        attribute, test, positive = found
        yes, no = (yes, no) if positive else (no, yes)
        return self.node(attribute, self._passing(attribute, test), yes, no)

    def _passing(self, attribute: int, test: Test) -> Passing:
        return self.cuts[attribute].passing(test)

    def _add(self, attribute: int, passing: Passing, yes: int, no: int) -> int:
        self.attributes.append(attribute)
        self.passing.append(passing)
        self.yes.append(yes)
        self.no.append(no)
        return len(self) - 1
