"""What models give, inside a condition: ``approve(a)``, ``score(a)``, ``new.score(a)``, ``abs(...)`` in sums.

Each becomes a column behind those of the domain (:mod:`fairdsl.ir.demand`), so that conditions are lowered by one
function whether they speak of attributes or of models.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from fairdsl.diagnostics import Reporter
from fairdsl.ir.declaration import ModelDeclaration
from fairdsl.ir.demand import Confidence, Decision, Magnitude, Probability, Score, Term
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import Compare, Linear, Member, Not, Predicate, Relation, Variable, Who, substitute, variables
from fairdsl.ir.question import Sure
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedModel
from fairdsl.semantics.walk import walk
from fairdsl.syntax import tree

#: What may be called beside models; `confidence` belongs to `when` and `one_hot` to `reads`.
FUNCTIONS = ("score", "probability", "confidence", "abs", "share", "one_hot")


def calls_in(node: tree.Node) -> Iterator[tree.Call]:
    """Every call in an expression."""
    return (each for each in walk(node) if isinstance(each, tree.Call))


def names_outputs(node: tree.Expression, models: Collection[str]) -> bool:
    """Whether it speaks of what one of the models makes of somebody."""
    return any(
        call.owner is not None or call.function.text in models or call.function.text in ("score", "probability")
        for call in calls_in(node)
    )


@dataclass(slots=True)
class Outputs:
    """The terms of one demand, as its formula is read.

    ``models`` are those of the spec that could be read (None: that could not); ``main`` is the one that ``score(a)``
    alone is about.
    """

    domain: Domain
    models: Mapping[str, CheckedModel | None]
    main: str | None
    individuals: Mapping[str, Who]
    reporter: Reporter
    terms: list[Term] = field(default_factory=list)
    named: list[str] = field(default_factory=list)

    def is_attribute(self, variable: Variable) -> bool:
        """Whether a variable is one of the domain's columns."""
        return variable.attribute < len(self.domain.attributes)

    def unowned(self, predicate: Predicate) -> bool:
        """Whether a condition names attributes without saying whose."""
        return any(variable.who is Who.EACH and self.is_attribute(variable) for variable in variables(predicate))

    def about(self, predicate: Predicate, who: Who) -> Predicate:
        """The condition with attributes that are nobody's as those of one individual."""
        return substitute(
            predicate,
            lambda variable: (
                Variable(variable.attribute, who)
                if variable.who is Who.EACH and self.is_attribute(variable)
                else variable
            ),
        )

    # ---- numbers -------------------------------------------------------------------------------

    def number(self, call: tree.Call) -> Linear | None:
        """``score(a)``, ``new.probability(a)``; None after a report for whatever is not a number."""
        if call.function.text in ("score", "probability"):
            place, who = self._model(call), self._who(call)
            if place is None or who is None:
                return None
            return self._column(Score(model=place) if call.function.text == "score" else Probability(model=place), who)
        if call.owner is None and call.function.text in self.models:
            declared = self.models[call.function.text]
            example = f" = {declared.declaration.outcomes[-1]}" if declared else " = ..."
            self.reporter.report(
                errors.wrong_kind(
                    f"the decision `{call.span.text}`",
                    "a number",
                    call.span,
                    f"compare it with an outcome, as in `{call.span.text}{example}`, or write "
                    f"`{call.function.text}.score(...)` for the score",
                )
            )
            return None
        if call.function.text == "confidence":
            written = f"`when {call.span.text} >= 0.9`"
            self.reporter.report(
                errors.demand_not_understood(call.span, f"a confidence says who counts: write {written}")
            )
            return None
        known = (*self.models, *(f"{name}.score" for name in self.models), "score", "probability", "abs")
        self.reporter.report(errors.unknown_word("function", call.function.text, call.function.span, known))
        return None

    def magnitude(self, call: tree.Call, form: Linear) -> Linear | None:
        """``abs(form)`` as a number."""
        if not form.terms:
            return Linear(constant=abs(form.constant))
        whole = Compare(left=form, relation=Relation.EQ)
        if len(self.individuals) > 1 and self.unowned(whole):
            first, second, *_ = self.individuals
            help_text = f"say whose attributes are meant, as in `{first}.x` and `{second}.x`"
            self.reporter.report(errors.demand_not_understood(call.span, help_text))
            return None
        return self._column(Magnitude(form=form), Who.EACH)

    def surely(self, sure: Sure) -> Compare:
        """``confidence(a) >= level``, which was read before (:mod:`~fairdsl.semantics.questions.confidence`)."""
        name = sure.model or self.main
        assert name is not None, "whose confidence it is was asked before"
        left = self._column(Confidence(model=self.place_of(name)), sure.who)
        return Compare(left=left - Linear(constant=sure.level), relation=sure.relation, span=sure.span)

    # ---- decisions -----------------------------------------------------------------------------

    def is_decision(self, node: tree.Expression) -> bool:
        """``approve(a)``, for a model of the spec."""
        return isinstance(node, tree.Call) and node.owner is None and node.function.text in self.models

    def compare(
        self, node: tree.Comparison, decision: tree.Expression, other: tree.Expression, relation: Relation
    ) -> Predicate | None:
        """``approve(a) RELATION other``, the other being an outcome or a decision."""
        assert isinstance(decision, tree.Call)
        declared = self._declared(decision)
        who = self._who(decision)
        if declared is None or who is None:
            return None
        order = relation not in (Relation.EQ, Relation.NE)
        if order and not self._ordered(declared, node):
            return None
        left = self._column(self._decision(decision, declared, declared), who)
        if isinstance(other, tree.Call) and self.is_decision(other):
            against, partner = self._declared(other), self._who(other)
            if against is None or partner is None or not self._comparable(declared, against, node, order=order):
                return None
            right = self._column(self._decision(other, against, declared), partner)
            return Compare(left=left - right, relation=relation, span=node.span)
        rank = self._outcome(other, declared)
        if rank is None:
            return None
        if order:
            return Compare(left=left - Linear(constant=Fraction(rank)), relation=relation, span=node.span)
        member = Member(variable=left.terms[0][0], values=frozenset({Fraction(rank)}), span=node.span)
        return member if relation is Relation.EQ else Not(member)

    def member(self, node: tree.Membership) -> Predicate | None:
        """``approve(a) in { grant, wait }``."""
        assert isinstance(node.value, tree.Call)
        declared, who = self._declared(node.value), self._who(node.value)
        if declared is None or who is None:
            return None
        ranks = [self._outcome(element, declared) for element in node.elements]
        found = [rank for rank in ranks if rank is not None]
        if len(found) < len(ranks):
            return None
        left = self._column(self._decision(node.value, declared, declared), who)
        return Member(variable=left.terms[0][0], values=frozenset(Fraction(rank) for rank in found), span=node.span)

    def condition(self, call: tree.Call) -> None:
        """A call where a condition stands: reported, with what to compare it with."""
        if not self.is_decision(call):
            if self.number(call) is not None:
                help_text = f"compare it with a number, as in `{call.span.text} >= 0`"
                self.reporter.report(
                    errors.wrong_kind(f"the number `{call.span.text}`", "a condition", call.span, help_text)
                )
            return
        declared = self._declared(call)
        if declared is not None:
            outcome = declared.outcomes[declared.favourable if declared.favourable is not None else -1]
            help_text = f"compare it with an outcome, as in `{call.span.text} = {outcome}`"
            self.reporter.report(
                errors.wrong_kind(f"the decision `{call.span.text}`", "a condition", call.span, help_text)
            )

    # ---- names ---------------------------------------------------------------------------------

    def _column(self, term: Term, who: Who) -> Linear:
        if term not in self.terms:
            self.terms.append(term)
        place = len(self.domain.attributes) + self.terms.index(term)
        return Linear.of({Variable(place, who): Fraction(1)})

    def place_of(self, name: str) -> int:
        """The number of a model among those that the demand names."""
        if name not in self.named:
            self.named.append(name)
        return self.named.index(name)

    def _model(self, call: tree.Call) -> int | None:
        """Whose score it is: the model in front of the dot, or the only one."""
        if call.owner is None:
            if self.main is None:
                self.reporter.report(
                    errors.say_which("model", call.span, tuple(self.models), _owners(call, tuple(self.models)))
                )
                return None
            return self.place_of(self.main)
        if call.owner.text not in self.models:
            self.reporter.report(
                errors.unknown_declaration("model", call.owner.text, call.owner.span, tuple(self.models))
            )
            return None
        return self.place_of(call.owner.text)

    def _declared(self, call: tree.Call) -> ModelDeclaration | None:
        found = self.models[call.function.text]
        return None if found is None else found.declaration  # what is wrong with a model was reported there

    def _decision(self, call: tree.Call, of: ModelDeclaration, like: ModelDeclaration) -> Decision:
        """The model's decision, numbered as ``like`` numbers its outcomes."""
        ranks = tuple(like.outcomes.index(outcome) for outcome in of.outcomes)
        return Decision(model=self.place_of(call.function.text), ranks=ranks)

    def _who(self, call: tree.Call) -> Who | None:
        names = tuple(self.individuals)
        argument = call.arguments[0]
        if len(call.arguments) == 1 and isinstance(argument, tree.Reference) and argument.owner is None:
            who = self.individuals.get(argument.name.text)
            if who is None:
                self.reporter.report(errors.unknown_declaration("individual", argument.name.text, argument.span, names))
            return who
        function = call.function.text if call.owner is None else f"{call.owner.text}.{call.function.text}"
        self.reporter.report(
            errors.wrong_kind(f"`{call.span.text}`", "one individual", call.span, f"write `{function}({names[0]})`")
        )
        return None

    def _ordered(self, declared: ModelDeclaration, node: tree.Comparison) -> bool:
        if not declared.ordered:
            self.reporter.report(
                errors.not_comparable(
                    f"the outcomes of `{declared.name}` have no order",
                    node.span,
                    "which of two outcomes is the higher one is nothing that names say",
                    "write them in their order where the model is declared, the lowest first: "
                    f"`{{ {' < '.join(declared.outcomes)} }}`",
                )
            )
        return declared.ordered

    def _comparable(
        self, one: ModelDeclaration, other: ModelDeclaration, node: tree.Comparison, *, order: bool
    ) -> bool:
        if order and not self._ordered(other, node):
            return False
        alike = one.outcomes == other.outcomes if order else set(one.outcomes) == set(other.outcomes)
        if not alike:
            self.reporter.report(
                errors.not_comparable(
                    f"`{one.name}` and `{other.name}` have different outcomes",
                    node.span,
                    f"one decides {_listed(one)}, the other {_listed(other)}",
                    "give both models the same outcomes"
                    + (", in the same order" if order else "")
                    + f", or compare each with its own, as in `{one.name}(a) = {one.outcomes[-1]}`",
                )
            )
        return alike

    def _outcome(self, node: tree.Expression | tree.Name | tree.ValueRange, declared: ModelDeclaration) -> int | None:
        match node:
            case tree.Name(text=text, span=span) | tree.Text(value=text, span=span):
                pass
            case tree.Reference(owner=None, name=tree.Name(text=text, span=span)):
                pass
            case _:
                self.reporter.report(
                    errors.not_comparable(
                        f"a decision of `{declared.name}` can only be compared with its outcomes, or with a decision",
                        node.span,
                        "outcomes are names",
                        f"its outcomes are {_listed(declared)}",
                    )
                )
                return None
        if text not in declared.outcomes:
            self.reporter.report(errors.unknown_outcome(text, span, declared.name, declared.outcomes))
            return None
        return declared.outcomes.index(text)


def _owners(call: tree.Call, models: tuple[str, ...]) -> str:
    return f"write `{models[0] if models else 'MODEL'}.{call.span.text}`"


def _listed(declared: ModelDeclaration) -> str:
    return ", ".join(f"`{outcome}`" for outcome in declared.outcomes)
