"""What stands by name in the text: ``let`` and ``for each`` are put in before anything else looks at it.

A parameter is a number with a name; its number stands wherever the name does. A property with ``for each G in
{ sex, race }`` is as many properties, ``NAME[sex]`` and ``NAME[race]``. Where the variable of ``for each`` is a
parameter, its values are that parameter's in turn, in the property, in the targets that it names and in a variant of
each model that reads it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import TypeVar

from fairdsl.diagnostics import Diagnostic, Label, Reporter
from fairdsl.ir.parameter import InForce
from fairdsl.ir.preset import FromPreset
from fairdsl.prelude import known_metrics
from fairdsl.semantics import errors
from fairdsl.semantics.declared_names import derived_conditions, names_in_conditions, typed
from fairdsl.semantics.load import LoadedSpec
from fairdsl.semantics.putting import Putting, Value, stands_for
from fairdsl.semantics.questions.presets import applied
from fairdsl.semantics.remembered import Remembered, World
from fairdsl.semantics.walk import walk
from fairdsl.source import Span
from fairdsl.source.numbers import TooLongError, read_number
from fairdsl.syntax import tree
from fairdsl.syntax.format_expression import text_of
from fairdsl.syntax.tables import keywords

N = TypeVar("N", bound=tree.Node)
_WRITTEN = re.compile(r"-?[0-9]+(?:\.[0-9]+)?%?")
#: Properties that one property may represent, and values of an attribute that `for each` goes through.
_MOST = 1_000
#: What is not one for all properties.
_NOT_SHARED = (tree.Property, tree.Parameter, tree.Apply)


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A property with everything put in.

    ``models`` and ``targets`` are those whose parameters it goes through, by the names that the spec has for them;
    such a model has the values behind its name. ``parameters`` are those that stand in it. ``preset`` is where it comes
    from, where the spec applies one.
    """

    node: tree.Property
    models: Mapping[str, tree.Model] = field(default_factory=dict)
    conditions: Mapping[str, tree.NamedCondition] = field(default_factory=dict)
    parameters: tuple[InForce, ...] = ()
    again: bool = False
    preset: FromPreset | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expanded:
    """A spec without names of numbers: ``items`` are its declarations, ``instances`` the main file's properties.

    ``complete`` is False where something could not be put in. ``places`` are those of names that a number stands for
    now.
    """

    items: tuple[tree.Item, ...]
    instances: tuple[Instance, ...]
    parameters: tuple[InForce, ...]
    complete: bool
    places: Mapping[Span, tree.Parameter]
    world: World

    def explained(self, finding: Diagnostic) -> Diagnostic:
        """The finding with what the parameter at its place is."""
        if finding.primary is None or (parameter := self.places.get(finding.primary.span)) is None:
            return finding
        said = Label(parameter.span, f"`{parameter.name.text}` is {parameter.number.text}")
        return finding if said in finding.secondary else replace(finding, secondary=(*finding.secondary, said))


def expand(loaded: LoadedSpec, given: Mapping[str, str], reporter: Reporter, known: Remembered) -> Expanded:
    """The spec with its parameters, or what is ``given`` for them, in their places, a property for each value."""
    return _Expander(loaded, reporter, known).expanded(given)


@dataclass
class _Expander:
    loaded: LoadedSpec
    reporter: Reporter
    known: Remembered
    parameters: dict[str, tree.Parameter] = field(default_factory=dict)
    places: dict[Span, tree.Parameter] = field(default_factory=dict)
    complete: bool = True

    # What is asked for each property is made once: there may be thousands of them.

    @cached_property
    def _items(self) -> tuple[tree.Item, ...]:
        return tuple(item for spec in (*self.loaded.used, self.loaded.main) for item in spec.items)

    @cached_property
    def _shared(self) -> tuple[tuple[tree.Item, frozenset[str]], ...]:
        """The declarations that all properties share, with the names that stand in them."""
        shared = (item for item in self._items if not isinstance(item, _NOT_SHARED))
        return tuple((item, frozenset(_names_of(self.known.below((item,))))) for item in shared)

    @cached_property
    def _shared_names(self) -> frozenset[str]:
        return frozenset().union(*(names for _, names in self._shared))

    @cached_property
    def _varied(self) -> frozenset[str]:
        """The names in declarations that get a variant for each value of a parameter."""
        kinds = (tree.Model, tree.NamedCondition)
        return frozenset().union(*(names for item, names in self._shared if isinstance(item, kinds)))

    @cached_property
    def _derived(self) -> frozenset[str]:
        return derived_conditions(self._items)

    @cached_property
    def _taken(self) -> Mapping[str, tuple[str, Span]]:
        return names_in_conditions(self._items)

    @cached_property
    def _typed(self) -> Mapping[str, tree.Attribute | tree.Label]:
        """Attributes and labels by name, of several the first."""
        return {one.name.text: one for one in reversed(tuple(typed(self._items)))}

    def expanded(self, given: Mapping[str, str]) -> Expanded:
        self._collect(given)
        declared = (item for item in self._items if not isinstance(item, tree.Property | tree.Apply))
        world = self.known.world(declared, tuple(given.items()))
        bound: dict[str, Value] = {name: parameter.number for name, parameter in self.parameters.items()}
        items = [put for item, _ in self._shared if (put := self._put(item, bound)) is not None]
        instances: list[Instance] = []
        for item, preset in self._properties():
            alone = preset is None and not any(isinstance(clause, tree.ForEachClause) for clause in item.clauses)
            found = self._known(item, bound, world) if alone else self._instances(item, bound)
            instances += (replace(each, preset=preset) for each in found)
        return Expanded(
            items=tuple(items),
            instances=tuple(instances),
            parameters=tuple(InForce(name=name, text=one.number.text) for name, one in self.parameters.items()),
            complete=self.complete,
            places=self.places,
            world=world,
        )

    def _known(self, item: tree.Property, bound: Mapping[str, Value], world: World) -> tuple[Instance, ...]:
        """A property that stands for itself alone: what is put into it is the same in the same world."""

        def made() -> tuple[tuple[Instance, ...], tuple[tuple[Span, tree.Parameter], ...], tuple[Diagnostic, ...]]:
            before = self.reporter, self.places
            self.reporter, self.places = Reporter(), {}
            instances = tuple(self._instances(item, bound))
            found = instances, tuple(self.places.items()), tuple(self.reporter)
            self.reporter, self.places = before
            return found

        instances: tuple[Instance, ...]
        instances, places, findings = world.instances.of(item, made)
        self.places.update(places)
        self.reporter.extend(findings)
        self.complete = self.complete and bool(instances)
        return instances

    def _properties(self) -> Iterator[tuple[tree.Property, FromPreset | None]]:
        """Those of the main file, and of the presets that it applies."""
        for item in self.loaded.main.items:
            if isinstance(item, tree.Property):
                yield item, None
            elif isinstance(item, tree.Apply):
                found = tuple(applied(item, self._items, self.reporter))
                self.complete = self.complete and bool(found)
                yield from found

    def _collect(self, given: Mapping[str, str]) -> None:
        for item in self._items:
            if not isinstance(item, tree.Parameter):
                continue
            name = item.name
            if name.text in self.parameters:
                first = self.parameters[name.text].name.span
                self.reporter.report(errors.declared_twice("parameter", name.text, name.span, first))
                continue
            self._check_name("parameter", name)
            self.parameters[name.text] = item
        for name_given, text in given.items():
            if name_given not in self.parameters:
                self.reporter.report(errors.parameter_not_given(name_given, tuple(self.parameters)))
            elif (number := _read(text, self.parameters[name_given].number)) is None:
                self.reporter.report(errors.parameter_not_given(name_given, (), text))
            else:
                self.parameters[name_given] = replace(self.parameters[name_given], number=number)

    def _check_name(self, kind: str, name: tree.Name) -> None:
        """What stands in conditions has a name of its own, so that no name there means two things."""
        if name.text in self._taken:
            what, place = self._taken[name.text]
            self.reporter.report(errors.declared_twice(kind, name.text, name.span, place, clashes_with=what))
        elif name.text in {*keywords(), "class", *known_metrics()}:
            self.reporter.report(errors.name_means_something(kind, name.text, name.span))

    def _put(self, node: N, bound: Mapping[str, Value]) -> N | None:
        """The node with everything in its place; None after a finding."""
        if not any(stands_for(part, bound) for part in walk(node)):
            return node
        putting = Putting(bound, self.parameters, self.reporter, self.places)
        put = putting.of(node)
        if putting.failed:
            self.complete = False
            return None
        return put

    # ---- for each --------------------------------------------------------------------------------

    def _instances(self, node: tree.Property, bound: Mapping[str, Value]) -> Iterator[Instance]:
        clauses = [clause for clause in node.clauses if isinstance(clause, tree.ForEachClause)]
        choices = [self._values(clause, node) for clause in clauses]
        if any(choice is None for choice in choices):
            self.complete = False
            return
        if prod(len(choice or ()) for choice in choices) > _MOST:
            title = f"`{node.name.text}` would be more than {_MOST:,} properties"
            self.reporter.report(errors.number_out_of_place(title, clauses[0].span, "list the values that matter"))
            self.complete = False
            return
        rest = replace(node, clauses=tuple(c for c in node.clauses if not isinstance(c, tree.ForEachClause)))
        swept = [clause.variable.text for clause in clauses if clause.variable.text in self.parameters]
        if not (self._all_used(clauses, rest) and self._own(clauses, swept)):
            self.complete = False
            return
        for number, values in enumerate(itertools.product(*(choice or () for choice in choices))):
            here = {**bound, **{clause.variable.text: value for clause, value in zip(clauses, values, strict=True)}}
            models = dict(self._variants(tree.Model, swept, here))
            # Whoever reads the property finds the variant by its own name, so that no other model can be meant.
            named: dict[str, Value] = {name: variant.name for name, variant in models.items()}
            put = self._put(rest, {**here, **named})
            if put is None:
                return  # the same would be found for every value
            if clauses:
                name = f"{node.name.text}[{', '.join(map(text_of, values))}]"
                put = replace(put, name=replace(node.name, text=name))
            yield Instance(
                node=put,
                models=models,
                conditions=dict(self._variants(tree.NamedCondition, swept, here)),
                parameters=tuple(self._in_force(rest, here, swept)),
                again=number > 0,
            )

    def _values(self, clause: tree.ForEachClause, node: tree.Property) -> tuple[Value, ...] | None:
        """What the variable stands for in turn; None after a finding."""
        before = len(self.reporter.diagnostics)
        if clause.variable.text not in self.parameters:
            self._check_name("variable", clause.variable)
        same = [c for c in node.clauses if isinstance(c, tree.ForEachClause) and c.variable == clause.variable]
        if same[0] is not clause:
            name, first = clause.variable, same[0].variable.span
            self.reporter.report(errors.declared_twice("variable", name.text, name.span, first))
        values: tuple[Value, ...] = clause.values
        if clause.axis is not None:
            values = self._values_of(clause.axis)
        for place, value in enumerate(values):
            if value in values[:place]:
                first = values[values.index(value)].span
                written = text_of(value)
                self.reporter.report(errors.declared_twice("value", written, value.span, first, word="named"))
        return values if len(self.reporter.diagnostics) == before else None

    def _values_of(self, name: tree.Name) -> tuple[Value, ...]:
        """All values of an attribute, or of a label."""
        if name.text in self._derived:
            return _truth_values(name)
        if name.text not in self._typed:
            known = tuple(reversed(list(self._typed)))
            self.reporter.report(errors.unknown_attribute(name.text, name.span, "any domain", None, known))
            return ()
        match self._typed[name.text].type:
            case tree.CategoryType(entries=entries):
                return tuple(replace(entry.name, span=name.span) for entry in entries)
            case tree.BooleanType():
                return _truth_values(name)
            case tree.IntegerType(low=low, high=high) if 0 <= high.value - low.value < _MOST:
                return tuple(
                    tree.Number(value=Fraction(value), text=str(value), span=name.span)
                    for value in range(int(low.value), int(high.value) + 1)
                )
        title = f"`{name.text}` has too many values to be gone through"
        self.reporter.report(errors.number_out_of_place(title, name.span, "list those that matter in braces"))
        return ()

    def _all_used(self, clauses: Sequence[tree.ForEachClause], rest: tree.Property) -> bool:
        """A variable that stands nowhere would make the same property several times."""
        names = set(_names(rest.clauses))
        unused = [
            clause.variable for clause in clauses
            if clause.variable.text not in names
            and not (clause.variable.text in self.parameters and clause.variable.text in self._varied)
        ]  # fmt: skip
        for variable in unused:
            why = f"`{variable.text}` stands nowhere in the property, so it would be the same one for every value"
            help_text = f"write `{variable.text}` where the value belongs, as in `across {variable.text}`"
            self.reporter.report(errors.clause_out_of_place("for each", variable.span, why, help_text))
        return not unused

    def _own(self, clauses: Sequence[tree.ForEachClause], swept: Sequence[str]) -> bool:
        """A parameter of declarations that all properties share has one number."""
        for item, names in self._shared if swept else ():
            if isinstance(item, tree.Model | tree.NamedCondition) or names.isdisjoint(swept):
                continue
            for part in walk(item):
                if isinstance(part, tree.Name) and part.text in swept and _stands_for_number(item, part):
                    clause = next(clause for clause in clauses if clause.variable.text == part.text)
                    why = "it also stands in a declaration that is the same for all properties"
                    help_text = "declare a parameter of its own for what changes from property to property"
                    self.reporter.report(errors.clause_out_of_place("for each", clause.span, why, help_text))
                    return False
        return True

    def _variants(self, kind: type[N], swept: Sequence[str], here: Mapping[str, Value]) -> Iterator[tuple[str, N]]:
        """The declarations of a kind that a swept parameter stands in, with its value, which a model's name shows."""
        for item, names in self._shared if swept else ():
            if not isinstance(item, kind) or not isinstance(item, tree.Model | tree.NamedCondition):
                continue
            if names.isdisjoint(swept) or (put := self._put(item, here)) is None:
                continue
            said = ", ".join(f"{name} = {text_of(here[name])}" for name in swept if name in names)
            if isinstance(put, tree.Model):
                put = replace(put, name=replace(put.name, text=f"{put.name.text}[{said}]"))
            yield item.name.text, put

    def _in_force(self, node: tree.Property, here: Mapping[str, Value], swept: Sequence[str]) -> Iterator[InForce]:
        """The parameters that stand in the property, or in a declaration of the spec, as numbers."""
        names = set(_names(node)) if self.parameters else ()
        for name in self.parameters:
            if name in names or name in self._shared_names or name in swept:
                yield InForce(name=name, text=text_of(here[name]))


def _names(node: object) -> Iterator[str]:
    return _names_of(walk(node))


def _names_of(nodes: Iterable[tree.Node]) -> Iterator[str]:
    return (part.text for part in nodes if isinstance(part, tree.Name))


def _stands_for_number(item: tree.Item, name: tree.Name) -> bool:
    """Whether the name stands for a number in the item, and is not its own name or that of something else."""
    return any(
        (isinstance(part, tree.NamedNumber) and part.name is name)
        or (isinstance(part, tree.Reference) and part.owner is None and part.name is name)
        or (isinstance(part, tree.Membership) and name in part.elements)
        for part in walk(item)
    )


def _truth_values(name: tree.Name) -> tuple[Value, ...]:
    return tuple(tree.Name(text=word, span=name.span) for word in ("no", "yes"))


def _read(text: str, written: tree.Number) -> tree.Number | None:
    """The number that is given instead of the written one; None where it is none."""
    if not _WRITTEN.fullmatch(text):
        return None
    try:
        value = read_number(text.removesuffix("%"))
    except TooLongError:
        return None
    percent = text.endswith("%")
    return tree.Number(value=value / 100 if percent else value, text=text, percent=percent, span=written.span)
