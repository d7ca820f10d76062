"""Random demands asked of every engine that answers them, and held against loops over everybody.

    python -m tests.demands.held 3000 --seed 1 --cvc5

draws so many demands, of every kind of model in turn, and prints what each engine said; it ends at the first one that
is wrong.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from random import Random

from fairdsl.backends.contract import Procedure, Refusal
from fairdsl.backends.smt.script import whole_script
from fairdsl.diagnostics import DiagnosticError
from fairdsl.elaborate import elaborate
from fairdsl.ir.demand import Demanded
from fairdsl.ir.problem import Problem
from fairdsl.plan.gate import turned_away
from fairdsl.plan.registry import BACKENDS
from fairdsl.semantics import front_end
from fairdsl.verdict import Estimated, Holds, Shares, Unknown, Vacuous, Verdict, Violated
from tests.agreement.engines import ENGINES, ask
from tests.demands.files import KINDS
from tests.demands.naive import VALUES, Case, Person, case, law
from tests.smt.second_solver import ask_cvc5

__all__ = [
    "ENGINE",
    "agrees",
    "ask_each",
    "demands_of",
    "drawn",
    "laws_agree",
    "people_in",
    "problem_of",
    "rows_agree",
    "rows_refuse",
    "shares_agree",
]

#: What says that a question is empty, says the same whatever is decided, or that a target has sums of `abs`: no
#: mistake of the generator.
EMPTY = {"E0208", "E0303", "E0307", "E0408", "E0409", "E0410", "E0413", "E0414", "W0802", "W0810"}

#: Who answers whether a demand holds of everybody.
ENGINE: dict[str, Procedure] = {engine.name: engine for engine in ENGINES if engine.name != "intervals"}


def demands_of(spec: str, folder: Path) -> list[Problem]:
    """The demands of a spec; none where it is refused for saying nothing about anybody."""
    path = folder / "spec.fair"
    path.write_text(spec, encoding="utf-8")
    try:
        checked, _ = front_end(str(path))
    except DiagnosticError as error:
        if {each.code for each in error.diagnostics} <= EMPTY:
            return []
        raise
    return [demand.problem for demand in elaborate(checked, {}).demands]


def problem_of(spec: str, folder: Path) -> Problem | None:
    """The first demand of a spec; None where there is none."""
    return next(iter(demands_of(spec, folder)), None)


def shares_agree(found: Case, verdict: Verdict | None) -> bool:
    """Whether there was a share, which then is what the loops over everybody count; what is open may be either."""
    if isinstance(verdict, Vacuous):
        assert found.share() is None
        return False
    assert isinstance(verdict, Shares)
    right = found.share()
    assert right is not None, found.spec(found.demand.text)
    assert verdict.certified <= right <= 1 - verdict.falsified, found.spec(found.demand.text)
    assert verdict.undecided == 0 or curved(found), found.spec(found.demand.text)
    return True


def curved(found: Case) -> bool:
    """Whether sums of numbers are compared that are only ever enclosed, so that a tie may stay open."""
    said = (found.demand, *found.premises)
    return any(model.curved for model in found.models) or any("probability(" in each.text for each in said)


def agrees(found: Case, verdict: Verdict | None) -> None:
    """Whether a verdict on a yes or no is what the loops over everybody come to."""
    asked = found.asked
    broken = [people for people in asked if not found.demand.of(people)]
    spec = found.spec(found.demand.text)
    match verdict:
        case Violated(witnesses=witnesses, breaches=breaches):
            assert broken, spec
            for each in breaches:
                people = {person.name: dict(person.values) for person in each.individuals}
                assert people in broken, (spec, people)
            for pair in witnesses:
                assert {"a": dict(pair.a), "b": dict(pair.b)} in broken, spec
            assert witnesses or breaches
        case Holds():
            assert asked, spec
            assert not broken, spec
        case Vacuous():
            assert not asked, spec
        case Unknown() | None:
            pass
        case _:
            raise AssertionError(verdict)


def drawn(random: Random, kind: str, folder: Path, *, alone: float = 0.35, names: tuple[str, ...] = ()) -> Case:
    """A random property about models of a kind, whose files are put into the folder; ``names`` says about whom."""
    if kind == "formula":
        return case(random, alone=alone, names=names)
    return case(random, lambda name, numbers: KINDS[kind](name, numbers, folder), alone=alone, names=names)


def ask_each(found: Case, folder: Path) -> Iterator[tuple[str, Verdict | None]]:
    """What every engine says about the demand, and about its share, each held against the definition."""
    demand = found.demand.text
    demands = demands_of(found.spec(demand, f"share({demand}) >= 50%"), folder)
    if not demands:
        return
    for name, engine in ENGINE.items():
        if turned_away(BACKENDS[name], demands[0]) is None:
            verdict = ask(engine, demands[0], 0.3 if name == "search" else 20.0)
            agrees(found, verdict)
            yield name, verdict
    shares_agree(found, share := ask(ENGINE["enumerate"], demands[1]))
    yield "enumerate, share", share
    for name, engine in (("smt", ENGINE["smt"]), ("rates", BACKENDS["rates"].procedure())):
        if (share := ask(engine, demands[1], 5.0)) is not None:
            shares_agree(found, share)
            yield f"{name}, share", share


def people_in(random: Random, folder: Path) -> list[Person]:
    """Random rows of the table ``people.csv``, which is written."""
    rows = [{name: random.choice(values) for name, values in VALUES.items()} for _ in range(random.randint(1, 12))]
    lines = [",".join(VALUES), *(",".join(map(str, row.values())) for row in rows)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return rows


def rows_agree(found: Case, rows: list[Person], folder: Path) -> Verdict | None:
    """What ``rows`` says about the demand; it and the share are held to be right."""
    demand = found.demand.text
    demands = demands_of(found.spec(demand, f"share({demand}) >= 50%", under="people"), folder)
    if not demands:
        return None
    holds, share = (ask(BACKENDS["rows"].procedure(), problem) for problem in demands)
    asked, unfair = found.judged_units
    inside = [row for row in rows if all(said.of({"": row}) for said in found.targets)]
    units = [unit for unit in map(found.unit_of, inside) if unit in asked]
    met = sum(unit not in unfair for unit in units)
    if not units:
        assert isinstance(holds, Vacuous), found.spec(demand)
        assert isinstance(share, Vacuous), found.spec(demand)
        return holds
    assert isinstance(holds, Unknown | (Holds if met == len(units) else Violated)), found.spec(demand)
    if isinstance(holds, Violated):
        agrees(found, holds)
    assert isinstance(share, Shares)
    right = Fraction(met, len(units))
    assert share.certified <= right <= 1 - share.falsified, found.spec(demand)
    assert share.undecided == 0 or curved(found), found.spec(demand)
    assert share.total == len(units)
    # A condition that speaks of no model says who is asked about, and is not a premise.
    if len(found.names) == 1 and not any("(a)" not in said.text for said in found.premises):
        assert share.vacuous == Fraction(len(inside) - len(units), len(inside))
    return holds


def rows_refuse(found: Case, folder: Path) -> bool:
    """Whether rows and draws leave a demand about more than two alone, whose units they cannot judge."""
    people_in(Random(0), folder)
    demands = demands_of(found.spec(f"share({found.demand.text}) >= 50%", under="people"), folder)
    return all(ask(BACKENDS["rows"].procedure(), problem) is None for problem in demands)


def laws_agree(
    found: Case, said: str, chance: Callable[[Person], Fraction], folder: Path
) -> Iterator[tuple[str, Verdict | None]]:
    """What engines say about the share under a distribution, exactly and drawn, which is held to be right."""
    share = f"share({found.demand.text}) >= 50%"
    demands = demands_of(
        found.spec(share, f"{share} within 10% with confidence 99.999999%", under="people", law=said), folder
    )
    if not demands:
        return
    right, spec = found.share_under(chance), found.spec(share, under="people", law=said)
    verdict = ask(ENGINE["enumerate"], demands[0])
    yield "enumerate, law", verdict
    if right is None:
        assert isinstance(verdict, Vacuous), spec
        return
    assert isinstance(verdict, Shares), spec
    assert verdict.certified <= right <= 1 - verdict.falsified, (right, verdict, spec)
    assert verdict.undecided == 0 or curved(found), spec
    if (by_rates := ask(BACKENDS["rates"].procedure(), demands[0])) is not None:
        assert isinstance(by_rates, Shares), spec
        assert by_rates.certified == right == 1 - by_rates.falsified, (right, by_rates, spec)
        assert by_rates.of_domain in (None, verdict.of_domain), spec
        yield "rates, law", by_rates
    drawn = ask(BACKENDS["sampling"].procedure(), demands[1])
    if len(found.names) > 2:  # a unit that is drawn is one of one or two
        assert drawn is None, spec
        return
    yield "sampling, law", drawn
    assert isinstance(drawn, Estimated | Unknown), spec  # hardly anybody may be in question
    if isinstance(drawn, Estimated):
        assert drawn.estimate.interval.low <= right <= drawn.estimate.interval.high, (right, drawn.estimate, spec)


def by_cvc5(found: Case, folder: Path) -> str | None:
    """What cvc5 says to the script of the demand, which has to be right; None where there is no script."""
    problem = problem_of(found.spec(found.demand.text), folder)
    if problem is None or turned_away(BACKENDS["smt"], problem) is not None:
        return None
    if not isinstance(problem.question, Demanded) or isinstance(ENGINE["smt"].offer(problem), Refusal):
        return None
    status = ask_cvc5(whole_script(problem)).status
    broken = any(not found.demand.of(people) for people in found.asked)
    assert status == ("sat" if broken else "unsat"), (status, found.spec(found.demand.text))
    return status


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, help="how many demands are drawn")
    parser.add_argument("--seed", type=int, default=1, help="of the drawing")
    parser.add_argument("--people", type=int, default=0, help="how many individuals each is about; 0: one or two")
    parser.add_argument("--cvc5", action="store_true", help="ask cvc5 the scripts as well")
    asked = parser.parse_args()
    said: dict[str, Counter[str]] = {}
    kinds, started = ("formula", *KINDS), time.process_time()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(asked.count):
            random, kind = Random(f"{asked.seed}.{number}"), kinds[number % len(kinds)]
            found = drawn(random, kind, folder, names=tuple("abcd"[: asked.people]))
            verdicts = list(ask_each(found, folder))
            if len(found.names) <= 2:
                verdicts.append(("rows", rows_agree(found, people_in(random, folder), folder)))
            else:
                assert rows_refuse(found, folder)
            verdicts += laws_agree(found, *law(random), folder)
            words = [(engine, type(verdict).__name__) for engine, verdict in verdicts if verdict is not None]
            if asked.cvc5 and (status := by_cvc5(found, folder)) is not None:
                words.append(("cvc5", status))
            for engine, word in words:
                said.setdefault(engine, Counter())[word] += 1
            if sys.stderr.isatty() or number % 100 == 99:
                print(f"{number + 1} drawn", file=sys.stderr)
    for engine, counts in said.items():
        print(f"{engine:17} " + ", ".join(f"{count} {word}" for word, count in counts.most_common()))
    print(f"{asked.count} demands, none wrong, {time.process_time() - started:.0f} CPU seconds")


if __name__ == "__main__":
    main()
