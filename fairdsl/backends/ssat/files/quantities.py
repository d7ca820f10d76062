"""The numbers that a metric is made of: what an inquiry asks of a solver, written down instead of answered.

Every one is the value of a formula (:mod:`fairdsl.backends.ssat.formulas`) with all keys fixed, or, where the extreme
groups are asked for, with the keys fixed that define no groups. It is ``factor`` times the value of an instance in
the normal form of :mod:`fairdsl.backends.ssat.solvers.plain`; with nothing left of the instance it is known. The
``digest`` of an instance names it: answers are to the instance that has it, and to no other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256

from fairdsl.backends.groups import question_of, subjects_of
from fairdsl.backends.ssat.engine import Solution, Statistics
from fairdsl.backends.ssat.formulas import Formulas
from fairdsl.backends.ssat.instance import Instance
from fairdsl.backends.ssat.law import Law
from fairdsl.backends.ssat.options import Groups, PbEncoding
from fairdsl.backends.ssat.questions import Cells, Inquiry, learns
from fairdsl.backends.ssat.sdimacs import sdimacs_of
from fairdsl.backends.ssat.solvers.plain import Plain, plain
from fairdsl.ir.problem import Problem
from fairdsl.replay import rows_counted

__all__ = ["Asking", "Quantity", "asked_of", "digest_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """The value of ``formula`` with keys at ``cells`` (by their places; a missing one is chosen by the solver).

    ``names`` are those of the variables of the normal form.
    """

    formula: str
    cells: Mapping[int, int]
    left: Plain
    names: Mapping[int, str]

    @property
    def digest(self) -> str:
        """Of its instance."""
        return digest_of(self.left.instance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What is asked about one subject.

    ``learned``: the extreme groups. ``masses`` are Pr[key, conditions in the law] by the cells of the keys.
    ``quantity_at`` has the place among ``quantities`` by formula and the cells of all
    keys, where every group is asked by itself. ``open``: the law leaves something open, so that the two formulas
    do not add up to 1; ``asked``: some condition is part of the formulas.
    """

    learned: bool
    quantities: tuple[Quantity, ...]
    masses: Mapping[Cells, Fraction]
    quantity_at: Mapping[tuple[str, Cells], int]
    open: bool
    asked: bool


def asked_of(problem: Problem, groups: Groups | None, sums: PbEncoding) -> tuple[Asking, ...]:
    """What there is to be asked, law by law; raises what making formulas raises of numbers and sizes."""
    question, population = question_of(problem), problem.population
    assert population is not None, "there is a distribution"
    counts = rows_counted(question, population, problem.model)
    found = []
    for subject in subjects_of(problem):
        law = Law(subject)
        inquiry = _Recorded(question, law, counts=counts, sums=sums)
        found.append(inquiry.asking(learns(question, law, groups)))
    return tuple(found)


def digest_of(instance: Instance) -> str:
    """A name for an instance, whatever is said about it."""
    bare = Instance(variables=instance.variables, prefix=instance.prefix, clauses=instance.clauses)
    return sha256(sdimacs_of(bare).encode()).hexdigest()


class _Recorded(Inquiry):
    """Notes what is asked, and answers that nothing is known."""

    def asking(self, learned: bool) -> Asking:
        """Everything that is asked, in the order in which it is."""
        self._learned = learned
        self._recorded: list[Quantity] = []
        self._places: dict[tuple[str, tuple[int, ...]], int] = {}
        self._formulas: Formulas | None = None
        if learned:
            self.learned()
        else:
            self.enumerated()
        masses = self.masses()
        return Asking(
            learned=learned,
            quantities=tuple(self._recorded),
            masses=masses,
            quantity_at=dict(self._by_cells(masses)),
            open=self._formulas is not None and self._formulas.open,
            asked=bool(self.law.asked),
        )

    def solved(self, formulas: Formulas, name: str, assumptions: Sequence[int]) -> Solution:
        """Unknown."""
        instance: Instance = getattr(formulas, name)
        left = plain(instance, assumptions)
        truths = {abs(literal): literal > 0 for literal in assumptions}
        subject = self.law.subject
        cells = {
            place: key.cell_in(truths)
            for place, key in enumerate(formulas.keys)
            if not (self._learned and subject.keys[place] in self.question.across)
        }
        if not self._learned:
            self._places[name, _alike(formulas, tuple(cells.values()))] = len(self._recorded)
        names = {new: instance.names[old] for new, old in enumerate(left.numbers, start=1) if old in instance.names}
        self._formulas = formulas
        self._recorded.append(Quantity(formula=name, cells=cells, left=left, names=names))
        # Without a reason, so that it is taken for all groups that nothing tells apart.
        return Solution(low=Fraction(0), high=Fraction(1), choice=None, reason=None, statistics=Statistics())

    def _by_cells(self, masses: Iterable[Cells]) -> Iterator[tuple[tuple[str, Cells], int]]:
        """Where every group is asked by itself, the place of what is known of it."""
        if self._formulas is not None and not self._learned:
            for cells in masses:
                alike = _alike(self._formulas, cells)
                for formula in dict.fromkeys(formula for formula, _ in self._places):
                    if (formula, alike) in self._places:
                        yield (formula, cells), self._places[formula, alike]


def _alike(formulas: Formulas, cells: Cells) -> tuple[int, ...]:
    """The same for cells that nothing tells apart."""
    return tuple(key.classes[cell] for key, cell in zip(formulas.keys, cells, strict=True))
