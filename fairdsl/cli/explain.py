"""``fairdsl explain``: a spec in words and formulas, an error code, a metric, a preset, or an option."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import fairdsl
from fairdsl.backends.errors import cannot_write
from fairdsl.cli.every_option import options_about, options_page, print_options
from fairdsl.cli.options import data_option, let_option, model_option, output_option, share, timeout_option
from fairdsl.cli.printing import Printer, print_findings, printer_option
from fairdsl.cli.terminal import output_style
from fairdsl.diagnostics import CODES, DiagnosticError, nearest
from fairdsl.diagnostics.style import Paint, wrap
from fairdsl.ir.numbers import Towards, shown, span
from fairdsl.ir.rows_needed import NoRows, RowsNeeded
from fairdsl.report.explained import AtSize, DemandRows, DemandSizes, SampleSizes
from fairdsl.report.headings import headed
from fairdsl.report.pages import CodePage, ComparedWith, MetricPage, PresetPage
from fairdsl.resources import error_page, text_of
from fairdsl.source.writing import write_file

if TYPE_CHECKING:
    from fairdsl.report.explained import ExplainedModel, ExplainedPopulation, Explanation

#: Groups that are listed at most; those with the fewest rows come first.
_LISTED = 8


def rows_in_words(needs: Sequence[DemandRows]) -> tuple[str, ...]:
    """Lines for each demand, those that need the same together; nothing without demands."""
    alike: list[tuple[list[str], RowsNeeded | NoRows]] = []
    for each in needs:
        text, need = each.demand, each.need
        same = next((texts for texts, other in alike if other == need), None)
        if same is None:
            alike.append(([text], need))
        else:
            same.append(text)
    lines = [line for texts, need in alike for line in _lines(texts, need)]
    return (*lines, *_assumed([need for _, need in alike]))


def _assumed(needs: Sequence[RowsNeeded | NoRows]) -> Iterator[str]:
    """What the numbers rest on."""
    counted = [need for need in needs if not isinstance(need, Enum)]
    if counted:
        yield "if rows are independent draws and the model was fixed before them"
    for name in dict.fromkeys(need.law for need in counted if need.law is not None):
        yield (
            f"these are errors of frequencies; for rates under `{name}`, a distribution estimated from the rows, "
            "an error is bounded only if its structure is right"
        )


def _lines(texts: Sequence[str], need: RowsNeeded | NoRows) -> Iterator[str]:
    demands = "; ".join(texts)
    if isinstance(need, Enum):
        yield f"{demands}: {need.value}"
        return
    rates = f"{need.rates:,} rate{'' if need.rates == 1 else 's'}"
    error, sure = shown(need.error, percent=True), shown(need.confidence, percent=True)
    yield f"{demands}: {need.rows:,} rows behind each of {rates} for an error of {error} with {sure} confidence"
    if need.at_hand is None:
        yield "  how many of the rows are favoured the model decides; `fairdsl check` counts them"
        return
    for each in need.at_hand[:_LISTED]:
        yield f"  {each.group}: {each.rows:,} row{'' if each.rows == 1 else 's'}, {_error(each.error)}"
    if len(need.at_hand) > _LISTED:
        yield f"  and {len(need.at_hand) - _LISTED:,} more with as many rows or more"
    if need.in_all is not None:
        yield f"  about {need.in_all:,} rows in all, if {need.at_hand[0].group} is as rare as at hand"


def _error(error: Fraction) -> str:
    return "which say nothing" if error >= 1 else f"error {shown(error, percent=True, towards=Towards.UP)}"


def sizes_in_words(sizes: Sequence[DemandSizes]) -> tuple[str, ...]:
    """A line for each demand and each number of rows; nothing without demands."""
    lines = [line for each in sizes for line in _size_lines(each)]
    found = [each.found for each in sizes if isinstance(each.found, SampleSizes)]
    if found:
        lines.append("if rows are independent draws, the model was fixed before them, and all rates stay as they are")
    for name in dict.fromkeys(each.law for each in found if each.law is not None):
        lines.append(f"numbers of the rows themselves, and not under `{name}`, which was estimated from them")
    return tuple(lines)


def _size_lines(each: DemandSizes) -> Iterator[str]:
    found = each.found
    if isinstance(found, Enum):
        yield f"{each.demand}: {found.value}"
        return
    sure = shown(found.confidence, percent=True)
    yield f"{each.demand}: {_between(found)} in the rows; with {sure} confidence"
    for size in found.sizes:
        verdict = "" if size.verdict is None else f", {size.verdict.value}"
        yield f"  {size.rows:,} row{'' if size.rows == 1 else 's'}: {_between(size)}{verdict}"


def _between(found: AtSize | SampleSizes) -> str:
    if found.low is None or found.high is None:
        return "no interval is known"
    return span(found.low, found.high)


_CODE = re.compile(r"[EW]\d{4}", re.IGNORECASE)
_PRESET = "preset"
_INDENT = "    "
#: The error and the confidence that rows are counted for, where only the other one is given.
_ERROR, _SURE = Fraction(5, 100), Fraction(95, 100)


@click.command("explain")
@click.argument("topic", metavar="SPEC|CODE|METRIC|OPTION|preset NAME")
@click.argument("name", required=False, metavar="")
@printer_option
@click.option("--population", is_flag=True, help="Describe the populations in force too; opens their data.")
@output_option(
    "DIR",
    "With `--population`: save every population into this folder, to be used again without its data.",
    "directory",
    required=False,
)
@click.option(
    "--error",
    callback=share,
    metavar="SHARE",
    help="Say how many rows metrics need for this error of rates; opens data.  [default: 5%]",
)
@click.option(
    "--confidence",
    callback=share,
    metavar="SHARE",
    help="Of all rates together, with `--error` or `--sample-sizes`.  [default: 95%]",
)
@click.option(
    "--sample-sizes", is_flag=True, help="Say which interval metrics would have with more or fewer rows; opens data."
)
@model_option
@let_option
@data_option
@timeout_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    topic: str,
    name: str | None,
    printer: Printer,
    population: bool,
    directory: str | None,
    error: Fraction | None,
    confidence: Fraction | None,
    sample_sizes: bool,
    data: Mapping[str, str],
    **given: Any,
) -> None:
    """Say in words what a spec, an error code, a metric, an option or a preset means.

    A spec: each property as an English sentence and as a formula, with every clause in force, also the
    implicit ones. A code such as E0203: what it says, why it matters, what to write instead.
    An option such as smt.trust_milp, or `options` for all of them. `preset ll144`: its text.
    """
    if topic == _PRESET and not Path(topic).is_file():
        printer.show(_preset(name), lambda page: click.echo(page.text, nl=False))
        return
    if name is not None:
        raise click.UsageError(f"one thing at a time: `{topic}` or `{name}`")
    about_rows = error is not None or (confidence is not None and not sample_sizes)
    opens_data = population or about_rows or sample_sizes
    if data and not opens_data:
        raise click.UsageError("`--data` is about populations; write `--population` or `--error` too")
    if directory and not population:
        raise click.UsageError("`-o` is about populations; write `--population` as well")
    if Path(topic).is_file():
        wanted = (error or _ERROR) if about_rows else None
        with printer.failing(ctx):
            explanation = fairdsl.explain(
                topic,
                population=population,
                error=wanted,
                confidence=confidence or _SURE,
                sample_sizes=sample_sizes,
                data=data,
                **given,
            )
        printer.show(explanation, _print_spec)
        if directory is not None:
            _save(explanation.populations, Path(directory))
    elif opens_data:
        raise click.UsageError(f"`{topic}` is not a spec, so it has no populations")
    elif _CODE.fullmatch(topic):
        printer.show(_code(topic.upper()), _print_page)
    elif options := options_about(topic):
        printer.show(options_page(options), lambda _: print_options(options))
    else:
        printer.show(_metric(topic), _print_metric)


#: What stands below a heading is texts, or is put in words by these.
_IN_WORDS: Mapping[str, Callable[[Any], Sequence[str]]] = {"rows": rows_in_words, "sizes": sizes_in_words}


def _print_spec(explanation: Explanation) -> None:
    """Every property and population; the findings about the spec go to standard error."""
    print_findings(explanation.diagnostics)
    style = output_style()
    for number, item in enumerate(explanation.properties):
        if number:
            click.echo()
        click.echo(style.paint(item.name, Paint.BOLD))
        for heading, lines in headed(item):
            _print_block(heading, tuple(_IN_WORDS[heading](lines) if heading in _IN_WORDS else lines))
    for model in explanation.models:
        click.echo()
        _model(model)
    for number, population in enumerate(explanation.populations):
        if number or explanation.properties or explanation.models:
            click.echo()
        divided = "" if population.model is None else f", divided by the thresholds of `{population.model}`"
        click.echo(style.paint(population.name, Paint.BOLD) + style.shown(divided))
        _print_facts(population.lines)


def _model(model: ExplainedModel) -> None:
    """How the model's file is connected with the spec."""
    style = output_style()
    click.echo(style.paint(model.name, Paint.BOLD) + style.shown(f"  {model.path}" if model.path else ""))
    if model.binding is not None:
        _print_block("inputs", model.binding.input_lines())
        _print_block("outcomes", model.binding.outcome_lines())
    elif model.problem is not None:
        _print_block("inputs", [model.problem])
    elif model.path is not None:
        _print_block("inputs", ["named by the file in the spec's own words"])
    if model.recorded is not None:
        _print_block("in force", [model.recorded])


def _save(populations: Sequence[ExplainedPopulation], folder: Path) -> None:
    """Write the files of every population, and name them on standard error; none is replaced."""
    files = [(folder / name, content) for one in populations for name, content in one.files]
    for path, _ in files:
        if path.exists():
            raise click.UsageError(f"`{path}` exists already; name another folder with `-o`, or remove it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in files:
            write_file(path, content, replace=False)
            click.echo(f"saved {path}", err=True)
    except OSError as problem:
        raise DiagnosticError(cannot_write(str(folder), problem)) from problem


def _print_facts(lines: Sequence[str]) -> None:
    """One line for each fact, below the margin as far as it is written; what does not fit goes on further in."""
    style = output_style()
    for line in lines:
        further = " " * (len(line) - len(line.lstrip()) + 2)
        for part in wrap(style.shown(line), style.width - len(_INDENT), indent=further):
            click.echo(_INDENT + part)


def _print_block(heading: str, paragraphs: list[str] | tuple[str, ...]) -> None:
    """Paragraphs beside a heading, or alone at the margin."""
    style = output_style()
    column = 11 if heading else 0
    for number, paragraph in enumerate(paragraphs):
        lead = style.paint(f"{'' if number else heading:<{column}}", Paint.SECONDARY)
        lines = list(wrap(style.shown(paragraph), style.width - len(_INDENT) - column, indent="  " if heading else ""))
        click.echo(_INDENT + lead + lines[0])
        for line in lines[1:]:
            click.echo(_INDENT + " " * column + line)


def _code(code: str) -> CodePage:
    """The page about an error code."""
    if code not in CODES:
        close = nearest(code, CODES)
        raise click.UsageError(f"no diagnostic has the code `{code}`" + (f"; did you mean `{close}`?" if close else ""))
    page = error_page(code)
    text = text_of(page) if page.is_file() else f"# {code}: {CODES[code]}\n"
    return CodePage(code=code, meaning=CODES[code], page=text)


def _print_page(found: CodePage) -> None:
    """Markdown, laid out where somebody reads it on a terminal and as it is everywhere else."""
    style = output_style()
    if not style.colour:
        click.echo(found.page, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(width=style.width).print(Markdown(found.page))


def _preset(name: str | None) -> PresetPage:
    """The text of a preset."""
    from fairdsl.prelude.presets import preset_names, preset_text

    known = preset_names()
    if name not in known:
        said = "say which preset" if name is None else f"no preset is called `{name}`"
        raise click.UsageError(f"{said}; there are {', '.join(f'`{each}`' for each in known)}")
    return PresetPage(name=name, text=preset_text(name))


def _metric(topic: str) -> MetricPage:
    """What a metric is, its other names, and what a property must say for it to mean something."""
    from fairdsl.ir.metric import Metric
    from fairdsl.metrics.described import needs_of, other_names
    from fairdsl.prelude import known_metrics, registered
    from fairdsl.prelude.presets import preset_names

    metric = registered(topic)
    if metric is None:
        options = (each.path for found in options_about("options").values() for each in found)
        close = nearest(topic, [*CODES, *known_metrics(), *options])
        close = f"preset {topic}" if topic in preset_names() else close
        hint = f"; did you mean `{close}`?" if close else ""
        raise click.UsageError(f"`{topic}` is not a file, an error code, a metric or an option{hint}")
    beside = registered(topic, privileged=True)
    other = beside if isinstance(beside, Metric) and beside != metric else None
    return MetricPage(
        name=metric.name,
        aliases=tuple(other_names(metric)),
        meaning=metric.in_words() if isinstance(metric, Metric) else metric.meaning,
        definition=metric.definition if isinstance(metric, Metric) else None,
        needs=tuple(needs_of(metric)),
        privileged=None
        if other is None
        else ComparedWith(name=other.name, meaning=other.in_words(), definition=other.definition),
    )


def _print_metric(page: MetricPage) -> None:
    click.echo(output_style().paint(page.name, Paint.BOLD))
    _print_block("is", [page.meaning])
    if page.definition is not None:
        _print_block("defined", [f"metric {page.name} = {page.definition}"])
    _print_block("needs", page.needs)
    if page.aliases:
        _print_block("also", [", ".join(page.aliases)])
    if page.privileged is not None:
        other = page.privileged
        _print_block("beside", [f"`privileged GROUP`: {other.meaning}, metric {other.name} = {other.definition}"])
