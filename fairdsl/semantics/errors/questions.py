"""Questions that would not mean what they seem to: E04, one constructor a code."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic, Label
from fairdsl.source import Span


def edge_not_in_graph(source: str, target: str, span: Span, graph: str, declared: Span) -> Diagnostic:
    """An `allow`ed path takes an edge that the graph does not have."""
    return Diagnostic(
        code="E0401",
        title=f"`{source} -> {target}` is not an edge of `{graph}`",
        primary=Label(span, "no such edge"),
        secondary=(Label(declared, "the graph"),),
        help="add the edge to the graph, or allow a path that it has",
    )


def path_ends_wrong(span: Span, why: str, help_text: str) -> Diagnostic:
    """An `allow`ed path does not run from an attribute of `across` to the model, and through no other one."""
    return Diagnostic(
        code="E0402",
        title="an allowed path runs from a protected attribute to the model",
        primary=Label(span, why),
        why="only such paths carry the influence that the property is about",
        help=help_text,
    )


def not_one_group(clause: str, span: Span, what: str, bins: str = "") -> Diagnostic:
    """`baseline` and `privileged` must fix every attribute of `across` and nothing else; ``bins`` may be picked."""
    choice = ", or write `most_favoured`" if clause == "baseline" else ""
    return Diagnostic(
        code="E0403",
        title=f"`{clause}` must pick exactly one group",
        primary=Label(span, what),
        why="the metric is measured against that group",
        help=f"write one of {bins}{choice}"
        if bins
        else f"fix every attribute of `across` and no other, as in `sex = male and race = white`{choice}",
    )


def recanting_witness(source: str, mediator: str, span: Span) -> Diagnostic:
    """One edge out of a protected attribute is both allowed and forbidden, depending on what follows."""
    return Diagnostic(
        code="E0404",
        title=f"`{source} -> {mediator}` is allowed on one path and forbidden on another",
        primary=Label(span, f"the effect through `{mediator}` cannot be split"),
        why="such a path-specific effect cannot be identified from data (a recanting witness)",
        help=f"allow all paths that begin with `{source} -> {mediator}`, or none",
    )


def no_written_graph(span: Span, distribution: str, has: str) -> Diagnostic:
    """A path-specific metric over a structure found by search, or under a population without a structure."""
    return Diagnostic(
        code="E0405",
        title="path-specific metrics need a graph that somebody wrote",
        primary=Label(span, f"`{distribution}` {has}"),
        why="a structure found by search predicts; it does not say what causes what",
        help="declare `graph NAME { a -> b ... }` and write `learn NAME` in the distribution",
    )


def clause_missing(property_name: str, span: Span, what: str, help_text: str) -> Diagnostic:
    """A property lacks a clause that its question needs."""
    return Diagnostic(
        code="E0406",
        title=f"property `{property_name}` {what}",
        primary=Label(span),
        help=help_text,
    )


def derived_out_of_place(name: str, span: Span, declared: Span | None) -> Diagnostic:
    """A derived attribute where somebody would have to choose its value."""
    return Diagnostic(
        code="E0419",
        title=f"`{name}` is derived, so its value cannot be chosen here",
        primary=Label(span),
        secondary=(Label(declared, "what it is derived from"),) if declared else (),
        why="it follows from other attributes, or from the score: no two people differ in it while all else is equal",
        help="name what it is derived from; a derived attribute may stand in conditions, `across` and `for each`",
    )


def any_or_all(span: Span, names: Sequence[str]) -> Diagnostic:
    """Several differing attributes without saying how they differ."""
    listing = ", ".join(names)
    return Diagnostic(
        code="E0407",
        title="say whether `any` or `each` of the attributes differs",
        primary=Label(span, f"{len(names)} attributes"),
        why="the two are different questions: a pair that differs in one attribute only counts under `any` alone",
        help=f"write `differ in any {listing}` or `differ in each {listing}`",
    )


def nothing_left_to_compare(
    attribute: str, value: str, span: Span, cause: Span | None, *, by_domain: bool = False
) -> Diagnostic:
    """A condition of `among`, or of the domain, fixes an attribute that must differ."""
    return Diagnostic(
        code="E0408",
        title=f"`{attribute}` must differ, but only {value} is left of it",
        primary=Label(span, "must differ"),
        secondary=(Label(cause, f"leaves only {value}"),) if cause else (),
        why=f"both individuals obey {'the domain' if by_domain else '`among`'}, so no two of them differ in it and "
        "naming it says nothing",
        help=f"correct the domain's `where`, or take `{attribute}` out of `differ in`"
        if by_domain
        else f"take `{attribute}` out of `among`, or out of `differ in`",
    )


def excludes_everybody(
    what: str, span: Span, detail: str, *, further: Sequence[Span] = (), whom: str = "everybody"
) -> Diagnostic:
    """A condition or domain constraint that nobody meets, or no pair; ``further`` conditions take part in it."""
    return Diagnostic(
        code="E0409",
        title=f"{what} excludes {whom}",
        primary=Label(span, detail),
        secondary=tuple(Label(other, "and this") for other in further),
        why="a property about nobody holds of any model",
        help="loosen the condition so that some individual of the domain meets it"
        if whom == "everybody"
        else "loosen the condition, or let what it compares be unequal (`within 5 in ...`, `regardless of ...`)",
    )


def too_few_values(
    attributes: str, span: Span, declared: Span | None = None, *, left: int = 1, people: int = 2, mode: str = ""
) -> Diagnostic:
    """A differing attribute that has a single value to begin with, or fewer values than each two of several need."""
    if left == 1:
        title, detail = f"`{attributes}` has one value only, so it cannot differ", "must differ"
        reason = (
            "under `each` every named attribute differs, so no pair exists and the property would hold of any model"
            if mode == "each"
            else "no two individuals differ in it, so naming it says nothing"
        )
        remedy = "give the attribute its other values in the domain, or do not name it here"
    else:
        many = f"{left} values" if "," not in attributes else f"{left} combinations of values"
        title, detail = f"`{attributes}` has {many}, so {people} individuals cannot all differ in it", "each two differ"
        reason = "nobody is compared, so the property would hold of any model"
        remedy = "compare fewer individuals, or differ in an attribute with more values"
    return Diagnostic(
        code="E0410",
        title=title,
        primary=Label(span, detail),
        secondary=(Label(declared, "declared with one value"),) if declared else (),
        why=reason,
        help=remedy,
    )


def relaxed_wrongly(attribute: str, span: Span, other: Span, what: str) -> Diagnostic:
    """`within` or `regardless of` about an attribute that differs, or twice about one attribute."""
    return Diagnostic(
        code="E0411",
        title=f"`{attribute}` is {what}",
        primary=Label(span, "here"),
        secondary=(Label(other, "and here"),),
        why="the two clauses say different things about the same attribute",
        help="keep one of them",
    )


def model_incomplete(model: str, span: Span, what: str, help_text: str) -> Diagnostic:
    """A model lacks its source, its decision rule or its favourable outcome, or has two of one."""
    return Diagnostic(
        code="E0412",
        title=f"model `{model}` {what}",
        primary=Label(span),
        why="nothing about a decision is assumed: the audit has to say it",
        help=help_text,
    )


def clause_out_of_place(clause: str, span: Span, why: str, help_text: str) -> Diagnostic:
    """A clause (or metric) that does not belong to this kind of property."""
    return Diagnostic(
        code="E0413",
        title=f"`{clause}` does not belong in this property",
        primary=Label(span),
        why=why,
        help=help_text,
    )


def demand_not_understood(span: Span, help_text: str) -> Diagnostic:
    """A `require` that is neither a bounded metric nor, of pairs, the same decision or a bounded score gap."""
    return Diagnostic(
        code="E0414",
        title="this demand says nothing that a verdict could decide",
        primary=Label(span),
        help=help_text,
    )


def rule_not_understood(span: Span, why: str, help_text: str) -> Diagnostic:
    """A decision rule of a form that means nothing definite."""
    return Diagnostic(
        code="E0415",
        title="this decision rule does not say who gets which outcome",
        primary=Label(span, why),
        help=help_text,
    )


def setting_out_of_place(setting: str, span: Span, why: str, help_text: str) -> Diagnostic:
    """A setting that nothing in force reads."""
    return Diagnostic(
        code="E0417",
        title=f"`set {setting}` changes nothing here",
        primary=Label(span, why),
        why="a reader of the audit would believe that it is in force",
        help=help_text,
    )


def no_metric(span: Span, why: str, help_text: str) -> Diagnostic:
    """What is written as a metric is none."""
    return Diagnostic(
        code="E0418",
        title="this is not a metric of groups",
        primary=Label(span),
        why=why,
        help=help_text,
    )


def metric_needs(metric: str, span: Span, what: str, help_text: str) -> Diagnostic:
    """A metric without the label, population, group or path that defines it."""
    return Diagnostic(
        code="E0416",
        title=f"`{metric}` needs {what}",
        primary=Label(span),
        help=help_text,
    )
