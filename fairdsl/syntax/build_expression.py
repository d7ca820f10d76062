"""From Lark's branches to the expressions of the tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lark import Token, Tree

from fairdsl.syntax import tree
from fairdsl.syntax.words import Branch, WordBuilder, branches, tokens

__all__ = ["CHAINED", "ExpressionBuilder"]

#: The rules that are chained from the left: `a + b + c` is `(a + b) + c`.
CHAINED = frozenset(("sum", "product"))


class ExpressionBuilder(WordBuilder):
    """One method for each kind of expression; parentheses vanish once they have done their work."""

    def expression(self, branch: Branch) -> tree.Expression:
        """Any expression."""
        makers: dict[str, Callable[[Branch], tree.Expression]] = {
            "disjunction": self._disjunction,
            "conjunction": self._conjunction,
            "negation": self._negation,
            "comparison": self._comparison,
            "membership": self._membership,
            "absence": self._absence,
            "sum": self._arithmetic,
            "product": self._arithmetic,
            "negative": self._negative,
            "literal": self.number,
            "text": self._text,
            "reference": self._reference,
            "call": self.call,
            "of_model": self.of_model,
            "influence": self.influence,
            "parenthesised": self._only,
        }
        return makers[str(branch.data)](branch)

    def only_expression(self, branch: Branch) -> tree.Expression:
        """The one expression directly below a rule."""
        return self.expression(branches(branch)[0])

    def _only(self, branch: Branch) -> tree.Expression:
        return self.only_expression(branch)

    def _parts(self, branch: Branch) -> tuple[tree.Expression, ...]:
        return tuple(self.expression(child) for child in branches(branch))

    def _disjunction(self, branch: Branch) -> tree.Disjunction:
        return tree.Disjunction(parts=self._parts(branch), span=self.span(branch))

    def _conjunction(self, branch: Branch) -> tree.Conjunction:
        return tree.Conjunction(parts=self._parts(branch), span=self.span(branch))

    def _negation(self, branch: Branch) -> tree.Negation:
        return tree.Negation(operand=self.only_expression(branch), span=self.span(branch))

    def _comparison(self, branch: Branch) -> tree.Comparison:
        left, right = self._parts(branch)
        relation = str(tokens(branch, "EQ", "NE", "LT", "LE", "GT", "GE")[0])
        return tree.Comparison(relation=relation, left=left, right=right, span=self.span(branch))

    def _membership(self, branch: Branch) -> tree.Membership:
        value, *rest = branches(branch)
        braced = rest[0].data == "set"
        elements = tuple(map(self._element, _named(rest[0]))) if braced else (self._range(rest),)
        return tree.Membership(value=self.expression(value), elements=elements, braced=braced, span=self.span(branch))

    def _absence(self, branch: Branch) -> tree.Absence:
        return tree.Absence(value=self.only_expression(branch), span=self.span(branch))

    def _range(self, ends: Sequence[Branch]) -> tree.ValueRange:
        """``low .. high``."""
        low, high = (self.number(end) for end in ends)
        return tree.ValueRange(low=low, high=high, span=low.span.to(high.span))

    def _element(self, part: Token | Branch) -> tree.Name | tree.Number | tree.ValueRange:
        if isinstance(part, Token):
            return self.name(part)
        if part.data == "number":
            return self.number(part)
        low, high = self.numbers(part)
        return tree.ValueRange(low=low, high=high, span=self.span(part))

    def _arithmetic(self, branch: Branch) -> tree.Expression:
        # A sum of a thousand terms is a thousand branches deep on its left side, so that side is no recursion.
        chain: list[Branch] = []
        while branch.data in CHAINED:
            chain.append(branch)
            branch = branches(branch)[0]
        built = self.expression(branch)
        for link in reversed(chain):
            operator = str(tokens(link, "PLUS", "MINUS", "TIMES", "DIVIDE")[0])
            right = self.expression(branches(link)[1])
            built = tree.Arithmetic(operator=operator, left=built, right=right, span=self.span(link))
        return built

    def _negative(self, branch: Branch) -> tree.Number | tree.Negative:
        operand = branches(branch)[0]
        if operand.data == "literal":
            positive = self.number(operand)
            return tree.Number(
                value=-positive.value,
                text="-" + positive.text,
                percent=positive.percent,
                span=self.span(branch),
            )
        return tree.Negative(operand=self.expression(operand), span=self.span(branch))

    def _text(self, branch: Branch) -> tree.Text:
        return self.text(tokens(branch, "STRING")[0])

    def _reference(self, branch: Branch) -> tree.Reference:
        *owner, name = self.names(branch)
        return tree.Reference(owner=owner[0] if owner else None, name=name, span=self.span(branch))

    def call(self, branch: Branch) -> tree.Call:
        """``rate(refuse given sick = yes)``, and calls without a condition."""
        parts = branches(branch)
        along = bool(parts) and parts[-1].data == "along_paths"
        parts = parts[: len(parts) - along]
        given: tree.Expression | tree.Each | None = None
        if tokens(branch, "GIVEN"):
            *parts, last = parts
            given = self._each(last) if last.data == "each" else self.expression(last)
        *owner, function = self.names(branch)
        return tree.Call(
            owner=owner[0] if owner else None,
            function=function,
            arguments=tuple(self.expression(part) for part in parts),
            given=given,
            along_paths=along,
            span=self.span(branch),
        )

    def _each(self, branch: Branch) -> tree.Each:
        return tree.Each(name=self.names(branch)[0], span=self.span(branch))

    def of_model(self, branch: Branch) -> tree.OfModel:
        """``impact_ratio of new``."""
        *metric, model = self.names(branch)
        return tree.OfModel(
            metric=metric[0] if metric else self.call(branches(branch)[0]), model=model, span=self.span(branch)
        )

    def influence(self, branch: Branch) -> tree.Influence:
        """``influence of a, (b, c) on METRIC``."""
        subsets = tuple(tuple(map(self._drawn, _named(child))) for child in branches(branch))
        return tree.Influence(subsets=subsets, metric=self.names(branch)[0], span=self.span(branch))

    def _drawn(self, part: Token | Branch) -> tree.Name | tree.DrawnFrom:
        """An attribute, perhaps with the range that it is drawn from."""
        if isinstance(part, Token):
            return self.name(part)
        within = self._range(branches(part))
        return tree.DrawnFrom(name=self.names(part)[0], within=within, span=self.span(part))


def _named(branch: Branch) -> Iterator[Token | Branch]:
    """What a list has, without its commas and brackets."""
    return (child for child in branch.children if isinstance(child, Tree) or child.type in ("NAME", "STRING"))
