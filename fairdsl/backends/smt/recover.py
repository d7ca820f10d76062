"""The way back: a solver's answer becomes a verdict, and ``sat`` only after a replay on the original model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypedDict

from fairdsl.backends.encoding import Answer, Lowered
from fairdsl.backends.smt.engine import reason_of
from fairdsl.backends.smt.individuals import people_of
from fairdsl.backends.smt.terms import symbol
from fairdsl.ir.demand import Demanded
from fairdsl.ir.domain import Point
from fairdsl.ir.problem import Problem
from fairdsl.replay import breach, round_point, witness
from fairdsl.source.numbers import read_number
from fairdsl.verdict import Breach, Evidence, Holds, Reason, Replay, Unknown, Verdict, Violated, Witness, worst

_TOKEN = re.compile(r';[^\n]*|[()]|\|[^|]*\||"(?:[^"]|"")*"|[^\s();|"]+')
_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?\Z")
_PLAIN = re.compile(r"-?[0-9]+(/[0-9]+)?\Z")

#: What a solver may say; `timeout` is z3's word for a deadline.
_STATUSES = frozenset({"sat", "unsat", "unknown", "timeout"})
#: The same with a reason, as cvc5's Python package prints a result: `unknown (TIMEOUT)`.
_EXPLAINED = re.compile(r"unknown\s*\(([A-Z_]{1,40})\)\Z")
_REASONS = {"TIMEOUT": "timeout", "MEMOUT": "out of memory"}
#: What a solver leaves behind that was killed, by a deadline for example.
_NOTHING = "the output is empty, as that of a solver that was stopped"
#: Deeper nesting than this is not an answer to a script of ours.
_DEEPEST = 100

Expression = str | list["Expression"]

#: The pairs to try for an answer to a file, the most promising first.
Pairs = Callable[[str, Answer], Iterable[tuple[Point, ...]]]


def parse_answer(output: str) -> Answer:
    """What an SMT-LIB solver printed for a script of ours; total.

    The status stands alone on its line; two that differ are not an answer. Behind `sat` come the values, as
    ``get-value`` prints them, or ``get-model``.
    """
    lines = output.splitlines()
    stated = [(place, told) for place, line in enumerate(lines) if (told := _status(line.strip()))]
    if len({status for _, (status, _) in stated}) > 1:
        return Answer(status="malformed", detail="the output has answers that contradict each other")
    if not stated:
        said = "the output has neither sat, unsat nor unknown" if output.strip() else _NOTHING
        return Answer(status="malformed", detail=said)
    place, (status, reason) = stated[0]
    if status != "sat":
        return Answer(status=status, detail=reason)
    try:
        expressions = list(_read(iter(_TOKEN.findall("\n".join(lines[place + 1 :])))))
    except ValueError:
        return Answer(status="malformed", detail="the parentheses do not match")
    return Answer(status="sat", values=dict(_values(expressions)))


def _status(line: str) -> tuple[str, str] | None:
    """`sat`, `unsat` or `unknown` with the reason, if the line says one; None for any other line."""
    if line in _STATUSES:
        return ("unknown", "timeout") if line == "timeout" else (line, "")
    explained = _EXPLAINED.match(line)
    if explained is None:
        return None
    return "unknown", _REASONS.get(explained[1], explained[1].lower().replace("_", " "))


def answer_text(answer: Answer) -> str:
    """An answer as solvers print it, for :func:`parse_answer`; what decides nothing is `unknown` and a comment."""
    if answer.status not in ("sat", "unsat"):
        detail = " ".join(answer.detail.split())
        return "timeout\n" if detail == "timeout" else f"unknown\n; {answer.status}: {detail}\n"
    values = "\n ".join(f"({symbol(name.strip('|'))} {value})" for name, value in answer.values.items())
    return f"{answer.status}\n" + (f"({values})\n" if values else "")


def _values(expressions: Iterable[Expression]) -> Iterator[tuple[str, str]]:
    """``((name value) ...)`` of get-value, ``((define-fun name () Sort value) ...)`` of get-model."""
    for entry in expressions:
        if isinstance(entry, str):
            continue
        for pair in (entry, *entry):
            match pair:
                case ["define-fun", str(name), [], str(), value]:
                    yield name, _shown(value)
                case [str(name), value] if pair is not entry:
                    yield name, _shown(value)


def number(text: str) -> Fraction:
    """``3``, ``-1/2``, ``0.25``, ``(- 3)``, ``(/ 1.0 3.0)``; ValueError otherwise."""
    if _PLAIN.match(text):
        return read_number(text)
    expressions = list(_read(iter(_TOKEN.findall(text))))
    if len(expressions) != 1:
        raise ValueError(text)
    return _number(expressions[0])


def pair_in(problem: Problem, values: Mapping[str, str]) -> tuple[Point, ...] | None:
    """The pair, or larger tuple, that the values describe; None if they are not numbers.

    An attribute that the solver does not mention may have any value: it gets its least, or zero.
    """
    people = people_of(problem)
    plain = {name.strip("|"): value for name, value in values.items()}

    def value(who: str, index: int) -> Fraction:
        text = plain.get(people.symbol(who, index).strip("|"))
        if text is not None:
            return number(text)
        low, high = problem.domain.attributes[index].bounds
        return low if low is not None else min(high, Fraction(0)) if high is not None else Fraction(0)

    count = len(problem.domain.attributes)
    try:
        return tuple(tuple(value(letter, index) for index in range(count)) for letter in people.letters)
    except (ValueError, ZeroDivisionError):
        return None


def checked(problem: Problem, *points: Point) -> Witness | Breach | None:
    """The pair as a witness, or those who break a formula: real values rounded to float32 where that keeps it one.

    A pair on which both arithmetics agree comes before one that violates in exact arithmetic only; None
    if neither is found. For a deployed file a pair counts as agreeing only with values that its inputs
    can represent. Of a formula about one individual the first is the one.
    """
    rounded = tuple(round_point(problem.domain, point) for point in points)
    found = [_replayed(problem, *rounded)]
    if rounded != points:
        found.append(_replayed(problem, *points))
    agreeing = found[:1] if _in_files(problem) else found
    for candidate in agreeing:
        if candidate is not None and _of(candidate).agrees:
            return candidate
    return next((candidate for candidate in found if candidate is not None and _of(candidate).exact), None)


def people_in(found: Witness | Breach) -> tuple[Point, ...]:
    """The two, or more; of one individual it is both."""
    if isinstance(found, Witness):
        return found.a.point, found.b.point
    people = [person.values.point for person in found.individuals]
    return tuple(people * 2 if len(people) == 1 else people)


def is_violation(problem: Problem, found: Witness | Breach) -> bool:
    """Whether a checked witness counts in both arithmetics."""
    representable = all(round_point(problem.domain, point) == point for point in people_in(found))
    return _of(found).agrees and (representable or not _in_files(problem))


def carried(found: Sequence[Witness | Breach]) -> Carried:
    """What verdicts carry of those who were checked."""
    return Carried(
        witnesses=tuple(one for one in found if isinstance(one, Witness)),
        breaches=tuple(one for one in found if isinstance(one, Breach)),
    )


def as_pair(found: Witness | Breach | None) -> Witness | None:
    """What was found of a question about pairs."""
    return found if isinstance(found, Witness) else None


class Carried(TypedDict):
    """Pairs, and those who break formulas."""

    witnesses: tuple[Witness, ...]
    breaches: tuple[Breach, ...]


def _replayed(problem: Problem, *points: Point) -> Witness | Breach | None:
    asked = problem.question
    if not isinstance(asked, Demanded):
        return witness(problem, *points[:2])
    return breach(problem, dict(zip(asked.people, points, strict=False)))


def _of(found: Witness | Breach) -> Replay | Breach:
    """What the arithmetics say."""
    return found.replay if isinstance(found, Witness) else found


def _in_files(problem: Problem) -> bool:
    return any(model.deployed is not None for model in problem.models)


def recovered(
    problem: Problem, lowered: Lowered, answers: Mapping[str, Answer], pairs: Pairs, evidence: Evidence
) -> Verdict:
    """What the answers, one a file, come to.

    Violated where a pair of some `sat` replays; holds where every file of one alternative of ``settled_by`` is
    `unsat`; otherwise unknown, for the reason that tells most.
    """
    files = dict.fromkeys(file for alternative in lowered.settled_by for file in alternative)
    undecided: list[Unknown] = []
    for file in files:
        verdict = _one(problem, file, answers.get(file), pairs, evidence)
        if isinstance(verdict, Violated):
            return verdict
        if isinstance(verdict, Unknown):
            undecided.append(verdict)
    proved = {file for file, answer in answers.items() if answer.status == "unsat"}
    for alternative in lowered.settled_by:
        if proved.issuperset(alternative):
            return Holds(evidence=replace(evidence, method=f"{evidence.method}{_to(alternative)}"))
    if not undecided:  # no file, and nothing that settles it
        return Unknown(reason=Reason.INCOMPLETE, detail="there is no file to answer", evidence=evidence)
    return worst(undecided)


def _to(files: Sequence[str]) -> str:
    """The files that were answered, the first ones by name."""
    named = ", ".join(f"`{file}`" for file in files[:3])
    more = f" and {len(files) - 3} more" if len(files) > 3 else ""
    return f" to {named}{more}" if files else ": nobody is left to compare, so none is needed"


def _one(problem: Problem, file: str, answer: Answer | None, pairs: Pairs, evidence: Evidence) -> Verdict | None:
    """What one answer says; None for `unsat`, which says something together with the others only."""
    if answer is None:
        return Unknown(reason=Reason.INCOMPLETE, detail=f"`{file}` has no answer", evidence=evidence)
    if answer.status == "unsat":
        return None
    gap: Witness | Breach | None = None
    for pair in pairs(file, answer) if answer.values else ():
        found = checked(problem, *pair)
        if found is not None and is_violation(problem, found):
            return Violated(**carried([found]), evidence=evidence)
        gap = gap or found
    if gap is not None:
        who = "the pair breaks" if isinstance(gap, Witness) else "what was found breaks"
        detail = f"{who} the demand in exact arithmetic but not in the deployed file's"
        return Unknown(reason=Reason.NUMERIC_GAP, detail=detail, evidence=evidence, **carried([gap]))
    if answer.status != "sat":
        said = f": {answer.detail}" if answer.detail else ""
        return Unknown(reason=reason_of(answer), detail=f"no verdict on `{file}`{said}", evidence=evidence)
    broken = "its values break nothing when replayed on the model"
    detail = f"`{file}` is sat, but {broken if answer.values else 'the answer gives no values to replay'}"
    return Unknown(reason=Reason.REPLAY_FAILED, detail=detail, evidence=evidence)


def _read(tokens: Iterator[str]) -> Iterator[Expression]:
    """The expressions in the tokens; ValueError where the parentheses do not match."""
    stack: list[list[Expression]] = [[]]
    for token in tokens:
        if token.startswith(";"):
            continue
        if token == "(":
            stack.append([])
            if len(stack) > _DEEPEST:
                raise ValueError("nested too deeply")
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
