"""One way to break a demand, over what its terms are: decisions, how sure models are, sums of scores, conditions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from fairdsl.ir.expr import Linear, Predicate, Relation, Who, rename
from fairdsl.ir.question import Sure

#: A sum, and whether it is above 0 and not only at least 0.
Form = tuple[Linear, bool]
#: Who is decided about, and by which model.
Deciding = tuple[int, Who]

_OTHER = {Who.A: Who.B, Who.B: Who.A}


@dataclass(frozen=True, slots=True)
class Broken:
    """Decisions that are fixed, how sure models are of them, forms that are above 0 (or at least 0, where not strict),
    and what attributes meet.
    """

    outcomes: Mapping[Deciding, int] = field(default_factory=dict)
    sure: tuple[tuple[int, Sure], ...] = ()
    forms: tuple[Form, ...] = ()
    conditions: tuple[Predicate, ...] = ()

    def with_other(self, other: Broken) -> Broken | None:
        """Both together; None where they fix a decision differently."""
        if any(self.outcomes.get(key, outcome) != outcome for key, outcome in other.outcomes.items()):
            return None
        return Broken(
            {**self.outcomes, **other.outcomes},
            tuple(dict.fromkeys((*self.sure, *other.sure))),
            tuple(dict.fromkeys((*self.forms, *other.forms))),
            tuple(dict.fromkeys((*self.conditions, *other.conditions))),
        )

    @property
    def key(self) -> Hashable:
        """The same of ways that are met by the same pairs, whatever the order of their parts."""
        return tuple(frozenset(part) for part in (self.outcomes.items(), self.sure, self.forms, self.conditions))

    @property
    def exchanged(self) -> Broken:
        """The way with a and b exchanged."""
        return Broken(
            {(model, _OTHER[who]): outcome for (model, who), outcome in self.outcomes.items()},
            tuple((model, replace(sure, who=_OTHER[sure.who])) for model, sure in self.sure),
            tuple((form.renamed(_OTHER), strict) for form, strict in self.forms),
            tuple(rename(condition, _OTHER) for condition in self.conditions),
        )

    @property
    def needed(self) -> Broken:
        """The way without forms that others of it imply."""
        return replace(self, forms=tuple(one for one in self.forms if not any(_implies(o, one) for o in self.forms)))


def _implies(one: Form, other: Form) -> bool:
    """Whether the other is true, and another one, wherever the one is: the same sum with a greater constant."""
    (form, strict), (wider, strictly) = one, other
    if form.terms != wider.terms or one == other:
        return False
    return form.constant < wider.constant or (form.constant == wider.constant and strict and not strictly)


def sides(relation: Relation, up: Form, down: Form) -> Sequence[tuple[Form, ...]]:
    """The forms, one tuple a way, that say of a number how it compares with another one."""
    match relation:
        case Relation.GT | Relation.GE:
            return ((up,),)
        case Relation.LT | Relation.LE:
            return ((down,),)
        case Relation.NE:
            return ((up,), (down,))
        case Relation.EQ:
            return ((up, down),)
