"""The layout of domains, models, distributions and graphs."""

from __future__ import annotations

import re
from typing import assert_never

from fairdsl.syntax import tree
from fairdsl.syntax.format_expression import (
    expression_pieces,
    list_pieces,
    name_pieces,
    name_text,
    wrapped,
)
from fairdsl.syntax.layout import Piece, Writer, flat

__all__ = ["format_distribution", "format_domain", "format_graph", "format_model", "type_pieces", "value_text"]

# ---- domains -----------------------------------------------------------------------------------


def format_domain(writer: Writer, domain: tree.Domain) -> None:
    """A line for each attribute and each constraint."""
    writer.line(f"domain {name_text(domain.name)} {{", domain.span.start)
    for member in domain.members:
        if isinstance(member, tree.Where):
            condition = expression_pieces(member.condition, outermost=True)
            writer.statement("  where ", condition, member.span.start)
            continue
        for line in member.doc:
            writer.line(f"  ## {line}".rstrip(), member.span.start, "  ")
        if isinstance(member, tree.Derived):
            inner, pieces = _derived_pieces(member.definition)
            writer.statement(f"  derived {name_text(member.name)} = ", pieces, member.span.start, inner=inner)
            continue
        inner, pieces = type_pieces(member.type)
        if member.or_missing:
            pieces = wrapped("", pieces, " or missing")
        if member.column:
            pieces.append(Piece(_header(member), member.column.span.start))
        if member.bins:
            pieces += _bins_pieces(member.bins)
        writer.statement(f"  {name_text(member.name)} : ", pieces, member.span.start, inner=inner)
    writer.line("}", domain.span.end - 1, "  ")


def _derived_pieces(definition: tree.Expression | tree.BinsOf) -> tuple[str, list[Piece]]:
    if not isinstance(definition, tree.BinsOf):
        return "", expression_pieces(definition, outermost=True)
    return "bins of ", [*expression_pieces(definition.of, outermost=True), *_bins_pieces(definition.bins, again=True)]


def _header(attribute: tree.Attribute) -> str:
    stored = " as_stored" if attribute.as_stored else ""
    return f'column "{attribute.column.value}"{stored}' if attribute.column else ""


def type_pieces(type_: tree.Type) -> tuple[str, list[Piece]]:
    """The type of an attribute or label: what stands before its first piece, and the pieces."""
    start = type_.span.start
    match type_:
        case tree.CategoryType():
            entries = list_pieces([_entry(entry) for entry in type_.entries])
            return "category { ", wrapped("", entries, " }")
        case tree.IntegerType():
            return "", [Piece(f"integer {type_.low.text} .. {type_.high.text}", start)]
        case tree.RealType():
            bounds = f" {type_.low.text} .. {type_.high.text}" if type_.low and type_.high else ""
            return "", [Piece(f"real{bounds}", start)]
        case tree.BooleanType():
            return "", [Piece("boolean", start)]
    assert_never(type_)


def _entry(entry: tree.CategoryEntry) -> tuple[str, int]:
    code = f" = {entry.code.text}" if entry.code else ""
    return name_text(entry.name) + code, entry.span.start


def _bins_pieces(bins: tree.Bins, *, again: bool = False) -> list[Piece]:
    """How values are cut; without the word where it stands before (``again``)."""
    word = "" if again else "bins "
    match bins:
        case tree.BinsAt():
            edges = list_pieces([(edge.text, edge.span.start) for edge in bins.edges])
            return wrapped(f"{word}at ", edges, "")
        case tree.BinsByQuantiles():
            return [Piece(f"{word}by quantiles {bins.count.text}", bins.span.start)]
        case tree.BinsByModel():
            return [Piece("bins by model", bins.span.start)]
    assert_never(bins)


# ---- models ------------------------------------------------------------------------------------

#: Behind these a name is expected, which may be `when`, and then begins what is no condition.
_NAMES_FOLLOW = ("condition", "distribution", "favourable", "of", "otherwise", "property", "protected")
_DECLARES = re.compile(r"(over|score|first|then)\b")


def _outcomes(model: tree.Model) -> list[Piece]:
    if not model.ordered:
        return name_pieces(model.outcomes)
    *lower, highest = model.outcomes
    pieces = [Piece(f"{name_text(outcome)} <", outcome.span.start) for outcome in lower]
    return [*pieces, Piece(name_text(highest), highest.span.start)]


def format_model(writer: Writer, model: tree.Model) -> None:
    """A header, and one line for each clause."""
    outcomes = wrapped("{ ", _outcomes(model), " }")
    header = f"model {name_text(model.name)} : {name_text(model.domain)} -> "
    writer.statement(header, outcomes, model.span.start)
    for clause in model.clauses:
        start = clause.span.start
        match clause:
            case tree.From():
                writer.statement("  ", _from_pieces(clause), start)
            case tree.FromCallable():
                writer.line("  from callable", start, "  ")
            case tree.ScoreFormula():
                writer.statement("  score = ", expression_pieces(clause.formula, outermost=True), start)
            case tree.DecidesWhen():
                writer.statement(f"  {name_text(clause.outcome)} when ", _decision(clause), start)
            case tree.DecidesByHighest():
                writer.line("  decide by highest score", start, "  ")
            case tree.Rule() | tree.Otherwise():
                _rule(writer, clause)
            case tree.Favourable():
                writer.line(f"  favourable {name_text(clause.outcome)}", start, "  ")
            case tree.Reads():
                writer.statement("  reads ", _features(clause), start)
            case tree.Agrees():
                writer.statement("  ", _agrees_pieces(clause), start)
            case _:
                assert_never(clause)


def _rule(writer: Writer, rule: tree.Rule | tree.Otherwise) -> None:
    start = rule.span.start
    if isinstance(rule, tree.Otherwise):
        writer.line(f"  otherwise {name_text(rule.outcome)}", start, "  ")
        return
    lead = f"  {'first' if rule.begins else 'then'} {name_text(rule.outcome)} when "
    writer.statement(lead, _decision(rule), start)


def _decision(clause: tree.DecidesWhen | tree.Rule) -> list[Piece]:
    """A condition behind `when`, in parentheses where its first word would be read as something else."""
    pieces = expression_pieces(clause.condition, outermost=True)
    begins = pieces[0].text
    decides = isinstance(clause, tree.DecidesWhen) and clause.outcome.text
    misread = (
        begins.startswith('"')  # a path or a sentence
        or (decides in _NAMES_FOLLOW and _DECLARES.match(begins))
        # `first when when x > 3` is a rule about the outcome `when`, `first when when = 3` decides the outcome `first`.
        or (decides in ("first", "then") and begins.startswith("when"))
        or (clause.outcome.text == "when" and not decides and not begins.startswith("("))
    )
    return wrapped("(", pieces, ")") if misread else pieces


def _features(reads: tree.Reads) -> list[Piece]:
    return list_pieces([(flat(expression_pieces(f)), f.span.start) for f in reads.features])


def _agrees_pieces(clause: tree.Agrees) -> list[Piece]:
    start = clause.span.start
    pieces = [Piece(f'agrees with column "{clause.column.value}"', start)]
    pieces.append(Piece(f'in "{clause.path.value}"', clause.path.span.start))
    if clause.digest:
        pieces.append(Piece(f'sha256 "{clause.digest.value}"', clause.digest.span.start))
    if clause.share:
        pieces.append(Piece(f"on {clause.share.text}", clause.share.span.start))
    return pieces


def _from_pieces(source: tree.From) -> list[Piece]:
    kind = f"{name_text(source.format)} " if source.format else ""
    pieces = [Piece(f'from {kind}"{source.path.value}"', source.span.start)]
    if source.digest:
        pieces.append(Piece(f'sha256 "{source.digest.value}"', source.digest.span.start))
    return pieces


# ---- populations -------------------------------------------------------------------------------


def format_distribution(writer: Writer, distribution: tree.Distribution) -> None:
    """A header, and one line for each clause."""
    header = f"distribution {name_text(distribution.name)} over "
    writer.statement(header, name_pieces(distribution.over), distribution.span.start)
    for clause in distribution.clauses:
        start = clause.span.start
        match clause:
            case tree.Learn():
                writer.line(f"  learn {name_text(clause.structure)}", start, "  ")
            case tree.Uniform():
                writer.line("  uniform", start, "  ")
            case tree.Independent():
                given = wrapped("given ", name_pieces(clause.given), "") if clause.given else []
                writer.statement("  ", [Piece("independent", start), *given], start)
            case tree.Empirical():
                writer.statement("  ", wrapped("empirical ", _from_pieces(clause.source), ""), start)
            case tree.From():
                writer.statement("  ", _from_pieces(clause), start)
            case tree.Setting():
                writer.line(f"  set {name_text(clause.name)} = {value_text(clause.value)}", start, "  ")
            case tree.Law():
                inner, pieces = _law_pieces(clause)
                writer.statement(f"  {name_text(clause.variable)} : ", pieces, start, inner=inner)
            case _:
                assert_never(clause)


def value_text(value: tree.Number | tree.Name | tree.Text) -> str:
    """A value as the language writes it."""
    match value:
        case tree.Number():
            return value.text
        case tree.Name():
            return name_text(value)
    return f'"{value.value}"'


def _law_pieces(law: tree.Law) -> tuple[str, list[Piece]]:
    inner = ""
    if isinstance(law.law, tree.Table):
        entries = [
            (f"{value_text(entry.value)} : {entry.probability.text}", entry.span.start) for entry in law.law.entries
        ]
        inner, pieces = "table { ", wrapped("", list_pieces(entries), " }")
    else:
        parameters = ", ".join(number.text for number in law.law.parameters)
        truncated = " truncated" if law.law.truncated else ""
        pieces = [Piece(f"{name_text(law.law.name)}({parameters}){truncated}", law.law.span.start)]
    if law.given:
        pieces += wrapped("given ", expression_pieces(law.given), "")
    return inner, pieces


def format_graph(writer: Writer, graph: tree.Graph) -> None:
    """A line for each path."""
    writer.line(f"graph {name_text(graph.name)} {{", graph.span.start)
    for path in graph.paths:
        first, *steps = path.names
        pieces = [Piece(name_text(first), first.span.start)]
        pieces += [Piece(f"-> {name_text(step)}", step.span.start) for step in steps]
        writer.statement("  ", pieces, path.span.start)
    writer.line("}", graph.span.end - 1, "  ")
