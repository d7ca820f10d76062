"""The encodings ``sdimacs``, ``mcc`` and ``dimacs``: one file for each number that a metric is made of.

All three write what :mod:`fairdsl.backends.ssat.questions` would ask. Counters have no choice to make, so ``mcc`` and
``dimacs`` ask about every group by itself; ``sdimacs`` asks for the extreme groups where there are many of them, or
where that is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from fairdsl.backends.contract import Observer, Offer, Refusal
from fairdsl.backends.encoding import Answer, Encoding, Lowered, Solving
from fairdsl.backends.groups import question_of, subjects_of
from fairdsl.backends.solved import Asked, Solved
from fairdsl.backends.ssat.encode.pseudo_boolean import TooLargeError
from fairdsl.backends.ssat.files.answered import ContradictionError, value_from
from fairdsl.backends.ssat.files.answers import answer_of_count, answer_of_value, answer_of_weight
from fairdsl.backends.ssat.files.formats import Written, as_dimacs, as_mcc, as_sdimacs
from fairdsl.backends.ssat.files.quantities import Asking, Quantity, asked_of
from fairdsl.backends.ssat.files.solve import Read, solve_text, solve_value
from fairdsl.backends.ssat.files.words import combined, comments, meaning, name_of, ratio, slugs_of
from fairdsl.backends.ssat.formulas import Formulas
from fairdsl.backends.ssat.instance import Instance
from fairdsl.backends.ssat.law import Law
from fairdsl.backends.ssat.offer import offer
from fairdsl.backends.ssat.options import Groups, SsatOptions
from fairdsl.backends.ssat.questions import learns
from fairdsl.backends.ssat.sdimacs import read_count, read_sdimacs
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.metrics.subject import Subject
from fairdsl.options import Options
from fairdsl.verdict import Evidence, Reason, Refused, Unknown, Value

__all__ = ["Dimacs", "Mcc", "Sdimacs"]

#: Groups, strata and values of the label, each of which would have its file.
_FILES = 4096


class _Files(Encoding):
    """What the three have in common."""

    meaning: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "value": "each answer is a number; `quantities` says which, and `combined` how they become the metric",
            "unknown": "a file without an answer leaves its number between 0 and 1",
        }
    )
    options = frozenset({"memory", "output", "ssat.solver"})
    reads = frozenset({"ssat.pb_encoding"})
    _write: Callable[..., Written]
    _parse: Read
    _read: Callable[[str, Mapping[str, Any]], Answer]

    def __init__(self, options: SsatOptions | None = None) -> None:
        self._options = options or SsatOptions()

    def under(self, options: Options) -> _Files:
        """The same, with these options of the backend."""
        return type(self)(options[SsatOptions])

    @property
    def _groups(self) -> Groups | None:
        """Counters have no choice to make."""
        return Groups.ENUMERATE

    def offer(self, problem: Problem) -> Offer | Refusal:
        """What the backend answers, as far as it makes formulas and files of a size to be had."""
        found = offer(problem)
        if isinstance(found, Refusal):
            return found
        question = question_of(problem)
        for subject in subjects_of(problem):
            law, sizes = Law(subject), [len(subject.network.cells[column]) for column in subject.keys]
            keys = prod(sizes)
            if keys > _FILES and not learns(question, law, self._groups):
                return Refusal(why=f"there would be a file for each of {keys:,} groups", span=question.span)
            if not any(law.mass(cells) for cells in product(*map(range, sizes))):
                continue  # there is nobody, and nothing to be asked
            try:
                formulas = Formulas(law, sums=self._options.pb_encoding)
                _ = formulas.favourable, formulas.unfavourable
            except TooLargeError as error:
                return Refusal(why=str(error), span=problem.model.span)
        return Offer(method="instances of stochastic satisfiability", decides=True)

    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """The files of all laws, named after the property and the group."""
        population = problem.population
        assert isinstance(population, Network), "an encoding that refused is not asked"
        subjects, askings = subjects_of(problem), asked_of(problem, self._groups, self._options.pb_encoding)
        found = _Found(
            problem=problem,
            asked=asked,
            population=population,
            form=self.name,
            extension=self.extension,
            write=type(self)._write,
        )
        for law, (subject, asking) in enumerate(zip(subjects, askings, strict=True)):
            for quantity in asking.quantities:
                found.add(law, subject, asking, quantity)
        names = [[each["name"] for each in found.quantities if each["law"] == law] for law in range(len(subjects))]
        return Lowered(
            files=found.files,
            settled_by=(tuple(found.files),),
            described=found.described,
            quantities=tuple(found.quantities),
            combined=combined(question_of(problem), subjects, askings, names, population),
        )

    def solve(self, path: Path, how: Solving, observer: Observer) -> Solved:
        """By the embedded solver, or the one that was named."""
        return solve_value(path, self.name, how, observer, type(self)._parse)

    def solve_written(self, name: str, content: bytes, how: Solving, observer: Observer) -> Solved:
        """The same of a file that :meth:`lower` gave, and that nobody has written."""
        return solve_text(content.decode(), Path(name), self.name, how, observer, type(self)._parse)

    def evidence(self, problem: Problem) -> Evidence:
        """What a verdict from answers rests on."""
        return Evidence(backend=self.name, method="answers in files, each as wide as it was printed")

    def answer(self, output: str, about: Mapping[str, Any]) -> Answer:
        """A number between two."""
        return type(self)._read(output, about)

    def recover(self, problem: Problem, lowered: Lowered, answers: Mapping[str, Answer]) -> Value | Unknown | Refused:
        """The metric, as an interval as wide as the answers leave it."""
        evidence = self.evidence(problem)
        if not any("file" in each for each in lowered.quantities):
            evidence = replace(evidence, method="settled by unit propagation, without a solver")
        try:
            return value_from(problem, lowered.quantities, answers, evidence, self._options.pb_encoding)
        except ContradictionError:
            detail = "no rates agree with all answers: one of them is wrong"
            return Unknown(reason=Reason.MALFORMED, detail=detail, evidence=evidence)


def _instance_alone(text: str, path: str) -> tuple[Instance, Fraction]:
    return read_sdimacs(text, path), Fraction(1)


class Sdimacs(_Files):
    """Instances of stochastic satisfiability."""

    name = "sdimacs"
    reads = frozenset({"ssat.groups", "ssat.pb_encoding"})
    _write = staticmethod(as_sdimacs)
    _parse = staticmethod(_instance_alone)
    _read = staticmethod(answer_of_value)

    @property
    def _groups(self) -> Groups | None:
        """As it is set."""
        return self._options.groups


class Mcc(_Files):
    """Weighted model counts."""

    name = "mcc"
    _write = staticmethod(as_mcc)
    _parse = staticmethod(read_count)
    _read = staticmethod(answer_of_weight)


class Dimacs(_Files):
    """Model counts."""

    name = "dimacs"
    _write = staticmethod(as_dimacs)
    _parse = staticmethod(read_count)
    _read = staticmethod(answer_of_count)


@dataclass(slots=True)
class _Found:
    """Files as they are made, with what the manifest says of each."""

    problem: Problem
    asked: Asked
    population: Network
    form: str
    extension: str
    write: Callable[..., Written]
    files: dict[str, bytes] = field(default_factory=dict)
    described: dict[str, dict[str, Any]] = field(default_factory=dict)
    quantities: list[dict[str, Any]] = field(default_factory=list)
    slugs: dict[tuple[int, int], tuple[str, ...]] = field(default_factory=dict)

    def add(self, law: int, subject: Subject, asking: Asking, quantity: Quantity) -> None:
        """One number; a file only where something is left to be solved."""
        model, left = self.problem.model, quantity.left
        assert model.favourable is not None, "checked by the offer"
        means = meaning(subject, quantity, self.population, asking, model.outcomes[model.favourable])
        means += ", under the distribution without the influence" if law else ""
        entry: dict[str, Any] = {
            "name": f"q{len(self.quantities) + 1}",
            "law": law,
            "formula": quantity.formula,
            "extreme": asking.learned,
            "means": means,
        }
        self.quantities.append(entry)
        if left.settled is not None:
            entry["settled"] = ratio(left.settled)
            return
        name = f"{self.asked.property}.{self._part(law, subject, asking, quantity)}.{self.extension}"
        instance = replace(left.instance, names=dict(quantity.names))
        said = comments(self.asked, means, left.factor, self.form, extreme=asking.learned)
        written = self.write(instance, said)
        self.files[name] = written.text.encode()
        self.described[name] = {"role": "quantity", "means": means, **written.about}
        entry |= {"file": name, "factor": ratio(left.factor), "instance": quantity.digest}

    def _part(self, law: int, subject: Subject, asking: Asking, quantity: Quantity) -> str:
        slugs = []
        for place, cell in sorted(quantity.cells.items()):
            if (law, place) not in self.slugs:
                self.slugs[law, place] = slugs_of(subject, place, self.population)
            slugs.append(self.slugs[law, place][cell])
        columns = question_of(self.problem).influence if law else ()
        without = "-".join(self.population.columns[column].name for column in columns)
        return name_of(slugs, quantity, without=without, learned=asking.learned)
