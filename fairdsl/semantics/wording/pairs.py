"""Questions about pairs in words: every clause in force, one English sentence, and the formula.

What is held equal, the target of both individuals, the domain's constraints: all that a reader of the spec
would have to infer is written out here, for ``explain`` and for every report.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from fairdsl.ir.demand import people_of
from fairdsl.ir.domain import Attribute, Boolean, Domain, show_number
from fairdsl.ir.expr import TRUE, And, Compare, Linear, Member, Not, Or, Predicate, Variable, Who
from fairdsl.ir.question import (
    Differ,
    Pair,
    Quantity,
    Relaxation,
    SameDecision,
    ScoreGap,
    Sure,
    Threshold,
)
from fairdsl.semantics.conditions.missing import as_written

Names = tuple[str, ...]
#: What the two individuals are called where no spec says so.
NAMES: Names = ("a", "b")


# ---- predicates --------------------------------------------------------------------------------


def predicate_text(predicate: Predicate, domain: Domain, names: Names = NAMES) -> str:
    """The predicate in the language's own syntax; ``names`` are those of the two individuals."""
    match predicate:
        case And(()):
            return "true"
        case Or(()):
            return "false"
        case And(parts):
            return " and ".join(_grouped(part, domain, names) for part in parts)
        case Or(parts):
            return " or ".join(_grouped(part, domain, names) for part in parts)
        case Not(Member(variable=variable, values=values) as member) if len(values) == 1:
            if values == {domain.attributes[variable.attribute].missing}:
                return f"not {predicate_text(member, domain, names)}"
            return f"{_name(variable, domain, names)} != {_value(variable, next(iter(values)), domain)}"
        case Not(part):
            return f"not ({predicate_text(part, domain, names)})"
        case Member(variable=variable, values=values):
            shown = [_value(variable, value, domain) for value in sorted(values)]
            name = _name(variable, domain, names)
            if values == {domain.attributes[variable.attribute].missing}:
                return f"{name} is missing"
            return f"{name} = {shown[0]}" if len(shown) == 1 else f"{name} in {{ {', '.join(shown)} }}"
        case Compare(left=left, relation=relation):
            return _comparison(left, relation.value, domain, names)


def _grouped(predicate: Predicate, domain: Domain, names: Names) -> str:
    text = predicate_text(predicate, domain, names)
    return f"({text})" if isinstance(predicate, And | Or) and len(predicate.parts) > 1 else text


def _name(variable: Variable, domain: Domain, names: Names) -> str:
    name = domain.attributes[variable.attribute].name
    return name if variable.who is Who.EACH else f"{names[people_of(len(names)).index(variable.who)]}.{name}"


def _value(variable: Variable, value: Fraction, domain: Domain) -> str:
    return value_text(value, domain.attributes[variable.attribute])


def value_text(value: Fraction, attribute: Attribute) -> str:
    """A value as specs compare with it: those of a boolean are ``yes`` and ``no``."""
    return ("no", "yes")[value == 1] if isinstance(attribute.type, Boolean) else attribute.show(value)


def _comparison(form: Linear, relation: str, domain: Domain, names: Names) -> str:
    """``2 * hours + age <= 200`` or ``experience + 16 <= age``: nothing is subtracted on either side."""
    left = [_multiple(variable, factor, domain, names) for variable, factor in form.terms if factor > 0]
    right = [_multiple(variable, -factor, domain, names) for variable, factor in form.terms if factor < 0]
    if not left:
        # Attributes are read first: `age >= 18`, not `18 <= age`.
        left, right = right, left
        relation = relation.translate(str.maketrans("<>", "><"))
        form = form.scaled(Fraction(-1))
    if left and right and form.constant > 0:
        left.append(show_number(form.constant))
    elif form.constant or not right:
        right.append(show_number(-form.constant))
    return f"{' + '.join(left) or '0'} {relation} {' + '.join(right)}"


def sum_text(form: Linear, domain: Domain) -> str:
    """``age - 2 * skill``: a sum about one individual."""
    terms = [(factor < 0, _multiple(variable, abs(factor), domain, NAMES)) for variable, factor in form.terms]
    if form.constant or not terms:
        terms.append((form.constant < 0, show_number(abs(form.constant))))
    (negative, text), *rest = terms
    return ("-" if negative else "") + text + "".join(f" {'-' if less else '+'} {each}" for less, each in rest)


def _multiple(variable: Variable, factor: Fraction, domain: Domain, names: Names) -> str:
    name = _name(variable, domain, names)
    return name if factor == 1 else f"{show_number(factor)} * {name}"


# ---- pairs -------------------------------------------------------------------------------------


def domain_constraint(domain: Domain) -> list[str]:
    """The clause that says who can exist; none where everybody can."""
    written = as_written(domain)
    return [] if written == TRUE else [f"domain constraint: {predicate_text(written, domain)}"]


def clauses_in_force(question: Pair, domain: Domain, names: Names = NAMES) -> tuple[str, ...]:
    """Every clause that shapes the question, the implicit ones included, one line each."""
    lines = [
        f"compare {', '.join(names)} : {domain.name}",
        f"differ in {_differing(question, domain)}{'' if len(names) == 2 else ', each two of them'}",
        *(_relaxation(relaxation, domain) for relaxation in question.relax),
        f"held equal: {', '.join(_equal(question, domain)) or 'nothing else'}",
    ]
    lines.extend(domain_constraint(domain))
    if question.target != TRUE:
        lines.append(
            f"among ({'both' if len(names) == 2 else 'all'} individuals): {predicate_text(question.target, domain)}"
        )
    if question.pair_target != TRUE:
        ordered = "pair" if len(names) == 2 else "tuple"
        lines.append(f"among (ordered {ordered}): {predicate_text(question.pair_target, domain, names)}")
    lines += [f"when {_sureness(sure)}" for sure in question.sure]
    return tuple(lines)


def _differing(question: Pair, domain: Domain) -> str:
    names = ", ".join(domain.attributes[index].name for index in question.differ)
    return names if len(question.differ) == 1 else f"{question.mode.value} {names}"


def _relaxation(relaxation: Relaxation, domain: Domain) -> str:
    name = domain.attributes[relaxation.attribute].name
    return f"regardless of {name}" if relaxation.by is None else f"within {show_number(relaxation.by)} in {name}"


def _equal(question: Pair, domain: Domain) -> list[str]:
    free = {*question.differ, *(relaxation.attribute for relaxation in question.relax)}
    return [attribute.name for index, attribute in enumerate(domain.attributes) if index not in free]


def sentence(
    question: Pair,
    domain: Domain,
    model: str,
    quantity: Quantity,
    threshold: Threshold | None,
    *,
    under: str | None = None,
    drawn: bool = False,
    given: Predicate = TRUE,
) -> str:
    """The question as one English sentence; ``under`` names the distribution whose rows are counted, or (``drawn``)
    that individuals are drawn from, those who are ``given``.
    """
    who = f"two individuals of `{domain.name}`"
    if question.target != TRUE:
        who += f" with {predicate_text(question.target, domain)}"
    how = how_they_differ(question, domain)
    pair = f"any {who} {how}"
    if question.pair_target != TRUE:
        pair += f", where {predicate_text(question.pair_target, domain)},"
    if question.sure:
        pair = f"{pair.removesuffix(',')}, where `{model}` gives {_how_sure(question)},"
    taken = "values" if question.relax else "other attributes"
    if quantity is Quantity.MAX_SCORE_GAP:
        return f"The largest gap of the scores that `{model}` gives to {pair.removesuffix(',')} is measured."
    if quantity is Quantity.HOLDS:
        told = f"{pair} {_demanded(question, model)}."
        return f"{told[0].upper()}{told[1:]}" if under is None else f"For the {taken} of every row of `{under}`, {told}"
    bound = f" is {threshold.relation.words} {threshold.text}" if threshold else " is measured"
    people = f"individuals of `{domain.name}`" if under is None else taken_from(under, drawn=drawn)
    if given != TRUE:
        people += f" with {predicate_text(given, domain)}"
    if quantity is Quantity.REDRAW_DISAGREEMENT:
        return (
            f"The probability that one of the {people} and another one, drawn with the same {taken}, get different "
            f"decisions from `{model}`{bound}."
        )
    if quantity is Quantity.AFFECTED_RATE:
        return (
            f"The share of {people} who are themselves, with somebody, among those that break a demand{bound}: that "
            f"{pair} {_demanded(question, model)}."
        )
    share = "The share of" if quantity is Quantity.FAIR_SHARE else "One minus the share of"
    unit = "individuals" if question.relax else "assignments of the other attributes"
    if question.one_sided is not None:
        unit = f"individuals `{question.one_sided.value}`"
    if under is not None:
        whole = "as an individual" if question.of_individuals else f"for its {taken}"
        unit = f"{people}, each taken {whole},"
    return f"{share} {unit} for which {pair} {_demanded(question, model)}{bound}."


def taken_from(under: str, *, drawn: bool) -> str:
    """Whose units a share under a distribution is of."""
    return f"individuals from `{under}`" if drawn else f"rows of `{under}`"


def how_they_differ(question: Pair, domain: Domain) -> str:
    """``that differ in `sex` and are equal in everything else``."""
    names = [f"`{domain.attributes[index].name}`" for index in question.differ]
    match len(names), question.mode:
        case 1, _:
            how = f"that differ in {names[0]}"
        case _, Differ.ANY:
            how = f"that differ in at least one of {', '.join(names)}"
        case _:
            how = f"that differ in each of {', '.join(names)}"
    for relaxation in question.relax:
        name = f"`{domain.attributes[relaxation.attribute].name}`"
        how += f", have any {name}" if relaxation.by is None else f", are within {show_number(relaxation.by)} in {name}"
    return f"{how} and are equal in everything else"


def _demanded(question: Pair, model: str) -> str:
    match question.demand:
        case SameDecision():
            return f"get the same decision from `{model}`"
        case ScoreGap(relation=relation, limit=limit):
            return f"get scores from `{model}` that are {relation.words} {show_number(limit)} apart"


def formula(question: Pair, domain: Domain, model: str, quantity: Quantity) -> str:
    """The question as a formula."""
    parts = pair_formula(question, domain)
    if quantity is Quantity.MAX_SCORE_GAP:
        return f"max of |score(a) - score(b)| over all a, b in {domain.name}: {' and '.join(parts)}"
    match question.demand:
        case SameDecision():
            demand = f"{model}(a) = {model}(b)"
        case ScoreGap(relation=relation, limit=limit):
            demand = f"|score(a) - score(b)| {relation.value} {show_number(limit)}"
    return f"for all a, b in {domain.name}: {' and '.join(parts)} => {demand}"


def pair_formula(question: Pair, domain: Domain, names: Names = NAMES) -> list[str]:
    """What makes a pair, or a larger tuple, admissible, each part as a formula."""
    couples = tuple(combinations(names, 2))
    parts = [_differ_formula(question, domain, couple) for couple in couples]
    for relaxation in question.relax:
        name = domain.attributes[relaxation.attribute].name
        if relaxation.by is not None:
            parts += [f"|{a}.{name} - {b}.{name}| <= {show_number(relaxation.by)}" for a, b in couples]
    if equal := _equal(question, domain):
        parts.append(f"{' = '.join(f'{one}.x' for one in names)} for x in {{{', '.join(equal)}}}")
    if question.target != TRUE:
        parts.append(
            f"{' and '.join(f'T({one})' for one in names)} with T = [{predicate_text(question.target, domain)}]"
        )
    if question.pair_target != TRUE:
        parts.append(f"[{predicate_text(question.pair_target, domain, names)}]")
    parts += [_sureness(sure) for sure in question.sure]
    return parts


def _sureness(sure: Sure) -> str:
    return f"confidence({sure.who.value}) {sure.relation.value} {show_number(sure.level)}"


def _how_sure(question: Pair) -> str:
    """```a` its decision with a probability of at least 0.9``, of each of the two where they are asked the same."""

    def probability(sure: Sure) -> str:
        return f"with a probability of {sure.relation.words} {show_number(sure.level)}"

    asked = [probability(sure) for sure in question.sure]
    if len(asked) == 2 and asked[0] == asked[1]:
        return f"each of the two its decision {probability(question.sure[0])}"
    return " and ".join(f"`{sure.who.value}` its decision {probability(sure)}" for sure in question.sure)


def _differ_formula(question: Pair, domain: Domain, who: Names) -> str:
    names = [domain.attributes[index].name for index in question.differ]
    parts = [f"{who[0]}.{name} != {who[1]}.{name}" for name in names]
    if question.mode is Differ.EACH or len(parts) == 1:
        return " and ".join(parts)
    return f"({' or '.join(parts)})"
