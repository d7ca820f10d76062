"""The encodings `sdimacs`, `mcc` and `dimacs`: which questions have them, and a file for each number of a metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from fairdsl.backends.contract import Budget, Observer, Offer, Refusal
from fairdsl.backends.encoding import Answer, Encoding, Lowered, Solving
from fairdsl.backends.groups import question_of, subjects_of
from fairdsl.backends.solved import Asked, Bounds, Choosing, Solved, Work
from fairdsl.backends.ssat.distribution import Distribution
from fairdsl.backends.ssat.encode.linear import TooLargeError
from fairdsl.backends.ssat.engine import Engine, Known
from fairdsl.backends.ssat.errors import not_sdimacs
from fairdsl.backends.ssat.files.answered import ContradictionError, value_from
from fairdsl.backends.ssat.files.answers import answer_of_count, answer_of_value, answer_of_weight
from fairdsl.backends.ssat.files.quantities import (
    Asking,
    Quantity,
    asked_of,
    combined,
    comments,
    meaning,
    name_of,
    ratio,
    slugs_of,
    without_words,
)
from fairdsl.backends.ssat.gate import distributions_of
from fairdsl.backends.ssat.instance import Instance
from fairdsl.backends.ssat.options import Groups, SsatOptions
from fairdsl.backends.ssat.plain import Plain
from fairdsl.backends.ssat.questions import Formulas, learns
from fairdsl.backends.ssat.reading import read_sdimacs
from fairdsl.backends.ssat.reading_counts import read_count
from fairdsl.backends.ssat.writing import Written, as_dimacs, as_mcc, as_sdimacs
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.metrics.subject import Subject
from fairdsl.options import Options
from fairdsl.source.reading import content_of
from fairdsl.verdict import Evidence, Reason, Refused, Unknown, Value

# --------------------------------------------------------------------------------------------------
# Instances of stochastic satisfiability and of counting, answered with their value, or with bounds of it.
#
# file --its text--> text --read--> instance and factor --solved--> value

#: A text and its path -> the instance, and the factor by which the file's value is the instance's.
Read = Callable[[str, str], tuple[Instance, Fraction]]
#: An instance in normal form, the names of its variables, and comments -> the file.
Write = Callable[[Plain, Mapping[int, str], tuple[str, ...]], Written]
#: The solver's name, where no other is asked for.
EMBEDDED = "the embedded solver"


def solve_value(path: Path, form: str, how: Solving, observer: Observer, read: Read, known: Known) -> Solved:
    """Read an instance and answer it: with the value of what ``read`` finds, times its factor.

    ``known`` is what was found out about files that were solved before.
    Raises DiagnosticError (E0640 to E0645) for a file that is not one, and for a solver that there is not, or that
    does not answer such instances.
    """
    try:
        text = content_of(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte {error.start + 1} is not UTF-8"
        raise DiagnosticError(not_sdimacs(str(path), what, None, "save it as plain text")) from error
    return solve_text(text, path, form, how, observer, read, known)


def solve_text(text: str, path: Path, form: str, how: Solving, observer: Observer, read: Read, known: Known) -> Solved:
    """The same of what stands, or would stand, in the file."""
    instance, factor = read(text, str(path))
    solver = how.budget.options[SsatOptions].solver
    found = _found(instance, solver, how.budget, observer, known)
    choice = None if found.choice is None else found.choice.items()
    bounds = Bounds(
        variables=instance.variables,
        clauses=len(instance.clauses),
        number=Enclosure(low=found.low * factor, high=found.high * factor),
        reason=found.reason,
        choice=None
        if choice is None
        else tuple(
            Choosing(variable=variable, true=truth, name=instance.names.get(variable)) for variable, truth in choice
        ),
        detail=found.detail,
        work=found.work,
        notes=tuple(_notes(instance)),
    )
    return Solved(format=form, file=path, solver=solver or EMBEDDED, seconds=found.seconds, found=bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What a solver found: ``detail`` is what it has to say, ``work`` what the embedded one did."""

    low: Fraction
    high: Fraction
    reason: Reason | None
    choice: Mapping[int, bool] | None
    seconds: float
    detail: str = ""
    work: Work | None = None


def _found(instance: Instance, solver: str | None, budget: Budget, observer: Observer, known: Known) -> _Said:
    """The answer of a solver: of the embedded one, or of the one that ``solver`` names."""
    if solver is not None:
        from fairdsl.backends.ssat.solvers import external_value

        said = external_value(instance, solver, budget.remaining)
        return _Said(
            low=said.low,
            high=said.high,
            reason=said.reason,
            choice=said.choice,
            seconds=said.seconds,
            detail=said.detail,
        )
    closed, numbers = instance.closed_up()
    solved = Engine(closed, memory=budget.memory, known=known).solve(deadline=budget.deadline, observer=observer)
    return _Said(
        low=solved.low,
        high=solved.high,
        reason=solved.reason,
        choice=None if solved.choice is None else {numbers[each - 1]: truth for each, truth in solved.choice.items()},
        seconds=solved.statistics.seconds,
        work=Work(**{one.name: getattr(solved.statistics, one.name) for one in fields(Work)}),
    )


def _notes(instance: Instance) -> list[str]:
    """What is taken for granted where the file leaves something open."""
    bound = {bound.variable for bound in instance.prefix}
    free = sorted({abs(literal) for clause in instance.clauses for literal in clause} - bound)
    if not free:
        return []
    some = ", ".join(str(variable) for variable in free[:5]) + (", .." if len(free) > 5 else "")
    taken = "is bound by no line and is" if len(free) == 1 else "are bound by no line and are"
    return [f"{'variable' if len(free) == 1 else 'variables'} {some} {taken} existential and outermost"]


# --------------------------------------------------------------------------------------------------
# The encodings ``sdimacs``, ``mcc`` and ``dimacs``: one file for each number that a metric is made of.
#
# All three write what :mod:`fairdsl.backends.ssat.questions` would ask. Counters have no choice to make, so ``mcc`` and
# ``dimacs`` ask about every group by itself; ``sdimacs`` asks for the extreme groups where there are many of them, or
# where that is asked for.

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
    _write: Write
    _parse: Read
    _read: Callable[[str, Mapping[str, Any]], Answer]

    def __init__(self, options: SsatOptions | None = None) -> None:
        self._options = options or SsatOptions()
        #: What the files last written are about: they are answered for the same problem, often at once.
        self._written: tuple[Problem, tuple[Asking, ...]] | None = None
        self._known = Known()

    def under(self, options: Options) -> _Files:
        """The same, with these options of the backend."""
        return type(self)(options[SsatOptions])

    @property
    def _groups(self) -> Groups | None:
        """Counters have no choice to make."""
        return Groups.ENUMERATE

    def offer(self, problem: Problem) -> Offer | Refusal:
        """What the backend answers, as far as it makes formulas and files of a size to be had."""
        found = distributions_of(problem)
        if isinstance(found, Refusal):
            return found
        question = question_of(problem)
        for distribution in found:
            keys = len(distribution.masses)
            if keys > _FILES and not learns(question, distribution, self._groups):
                return Refusal(why=f"there would be a file for each of {keys:,} groups", span=question.span)
            if not any(distribution.masses.values()):
                continue  # there is nobody, and nothing to be asked
            try:
                formulas = Formulas(distribution, sums=self._options.pb_encoding)
                _ = formulas.favourable, formulas.unfavourable
            except TooLargeError as error:
                return Refusal(why=str(error), span=problem.model.span)
        return Offer(method="instances of stochastic satisfiability", decides=True)

    def lower(self, problem: Problem, asked: Asked) -> Lowered:
        """The files of all distributions, named after the property and the group."""
        written = self.written(problem, asked)
        assert isinstance(problem.population, Network)
        assert self._written is not None
        subjects, askings = subjects_of(problem), self._written[1]
        names = [
            [each["name"] for each in written.quantities if each["law"] == distribution]
            for distribution in range(len(subjects))
        ]
        return replace(written, combined=combined(question_of(problem), subjects, askings, names, problem.population))

    def written(self, problem: Problem, asked: Asked | None, distributions: Sequence[Distribution] = ()) -> Lowered:
        """The files, without the words on how their answers become the metric.

        Nobody reads them where nothing is ``asked`` in words: then they have neither names nor comments.
        ``distributions`` are those of the question, where somebody has made them.
        """
        population = problem.population
        assert isinstance(population, Network), "an encoding that refused is not asked"
        askings = asked_of(problem, self._groups, self._options.pb_encoding, distributions)
        self._written = problem, askings
        found = _Found(
            problem=problem,
            asked=asked,
            population=population,
            form=self.name,
            extension=self.extension,
            write=type(self)._write,
        )
        for distribution, (subject, asking) in enumerate(zip(subjects_of(problem), askings, strict=True)):
            for quantity in asking.quantities:
                found.add(distribution, subject, asking, quantity)
        return Lowered(
            files=found.files,
            settled_by=(tuple(found.files),),
            described=found.described,
            quantities=tuple(found.quantities),
        )

    def solve(self, path: Path, how: Solving, observer: Observer) -> Solved:
        """By the embedded solver, or the one that was named."""
        return solve_value(path, self.name, how, observer, type(self)._parse, self._known)

    def solve_written(self, name: str, content: bytes, how: Solving, observer: Observer) -> Solved:
        """The same of a file that :meth:`lower` gave, and that nobody has written."""
        return solve_text(content.decode(), Path(name), self.name, how, observer, type(self)._parse, self._known)

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
            evidence = replace(evidence, method="decided by unit propagation, without a solver")
        askings = self._written[1] if self._written is not None and self._written[0] is problem else ()
        try:
            return value_from(problem, lowered.quantities, answers, evidence, self._options.pb_encoding, askings)
        except ContradictionError:
            detail = "no rates agree with all answers: one of them is wrong"
            return Unknown(reason=Reason.MALFORMED, detail=detail, evidence=evidence)


def _instance_alone(text: str, path: str) -> tuple[Instance, Fraction]:
    return read_sdimacs(text, path), Fraction(1)


def _sdimacs(left: Plain, names: Mapping[int, str], said: tuple[str, ...]) -> Written:
    return as_sdimacs(left.instance, left.text, names, said)


def _counted(by: Callable[[Instance, tuple[str, ...]], Written]) -> Write:
    """A form whose comments are the instance's own."""
    return lambda left, names, said: by(replace(left.instance, names=dict(names)), said)


class Sdimacs(_Files):
    """Instances of stochastic satisfiability."""

    name = "sdimacs"
    reads = frozenset({"ssat.groups", "ssat.pb_encoding"})
    _write = staticmethod(_sdimacs)
    _parse = staticmethod(_instance_alone)
    _read = staticmethod(answer_of_value)

    @property
    def _groups(self) -> Groups | None:
        """As it is set."""
        return self._options.groups


class Mcc(_Files):
    """Weighted model counts."""

    name = "mcc"
    _write = staticmethod(_counted(as_mcc))
    _parse = staticmethod(read_count)
    _read = staticmethod(answer_of_weight)


class Dimacs(_Files):
    """Model counts."""

    name = "dimacs"
    _write = staticmethod(_counted(as_dimacs))
    _parse = staticmethod(read_count)
    _read = staticmethod(answer_of_count)


@dataclass(slots=True)
class _Found:
    """Files as they are made, with what the manifest says of each."""

    problem: Problem
    asked: Asked | None
    population: Network
    form: str
    extension: str
    write: Write
    files: dict[str, bytes] = field(default_factory=dict)
    described: dict[str, dict[str, Any]] = field(default_factory=dict)
    quantities: list[dict[str, Any]] = field(default_factory=list)
    slugs: dict[tuple[int, int], tuple[str, ...]] = field(default_factory=dict)

    def add(self, distribution: int, subject: Subject, asking: Asking, quantity: Quantity) -> None:
        """One number; a file only where something is left to be solved."""
        left = quantity.left
        means = "" if self.asked is None else self._meaning(distribution, subject, asking, quantity)
        entry: dict[str, Any] = {
            "name": f"q{len(self.quantities) + 1}",
            "law": distribution,
            "formula": quantity.formula,
            "extreme": asking.learned,
            "means": means,
        }
        self.quantities.append(entry)
        if left.settled is not None:
            entry["settled"] = ratio(left.settled)
            return
        named = self.problem.name if self.asked is None else self.asked.property
        name = f"{named}.{self._part(distribution, subject, asking, quantity)}.{self.extension}"
        if self.asked is None:
            written = self.write(left, {}, ())
        else:
            said = comments(self.asked, means, left.factor, self.form, extreme=asking.learned)
            written = self.write(left, quantity.names, said)
        self.files[name] = written.text.encode()
        self.described[name] = {"role": "quantity", "means": means, **written.about}
        entry |= {"file": name, "factor": ratio(left.factor), "instance": left.digest}

    def _meaning(self, distribution: int, subject: Subject, asking: Asking, quantity: Quantity) -> str:
        model = self.problem.model
        assert model.favourable is not None, "checked by the offer"
        means = meaning(subject, quantity, self.population, asking, model.outcomes[model.favourable])
        return means + (", under the distribution without the influence" if distribution else "")

    def _part(self, distribution: int, subject: Subject, asking: Asking, quantity: Quantity) -> str:
        slugs = []
        for place, cell in sorted(quantity.cells.items()):
            if (distribution, place) not in self.slugs:
                self.slugs[distribution, place] = slugs_of(subject, place, self.population)
            slugs.append(self.slugs[distribution, place][cell])
        without = without_words(question_of(self.problem), self.population) if distribution else ""
        return name_of(slugs, quantity, without=without, learned=asking.learned)
