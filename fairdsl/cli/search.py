"""``fairdsl search``: many violating pairs, in a file and in a few words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

import fairdsl
from fairdsl.cli.guard import INTERRUPTED, SPEC_ERROR
from fairdsl.cli.options import Seconds, json_option, model_option, spec_argument
from fairdsl.cli.progress import watching
from fairdsl.cli.terminal import error_style, output_style
from fairdsl.diagnostics import DiagnosticError
from fairdsl.diagnostics.json import diagnostics_to_json
from fairdsl.diagnostics.text import render

if TYPE_CHECKING:
    from fairdsl.hunting import Example, Found

__all__ = ["command"]

#: Exit codes of verdicts (``report.model.ExitCode``), which is not imported for a few words of help.
_VIOLATED, _UNKNOWN = 1, 3
#: Columns before the text of a row.
_AHEAD = 15


@click.command(
    "search",
    epilog="Exit codes: 1 pairs are found; 3 none is found, which proves nothing; 2 errors in the spec or the command "
    "line; 130 interrupted, and what was found is written.",
)
@spec_argument
@click.option("--property", "property", metavar="NAME", help="The property, where the spec has several about pairs.")
@model_option
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="How many pairs to find.  [default: 1000]")
@click.option("--saturate", is_flag=True, help="Go on until nothing new is found.")
@click.option(
    "--timeout", type=Seconds(), default=60.0, show_default=True, metavar="SECONDS", help="How long to search."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="N", help="Of the search.")
@click.option(
    "--strategy", default="portfolio", show_default=True, metavar="NAME", help="How to search; see docs/search.md."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FILE.csv",
    help="Where to write the pairs (.csv or .parquet); a file that exists is replaced.",
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    spec: str,
    as_json: bool,
    models: Mapping[str, str],
    count: int | None,
    saturate: bool,
    **options: Any,
) -> None:
    """Find many pairs that violate a property of SPEC.

    Each pair is replayed on the model, and each is counted once. Nothing is proved by what is not found: that is
    what `fairdsl check` is for.
    """
    if saturate and count is not None:
        raise click.UsageError(
            "`--saturate` finds as many as there are and `--count` so many; leave out one of the two"
        )
    wanted = None if saturate else count or 1000
    with watching() as observer:
        try:
            found = fairdsl.search(spec, models=models, count=wanted, observer=observer, **options)
        except DiagnosticError as error:
            if not as_json:
                raise
            _print_json({"diagnostics": diagnostics_to_json(error.diagnostics)})
            ctx.exit(SPEC_ERROR)
    if as_json:
        _print_json(_as_json(found))
    else:
        _print(found)
    if found.ending.value == "interrupted":
        ctx.exit(INTERRUPTED)
    ctx.exit(_VIOLATED if found.count else _UNKNOWN)


def _print_json(written: dict[str, Any]) -> None:
    head = {"schema": "fairdsl.found/1", "fairdsl": fairdsl.__version__}
    click.echo(json.dumps(head | written, indent=2, ensure_ascii=False))


def _as_json(found: Found) -> dict[str, Any]:
    return {
        "spec": found.spec,
        "property": found.property,
        "demand": found.demand,
        "model": found.model,
        "strategy": found.strategy,
        "seed": found.seed,
        "found": found.count,
        "by_strategy": dict(found.by_strategy),
        "numeric_gaps": found.gaps,
        "tried": found.tried,
        "evaluated": found.evaluated,
        "spread": None if found.apart is None else round(found.apart, 6),
        "ending": found.ending.value,
        "sample": found.sample,
        "waiting": found.waiting,
        "seconds": round(found.seconds, 3),
        "output": None if found.output is None else str(found.output),
        "pairs": [_pair_as_json(found, pair) for pair in found.shown],
        "gap": None if found.gap is None else _pair_as_json(found, found.gap),
        "diagnostics": diagnostics_to_json(found.warnings),
    }


def _pair_as_json(found: Found, pair: Example) -> dict[str, Any]:
    return {
        "a": found.domain.show(pair.a),
        "b": found.domain.show(pair.b),
        "decisions": [found.outcomes[index] if index >= 0 else None for index in pair.decisions],
    }


def _print(found: Found) -> None:
    """How many, how found, and a few of them."""
    if found.warnings:
        style = error_style()
        text = render(found.warnings, colour=style.colour, unicode=style.unicode, width=style.width)
        click.echo(text, err=True)
    style = output_style()
    demand = " ".join(found.demand.split())
    click.echo(style.shown(f"{found.property}   {demand}   by {found.model}, seed {found.seed}"))
    rows = [*_summary(found), *(row for pair in found.shown for row in _example(found, "pair", pair))]
    if found.gap is not None:
        rows += _example(found, "gap", found.gap)
    for name, text in rows:
        lines = wrap(text, style.width - _AHEAD, break_long_words=False, break_on_hyphens=False)
        for line in lines:
            click.echo(style.shown(f"    {name if line is lines[0] else '':<{_AHEAD - 4}}{line}"))


def _summary(found: Found) -> Iterator[tuple[str, str]]:
    if found.count:
        by = ", ".join(f"{number:,} by {name}" for name, number in found.by_strategy.items())
        yield "found", f"{_pairs(found.count)}, each replayed on the model: {by}"
    else:
        yield "found", "no pair; that proves nothing, `fairdsl check` looks for a proof"
    if found.gaps:
        yield "", f"{_pairs(found.gaps)} more in one arithmetic only (numeric gap), not counted"
    rate = f"; {100 * found.count / found.tried:.1f} % of the units tried" if found.count else ""
    yield "tried", f"{found.tried:,} units, {found.evaluated:,} evaluations in {found.seconds:.1f} s{rate}"
    if found.apart is not None:
        yield "spread", f"{found.apart:.3f}: the mean distance of two finds, of 1"
    yield "ended", _ENDINGS[found.ending.value].format(sample=f"{found.sample:,}")
    if found.output is not None:
        yield "written", str(found.output)


def _pairs(number: int) -> str:
    return f"{number:,} pair" + ("" if number == 1 else "s")


#: Why the search ended, by its ending.
_ENDINGS = {
    "count": "as many as asked for; there may be more",
    "time": "the time is up; there may be more",
    "exhausted": "every unit was tried: there are no more to try",
    "saturated": "saturated: nothing new near what was found, nor in {sample} uniform draws; there may be more",
    "interrupted": "interrupted; there may be more",
}


def _example(found: Found, heading: str, pair: Example) -> Iterator[tuple[str, str]]:
    """What differs, a's value and b's, the two decisions, and what is equal."""
    a, b = found.domain.show(pair.a), found.domain.show(pair.b)
    names = [attribute.name for attribute in found.domain.attributes]
    varying = [names[index] for index in found.varying if a[names[index]] != b[names[index]]]
    changed = ", ".join(f"{name} = {a[name]} | {b[name]}" for name in varying)
    outcomes = " | ".join(found.outcomes[index] if index >= 0 else "open" for index in pair.decisions)
    yield heading, f"{changed}: {outcomes}"
    equal = ", ".join(f"{name} = {a[name]}" for name in names if name not in varying)
    if equal:
        yield "", equal
