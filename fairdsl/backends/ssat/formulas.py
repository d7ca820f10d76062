"""A question about a law as SSAT instances.

With the keys chosen outermost, then the law's chances, then what the law leaves open, the value of

* ``favourable`` is the greatest over the keys of Pr[favourable and asked | keys], with everything open decided in
  its favour: the inner choices are made for each outcome of the chances by itself;
* ``unfavourable`` is the greatest of Pr[not favourable, or not asked | keys], with everything open decided against
  it. So 1 less its value at some keys is the least Pr[favourable and asked] there, and 1 less its greatest value the
  least of all keys. An innermost universal choice under the first formula would say the same;
* ``met`` and ``missed`` are the same two for the conditions alone, where some are not part of the law.

What is open are alternatives of parts, and thresholds that are known to lie between two numbers. Where nothing is,
the first two add up to 1 at all keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from fairdsl.backends.ssat.encode.law import lay_law
from fairdsl.backends.ssat.encode.model import ends, favourable_literal, require_favourable
from fairdsl.backends.ssat.encode.predicate import predicate_literal
from fairdsl.backends.ssat.gates import Gates, Literal
from fairdsl.backends.ssat.instance import Instance
from fairdsl.backends.ssat.law import Law
from fairdsl.backends.ssat.options import PbEncoding
from fairdsl.ir.model import Model

__all__ = ["Formulas"]


class Formulas:
    """The instances of a law.

    ``barred`` are cells of some of the keys, by the keys' places, that are not chosen together; ``sums``
    says how weighted sums become clauses. Instances are made
    when they are asked for; making one raises what :mod:`.encode.model` raises of numbers and sizes.
    """

    def __init__(
        self, law: Law, barred: Iterable[Mapping[int, int]] = (), sums: PbEncoding = PbEncoding.DIAGRAM
    ) -> None:
        self.law = law
        self._gates = Gates(sums)
        self._laid = lay_law(self._gates, law)
        self.keys = self._laid.keys
        for cells in barred:
            self._gates.require(*(literal for place, cell in cells.items() for literal in self.keys[place].but(cell)))
        bounds = ends(law.subject.model)
        #: Whether ``favourable`` and ``unfavourable`` do not add up to 1.
        self.open = self._laid.alternatives or len(bounds) > 1
        self._least, self._most = bounds[0], bounds[-1]

    def assumptions(self, cells: Mapping[int, int]) -> tuple[Literal, ...]:
        """The literals that put keys, by their places, at cells."""
        return tuple(literal for place, cell in cells.items() for literal in self.keys[place].at(cell))

    @cached_property
    def favourable(self) -> Instance:
        """Favourable, and what is asked beside it."""
        gates = self._gates.copy()
        require_favourable(gates, self._model, self._laid.columns, True, self._most)
        for literal in self._asked(gates):
            gates.require(literal)
        return gates.instance()

    @cached_property
    def unfavourable(self) -> Instance:
        """Not favourable, or not what is asked beside it."""
        gates = self._gates.copy()
        if self.law.asked:
            literal = favourable_literal(gates, self._model, self._laid.columns, self._least)
            gates.require(-literal, *(-each for each in self._asked(gates)))
        else:
            require_favourable(gates, self._model, self._laid.columns, False, self._least)
        return gates.instance()

    @cached_property
    def met(self) -> Instance:
        """The conditions that are asked."""
        gates = self._gates.copy()
        for literal in self._asked(gates):
            gates.require(literal)
        return gates.instance()

    @cached_property
    def missed(self) -> Instance:
        """Some of the conditions that are asked does not hold."""
        gates = self._gates.copy()
        gates.require(*(-literal for literal in self._asked(gates)))
        return gates.instance()

    @property
    def _model(self) -> Model:
        return self.law.subject.model

    def _asked(self, gates: Gates) -> list[Literal]:
        return [predicate_literal(gates, predicate, self._laid.columns) for predicate in self.law.asked]
