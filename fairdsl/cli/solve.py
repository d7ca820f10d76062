"""``fairdsl solve``: an interval job, or a shard of it, as far as the time goes; a script; or an instance."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import fairdsl
from fairdsl.cli.documents import headed, mistakes_as_json, write_json
from fairdsl.cli.guard import INTERRUPTED
from fairdsl.cli.options import Seconds, jobs_option, json_option, memory_option, scheduler_option, ssat_solver_option
from fairdsl.cli.progress import watching
from fairdsl.cli.terminal import error_style, output_style

if TYPE_CHECKING:
    from fairdsl.solving.jobs import Solved
    from fairdsl.solving.scripts import Answered

__all__ = ["command"]

_SHARD = re.compile(r"(\d+)/(\d+)")
_MOST_SHARDS = 100_000
_SCHEMA = "fairdsl.solved/1"


def _shard(_: click.Context, __: click.Parameter, text: str) -> tuple[int, int]:
    """``2/8`` as a pair of numbers."""
    match = _SHARD.fullmatch(text)
    shard, shards = map(int, match.groups()) if match else (0, 0)
    if not 1 <= shard <= shards <= _MOST_SHARDS:
        raise click.BadParameter(f"`{text}` names no part; write for example --shard 1/4 for the first of four")
    return shard, shards


@click.command(
    "solve",
    epilog="Exit codes: 0 a result is written; 2 the file is no job, or an earlier result is missing or in the "
    "way; 130 interrupted, and the result so far is written. A run that is killed goes on with --resume. Of an "
    "instance those of `fairdsl check`.",
)
@click.argument("job", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--shard",
    default="1/1",
    show_default=True,
    metavar="I/N",
    callback=_shard,
    help="Refine only part I of N; the parts may run on different machines.",
)
@click.option("--resume", is_flag=True, help="Go on from the earlier result.")
@click.option(
    "--timeout",
    type=Seconds(),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to refine.",
)
@jobs_option
@memory_option
@scheduler_option
@ssat_solver_option
@click.option(
    "--checkpoint",
    type=Seconds(),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="How often the result is written; less often where writing takes long.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    metavar="RESULT",
    help="The result's file.  [default: JOB.result or JOB.I-of-N.result beside the job]",
)
@json_option
@click.pass_context
def command(
    ctx: click.Context, /, job: str, shard: tuple[int, int], as_json: bool, output: str | None, **options: Any
) -> None:
    """Refine an interval job, or a shard of it; or answer an SMT-LIB script, or an instance.

    JOB is a file that `fairdsl compile SPEC --to interval-job -o DIR` wrote. What is certified is saved every
    few seconds in a result file; `fairdsl recover` joins results into a report.

    A file of the format smtlib (NAME.smt2) is answered by the embedded solver, into NAME.smt2.answer.

    A file of the format subset-sum (NAME.json) is answered with the report that `fairdsl check` would give on its
    demand; -o writes it as JSON too.

    A file in SDIMACS (NAME.sdimacs) is answered with its value, and the outermost choices that attain it.
    """
    if job.endswith(".sdimacs"):
        _stochastic(ctx, job, as_json=as_json, **options)
        return
    _of_sdimacs(ctx)
    del options["ssat_solver"]
    if job.endswith(".smt2"):
        _script(ctx, job, as_json=as_json, output=output or None, timeout=options["timeout"], resume=options["resume"])
        return
    if job.endswith(".json"):
        _instance(ctx, job, as_json=as_json, output=output or None, **options)
        return
    number, shards = shard
    with mistakes_as_json(ctx, _SCHEMA, as_json), watching() as observer:
        solved = fairdsl.solve(job, shard=number, shards=shards, output=output or None, observer=observer, **options)
    if as_json:
        write_json(headed(_SCHEMA, _as_json(solved) | {"diagnostics": []}))
    else:
        _print(solved)
    if solved.ending.value == "interrupted":
        ctx.exit(INTERRUPTED)


#: What says something about refinements only.
_OF_JOBS = ("shard", "jobs", "memory", "scheduler", "checkpoint")


def _refuse_options(ctx: click.Context, names: Sequence[str], what: str) -> None:
    """Options that say nothing about such a file are a mistake."""
    given = [name for name in names if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT]
    if given:
        raise click.UsageError(f"--{given[0]} is about interval jobs; {what} is answered as a whole")


def _of_sdimacs(ctx: click.Context) -> None:
    """Other files have no use for a solver of stochastic satisfiability."""
    if ctx.get_parameter_source("ssat_solver") is not ParameterSource.DEFAULT:
        raise click.UsageError("--ssat-solver is about SDIMACS instances (NAME.sdimacs)")


def _stochastic(ctx: click.Context, path: str, *, as_json: bool, **options: Any) -> None:
    """Answer an SDIMACS instance; what is not known for sure exits as `check` does."""
    from fairdsl.cli import stochastic
    from fairdsl.report.model import ExitCode

    _refuse_options(ctx, ("shard", "jobs", "scheduler", "checkpoint", "resume", "output"), "an instance")
    with mistakes_as_json(ctx, _SCHEMA, as_json), watching() as observer:
        solved = fairdsl.solve_stochastic(
            path,
            timeout=options["timeout"],
            memory=options["memory"],
            ssat_solver=options["ssat_solver"],
            observer=observer,
        )
    if as_json:
        write_json(headed(_SCHEMA, stochastic.as_json(solved) | {"diagnostics": []}))
    else:
        stochastic.show(solved)
    if solved.answer.reason is not None:
        ctx.exit(ExitCode.UNKNOWN.value)


def _instance(ctx: click.Context, path: str, *, as_json: bool, output: str | None, **options: Any) -> None:
    """Answer an instance: the report on standard output, what is doubtful on standard error."""
    from fairdsl.diagnostics.text import render as render_diagnostics
    from fairdsl.report.json import write
    from fairdsl.report.text import render

    _refuse_options(ctx, ("shard", "jobs", "scheduler", "checkpoint", "resume"), "an instance")
    with mistakes_as_json(ctx, _SCHEMA, as_json), watching() as observer:
        solved = fairdsl.solve_instance(
            path, timeout=options["timeout"], memory=options["memory"], output=output, observer=observer
        )
    report = solved.report
    if as_json:
        click.echo(write(report), nl=False)
        ctx.exit(report.exit_code.value)
    if report.diagnostics:
        style = error_style()
        text = render_diagnostics(report.diagnostics, colour=style.colour, unicode=style.unicode, width=style.width)
        click.echo(text, err=True)
    style = output_style()
    click.echo(render(report, colour=style.colour, unicode=style.unicode, width=style.width), nl=False)
    ctx.exit(report.exit_code.value)


def _script(ctx: click.Context, path: str, *, as_json: bool, output: str | None, timeout: float, resume: bool) -> None:
    """Answer a script, and say what came out."""
    _refuse_options(ctx, _OF_JOBS, "a script")
    with mistakes_as_json(ctx, _SCHEMA, as_json):
        answered = fairdsl.solve_script(path, timeout=timeout, resume=resume, output=output)
    if as_json:
        write_json(headed(_SCHEMA, _answer_as_json(answered) | {"diagnostics": []}))
        return
    said = f" ({answered.detail})" if answered.detail else ""
    click.echo(f"{answered.script}   {answered.status}{said} by {answered.solver} in {answered.seconds:.1f} s")
    click.echo(f"    {'answer':<11}{answered.answer}")


def _answer_as_json(answered: Answered) -> dict[str, Any]:
    return {
        "script": str(answered.script),
        "answer": str(answered.answer),
        "status": answered.status,
        "detail": answered.detail,
        "solver": answered.solver,
        "seconds": round(answered.seconds, 3),
    }


def _as_json(solved: Solved) -> dict[str, Any]:
    from fairdsl.report.numbers import above, below, ratio

    standing = solved.standing
    return {
        "job": solved.job.sha256,
        "property": solved.job.asked.property,
        "demand": solved.job.asked.demand,
        "shard": [solved.shard, solved.shards],
        "result": str(solved.result),
        "ending": solved.ending.value,
        "nodes": solved.nodes,
        "seconds": round(solved.seconds, 3),
        "certified": below(standing.certified),
        "falsified": below(standing.falsified),
        "undecided": above(standing.undecided),
        "exact": {
            "certified": ratio(standing.certified),
            "falsified": ratio(standing.falsified),
            "undecided": ratio(standing.undecided),
        },
    }


#: What became of the run, by its ending.
_ENDINGS = {
    "finished": "nothing is left to refine",
    "deadline": "the time is up; `--resume` goes on",
    "nodes": "the boxes asked for are evaluated",
    "interrupted": "interrupted; `--resume` goes on",
    "stopped": "the processes went away; `--resume` goes on",
}


def _print(solved: Solved) -> None:
    """The job, the shares, and where they are written."""
    from fairdsl.report.numbers import Towards, shown

    style = output_style()
    of = f"   shard {solved.shard} of {solved.shards}" if solved.shards > 1 else ""
    click.echo(f"{solved.job.asked.property}   {style.shown(' '.join(solved.job.asked.demand.split()))}{of}")
    standing = solved.standing
    rows = [
        ("certified", standing.certified, Towards.DOWN),
        ("falsified", standing.falsified, Towards.DOWN),
        ("undecided", standing.undecided, Towards.UP),
    ]
    for name, value, towards in rows:
        click.echo(f"    {name:<11}{shown(value, percent=True, towards=towards)}")
    if solved.shards > 1:
        click.echo("    " + "what the other shards decide counts as undecided here")
    click.echo(f"    {'refined':<11}{solved.nodes:,} boxes in {solved.seconds:.1f} s; {_ENDINGS[solved.ending.value]}")
    click.echo(f"    {'result':<11}{solved.result}")
