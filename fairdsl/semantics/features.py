"""What a model reads: sums of attributes, their indicators and one-hot codes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Category, Domain
from fairdsl.ir.expr import Member, Who
from fairdsl.ir.feature import AttributeInput, Form, IndicatorInput
from fairdsl.semantics import errors
from fairdsl.semantics.arithmetic import Arithmetic
from fairdsl.semantics.conditions import lower_condition
from fairdsl.semantics.scope import ConditionScope, resolve_attribute
from fairdsl.source import Span
from fairdsl.syntax import tree

__all__ = ["Features"]


@dataclass(frozen=True, slots=True)
class Features:
    """Turns the expressions of ``reads`` and of ``score = ...`` into exact forms."""

    domain: Domain
    reporter: Reporter

    def read(self, clause: tree.Reads) -> tuple[tuple[Form, ...], tuple[Span, ...]]:
        """The forms, in order, and where each was written."""
        forms: list[Form] = []
        spans: list[Span] = []
        for feature in clause.features:
            expanded = self._feature(feature) or ()
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
        found = resolve_attribute(argument, ConditionScope(domain=self.domain), self.reporter)
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
            for value in attribute.values
        )

    def form(self, node: tree.Expression, *, codes_are_numbers: bool) -> Form | None:
        """A linear form of attributes and indicators; in `reads` a category counts as its code."""
        scope = ConditionScope(domain=self.domain, individuals={self.domain.name: Who.EACH})

        def atom(inner: tree.Expression) -> Form | None:
            match inner:
                case tree.Reference():
                    return self._attribute_form(inner, scope, codes_are_numbers)
                case tree.Comparison() | tree.Membership() | tree.Negation() | tree.Conjunction() | tree.Disjunction():
                    predicate = lower_condition(inner, scope, self.reporter)
                    return None if predicate is None else Form.of(IndicatorInput(predicate))
                case tree.Call(function=function):
                    known = ("one_hot",) if codes_are_numbers else ()
                    self.reporter.report(errors.unknown_word("function here", function.text, inner.span, known))
                case _:
                    self.reporter.report(
                        errors.wrong_kind("a text", "a number", inner.span, "only values of categories are quoted")
                    )
            return None

        return Arithmetic(atom, lambda number: Form(constant=number), self.reporter).lower(node)

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
