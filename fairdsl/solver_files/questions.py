"""What a spec, its models and its data ask in a format: derived the same way when files are written and when read back.

    spec --derived--> Derivation --asking.parts()--> files, and what settles each part

Writing is deterministic, so a folder contributes nothing but answers: whoever reads one derives its questions again and
holds the folder against them.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fairdsl.backends.encoding import ByParts, Encoding, Lowered, Parts, encoding_of
from fairdsl.backends.solved import Asked
from fairdsl.backends.subset_sum import Instance, NotAProblemError, in_words, problem_of, read_instance
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.elaborate import Elaborated, Elaboration, elaborate
from fairdsl.ir.demand import Demanded
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric, Quantity
from fairdsl.options import Options, declared
from fairdsl.plan import errors
from fairdsl.plan.choices import check_properties
from fairdsl.plan.negotiate import Inexpressible, expressible
from fairdsl.report.hashes import hashed_models
from fairdsl.report.model import HashedFile
from fairdsl.semantics import CheckedSpec, front_end
from fairdsl.semantics.checked import CheckedProperty, Demand
from fairdsl.semantics.load import read_source
from fairdsl.solver_files.manifest import Cut, Part, Question
from fairdsl.source import SourceFile, Span


def is_instance(path: str) -> bool:
    """Whether a file in the place of a spec is an instance: no spec ends so."""
    return Path(path).suffix == ".json"


def instance_asked(path: str, form: str) -> tuple[CheckedSpec, tuple[Diagnostic, ...], Elaboration]:
    """The file as if it were a spec with one property, named after it, without findings; and its problem.

    DiagnosticError for a file that is not an instance (E0617, E0618), or says more than any problem does (E0603).
    """
    source, instance = read_source(path), read_instance(Path(path))
    try:
        problem = problem_of(instance, Path(path).stem)
    except NotAProblemError as error:
        why = f"{error}; `fairdsl solve {Path(path).name}` answers the instance itself"
        raise DiagnosticError(errors.format_refuses(form, why, None)) from error
    item = _elaborated(source, instance, problem)
    spec = CheckedSpec(
        source=source, title=None, domains={}, labels={}, models={}, distributions={}, properties=(item.property,)
    )
    found = Elaboration(
        demands=(item,),
        models={problem.model.name: problem.model},
        populations=(),  # nothing of a spec declares it
        warnings=(),
    )
    return spec, (), found


def _elaborated(source: SourceFile, instance: Instance, problem: Problem) -> Elaborated:
    """The problem in the words of a report on the instance."""
    assert isinstance(problem.question, GroupMetric), "instances are about metrics of groups"
    asked = instance.asked or in_words(instance, Path(source.path))
    span = Span(source, 0, 0)
    demand = Demand(
        text=asked.demand,
        metric=asked.metric,
        question=problem.question,
        quantity=Quantity.METRIC,
        threshold=instance.threshold,
        required=asked.required,
        span=span,
    )
    checked = CheckedProperty(
        name=problem.name,
        title=None,
        model=problem.model.name,
        domain=problem.domain,
        demands=(demand,),
        clauses=asked.clauses,
        sentences=(asked.sentence,),
        formulas=(asked.formula,),
        span=span,
    )
    return Elaborated(property=checked, demand=demand, outcomes=problem.model.outcomes, problem=problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Partitioning:
    """Questions are cut into chunks of at most ``size`` values of each attribute; of these partitions the first
    so many are written (None: all), in the order that ``seed`` determines.
    """

    size: int
    first: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """A question, or a partition of it: what the manifest says of it, the problem, and its files."""

    part: Part
    problem: Problem
    lowered: Lowered


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A demand that the format expresses."""

    item: Elaborated
    #: Named apart from all others of the spec.
    problem: Problem
    encoding: Encoding
    asked: Asked
    cut: Partitioning | None = None

    @property
    def grid(self) -> Parts | None:
        """The partitions, where the question is cut."""
        if self.cut is None:
            return None
        assert isinstance(self.encoding, ByParts), "others are refused"
        return self.encoding.parts(self.problem, self.cut.size)

    def parts(self) -> Iterator[Derived]:
        """The question itself, or the partitions that are asked for, in their order."""
        grid = self.grid
        if self.cut is None or grid is None:
            lowered = self.encoding.lower(self.problem, self.asked)
            part = Part(settled_by=lowered.settled_by, quantities=lowered.quantities, combined=lowered.combined)
            yield Derived(part=part, problem=self.problem, lowered=lowered)
            return
        assert isinstance(self.encoding, ByParts), "others are refused"
        for index in itertools.islice(grid.order(self.cut.seed), self.cut.first):
            inside = replace(grid.problem(index), name=f"{self.problem.name}.p{index:07d}")
            box = grid.words(index)
            lowered = self.encoding.on_part(box).lower(inside, self.asked)
            part = Part(settled_by=lowered.settled_by, partition=index, box=box, volume=str(grid.volume(index)))
            yield Derived(part=part, problem=inside, lowered=lowered)

    def question(self, parts: Sequence[Part]) -> Question:
        """What the manifest says of it."""
        grid, meaning = self.grid, self.encoding.meaning
        cut = None
        if self.cut is not None and grid is not None:
            cut = Cut(size=self.cut.size, count=grid.count, seed=self.cut.seed)
            meaning = _of_parts(meaning, len(parts), grid.count)
        return Question(
            property=self.item.property.name,
            number=1 + self.item.property.demands.index(self.item.demand),
            demand=self.item.demand.text,
            fidelity=self.encoding.evidence(self.problem).fidelity.value,
            verdict=meaning,
            clauses=tuple(self.item.property.clauses),
            formula=self.item.property.formula,
            parts=tuple(parts),
            partitions=cut,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Derivation:
    """Everything that a spec asks in a format."""

    spec: CheckedSpec
    #: Where the spec lies.
    path: str
    #: The properties that are asked, where they are not all of the spec's.
    properties: tuple[str, ...]
    #: Findings about the spec's text.
    warnings: tuple[Diagnostic, ...]
    elaborated: Elaboration
    models: tuple[HashedFile, ...]
    askings: tuple[Asking, ...]
    #: The demands that the format cannot express, and why.
    refused: tuple[tuple[Elaborated, Inexpressible], ...]


def encoding_under(form: str, options: Options) -> Encoding:
    """The format's encoding with what is set of the options that its files depend on; DiagnosticError for others."""
    encoding = encoding_of(form)
    for section in options.sections:
        section.ready()
    unread = [path for section in options.sections for path in section.given if path not in encoding.reads]
    if unread:
        why = f"such files do not depend on {', '.join(f'`{path}`' for path in unread)}: leave it out"
        raise DiagnosticError(errors.format_refuses(form, why, None))
    return encoding.under(options)


def what_is_set(options: Options) -> dict[str, str]:
    """The options that are set, by path, as the command line writes them."""
    return {
        each.path: each.kind.show(getattr(section, each.name))
        for section in options.sections
        for each in declared(type(section))
        if each.path in section.given
    }


def derived(
    path: str,
    encoding: Encoding,
    models: Mapping[str, str],
    data: Mapping[str, str] | None,
    properties: Sequence[str] = (),
    partitioning: Partitioning | None = None,
    let: Mapping[str, str] | None = None,
) -> Derivation:
    """What the spec at ``path`` asks; only the ``properties``, where some are named, which are the spec's.

    Files in ``models`` and ``data`` replace those of the spec, by name, and numbers in ``let`` those of its parameters.
    Raises DiagnosticError for mistakes in the spec
    and its files, and for a ``partitioning`` of files that have none.
    """
    if partitioning is not None and not isinstance(encoding, ByParts):
        why = "such a file is refined as a whole, not by partitions"
        raise DiagnosticError(errors.format_refuses(encoding.name, why, None))
    if is_instance(path):
        if models or data or let:
            why = "an instance has no models, data or parameters to be replaced"
            raise DiagnosticError(errors.format_refuses(encoding.name, why, None))
        spec, warnings, elaborated = instance_asked(path, encoding.name)
        check_properties(properties, spec)
        every = len(spec.properties)
    else:
        spec, warnings = front_end(path, let)
        check_properties(properties, spec)
        every = len(spec.properties)
        spec = spec.restricted_to(properties)
        elaborated = elaborate(spec, models, data=data)
    hashed = hashed_models(spec, elaborated.models, models)
    by_name = {file.name: file for file in hashed}
    askings: list[Asking] = []
    refused: list[tuple[Elaborated, Inexpressible]] = []
    for item in elaborated.demands:
        problem = expressible(item, encoding)
        if isinstance(problem, Inexpressible):
            refused.append((item, problem))
            continue
        if partitioning is not None and isinstance(problem.question, Demanded):
            nothing = errors.nothing_to_partition(item.property.name, item.demand.span)
            refused.append((item, Inexpressible(nothing)))
            continue
        askings.append(
            Asking(
                item=item,
                problem=_named_apart(problem, [one.problem.name for one in askings]),
                encoding=encoding,
                asked=_asked(spec, path, item, by_name[item.property.model]),
                cut=partitioning,
            )
        )
    kept = tuple(one.name for one in spec.properties)
    return Derivation(
        spec=spec,
        path=path,
        properties=kept if len(kept) < every else (),
        warnings=tuple(warnings),
        elaborated=elaborated,
        models=hashed,
        askings=tuple(askings),
        refused=tuple(refused),
    )


def _of_parts(meaning: Mapping[str, str], written: int, count: int) -> Mapping[str, str]:
    """What answers mean where a question is cut: it holds only if it holds on every partition."""
    holds = f"{meaning['holds']}, in each of all {count:,} partitions"
    if written < count:
        holds += f"; here are the files of {written:,} of them, which prove nothing about the others"
    return {**meaning, "holds": holds}


def _named_apart(problem: Problem, taken: Collection[str]) -> Problem:
    """Files are named after the property; a second question of one property gets a number behind it."""
    names = itertools.chain([problem.name], (f"{problem.name}-{number}" for number in itertools.count(2)))
    return replace(problem, name=next(name for name in names if name not in taken))


def _asked(spec: CheckedSpec, path: str, item: Elaborated, model: HashedFile) -> Asked:
    """The demand in the spec's words; files are named without their folders, which are this machine's."""
    return Asked(
        spec=os.path.basename(path),
        spec_sha256=spec.source.sha256,
        title=spec.title,
        model=model.name,
        model_path=None if model.path is None else os.path.basename(model.path),
        model_sha256=model.sha256,
        property=item.property.name,
        sentence=item.property.title or item.property.sentence,
        clauses=item.property.clauses,
        formula=item.property.formula,
        demand=item.demand.text,
        metric=item.demand.metric,
        threshold=item.demand.threshold,
        required=item.demand.required,
        preset=item.property.preset,
    )
