"""Scripts: a question, or one case of it on a region, as SMT-LIB 2.6 text that stands alone.

Every script is satisfiable iff a pair with the properties it asserts exists: ``unsat`` settles it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from fairdsl.backends.smt import terms
from fairdsl.backends.smt.case_bounds import Bounded
from fairdsl.backends.smt.cases import Atom, Case, pair_of, widened
from fairdsl.backends.smt.formula_script import formula_script, premise_script
from fairdsl.backends.smt.individuals import Individuals, commented, declared, place
from fairdsl.backends.smt.model_terms import fold, scores, whole_model
from fairdsl.backends.smt.terms import Term, mark
from fairdsl.backends.smt.ways import breaking, comparable
from fairdsl.ir.demand import Demanded
from fairdsl.ir.problem import Problem

_HEADER = ("(set-option :produce-models true)", "(set-logic QF_LIRA)")


def part_in_words(box: Mapping[str, str]) -> str:
    """A partition's values by attribute, as comments of its files have them."""
    return "; ".join(f"{name} {values}" for name, values in box.items()) or "the whole domain"


def whole_script(problem: Problem, part: str = "") -> str:
    """The whole question in one script, with nothing folded: unsat iff the property holds.

    ``part``: the problem is that of one partition, with these values; the property holds there iff unsat.
    With a threshold that is only enclosed, ``sat`` may be spurious; the header says so. What it prints first is its
    own mark (:mod:`~fairdsl.backends.smt.terms`).
    """
    if isinstance(problem.question, Demanded):
        return formula_script(problem, problem.question, commented(problem.name))
    pair, model = pair_of(problem), problem.model
    people = Individuals(problem.domain, pair)
    where, there = (" in this partition", " on this partition alone") if part else ("", "")
    lines = [f"; {commented(problem.name)}: is there a pair{where} that breaks the demand?"]
    lines[0] += f" unsat: the property holds{there}."
    lines += [f"; the partition: {commented(part)}"] if part else []
    if pair.sure:
        lines.append("; What is asked of the scores is necessary for the model to be as sure as the question asks;")
        lines.append("; it need not be sufficient, so sat must be confirmed by a replay.")
    elif widened(problem):
        lines.append("; The threshold is known to lie in an interval, so sat must be confirmed by a replay.")
    comments, lines = lines, list(_HEADER)
    lines += ["", "; the individuals: x is what both share", *people.declarations()]
    lines += ["", f"; their values in {commented(problem.domain.name)}", *_asserted(*_values(problem, people))]
    lines += ["", f"; domain and target, of both{place(pair.span)}", *_asserted(*people.membership())]
    lines += ["", "; which pairs are comparable", *_asserted(*people.comparable())]
    lines += ["", f"; model {commented(model.name)}, twice{place(model.span)}"]
    for who in "ab":
        lines.extend(whole_model(model, people, who))
    lines += ["", "; the demand, negated"]
    found = []
    for way in breaking(problem)[1]:
        lines.append(f";   {commented(way.title)}")
        found.append(_met(way.atoms, scores(model, "a"), scores(model, "b")))
    lines += [f"(assert {terms.disjunction(found)})", *_questions(people)]
    said = mark("\n".join([*comments, *lines]))
    return "\n".join([*comments, *_HEADER, f'(echo "{said}")', *lines[len(_HEADER) :]]) + "\n"


def admissible_script(problem: Problem) -> str:
    """Whether there is any pair to compare: unsat only if the question is about nobody.

    The model plays no part unless the question asks how sure it is. Without that, sat means that there is a pair.
    """
    if isinstance(problem.question, Demanded):
        return premise_script(problem, problem.question)
    pair, model = pair_of(problem), problem.model
    people = Individuals(problem.domain, pair)
    lines = [*_HEADER, *(line for line in people.declarations() if not line.startswith(";"))]
    lines.extend(_asserted(*_values(problem, people), *people.membership(), *people.comparable()))
    if pair.sure:
        for who in "ab":
            lines.extend(line for line in whole_model(model, people, who) if not line.startswith(";"))
        met = (_met(way.atoms, scores(model, "a"), scores(model, "b")) for way in comparable(problem))
        lines.extend(_asserted(terms.disjunction(met)))
    return "\n".join([*lines, *_questions(people)]) + "\n"


def case_script(problem: Problem, case: Case, bounded: Bounded, *, margin: Fraction = Fraction(0)) -> str:
    """One case on a region, folded by the region's bounds; every atom is met by the margin."""
    people = Individuals(problem.domain, pair_of(problem))
    region = bounded.region
    a = fold(problem.model, people, "a", region.a, bounded.a, _asked_of([atom.a for atom in case.atoms]))
    b = fold(problem.model, people, "b", region.b, bounded.b, _asked_of([atom.b for atom in case.atoms]))
    lines = [f"; {commented(case.title)}", *_HEADER]
    lines.extend(line for line in people.declarations() if not line.startswith(";"))
    for who, attribute in people.variables():
        lines.extend(_asserted(people.within(who, attribute, region.sets(who)[attribute])))
    lines.extend(_asserted(*people.membership(), *people.comparable(), people.holds(case.condition, "a")))
    lines.extend(dict.fromkeys((*a.lines, *b.lines)))  # what both copies share is declared once
    lines.extend(_asserted(_met(case.atoms, a.scores, b.scores, margin)))
    lines.extend(_questions(people))
    return "\n".join(lines) + "\n"


def _asked_of(rows: Sequence[Sequence[Fraction]]) -> list[int]:
    """The scores of which something is asked."""
    return [place for place, factors in enumerate(zip(*rows, strict=True)) if any(factors)]


def _values(problem: Problem, people: Individuals) -> Iterator[Term]:
    """Every individual's attributes take values that the domain declares."""
    for who, attribute in people.variables():
        yield people.within(who, attribute, declared(problem.domain.attributes[attribute]))


def _asserted(*parts: Term) -> Iterator[str]:
    return (f"(assert {part})" for part in parts if part != terms.TRUE)


def _met(atoms: Iterable[Atom], a: Sequence[Term], b: Sequence[Term], margin: Fraction = Fraction(0)) -> Term:
    return terms.conjunction(_atom(atom, a, b, margin) for atom in atoms)


def _atom(atom: Atom, a: Sequence[Term], b: Sequence[Term], margin: Fraction) -> Term:
    factors = [*zip(atom.a, a, strict=True), *zip(atom.b, b, strict=True)]
    left = terms.total(terms.product(factor, score) for factor, score in factors if factor)
    sign = ">" if atom.strict else ">="
    return f"({sign} {left} {terms.rational(margin - atom.constant)})"


def _questions(people: Individuals) -> list[str]:
    symbols = " ".join(people.symbol(who, attribute) for who, attribute in people.variables())
    return ["(check-sat)", f"(get-value ({symbols}))"]
