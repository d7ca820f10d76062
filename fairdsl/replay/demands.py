"""General demands on the original models: whether individuals break a formula, exactly and as the files decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import combinations

from fairdsl.ir.demand import Chance, Confidence, Decision, Demanded, Magnitude, Probability, Score
from fairdsl.ir.domain import Point
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, Variable, Who, variables
from fairdsl.ir.model import Deployed, Model, Readout
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.problem import Problem
from fairdsl.numerics.chances import chance_between, logistic, outcome_of, vanishes
from fairdsl.numerics.confidence import leads_of
from fairdsl.numerics.demand import FALSE, OPEN, TRUE, between, magnitude, never, truth
from fairdsl.numerics.exact import Enclosed, enclosed_scores, settled_scores
from fairdsl.numerics.predicates import holds_together
from fairdsl.replay.admissible import admissible, outside
from fairdsl.replay.run import runtime_of
from fairdsl.source import Span
from fairdsl.verdict import Breach, Failed, Given, Individual, Person

#: Binary digits of scores that no fraction has, those of the decision first, and decimal digits of probabilities.
_PRECISIONS = ((None, 24), (192, 60), (400, 300))
#: Individuals of whom a model's scores are kept.
_KEPT = 1 << 16


class Exactly:
    """Premise and formula of individuals in exact arithmetic; of black boxes by their answers."""

    def __init__(self, problem: Problem) -> None:
        self._problem, self._asked = problem, problem.demanded
        self._attributes = len(problem.domain.attributes)
        self._found = lru_cache(maxsize=_KEPT)(self._settled)

    def judge(self, people: Mapping[Who, Point]) -> tuple[int, int]:
        """Whether the premise is true, and whether the formula is."""
        premise, formula = OPEN, OPEN
        known = all(model.rational or isinstance(model.opaque, BlackBox) for model in self._problem.models)
        chances = any(isinstance(term, Chance) for term in self._asked.terms)
        for bits, digits in _PRECISIONS:
            of = self.values(people, bits, digits)
            none = partial(self._vanishes, people, of) if known and chances else never
            premise, formula = truth(self._asked.premise, of, none), truth(self._asked.formula, of, none)
            settled = premise == FALSE or (premise == TRUE and formula != OPEN)
            if settled or (known and not chances):
                break
        return premise, formula

    def meets(self, people: Mapping[Who, Point]) -> bool:
        """Whether the premise is true."""
        return self._asked.premise == And(()) or self.judge(people)[0] == TRUE

    def _vanishes(self, people: Mapping[Who, Point], of: Callable[[Variable], Enclosure], form: Linear) -> bool:
        """Whether a sum with probabilities is exactly 0, where scores are fractions."""
        flat = self._without_magnitudes(people, of, form)
        if flat is None:
            return False
        constant, parts = flat.constant, list[tuple[Fraction, list[Fraction]]]()
        for variable, factor in flat.terms:
            term = self._asked.term(variable)
            if isinstance(term, Chance):
                scores, decided = self.settled(term.model, people[variable.who])
                outcome = outcome_of(term, self._problem.models[term.model], decided)
                if outcome is None:
                    return False
                parts.append((factor, leads_of(self._problem.models[term.model], scores, outcome)[0]))
                continue
            low, high = of(variable)
            if low != high:
                return False
            constant += factor * low
        return vanishes(constant, parts)

    def _without_magnitudes(
        self, people: Mapping[Who, Point], of: Callable[[Variable], Enclosure], form: Linear
    ) -> Linear | None:
        """The sum with each absolute value as what it is of; None where its sign stays open."""
        for variable, factor in form.terms:
            term = self._asked.term(variable)
            if isinstance(term, Magnitude):
                low, high = between(term.form, of)
                sign = 1 if low >= 0 else -1 if high <= 0 else 0
                if sign == 0 and not self._vanishes(people, of, term.form):
                    return None
                rest = form - Linear.of({variable: factor}) + term.form.scaled(sign * factor)
                return self._without_magnitudes(people, of, rest)
        return form

    def values(
        self, people: Mapping[Who, Point], bits: int | None = None, digits: int = 24
    ) -> Callable[[Variable], Enclosure]:
        """What encloses each variable."""

        def of(variable: Variable) -> Enclosure:
            match self._asked.term(variable):
                case None:
                    value = people[variable.who][variable.attribute]
                    return Enclosure.exactly(value)
                case Decision(model=model, ranks=ranks):
                    _, outcome = self.settled(model, people[variable.who])
                    known = ranks if outcome is None else (ranks[outcome],)
                    return Enclosure(low=Fraction(min(known)), high=Fraction(max(known)))
                case Score(model=model):
                    scores = self._score(model, people[variable.who], bits)
                    score, error = scores.values[0], scores.errors[0]
                    return Enclosure(low=score - error, high=score + error)
                case Probability() | Confidence() as term:
                    point = people[variable.who]
                    _, decided = self.settled(term.model, point)
                    scores = self._score(term.model, point, bits)
                    return chance_between(term, self._problem.models[term.model], scores, decided, digits)
                case Magnitude(form=form):
                    return magnitude(between(form, of))

        return of

    def settled(self, model: int, point: Point) -> tuple[Enclosed, int | None]:
        """A model's scores about an individual, and its decision; None where that stays open."""
        return self._found(model, point)

    def _settled(self, model: int, point: Point) -> tuple[Enclosed, int | None]:
        one = self._problem.models[model]
        if isinstance(one.opaque, BlackBox):
            from fairdsl.models.black_boxes.asked import BlackBoxEvaluator

            answers = BlackBoxEvaluator(one).ask_exactly((point,))
            values = tuple(Fraction(score) for score in answers.scores[0].tolist())
            decided = int(answers.decisions[0])
            return Enclosed(values, (Fraction(0),) * len(values)), decided if decided >= 0 else None
        return settled_scores(one, point)

    def _score(self, model: int, point: Point, bits: int | None) -> Enclosed:
        one = self._problem.models[model]
        if bits is None or one.rational or isinstance(one.opaque, BlackBox):
            return self.settled(model, point)[0]
        return enclosed_scores(one, point, bits)


def breach(problem: Problem, people: Mapping[Who, Point], exactly: Exactly | None = None) -> Breach | None:
    """The individuals as a checked breach; None if the demand is not about them or no arithmetic calls it one.

    A breach whose ``agrees`` is false is one in one arithmetic only.
    """
    asked, exactly = problem.demanded, exactly or Exactly(problem)
    if outside_of(problem, people) is not None:
        return None
    premise, formula = exactly.judge(people)
    exact = premise == TRUE and formula == FALSE
    in_files = _in_files(problem, asked, exactly, people)
    float32 = None if in_files is None else in_files(asked.premise) == TRUE and in_files(asked.formula) == FALSE
    if not exact and not float32:
        return None
    named = dict(zip(asked.people, asked.names, strict=True))
    used = {
        (term.model, variable.who)
        for variable in _all_variables(asked)
        if isinstance(term := asked.term(variable), Decision | Score | Chance)
    }
    return Breach(
        individuals=tuple(
            Person(name=named[who], values=Individual.of(problem.domain, people[who])) for who in asked.people
        ),
        given=tuple(
            _given(problem.models[model], exactly.settled(model, people[who]), named[who], people[who])
            for model in range(len(problem.models))
            for who in asked.people
            if (model, who) in used
        ),
        failed=tuple(_failures(asked, problem, exactly.values(people))) if exact else (),
        exact=exact,
        float32=float32,
        asked=any(isinstance(model.opaque, BlackBox) for model in problem.models),
    )


def outside_of(problem: Problem, people: Mapping[Who, Point]) -> str | None:
    """The rule by which the demand is not about these individuals, its premise aside; None where it is."""
    asked, domain = problem.demanded, problem.domain
    if asked.alone:
        return outside(asked.names[0], people[Who.EACH], asked.pair, domain)
    if not asked.several:
        return admissible(asked.pair, domain, people[Who.A], people[Who.B], problem.model)
    for one, other in combinations(asked.people, 2):
        pair = replace(asked.pair, pair_target=And(()), sure=())
        if (beside := admissible(pair, domain, people[one], people[other])) is not None:
            return f"{asked.name_of(one)} and {asked.name_of(other)}: {beside}"
    return None if holds_together(asked.pair.pair_target, people) else "they do not meet `among`"


def _given(model: Model, settled: tuple[Enclosed, int | None], name: str, point: Point) -> Given:
    scores, outcome = settled
    deployed = None if isinstance(model.opaque, BlackBox) else model.deployed
    return Given(
        model=model.name,
        individual=name,
        decision="undecided" if outcome is None else model.outcomes[outcome],
        scores=scores.values,
        score_error=max(scores.errors, default=Fraction(0)),
        float32_decision=None if deployed is None else model.outcomes[runtime_of(deployed).decide([point])[0]],
    )


def _in_files(
    problem: Problem, asked: Demanded, exactly: Exactly, people: Mapping[Who, Point]
) -> Callable[[Predicate], int] | None:
    """What a predicate is where every deployed file is taken at its own word; None where none is deployed."""
    files = [None if isinstance(model.opaque, BlackBox) else model.deployed for model in problem.models]
    if not any(files):
        return None
    plain = exactly.values(people)

    def of(variable: Variable) -> Enclosure:
        term = asked.term(variable)
        if isinstance(term, Magnitude):
            return magnitude(between(term.form, of))
        if term is None or isinstance(term, Confidence) or (file := files[term.model]) is None:
            return plain(variable)  # how sure a model is, is a matter of exact arithmetic
        runtime, point = runtime_of(file), people[variable.who]
        if isinstance(term, Decision):
            return Enclosure.exactly(Fraction(term.ranks[runtime.decide([point])[0]]))
        given = float(runtime.scores([point])[0, 0])
        if isinstance(term, Probability) and not gives_probability(file):
            given = logistic(given)
        return Enclosure.exactly(Fraction(given))

    return lambda predicate: truth(predicate, of)


def gives_probability(file: Deployed) -> bool:
    """Whether the number of a file is the probability itself, and not what the logistic function is taken of."""
    return file.readout is Readout.CHANNEL


# ---- which side fails ----------------------------------------------------------------------------


def _failures(asked: Demanded, problem: Problem, of: Callable[[Variable], Enclosure]) -> Iterator[Failed]:
    """The comparisons that make the formula false, as the spec writes them, each once."""
    seen = set[str]()
    for atom, wanted in _false(asked.formula, of, wanted=True):
        text = _text(atom.span)
        if text and text not in seen:
            seen.add(text)
            yield Failed(text=text, true=not wanted, by=_distance(atom, asked, problem, of))


def _false(
    predicate: Predicate, of: Callable[[Variable], Enclosure], *, wanted: bool
) -> Iterator[tuple[Compare | Member, bool]]:
    """Atoms that are not ``wanted``, below parts that are not."""
    if truth(predicate, of) == (TRUE if wanted else FALSE):
        return
    match predicate:
        case And(parts) | Or(parts):
            for part in parts:
                yield from _false(part, of, wanted=wanted)
        case Not(part):
            yield from _false(part, of, wanted=not wanted)
        case Compare() | Member():
            yield predicate, wanted


def _text(span: Span | None) -> str:
    return "" if span is None else " ".join(span.text.split())


def _distance(
    atom: Compare | Member, asked: Demanded, problem: Problem, of: Callable[[Variable], Enclosure]
) -> Fraction | None:
    """How far a comparison of numbers is from its border; outcomes have no distances."""
    if isinstance(atom, Member) or any(isinstance(asked.term(variable), Decision) for variable, _ in atom.left.terms):
        return None
    low, high = between(atom.left, of)
    return abs(low) if low == high else None


def _all_variables(asked: Demanded) -> Iterator[Variable]:
    """Every variable of premise and formula, also those within absolute values."""
    yield from variables(asked.premise)
    yield from variables(asked.formula)
    for term in asked.terms:
        if isinstance(term, Magnitude):
            yield from _of(term.form)


def _of(form: Linear) -> Iterator[Variable]:
    return (variable for variable, _ in form.terms)
