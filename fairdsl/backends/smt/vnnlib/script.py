"""The text of VNN-LIB files: declarations, what each input is in the spec's words, and the assertions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm

from fairdsl.backends.smt.cases import Case
from fairdsl.backends.smt.individuals import commented, place
from fairdsl.backends.smt.vnnlib.constraints import All, Formula, Line, above, all_of
from fairdsl.backends.smt.vnnlib.networks import Column
from fairdsl.backends.smt.vnnlib.pair import PairQuery
from fairdsl.backends.smt.vnnlib.product import Product
from fairdsl.ir.domain import Attribute, Category
from fairdsl.ir.problem import Problem

_WIDER = (
    "; Over the reals: integers and sets became the intervals around them, strict inequalities closed ones.",
    "; So unsat proves that no pair{} {}, and sat must be confirmed by a replay on the original model.",
)


def pair_text(problem: Problem, query: PairQuery, network: str, part: str = "") -> str:
    """The question over two copies of the network in ``network``, VNN-LIB 2.0; ``part`` as for :func:`case_text`."""
    attributes = problem.domain.attributes
    indicators = problem.model.indicators
    # Of type `real`, for the question is: of `float32` a conforming solver would answer about float32's own arithmetic.
    shapes = [f"real [1,{width}]" for width in (len(attributes) + indicators, problem.model.score_count)]
    lines = [
        f"; {commented(problem.name)}: is there a pair{_inside(part)} that breaks the demand?",
        *_meaning("breaks the demand", part),
        f"; f, g: {network}",
        "(vnnlib-version <2.0>)",
        f"(declare-network f (declare-input X {shapes[0]}) (declare-output Y {shapes[1]}))",
        f"(declare-network g (equal-to f) (declare-input X2 {shapes[0]}) (declare-output Y2 {shapes[1]}))",
        "; X is a, X2 is b:",
        *(f";   [0,{index}] {_described(attribute)}" for index, attribute in enumerate(attributes)),
        *(f";   [0,{len(attributes) + index}] indicator {index + 1} of the model" for index in range(indicators)),
        "; what both share",
        *(f"(assert (== {one} {other}))" for one, other in query.equal),
        "; their values, and which pairs are comparable",
        *asserted(all_of(query.conditions)),
        "; the demand, negated",
        *asserted(query.broken),
    ]
    return "\n".join(lines) + "\n"


def case_text(problem: Problem, case: Case, product: Product, network: str, part: str = "") -> str:
    """One case over its product network in ``network``, VNN-LIB 1.0.

    ``part``: the problem is that of one partition, with these values.
    """
    lines = [
        f"; {commented(problem.name)}: {commented(case.title)}",
        *_meaning("does this", part),
        f"; network: {network}",
        *(f";   {who}.{_fixed(problem, index, value)}" for (who, index), value in product.fixed.items()),
        *(f";   X_{index}: {_column(problem, column)}" for index, column in enumerate(product.columns)),
        *(f"(declare-const X_{index} Real)" for index in range(len(product.columns))),
        *(f"(declare-const Y_{index} Real)" for index in range(len(product.errors))),
        *(bound for index, column in enumerate(product.columns) for bound in _box(index, column)),
        "; the outputs are the case's inequalities",
        *_outputs(product.errors[: len(case.atoms)], 0),
        *_conditions(product, len(case.atoms)),
    ]
    return "\n".join(lines) + "\n"


def _inside(part: str) -> str:
    return " in this partition" if part else ""


def _meaning(does: str, part: str) -> Iterator[str]:
    """What the file is about, and what answers to it mean."""
    if part:
        yield f"; the partition: {commented(part)}"
    yield _WIDER[0]
    yield _WIDER[1].format(_inside(part), does)


def _box(index: int, column: Column) -> Iterator[str]:
    if column.low is not None:
        yield f"(assert (>= X_{index} {decimal(column.low, up=False)}))"
    if column.high is not None:
        yield f"(assert (<= X_{index} {decimal(column.high, up=True)}))"


def _outputs(errors: Sequence[float], first: int) -> Iterator[str]:
    """Each output is at least 0, less what storing the network changed."""
    for index, error in enumerate(errors, start=first):
        if math.isfinite(error):
            (line,) = asserted(above(Line(((f"Y_{index}", Fraction(1)),)), -Fraction(error)))
            yield line
        else:
            yield f"; output {index} is not bounded: rounded numbers meet an unbounded input"


def _conditions(product: Product, first: int) -> Iterator[str]:
    """Conditions between inputs are outputs too; what they say stands in a comment."""
    if product.conditions:
        yield "; and conditions between inputs: so far do they fall short of"
        for index, condition in enumerate(product.conditions, start=first):
            yield f";   Y_{index}: {written(condition)}"
        yield from _outputs(product.errors[first:], first)


def _described(attribute: Attribute) -> str:
    text = f"{commented(attribute.name)}{place(attribute.span)}"
    if isinstance(attribute.type, Category):
        text += ": " + ", ".join(f"{value.code} = {commented(value.name)}" for value in attribute.type.values)
    return text


def _fixed(problem: Problem, index: int, value: Fraction) -> str:
    attribute = problem.domain.attributes[index]
    return f"{commented(attribute.name)} = {commented(attribute.show(value))}, in the network"


def _column(problem: Problem, column: Column) -> str:
    if column.attribute is None:
        return column.meaning or "nothing"
    described = _described(problem.domain.attributes[column.attribute])
    match column.role:
        case "both":
            return described
        case "offset":
            return f"b's less a's {described}"
        case who:
            return f"{who}'s {described}"


# ---- numbers and formulas ------------------------------------------------------------------------
#
# VNN-LIB as text: decimal numbers and formulas, in the common subset of versions 1.0 and 2.0.
#
# The two differ in how variables are declared and named; an inequality reads the same in both. Numbers are
# decimals without exponents. One that has no finite decimal is never rounded inwards: bounds move outwards, and
# inequalities between variables are multiplied by the denominators.

#: Digits after the point of numbers that have no finite decimal.
_DIGITS = 24
#: Bounds with longer decimals than float32 numbers of usual size have are moved outwards too.
_LONG = 60


def decimal(value: Fraction, *, up: bool) -> str:
    """The value as a decimal: exactly where that is short, otherwise moved up (or down) by less than 1e-24."""
    digits = _finite_digits(value.denominator)
    scale = 10 ** (_DIGITS if digits is None or digits > _LONG else digits)
    whole, rest = divmod(value.numerator * scale, value.denominator)
    return _pointed(whole + (bool(rest) and up), scale)


def exact_decimal(value: Fraction) -> str:
    """The value as a decimal; ValueError where it has no finite one."""
    digits = _finite_digits(value.denominator)
    if digits is None:
        raise ValueError(f"{value} has no finite decimal")
    return _pointed(value.numerator * 10**digits // value.denominator, 10**digits)


def _pointed(whole: int, scale: int) -> str:
    integer, fraction = divmod(abs(whole), scale)
    places = len(str(scale)) - 1
    text = f"{integer}.{fraction:0{places}d}".rstrip("0") if places else f"{integer}."
    return ("-" if whole < 0 else "") + (text + "0" if text.endswith(".") else text)


def asserted(formula: Formula) -> Iterator[str]:
    """One ``assert`` for each conjunct."""
    for part in formula.parts if isinstance(formula, All) else (formula,):
        yield f"(assert {written(part)})"


def written(formula: Formula) -> str:
    """The formula; ``or`` and ``and`` always have parts, an empty one is refused."""
    if isinstance(formula, Line):
        return _inequality(formula)
    if not formula.parts:
        raise ValueError("a formula without variables has no place in a file")
    connective = "and" if isinstance(formula, All) else "or"
    return f"({connective} {' '.join(written(part) for part in formula.parts)})"


def _inequality(line: Line) -> str:
    """``line >= 0``, as a bound where it is about one variable."""
    if not line.terms:
        raise ValueError("an inequality without variables has no place in a file")
    if len(line.terms) == 1:
        ((name, factor),) = line.terms
        bound = -line.constant / factor
        return f"(>= {name} {decimal(bound, up=False)})" if factor > 0 else f"(<= {name} {decimal(bound, up=True)})"
    if any(_finite_digits(factor.denominator) is None for _, factor in line.terms):
        line = line.scaled(Fraction(lcm(*(factor.denominator for _, factor in line.terms))))
    summands = " ".join(name if factor == 1 else f"(* {exact_decimal(factor)} {name})" for name, factor in line.terms)
    return f"(>= (+ {summands}) {decimal(-line.constant, up=False)})"


def _finite_digits(denominator: int) -> int | None:
    """How many digits after the point the decimal needs; None where it has no end."""
    digits = 0
    for prime in (2, 5):
        power = 0
        while denominator % prime == 0:
            denominator //= prime
            power += 1
        digits = max(digits, power)
    return digits if denominator == 1 else None
