"""The layout of properties."""

from __future__ import annotations

from typing import assert_never

from fairdsl.syntax import tree
from fairdsl.syntax.format_expression import (
    expression_pieces,
    expression_text,
    list_pieces,
    name_pieces,
    name_text,
    names_text,
    wrapped,
)
from fairdsl.syntax.layout import Piece, Writer, flat

__all__ = ["clause_text", "format_property", "value_of_each"]


def format_property(writer: Writer, prop: tree.Property) -> None:
    """A header, and one line for each clause."""
    sentence = f' "{prop.sentence.value}"' if prop.sentence else ""
    writer.line(f"property {name_text(prop.name)}{sentence} {{", prop.span.start)
    for clause in prop.clauses:
        word, pieces = _clause(clause)
        writer.statement(f"  {word} ", pieces, clause.span.start)
    writer.line("}", prop.span.end - 1, "  ")


def clause_text(clause: tree.Clause | tree.MeasureItem) -> str:
    """A clause, or what is measured, on one line: the same text however it is laid out."""
    if isinstance(clause, tree.MeasureItem):
        return _item(clause)
    word, pieces = _clause(clause)
    return f"{word} {flat(pieces)}"


def _clause(clause: tree.Clause) -> tuple[str, list[Piece]]:
    """The first word of a clause, and the rest of it."""
    match clause:
        case tree.AmongClause(condition=condition) | tree.WhenClause(condition=condition):
            word = "among" if isinstance(clause, tree.AmongClause) else "when"
            return word, expression_pieces(condition, outermost=True)
        case tree.BaselineClause(group=group) | tree.PrivilegedClause(group=group):
            word = "baseline" if isinstance(clause, tree.BaselineClause) else "privileged"
            return word, expression_pieces(group, outermost=True)
        case tree.ForEachClause():
            return "for", _for_each(clause)
        case tree.StrataClause():
            return "for", wrapped("each ", name_pieces(clause.names), "")
        case tree.RegardlessClause():
            return "regardless", wrapped("of ", name_pieces(clause.names), "")
        case tree.AcrossClause():
            return "across", name_pieces(clause.names)
        case tree.DifferClause():
            return "differ", _differ(clause)
        case tree.RequireClause():
            return "require", _require(clause)
        case tree.MeasureClause():
            return "measure", _measure(clause)
        case tree.AllowClause():
            return "allow", _path(clause.path)
    word, text = _short_clause(clause)
    return word, [Piece(text, clause.span.start)]


def _short_clause(
    clause: tree.CompareClause
    | tree.ModelReference
    | tree.WithinClause
    | tree.OtherwiseEqualClause
    | tree.UnderClause
    | tree.ExcludingClause,
) -> tuple[str, str]:
    match clause:
        case tree.CompareClause():
            return "compare", f"{names_text(clause.names)} : {name_text(clause.domain)}"
        case tree.ModelReference():
            return "model", name_text(clause.name)
        case tree.WithinClause():
            return "within", f"{clause.by.text} in {name_text(clause.name)}"
        case tree.OtherwiseEqualClause():
            return "otherwise", "equal"
        case tree.UnderClause():
            return "under", name_text(clause.distribution)
        case tree.ExcludingClause():
            of = "of " if clause.of_all else ""
            which = f"below {clause.rows.text} {of}rows" if clause.rows else "of probability 0"
            return "excluding", f"groups {which}"
    assert_never(clause)


def _for_each(clause: tree.ForEachClause) -> list[Piece]:
    lead = f"each {name_text(clause.variable)} in "
    if clause.attribute is not None:
        return [Piece(lead + name_text(clause.attribute), clause.span.start)]
    return wrapped(lead + "{ ", list_pieces([(value_of_each(v), v.span.start) for v in clause.values]), " }")


def value_of_each(value: tree.Name | tree.Number | tree.NameSet) -> str:
    """A value of ``for each`` as it is written."""
    match value:
        case tree.Number():
            return value.text
        case tree.Name():
            return name_text(value)
        case tree.NameSet(names=names):
            return f"({', '.join(map(name_text, names))})"


def _differ(clause: tree.DifferClause) -> list[Piece]:
    mode = f"{clause.mode.value} " if clause.mode else ""
    if len(clause.names) == 1 and clause.names[0].text in ("any", "each"):
        mode = "any "  # the name alone would be read as a mode
    return wrapped(f"in {mode}", name_pieces(clause.names), "")


def _path(path: tree.Path) -> list[Piece]:
    first, *steps = path.names
    return [Piece(name_text(first), first.span.start)] + [
        Piece(f"-> {name_text(step)}", step.span.start) for step in steps
    ]


def _require(clause: tree.RequireClause) -> list[Piece]:
    if isinstance(clause.demand, tree.SameDecision):
        pieces = [Piece("same decision", clause.demand.span.start)]
    else:
        pieces = expression_pieces(clause.demand, outermost=True)
    if clause.within:
        pieces.append(Piece(f"within {clause.within.text}", clause.within.span.start))
    if clause.confidence:
        pieces.append(Piece(f"with confidence {clause.confidence.text}", clause.confidence.span.start))
    return pieces


def _measure(clause: tree.MeasureClause) -> list[Piece]:
    return list_pieces([(_item(item), item.span.start) for item in clause.items])


def _item(item: tree.MeasureItem) -> str:
    metric = name_text(item.metric) if isinstance(item.metric, tree.Name) else expression_text(item.metric)
    precision = f" within {item.within.text}" if item.within else ""
    return metric + precision + (f" with confidence {item.confidence.text}" if item.confidence else "")
