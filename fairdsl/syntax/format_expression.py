"""Expressions as pieces of text, with no more parentheses than the tree needs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fairdsl.syntax import tree
from fairdsl.syntax.layout import Piece, flat

__all__ = [
    "expression_pieces",
    "expression_text",
    "influence_text",
    "list_pieces",
    "name_pieces",
    "name_text",
    "names_text",
    "wrapped",
]

_DISJUNCTION, _CONJUNCTION, _NEGATION, _COMPARISON, _SUM, _PRODUCT, _SIGN, _ATOM = range(8)

#: After `not`, what begins like this would be read otherwise than meant.
_CONFUSES_NOT = re.compile(r"-|(and|or|in|with)\b")


def name_text(name: tree.Name) -> str:
    """A name, in quotes where it was quoted."""
    return f'"{name.text}"' if name.quoted else name.text


def names_text(names: Sequence[tree.Name]) -> str:
    """Names with commas."""
    return ", ".join(name_text(name) for name in names)


def list_pieces(texts: Sequence[tuple[str, int]]) -> list[Piece]:
    """Texts and their places as pieces, with commas behind all but the last."""
    last = len(texts) - 1
    return [Piece(text + ("," if i < last else ""), start) for i, (text, start) in enumerate(texts)]


def name_pieces(names: Sequence[tree.Name]) -> list[Piece]:
    """Names as pieces, with commas."""
    return list_pieces([(name_text(name), name.span.start) for name in names])


def wrapped(before: str, pieces: Sequence[Piece], after: str) -> list[Piece]:
    """The pieces with a text glued before the first and one behind the last."""
    *front, last = pieces
    whole = [*front, Piece(last.text + after, last.start, last.hard)]
    first = whole[0]
    return [Piece(before + first.text, first.start, first.hard), *whole[1:]]


def expression_text(expression: tree.Expression) -> str:
    """An expression on one line."""
    return flat(expression_pieces(expression))


def expression_pieces(expression: tree.Expression, *, outermost: bool = False) -> list[Piece]:
    """An expression as pieces; the parts of an outermost conjunction or disjunction break first."""
    match expression:
        case tree.Disjunction():
            return _joined("or", expression.parts, _CONJUNCTION, outermost)
        case tree.Conjunction():
            return _joined("and", expression.parts, _NEGATION, outermost)
        case tree.Negation():
            return _negation(expression)
        case tree.Comparison():
            right = _inside(expression.right, _SUM)
            return [*_inside(expression.left, _SUM), *wrapped(f"{expression.relation} ", right, "")]
        case tree.Membership():
            return [*_inside(expression.value, _SUM), *_elements(expression)]
        case tree.Absence():
            return wrapped("", _inside(expression.value, _SUM), " is missing")
        case tree.Arithmetic():
            return _arithmetic(expression)
    return [Piece(_one_piece(expression), expression.span.start)]


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
    pieces = expression_pieces(expression)
    return wrapped("(", pieces, ")") if _level(expression) < weakest else pieces


def _joined(word: str, parts: Sequence[tree.Expression], weakest: int, outermost: bool) -> list[Piece]:
    pieces = _inside(parts[0], weakest)
    for part in parts[1:]:
        first, *rest = wrapped(f"{word} ", _inside(part, weakest), "")
        pieces += [Piece(first.text, first.start, hard=outermost), *rest]
    return pieces


def _negation(expression: tree.Negation) -> list[Piece]:
    operand = _inside(expression.operand, _NEGATION)
    if _CONFUSES_NOT.match(operand[0].text):
        operand = wrapped("(", operand, ")")
    return wrapped("not ", operand, "")


def _elements(membership: tree.Membership) -> list[Piece]:
    elements = list_pieces([(_element(element), element.span.start) for element in membership.elements])
    return wrapped("in { ", elements, " }") if membership.braced else wrapped("in ", elements, "")


def _element(element: tree.Name | tree.Number | tree.ValueRange) -> str:
    match element:
        case tree.Name():
            return name_text(element)
        case tree.Number():
            return element.text
    return f"{element.low.text} .. {element.high.text}"


def _arithmetic(expression: tree.Arithmetic) -> list[Piece]:
    # Long sums are deep on their left side, so that side is walked and not recursed into.
    chain: list[tree.Arithmetic] = []
    operand: tree.Expression = expression
    while isinstance(operand, tree.Arithmetic):
        chain.append(operand)
        operand = operand.left
    pieces = expression_pieces(operand)
    for link in reversed(chain):
        level = _level(link)
        if _level(link.left) < level:
            pieces = wrapped("(", pieces, ")")
        pieces += wrapped(f"{link.operator} ", _inside(link.right, level + 1), "")
        if level == _PRODUCT:
            # Sums may be broken before their signs; products stay whole.
            pieces = [Piece(flat(pieces), pieces[0].start)]
    return pieces


def _one_piece(expression: tree.Expression) -> str:
    match expression:
        case tree.Number():
            return expression.text
        case tree.Text():
            return f'"{expression.value}"'
        case tree.Reference():
            if expression.owner is None and expression.name.text == "not":
                return "(not)"  # alone it would negate what follows
            owner = f"{name_text(expression.owner)}." if expression.owner else ""
            return owner + name_text(expression.name)
        case tree.Call():
            return _call(expression)
        case tree.OfModel(metric=metric, model=model):
            return f"{name_text(metric) if isinstance(metric, tree.Name) else _call(metric)} of {name_text(model)}"
        case tree.Negative():
            bare = not isinstance(expression.operand, (tree.Number, tree.Negative))
            operand = flat(_inside(expression.operand, _SIGN)) if bare else expression_text(expression.operand)
            return f"-{operand}" if bare else f"-({operand})"
        case tree.Influence():
            return influence_text(expression)
    raise AssertionError(f"{type(expression).__name__} has its own pieces")


def _call(call: tree.Call) -> str:
    inside = ", ".join(expression_text(argument) for argument in call.arguments)
    match call.given:
        case None:
            pass
        case tree.Each(name=name):
            inside += f" given each {name_text(name)}"
        case given:
            inside += f" given {expression_text(given)}"
    owner = f"{name_text(call.owner)}." if call.owner else ""
    return f"{owner}{name_text(call.function)}({inside}{' along allowed paths' * call.along_paths})"


def _drawn(item: tree.Name | tree.DrawnFrom) -> str:
    """An attribute, perhaps with the range that it is drawn from."""
    return name_text(item) if isinstance(item, tree.Name) else f"{name_text(item.name)} in {_element(item.within)}"


def influence_text(influence: tree.Influence) -> str:
    """``influence of a, (b, c) on METRIC``."""
    subsets = ", ".join(
        f"({names})" if len(subset) > 1 else names
        for subset in influence.subsets
        for names in [", ".join(map(_drawn, subset))]
    )
    return f"influence of {subsets} on {name_text(influence.metric)}"
