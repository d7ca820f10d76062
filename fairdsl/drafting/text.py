"""The text of the first spec: declarations, with a comment behind each choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fairdsl.drafting.columns import Column, declared_type
from fairdsl.drafting.fit import Fit, model_text
from fairdsl.drafting.label import Label
from fairdsl.drafting.words import in_comment, quoted
from fairdsl.ir.domain import Boolean, Category, Real, show_number

#: Rows that a rate needs at least to be listed with the others.
_ROWS = 30
#: Protected attributes that groups are made of at once.
_AT_ONCE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """All that a first spec is written from."""

    #: The title of the audit: the table's file name.
    title: str
    #: The table's path as the spec writes it, and how many rows it has.
    data: str
    rows: int
    #: The attributes.
    attributes: Sequence[Column]
    #: The columns that are not attributes.
    left_out: Sequence[Column]
    #: The protected ones, each with why it is taken for one.
    protected: Sequence[tuple[Column, str]]
    #: Rules that all rows obey, as comments.
    rules: Sequence[str]
    label: Label | None
    #: The model's path as the spec writes it, and how it reads the attributes.
    model: tuple[str, Fit] | None


def domain_text(attributes: Sequence[Column], protected: Sequence[Column]) -> str:
    """The domain and what is protected in it, on which models can be tried."""
    return "\n".join(["fair 1", *_domain_lines(attributes, protected), *_protected_line(protected)]) + "\n"


def _domain_lines(
    attributes: Sequence[Column], protected: Sequence[Column], extra: Sequence[str] = ()
) -> Iterator[str]:
    yield "domain Person {"
    for column in attributes:
        bins = _bins(column) if column in protected and column.numeric else ""
        why = f"  # {column.why}" if column.why else ""
        yield f"  {_with_bins(declared_type(column), column, bins)}{why}"
    yield from extra
    yield "}"


def _protected_line(protected: Sequence[Column]) -> list[str]:
    return [f"protected {', '.join(column.name for column in protected)}"] if protected else []


def _with_bins(declared: str, column: Column, bins: str) -> str:
    """The declaration of an attribute; bins stand before the header."""
    kind, header, rest = declared.partition(' column "')
    return f"{column.name} : {kind}{bins}{header}{rest}"


def _bins(column: Column) -> str:
    """Quartiles; of numbers that may be missing their edges, as they are in the rows."""
    if not column.gaps:
        return "  bins by quantiles 4"
    return f"  bins at {', '.join(map(show_number, column.quartiles))}" if column.quartiles else ""


def spec_text(parts: Parts) -> str:
    """The whole spec; not laid out yet."""
    return "\n".join([*_head(parts), *_domain(parts), *_label(parts), *_model(parts), *_properties(parts)]) + "\n"


def _head(parts: Parts) -> Iterator[str]:
    yield "# A draft: read every line. What is assumed of people, and what is required, is decided by whoever signs."
    yield f"# Drafted from {in_comment(parts.data)}, {parts.rows:,} rows."
    title = parts.title.replace('"', "'")
    yield f'fair 1\naudit "{title}"'


def _domain(parts: Parts) -> Iterator[str]:
    """The domain, and why each protected attribute is taken for one."""
    protected = [column for column, _ in parts.protected]
    offered = ["", *_offered(parts.rules)] if parts.rules else []
    left_out = [f"# left out: {in_comment(column.header)}: {column.why}" for column in parts.left_out]
    yield from _domain_lines(parts.attributes, protected, [*offered, *left_out])
    if not protected:
        yield "# Nothing looks protected by its name or values. Write: protected NAME, NAME"
    yield from (f"# {column.name}: {why}" for column, why in parts.protected)
    yield from _protected_line(protected)


def _offered(rules: Sequence[str]) -> Iterator[str]:
    yield "# No row contradicts these; take the `#` away where nobody can:"
    for rule in rules:
        yield from (f"# {line}" for line in rule.splitlines())


def _label(parts: Parts) -> Iterator[str]:
    label = parts.label
    if label is not None and parts.model is not None:
        why = f"  # {label.column.why}" if label.unknown else ""
        yield f"label {label.column.name} : {declared_type(label.column)}{why}"
        if label.two_valued or isinstance(label.column.type, Category):
            yield f"# Who deserves the favourable outcome is yours to say: deserving {_deserving(label)}"
    yield ""


def _deserving(label: Label) -> str:
    """The label's positive value as the clause writes it."""
    if isinstance(label.column.type, Boolean):
        return "no" if label.reversed else "yes"
    return label.condition.partition(" = ")[2]


def _model(parts: Parts) -> Iterator[str]:
    if parts.model is not None:
        written, fit = parts.model
        yield f"# {fit.why}"
        yield f"# {fit.decision.why}." if fit.decision.why else "# Which outcome is favourable is yours to say."
        yield model_text(written, fit.way, fit.decision)
    elif parts.label is not None:
        label = parts.label
        yield "# No model was named: what was recorded is audited. `--model FILE` drafts for a model."
        yield f"# Of {in_comment(label.column.header)} {label.why}."
        if label.unknown:
            yield f"# Who has none counts as negative ({label.column.why}): leave these rows out otherwise."
        yield "model recorded : Person -> { negative, positive }"
        yield f"  positive when {label.condition}"
        yield "  favourable positive\n"
    else:
        yield "# No model and no label were named: `--model FILE` or `--label COLUMN` drafts properties, too."
        return
    yield f"distribution rows over Person{_and_label(parts)}\n  empirical\n  from {quoted(parts.data)}\n"


def _and_label(parts: Parts) -> str:
    return f", {parts.label.column.name}" if parts.label is not None and parts.model is not None else ""


def _properties(parts: Parts) -> Iterator[str]:
    protected = [column for column, _ in parts.protected]
    if not protected or (parts.model is None and parts.label is None):
        return
    names = ", ".join(column.name for column in protected)
    of_any = f"any {names}" if len(protected) > 1 else names
    either = " or ".join(filter(None, [", ".join(c.name for c in protected[:-1]), protected[-1].name]))
    if parts.model is not None:
        yield _pair(
            "same_decision", f"Nobody should be decided otherwise for {either} alone", of_any, "require same decision"
        )
        # Real numbers and those who have none make no area: of rows there is a share, where what differs is listed.
        mixed = [column for column in parts.attributes if column.gaps and isinstance(column.type, Real)]
        demand = "under rows\n  measure fair_share" if mixed else "measure fair_share within 1%"
        if not any(column in mixed for column in protected):
            yield _pair("share", f"How many are decided alike, whatever their {either}?", of_any, demand)
    demands = ["require impact_ratio >= 80%", "measure parity_gap"]
    for column in protected:
        yield _group(f"rates_by_{column.name}", f"The four-fifths rule by {column.name}", [column], demands)
    if parts.model is not None and parts.label is not None and isinstance(parts.label.column.type, Category | Boolean):
        for column in protected:
            title = f"Errors of both kinds by {column.name}"
            yield _group(f"errors_by_{column.name}", title, [column], _errors(parts.label))
    if len(protected) > 1:
        both = protected[:_AT_ONCE]
        title = f"Rates of every combination of {', '.join(column.name for column in both)}"
        yield _group("rates_of_intersections", title, both, ["measure impact_ratio"])


def _errors(label: Label) -> list[str]:
    """The gaps in errors: of those alone of whom it is known what became of them."""
    if not label.unknown:
        return ["measure odds_gap"]
    cases = [f"{label.column.name} = {quoted(value)}" for value in label.known]
    return [f"measure gap(rate(favourable given {case}))" for case in cases]


def _pair(name: str, title: str, differ: str, demand: str) -> str:
    return f'property {name} "{title}" {{\n  compare a, b : Person\n  differ in {differ}\n  {demand}\n}}\n'


def _group(name: str, title: str, across: Sequence[Column], demands: Sequence[str]) -> str:
    names = ", ".join(column.name for column in across)
    lines = [f"across {names}", "under rows", f"excluding groups below {_ROWS} rows", *demands]
    return f'property {name} "{title}" {{\n  {chr(10).join(lines)}\n}}\n'
