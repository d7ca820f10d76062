"""Models as declared: source, features, decision rule and favourable outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from fairdsl.diagnostics import Reporter
from fairdsl.ir.declaration import (
    ByRules,
    CallableSource,
    DecisionClause,
    Highest,
    InlineScore,
    ModelDeclaration,
    ModelSource,
    Recorded,
    WhenScore,
)
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import Relation, Who
from fairdsl.ir.feature import Form, IndicatorInput
from fairdsl.semantics import errors
from fairdsl.semantics.conditions.predicates import lower_condition
from fairdsl.semantics.conditions.scope import ConditionScope
from fairdsl.semantics.models.features import Features
from fairdsl.semantics.models.own_number_rules import class_rule, names_classes, one_of_two, own_number_rule
from fairdsl.semantics.models.own_numbers import OWN_NUMBERS, own_comparison
from fairdsl.semantics.models.rules import RuleScope, check_list
from fairdsl.semantics.models.sources import (
    file_source,
    lists_rules,
    names_outcomes,
    names_rules,
    recorded_decisions,
)
from fairdsl.semantics.walk import walk
from fairdsl.source import Span
from fairdsl.syntax import tree


def check_model(
    node: tree.Model, domain: Domain, reporter: Reporter, labels: Mapping[str, Span]
) -> ModelDeclaration | None:
    """The declaration, or None after reporting what it lacks; ``labels`` are not attributes that it could read."""
    outcomes = _outcomes(node, reporter)
    own = Reporter()
    checker = _ModelChecker(node, domain, outcomes, labels, own)
    source, decision = checker.source_and_decision()
    favourable = checker.favourable()
    forms, spans = checker.reads()
    recorded = checker.recorded()
    reporter.extend(own)
    if source is None or decision is None or own.has_errors or len(outcomes) < 2:
        return None
    return ModelDeclaration(
        name=node.name.text,
        outcomes=outcomes,
        favourable=favourable,
        ordered=node.ordered,
        source=source,
        decision=decision,
        reads=forms,
        reads_spans=spans,
        recorded=recorded,
        span=node.name.span,
    )


def _outcomes(node: tree.Model, reporter: Reporter) -> tuple[str, ...]:
    seen: dict[str, Span] = {}
    for outcome in node.outcomes:
        if outcome.text in seen:
            first = seen[outcome.text]
            reporter.report(errors.declared_twice("outcome", outcome.text, outcome.span, first, word="named"))
        seen.setdefault(outcome.text, outcome.span)
    if len(node.outcomes) < 2:
        reporter.report(
            errors.model_incomplete(
                node.name.text,
                node.outcomes[0].span if node.outcomes else node.name.span,
                "has a single outcome",
                "list all its outcomes, as in `{ reject, grant }`",
            )
        )
    return tuple(seen)


C = TypeVar("C", bound=tree.Node)


@dataclass(frozen=True, slots=True)
class _ModelChecker:
    node: tree.Model
    domain: Domain
    outcomes: tuple[str, ...]
    labels: Mapping[str, Span]
    reporter: Reporter

    @property
    def _name(self) -> str:
        return self.node.name.text

    def _only(self, kind: type[C], described: str) -> C | None:
        """The one clause of this kind; a second one is reported."""
        found = [clause for clause in self.node.clauses if isinstance(clause, kind)]
        for extra in found[1:]:
            self.reporter.report(
                errors.model_incomplete(self._name, extra.span, f"has two clauses for {described}", "keep one of them")
            )
        return found[0] if found else None

    def _outcome(self, name: tree.Name) -> int | None:
        if name.text in self.outcomes:
            return self.outcomes.index(name.text)
        self.reporter.report(errors.unknown_outcome(name.text, name.span, self._name, self.outcomes))
        return None

    def favourable(self) -> int | None:
        clause = self._only(tree.Favourable, "its favourable outcome")
        return self._outcome(clause.outcome) if clause else None

    def reads(self) -> tuple[tuple[Form, ...] | None, tuple[Span, ...]]:
        """The forms and where each was written; None without the clause."""
        clause = self._only(tree.Reads, "what it reads")
        if clause is None or lists_rules(self.node):
            return None, ()  # beside rules it has been reported
        if not any(isinstance(other, tree.From | tree.FromCallable) for other in self.node.clauses):
            self._incomplete(clause.span, "has no file that could read anything", "remove `reads`")
            return None, ()
        rules = next(
            (other for other in self.node.clauses if isinstance(other, tree.From) and names_rules(other)), None
        )
        if rules is not None:
            self.reporter.report(errors.rules_beside(self._name, "a `reads` clause", clause.span, rules.span))
            return None, ()
        return Features(self.domain, self.reporter, self.labels).read(clause)

    def recorded(self) -> Recorded | None:
        """The decisions that the model has to agree with; None without the clause."""
        clause = self._only(tree.Agrees, "recorded decisions")
        return None if clause is None else recorded_decisions(clause, self.reporter)

    # ---- where the score comes from, and what it decides -----------------------------------------

    def source_and_decision(self) -> tuple[ModelSource | None, DecisionClause | None]:
        if lists_rules(self.node):
            return self._list()
        file, formula = self._only(tree.From, "its file"), self._only(tree.ScoreFormula, "its score")
        function = self._only(tree.FromCallable, "its function")
        whens = self._whens()
        when = whens[0] if whens else None
        highest = self._only(tree.DecidesByHighest, "its decision rule")
        if not self._one_source(file, function, formula):
            return None, None
        if when is not None and highest is not None:
            self._incomplete(highest.span, "has two decision rules", "keep the one that is used")
            return None, None
        if when is None and highest is None:
            if (answers := names_outcomes(file, function)) is not None:
                return answers
            ways = [f"`{name} when score > 0` if a high score means `{name}`" for name in self.outcomes[::-1][:2]]
            self._incomplete(
                self.node.name.span,
                "has no decision rule",
                f"write {', or '.join(ways)}; several scores are compared by `decide by highest score`, and a list of "
                f"rules begins with `first {self.outcomes[-1]} when ...`",
            )
            return None, None
        if function is not None:
            decision = self._decision(highest, whens)
            return CallableSource(span=function.span), decision
        if file is None and formula is None:
            return self._rule(when) if when is not None else self._no_source(self.node.name.span)
        if file is not None and names_rules(file):
            clause = when or highest
            assert clause is not None
            self.reporter.report(errors.rules_beside(self._name, "a decision rule", clause.span, file.span))
            return None, None
        if formula is not None and highest is not None:
            self.reporter.report(
                errors.rule_not_understood(
                    highest.span,
                    "a formula is one score, so there is no highest",
                    f"write for instance `{self.outcomes[-1]} when score > 0`",
                )
            )
            return None, None
        source = file_source(file) if file else self._formula(formula)
        return source, self._decision(highest, whens)

    def _one_source(
        self, file: tree.From | None, function: tree.FromCallable | None, formula: tree.ScoreFormula | None
    ) -> bool:
        """Whether the model comes from one place at most."""
        if formula is not None and (file or function):
            has = "a file" if file else "a Python function"
            self._incomplete(formula.span, f"has both {has} and a formula", "keep the one that is audited")
        elif file is not None and function is not None:
            self._incomplete(function.span, "has both a file and a Python function", "keep the one that is audited")
        else:
            return True
        return False

    def _list(self) -> tuple[ModelSource | None, DecisionClause | None]:
        """``first ... then ... otherwise``: the rules decide themselves."""
        scope = RuleScope(model=self._name, outcomes=self.outcomes, domain=self.domain, labels=self.labels)
        found = check_list(self.node, scope, self.reporter)
        return (None, None) if found is None else (found, ByRules(span=found.span))

    def _incomplete(self, span: Span, what: str, help_text: str) -> None:
        self.reporter.report(errors.model_incomplete(self._name, span, what, help_text))

    def _no_source(self, span: Span) -> tuple[None, None]:
        help_text = 'write `from "model.onnx"`, or the formula as `score = ...`'
        self._incomplete(span, "has no score", help_text + self._qualified(span))
        return None, None

    def _qualified(self, span: Span) -> str:
        """The hint for an attribute that has the name of one of the model's own numbers."""
        word = next((a.name for a in self.domain.attributes if a.name in OWN_NUMBERS and a.name in span.text), None)
        return f"; the attribute is `{self.domain.name}.{word}`" if word else ""

    def _formula(self, clause: tree.ScoreFormula | None) -> InlineScore | None:
        assert clause is not None
        form = Features(self.domain, self.reporter, self.labels).form(clause.formula, codes_are_numbers=False)
        return InlineScore(form=form, span=clause.formula.span) if form else None

    def _whens(self) -> tuple[tree.DecidesWhen, ...]:
        """The decision rule: one condition, or a class for each outcome; further ones are reported."""
        found = tuple(clause for clause in self.node.clauses if isinstance(clause, tree.DecidesWhen))
        if len(found) > 1 and not names_classes(found):
            self._only(tree.DecidesWhen, "its decision rule")
            return found[:1]
        return found

    def _decision(
        self, highest: tree.DecidesByHighest | None, whens: Sequence[tree.DecidesWhen]
    ) -> DecisionClause | None:
        if highest is not None:
            return Highest(span=highest.span)
        named = [self._outcome(when.outcome) for when in whens]
        if names_classes(whens):
            return class_rule(whens, named, self.outcomes, self.reporter)
        return own_number_rule(whens[0], named[0], self.outcomes, self.reporter)

    def _rule(self, when: tree.DecidesWhen) -> tuple[InlineScore | None, DecisionClause | None]:
        """``accept when CONDITION`` over the attributes: its indicator is the score."""
        if own_comparison(when.condition) is not None:
            return self._no_source(when.condition.span)
        outcome = self._outcome(when.outcome)
        self._check_own_words(when.condition)
        individuals = {self.domain.name: Who.EACH}
        scope = ConditionScope(domain=self.domain, individuals=individuals, labels=self.labels)
        predicate = lower_condition(when.condition, scope, self.reporter)
        if outcome is None or predicate is None or not one_of_two(self.outcomes, when.span, self.reporter):
            return None, None
        source = InlineScore(form=Form.of(IndicatorInput(predicate)), span=when.condition.span)
        positive = WhenScore(outcome=outcome, relation=Relation.GT, threshold=Fraction(0), span=when.span)
        return source, positive

    def _check_own_words(self, condition: tree.Expression) -> None:
        """`score` inside a rule could be the model's own number; the attribute is written with its domain."""
        for node in walk(condition):
            if isinstance(node, tree.Reference) and node.owner is None and node.name.text in OWN_NUMBERS:
                word = node.name.text
                self.reporter.report(
                    errors.rule_not_understood(
                        node.span,
                        f"`{word}` could be the model's own number",
                        f"write `{self.domain.name}.{word}` for the attribute, "
                        f"or compare nothing but `{word}` with a number",
                    )
                )
