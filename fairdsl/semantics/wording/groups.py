"""Questions about groups in words: every clause in force, one English sentence, and the formula.

Whatever defines the number is written out: what is conditioned on, what is left out, who is compared with whom,
and which protected attributes are averaged because ``across`` does not name them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from fairdsl.ir.domain import Derived, Domain, Quantiles, show_number
from fairdsl.ir.expr import TRUE, Linear, Member, conjuncts
from fairdsl.ir.question import MOST_FAVOURED, GroupMetric, Precision, Threshold, metric_words
from fairdsl.ir.rate import AllOf, AnyOf, Averaged, Decides, Each, Event, Fact, LabelIn, Negated, OutcomeIn, ScoreIs
from fairdsl.semantics.questions.influences import in_words
from fairdsl.semantics.wording.pairs import domain_constraint, predicate_text, sum_text, value_text


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupWords:
    """What the words are about: the population's columns, the model with its favourable outcome, who is protected."""

    columns: Domain
    model: str
    outcomes: Sequence[str]
    favourable: str
    protected: Sequence[str]

    # ---- clauses -----------------------------------------------------------------------------------

    def clauses(self, question: GroupMetric) -> tuple[str, ...]:
        """Every clause that shapes the question, the implicit ones included, one line each."""
        lines = [
            f"across {', '.join(self._names(question.across))}",
            *(f"derived {each.name} = {self._derivation(each)}" for each in question.derived),
            f"under {question.population}" if question.population else "under no distribution",
            *(f"{clause} {text}" for clause, text in question.details),
        ]
        if averaged := self._averaged(question):
            given = "" if question.metric.rate.along_paths else " given the group"
            lines.append(f"marginalised{given}: {', '.join(averaged)}")
        lines.extend(domain_constraint(self.columns))
        if question.deserving is not None:
            lines.append(f"deserving: {self._deserving(question)}")
        return tuple(lines)

    def _derivation(self, derived: Derived) -> str:
        """What a derived attribute is, in the words of the language."""
        if not isinstance(derived.of, Linear | None):
            return predicate_text(derived.of, self.columns)
        of = "score" if derived.of is None else sum_text(derived.of, self.columns)
        attribute = derived.attribute
        if isinstance(attribute.bins_by, Quantiles):
            return f"bins of {of} by quantiles {attribute.bins_by.count}"
        return f"bins of {of} at {', '.join(map(show_number, attribute.bins))}"

    def _averaged(self, question: GroupMetric) -> list[str]:
        """Protected attributes that make no groups here, and have more than one value among those in question."""
        parts = (part for part in conjuncts(question.given) if isinstance(part, Member) and len(part.values) == 1)
        fixed = (part.variable.attribute for part in parts)
        known = {self.columns.attributes[index].name for index in (*question.across, *question.given_each, *fixed)}
        return [a.name for a in self.columns.attributes if a.name in self.protected and a.name not in known]

    # ---- the sentence ------------------------------------------------------------------------------

    def sentence(
        self,
        question: GroupMetric,
        threshold: Threshold | None,
        precision: Precision | None = None,
        *,
        less: str | None = None,
    ) -> str:
        """The question as one English sentence; ``less`` is the :meth:`subject` that is taken from it.

        With a ``precision`` people may be drawn for an answer.
        """
        bound = f" is {threshold.relation.words} {threshold.text}" if threshold else " is measured"
        confidence = question.confidence
        if confidence is not None:
            percent = show_number(100 * (confidence if less is None else 2 * confidence - 1))
            bound += f", with a probability of {percent}% over the choice of the rows"
        if precision is not None:
            near = "" if precision.within is None else f" to within {self._distance(question, precision.within)}"
            bound += f",{near} with a probability of {show_number(100 * precision.confidence)}% over who is drawn"
        rest = "" if less is None else f", less the {less.removeprefix('The ')},"
        return f"{self.subject(question).removesuffix(',' if rest else '')}{rest.replace(',,', ',')}{bound}."

    @staticmethod
    def _distance(question: GroupMetric, within: Fraction) -> str:
        """A distance between two values of the metric, in percent but for means of scores."""
        metric = question.metric
        own_units = metric.rate.is_mean and metric.ideal != 1
        return show_number(within) if own_units else f"{show_number(100 * within)}%"

    def subject(self, question: GroupMetric) -> str:
        """The number that the question is about."""
        groups = ", ".join(f"`{name}`" for name in self._names(question.across))
        name, meaning = metric_words(question.metric.name), self._meaning(question)
        named = f"{name} of `{self.model}` ({meaning})"
        if question.metric.name == question.metric.definition:  # a term says itself what it means
            named = f"{meaning}, by `{self.model}`,"
        parts = [
            f"The {named} across the groups of {groups} under `{question.population}`",
            *self._narrowed(question),
        ]
        if question.influence:
            stated = {at.column: f" (in {show_number(at.low)} .. {show_number(at.high)})" for at in question.drawn_from}
            columns = zip(question.influence, self._names(question.influence), strict=True)
            names = " and ".join(f"`{name}`{stated.get(at, '')}" for at, name in columns)
            verb, their = ("is", "its") if len(question.influence) == 1 else ("are", "their")
            parts.append(
                f", less its value where {names} {verb} uniform and independent of all else ({their} influence),"
            )
        return "".join(parts)

    def _meaning(self, question: GroupMetric) -> str:
        if question.metric.rate.along_paths:
            edges, baseline = self._allowed(question), self._baseline(question)
            carry = "carries" if len(question.allowed) == 1 else "carry"
            return f"gap of acceptance that is left where {edges} {carry} the influence of {baseline} for everybody"
        meaning = question.metric.in_words(self._privileged(question))
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
            if question.excluding_below is not None:
                what = f"below {show_number(question.excluding_below * 100)}% of the rows"
            parts.append(f", without groups {what}")
        return [*parts, ","] if parts and not question.influence else parts

    # ---- the formula -------------------------------------------------------------------------------

    def formula(self, question: GroupMetric, threshold: Threshold | None) -> str:
        """The question as a formula; behind it, what its letters stand for."""
        bound = f" {threshold.relation.value} {threshold.text}" if threshold else ""
        value = self._value(question)
        lines: list[str] = []
        if question.influence:
            names = in_words((question.influence, question.drawn_from), self.columns)
            each = " for each g" if question.metric.is_span else ""
            lines += [
                f"Q - Q'{bound}{each}",
                f"Q  = {value}",
                f"Q' = Q with {names} uniform and independent of all else",
            ]
        elif question.metric.is_span:
            lines.append(f"p(g){bound} for each g")
        else:
            lines.append(f"{value}{bound}")
        return "\n".join([*lines, self._rate(question)])

    def _value(self, question: GroupMetric) -> str:
        value = question.metric.formula(self._privileged(question))
        if question.given_each:
            names = ", ".join(self._names(question.given_each))
            return f"worst over {names} of ({value})"
        return value

    def _rate(self, question: GroupMetric) -> str:
        names = self._names(question.across)
        groups = f"{names[0]} = g" if len(names) == 1 else f"({', '.join(names)}) = g"
        rate, conditions = question.metric.rate, [groups]
        event = rate.event.value if isinstance(rate.event, Averaged) else self._event(rate.event, question)
        taken = "E" if rate.is_mean else "Pr"
        if rate.along_paths:
            edges, baseline = self._allowed(question), self._baseline(question)
            reads = f"every distribution reads {groups}, but along {edges} it reads {baseline}"
            given = [predicate_text(question.given, self.columns)] if question.given != TRUE else []
            return f"p(g) = Pr[{' | '.join([event, *given])}] under {question.population}, where {reads}"
        letter = "p(g)"
        match rate.given:
            case Each.LABEL:
                letter = "p(g, y)"
                own = f"{self.columns.attributes[-1].name} = y"
            case Each.DECISION:
                letter = "p(g, d)"
                own = f"({self._event(Fact.FAVOURABLE, question)}) = d"
            case None:
                own = ""
            case condition:
                own = self._event(condition, question)
        if question.given != TRUE:
            conditions.append(predicate_text(question.given, self.columns))
        conditions += [f"{name} = e" if len(question.given_each) == 1 else name for name in self._each(question)]
        conditions += [own] * bool(own)
        return f"{letter} = {taken}[{event} | {', '.join(conditions)}] under {question.population}"

    def _event(self, event: Event, question: GroupMetric) -> str:
        """As a condition on the decision and the label."""
        match event:
            case Fact.FAVOURABLE:
                return self._decided(question.metric.rate.decides)
            case Fact.DESERVING:
                return self._deserving(question)
            case Fact.CORRECT:
                return f"({self.model} = {self.favourable}) = ({self._deserving(question)})"
            case LabelIn(text=text):
                return text if " " in text or self.columns.attributes[-1].name != text else f"{text} = yes"
            case Negated(part=Fact.DESERVING):
                return self._deserving(question, "!=")
            case Negated(part=Fact.FAVOURABLE):
                return self._decided(question.metric.rate.decides, negated=True)
            case Negated(part=Fact.CORRECT):
                return f"({self.model} = {self.favourable}) != ({self._deserving(question)})"
            case Negated(part=part):
                return f"not ({self._event(part, question)})"
            case AllOf(parts=parts):
                return " and ".join(self._joined(part, question) for part in parts)
            case AnyOf(parts=parts):
                return " or ".join(self._joined(part, question) for part in parts)
        assert_never(event)

    def _joined(self, part: Event, question: GroupMetric) -> str:
        words = self._event(part, question)
        return f"({words})" if isinstance(part, AllOf | AnyOf) else words

    def _decided(self, decides: Decides | None, *, negated: bool = False) -> str:
        match decides:
            case None:
                return f"{self.model} {'!=' if negated else '='} {self.favourable}"
            case OutcomeIn(outcomes=places):
                if len(places) == 1:
                    return f"{self.model} {'!=' if negated else '='} {self.outcomes[min(places)]}"
                named = [name for place, name in enumerate(self.outcomes) if (place in places) != negated]
                return f"{self.model} in {{ {', '.join(named)} }}"
            case ScoreIs(relation=relation, limit=limit):
                than = "median" if limit is None else show_number(limit)
                return f"score {(relation.negated if negated else relation).value} {than}"
        assert_never(decides)

    def _each(self, question: GroupMetric) -> list[str]:
        return self._names(question.given_each)

    # ---- parts -------------------------------------------------------------------------------------

    def _names(self, indices: Sequence[int]) -> list[str]:
        return [self.columns.attributes[index].name for index in indices]

    def _deserving(self, question: GroupMetric, relation: str = "=") -> str:
        label = self.columns.attributes[-1]
        assert question.deserving is not None
        return f"{label.name} {relation} {value_text(question.deserving, label)}"

    def _privileged(self, question: GroupMetric) -> str | None:
        return None if question.privileged is None else self._detail(question, "privileged")

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
