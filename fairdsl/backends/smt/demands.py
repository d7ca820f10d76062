"""General demands as one script: is there anybody of whom the premise is true and the formula false?

The script has every model that the demand names whole, once for each individual, the decisions as numbers, and the
formula as it is. ``unsat`` proves the demand; ``sat`` gives individuals that are replayed. A threshold that is only
enclosed leaves both decisions possible in between, so that ``unsat`` stays a proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from fairdsl.backends.contract import Budget, Facts, Refusal
from fairdsl.backends.encoding import Answer
from fairdsl.backends.smt import terms
from fairdsl.backends.smt.engine import Job, Pool, reason_of, solver_name
from fairdsl.backends.smt.individuals import Individuals, declared
from fairdsl.backends.smt.plain import scores, whole_model
from fairdsl.backends.smt.recover import number
from fairdsl.backends.smt.terms import Term
from fairdsl.clock import Deadline
from fairdsl.ir.demand import Decision, Demanded, Magnitude
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, Relation, Variable, Who
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.replay import breach
from fairdsl.verdict import Basis, Evidence, Reason, Unknown, Vacuous, Verdict, Violated, Word, held

__all__ = ["answer_demand", "demand_script", "refusal_of_demand"]

#: How long to look for somebody whom the demand is about before a proof is reported as it is.
_SECONDS = 5.0


def refusal_of_demand(problem: Problem, asked: Demanded) -> Refusal | None:
    """Why satisfiability says nothing about the demand; None where it does."""
    if problem.quantity is not Quantity.HOLDS or problem.population is not None:
        return Refusal(why="it has no notion of shares", other=True)
    for model in problem.models:
        if not model.rational:
            why = f"`{model.name}` has sigmoid or tanh units inside, and its arithmetic knows straight pieces only"
            return Refusal(why=why, span=model.span)
    return None


def answer_demand(problem: Problem, asked: Demanded, facts: Facts, budget: Budget, pool: Pool) -> Verdict:
    """A proof, or a violation that was replayed, or why there is neither."""
    script = _Script(problem, asked)
    evidence = Evidence(
        backend="smt", method=f"the whole question in one script, by {solver_name()}", basis=Basis(word=Word.SOLVER)
    )
    try:
        answer = _asked_of(pool, script.text(broken=True), budget)
        if answer.status == "unsat":
            short = Budget.of(min(_SECONDS, budget.remaining), jobs=1, seed=budget.seed)
            anybody = _asked_of(pool, script.text(broken=False), short).status
            found = held(evidence, nobody={"unsat": True, "sat": False}.get(anybody))
            return found if not isinstance(found, Vacuous) else Vacuous(evidence=evidence)
    finally:
        pool.close()
    if answer.status != "sat":
        detail = answer.detail or "the solver came to no answer"
        return Unknown(reason=reason_of(answer), detail=detail, evidence=evidence)
    found_one = breach(problem, script.individuals(answer.values))
    if found_one is None:
        detail = "what the solver found is no violation on the original model"
        return Unknown(reason=Reason.REPLAY_FAILED, detail=detail, evidence=evidence)
    if not found_one.agrees:
        detail = "exact arithmetic and the deployed files disagree on what was found"
        return Unknown(reason=Reason.NUMERIC_GAP, detail=detail, evidence=evidence, breaches=(found_one,))
    return Violated(witnesses=(), breaches=(found_one,), evidence=Evidence(backend="smt", method=evidence.method))


def demand_script(problem: Problem, asked: Demanded) -> str:
    """The question as SMT-LIB 2.6: unsat iff the demand holds."""
    return _Script(problem, asked).text(broken=True)


def _asked_of(pool: Pool, text: str, budget: Budget) -> Answer:
    pool.start(Job(key="demand", text=text, seed=budget.seed, effort=None, deadline=budget.deadline))
    answers: list[tuple[object, Answer]] = []
    while not answers:
        answers = list(pool.finished(budget.deadline))
        if not answers and Deadline.within(0) > budget.deadline:
            return Answer(status="unknown", detail="timeout")
    return answers[0][1]


class _Script:
    """The individuals, the models about each of them, and the formula."""

    def __init__(self, problem: Problem, asked: Demanded) -> None:
        self._problem, self._asked = problem, asked
        self._people = Individuals(problem.domain, asked.pair)
        self._attributes = len(problem.domain.attributes)
        #: The individual's letter; of one individual everything is shared.
        self._letters = {Who.EACH: "a"} if asked.alone else {Who.A: "a", Who.B: "b"}

    def text(self, *, broken: bool) -> str:
        """The script; without ``broken`` it asks whether the demand is about anybody."""
        people = self._people
        lines = ["(set-option :produce-models true)", "(set-logic QF_LIRA)", *people.declarations()]
        for who, attribute in people.variables():
            lines.append(_assert(people.within(who, attribute, declared(self._problem.domain.attributes[attribute]))))
        lines += map(_assert, people.membership())
        if not self._asked.alone:
            lines += map(_assert, people.comparable())
        for place, model in enumerate(self._problem.models):
            for letter in self._letters.values():
                lines += whole_model(model, people, letter, prefix=f"m{place}.")
                lines += self._decision(place, model, letter)
        lines.append(_assert(self._term(self._asked.premise)))
        if broken:
            lines.append(_assert(terms.negation(self._term(self._asked.formula))))
        symbols = " ".join(people.symbol(who, attribute) for who, attribute in people.variables())
        return "\n".join([*lines, "(check-sat)", f"(get-value ({symbols}))"]) + "\n"

    def individuals(self, values: Mapping[str, str]) -> dict[Who, Point]:
        """Whom a solver's values describe; an attribute that it does not mention gets its least value, or zero."""
        plain = {name.strip("|"): value for name, value in values.items()}

        def value(letter: str, index: int) -> Fraction:
            text = plain.get(self._people.symbol(letter, index).strip("|"))
            if text is not None:
                return number(text)
            low, high = self._problem.domain.attributes[index].bounds
            return low if low is not None else min(high, Fraction(0)) if high is not None else Fraction(0)

        return {
            who: tuple(value(letter, index) for index in range(self._attributes))
            for who, letter in self._letters.items()
        }

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

    def _term(self, predicate: Predicate) -> Term:
        match predicate:
            case And(parts):
                return terms.conjunction([self._term(part) for part in parts])
            case Or(parts):
                return terms.disjunction([self._term(part) for part in parts])
            case Not(part):
                return terms.negation(self._term(part))
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
