"""What a model reads: sums of attributes, their indicators and one-hot codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Category, Domain
from fairdsl.ir.expr import Member, Who
from fairdsl.ir.feature import AttributeInput, Form, IndicatorInput
from fairdsl.semantics import errors
from fairdsl.semantics.conditions.arithmetic import Arithmetic
from fairdsl.semantics.conditions.labels import labelled_attribute
from fairdsl.semantics.conditions.predicates import lower_condition
from fairdsl.semantics.conditions.scope import ConditionScope, resolve_attribute
from fairdsl.source import Span
from fairdsl.syntax import tree


@dataclass(frozen=True, slots=True)
class Features:
    """Turns the expressions of ``reads`` and of ``score = ...`` into exact forms."""

    domain: Domain
    reporter: Reporter
    labels: Mapping[str, Span] = field(default_factory=dict)

    def read(self, clause: tree.Reads) -> tuple[tuple[Form, ...], tuple[Span, ...]]:
        """The forms, in order, and where each was written."""
        forms: list[Form] = []
        spans: list[Span] = []
        first: dict[tuple[Form, ...], Span] = {}
        for feature in clause.features:
            expanded = self._feature(feature) or ()
            if expanded in first and expanded[0].terms:
                self.reporter.report(errors.read_twice(feature.span.text, feature.span, first[expanded]))
            if expanded:
                first.setdefault(expanded, feature.span)
            forms.extend(expanded)
            spans.extend([feature.span] * len(expanded))
        return tuple(forms), tuple(spans)

    def _feature(self, node: tree.Expression) -> tuple[Form, ...] | None:
        if not (isinstance(node, tree.Call) and node.function.text == "one_hot"):
            form = self.form(node, codes_are_numbers=True)
            return None if form is None else (form,)
        argument = node.arguments[0] if len(node.arguments) == 1 else None
        if not isinstance(argument, tree.Reference):
            self.reporter.report(
                errors.wrong_kind("no attribute", "one attribute", node.span, "write `one_hot(attribute)`")
            )
            return None
        found = resolve_attribute(argument, ConditionScope(domain=self.domain, labels=self.labels), self.reporter)
        if found is None:
            return None
        variable, attribute = found
        if attribute.values is None:
            self.reporter.report(
                errors.not_comparable(
                    f"`{attribute.name}` is real, so it has no list of values to encode",
                    node.span,
                    "one-hot encoding needs a finite set of values",
                    "encode a category, or cut the attribute into categories in the data",
                )
            )
            return None
        return tuple(
            Form.of(IndicatorInput(Member(variable=variable, values=frozenset({Fraction(value)}))))
            for value in attribute.known.values or ()
        )

    def form(self, node: tree.Expression, *, codes_are_numbers: bool) -> Form | None:
        """A linear form of attributes and indicators; in `reads` a category counts as its code."""
        individuals = {self.domain.name: Who.EACH}
        scope = ConditionScope(domain=self.domain, individuals=individuals, labels=self.labels)

        weighed: list[Form] = []

        def atom(inner: tree.Expression) -> Form | None:
            match inner:
                case tree.Reference():
                    attribute = self._attribute_form(inner, scope, codes_are_numbers)
                    weighed.extend(() if attribute is None else (attribute,))
                    return attribute
                case tree.Comparison() if (parentheses := _parentheses(inner, scope)) is not None:
                    self.reporter.report(
                        errors.not_comparable(
                            "this compares two sums, and the category in one of them is not a number",
                            inner.span,
                            "`+ - * /` bind more strongly than `=`, so the comparison is of all on its two sides",
                            f"put the comparison in parentheses: `{parentheses}`",
                        )
                    )
                case (
                    tree.Comparison()
                    | tree.Membership()
                    | tree.Absence()
                    | tree.Negation()
                    | tree.Conjunction()
                    | tree.Disjunction()
                ):
                    predicate = lower_condition(inner, scope, self.reporter)
                    return None if predicate is None else Form.of(IndicatorInput(predicate))
                case tree.Call(function=function):
                    self._no_function(inner, function.text, in_reads=codes_are_numbers)
                case _:
                    self.reporter.report(
                        errors.wrong_kind("a text", "a number", inner.span, "only values of categories are quoted")
                    )
            return None

        found = Arithmetic(atom, lambda number: Form(constant=number), self.reporter).lower(node)
        if found is not None and not (codes_are_numbers and isinstance(node, tree.Reference)):
            # Also where nothing of it is left, as of `age - age`: who lacks it has no number all the same.
            for item, _ in (term for form in weighed for term in form.terms):
                if isinstance(item, AttributeInput) and self.domain.attributes[item.attribute].missing is not None:
                    self.reporter.report(errors.weighs_missing(self.domain.attributes[item.attribute].name, node.span))
                    return None
        return found

    def _no_function(self, node: tree.Call, name: str, *, in_reads: bool) -> None:
        """A call inside a sum: sums are linear, and `one_hot` is a list of numbers."""
        if name == "one_hot" and in_reads:
            written = node.span.text
            help_text = f"`{written}` is one number for each value: let it stand alone in `reads`, between commas"
            self.reporter.report(errors.wrong_kind("`one_hot` inside a sum", "a single number", node.span, help_text))
            return
        if name == "one_hot":
            remedy = f"weigh the values one by one, as in `{self._weighed(node)}`"
        else:
            what = "what is read is" if in_reads else "scores are"
            remedy = (
                f"{what} linear, sums of `number * attribute`: put `{node.span.text}` into the data as an attribute"
            )
        known = ("one_hot",) if in_reads else ()
        self.reporter.report(errors.unknown_word("function here", name, node.span, known, remedy))

    def _weighed(self, node: tree.Call) -> str:
        argument = node.arguments[0] if node.arguments else None
        if isinstance(argument, tree.Reference):
            for attribute in self.domain.attributes:
                if attribute.name == argument.name.text and attribute.values:
                    return f"2 * ({attribute.name} = {attribute.show(Fraction(attribute.values[-1]))})"
        return "2 * (job = nurse)"

    def _attribute_form(self, node: tree.Reference, scope: ConditionScope, codes_are_numbers: bool) -> Form | None:
        found = resolve_attribute(node, scope, self.reporter)
        if found is None:
            return None
        variable, attribute = found
        if isinstance(attribute.type, Category) and not codes_are_numbers:
            value = attribute.type.values[0].name
            self.reporter.report(
                errors.not_comparable(
                    f"`{attribute.name}` is a category, not a number",
                    node.span,
                    "codes are labels: a weight on them depends on how the values happen to be numbered",
                    f"weigh its values one by one, as in `2.5 * ({attribute.name} = {value})`",
                )
            )
            return None
        return Form.of(AttributeInput(variable.attribute))


def _parentheses(node: tree.Comparison, scope: ConditionScope) -> str | None:
    """The comparison that ``2 * job = nurse + income`` is meant to have; None where it is what it seems to be."""
    if not isinstance(node.left, tree.Arithmetic) and not isinstance(node.right, tree.Arithmetic):
        return None
    left, right = node.left, node.right
    while isinstance(left, tree.Arithmetic):
        left = left.right
    while isinstance(right, tree.Arithmetic):
        right = right.left
    if labelled_attribute(left, scope) is None and labelled_attribute(right, scope) is None:
        return None
    return f"({left.span.text} {node.relation} {right.span.text})"
