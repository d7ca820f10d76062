"""Questions about groups in words: every clause in force, one English sentence, and the formula.

Whatever defines the number is written out: what is conditioned on, what is left out, who is compared with whom,
and which protected attributes are averaged because ``across`` does not name them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairdsl.ir.domain import Domain, show_number
from fairdsl.ir.expr import TRUE
from fairdsl.ir.question import MOST_FAVOURED, GroupMetric, Threshold, metric_words
from fairdsl.semantics.influences import in_words
from fairdsl.semantics.metrics import METRICS
from fairdsl.semantics.wording import predicate_text

__all__ = ["GroupWords"]

#: What is compared, where ``p`` are the rates: without and with a privileged group.
_VALUES = {
    "statistical_parity": "max p - min p",
    "disparate_impact": "min p / max p",
    "equalized_odds": "max over y of (max p(., y) - min p(., y))",
    "equal_opportunity": "max p - min p",
    "predictive_parity": "max p - min p",
    "path_specific_gap": "max p - min p",
    "most_favoured": "argmax p",
    "least_favoured": "argmin p",
}
_SIGNED = {
    "disparate_impact": "p(others) / p({group})",
    "statistical_parity_difference": "p(others) - p({group})",
    "average_odds_difference": "mean over y of (p(others, y) - p({group}, y))",
}
_BY_LABEL = frozenset({"equalized_odds", "average_odds_difference"})


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupWords:
    """What the words are about: the population's columns, the model with its favourable outcome, who is protected."""

    columns: Domain
    model: str
    favourable: str
    protected: Sequence[str]

    # ---- clauses -----------------------------------------------------------------------------------

    def clauses(self, question: GroupMetric) -> tuple[str, ...]:
        """Every clause that shapes the question, the implicit ones included, one line each."""
        lines = [
            f"across {', '.join(self._names(question.across))}",
            f"under {question.population}" if question.population else "under no distribution",
            *(f"{clause} {text}" for clause, text in question.details),
        ]
        if averaged := self._averaged(question):
            law = "by their law" if question.metric == "path_specific_gap" else "by their law given the group"
            lines.append(f"averaged {law}: {', '.join(averaged)}")
        if self.columns.where != TRUE:
            lines.append(f"all exist: {predicate_text(self.columns.where, self.columns)}")
        if question.deserving is not None:
            lines.append(f"deserving: {self._deserving(question)}")
        return tuple(lines)

    def _averaged(self, question: GroupMetric) -> list[str]:
        """Protected attributes that make no groups here."""
        known = {self.columns.attributes[index].name for index in (*question.across, *question.given_each)}
        return [a.name for a in self.columns.attributes if a.name in self.protected and a.name not in known]

    # ---- the sentence ------------------------------------------------------------------------------

    def sentence(self, question: GroupMetric, threshold: Threshold | None) -> str:
        """The question as one English sentence."""
        groups = ", ".join(f"`{name}`" for name in self._names(question.across))
        name = metric_words(question.metric)
        parts = [
            f"The {name} of `{self.model}` ({self._meaning(question)}) across the groups of {groups} "
            f"under `{question.population}`",
            *self._narrowed(question),
        ]
        if question.influence:
            names = " and ".join(f"`{name}`" for name in self._names(question.influence))
            verb, their = ("is", "its") if len(question.influence) == 1 else ("are", "their")
            parts.append(
                f", less its value where {names} {verb} uniform and independent of all else ({their} influence),"
            )
        bound = f" is {threshold.relation.value} {threshold.text}" if threshold else " is measured"
        if question.confidence is not None:
            percent = show_number(100 * question.confidence)
            bound += f", with a probability of {percent}% over the choice of the rows"
        return "".join(parts) + f"{bound}."

    def _meaning(self, question: GroupMetric) -> str:
        if question.metric == "path_specific_gap":
            edges, baseline = self._allowed(question), self._baseline(question)
            carry = "carries" if len(question.allowed) == 1 else "carry"
            return f"gap of acceptance that is left where {edges} {carry} the influence of {baseline} for everybody"
        if question.metric == "disparate_impact" and question.privileged is not None:
            return f"acceptance rate of everybody else over that of {self._detail(question, 'privileged')}"
        meaning = METRICS[question.metric].meaning
        if question.privileged is not None:
            meaning += f", against {self._detail(question, 'privileged')}"
        if question.deserving is None:
            return meaning
        return f"{meaning}, where {self._deserving(question)} is deserving"

    def _narrowed(self, question: GroupMetric) -> list[str]:
        parts: list[str] = []
        if question.given != TRUE:
            parts.append(f", among those with {predicate_text(question.given, self.columns)}")
        if question.given_each:
            names = " and ".join(f"`{name}`" for name in self._names(question.given_each))
            parts.append(f", for each value of {names} by itself (the worst decides)")
        if question.excluding is not None:
            what = "of probability 0" if question.excluding.rows is None else f"below {question.excluding.rows} rows"
            parts.append(f", without groups {what}")
        return [*parts, ","] if parts and not question.influence else parts

    # ---- the formula -------------------------------------------------------------------------------

    def formula(self, question: GroupMetric, threshold: Threshold | None) -> str:
        """The question as a formula; behind it, what its letters stand for."""
        bound = f" {threshold.relation.value} {threshold.text}" if threshold else ""
        value = self._value(question)
        lines: list[str] = []
        if question.influence:
            names = in_words(question.influence, self.columns)
            lines += [f"Q - Q'{bound}", f"Q  = {value}", f"Q' = Q with {names} uniform and independent of all else"]
        elif question.metric == "acceptance_rate":
            lines.append(f"p(g){bound} for each g")
        else:
            lines.append(f"{value}{bound}")
        return "\n".join([*lines, self._rate(question)])

    def _value(self, question: GroupMetric) -> str:
        if question.privileged is not None:
            value = _SIGNED[question.metric].format(group=self._detail(question, "privileged"))
        else:
            value = _VALUES.get(question.metric, "p(g)")
        if question.given_each:
            names = ", ".join(self._names(question.given_each))
            return f"worst over {names} of ({value})"
        return value

    def _rate(self, question: GroupMetric) -> str:
        names = self._names(question.across)
        groups = f"{names[0]} = g" if len(names) == 1 else f"({', '.join(names)}) = g"
        event, conditions = f"{self.model} = {self.favourable}", [groups]
        if question.metric == "path_specific_gap":
            edges, baseline = self._allowed(question), self._baseline(question)
            reads = f"every law reads {groups}, but along {edges} it reads {baseline}"
            given = [predicate_text(question.given, self.columns)] if question.given != TRUE else []
            return f"p(g) = Pr[{' | '.join([event, *given])}] under {question.population}, where {reads}"
        if question.metric == "predictive_parity":
            event, conditions = self._deserving(question), [event, groups]
        elif question.deserving is not None:
            conditions.append(self._deserving(question))
        if question.given != TRUE:
            conditions.append(predicate_text(question.given, self.columns))
        conditions += [f"{name} = e" if len(question.given_each) == 1 else name for name in self._each(question)]
        letter = "p(g)"
        if question.metric in _BY_LABEL:
            letter = "p(g, y)"
            conditions.append(f"{self.columns.attributes[-1].name} = y")
        return f"{letter} = Pr[{event} | {', '.join(conditions)}] under {question.population}"

    def _each(self, question: GroupMetric) -> list[str]:
        return self._names(question.given_each)

    # ---- parts -------------------------------------------------------------------------------------

    def _names(self, indices: Sequence[int]) -> list[str]:
        return [self.columns.attributes[index].name for index in indices]

    def _deserving(self, question: GroupMetric) -> str:
        label = self.columns.attributes[-1]
        assert question.deserving is not None
        return f"{label.name} = {label.show(question.deserving)}"

    def _detail(self, question: GroupMetric, clause: str) -> str:
        return dict(question.details)[clause]

    def _baseline(self, question: GroupMetric) -> str:
        if question.baseline == MOST_FAVOURED:
            return "the most favoured group"
        return self._detail(question, "baseline")

    def _allowed(self, question: GroupMetric) -> str:
        edges = sorted(question.allowed, key=lambda edge: (edge[0], edge[1] is None, edge[1] or 0))
        ends = [(parent, self.model if child is None else self._names([child])[0]) for parent, child in edges]
        return " and ".join(f"{self._names([parent])[0]} -> {child}" for parent, child in ends)
