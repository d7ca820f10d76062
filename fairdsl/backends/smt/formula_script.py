"""A formula as one script: is there anybody of whom the premise is true and the formula false?

The script has every model that the demand names whole, once for each individual, the decisions as numbers, and the
formula as it is. A threshold that is only enclosed leaves both decisions possible in between, so that ``unsat`` stays a
proof. So do probabilities: each is a number of which it is said, by the score, which of the levels that the formula
compares it with it is above, and of two how far apart they are at most. Of how sure a model is, conditions stand that
are necessary for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from fairdsl.backends.smt import terms
from fairdsl.backends.smt.atoms import Atom, sure_of
from fairdsl.backends.smt.gaps import is_gap, logit_of
from fairdsl.backends.smt.individuals import declared, people_of
from fairdsl.backends.smt.model_terms import scores, whole_model
from fairdsl.backends.smt.terms import Term, mark
from fairdsl.ir.demand import Chance, Confidence, Decision, Demanded, Magnitude, Probability, Score
from fairdsl.ir.expr import Compare, Linear, Member, Predicate, Relation, Variable, Who, atoms, fold
from fairdsl.ir.model import ByThreshold, Logits, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Sure
from fairdsl.models.logit import apart, logit
from fairdsl.numerics.chances import as_scores

_HEADER = ("(set-option :produce-models true)", "(set-logic QF_LIRA)")


def formula_script(problem: Problem, asked: Demanded, name: str = "") -> str:
    """The question as SMT-LIB 2.6: unsat iff the demand holds. It prints its own mark first.

    With a threshold that is only enclosed, ``sat`` may be spurious; the header says so.
    """
    who = ("an individual", "a pair", "three", "four")[len(asked.people) - 1]
    comments = [f"; {name}: is there {who} that breaks the demand? unsat: the property holds."] if name else []
    rules = [model.rule for model in problem.models]
    enclosed = any(isinstance(rule, ByThreshold) and rule.low != rule.high for rule in rules)
    if enclosed or any(isinstance(term, Chance) for term in asked.terms):
        comments.append("; A threshold is known to lie in an interval, so sat must be confirmed by a replay.")
    script = _Script(problem, asked)
    lines = script.lines()
    lines += [_assert(terms.negation(script.term(script.formula))), "(check-sat)", script.question]
    said = mark("\n".join([*comments, *lines]))
    return "\n".join([*comments, *_HEADER, f'(echo "{said}")', *lines]) + "\n"


def premise_script(problem: Problem, asked: Demanded) -> str:
    """Whether the demand is about anybody: unsat only if it is about nobody."""
    script = _Script(problem, asked)
    return "\n".join([*_HEADER, *script.lines(), "(check-sat)", script.question]) + "\n"


class _Script:
    """The individuals, the models about each of them, and the formula."""

    def __init__(self, problem: Problem, asked: Demanded) -> None:
        self._problem, self._asked = problem, asked
        self._people = people_of(problem)
        self._attributes = len(problem.domain.attributes)
        #: The individual's letter; of one individual everything is shared.
        self._letters = {Who.EACH: "a"} if asked.alone else {who: who.value for who in asked.people}
        self._premise, self.formula = (
            as_scores(part, asked, problem.models, self._attributes) for part in (asked.premise, asked.formula)
        )

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
        return [*lines, *self._probabilities(), _assert(self.term(self._premise))]

    def _probabilities(self) -> Iterator[str]:
        """Numbers for probabilities: above and below each level where the score is above and below its logit."""
        levels: dict[Variable, set[Fraction]] = {}
        gaps: dict[Linear, None] = {}
        for part in (self._premise, self.formula):
            for atom in atoms(part):
                for form in self._straight(atom.left) if isinstance(atom, Compare) else ():
                    if is_gap(self._asked, form):
                        gaps[form] = None
                    for variable, factor in form.terms:
                        if isinstance(self._asked.term(variable), Probability):
                            levels.setdefault(variable, set()).add(-form.constant / factor)
        for variable, known in levels.items():
            term = self._asked.term(variable)
            assert isinstance(term, Probability)
            symbol, score, logits = self._number(variable), self._score(term, variable), _logits(self._problem, term)
            yield f"(declare-const {symbol} Real)"
            yield _assert(f"(and (> {symbol} 0.0) (< {symbol} 1.0))")
            for level in sorted(level for level in known if 0 < level < 1):
                low, high = (terms.rational(limit / logits.scale) for limit in logit(level))
                border = terms.rational(level)
                if low == high:
                    yield _assert(f"(= (= {score} {low}) (= {symbol} {border}))")
                yield _assert(f"(=> (> {score} {high}) (> {symbol} {border}))")
                yield _assert(f"(=> (< {score} {low}) (< {symbol} {border}))")
        for form in gaps:
            yield from self._gap(form)

    def _gap(self, form: Linear) -> Iterator[Term]:
        """Two probabilities are no farther apart than their scores let them be."""
        (first, factor), (second, _) = form.terms
        for more, less, level in ((first, second, -form.constant / factor), (second, first, form.constant / factor)):
            if 0 < level < 1:
                lead = self._sum(logit_of(self._problem, more) - logit_of(self._problem, less))
                above = f"(- {self._number(more)} {self._number(less)})"
                near = f"(<= {lead} {terms.rational(apart(level).low)})"
                yield _assert(f"(=> {near} (<= {above} {terms.rational(level)}))")

    def _straight(self, form: Linear) -> Iterator[Linear]:
        """The sums that a sum is without absolute values, and those that these are of."""
        for variable, factor in form.terms:
            term = self._asked.term(variable)
            if isinstance(term, Magnitude):
                yield from self._straight(term.form)
                for sign in (1, -1):
                    rest = form - Linear.of({variable: factor}) + term.form.scaled(sign * factor)
                    yield from self._straight(rest)
                return
        yield form

    def _score(self, term: Score | Probability, variable: Variable) -> Term:
        letter = self._letters[variable.who]
        return scores(self._problem.models[term.model], letter, prefix=f"m{term.model}.")[0]

    def _sure(self, variable: Variable, term: Confidence, atom: Compare) -> Term:
        """What is necessary for a model to be so sure of its decision."""
        (_, factor), *_ = atom.left.terms
        assert factor > 0, "a confidence is compared with a level that it has to reach"
        sure = Sure(who=variable.who, relation=atom.relation, level=-atom.left.constant / factor)
        model, letter = self._problem.models[term.model], self._letters[variable.who]
        found, decided = scores(model, letter, prefix=f"m{term.model}."), self._outcome(term.model, letter)
        rule = model.rule
        known = sorted({rule.granted, rule.otherwise}) if isinstance(rule, ByThreshold) else range(len(found))
        return terms.disjunction(
            terms.conjunction(
                [
                    f"(= {decided} {terms.integer(outcome)})",
                    *(_necessary(each, found) for each in sure_of(model, outcome, (sure,), of_a=True)),
                ]
            )
            for outcome in known
        )

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
                for variable, _ in left.terms:
                    if isinstance(term := self._asked.term(variable), Confidence):
                        return self._sure(variable, term, atom)
                return _relation(self._sum(left), relation, Fraction(0))

    def _sum(self, form: Linear) -> Term:
        return terms.total(
            [terms.product(factor, self._number(variable)) for variable, factor in form.terms], form.constant
        )

    def _number(self, variable: Variable) -> Term:
        term = self._asked.term(variable)
        if isinstance(term, Magnitude):
            inner = self._sum(term.form)
            return f"(ite (>= {inner} 0.0) {inner} (- {inner}))"
        letter = self._letters[variable.who]
        if term is None:
            return self._people.number(letter, variable.attribute)
        if isinstance(term, Probability):
            return f"p{term.model}.{letter}"
        if isinstance(term, Score):
            return self._score(term, variable)
        assert isinstance(term, Decision), "a confidence is not a number of a sum"
        outcome, found = self._outcome(term.model, letter), terms.rational(Fraction(term.ranks[-1]))
        for place in reversed(range(len(term.ranks) - 1)):
            found = f"(ite (= {outcome} {place}) {terms.rational(Fraction(term.ranks[place]))} {found})"
        return found


def _logits(problem: Problem, term: Probability) -> Logits:
    logits = problem.models[term.model].logits
    assert logits is not None, "a probability is one of a model that has them"
    return logits


def _necessary(atom: Atom, found: Sequence[Term]) -> Term:
    """A condition on the scores of one individual."""
    left = terms.total(terms.product(factor, score) for factor, score in zip(atom.a, found, strict=True) if factor)
    return f"({'>' if atom.strict else '>='} {left} {terms.rational(-atom.constant)})"


def _relation(left: Term, relation: Relation, right: Fraction) -> Term:
    sign = "=" if relation is Relation.NE else relation.value
    comparison = f"({sign} {left} {terms.rational(right)})"
    return terms.negation(comparison) if relation is Relation.NE else comparison


def _assert(term: Term) -> str:
    return f"(assert {term})"
