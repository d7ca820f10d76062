"""``fairdsl solve``: a solver file of any format, and one printer for what came out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

import fairdsl
from fairdsl.backends.solved import AnsweredDemand, Bounds, Ending, Refined, Solved, Status
from fairdsl.cli.every_option import WithSettings
from fairdsl.cli.guard import exit_code
from fairdsl.cli.options import (
    Seconds,
    jobs_option,
    memory_option,
    output_option,
    run_option,
    set_option,
)
from fairdsl.cli.printing import Printer, print_findings, print_report, printer_option
from fairdsl.cli.progress import watching
from fairdsl.cli.terminal import output_style
from fairdsl.ir.numbers import Towards, above, below, nearest, ratio, shown
from fairdsl.ir.plain_decimals import decimal_of
from fairdsl.options import split_settings
from fairdsl.report.words import REASONS
from fairdsl.source.numbers import digits_of
from fairdsl.verdict import Unknown, Vacuous, Value
from fairdsl.verdict.claims import in_words

if TYPE_CHECKING:
    from fairdsl.solver_files.solve import SolvedFile

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
    elif isinstance(standing, Value | Unknown):
        low, high = standing.low, standing.high
        yield "at least", "nobody is known" if low is None else f"{below(low)}"
        yield "at most", "no bound is known" if high is None else f"{above(high)}"
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
    value, high = found.number
    if value != high:
        return f"from {below(value)} to {above(high)}"
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


_SHARD = re.compile(r"(\d+)/(\d+)")
_MOST_SHARDS = 100_000


def _shard(_: click.Context, __: click.Parameter, text: str) -> tuple[int, int]:
    """``2/8`` as a pair of numbers."""
    match = _SHARD.fullmatch(text)
    shard, shards = map(int, match.groups()) if match else (0, 0)
    if not 1 <= shard <= shards <= _MOST_SHARDS:
        raise click.BadParameter(f"`{text}` names no part; write for example --shard 1/4 for the first of four")
    return shard, shards


@click.command(
    "solve",
    cls=WithSettings,
    epilog="Exit codes: 0 there is an answer; 2 it is not a solver file, or an earlier answer is missing or in the "
    "way; 3 the value is known in part; 130 interrupted, 143 terminated (what is known is written, and a run that is "
    "killed goes on with --resume). Of a file with a demand (NAME.json) those of `fairdsl check`.",
)
@click.argument("path", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--shard",
    default="1/1",
    show_default=True,
    metavar="I/N",
    callback=_shard,
    help="Refine only part I of N; the parts may run on different machines.",
)
@click.option("--resume", is_flag=True, help="Go on from the earlier answer.")
@run_option("timeout", 60.0, help="Time limit in seconds.")
@jobs_option
@memory_option
@set_option
@click.option(
    "--checkpoint",
    type=Seconds(),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    hidden=True,
    help="How often the result is written; less often where writing takes long.",
)
@output_option(
    "ANSWER",
    "The answer's file.  [default: NAME.smt2.answer, NAME.result or NAME.I-of-N.result beside the file]",
    required=False,
)
@printer_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    path: str,
    shard: tuple[int, int],
    printer: Printer,
    output: str | None,
    settings: tuple[str, ...],
    **run: Any,
) -> None:
    """Answer a solver file with a solver of fairdsl's.

    FILE is one that `fairdsl compile SPEC --to FORMAT -o DIR` wrote; docs/solver-files.md says what answers each
    format, and where the answer is written.
    """
    with printer.failing(ctx), watching() as observer:
        options = split_settings(settings)
        _refuse_options(ctx, path, options)
        number, shards = shard
        solved = fairdsl.solve(
            path, shard=number, shards=shards, output=output or None, options=options, observer=observer, **run
        )
    printer.show(solved, _print_solved)
    ctx.exit(exit_code(solved.exit_code.value))


def _refuse_options(ctx: click.Context, path: str, options: Mapping[str, Mapping[str, str]]) -> None:
    """Options that say nothing about such a file are a mistake."""
    from fairdsl.solver_files.solve import foreign_option

    given = [name for name in ctx.params if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT]
    set_ = {f"{section}.{name}" for section, values in options.items() for name in values}
    foreign = foreign_option(Path(path), (set(given) - _EVERY) | set_)
    if foreign is not None:
        raise click.UsageError(foreign if foreign.partition(" ")[0] in set_ else f"--{foreign}")


#: Options that mean something whatever the file is.
_EVERY = {"path", "timeout", "printer", "settings"}


def _print_solved(solved: SolvedFile) -> None:
    """The report on what the file states, or what came out."""
    report = solved.report
    if report is not None:
        print_findings(report.diagnostics)
        print_report(report)
    else:
        _print(solved)


def _print(solved: SolvedFile) -> None:
    """What was solved and what came out; a line for whatever else there is to say."""

    what, came_out, remark = heading(solved)
    click.echo("   ".join(part for part in (what, output_style().shown(came_out), remark) if part))
    for word, said in lines(solved):
        click.echo(f"    {word:<11}{said}")
