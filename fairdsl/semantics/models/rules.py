"""Lists of rules: their order, what they name, and rules that can never decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairdsl.diagnostics import Reporter
from fairdsl.ir.declaration import Rule, RuleList
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import Who
from fairdsl.semantics import errors
from fairdsl.semantics.conditions.predicates import lower_condition
from fairdsl.semantics.conditions.scope import ConditionScope
from fairdsl.semantics.models.unreached import report_unreached
from fairdsl.source import Span
from fairdsl.syntax import tree

__all__ = ["RuleScope", "WrittenRule", "check_list", "resolve_rules"]

#: What a rule of a list is not written beside, with the words for it.
_ELSEWHERE: dict[type[tree.ModelClause], str] = {
    tree.From: "a file",
    tree.FromCallable: "a Python function",
    tree.ScoreFormula: "a score",
    tree.DecidesWhen: "a decision rule",
    tree.DecidesByHighest: "a decision rule",
    tree.Reads: "a `reads` clause",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleScope:
    """What rules are about: the model's name and outcomes, its domain, and the labels, which are not attributes."""

    model: str
    outcomes: tuple[str, ...]
    domain: Domain
    labels: Mapping[str, Span]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenRule:
    """A rule as it was read, in a spec or in a document; ``span`` is all of it.

    ``condition`` is None where it could not be read, which has been reported.
    """

    outcome: tree.Name
    condition: tree.Expression | None
    span: Span


def check_list(node: tree.Model, scope: RuleScope, reporter: Reporter) -> RuleList | None:
    """The list that a model's rules make; None after reporting that they make none."""
    if not _stand_alone(node, reporter):
        return None
    clauses = [clause for clause in node.clauses if isinstance(clause, tree.Rule | tree.Otherwise)]
    rules = [clause for clause in clauses if isinstance(clause, tree.Rule)]
    ends = [clause for clause in clauses if isinstance(clause, tree.Otherwise)]
    ordered = _in_order(scope.model, clauses, reporter)
    if not ends:
        reporter.report(errors.otherwise_missing(scope.model, rules[-1].span, scope.outcomes[0]))
    written = [WrittenRule(outcome=rule.outcome, condition=rule.condition, span=rule.span) for rule in rules]
    if not ends or not ordered:
        for rule in written:
            _resolved(rule, scope, reporter)
        return None
    return resolve_rules(written, ends[0].outcome, scope, reporter, rules[0].span.to(ends[0].span))


def resolve_rules(
    written: Sequence[WrittenRule],
    otherwise: tree.Name,
    scope: RuleScope,
    reporter: Reporter,
    span: Span,
) -> RuleList | None:
    """The rules with their names resolved, and warnings about those that never decide; None after an error."""
    rules = [_resolved(rule, scope, reporter) for rule in written]
    end = _outcome(otherwise, scope, reporter)
    found = tuple(rule for rule in rules if rule is not None)
    if end is None or len(found) < len(rules):
        return None
    report_unreached(found, scope.domain, reporter)
    return RuleList(rules=found, otherwise=end, span=span)


def _resolved(rule: WrittenRule, scope: RuleScope, reporter: Reporter) -> Rule | None:
    individuals = {scope.domain.name: Who.EACH}
    names = ConditionScope(domain=scope.domain, individuals=individuals, labels=scope.labels)
    outcome = _outcome(rule.outcome, scope, reporter)
    condition = None if rule.condition is None else lower_condition(rule.condition, names, reporter)
    if outcome is None or condition is None:
        return None
    return Rule(condition=condition, outcome=outcome, span=rule.span)


def _outcome(name: tree.Name, scope: RuleScope, reporter: Reporter) -> int | None:
    if name.text in scope.outcomes:
        return scope.outcomes.index(name.text)
    reporter.report(errors.unknown_outcome(name.text, name.span, scope.model, scope.outcomes))
    return None


def _stand_alone(node: tree.Model, reporter: Reporter) -> bool:
    """Nothing else of the model decides; what does is reported."""
    rule = next(clause for clause in node.clauses if isinstance(clause, tree.Rule | tree.Otherwise))
    others = [clause for clause in node.clauses if type(clause) in _ELSEWHERE]
    for other in others:
        reporter.report(errors.rules_beside(node.name.text, _ELSEWHERE[type(other)], other.span, rule.span))
    return not others


def _in_order(model: str, clauses: Sequence[tree.Rule | tree.Otherwise], reporter: Reporter) -> bool:
    """``first`` once and at the beginning, ``otherwise`` once and at the end."""
    problems = 0
    ended: tree.Otherwise | None = None
    for position, clause in enumerate(clauses):
        what = _out_of_order(clause, position, ended, clauses[0])
        if what is not None:
            problems += 1
            reporter.report(errors.rules_out_of_order(model, clause.span, *what))
        if isinstance(clause, tree.Otherwise):
            ended = ended or clause
    return problems == 0


def _out_of_order(
    clause: tree.Rule | tree.Otherwise, position: int, ended: tree.Otherwise | None, opening: tree.Rule | tree.Otherwise
) -> tuple[str, str, Span | None] | None:
    """What is wrong about the place of a clause, what to write, and the clause that it contradicts."""
    match clause:
        case tree.Otherwise() if ended is not None:
            return "says twice what happens otherwise", "keep one `otherwise`, at the end", ended.span
        case tree.Otherwise() if position == 0:
            outcome = clause.outcome.text
            return "begins with `otherwise`", f"write `first {outcome} when ...` above it", None
        case tree.Rule(outcome=outcome) if ended is not None:
            return "goes on behind `otherwise`", "move this rule above `otherwise`", ended.span
        case tree.Rule(begins=True, outcome=outcome) if position:
            return "has two rules that are first", f"write `then {outcome.text} when ...`", opening.span
        case tree.Rule(begins=False, outcome=outcome) if not position:
            return "does not say which rule is first", f"write `first {outcome.text} when ...`", None
        case _:
            return None
