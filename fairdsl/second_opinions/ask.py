"""Asking solvers of others what `check` has answered, and what their answers are to its verdicts.

    report, solvers --derived--> files --run, under the clock--> outputs --encoding.recover--> second verdicts
        --reconciled--> opinions, beside the first verdicts, which stay as they are

The files are those of `compile`, pairs are replayed on the original model, and a contradiction leaves a bundle.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.encoding import Answer, Encoding, Lowered, Solving, encoding_of
from fairdsl.clock import Deadline, received, winding_down
from fairdsl.diagnostics import DiagnosticError
from fairdsl.options import Options, Run, options_of
from fairdsl.plan import opinion_in_words
from fairdsl.plan.joining import contradiction
from fairdsl.plan.registry import sections
from fairdsl.processes import run
from fairdsl.report.model import DemandReport, Report
from fairdsl.report.opinion import Opinion, Stand
from fairdsl.second_opinions.bundle import Shown, free_folder, write_bundle
from fairdsl.second_opinions.solvers import Question, Solver
from fairdsl.solver_files.questions import Asking, Derivation, derived, encoding_under
from fairdsl.source.reading import content_of, noting
from fairdsl.source.writing import write_file
from fairdsl.verdict import (
    Estimated,
    Fidelity,
    Holds,
    Reason,
    Refused,
    Shares,
    Unknown,
    Vacuous,
    Value,
    Verdict,
    Violated,
)


def reconciled(first: Verdict, second: Verdict, answers: Iterable[Answer]) -> tuple[Stand, str]:
    """What the second verdict, which the ``answers`` came to, is to the first one, and how a report says it.

    Pairs in the second one were replayed. A file that asks the very question leaves no room for `sat` where it was
    proved that nobody breaks the demand, even where the pair at hand does not.
    """
    against = contradiction(first, second)
    if against is not None:
        return Stand.CONTRADICTS, _against(first, second) or against
    if isinstance(first, Holds | Vacuous) and isinstance(second, Unknown):
        if second.reason is Reason.NUMERIC_GAP and (second.witnesses or second.breaches):
            return Stand.CONTRADICTS, "it found somebody who breaks in exact arithmetic what was proved there"
        if second.evidence.fidelity is Fidelity.EXACT and any(one.status == "sat" for one in answers):
            why = "what it names breaks nothing when replayed"
            return Stand.CONTRADICTS, f"it says sat where it was proved that nobody breaks the demand; {why}"
    if isinstance(second, Refused | Unknown):
        return Stand.OPEN, _open(second)
    if isinstance(first, Refused | Unknown):
        return Stand.DECIDES, f"{_alone(second)}, where the verdict is open"
    return _beside(first, second)


def _beside(first: Verdict, second: Verdict) -> tuple[Stand, str]:
    match first, second:
        case (Holds() | Vacuous(), Holds() | Vacuous()):
            return Stand.AGREES, "proves it, too"
        case Violated(), Violated():
            return Stand.AGREES, "finds a violation, too, which replays"
        case (Value(), Value()) | (Shares(), Shares()):
            nothing = isinstance(first, Value) and isinstance(second, Value) and first.defined and not second.defined
            return Stand.OPEN if nothing else Stand.AGREES, opinion_in_words(first, second)
        case Estimated(), Value() if second.defined:
            return Stand.DECIDES, f"{_alone(second)}, where the verdict is an estimate"
    return Stand.OPEN, "it answers another question than the verdict"


def _against(first: Verdict, second: Verdict) -> str | None:
    match first, second:
        case Violated(), (Holds() | Vacuous()):
            return "it says unsat, where somebody was found who breaks the demand when replayed on the model"
        case ((Holds() | Vacuous()), Violated()):
            return "it found somebody who breaks, replayed on the model, what was proved of everybody"
    return None


def _alone(second: Verdict) -> str:
    match second:
        case Holds() | Vacuous():
            return "says that it holds"
        case Violated():
            return "finds a violation, which replays"
        case Value(number=number):
            return f"comes to {float(number.low):.6g}" + ("" if number.exact else f" .. {float(number.high):.6g}")
    return "comes to a number"


def _open(second: Refused | Unknown) -> str:
    if isinstance(second, Refused):
        return f"no verdict: {second.diagnostics[0].title}"
    return f"no verdict: {second.detail or second.reason.value}"


_CONSTANT = "in {count} of {all} files every input is a constant, and those z3 answered in its place"


@dataclass(slots=True)
class _Work:
    """A demand, its files, and what one solver says to each of them."""

    solver: Solver
    place: tuple[str, int]
    asking: Asking
    lowered: Lowered
    files: tuple[str, ...]
    answers: dict[str, Answer] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    commands: dict[str, list[str]] = field(default_factory=dict)
    seconds: float = 0.0
    elsewhere: int = 0
    broken: str | None = None


def with_opinions(
    report: Report,
    solvers: Sequence[Solver],
    texts: Sequence[str],
    *,
    models: Mapping[str, str],
    let: Mapping[str, str],
    data: Mapping[str, str],
    seconds: float,
    bundles: str,
    observer: Observer,
) -> Report:
    """The report with what the solvers say to each of its demands, in so many seconds altogether.

    ``texts`` are how they were named; contradictions leave folders in ``bundles``. Raises DiagnosticError where spec or
    files have changed since so that they have mistakes, OSError where a bundle cannot be written.
    """
    opinions: dict[tuple[str, int], list[Opinion]] = {
        (item.name, number): [] for item in report.properties for number in range(len(item.demands))
    }
    works: list[_Work] = []
    with noting() as notes:
        asked = _Derivations(report, models, let, data)
        for solver in solvers:
            for place, found in _works(solver, asked, opinions):
                if isinstance(found, Opinion):
                    opinions[place].append(found)
                else:
                    works.append(found)
    with tempfile.TemporaryDirectory(prefix="fairdsl-also-") as name:
        _ask_all(works, Path(name), Deadline.within(seconds), observer)
    against: list[tuple[_Work, Opinion]] = []
    for work in works:
        opinion = _opinion(work, _demand(report, work.place), bundles, [one.bundle for _, one in against])
        opinions[work.place].append(opinion)
        if opinion.stand is Stand.CONTRADICTS:
            against.append((work, opinion))
    told = _told(report, opinions, texts)
    for work, opinion in against:
        assert opinion.bundle is not None, "contradictions have one"
        shown = Shown(files=work.lowered.files, outputs=work.outputs, commands=work.commands)
        opened = tuple(dict.fromkeys(note.path for note in notes))
        demand = _demand(report, work.place).text
        write_bundle(opinion.bundle, told, work.place[0], demand, opinion, shown, opened)
    return told


@dataclass(slots=True)
class _Derivations:
    """What the spec asks in each format, derived when it is first needed."""

    report: Report
    models: Mapping[str, str]
    let: Mapping[str, str]
    data: Mapping[str, str]
    found: dict[str, Derivation] = field(default_factory=dict)

    def of(self, solver: Solver) -> Derivation:
        """In the format that the solver reads. Counters are asked group by group, whatever is set."""
        if solver.form not in self.found:
            self.found[solver.form] = derived(
                self.report.spec.path,
                _encoding(solver.form),
                self.models,
                self.data,
                tuple(item.name for item in self.report.properties),
                let=self.let,
            )
        return self.found[solver.form]


def _encoding(form: str) -> Encoding:
    encoding = encoding_of(form)
    if "ssat.groups" not in encoding.reads:
        return encoding
    return encoding_under(form, options_of(Run(), {"ssat": {"groups": "enumerate"}}, sections()))


def _works(
    solver: Solver, asked: _Derivations, places: Mapping[tuple[str, int], object]
) -> Iterator[tuple[tuple[str, int], _Work | Opinion]]:
    """For each demand what is to be asked, or why nothing is."""
    if solver.missing is not None:
        for place in places:
            yield place, _silent(solver, Stand.MISSING, f"not asked: {solver.missing}")
        return
    derivation = asked.of(solver)
    for asking in derivation.askings:
        place = asking.item.property.name, asking.item.property.demands.index(asking.item.demand)
        (one,) = asking.parts()
        files = tuple(name for name in one.lowered.files if _reads(solver, one.lowered, name))
        if files:
            yield place, _Work(solver, place, asking, one.lowered, files)
        else:
            yield place, _silent(solver, Stand.UNSUITED, "not asked: nothing is left that a file would ask")
    for item, why in derivation.refused:
        place = item.property.name, item.property.demands.index(item.demand)
        yield (
            place,
            _silent(solver, Stand.UNSUITED, "not asked: " + ": ".join(filter(None, (why.why.title, why.why.why)))),
        )


def _reads(solver: Solver, lowered: Lowered, name: str) -> bool:
    role = lowered.described.get(name, {}).get("role")
    return role != "network" and solver.role in (None, role)


def _silent(solver: Solver, stand: Stand, why: str) -> Opinion:
    return Opinion(solver=solver.name, version=solver.version, stand=stand, said=why)


def _ask_all(works: Sequence[_Work], folder: Path, deadline: Deadline, observer: Observer) -> None:
    """Run the solvers, each file with an even part of the time that is left."""
    left = sum(len(work.files) for work in works)
    for number, work in enumerate(works):
        own = folder / f"{number}"
        own.mkdir()
        for name, content in work.lowered.files.items():
            write_file(own / name, content)
        for name in work.files:
            observer.progress(work.place[0], None, f"{work.solver.name}: {name}")
            seconds, left = max(0.0, deadline.remaining) / left, left - 1
            if received() is not None or seconds == 0:
                work.broken = work.broken or "the time was up before it was asked"
                continue
            try:
                with winding_down():
                    _ask(work, own / name, seconds, observer)
            except KeyboardInterrupt:
                work.broken = "it was interrupted"


def _ask(work: _Work, file: Path, seconds: float, observer: Observer) -> None:
    """What the solver prints for a file."""
    solver, encoding = work.solver, work.asking.encoding
    about = work.lowered.described.get(file.name, {})
    if solver.command is None or (solver.fails_on_constants and about.get("constant")):
        work.elsewhere += solver.command is not None
        options = solver.options if solver.command is None else Options()
        _by_ours(work, file, replace(Budget.of(seconds), options=options), observer)
        return
    network = about.get("network")
    command = solver.command(Question(file, None if network is None else file.with_name(str(network)), seconds))
    work.commands[file.name] = command
    try:
        ran = run(lambda _: command, seconds)
    except OSError as error:
        work.broken = f"`{command[0]}` cannot be started: {(error.strerror or str(error)).lower()}"
        return
    work.seconds += ran.seconds
    work.outputs[file.name] = ran.output + (f"\n; on the error stream: {ran.error}\n" if ran.error else "")
    answer = encoding.answer(ran.output, about)
    if answer.status == "malformed" and ran.code is None:
        answer = Answer(status="unknown", detail="it printed too much" if ran.flooded else "timeout")
    elif answer.status == "malformed" and ran.code:
        answer = Answer(status="crashed", detail=f"it ended with code {ran.code}{': ' * bool(ran.error)}{ran.error}")
    work.answers[file.name] = answer


def _by_ours(work: _Work, file: Path, budget: Budget, observer: Observer) -> None:
    """By an adapter of ours, or by z3, through the encoding."""
    encoding = work.asking.encoding
    output = file.with_name(f"{file.name}.answer")
    try:
        solved = encoding.solve(file, Solving(budget=budget, output=output), observer)
    except DiagnosticError as error:  # a prefix that the solver does not answer, for example
        work.broken = error.diagnostics[0].title
        return
    work.seconds += solved.seconds
    text = content_of(output).decode("utf-8", "replace") if output.exists() else solved.to_json()
    work.outputs[file.name] = text
    work.answers[file.name] = encoding.answer(text, work.lowered.described.get(file.name, {}))


def _opinion(work: _Work, demand: DemandReport, bundles: str, taken: Sequence[str | None]) -> Opinion:
    """What the answers are to the verdict."""
    opinion = Opinion(
        solver=work.solver.name,
        version=work.solver.version,
        stand=Stand.OPEN,
        said=f"no verdict: {work.broken}",
        files=work.files,
        seconds=round(work.seconds, 3),
    )
    if not work.answers:
        return opinion
    second = work.asking.encoding.recover(work.asking.problem, work.lowered, work.answers)
    stand, said = reconciled(demand.verdict, second, work.answers.values())
    if work.broken is not None and stand is Stand.OPEN:
        said = f"no verdict: {work.broken}"
    silent = [name for name in work.files if name not in work.answers or work.answers[name].bounds is None]
    if stand is Stand.AGREES and isinstance(second, Value) and silent:  # bounds that leave nearly everything open
        why = work.broken or work.answers[silent[0]].detail or "they have no number"
        stand, said = Stand.OPEN, f"no number for {len(silent)} of {len(work.files)} files: {why}"
    if work.elsewhere:
        said = f"{said}; {_CONSTANT.format(count=work.elsewhere, all=len(work.files))}"
    found = replace(opinion, stand=stand, said=said)
    if stand is not Stand.CONTRADICTS:
        return found
    name, number = work.place
    folder = free_folder(bundles, f"{name}-{number + 1}-{work.solver.name}")
    assert folder not in taken, "each demand and solver has one"
    return replace(found, bundle=folder)


def _demand(report: Report, place: tuple[str, int]) -> DemandReport:
    item = next(item for item in report.properties if item.name == place[0])
    return item.demands[place[1]]


def _told(report: Report, opinions: Mapping[tuple[str, int], Sequence[Opinion]], texts: Sequence[str]) -> Report:
    """The report with the opinions; who agrees is named in the evidence, too."""
    properties = tuple(
        replace(
            item,
            demands=tuple(_with(demand, opinions[item.name, number]) for number, demand in enumerate(item.demands)),
        )
        for item in report.properties
    )
    asked = None if report.asked is None else replace(report.asked, also=tuple(texts))
    return replace(report, properties=properties, asked=asked)


def _with(demand: DemandReport, opinions: Sequence[Opinion]) -> DemandReport:
    verdict = demand.verdict
    if not isinstance(verdict, Refused):
        agreeing = (f"{one.who} {one.said}" for one in opinions if one.stand is Stand.AGREES)
        evidence = replace(verdict.evidence, notes=(*verdict.evidence.notes, *agreeing))
        verdict = replace(verdict, evidence=evidence)
    return replace(demand, verdict=verdict, opinions=tuple(opinions))
