"""General demands in words: the clauses in force, one English sentence, and the formula."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fairdsl.ir.declaration import ModelDeclaration
from fairdsl.ir.demand import Decision, Demanded
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import TRUE, Compare, Relation, atoms
from fairdsl.ir.question import Quantity, Threshold
from fairdsl.semantics.wording.pairs import (
    clauses_in_force,
    domain_constraint,
    how_they_differ,
    pair_formula,
    predicate_text,
    taken_from,
)


@dataclass(frozen=True, slots=True)
class DemandWords:
    """What a general demand says; ``under`` names the distribution whose rows are counted, or that is drawn from."""

    question: Demanded
    domain: Domain
    under: str | None
    drawn: bool
    #: The models named, as they are declared.
    models: Sequence[ModelDeclaration]

    @property
    def clauses(self) -> tuple[str, ...]:
        """Every clause that shapes the question, the implicit ones included, one line each."""
        asked = self.question
        if asked.alone:
            lines = [f"compare {asked.names[0]} : {self.domain.name}", *domain_constraint(self.domain)]
            if asked.pair.target != TRUE:
                lines.append(f"among: {predicate_text(asked.pair.target, self.domain)}")
        else:
            lines = list(clauses_in_force(asked.pair, self.domain, asked.names))
        if asked.premise_text:
            lines.append(f"among (model outputs): {asked.premise_text}")
        lines += [f"when {each}" for each in asked.when]
        return (*lines, *([f"under {self.under}"] if self.under else ()))

    def sentence(self, quantity: Quantity, threshold: Threshold | None) -> str:
        """The question as one English sentence."""
        told = f"`{self.question.text}` is true"
        if premise := " and ".join(self._premises):
            told += f" wherever `{premise}` is"
        if order := " and ".join(dict.fromkeys(" < ".join(model.outcomes) for model in self._ranked)):
            told += f" (with `{order}`)"
        if quantity is Quantity.HOLDS:
            rows = "" if self.under is None else f", of those in the rows of `{self.under}`"
            return f"For {self._anybody}{rows}, {told}."
        share = "The share of" if quantity is Quantity.FAIR_SHARE else "One minus the share of"
        bound = f" is {threshold.relation.words} {threshold.text}" if threshold else " is measured"
        bound = f",{bound}" if self._premises else bound  # what is before ends in "is"
        among = "" if self.question.alone else f"for {self._anybody} "
        return f"{share} {self._units} for which {among}{told}{bound}."

    @property
    def _ranked(self) -> Iterator[ModelDeclaration]:
        """The models whose decisions are compared as higher and lower."""
        asked = self.question
        for part in (asked.premise, asked.formula):
            for atom in atoms(part):
                if isinstance(atom, Compare) and atom.relation not in (Relation.EQ, Relation.NE):
                    terms = (asked.term(variable) for variable, _ in atom.left.terms)
                    yield from (self.models[term.model] for term in terms if isinstance(term, Decision))

    @property
    def _premises(self) -> tuple[str, ...]:
        return (*filter(None, (self.question.premise_text,)), *self.question.when)

    @property
    def _anybody(self) -> str:
        pair, (*first, last) = self.question.pair, [f"`{name}`" for name in self.question.names]
        names = " and ".join([*([", ".join(first)] if first else []), last])
        some = ("individual", "two individuals", "three individuals", "four individuals")[len(first)]
        who = f"any {some} {names} of `{self.domain.name}`"
        if pair.target != TRUE:
            who += f" with {predicate_text(pair.target, self.domain)}"
        if self.question.alone:
            return who
        how = how_they_differ(pair, self.domain)
        who = f"{who}, each two of whom {how.removeprefix('that ')}" if self.question.several else f"{who} {how}"
        return (
            who
            if pair.pair_target == TRUE
            else f"{who}, where {predicate_text(pair.pair_target, self.domain, self.question.names)}"
        )

    @property
    def _units(self) -> str:
        asked = self.question
        if self.under is not None:
            taken = (
                ""
                if asked.alone
                else ", each taken "
                + ("as an individual," if asked.of_individuals else "for its values of what does not differ,")
            )
            return f"{taken_from(self.under, drawn=self.drawn)}{self._among}{taken}"
        if asked.one_sided is not None:
            return f"individuals `{asked.name_of(asked.one_sided)}`"
        return f"individuals{self._among}" if asked.of_individuals else "assignments of the other attributes"

    @property
    def _among(self) -> str:
        """Which individuals count, where they are asked about one by one; of pairs it is said of the two."""
        asked = self.question
        counts = asked.alone and asked.pair.target != TRUE
        return f" with {predicate_text(asked.pair.target, self.domain)}" if counts else ""

    def formula(self, quantity: Quantity, threshold: Threshold | None) -> str:
        """The question as a formula; of individuals a share is a quotient of two counts."""
        asked = self.question
        names = ", ".join(asked.names)
        parts = [] if asked.alone else pair_formula(asked.pair, self.domain, asked.names)
        if asked.alone and asked.pair.target != TRUE:
            parts.append(f"[{predicate_text(asked.pair.target, self.domain)}]")
        parts += [f"[{each}]" for each in self._premises]
        if asked.alone and quantity is not Quantity.HOLDS and not self.drawn:
            every, met = (" and ".join(each) for each in (parts, [*parts, f"[{asked.text}]" if parts else asked.text]))
            bound = f" {threshold.relation.value} {threshold.text}" if threshold else ""
            one_minus = "" if quantity is Quantity.FAIR_SHARE else "1 - "
            whole = f"{names} in {'rows of ' + self.under if self.under else self.domain.name}"
            return f"{one_minus}#{{{whole} : {met}}} / #{{{whole}{' : ' * bool(every)}{every}}}{bound}"
        given = f"{' and '.join(parts)} => " if parts else ""
        return f"for all {names} in {self.domain.name}: {given}{asked.text}"
