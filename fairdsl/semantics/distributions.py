"""Distributions written by hand: ``job : table { clerk : 0.2, nurse : 0.8 }``.

Every value is one of its attribute, and the probabilities sum to 1.

Whether the conditions of several distributions of one attribute cover everybody once is seen when the population is
built: it takes the values of the attributes that they speak of.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import MISSING, Attribute, Boolean, Category, Domain, Integer, Real, show_number
from fairdsl.ir.expr import TRUE, Predicate, variables
from fairdsl.ir.population import Normal
from fairdsl.semantics import errors
from fairdsl.semantics.checked import ColumnDistribution, TableDistribution, UniformDistribution
from fairdsl.semantics.conditions.labels import value_code
from fairdsl.semantics.conditions.predicates import lower_condition
from fairdsl.semantics.conditions.scope import ConditionScope
from fairdsl.semantics.errors.wording import listing
from fairdsl.semantics.ranges import beside_normals
from fairdsl.source import Span
from fairdsl.source.numbers import not_one
from fairdsl.syntax import tree

#: Each family of distributions, as it is written.
FAMILIES = {"bernoulli": "bernoulli(p)", "normal": "normal(mean, sd)", "uniform": "uniform(low, high)"}


def check_distributions(
    distributions: Sequence[tree.ColumnDistribution], domain: Domain, reporter: Reporter
) -> tuple[ColumnDistribution, ...]:
    """Those of the attributes of ``domain`` and of the label that stands behind them; mistakes are reported."""
    _check_together(distributions, reporter)
    return tuple(
        distribution for node in distributions if (distribution := _distribution(node, domain, reporter)) is not None
    )


def _check_together(distributions: Sequence[tree.ColumnDistribution], reporter: Reporter) -> None:
    """An attribute has one distribution, or several that each say of whom (`given`)."""
    first: dict[str, tree.ColumnDistribution] = {}
    for distribution in distributions:
        name = distribution.variable
        earlier = first.setdefault(name.text, distribution)
        if earlier is not distribution and (earlier.given is None or distribution.given is None):
            reporter.report(errors.declared_twice("distribution of", name.text, name.span, earlier.variable.span))


def _distribution(node: tree.ColumnDistribution, domain: Domain, reporter: Reporter) -> ColumnDistribution | None:
    names = tuple(attribute.name for attribute in domain.attributes)
    if node.variable.text not in names:
        variable = node.variable
        reporter.report(errors.unknown_attribute(variable.text, variable.span, domain.name, domain.span, names))
        return None
    column = names.index(node.variable.text)
    attribute = domain.attributes[column]
    given = TRUE if node.given is None else _given(node.given, column, domain, reporter)
    shape: TableDistribution | UniformDistribution | Normal | None
    match node.shape:
        case tree.Table() as table:
            shape = _table(table, attribute, reporter)
        case tree.Family() as family:
            shape = _family(family, attribute, reporter)
    if shape is None or given is None:
        return None
    return ColumnDistribution(column=column, shape=shape, given=given, span=node.span)


def _given(node: tree.Expression, column: int, domain: Domain, reporter: Reporter) -> Predicate | None:
    predicate = lower_condition(node, ConditionScope(domain=domain), reporter)
    if predicate is not None and any(variable.attribute == column for variable in variables(predicate)):
        name = domain.attributes[column].name
        help_text = f"condition on other attributes; a distribution of part of the values of `{name}` is a table"
        reporter.report(
            errors.not_a_distribution(f"the distribution of `{name}` depends on `{name}` itself", node.span, help_text)
        )
        return None
    return predicate


# ---- tables ------------------------------------------------------------------------------------


def _table(table: tree.Table, attribute: Attribute, reporter: Reporter) -> TableDistribution | None:
    if isinstance(attribute.type, Real):
        help_text = "write `uniform(low, high)` or `normal(mean, sd)`, or declare the attribute `integer`"
        reporter.report(
            errors.not_a_distribution(f"`{attribute.name}` is real, so no table lists it", table.span, help_text)
        )
        return None
    entries: list[tuple[Fraction, Fraction]] = []
    seen: dict[Fraction, Span] = {}
    reported = len(reporter.diagnostics)
    for entry in table.entries:
        value = _value(entry.value, attribute, reporter)
        if value is not None and value in seen:
            reporter.report(errors.declared_twice("value", entry.value.text, entry.value.span, seen[value]))
        if value is not None:
            seen.setdefault(value, entry.value.span)
            entries.append((value, entry.probability.value))
        _check_probability(entry.probability, entry.probability.span, reporter)
    total = sum((entry.probability.value for entry in table.entries), Fraction(0))
    if total != 1:
        reporter.report(
            errors.not_a_distribution(
                f"the probabilities of `{attribute.name}` sum to {not_one(total)}, not to 1",
                table.span,
                "write all values with probabilities that sum to 1; fractions of 1 are never filled in silently",
            )
        )
    if len(reporter.diagnostics) == reported:
        _check_complete(table, attribute, seen, reporter)
    return TableDistribution(entries=tuple(entries)) if len(reporter.diagnostics) == reported else None


def _check_complete(table: tree.Table, attribute: Attribute, listed: Collection[Fraction], reporter: Reporter) -> None:
    """A table of a category or a boolean lists every value; one of whole numbers lists those that occur."""
    if not isinstance(attribute.type, Category | Boolean):
        return
    missing = [attribute.show(Fraction(code)) for code in attribute.values or () if code not in listed]
    if missing:
        left_out = f"`{missing[0]}`" if len(missing) == 1 else f"{len(missing)} values"
        title = f"the table of `{attribute.name}` leaves out {left_out}"
        help_text = f"write {listing(missing)} as well, with probability 0 where nobody has the value"
        why = "a value of probability 0 and one that was forgotten are different things"
        reporter.report(errors.not_a_distribution(title, table.span, help_text, why=why))


def _value(node: tree.Name | tree.Number, attribute: Attribute, reporter: Reporter) -> Fraction | None:
    """The number that stands for a value of an attribute which is not real."""
    if isinstance(attribute.type, Category | Boolean):
        return value_code(node, attribute, reporter)
    if attribute.missing is not None and node.text == MISSING:
        return attribute.missing
    if isinstance(node, tree.Number) and attribute.known.contains(node.value):
        return node.value
    low, high = (show_number(bound) for bound in attribute.known.bounds if bound is not None)
    reporter.report(errors.unknown_value(node.text, node.span, attribute.name, (f"{low} .. {high}",), attribute.span))
    return None


def _check_probability(number: tree.Number, span: Span, reporter: Reporter) -> None:
    if not 0 <= number.value <= 1:
        title = f"{number.text} is not a probability"
        reporter.report(errors.not_a_distribution(title, span, "write a number from 0 to 1"))


# ---- families ----------------------------------------------------------------------------------


def _family(
    family: tree.Family, attribute: Attribute, reporter: Reporter
) -> TableDistribution | UniformDistribution | Normal | None:
    name = family.name.text
    if name not in FAMILIES:
        reporter.report(errors.unknown_word("distribution", name, family.name.span, (*FAMILIES, "table")))
        return None
    wanted = FAMILIES[name]
    count = wanted.count(",") + 1
    if len(family.parameters) != count:
        title = f"`{name}` takes {count} number{'s' if count > 1 else ''}"
        reporter.report(errors.not_a_distribution(title, family.span, f"write `{wanted}`"))
        return None
    reported = len(reporter.diagnostics)
    if family.truncated and name != "normal":
        title = f"`{name}` has no ends to truncate"
        reporter.report(
            errors.not_a_distribution(title, family.span, "remove `truncated`: it belongs to a normal distribution")
        )
    shape: TableDistribution | UniformDistribution | Normal
    match name:
        case "bernoulli":
            shape = _bernoulli(family, attribute, reporter)
        case "normal":
            shape = _normal(family, attribute, reporter)
        case _:
            shape = _uniform(family, attribute, reporter)
    return shape if len(reporter.diagnostics) == reported else None


def _bernoulli(family: tree.Family, attribute: Attribute, reporter: Reporter) -> TableDistribution:
    (number,) = family.parameters
    _check_probability(number, family.span, reporter)
    if not isinstance(attribute.type, Boolean):
        title = f"`{attribute.name}` is not boolean, and a Bernoulli distribution is about true and false"
        reporter.report(errors.not_a_distribution(title, family.span, "write `table { value : probability, ... }`"))
    return TableDistribution(entries=((Fraction(0), 1 - number.value), (Fraction(1), number.value)))


def _normal(family: tree.Family, attribute: Attribute, reporter: Reporter) -> Normal:
    mean, sd = (parameter.value for parameter in family.parameters)
    if sd <= 0:
        reporter.report(
            errors.not_a_distribution("a standard deviation is positive", family.span, "write `normal(mean, sd)`")
        )
    if not isinstance(attribute.type, Real):
        title = f"`{attribute.name}` is not real, and a normal distribution is about real numbers"
        help_text = f"declare `{attribute.name} : real`, or write `table {{ value : probability, ... }}`"
        reporter.report(errors.not_a_distribution(title, family.span, help_text))
    elif attribute.bounds != (None, None) and not family.truncated:
        reporter.report(
            errors.not_a_distribution(
                f"`{attribute.name}` is bounded, a normal distribution is not",
                family.span,
                f"declare `{attribute.name} : real` without a range, or write `truncated` behind the distribution",
            )
        )
    elif attribute.bounds == (None, None) and family.truncated:
        title = f"`{attribute.name}` is unbounded, so nothing is truncated"
        help_text = f"remove `truncated`, or write the range, as in `{attribute.name} : real 0 .. 100`"
        reporter.report(errors.not_a_distribution(title, family.span, help_text))
    found = Normal(mean=mean, sd=sd, truncated=family.truncated)
    low, high = attribute.bounds
    if sd > 0 and low is not None and high is not None:
        reporter.extend(beside_normals(f"the distribution of `{attribute.name}`", family.span, low, high, [found]))
    return found


def _uniform(family: tree.Family, attribute: Attribute, reporter: Reporter) -> UniformDistribution:
    first, last = family.parameters
    low, high = first.value, last.value
    if low > high:
        reporter.report(errors.reversed_range(first.text, last.text, family.span, "uniform({}, {})"))
    elif low == high and isinstance(attribute.type, Real):
        title = f"the range from {first.text} to {last.text} is a single number, which has no length"
        help_text = f"write `table {{ {first.text} : 1 }}`, or a range"
        reporter.report(errors.not_a_distribution(title, family.span, help_text))
    elif not isinstance(attribute.type, Integer | Real):
        title = f"`{attribute.name}` is not a number, so it has no range"
        help_text = "write `table { value : probability, ... }`"
        reporter.report(errors.not_a_distribution(title, family.span, help_text))
    elif not (attribute.known.contains(low) and attribute.known.contains(high)):
        least, most = (show_number(bound) if bound is not None else "" for bound in attribute.known.bounds)
        title = f"`{attribute.name}` does not have all values from {first.text} to {last.text}"
        whole = "whole numbers " if isinstance(attribute.type, Integer) else ""
        help_text = f"its values are {whole}{least} .. {most}: a distribution gives all its probability to them"
        reporter.report(errors.not_a_distribution(title, family.span, help_text))
    return UniformDistribution(low=low, high=high)
