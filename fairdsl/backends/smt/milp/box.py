"""Certificates that nobody above the threshold is compared with anybody below it, of boxes of a domain.

They are those of the branch and bound over the signs of units (:mod:`~fairdsl.backends.smt.milp.branch`), for whoever
checks them by means of their own: nothing is halved, and nothing but the values of a box restricts who is in it, with
the order of an attribute that has to differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.atoms import Atom
from fairdsl.backends.smt.cases import Case, cases
from fairdsl.backends.smt.milp.branch import Search
from fairdsl.backends.smt.milp.certificate import Tree
from fairdsl.backends.smt.milp.cuts import open_units
from fairdsl.backends.smt.milp.place import Enclosures, places
from fairdsl.backends.smt.milp.query import Query, pair_query
from fairdsl.backends.smt.region import Region
from fairdsl.backends.smt.ways import UnsplitError
from fairdsl.clock import Deadline
from fairdsl.ir.problem import Problem
from fairdsl.numerics.bounds import FloatLayer, float_layers
from fairdsl.numerics.narrow import ValueSet

#: Of boxes with more open units, for both together, nothing is tried, and with so many linear programs no more.
_WIDEST, _NODES = 80, 60


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """One way to be decided differently, of a model with one score: that of ``above`` is beyond the threshold."""

    above: str
    layers: tuple[FloatLayer, ...]
    _problem: Problem
    _case: Case
    _enclosures: Enclosures

    @property
    def widths(self) -> tuple[int, ...]:
        """How many units each layer has but the last."""
        return tuple(len(layer.bias) for layer in self.layers[:-1])

    def weights(self, targets: NDArray[np.float64]) -> tuple[float, float]:
        """How much the scores of a and b count in a mixture of the two conditions."""
        mixed = [
            [abs(float(getattr(atom, who)[0])) * weight for who in "ab"]
            for atom, weight in zip(self._case.atoms, targets.tolist(), strict=True)
        ]
        a, b = map(sum, zip(*mixed, strict=True))
        return a, b

    @classmethod
    def of(cls, problem: Problem) -> Boxes | None:
        """None where two are not decided differently by one score that is above a threshold and one that is not."""
        try:
            found = cases(problem)
        except UnsplitError:
            return None
        case = next((each for each in found if (_above(each.atoms)) is not None), None)
        if case is None or any(item.condition != case.condition for item in found):
            return None
        above = _above(case.atoms)
        assert above is not None
        layers = float_layers(found.problem.model)
        return cls(above, layers, found.problem, case, Enclosures(layers, found.problem.model.inputs))

    def tree(
        self, a: Sequence[ValueSet], b: Sequence[ValueSet], deadline: Deadline, *, margin: float = 0.0
    ) -> Tree | None:
        """A certificate for these values of the two, or None where a few linear programs find none.

        ``margin``: the two are refuted whose scores are off the threshold by no more than that.
        """
        region = Region(tuple(a), tuple(b), self._case.region.shared)
        query = _ordered(pair_query(self._problem, replace(self._case, region=region)))
        query = replace(query, targets=replace(query.targets, constants=query.targets.constants + margin))
        if open_units(query, places(query, [region], None, self._enclosures)[0]) > _WIDEST:
            return None
        return Search(query, None, None, deadline, _NODES, enclosures=self._enclosures).run(region).tree


def _above(atoms: Sequence[Atom]) -> str | None:
    """Who is above: the two conditions are of one score each, and turn it in opposite ways."""
    if len(atoms) != 2 or any(len(atom.a) != 1 for atom in atoms):
        return None
    rows = {who: [getattr(atom, who)[0] for atom in atoms] for who in "ab"}
    signs = {who: sum(row) for who, row in rows.items() if 0 in row}
    if len(signs) != 2 or signs["a"] * signs["b"] >= 0:
        return None
    return "a" if signs["a"] > 0 else "b"


def _ordered(query: Query) -> Query:
    """The query with no rows but those that say which value of an attribute is the smaller one."""
    kept = [row for rows in query.orders.values() for row in rows]
    return replace(
        query,
        rows=query.rows[kept],
        limits=query.limits[kept],
        always=np.zeros(len(kept), dtype=np.bool_),
        orders={attribute: (2 * at, 2 * at + 1) for at, attribute in enumerate(query.orders)},
    )
