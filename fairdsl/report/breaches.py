"""Those who break a general demand, in words: what each model makes of each individual, and which side fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fairdsl.report.sheet import Block, Note, Pair, PairRow
from fairdsl.report.words import cell, cells, score, scores
from fairdsl.verdict import Breach, Failed, Given


def breach_blocks(heading: str, found: Sequence[Breach], found_for: tuple[str, ...]) -> Iterator[Block]:
    """The first of them as a table, with the sides of the formula that fail; the others only counted."""
    if not found:
        return
    first = found[0]
    people = first.individuals
    if len(people) > 2:
        yield from _listed(heading, first, len(found) - 1)
        return
    common = first.differing if len(people) > 1 else ()
    same = tuple(f"{name} = {cell(value)}" for name, value in people[0].values.items() if name not in common)
    yield Pair(
        heading=heading,
        names=tuple(person.name for person in people),
        formula=True,
        rows=tuple(_rows(first)),
        both=same if len(people) > 1 else (),
        found_for=found_for,
    )
    if len(people) == 1:
        yield Note(people[0].name, (", ".join(same),))
    if first.failed:
        yield Note("not met", tuple(map(_side, first.failed)))
    if len(found) > 1:
        yield Note("", (f"and {len(found) - 1} more in the JSON report",))


def _listed(heading: str, breach: Breach, more: int) -> Iterator[Block]:
    """More than two individuals, one below the other: a table of pairs has two columns."""
    people, apart = breach.individuals, breach.differing
    same = [f"{name} = {cell(value)}" for name, value in people[0].values.items() if name not in apart]
    yield Note(heading, (f"{'all' if same else 'nothing'} the same: {', '.join(same)}",) if same else ())
    for person in people:
        said = [f"{name} = {cell(person.values[name])}" for name in apart]
        for given in breach.given:
            if given.individual == person.name:
                said.append(f"{given.model}: {given.decision}")
                said += [f"score {number}" for number in [score(given.scores, given.score_error)] if number]
        yield Note(person.name, (", ".join(said),))
    if breach.failed:
        yield Note("not met", tuple(map(_side, breach.failed)))
    if more:
        yield Note("", (f"and {more} more in the JSON report",))


def _rows(breach: Breach) -> Iterator[PairRow]:
    """Where two individuals differ, and the decisions and scores of every model named."""
    people = breach.individuals
    if len(people) > 1:
        first, second = (person.values for person in people)
        for name in breach.differing:
            yield PairRow(name, *cells(first[name], second[name]), marked=True)
    for model in dict.fromkeys(given.model for given in breach.given):
        found = {given.individual: given for given in breach.given if given.model == model}
        of_each = [found.get(person.name) for person in people]
        yield _row(model, ["" if given is None else given.decision for given in of_each])
        if not breach.agrees and any(given is not None and given.float32_decision for given in of_each):
            filed = ["" if given is None else given.float32_decision or "" for given in of_each]
            yield _row(f"{model} in float32", filed)
        shown = _scores(of_each)
        if any(shown):
            yield _row(f"score of {model}", shown)


def _row(name: str, texts: Sequence[str]) -> PairRow:
    return PairRow(name, texts[0], texts[1] if len(texts) > 1 else "")


def _scores(of_each: Sequence[Given | None]) -> Sequence[str]:
    """Scores, with as many figures as tell two apart."""
    match of_each:
        case [Given() as one, Given() as other] if one.scores and other.scores:
            return scores(one.scores, other.scores, max(one.score_error, other.score_error))
        case _:
            return ["" if given is None else score(given.scores, given.score_error) for given in of_each]


def _side(failed: Failed) -> str:
    """``score(a) >= score(b), by 2.5``."""
    what = f"{failed.text} is true" if failed.true else failed.text
    return what if failed.by is None else f"{what}, by {cell(failed.by)}"
