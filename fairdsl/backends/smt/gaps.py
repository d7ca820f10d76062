"""Two probabilities that are compared with each other: their scores are far apart wherever they are.

That is necessary and no more, for near 0 and 1 probabilities hardly move with their scores: so there are proofs, and a
pair that scores admit counts where it is replayed. Other sums of several probabilities are turned away.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from fairdsl.backends.smt.broken import Form
from fairdsl.ir.demand import Chance, Demanded, Magnitude, Probability, Score
from fairdsl.ir.expr import Compare, Linear, Relation, Variable, atoms
from fairdsl.ir.problem import Problem
from fairdsl.models.logit import apart
from fairdsl.numerics.chances import as_scores


def beyond_scores(problem: Problem) -> bool:
    """Whether a probability is compared with more than a number or one other, of which sums of scores say nothing."""
    asked, attributes = problem.demanded, len(problem.domain.attributes)

    def named(form: Linear) -> Iterator[Variable]:
        for variable, _ in form.terms:
            term = asked.term(variable)
            yield from named(term.form) if isinstance(term, Magnitude) else (variable,)

    predicates = (as_scores(part, asked, problem.models, attributes) for part in (asked.premise, asked.formula))
    return any(
        len(each := set(named(atom.left))) > 1
        and any(isinstance(asked.term(variable), Chance) for variable in each)
        and not is_gap(asked, _unsigned(asked, atom.left))
        for part in predicates
        for atom in atoms(part)
        if isinstance(atom, Compare)
    )


def _unsigned(asked: Demanded, form: Linear) -> Linear:
    """What the one absolute value that the form is a multiple of is of."""
    terms = [asked.term(variable) for variable, _ in form.terms]
    return terms[0].form if len(terms) == 1 and isinstance(terms[0], Magnitude) else form


def is_gap(asked: Demanded, form: Linear) -> bool:
    """Whether it is a multiple of the difference of two probabilities that rules compare, and a number."""
    factors = [factor for _, factor in form.terms]
    probabilities = all(isinstance(asked.term(variable), Probability) for variable, _ in form.terms)
    return probabilities and len(factors) == 2 and sum(factors) == 0


def ways_of_gap(problem: Problem, form: Linear, relation: Relation) -> list[tuple[Form, ...]]:
    """What has to be said of scores where the difference compares so with 0, in one of these ways."""
    (first, factor), (second, _) = form.terms
    level, relation = -form.constant / factor, relation if factor > 0 else relation.mirrored
    strict = relation in (Relation.GT, Relation.LT, Relation.NE)
    up, down = _ahead(problem, first, second, level, strict), _ahead(problem, second, first, -level, strict)
    match relation:
        case Relation.GT | Relation.GE:
            return up
        case Relation.LT | Relation.LE:
            return down
        case Relation.NE:
            return [*up, *down]
        case Relation.EQ:
            return [(*one, *other) for one in up for other in down]


def _ahead(problem: Problem, more: Variable, less: Variable, level: Fraction, strict: bool) -> list[tuple[Form, ...]]:
    """What has to be for one probability to be so far above another one; nothing where it cannot be."""
    if level >= 1:  # a probability only comes near its ends
        return []
    if level < 0:  # any two, if both are near one end
        return [()]
    lead = logit_of(problem, more) - logit_of(problem, less) - Linear(constant=apart(level).low)
    return [((lead, strict and level == 0),)]


def logit_of(problem: Problem, variable: Variable) -> Linear:
    """The logit of a probability, by its model's score."""
    asked = problem.demanded
    term = asked.term(variable)
    assert isinstance(term, Probability), "only probabilities that rules compare have a score each"
    logits = problem.models[term.model].logits
    assert logits is not None, "a probability is one of a model that has them"
    place = asked.attributes + asked.terms.index(Score(model=term.model))
    return Linear.of({Variable(place, variable.who): logits.scale})
