"""``fairdsl check``: the verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import click

import fairdsl
from fairdsl.backends.smt.options import Partition
from fairdsl.cli.every_option import WithSettings
from fairdsl.cli.gate import Gate, gate_option, proof_gate, removed_option
from fairdsl.cli.kept import NOT_KEPT, Kept
from fairdsl.cli.options import (
    Seconds,
    data_option,
    engine_option,
    let_option,
    model_option,
    properties_option,
    run_option,
    set_option,
    spec_argument,
)
from fairdsl.cli.printing import Printer, printer_option
from fairdsl.cli.progress import watching
from fairdsl.cli.report_files import report_options, write_reports
from fairdsl.cli.verdicts import Verdicts
from fairdsl.clock import unbroken
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.ir.numbers import Towards, shown
from fairdsl.options import Run, split_settings
from fairdsl.report.model import Report, SpecFile
from fairdsl.report.stopped import Stopped, who_stopped
from fairdsl.source.reading import content_of
from fairdsl.verdict import Arithmetic, Decider, Shares

if TYPE_CHECKING:
    from fairdsl.backends.contract import Observer
    from fairdsl.proving import Proved
    from fairdsl.report.explained import Plans

#: So many times the seconds of `--timeout` proofs have where no limit of their own is set; and without it so many.
_PROVING_TIMES, _UNSET = 4, 60.0


def _solvers(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """The texts, which name solvers."""
    if texts:
        from fairdsl.second_opinions import solvers_of

        try:
            solvers_of(texts)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error
    return texts


@click.command(
    "check",
    cls=WithSettings,
    epilog="Exit codes: 0 holds; 1 violated; 2 mistakes, or refused; 3 unknown, or of nobody (docs/runs.md).",
)
@spec_argument
@printer_option
@report_options("--report")
@gate_option
@removed_option(hidden=True)
@model_option
@let_option
@data_option
@properties_option("Check only this property")
@run_option("backend")
@run_option("cross_check")
@run_option("timeout")
@run_option("effort")
@run_option("seed")
@run_option("jobs")
@run_option("memory")
@engine_option(Partition, "size")
@set_option
@click.option(
    "--no-cache",
    "cache",
    is_flag=True,
    flag_value=False,
    default=True,
    hidden=True,
    help="Check again, also what did not change.",
)
@click.option(
    "--proof",
    metavar="DIR",
    hidden=True,
    help="Afterwards write proofs there, which `fairdsl-verify` checks.",
)
@click.option(
    "--proof-seconds",
    type=Seconds(),
    metavar="SECONDS",
    hidden=True,
    help="With --proof: the seconds for all proofs together.  [default: four times those of --timeout]",
)
@click.option(
    "--require-proof",
    is_flag=True,
    hidden=True,
    help="With --proof: exit with 3 where something holds, or was measured, that no checked proof shows.",
)
@click.option(
    "--also",
    multiple=True,
    metavar="SOLVERS",
    callback=_solvers,
    hidden=True,
    help="Afterwards ask these for second opinions, in the seconds of --timeout, or 60: cvc5, marabou, pyganak, .. or "
    "`NAME=COMMAND {file}` (repeatable; docs/solver-files.md).",
)
@click.option(
    "--bundles",
    metavar="DIR",
    default="contradictions",
    hidden=True,
    help="Where second opinions that contradict a verdict leave what shows it.  [default: contradictions]",
)
@click.option("--explain-plan", is_flag=True, help="Print who would answer what, and why; run nothing.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    spec: str,
    printer: Printer,
    reports: tuple[str, ...],
    card: str | None,
    gate: Gate,
    removed: tuple[str, ...],
    models: Mapping[str, str],
    let: Mapping[str, str],
    data: Mapping[str, str],
    properties: tuple[str, ...],
    partition_size: int | str | None,
    settings: tuple[str, ...],
    cache: bool,
    proof: str | None,
    proof_seconds: float | None,
    require_proof: bool,
    also: tuple[str, ...],
    bundles: str,
    explain_plan: bool,
    **run: Any,
) -> None:
    """Verify every property of SPEC and report the verdicts."""
    about_verdicts = {"--report": reports, "--card": card, "--fail-on": gate.written, "--proof": proof, "--also": also}
    _refuse(about_verdicts if explain_plan else {}, no_proof=require_proof and proof is None)
    gate = gate.of_run(removed, properties)
    by_flag = () if partition_size is None else (f"partition.size={partition_size}",)
    given = split_settings((*by_flag, *settings))
    what: dict[str, Any] = {"models": models, "let": let, "data": data, "properties": properties}
    if explain_plan:
        asked = {"backend": run["backend"], "timeout": run["timeout"], "options": given}
        with printer.failing(ctx):
            plans = fairdsl.plans(spec, **what, **asked)
        printer.show(plans, _print_plan)
        return
    # Signals end the work inside, so that whatever it leaves is printed.
    with unbroken(), watching() as observer:
        verdicts, said_after = Verdicts(observer), None
        kept = Kept.of(spec, models, data, properties, run) if cache and not (given or let or also) else NOT_KEPT
        report = kept.recall()
        try:
            if report is None:
                with kept.noting():
                    report = fairdsl.check(
                        spec,
                        **what,
                        options=given,
                        also=also,
                        bundles=bundles,
                        observer=observer,
                        # Second opinions stand beside the verdicts, so these wait for them.
                        listener=verdicts if printer.as_it_comes and not also else None,
                        **run,
                    )
                kept.remember(report)
            else:
                said_after = "nothing that decides has changed since this was checked; `--no-cache` checks again"
        except DiagnosticError as error:
            report = _unchecked(spec, run["seed"], error.diagnostics)
        except KeyboardInterrupt:
            report = _unchecked(spec, run["seed"], ended=who_stopped())
            observer.close()
            click.echo(f"{who_stopped().value}{observer.whereabouts()}; no verdict is reported", err=True)
        observer.close()
        seconds = proof_seconds or _PROVING_TIMES * (run["timeout"] or _UNSET)
        proved: tuple[Proved, ...] = ()
        if report.properties and proof is not None:
            with watching() as observer:
                jobs = Run(jobs=run["jobs"]).processes
                proved = _prove(report, spec, proof, what, seconds, jobs, observer)
        if proved:
            from fairdsl.proving import with_proofs

            report = with_proofs(report, proved)
        if proof is not None:
            from fairdsl.cli.believed import believing

            report = believing(report, spec, proof, models, let, data)
        printer.show(report, verdicts.end)
        if said_after is not None:
            click.echo(said_after, err=True)
        write_reports(report, reports, card)
        _tell(report, proved)
        if (said := gate.said(report)) is not None:
            click.echo(said, err=True)
        ctx.exit(proof_gate(gate.exit_code(report), report, asked=require_proof).value)


def _refuse(unread: Mapping[str, object], *, no_proof: bool) -> None:
    """Options that mean nothing together; ``unread`` are those that a plan has no use for, where they were given."""
    for flag, given in unread.items():
        if given:
            raise click.UsageError(
                f"`{flag}` is about verdicts, and `--explain-plan` runs nothing: leave out one of them"
            )
    if no_proof:
        raise click.UsageError("`--require-proof` is about proofs: write `--proof DIR` as well")


def _of_the(proved: Fraction, known: Fraction, *, exact: bool) -> str:
    """How much of what is known a proof shows; each is a share at least, or that share where nothing is open."""
    ways = (Towards.NEAREST if exact and share == known else Towards.DOWN for share in (proved, known))
    return " of the ".join(
        shown(share, percent=True, towards=way) for share, way in zip((proved, known), ways, strict=True)
    )


def _tell(report: Report, proved: Sequence[Proved]) -> None:
    for each in proved:
        click.echo(f"{each.property}, {each.demand}: {each.said}", err=True)
        if each.proof is not None:
            click.echo(f"    proof {each.proof.in_words()}", err=True)
    for item in report.properties:
        for demand in item.demands:
            if demand.proof is not None and isinstance(demand.verdict, Shares):
                proof, known = demand.proof, demand.verdict
                exact = not known.undecided
                fair = f"{_of_the(proof.certified, known.certified, exact=exact)} that are found fair"
                unfair = f"{_of_the(proof.falsified, known.falsified, exact=exact)} that are found unfair"
                click.echo(f"{item.name}, {demand.text}: proved are {fair}, and {unfair}", err=True)
            if demand.believed is not None:
                click.echo(f"{item.name}, {demand.text}: rests on {demand.believed.in_words()}", err=True)


def _prove(
    report: Report,
    spec: str,
    folder: str,
    what: Mapping[str, Any],
    seconds: float,
    jobs: int,
    observer: Observer,
) -> tuple[Proved, ...]:
    """Write proofs of what was asked, and check them."""
    from fairdsl.proving import prove_spec

    demands = {(item.name, demand.text): demand for item in report.properties for demand in item.demands}
    deployed = [
        name
        for name, demand in demands.items()
        if (demand.basis is not None and demand.basis.arithmetic is Arithmetic.DEPLOYED)
        or Decider.DEPLOYED in demand.by_decider
    ]
    known = {
        name: (demand.verdict.certified, demand.verdict.falsified)
        for name, demand in demands.items()
        if isinstance(demand.verdict, Shares) and (demand.verdict.certified or demand.verdict.falsified)
    }
    return prove_spec(
        spec, folder, **what, seconds=seconds, observer=observer, deployed=deployed, known=known, jobs=jobs
    )


def _unchecked(spec: str, seed: int, diagnostics: Sequence[Diagnostic] = (), *, ended: Stopped | None = None) -> Report:
    """The report on a spec with errors, or one that was not read when the run ended: its findings and nothing else."""
    return Report(
        fairdsl=fairdsl.__version__,
        spec=SpecFile(path=spec, sha256=sha256(content_of(spec)).hexdigest()),
        seed=seed,
        diagnostics=tuple(diagnostics),
        ended=ended,
    )


def _print_plan(plans: Plans) -> None:
    """Property, demand, stages in their order, and the reasons."""
    turns = sum(plan.turn is not None for plan in plans)
    for plan in plans:
        click.echo(f"{plan.property}   {plan.demand}")
        for number, stage in enumerate(plan.stages, start=1):
            click.echo(f"    {number}. {stage}")
        if plan.turn is not None and turns > 1:
            click.echo(f"    turn {plan.turn} of {turns}, by cost: {plan.cost}")
        for reason in plan.reasons:
            click.echo(f"    {reason}")
