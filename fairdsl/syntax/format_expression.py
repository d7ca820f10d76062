"""Expressions as pieces of text, with no more parentheses than the tree needs; all else by the forms of its class."""

from __future__ import annotations

import re

from fairdsl.syntax import tree
from fairdsl.syntax.forms import form_pieces, name_text, wrapped
from fairdsl.syntax.layout import Piece, flat

_DISJUNCTION, _CONJUNCTION, _NEGATION, _COMPARISON, _SUM, _PRODUCT, _SIGN, _ATOM = range(8)

#: After `not`, what begins like this would be read otherwise than meant.
_CONFUSES_NOT = re.compile(r"-|(and|or|in|with)\b")


def text_of(node: tree.Node) -> str:
    """A node on one line: the same text however it is laid out."""
    return flat(pieces_of(node))


def pieces_of(node: tree.Node) -> list[Piece]:
    """A node as pieces; the parts of an outermost conjunction or disjunction break first."""
    match node:
        case tree.Name():
            return [Piece(name_text(node), node.span.start)]
        case tree.Number():
            return [Piece(node.text, node.span.start)]
        case tree.Text():
            return [Piece(f'"{node.value}"', node.span.start)]
        case tree.Property():  # its sentence stays on the line of its name
            return [Piece(flat(form_pieces(node, pieces_of)), node.span.start)]
        case tree.DecidesWhen() | tree.Rule():
            return _decision(node)
        case tree.Disjunction() | tree.Conjunction():
            return _joined(node, hard=True)
        case (
            tree.Negation()
            | tree.Comparison()
            | tree.Membership()
            | tree.Absence()
            | tree.Arithmetic()
            | tree.Call()
            | tree.OfModel()
            | tree.Influence()
            | tree.Reference()
            | tree.Negative()
        ):
            return _expression(node)
    return form_pieces(node, pieces_of)


def _expression(expression: tree.Expression) -> list[Piece]:
    match expression:
        case tree.Disjunction() | tree.Conjunction():
            return _joined(expression, hard=False)
        case tree.Negation(operand=operand):
            inside = _inside(operand, _NEGATION)
            return wrapped("not ", wrapped("(", inside, ")") if _CONFUSES_NOT.match(inside[0].text) else inside, "")
        case tree.Comparison():
            right = _inside(expression.right, _SUM)
            return [*_inside(expression.left, _SUM), *wrapped(f"{expression.relation} ", right, "")]
        case tree.Membership() | tree.Absence():
            return [*_inside(expression.value, _SUM), *form_pieces(expression, pieces_of)]
        case tree.Arithmetic():
            return _arithmetic(expression)
        case tree.Negative(operand=operand):
            doubled = isinstance(operand, tree.Number | tree.Negative)
            written = wrapped("(", pieces_of(operand), ")") if doubled else _inside(operand, _SIGN)
            return [Piece(f"-{flat(written)}", expression.span.start)]
        case tree.Reference(owner=None, name=tree.Name(text="not")):
            return [Piece("(not)", expression.span.start)]  # alone it would negate what follows
        case tree.Call() | tree.OfModel() | tree.Influence():
            return [Piece(flat(form_pieces(expression, pieces_of)), expression.span.start)]
        case tree.Reference():
            return form_pieces(expression, pieces_of)
    return pieces_of(expression)


def _level(expression: tree.Expression) -> int:
    match expression:
        case tree.Disjunction():
            return _DISJUNCTION
        case tree.Conjunction():
            return _CONJUNCTION
        case tree.Negation():
            return _NEGATION
        case tree.Comparison() | tree.Membership() | tree.Absence():
            return _COMPARISON
        case tree.Arithmetic():
            return _SUM if expression.operator in ("+", "-") else _PRODUCT
        case tree.Negative():
            return _SIGN
        case tree.Number():
            return _SIGN if expression.text.startswith("-") else _ATOM
    return _ATOM


def _inside(expression: tree.Expression, weakest: int) -> list[Piece]:
    """An operand, in parentheses if it binds less than its place demands."""
    pieces = _expression(expression)
    return wrapped("(", pieces, ")") if _level(expression) < weakest else pieces


def _joined(expression: tree.Disjunction | tree.Conjunction, *, hard: bool) -> list[Piece]:
    word, weakest = ("or", _CONJUNCTION) if isinstance(expression, tree.Disjunction) else ("and", _NEGATION)
    pieces = _inside(expression.parts[0], weakest)
    for part in expression.parts[1:]:
        first, *rest = wrapped(f"{word} ", _inside(part, weakest), "")
        pieces += [Piece(first.text, first.start, hard=hard), *rest]
    return pieces


def _arithmetic(expression: tree.Arithmetic) -> list[Piece]:
    # Long sums are deep on their left side, so that side is walked and not recursed into.
    chain: list[tree.Arithmetic] = []
    operand: tree.Expression = expression
    while isinstance(operand, tree.Arithmetic):
        chain.append(operand)
        operand = operand.left
    pieces = _expression(operand)
    for link in reversed(chain):
        level = _level(link)
        if _level(link.left) < level:
            pieces = wrapped("(", pieces, ")")
        pieces += wrapped(f"{link.operator} ", _inside(link.right, level + 1), "")
        if level == _PRODUCT:
            # Sums may be broken before their signs; products stay whole.
            pieces = [Piece(flat(pieces), pieces[0].start)]
    return pieces


# ---- what is decided when -----------------------------------------------------------------------

#: Behind these a name is expected, which may be `when`, and then begins what is not a condition.
_NAMES_FOLLOW = ("condition", "distribution", "favourable", "of", "otherwise", "property", "protected")
_DECLARES = re.compile(r"(over|score|first|then)\b")


def _decision(clause: tree.DecidesWhen | tree.Rule) -> list[Piece]:
    """A condition behind `when`, in parentheses where its first word would be read as something else."""
    begins = pieces_of(clause.condition)[0].text
    decides = isinstance(clause, tree.DecidesWhen) and clause.outcome.text
    misread = (
        begins.startswith('"')  # a path or a sentence
        or (decides in _NAMES_FOLLOW and _DECLARES.match(begins))
        # `first when when x > 3` is a rule about the outcome `when`, `first when when = 3` decides the outcome `first`.
        or (decides in ("first", "then") and begins.startswith("when"))
        or (clause.outcome.text == "when" and not decides and not begins.startswith("("))
    )

    def guarded(node: tree.Node) -> list[Piece]:
        pieces = pieces_of(node)
        return wrapped("(", pieces, ")") if misread and node is clause.condition else pieces

    return form_pieces(clause, guarded)
