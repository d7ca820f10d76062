"""Properties: clauses become one question, every ``require`` and ``measure`` a demand on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from fairdsl.diagnostics import Reporter
from fairdsl.ir.demand import Demanded
from fairdsl.ir.expr import TRUE
from fairdsl.ir.question import GroupMetric, Pair, Quantity
from fairdsl.prelude import TERMS
from fairdsl.semantics import errors
from fairdsl.semantics.checked import CheckedDistribution, CheckedModel, CheckedProperty, Demand, LabelDeclaration
from fairdsl.semantics.conditions.outputs import FUNCTIONS, calls_in
from fairdsl.semantics.populations import domain_with_label, with_columns
from fairdsl.semantics.questions.groups import GroupBuilder
from fairdsl.semantics.questions.misread import misread
from fairdsl.semantics.questions.pairs import PairBuilder
from fairdsl.semantics.questions.thresholds import check_share
from fairdsl.semantics.walk import walk
from fairdsl.semantics.wording.demands import DemandWords
from fairdsl.semantics.wording.groups import GroupWords
from fairdsl.semantics.wording.pairs import clauses_in_force, formula, predicate_text, sentence
from fairdsl.syntax import tree

C = TypeVar("C", bound=tree.Node)


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyScope:
    """What a property may name. Models and distributions that failed their checks are known but empty."""

    models: Mapping[str, CheckedModel | None]
    protected: Sequence[str]
    distributions: Mapping[str, CheckedDistribution | None]
    labels: Mapping[str, LabelDeclaration]
    graphs: Mapping[str, tuple[tree.Graph, frozenset[tuple[str, str]]]]
    conditions: Mapping[str, tree.NamedCondition]
    metrics: Mapping[str, tree.Metric | None]
    domains: Sequence[str]


def check_property(node: tree.Property, scope: PropertyScope, reporter: Reporter) -> CheckedProperty | None:
    """The property with its demands, or None after reporting what is wrong with it."""
    own = Reporter()
    checked = _check(node, scope, own)
    reporter.extend(own)
    return None if own.has_errors else checked


def _check(node: tree.Property, scope: PropertyScope, reporter: Reporter) -> CheckedProperty | None:
    _check_clause_set(node, reporter)
    node = _without_misplaced_conditions(node, reporter)
    compare, across = first(node, tree.CompareClause), first(node, tree.AcrossClause)
    models = _models(node, scope, reporter)
    if models is None or (compare is None) == (across is None):
        return None
    model = models.about
    demands: tuple[Demand, ...]
    if compare is not None:
        labels = {name: label.span for name, label in scope.labels.items()}
        demands = PairBuilder(
            node=node,
            compare=compare,
            model=model,
            models=scope.models,
            main=models.main,
            protected=scope.protected,
            conditions=scope.conditions,
            distributions=scope.distributions,
            domains=scope.domains,
            labels=labels,
            reporter=reporter,
        ).demands()
    else:
        demands = GroupBuilder(
            node=node,
            model=model,
            models=scope.models,
            protected=scope.protected,
            distributions=scope.distributions,
            graphs=scope.graphs,
            metrics=scope.metrics,
            conditions=scope.conditions,
            reporter=reporter,
        ).demands()
    if len(demands) < _demanded(node) or reporter.has_errors or any(map(_misses_its_label, demands)):
        return None
    derived = next((each.question.derived for each in demands if isinstance(each.question, GroupMetric)), ())
    under = first(node, tree.UnderClause)
    population = None if under is None else scope.distributions[under.distribution.text]
    columns, outcomes = with_columns(model.domain, derived), model.declaration.outcomes
    reporter.extend(misread(node, demands, columns, scope.protected, population, outcomes))
    name = model.declaration.name
    lead = next((demand for demand in demands if demand.quantity is Quantity.HOLDS), demands[0])
    every = [_words(demand, model, scope) for demand in (lead, *(each for each in demands if each is not lead))]
    stated = tuple(demand.text for demand in demands if demand.precision is not None or demand.certain is not None)
    if compare is not None and under is not None and lead.under is None:
        stated = (f"under {under.distribution.text}", *stated)
    return CheckedProperty(
        name=node.name.text,
        title=node.sentence.value if node.sentence else None,
        model=name,
        domain=model.domain,
        demands=demands,
        clauses=(*every[0].clauses, *stated),
        sentences=tuple(dict.fromkeys(words.sentence for words in every)),
        formulas=_said_once([words.formula for words in every]),
        span=node.name.span,
    )


def _demanded(node: tree.Property) -> int:
    """How many demands are written, of which an influence may be several."""
    measured = (len(clause.items) for clause in node.clauses if isinstance(clause, tree.MeasureClause))
    return sum(measured) + sum(isinstance(clause, tree.RequireClause) for clause in node.clauses)


def _said_once(formulas: Sequence[str]) -> tuple[str, ...]:
    """The formulas, but those that an earlier one has as what a letter stands for."""
    found: list[str] = []
    for each in formulas:
        if not any(each == other or f" = {each}\n" in f"{other}\n" for other in found):
            found.append(each)
    return tuple(found)


def _misses_its_label(demand: Demand) -> bool:
    """Whether nobody knows who deserves what is asked about: the label was lost with what could not be read."""
    asked = demand.question
    return isinstance(asked, GroupMetric) and asked.metric.rate.about_deserving and asked.deserving is None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """A question in words."""

    clauses: tuple[str, ...]
    sentence: str
    formula: str


def _words(demand: Demand, model: CheckedModel, scope: PropertyScope) -> _Words:
    """A demand's question in words."""
    question, name = demand.question, model.declaration.name
    population = None if demand.under is None else scope.distributions[demand.under]
    drawn = population is not None and population.kind != "empirical"
    if isinstance(question, Demanded):
        named = [found.declaration for each in question.models if (found := scope.models[each]) is not None]
        told = DemandWords(question, model.domain, demand.under, drawn, named)
        asked = (demand.quantity, demand.threshold)
        return _Words(clauses=told.clauses, sentence=told.sentence(*asked), formula=told.formula(*asked))
    if isinstance(question, Pair):
        given = "" if demand.given == TRUE else f" given {predicate_text(demand.given, model.domain)}"
        under = [f"under {demand.under}{given}"] if demand.under else []
        return _Words(
            clauses=(*clauses_in_force(question, model.domain), *under),
            sentence=sentence(
                question,
                model.domain,
                name,
                demand.quantity,
                demand.threshold,
                under=demand.under,
                drawn=drawn,
                given=demand.given,
            ),
            formula=formula(question, model.domain, name, demand.quantity),
        )
    words = _group_words(demand.of, question, model, scope)
    if demand.less is None:
        return _Words(
            clauses=words.clauses(question),
            sentence=words.sentence(question, demand.threshold, demand.precision),
            formula=words.formula(question, demand.threshold),
        )
    other = _group_words(demand.less.of, demand.less.question, model, scope)
    limit = f" {demand.threshold.relation.value} {demand.threshold.text}" if demand.threshold else ""
    both = (words.formula(question, None), other.formula(demand.less.question, None))
    return _Words(
        clauses=words.clauses(question),
        sentence=words.sentence(question, demand.threshold, less=other.subject(demand.less.question)),
        formula="\n".join((f"Q - Q'{limit}", *(f"{q} = {each}" for q, each in zip(("Q ", "Q'"), both, strict=True)))),
    )


def _group_words(of: str | None, question: GroupMetric, model: CheckedModel, scope: PropertyScope) -> GroupWords:
    """The words about a metric ``of`` a model; None: of the property's."""
    asked = model if of is None else scope.models[of]
    assert asked is not None, "a demand is about models that could be read"
    population = scope.distributions[question.population] if question.population else None
    outcomes, favourable = asked.declaration.outcomes, asked.declaration.favourable
    return GroupWords(
        columns=domain_with_label(
            with_columns(asked.domain, question.derived), population.label if population else None
        ),
        model=asked.declaration.name,
        outcomes=outcomes,
        favourable="favourable" if favourable is None else outcomes[favourable],
        protected=scope.protected,
    )


def first(node: tree.Property, kind: type[C]) -> C | None:
    """The first clause of a kind."""
    return next((clause for clause in node.clauses if isinstance(clause, kind)), None)


def _check_clause_set(node: tree.Property, reporter: Reporter) -> None:
    """Which clauses stand together: pairs are compared, groups are run across, and neither mixes."""
    compare, across = first(node, tree.CompareClause), first(node, tree.AcrossClause)
    name = node.name
    if compare is None and across is None:
        reporter.report(
            errors.clause_missing(
                name.text,
                name.span,
                "says neither who is compared nor which groups",
                "write `compare a, b : DOMAIN` and `differ in ...`, or `across ...` and `under ...`",
            )
        )
    if compare is not None and across is not None:
        reporter.report(
            errors.clause_out_of_place(
                "across",
                across.span,
                "`compare` asks about pairs of individuals, `across` about groups of a population",
                "write two properties",
            )
        )
    if not any(isinstance(clause, tree.RequireClause | tree.MeasureClause) for clause in node.clauses):
        reporter.report(
            errors.clause_missing(
                name.text, name.span, "requires and measures nothing", "add a line such as `require same decision`"
            )
        )
    compared = (tree.About.PAIRS, tree.About.INDIVIDUALS)
    foreign = (tree.About.GROUPS,) if compare is not None else compared
    for clause in node.clauses:
        if clause.FORM.about in foreign and (compare is None) != (across is None):
            kind = "compares pairs" if compare is not None else "is about groups"
            word = clause.span.text.split()[0]
            reporter.report(
                errors.clause_out_of_place(
                    word,
                    clause.span,
                    f"this property {kind}",
                    _instead_of(word, clause),
                )
            )
    for clause in node.clauses:
        for asked in _confidences(clause):
            check_share("confidence", "=", asked, reporter)
    _check_repetitions(node, reporter)


def _confidences(clause: tree.Clause) -> list[tree.Number]:
    """Those that ask for an interval; beside `within` they say how sure an estimate is, which is checked with it."""
    match clause:
        case tree.RequireClause(confidence=tree.Number() as asked):
            return [asked]
        case tree.MeasureClause(items=items):
            return [item.confidence for item in items if item.confidence is not None and item.within is None]
    return []


def _check_repetitions(node: tree.Property, reporter: Reporter) -> None:
    kinds = dict.fromkeys(type(clause) for clause in node.clauses if clause.FORM.once)
    for kind in kinds:
        found = [clause for clause in node.clauses if isinstance(clause, kind)]
        for extra in found[1:]:
            word = extra.span.text.split()[0]
            remedy = _joined(found) if isinstance(extra, tree.DifferClause | tree.AcrossClause) else ""
            first_span = found[0].span
            reporter.report(
                errors.declared_twice("clause", word, extra.span, first_span, word="written", remedy=remedy)
            )


def _joined(clauses: Sequence[tree.Clause]) -> str:
    """Several lines of attributes as the one that is meant."""
    names = dict.fromkeys(
        name.text
        for clause in clauses
        if isinstance(clause, tree.DifferClause | tree.AcrossClause)
        for name in clause.names
    )
    if isinstance(clauses[0], tree.AcrossClause):
        return f"write `across {', '.join(names)}` for the groups of all of them"
    if len(names) == 1:
        return "remove one of them"
    modes = {clause.mode for clause in clauses if isinstance(clause, tree.DifferClause)} - {None}
    mode = "each" if modes == {tree.DifferMode.EACH} else "any"
    other = "" if modes else ", or `each` for those who differ in each of them"
    return f"write `differ in {mode} {', '.join(names)}`{other}"


def _instead_of(word: str, clause: tree.Clause) -> str:
    """What to write for a clause of the other kind of property."""
    match clause:
        case tree.StrataClause(names=names):
            listed = ", ".join(name.text for name in names)
            return f"remove it: a pair is compared at equal values of {listed} where no clause names them"
        case _:
            return f"remove `{word}`, or write a property of the other kind"


def _without_misplaced_conditions(node: tree.Property, reporter: Reporter) -> tree.Property:
    """The property without ``when age > 20``: `when` is about the model's confidence, and nothing else is."""
    kept: list[tree.Clause] = []
    for clause in node.clauses:
        if not isinstance(clause, tree.WhenClause) or any(isinstance(n, tree.Call) for n in walk(clause.condition)):
            kept.append(clause)
        elif first(node, tree.AcrossClause) is None:
            reporter.report(
                errors.clause_out_of_place(
                    "when",
                    clause.span,
                    "here `when` asks for the model's confidence, as in `when confidence(a) >= 0.9`",
                    f"write `among {clause.condition.span.text}` for a condition on the people who are compared",
                )
            )
    return node if len(kept) == len(node.clauses) else replace(node, clauses=tuple(kept))


class _Models(NamedTuple):
    """The model that a property is about, and the one that ``score(a)`` alone is about, where it says which."""

    about: CheckedModel
    main: str | None


def _models(node: tree.Property, scope: PropertyScope, reporter: Reporter) -> _Models | None:
    """Named in the property, called in its demands, or the only one."""
    named = [clause.name for clause in node.clauses if isinstance(clause, tree.ModelReference)]
    called = _called_models(node, scope)
    for name in (*named, *called):
        if name.text not in scope.models:
            reporter.report(errors.unknown_declaration("model", name.text, name.span, tuple(scope.models)))
            return None
    if not (named or called):  # a property that compares models is about the first of them
        named = [part.model for part in walk(node) if isinstance(part, tree.OfModel)][:1]
        if named and named[0].text not in scope.models:
            reporter.report(errors.unknown_declaration("model", named[0].text, named[0].span, tuple(scope.models)))
            return None
    candidates = dict.fromkeys(name.text for name in named or called) or dict.fromkeys(scope.models)
    if not candidates:
        reporter.report(
            errors.clause_missing(
                node.name.text,
                node.name.span,
                "has no model to be about",
                'declare one: `model NAME : DOMAIN -> { refuse, grant } from "model.onnx" grant when score > 0`',
            )
        )
        return None
    about = next(iter(candidates))
    if len(candidates) > 1 and not called:
        reporter.report(
            errors.say_which("model", node.name.span, tuple(candidates), f"write `model {about}` in the property")
        )
        return None
    checked = scope.models[about]
    return None if checked is None else _Models(checked, about if len(candidates) == 1 else None)


def _called_models(node: tree.Property, scope: PropertyScope) -> list[tree.Name]:
    """Models that demands and conditions call: in ``approve(a) = approve(b)``, in ``new.score(a)``."""
    demands = [clause.demand for clause in node.clauses if isinstance(clause, tree.RequireClause)]
    targets = [clause.condition for clause in node.clauses if isinstance(clause, tree.AmongClause)]
    known = [(call, True) for part in demands for call in calls_in(part)]
    known += [(call, False) for part in targets for call in calls_in(part)]
    return [
        call.function if call.owner is None else call.owner
        for call, demanded in known
        if call.owner is not None
        or call.function.text in scope.models
        or (demanded and call.function.text not in (*FUNCTIONS, *TERMS))
    ]
