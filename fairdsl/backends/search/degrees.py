"""How true a formula is, as a number that a search steers by: negative where it is false.

Of a comparison it is the distance from its border, of a decision the distance of the score from another one, of a
conjunction the least of its parts (Fainekos and Pappas, *Robustness of temporal logic specifications*, 2006). Nothing
is decided by it; what is found is replayed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.demand import Chance, Decision, Demanded, Magnitude
from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, Relation, Variable, Who, conjoin

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: How true a decision is that lies on its border.
_BORDER = 1e-12
_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Outputs:
    """What one model makes of members [n, k], roughly."""

    scores: Floats  # [n, k], the first score
    decisions: Integers  # [n, k]
    margins: Floats  # [n, k]
    odds: Mapping[Chance, Floats]  # [n, k], the logits of the probabilities that the demand names


@dataclass(frozen=True)
class Tuples:
    """Tuples among members: the j-th of each row has the ``places[who][j]``-th member as ``who``."""

    asked: Demanded
    members: Floats  # [n, k, attributes]
    outputs: tuple[Outputs, ...]
    places: Mapping[Who, Integers]  # [m] each

    def kept(self) -> Floats:
        """How true it is that the demand is kept, [n, m]: not broken, or not about them."""
        with np.errstate(all="ignore"):
            formula = self._degree(self.asked.formula)
            premise = conjoin(self.asked.pair.pair_target, self.asked.premise)
            if premise != And(()):
                formula = np.maximum(formula, -self._degree(premise))
            found: Floats = np.nan_to_num(formula, nan=np.inf)
        return found

    @cached_property
    def _shape(self) -> tuple[int, int]:
        return len(self.members), len(next(iter(self.places.values())))

    def _degree(self, predicate: Predicate) -> Floats:
        match predicate:
            case And(parts):
                return reduce(np.minimum, map(self._degree, parts), np.full(self._shape, np.inf))
            case Or(parts):
                return reduce(np.maximum, map(self._degree, parts), np.full(self._shape, -np.inf))
            case Not(part):
                return -self._degree(part)
            case Member(variable=variable, values=values):
                inside = np.isin(self._number(variable), [float(value) for value in values])
                near = self._near(predicate)
                return np.where(inside, 1.0, -1.0) * (1.0 if near is None else near)
            case Compare(left=left, relation=relation):
                if (odds := self._odds(left)) is not None:
                    return _distance(odds, relation)
                total, near = self._total(left), self._near(predicate)
                distance = _distance(total, relation)
                if near is None:
                    return distance
                # All numbers are whole here, so rounding leaves nothing open.
                true = distance >= 0 if relation.compares(_ZERO, _ZERO) else distance > 0
                return np.where(true, near, -near)

    def _number(self, variable: Variable) -> Floats:
        term = self.asked.term(variable)
        if isinstance(term, Magnitude):
            return np.abs(self._total(term.form))
        who = self.places[variable.who]
        if term is None:
            return self.members[:, who, variable.attribute]
        outputs = self.outputs[term.model]
        if isinstance(term, Chance):
            return 1 / (1 + np.exp(-outputs.odds[term][:, who]))
        if isinstance(term, Decision):
            ranks = np.array(term.ranks, dtype=np.float64)
            return ranks[np.maximum(outputs.decisions, 0)][:, who]
        return outputs.scores[:, who]

    def _odds(self, form: Linear) -> Floats | None:
        """Of one probability beside a number the distance of the logits, which tells more than that of the two."""
        if len(form.terms) != 1:
            return None
        ((variable, factor),) = form.terms
        term, level = self.asked.term(variable), -form.constant / factor
        if not isinstance(term, Chance) or not 0 < level < 1:
            return None
        odds = self.outputs[term.model].odds[term][:, self.places[variable.who]]
        above: Floats = odds - np.log(float(level / (1 - level)))
        return above if factor > 0 else -above

    def _total(self, form: Linear) -> Floats:
        found = np.full(self._shape, float(form.constant))
        for variable, factor in form.terms:
            found += float(factor) * self._number(variable)
        return found

    def _near(self, atom: Compare | Member) -> Floats | None:
        """The distance of the nearest score from another decision; None where no decision plays a part."""
        used = [atom.variable] if isinstance(atom, Member) else [variable for variable, _ in atom.left.terms]
        found = [
            self.outputs[term.model].margins[:, self.places[variable.who]]
            for variable in used
            if isinstance(term := self.asked.term(variable), Decision)
        ]
        return reduce(np.minimum, found) + _BORDER if found else None


def _distance(value: Floats, relation: Relation) -> Floats:
    """How far ``value RELATION 0`` is from its border, negative where it is false."""
    match relation:
        case Relation.EQ:
            return -np.abs(value)
        case Relation.NE:
            return np.abs(value)
        case Relation.LT | Relation.LE:
            return -value
        case Relation.GT | Relation.GE:
            return value
