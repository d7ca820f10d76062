"""From Lark's branches to the clauses of properties."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lark import Token, Tree

from fairdsl.syntax import tree
from fairdsl.syntax.build_expression import ExpressionBuilder
from fairdsl.syntax.words import Branch, branches, tokens

__all__ = ["PropertyBuilder"]


class PropertyBuilder(ExpressionBuilder):
    """One method for each kind of clause."""

    def clause(self, branch: Branch) -> tree.Clause:
        """Any clause of a property."""
        makers: dict[str, Callable[[Branch], tree.Clause]] = {
            "for_each": self._for_each,
            "compare": self._compare,
            "across": self._across,
            "model_reference": self._model_reference,
            "differ": self._differ,
            "apart": self._within,
            "regardless": self._regardless,
            "otherwise_equal": self._otherwise_equal,
            "among": self._among,
            "strata": self._strata,
            "when": self._when,
            "under": self._under,
            "excluding": self._excluding,
            "allow": self._allow,
            "baseline": self._baseline,
            "privileged": self._privileged,
            "require": self._require,
            "measure": self._measure,
        }
        return makers[str(branch.data)](branch)

    def path(self, branch: Branch) -> tree.Path:
        """``a -> b -> c``."""
        return tree.Path(names=self.names(branch), span=self.span(branch))

    # ---- of what there is one property each ------------------------------------------------------

    def _for_each(self, branch: Branch) -> tree.ForEachClause:
        variable, *further = tokens(branch, "NAME", "STRING")
        listed = tokens(branch, "LBRACE")
        return tree.ForEachClause(
            variable=self.name(variable),
            values=tuple(self._each_values(branch.children[5:])) if listed else (),
            attribute=None if listed else self.name(further[0]),
            span=self.span(branch),
        )

    def _each_values(self, children: Sequence[Token | Branch]) -> Iterator[tree.Name | tree.Number | tree.NameSet]:
        for child in children:
            match child:
                case Token(type="NAME" | "STRING"):
                    yield self.name(child)
                case Tree(data="number"):
                    yield self.number(child)
                case Tree():
                    yield tree.NameSet(names=self.names(child), span=self.span(child))

    # ---- who is compared -----------------------------------------------------------------------

    def _compare(self, branch: Branch) -> tree.CompareClause:
        *names, domain = self.names(branch)
        return tree.CompareClause(names=tuple(names), domain=domain, span=self.span(branch))

    def _across(self, branch: Branch) -> tree.AcrossClause:
        return tree.AcrossClause(names=self.names(branch), span=self.span(branch))

    def _model_reference(self, branch: Branch) -> tree.ModelReference:
        return tree.ModelReference(name=self.names(branch)[0], span=self.span(branch))

    def _differ(self, branch: Branch) -> tree.DifferClause:
        modes, names = tokens(branch, "ANY", "EACH_OF"), self.names(branch)
        mode = tree.DifferMode(str(modes[0])) if modes and len(names) > 1 else None
        return tree.DifferClause(mode=mode, names=names, span=self.span(branch))

    def _within(self, branch: Branch) -> tree.WithinClause:
        return tree.WithinClause(by=self.numbers(branch)[0], name=self.names(branch)[0], span=self.span(branch))

    def _regardless(self, branch: Branch) -> tree.RegardlessClause:
        return tree.RegardlessClause(names=self.names(branch), span=self.span(branch))

    def _otherwise_equal(self, branch: Branch) -> tree.OtherwiseEqualClause:
        return tree.OtherwiseEqualClause(span=self.span(branch))

    # ---- where it is required ------------------------------------------------------------------

    def _among(self, branch: Branch) -> tree.AmongClause:
        return tree.AmongClause(condition=self.only_expression(branch), span=self.span(branch))

    def _strata(self, branch: Branch) -> tree.StrataClause:
        return tree.StrataClause(names=self.names(branch), span=self.span(branch))

    def _when(self, branch: Branch) -> tree.WhenClause:
        return tree.WhenClause(condition=self.only_expression(branch), span=self.span(branch))

    def _under(self, branch: Branch) -> tree.UnderClause:
        return tree.UnderClause(distribution=self.names(branch)[0], span=self.span(branch))

    def _excluding(self, branch: Branch) -> tree.ExcludingClause:
        rows = self.one_number(branch)
        of_all = rows is not None and bool(tokens(branch, "OF"))
        return tree.ExcludingClause(rows=rows, of_all=of_all, span=self.span(branch))

    def _allow(self, branch: Branch) -> tree.AllowClause:
        return tree.AllowClause(path=self.path(branches(branch)[0]), span=self.span(branch))

    def _baseline(self, branch: Branch) -> tree.BaselineClause:
        return tree.BaselineClause(group=self.only_expression(branch), span=self.span(branch))

    def _privileged(self, branch: Branch) -> tree.PrivilegedClause:
        return tree.PrivilegedClause(group=self.only_expression(branch), span=self.span(branch))

    # ---- what is required ----------------------------------------------------------------------

    def _require(self, branch: Branch) -> tree.RequireClause:
        demand, *_ = branches(branch)
        same = demand.data == "same_decision"
        within, confidence = self._precision(branch)
        return tree.RequireClause(
            demand=tree.SameDecision(span=self.span(demand)) if same else self.expression(demand),
            within=within,
            confidence=confidence,
            span=self.span(branch),
        )

    def _measure(self, branch: Branch) -> tree.MeasureClause:
        items = tuple(self._measure_item(child) for child in branches(branch))
        return tree.MeasureClause(items=items, span=self.span(branch))

    def _measure_item(self, branch: Branch) -> tree.MeasureItem:
        metric = self._measured(branch.children[0])
        within, confidence = self._precision(branch)
        return tree.MeasureItem(metric=metric, within=within, confidence=confidence, span=self.span(branch))

    def _measured(self, part: Token | Branch) -> tree.Name | tree.Influence | tree.Call | tree.OfModel:
        if not isinstance(part, Tree):
            return self.name(part)
        match part.data:
            case "influence":
                return self.influence(part)
            case "of_model":
                return self.of_model(part)
        return self.call(part)

    def _precision(self, branch: Branch) -> tuple[tree.Number | None, tree.Number | None]:
        """The distance and the confidence that stand behind a demand."""
        precision = next((child for child in branches(branch) if child.data == "precision"), None)
        if precision is None:
            return None, None
        numbers = self.numbers(precision)
        within = numbers[0] if tokens(precision, "WITHIN") else None
        return within, (numbers[1] if len(numbers) > 1 else None) if within else numbers[0]
