"""A formula as one script: is there anybody of whom the premise is true and the formula false?

The script has every model that the demand names whole, once for each individual, the decisions as numbers, and the
formula as it is. A threshold that is only enclosed leaves both decisions possible in between, so that ``unsat`` stays a
proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from fairdsl.backends.smt import terms
from fairdsl.backends.smt.echo import mark
from fairdsl.backends.smt.individuals import Individuals, declared
from fairdsl.backends.smt.plain import scores, whole_model
from fairdsl.backends.smt.terms import Term
from fairdsl.ir.demand import Decision, Demanded, Magnitude
from fairdsl.ir.expr import Compare, Linear, Member, Predicate, Relation, Variable, Who, fold
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.problem import Problem

__all__ = ["formula_script", "premise_script"]

_HEADER = ("(set-option :produce-models true)", "(set-logic QF_LIRA)")


def formula_script(problem: Problem, asked: Demanded, name: str = "") -> str:
    """The question as SMT-LIB 2.6: unsat iff the demand holds. It prints its own mark first.

    With a threshold that is only enclosed, ``sat`` may be spurious; the header says so.
    """
    who = "an individual" if asked.alone else "a pair"
    comments = [f"; {name}: is there {who} that breaks the demand? unsat: the property holds."] if name else []
    if any(isinstance(model.rule, ByThreshold) and model.rule.low != model.rule.high for model in problem.models):
        comments.append("; A threshold is known to lie in an interval, so sat must be confirmed by a replay.")
    script = _Script(problem, asked)
    lines = script.lines()
    lines += [_assert(terms.negation(script.term(asked.formula))), "(check-sat)", script.question]
    said = mark("\n".join([*comments, *lines]))
    return "\n".join([*comments, *_HEADER, f'(echo "{said}")', *lines]) + "\n"


def premise_script(problem: Problem, asked: Demanded) -> str:
    """Whether the demand is about anybody: unsat only if it is about nobody."""
    return "\n".join([*_HEADER, *_Script(problem, asked).lines(), "(check-sat)"]) + "\n"


class _Script:
    """The individuals, the models about each of them, and the formula."""

    def __init__(self, problem: Problem, asked: Demanded) -> None:
        self._problem, self._asked = problem, asked
        self._people = Individuals(problem.domain, asked.pair)
        self._attributes = len(problem.domain.attributes)
        #: The individual's letter; of one individual everything is shared.
        self._letters = {Who.EACH: "a"} if asked.alone else {Who.A: "a", Who.B: "b"}

    @property
    def question(self) -> str:
        """Asks for whom the solver has found."""
        people = self._people
        return f"(get-value ({' '.join(people.symbol(who, attribute) for who, attribute in people.variables())}))"

    def lines(self) -> list[str]:
        """Everything but the formula: those whom the demand is about, and what the models make of them."""
        people = self._people
        lines = list(people.declarations())
        for who, attribute in people.variables():
            lines.append(_assert(people.within(who, attribute, declared(self._problem.domain.attributes[attribute]))))
        lines += map(_assert, people.membership())
        lines += map(_assert, people.comparable())
        for place, model in enumerate(self._problem.models):
            for letter in self._letters.values():
                lines += whole_model(model, people, letter, prefix=f"m{place}.")
                lines += self._decision(place, model, letter)
        return [*lines, _assert(self.term(self._asked.premise))]

    def _decision(self, place: int, model: Model, letter: str) -> Iterator[str]:
        """The outcome's number, for each model and individual."""
        name, found = self._outcome(place, letter), scores(model, letter, prefix=f"m{place}.")
        rule = model.rule
        if isinstance(rule, ByThreshold):
            granted, otherwise = terms.integer(rule.granted), terms.integer(rule.otherwise)
            low, high = (_relation(found[0], rule.relation, limit) for limit in (rule.low, rule.high))
            if rule.low == rule.high:
                yield f"(define-fun {name} () Int (ite {low} {granted} {otherwise}))"
                return
            # In between the threshold may be on either side, so either decision is possible.
            yield f"(declare-const {name}.open Bool)"
            both, some = f"(and {low} {high})", f"(or {low} {high})"
            inner = f"(ite {some} (ite {name}.open {granted} {otherwise}) {otherwise})"
            yield f"(define-fun {name} () Int (ite {both} {granted} {inner}))"
            return
        chosen: Term = terms.integer(len(found) - 1)
        for outcome in reversed(range(len(found) - 1)):
            # Ties go to the lowest index: those before it are lower, those behind it not higher.
            wins = terms.conjunction(
                f"({'>' if other < outcome else '>='} {found[outcome]} {found[other]})"
                for other in range(len(found))
                if other != outcome
            )
            chosen = f"(ite {wins} {terms.integer(outcome)} {chosen})"
        yield f"(define-fun {name} () Int {chosen})"

    def _outcome(self, place: int, letter: str) -> Term:
        return f"d{place}.{letter}"

    # ---- the formula ---------------------------------------------------------------------------

    def term(self, predicate: Predicate) -> Term:
        """A condition on attributes, scores and decisions."""
        return fold(predicate, self._atom, terms.conjunction, terms.disjunction, terms.negation)

    def _atom(self, atom: Compare | Member) -> Term:
        match atom:
            case Member(variable=variable, values=values):
                symbol = self._number(variable)
                return terms.disjunction(f"(= {symbol} {terms.rational(value)})" for value in sorted(values))
            case Compare(left=left, relation=relation):
                return _relation(self._sum(left), relation, Fraction(0))

    def _sum(self, form: Linear) -> Term:
        return terms.total(
            [terms.product(factor, self._number(variable)) for variable, factor in form.terms], form.constant
        )

    def _number(self, variable: Variable) -> Term:
        term = self._asked.term(variable, self._attributes)
        if isinstance(term, Magnitude):
            inner = self._sum(term.form)
            return f"(ite (>= {inner} 0.0) {inner} (- {inner}))"
        letter = self._letters[variable.who]
        if term is None:
            return self._people.number(letter, variable.attribute)
        if not isinstance(term, Decision):
            return scores(self._problem.models[term.model], letter, prefix=f"m{term.model}.")[0]
        outcome, found = self._outcome(term.model, letter), terms.rational(Fraction(term.ranks[-1]))
        for place in reversed(range(len(term.ranks) - 1)):
            found = f"(ite (= {outcome} {place}) {terms.rational(Fraction(term.ranks[place]))} {found})"
        return found


def _relation(left: Term, relation: Relation, right: Fraction) -> Term:
    sign = "=" if relation is Relation.NE else relation.value
    comparison = f"({sign} {left} {terms.rational(right)})"
    return terms.negation(comparison) if relation is Relation.NE else comparison


def _assert(term: Term) -> str:
    return f"(assert {term})"
