"""Any formula over what models give: a demand of one individual or of several (:mod:`fairdsl.ir.demand`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from fairdsl.diagnostics import Reporter
from fairdsl.ir.demand import Demanded, people_of
from fairdsl.ir.expr import Compare, Predicate, atoms, conjoin
from fairdsl.ir.question import Pair
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedModel
from fairdsl.semantics.conditions.outputs import Outputs, calls_in
from fairdsl.semantics.conditions.predicates import lower_condition
from fairdsl.semantics.conditions.scope import ConditionScope
from fairdsl.source import Span
from fairdsl.syntax import tree
from fairdsl.syntax.format_expression import text_of


@dataclass(frozen=True, slots=True, kw_only=True)
class FormulaReader:
    """Reads formulas, reporting whatever is wrong.

    ``main`` is the model that ``score(a)`` alone is about, None where the property does not say; ``premises`` are the
    conditions of its targets that speak of what models give, ``example`` is a formula that is one.
    """

    node: tree.Property
    compare: tree.CompareClause
    model: CheckedModel
    models: Mapping[str, CheckedModel | None]
    main: str | None
    scope: ConditionScope
    premises: tuple[tree.Expression, ...]
    example: str
    reporter: Reporter

    def read(self, node: tree.Expression | tree.SameDecision, question: Pair) -> Demanded | None:
        """Any formula over what models give, with the conditions on that in the targets as its premise."""
        outputs = Outputs(
            domain=self.model.domain,
            models=self.models,
            main=self.main,
            individuals=self.scope.individuals,
            reporter=self.reporter,
        )
        scope = replace(self.scope, outputs=outputs)
        written = self._same(node) if isinstance(node, tree.SameDecision) else node
        if not any(True for _ in calls_in(written)) or (not self.premises and not self._speaks_of_a_model(written)):
            self._nothing_demanded(node)
            return None
        formula = lower_condition(written, scope, self.reporter)
        if formula is not None and (said := _says_nothing(formula)) is not None:
            self.reporter.report(
                errors.demand_not_understood(
                    said.span or node.span, "both sides are the same whoever is asked about: compare what can differ"
                )
            )
            return None
        premises = [lower_condition(part, scope, self.reporter) for part in self.premises]
        if formula is None or None in premises:
            return None
        if not self._alone and outputs.unowned(formula):
            first, second = (name.text for name in self.compare.names[:2])
            self.reporter.report(
                errors.demand_not_understood(
                    node.span, f"say whose attributes are meant, as in `{first}.x` and `{second}.x`"
                )
            )
            return None
        both = [
            outputs.about(part, one)
            for part in premises
            if part is not None
            for one in people_of(len(self.compare.names) if outputs.unowned(part) else 1)
        ]
        sure = [outputs.surely(each) for each in question.sure]
        for name in outputs.named:
            if not self._same_domain(name, node.span):
                return None
        return Demanded(
            names=tuple(name.text for name in self.compare.names),
            models=tuple(outputs.named),
            pair=replace(question, sure=()),
            attributes=len(self.model.domain.attributes),
            terms=tuple(outputs.terms),
            formula=formula,
            given=conjoin(*both),
            sure=conjoin(*sure),
            text=text_of(written),
            premise_text=" and ".join(text_of(part) for part in self.premises),
            when=tuple(text_of(each.condition) for each in self.node.clauses if isinstance(each, tree.WhenClause)),
            span=node.span,
        )

    def _speaks_of_a_model(self, node: tree.Expression) -> bool:
        return any(call.function.text not in ("abs", "share") or call.owner is not None for call in calls_in(node))

    def _nothing_demanded(self, node: tree.Expression | tree.SameDecision) -> None:
        """A demand that no model could break or meet."""
        first, second = self.compare.first.text, self.compare.second.text
        known = (
            f"`require {self.example}` or `require share({self.example}) >= 95%`"
            if self._alone
            else f"`require same decision`, `require abs(score({first}) - score({second})) <= 0.1` or "
            "`require fair_share >= 95%`"
        )
        self.reporter.report(errors.demand_not_understood(node.span, f"write {known}"))

    def _same(self, node: tree.SameDecision) -> tree.Expression:
        """``approve(a) = approve(b)``, which is what it says; of several each as the next."""

        def decision(name: tree.Name) -> tree.Call:
            function = tree.Name(text=self.model.declaration.name, quoted=False, span=node.span)
            argument = tree.Reference(owner=None, name=name, span=node.span)
            return tree.Call(owner=None, function=function, arguments=(argument,), span=node.span)

        same: list[tree.Expression] = [
            tree.Comparison(left=decision(one), relation="=", right=decision(other), span=node.span)
            for one, other in pairwise(self.compare.names)
        ]
        return same[0] if len(same) == 1 else tree.Conjunction(parts=tuple(same), span=node.span)

    def _same_domain(self, name: str, span: Span) -> bool:
        other = self.models[name]
        if other is not None and other.domain.name != self.model.domain.name:
            self.reporter.report(
                errors.not_comparable(
                    f"`{name}` does not decide about `{self.model.domain.name}`",
                    span,
                    f"it reads individuals of `{other.domain.name}`",
                    "name models of one domain",
                )
            )
            return False
        return other is not None

    @property
    def _alone(self) -> bool:
        return len(self.compare.names) == 1


def _says_nothing(predicate: Predicate) -> Compare | None:
    """A comparison in which everything cancels, so that it is true of everybody or of nobody."""
    return next((atom for atom in atoms(predicate) if isinstance(atom, Compare) and not atom.left.terms), None)
