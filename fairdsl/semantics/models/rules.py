"""Lists of rules: their order, what they name, and rules that can never decide.

Rules of a list that never decide: whoever meets their condition meets that of an earlier rule.

What is said is proved, and only cheap proofs are tried.

* A rule whose condition has all the parts of an earlier one's, and more, implies it.
* Let ``x`` be an attribute, and ``S`` the values of it that the parts of a rule's condition about ``x`` alone leave. If
  each value in ``S`` meets some earlier condition that is about ``x`` alone, then so does whoever meets the rule's
  condition, whatever his other attributes are. Between two neighbouring borders of those conditions no truth
  changes, so the borders and one value between any two of them stand for all values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from fairdsl.diagnostics import Reporter
from fairdsl.ir.declaration import Rule, RuleList
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import And, Predicate, Who, borders, conjuncts, holds_at, variables
from fairdsl.numerics.narrow import Finite, ValueSet, narrow
from fairdsl.semantics import errors
from fairdsl.semantics.conditions.predicates import lower_condition
from fairdsl.semantics.conditions.scope import ConditionScope
from fairdsl.source import Span
from fairdsl.syntax import tree

#: Values of attributes that are listed one by one; longer ranges by their borders.
_LISTED = 256
#: Truths of conditions that may be looked up in all.
_MOST_TRUTHS = 200_000


@dataclass(slots=True)
class _Column:
    """An attribute: the values that stand for all, and the earlier rule (by number) that each of them meets first."""

    samples: tuple[Fraction, ...]
    met: dict[Fraction, int] = field(default_factory=dict)


def report_unreached(rules: Sequence[Rule], domain: Domain, reporter: Reporter) -> None:
    """Warn of each rule that an earlier one always comes before, or whose condition nobody meets."""
    parts = [frozenset(conjuncts(rule.condition)) for rule in rules]
    columns = _columns(rules, domain)
    for number, rule in enumerate(rules):
        earlier = _implied(parts, number)
        if earlier is None:
            earlier = _covered(rule, columns)
        if earlier is not None:
            reporter.report(errors.never_decides(rule.span, [rules[other].span for other in sorted(earlier)]))
        about = _only(rule.condition)
        if about in columns:
            column = columns[about]
            for value in column.samples:
                if value not in column.met and holds_at(rule.condition, value):
                    column.met[value] = number


def _implied(parts: Sequence[frozenset[Predicate]], number: int) -> set[int] | None:
    """The first rule before this one whose condition has no part that this one's has not."""
    found = next((other for other in range(number) if parts[other] <= parts[number]), None)
    return None if found is None else {found}


def _covered(rule: Rule, columns: dict[int | None, _Column]) -> set[int] | None:
    """The earlier rules that meet all that one attribute may be; the empty set where it may be nothing."""
    written = conjuncts(rule.condition)
    for attribute in dict.fromkeys(_only(part) for part in written):
        column = columns.get(attribute)
        if column is None:
            continue
        alone = And(tuple(part for part in written if _only(part) == attribute))
        if not any(value not in column.met and holds_at(alone, value) for value in column.samples):
            return {number for value, number in column.met.items() if holds_at(alone, value)}
    return None


def _columns(rules: Sequence[Rule], domain: Domain) -> dict[int | None, _Column]:
    """The attributes that a part of some condition is about alone, unless that makes too much to look up."""
    about: dict[int, list[Predicate]] = {}
    for rule in rules:
        for part in conjuncts(rule.condition):
            attribute = _only(part)
            if attribute is not None:
                about.setdefault(attribute, []).append(part)
    sets = narrow(domain)
    columns: dict[int | None, _Column] = {}
    truths = 0
    for attribute, predicates in about.items():
        samples = tuple(_samples(sets[attribute], predicates))
        truths += len(samples) * len(predicates)
        columns[attribute] = _Column(samples)
    return columns if truths <= _MOST_TRUTHS else {}


def _only(predicate: Predicate) -> int | None:
    """The one attribute that a predicate is about."""
    found = {variable.attribute for variable in variables(predicate)}
    return next(iter(found)) if len(found) == 1 else None


def _samples(values: ValueSet, predicates: Sequence[Predicate]) -> Iterator[Fraction]:
    """Values at which the predicates, all about one attribute, take all the truths that they take together."""
    changes = sorted({border for predicate in predicates for border in borders(predicate)})
    if isinstance(values, Finite):
        if values.count <= _LISTED or not isinstance(values.values, range):
            yield from (Fraction(value) for value in values.values)
            return
        near = {number for border in changes for number in range(floor(border) - 1, ceil(border) + 2)}
        ends = {values.values[0], values.values[-1]}
        yield from (Fraction(number) for number in sorted(near | ends) if number in values.values)
        return
    inside = {border for border in changes if values.contains(border)}
    marks = sorted(inside | {end for end in (values.low, values.high) if end is not None}) or [Fraction(0)]
    if values.low is None:
        yield marks[0] - 1
    if values.high is None:
        yield marks[-1] + 1
    yield from marks
    yield from ((low + high) / 2 for low, high in pairwise(marks))


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
