"""What became of a solver file, in words: what was solved and what came out, and a line for whatever else there is."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from fairdsl.backends.solved import AnsweredDemand, Bounds, Ending, Refined, Solved, Status
from fairdsl.ir.numbers import Towards, above, below, nearest, ratio, shown
from fairdsl.ir.plain_decimals import decimal_of
from fairdsl.report.words import REASONS
from fairdsl.source.numbers import digits_of
from fairdsl.verdict import Vacuous
from fairdsl.verdict.claims import in_words

__all__ = ["heading", "lines"]

#: A fraction with more digits is not shown beside its decimal.
_SHORT = 40
#: What became of a refinement, by its ending.
_ENDINGS = {
    Ending.FINISHED: "nothing is left to refine",
    Ending.DEADLINE: "the time is up; `--resume` goes on",
    Ending.NODES: "the boxes asked for are evaluated",
    Ending.INTERRUPTED: "interrupted; `--resume` goes on",
    Ending.STOPPED: "the processes went away; `--resume` goes on",
}


def heading(solved: Solved) -> tuple[str, str, str]:
    """What was solved, what came out, and a remark (or nothing)."""
    match solved.found:
        case Status(status=status, detail=detail):
            return str(solved.file), status, detail
        case Bounds() as found:
            size = f"{_counted(found.variables, 'variable')}, {_counted(found.clauses, 'clause')}"
            return str(solved.file), _value(found), size
        case Refined() as found:
            of = f"shard {found.shard} of {found.shards}" if found.shards > 1 else ""
            return found.property, " ".join(found.demand.split()), of
        case AnsweredDemand(asked=asked):
            return str(solved.file), asked.demand, ""


def lines(solved: Solved) -> Iterator[tuple[str, str]]:
    """What else there is to say: a word for it, and what is said. Of a demand the report says the rest."""
    match solved.found:
        case Status():
            yield "solved by", f"{solved.solver} in {solved.seconds:.1f} s"
            yield "answer", str(solved.answer)
        case Bounds() as found:
            yield from _of_bounds(solved, found)
        case Refined() as found:
            yield from _of_shares(solved, found)


def _of_bounds(solved: Solved, found: Bounds) -> Iterator[tuple[str, str]]:
    """The choice that attains the value, and the effort."""
    yield from (("choose", truth) for truth in _choice(found))
    if found.reason is not None:
        yield "unknown", REASONS[found.reason]
    if found.detail:
        yield "how", found.detail
    effort, work = f"{solved.solver} in {solved.seconds:.1f} s", found.work
    if work is not None:
        known = f", {work.cache_hits:,} of them known before" if work.cache_hits else ""
        effort += f"; {_counted(work.decisions, 'decision')}, {_counted(work.components, 'component')}{known}"
    yield "solved by" if found.reason is None else "tried by", effort
    yield from (("note", note) for note in found.notes)
    if solved.answer is not None:
        yield "answer", str(solved.answer)


def _of_shares(solved: Solved, found: Refined) -> Iterator[tuple[str, str]]:
    """The shares, the effort, and where they are written."""
    standing = found.standing
    if isinstance(standing, Vacuous):
        yield "vacuous", "nobody is compared"
    else:
        yield "certified", shown(standing.certified, percent=True, towards=Towards.DOWN)
        yield "falsified", shown(standing.falsified, percent=True, towards=Towards.DOWN)
        yield "undecided", shown(standing.undecided, percent=True, towards=Towards.UP)
    if found.shards > 1:
        yield "note", "what the other shards decide counts as undecided here"
    if found.taken:
        yield "note", in_words(found.taken)
    yield "refined", f"{found.nodes:,} boxes in {solved.seconds:.1f} s; {_ENDINGS[found.ending]}"
    yield "result", str(solved.answer)


def _value(found: Bounds) -> str:
    """A decimal, with the fraction where it is short and says more; or both bounds, rounded outward."""
    value = found.exact
    if value is None:
        return f"from {below(found.low)} to {above(found.high)}"
    if value.denominator == 1:
        return digits_of(value.numerator)
    short = value.denominator.bit_length() * 3 < _SHORT * 10
    text, written_out = _decimal(value)
    if not short:
        return text if written_out else f"about {text}"
    return f"{text} = {ratio(value)}" if written_out else f"{ratio(value)}, about {text}"


def _decimal(value: Fraction) -> tuple[str, bool]:
    """Up to 15 places, and whether that is all there is."""
    text = decimal_of(value)
    if len(text) <= 17 and Fraction(text) == value:
        return text, True
    number = nearest(value)
    # Numbers below the least float are above 0 all the same.
    return (f"{number:.12g}" if number else ratio(value)), False


def _choice(found: Bounds) -> list[str]:
    """Named choices in words; all choices by number where nothing has a name."""
    choice = found.choice or ()
    if any(one.name is not None for one in choice):
        return [str(one) for one in choice]
    return [" ".join(str(one.variable if one.true else -one.variable) for one in choice)] if choice else []


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
