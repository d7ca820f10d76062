"""Is this a meaningful fairness question? Questions about nobody hold of any model, so they are errors."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Domain, Integer, Real, show_number
from fairdsl.ir.expr import TRUE, And, Compare, Linear, Member, Not, Or, Predicate, Relation, Who, conjoin, variables
from fairdsl.ir.question import Pair
from fairdsl.numerics.narrow import ValueSet, narrow
from fairdsl.semantics import errors
from fairdsl.source import Span

__all__ = ["check_domain_is_inhabited", "check_pair"]


def check_domain_is_inhabited(domain: Domain, reporter: Reporter) -> None:
    """A domain whose constraints exclude everybody is an error."""
    if domain.where == TRUE:
        return
    product = narrow(replace(domain, where=TRUE))
    reported = len(reporter.diagnostics)
    for part in _conjuncts(domain.where):
        _always_or_never(part, domain, product, "constraint", reporter)
    span = _span_of(domain.where)
    if len(reporter.diagnostics) == reported and span is not None and _nobody(narrow(domain)):
        reporter.report(errors.excludes_everybody("the domain", span, "together the constraints leave nobody"))


def check_pair(question: Pair, domain: Domain, differ_spans: dict[int, Span], reporter: Reporter) -> None:
    """Whether any pair can be in force: nothing empty, nothing fixed that must differ."""
    bare = narrow(domain)
    _check_relaxations(question, domain, reporter)
    if _nobody(bare):
        return  # the domain's own constraints have been reported
    reported = len(reporter.diagnostics)
    for part in _conjuncts(question.target):
        _always_or_never(part, domain, bare, "target", reporter)
    sets = narrow(domain, question.target)
    span = _span_of(question.target)
    if not _nobody(sets):
        _check_differing(question, domain, sets, differ_spans, reporter)
    elif len(reporter.diagnostics) == reported and span is not None:
        reporter.report(errors.excludes_everybody("the target", span, "together the conditions leave nobody"))


def _nobody(sets: tuple[ValueSet, ...]) -> bool:
    return any(value_set.count == 0 for value_set in sets)


def _single(value_set: ValueSet) -> Fraction | None:
    """The one value of a set that has one."""
    return value_set.low if value_set.low is not None and value_set.low == value_set.high else None


def _check_differing(
    question: Pair,
    domain: Domain,
    sets: tuple[ValueSet, ...],
    spans: dict[int, Span],
    reporter: Reporter,
) -> None:
    """Every differing attribute needs two values: under `any` too, for else naming it says nothing."""
    for index in question.differ:
        if _single(sets[index]) is None:
            continue
        attribute = domain.attributes[index]
        if attribute.size == 1:
            reporter.report(errors.one_valued(attribute.name, spans[index], attribute.span, mode=question.mode.value))
            continue
        value = _single(sets[index])
        assert value is not None
        cause = _restriction_of(index, conjoin(question.target, domain.where))
        reporter.report(
            errors.nothing_left_to_compare(attribute.name, f"`{attribute.show(value)}`", spans[index], cause)
        )


def _restriction_of(index: int, predicate: Predicate) -> Span | None:
    for part in _conjuncts(predicate):
        if any(variable.attribute == index for variable in variables(part)):
            return _span_of(part)
    return None


def _check_relaxations(question: Pair, domain: Domain, reporter: Reporter) -> None:
    for relaxation in question.relax:
        attribute = domain.attributes[relaxation.attribute]
        if relaxation.by is None or relaxation.span is None:
            continue
        low, high = attribute.bounds
        if relaxation.by == 0:
            detail = "by 0 allows no difference"
        elif isinstance(attribute.type, Integer) and relaxation.by < 1:
            detail = f"by {show_number(relaxation.by)} allows no difference between whole numbers"
        elif low is not None and high is not None and relaxation.by > high - low:
            detail = f"reaches beyond its whole range {show_number(low)} .. {show_number(high)}"
        else:
            continue
        reporter.report(errors.relaxes_nothing(attribute.name, relaxation.span, detail))


# ---- conditions that are constant over the domain ----------------------------------------------


def _conjuncts(predicate: Predicate) -> tuple[Predicate, ...]:
    if isinstance(predicate, And):
        return tuple(conjunct for part in predicate.parts for conjunct in _conjuncts(part))
    return (predicate,)


def _always_or_never(
    predicate: Predicate, domain: Domain, sets: tuple[ValueSet, ...], clause: str, reporter: Reporter
) -> None:
    """Comparisons decided by the ranges of their attributes alone."""
    if isinstance(predicate, Or) and predicate.parts:
        verdicts = {_constant(part, domain, sets) for part in predicate.parts}
        verdict = True if True in verdicts else (False if verdicts == {False} else None)
    else:
        verdict = _constant(predicate, domain, sets)
    span = _span_of(predicate)
    if verdict is None or span is None:
        return
    if verdict:
        reporter.report(errors.says_nothing(clause, span, _ranges(predicate, domain)))
    else:
        reporter.report(errors.excludes_everybody(f"this {clause}", span, _ranges(predicate, domain)))


def _constant(predicate: Predicate, domain: Domain, sets: tuple[ValueSet, ...]) -> bool | None:
    if not isinstance(predicate, Compare) or any(v.who is not Who.EACH for v, _ in predicate.left.terms):
        return None
    low, high = _range(predicate.left, sets)
    match predicate.relation:
        case Relation.LE:
            return _decided(high is not None and high <= 0, low is not None and low > 0)
        case Relation.LT:
            return _decided(high is not None and high < 0, low is not None and low >= 0)
        case Relation.GE:
            return _decided(low is not None and low >= 0, high is not None and high < 0)
        case Relation.GT:
            return _decided(low is not None and low > 0, high is not None and high <= 0)
        case Relation.EQ | Relation.NE:
            outside = (low is not None and low > 0) or (high is not None and high < 0)
            same = low == high == 0
            return _decided(same, outside) if predicate.relation is Relation.EQ else _decided(outside, same)


def _decided(always: bool, never: bool) -> bool | None:
    return True if always else (False if never else None)


def _range(form: Linear, sets: tuple[ValueSet, ...]) -> tuple[Fraction | None, Fraction | None]:
    """Least and greatest value of a linear form over a product of value sets."""
    low: Fraction | None = form.constant
    high: Fraction | None = form.constant
    for variable, factor in form.terms:
        least, most = sets[variable.attribute].low, sets[variable.attribute].high
        if factor < 0:
            least, most = most, least
        low = None if low is None or least is None else low + factor * least
        high = None if high is None or most is None else high + factor * most
    return low, high


def _ranges(predicate: Predicate, domain: Domain) -> str:
    """The declared ranges that decide the condition, in words."""
    names: list[str] = []
    for variable in variables(predicate):
        attribute = domain.attributes[variable.attribute]
        if isinstance(attribute.type, Integer | Real):
            low, high = attribute.bounds
            shown = [show_number(bound) if bound is not None else "" for bound in (low, high)]
            text = f"`{attribute.name}` lies in {shown[0]} .. {shown[1]}"
            if text not in names:
                names.append(text)
    return "; ".join(names)


def _span_of(predicate: Predicate) -> Span | None:
    """A place in the text that the predicate came from."""
    match predicate:
        case Compare(span=span) | Member(span=span):
            return span
        case And(parts) | Or(parts):
            return next((span for part in parts if (span := _span_of(part)) is not None), None)
        case Not(part):
            return _span_of(part)
