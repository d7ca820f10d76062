"""From a spec to what it detects: the model as it is, the discriminators, and an audit of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.audit_sensitivity import errors
from fairdsl.audit_sensitivity.choose import ANYWHERE, Group, Sites, groups_of
from fairdsl.audit_sensitivity.planted import NotPlantedError, Override, planted
from fairdsl.audit_sensitivity.result import AskedProperty, Fate, Kind, LeftOut, Planted, Sensitivity
from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.sampling import OpenInsideError, People
from fairdsl.clock import Deadline, doing, phase
from fairdsl.counterexamples.written import value_of
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.elaborate import Elaboration, Function, elaborate, load_models
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import FALSE, Member, Not, Predicate, Variable, Who, conjoin
from fairdsl.ir.model import Model
from fairdsl.ir.population import Network, Population
from fairdsl.ir.question import GroupMetric, Pair
from fairdsl.metrics.subject import Subject
from fairdsl.models.evaluators import evaluator_of
from fairdsl.numerics.narrow import narrow
from fairdsl.numerics.predicates import mask
from fairdsl.options import Options
from fairdsl.pipeline import verify
from fairdsl.plan.choices import check_properties
from fairdsl.plan.errors import unknown_choice
from fairdsl.pruning.draws import draw
from fairdsl.report.model import Report
from fairdsl.semantics import CheckedSpec, front_end
from fairdsl.semantics.wording.pairs import predicate_text
from fairdsl.verdict import Judgement

#: How many people are drawn where there are no rows.
_DRAWN = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Crowd:
    """Individuals [people, attributes] of a domain, and in words who they are."""

    values: NDArray[np.float64]
    words: str


def crowd_of(domain: Domain, model: Model, populations: Sequence[Population], seed: int) -> Crowd:
    """The rows behind the first population over the domain that has some, or people drawn from the first one.

    Where there is none, or its distribution says too little to draw people, everybody of the domain is drawn alike.
    """
    own = [each for each in populations if each.columns[: len(domain.attributes)] == domain.attributes]
    for each in own:
        if each.sample is not None and each.sample.rows:
            rows = each.sample.values.floats[:, : len(domain.attributes)]
            rows = rows[mask(domain.where, {Who.EACH: rows})]
            return Crowd(rows, f"{len(rows):,} rows of `{each.name}`")
    rng = np.random.default_rng(seed)
    for each in own:
        if isinstance(each, Network):
            people = _drawn(each, domain, model, rng)
            if people is not None:
                return Crowd(people, f"{len(people):,} people drawn from `{each.name}`")
    people = draw(domain, narrow(domain), _DRAWN, rng)
    return Crowd(people, f"{len(people):,} people drawn from the whole of `{domain.name}`, all alike")


def _drawn(network: Network, domain: Domain, model: Model, rng: np.random.Generator) -> NDArray[np.float64] | None:
    everything = tuple(range(len(network.columns)))
    subject = Subject(network=network, model=model, condition=domain.where, keys=everything)
    try:
        crowd = People(subject, rng).draw(_DRAWN)
    except OpenInsideError:
        return None
    people = crowd.values[0].floats[~crowd.lost, : len(domain.attributes)]
    return np.asarray(people[mask(domain.where, {Who.EACH: people})])


#: What says neither that a property detects a discriminator nor that it does not.
_UNDECIDED = (Judgement.UNKNOWN, Judgement.REFUSED, Judgement.VACUOUS)
#: A discriminator has to reach this part of the people that were asked for.
_LEAST = 0.75

Integers = NDArray[np.int64]
Marks = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is planted."""

    #: How much: parts of all people, or of a group.
    strengths: tuple[Fraction, ...] = (Fraction(1, 100), Fraction(5, 100), Fraction(20, 100))
    #: What discriminators do.
    kinds: tuple[Kind, ...] = tuple(Kind)
    #: Against whom: values of protected attributes by their names; empty: one group of each protected attribute.
    groups: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plant:
    """A discriminator before anything was asked of it."""

    kind: Kind
    group: Predicate
    known_by: Predicate
    among: Predicate
    strength: Fraction
    overrides: tuple[Override, ...]


def sensitivity_spec(
    path: str,
    plan: Plan,
    *,
    models: Mapping[str, str],
    let: Mapping[str, str] | None = None,
    data: Mapping[str, str],
    callables: Mapping[str, Function] | None = None,
    options: Options,
    properties: Sequence[str],
    observer: Observer,
) -> Sensitivity:
    """Plant discriminators in each model that the properties are about, and ask the properties about each.

    Every audit has the limits and the seed of ``options``. Raises DiagnosticError for mistakes in the spec and its
    files, and where nothing can be planted or detected (E0595).
    """

    def audit(names: Sequence[str], opened: Mapping[str, Model]) -> Report:
        budget = Budget(deadline=Deadline.within(options.run.limit), options=options)
        return verify(
            path,
            models=models,
            let=let,
            data=data,
            budget=budget,
            properties=names,
            observer=observer,
            opened=opened,
            hold=False,  # what was recorded are the decisions of the model without discriminators
        )

    with phase("reading the spec, models and data", Deadline.within(options.run.limit)):
        spec, findings = front_end(path, let)
        check_properties(properties, spec)
        spec = spec.restricted_to(properties)
        asked = frozenset(name for checked in spec.properties for name in checked.models)
        loaded, warnings = load_models(spec, models, callables=callables, only=asked)
        elaboration = elaborate(spec, models, data=data, opened=loaded)
    before = audit(properties, loaded)
    known = tuple(AskedProperty(name=each.name, judgement=each.judgement) for each in before.properties)
    interrupted = before.ended is not None
    if not interrupted and not any(each.detects for each in known):
        raise DiagnosticError(_detects_nothing(path, known))
    people: list[str] = []
    found: list[Planted] = []
    left_out: list[LeftOut] = []
    for name, model in elaboration.models.items():
        detecting = [
            checked.name
            for checked, each in zip(spec.properties, known, strict=True)
            if each.detects and name in checked.models
        ]
        if interrupted or not detecting:
            continue
        with doing(f"choosing what is planted in `{name}`"):
            audited = _Audited(spec, name, model, elaboration, plan, options.run.seed)
            plants = list(audited.plants())
        people.append(audited.words)
        for plant in plants:
            if isinstance(plant, LeftOut):
                left_out.append(plant)
                continue
            with_it, changed = audited.with_plant(plant)
            report = audit(detecting, {**loaded, name: with_it}) if changed.any() else None
            if report is not None and report.ended is not None:
                interrupted = True
                break
            found.append(audited.said(plant, changed, report))
    return Sensitivity(
        spec=path,
        people=tuple(people),
        seed=options.run.seed,
        properties=known,
        planted=tuple(found),
        left_out=tuple(left_out),
        interrupted=interrupted,
        diagnostics=tuple(dict.fromkeys([*findings, *warnings, *elaboration.warnings])),
    )


def _detects_nothing(path: str, known: Sequence[AskedProperty]) -> Diagnostic:
    kept = ", ".join(f"`{each.name}` ({each.judgement.value})" for each in known)
    return errors.nothing_to_plant(
        f"no property of `{path}` can detect anything",
        f"all that there are: {kept}",
        "name properties that the model meets, with a limit: what is violated already, or only measured, cannot be "
        "broken by a discriminator",
    )


class _Audited:
    """A model, the people it decides about, and the discriminators that are planted in it."""

    def __init__(
        self, spec: CheckedSpec, name: str, model: Model, elaboration: Elaboration, plan: Plan, seed: int
    ) -> None:
        self._name, self._model, self._plan = name, model, plan
        self._domain = spec.models[name].domain
        crowd = crowd_of(self._domain, model, elaboration.populations, seed)
        self.words, self._people = crowd.words, crowd.values
        self._before = _decisions(model, self._people)
        self._protected = _protected(spec, name)
        if not self._protected or not len(self._people):
            reason = "nothing says who is protected" if len(self._people) else f"{crowd.words}"
            help_text = "write for example `protected sex`"
            raise DiagnosticError(
                errors.nothing_to_plant(f"nothing can be planted in `{name}`", reason, help_text, model.span)
            )
        self._sites = Sites(self._domain, self._people, self._protected, np.random.default_rng(seed))
        self._favourable, self._adverse = _outcomes(model, self._before)

    def plants(self) -> Iterator[_Plant | LeftOut]:
        """Each discriminator, by group, kind and strength."""
        groups = [_named(self._domain, self._protected, each) for each in self._plan.groups]
        for group in groups or groups_of(sorted(self._protected), self._domain, self._people):
            for kind in self._plan.kinds:
                yield from self._of_kind(kind, group)

    def _of_kind(self, kind: Kind, group: Group) -> Iterator[_Plant | LeftOut]:
        """The weakest first; each lies within the next stronger one, so they are made from the strongest on."""
        members, favoured = self._sites.holds(group.who), self._before != self._adverse
        most = _LEAST * float(max(self._plan.strengths)) * int(members.sum())
        known_by = self._sites.proxy(members, favoured, most) if kind is Kind.PROXY else group.who
        if kind is Kind.PEOPLE:
            counted, whole = np.ones_like(members), len(members)
        else:
            counted, whole = members & favoured, int(members.sum())
            counted &= False if known_by is None else self._sites.holds(known_by)
        made: list[_Plant | LeftOut] = []
        among = ANYWHERE
        for strength in sorted(set(self._plan.strengths), reverse=True):
            wanted = float(strength * whole)
            if known_by is None or not whole or counted.sum() < _LEAST * wanted:
                made.append(self._left_out(kind, group, strength, known_by, int(counted.sum()), whole))
                continue
            among = self._sites.box(among, counted, wanted)
            made.append(
                _Plant(
                    kind=kind,
                    group=group.who,
                    known_by=known_by,
                    among=among.predicate,
                    strength=strength,
                    overrides=tuple(self._overrides(kind, known_by, among.predicate)),
                )
            )
        yield from reversed(made)

    def _left_out(
        self, kind: Kind, group: Group, strength: Fraction, known_by: Predicate | None, count: int, whole: int
    ) -> LeftOut:
        """Why there is no such discriminator."""
        if not whole:
            reason = "nobody is of the group"
        elif known_by is None:
            reason = "no other attribute tells the group apart"
        else:
            whom = "of the group" if kind is Kind.GROUP else f"of the group with {self._text(known_by)}"
            reason = f"{count:,} {whom}, of {whole:,}, are favoured: too few to refuse so many"
        return LeftOut(kind=kind, model=self._name, group=self._text(group.who), strength=strength, reason=reason)

    def _text(self, predicate: Predicate) -> str:
        return predicate_text(predicate, self._domain)

    def _overrides(self, kind: Kind, known_by: Predicate, among: Predicate) -> Iterator[Override]:
        yield Override(conjoin(among, known_by), self._adverse)
        if kind is Kind.PEOPLE:
            yield Override(conjoin(among, Not(known_by)), self._favourable)

    def with_plant(self, plant: _Plant) -> tuple[Model, Marks]:
        """The model with the discriminator, and whom of the people it decides about otherwise."""
        try:
            model = planted(self._model, plant.overrides, self._domain)
        except NotPlantedError as problem:
            title = f"nothing can be planted in `{self._name}`"
            help_text = "give every attribute that the model reads two bounds, as in `real 0 .. 100`"
            raise DiagnosticError(
                errors.nothing_to_plant(title, str(problem), help_text, self._model.span)
            ) from problem
        return model, np.asarray(_decisions(model, self._people) != self._before)

    def said(self, plant: _Plant, changed: Marks, report: Report | None) -> Planted:
        """What became of the discriminator; without a report nobody was decided otherwise."""
        members, met = self._sites.holds(plant.group), self._sites.holds(plant.known_by)
        outcomes = [self._model.outcomes[each.outcome] for each in plant.overrides]
        verdicts = {} if report is None else {each.name: each.judgement for each in report.properties}
        detected = tuple(name for name, judgement in verdicts.items() if judgement is Judgement.VIOLATED)
        undecided = tuple(name for name, judgement in verdicts.items() if judgement in _UNDECIDED)
        fate = Fate.UNDECIDED if undecided else Fate.SURVIVED
        return Planted(
            kind=plant.kind,
            model=self._name,
            group=self._text(plant.group),
            known_by=self._text(plant.known_by),
            known_in_group=_part(met & members, members),
            known_elsewhere=_part(met & ~members, ~members),
            gives=outcomes[0],
            gives_others=outcomes[1] if len(outcomes) > 1 else None,
            among=self._text(plant.among),
            strength=plant.strength,
            changed=_part(changed, np.ones_like(changed)),
            changed_in_group=_part(changed & members, members),
            fate=Fate.EMPTY if report is None else Fate.DETECTED if detected else fate,
            detected_by=detected,
            undecided=undecided,
            missed_by=tuple(name for name in verdicts if name not in {*detected, *undecided}),
        )


def _part(some: Marks, whole: Marks) -> Fraction:
    return Fraction(int(some.sum()), max(1, int(whole.sum())))


def _decisions(model: Model, people: NDArray[np.float64]) -> Integers:
    return evaluator_of(model).settled(people).decisions


def _protected(spec: CheckedSpec, name: str) -> frozenset[int]:
    """The protected attributes that the model may read, and others by which properties about it tell people apart."""
    domain = spec.models[name].domain
    found = {place for place, attribute in enumerate(domain.attributes) if attribute.name in spec.protected}
    for checked in spec.properties:
        for demand in checked.demands if name in checked.models else ():
            match demand.question:
                case Pair(differ=differ):
                    found.update(differ)
                case GroupMetric(across=across):
                    found.update(place for place in across if place < len(domain.attributes))
    return frozenset(found)


def _outcomes(model: Model, decisions: Integers) -> tuple[int, int]:
    """The favourable outcome, or the last one; and of the others the one that most people get."""
    counts = np.bincount(decisions[decisions >= 0], minlength=len(model.outcomes))
    good = {len(model.outcomes) - 1} if model.favourable is None else {model.favourable, *model.beside}
    others = [outcome for outcome in range(len(model.outcomes)) if outcome not in good]
    return max(good, key=lambda outcome: counts[outcome]), max(others, key=lambda outcome: counts[outcome])


def _named(domain: Domain, protected: frozenset[int], values: Mapping[str, object]) -> Group:
    """A group by values of attributes. Raises DiagnosticError (E0604), or ValueError for no value."""
    names = {domain.attributes[place].name: place for place in sorted(protected)}
    parts = []
    for name, value in values.items():
        if name not in names:
            raise DiagnosticError(unknown_choice("protected attribute", name, tuple(names)))
        number = value_of(domain.attributes[names[name]], "group", value)
        parts.append(Member(variable=Variable(names[name]), values=frozenset({number})))
    return Group(conjoin(*parts) if parts else FALSE, frozenset(names[name] for name in values))
