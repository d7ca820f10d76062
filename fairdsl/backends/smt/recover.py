"""The way back: a solver's answer becomes a verdict, and ``sat`` only after a replay on the original model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from fairdsl.backends.contract import Answer
from fairdsl.backends.smt.cases import pair_of
from fairdsl.backends.smt.individuals import Individuals
from fairdsl.ir.domain import Point
from fairdsl.ir.problem import Problem
from fairdsl.replay import round_point, witness
from fairdsl.verdict import Witness

__all__ = ["checked", "number", "pair_in", "parse_answer"]

_TOKEN = re.compile(r';[^\n]*|[()]|\|[^|]*\||"(?:[^"]|"")*"|[^\s();|"]+')
_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?\Z")
_PLAIN = re.compile(r"-?[0-9]+(/[0-9]+)?\Z")

Expression = str | list["Expression"]


def parse_answer(output: str) -> Answer:
    """What an SMT-LIB solver printed for a script of ours; total."""
    try:
        expressions = list(_read(iter(_TOKEN.findall(output))))
    except ValueError:
        return Answer(status="malformed", detail="the parentheses do not match")
    for position, expression in enumerate(expressions):
        if expression in ("unsat", "unknown"):
            return Answer(status=str(expression))
        if expression == "sat":
            values = {
                str(pair[0]): _shown(pair[1])
                for entry in expressions[position + 1 :]
                if isinstance(entry, list)
                for pair in entry
                if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)
            }
            return Answer(status="sat", values=values)
        if expression == "timeout":
            return Answer(status="unknown", detail="timeout")
    return Answer(status="malformed", detail="the output has neither sat, unsat nor unknown")


def number(text: str) -> Fraction:
    """``3``, ``-1/2``, ``0.25``, ``(- 3)``, ``(/ 1.0 3.0)``; ValueError otherwise."""
    if _PLAIN.match(text):
        return Fraction(text)
    expressions = list(_read(iter(_TOKEN.findall(text))))
    if len(expressions) != 1:
        raise ValueError(text)
    return _number(expressions[0])


def pair_in(problem: Problem, values: Mapping[str, str]) -> tuple[Point, Point] | None:
    """The pair that the values describe; None if they are not numbers.

    An attribute that the solver does not mention may have any value: it gets its least, or zero.
    """
    people = Individuals(problem.domain, pair_of(problem))
    plain = {name.strip("|"): value for name, value in values.items()}

    def value(who: str, index: int) -> Fraction:
        text = plain.get(people.symbol(who, index).strip("|"))
        if text is not None:
            return number(text)
        low, high = problem.domain.attributes[index].bounds
        return low if low is not None else min(high, Fraction(0)) if high is not None else Fraction(0)

    count = len(problem.domain.attributes)
    try:
        a = tuple(value("a", index) for index in range(count))
        b = tuple(value("b", index) for index in range(count))
    except (ValueError, ZeroDivisionError):
        return None
    return a, b


def checked(problem: Problem, a: Point, b: Point) -> Witness | None:
    """The pair as a witness: real values rounded to float32 where that keeps it one.

    A pair on which both arithmetics agree comes before one that violates in exact arithmetic only; None
    if neither is found. For a deployed file a pair counts as agreeing only with values that its inputs
    can represent.
    """
    rounded = (round_point(problem.domain, a), round_point(problem.domain, b))
    found = [witness(problem, *rounded)]
    if rounded != (a, b):
        found.append(witness(problem, a, b))
    agreeing = found if problem.model.deployed is None else found[:1]
    for candidate in agreeing:
        if candidate is not None and candidate.replay.agrees:
            return candidate
    return next((candidate for candidate in found if candidate is not None and candidate.replay.exact), None)


def is_violation(problem: Problem, found: Witness) -> bool:
    """Whether a checked witness counts in both arithmetics."""
    representable = (round_point(problem.domain, found.a), round_point(problem.domain, found.b)) == (
        found.a,
        found.b,
    )
    return found.replay.agrees and (representable or problem.model.deployed is None)


def _read(tokens: Iterator[str]) -> Iterator[Expression]:
    """The expressions in the tokens; ValueError where the parentheses do not match."""
    stack: list[list[Expression]] = [[]]
    for token in tokens:
        if token.startswith(";"):
            continue
        if token == "(":
            stack.append([])
        elif token == ")":
            if len(stack) == 1:
                raise ValueError("unmatched parenthesis")
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    if len(stack) != 1:
        raise ValueError("unmatched parenthesis")
    yield from stack[0]


def _shown(expression: Expression) -> str:
    if isinstance(expression, str):
        return expression
    return f"({' '.join(_shown(part) for part in expression)})"


def _number(expression: Expression) -> Fraction:
    if isinstance(expression, str):
        if not _DECIMAL.match(expression) and not _PLAIN.match(expression):
            raise ValueError(expression)
        return Fraction(expression)
    operators: dict[tuple[str, int], Callable[..., Fraction]] = {
        ("-", 2): lambda x: -x,
        ("/", 3): lambda x, y: x / y,
        ("to_real", 2): lambda x: x,
    }
    if not expression or not isinstance(expression[0], str):
        raise ValueError("not a number")
    operator = operators.get((expression[0], len(expression)))
    if operator is None:
        raise ValueError(expression[0])
    return operator(*(_number(part) for part in expression[1:]))
