"""Which feature of the spec fills which input of the file."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.ir.binding import BoundBy
from fairdsl.ir.declaration import ModelDeclaration
from fairdsl.ir.domain import Boolean, Category, Domain, Real
from fairdsl.ir.feature import AttributeInput, Form
from fairdsl.ir.model import Feed
from fairdsl.models import errors
from fairdsl.models.basis import Whole
from fairdsl.models.binding.absent import codes_of_missing
from fairdsl.models.binding.early import early_forms
from fairdsl.models.binding.indicators import form_of, values_of
from fairdsl.models.graph import MISSING, GraphInput, GraphInputs, ImportedGraph
from fairdsl.models.marks import Ends
from fairdsl.source import Span

#: So many attributes are written out in a `reads` at most.
_FEATURES = 12
#: Integers of a file have 32 bits or more.
_LARGEST_INTEGER = 2**31 - 1


def feeds_width(declaration: ModelDeclaration, domain: Domain) -> int:
    """How many numbers the spec gives the model."""
    return len(domain.attributes) if declaration.reads is None else len(declaration.reads)


def bind(declaration: ModelDeclaration, domain: Domain, graph: GraphInputs, span: Span) -> tuple[Form, ...]:
    """One form per number that the file reads, in the file's order; raises DiagnosticError.

    ``reads`` fills the inputs in its own order. Without it, inputs that carry names (one tensor or
    one coefficient a feature) are bound to the attribute of that name or column; a single tensor of
    several numbers takes the attributes in the order of the domain.
    """
    match bound_by(declaration, domain, graph):
        case BoundBy.READS:
            forms = declaration.reads or ()
        case BoundBy.NAME:
            forms = _by_name(graph, _input_names(graph) or (), domain, span)
        case BoundBy.ORDER:
            forms = tuple(Form.of(AttributeInput(i)) for i in range(len(domain.attributes)))
    if len(forms) != graph.width:
        raise DiagnosticError(_width(declaration, domain, graph, span))
    _check_dtypes(graph, forms, domain, span)
    return forms


def feeds_of(graph: GraphInputs, forms: Sequence[Form], domain: Domain) -> tuple[Feed, ...]:
    """What fills each input of the file, where ``forms`` are its numbers in the file's order."""
    feeds, start = [], 0
    for item in graph.inputs:
        features = tuple(range(start, start + item.width))
        own = forms[start : start + item.width]
        codes = codes_of_missing(own, domain) if item.dtype.startswith("float") else ()
        missing = codes if any(code is not None for code in codes) else ()
        texts = texts_of(item, own, domain)
        feeds.append(Feed(name=item.name, features=features, dtype=item.dtype, texts=texts, missing=missing))
        start += item.width
    return tuple(feeds)


def texts_of(item: GraphInput, forms: Sequence[Form], domain: Domain) -> tuple[tuple[tuple[int, str], ...], ...]:
    """For each of the input's ``forms`` the text that stands for each of its numbers; empty of inputs of numbers."""
    return tuple(_named(form, domain) for form in forms) if item.dtype == "string" else ()


def few_values(forms: Sequence[Form], domain: Domain) -> dict[int, tuple[Fraction, ...]]:
    """The values of those forms that are one attribute with few, which nobody lacks, by the form's place."""
    found = {}
    for place, form in enumerate(forms):
        listed = values_of(form, domain.attributes)
        if listed is not None and domain.attributes[listed[0]].missing is None:
            found[place] = tuple(sorted(set(listed[1].values())))
    return found


def _named(form: Form, domain: Domain) -> tuple[tuple[int, str], ...]:
    """The names that stand for the codes of the category that the form is, as :func:`bind` has seen to."""
    ((item, _),) = form.terms
    assert isinstance(item, AttributeInput)
    attribute = domain.attributes[item.attribute]
    assert isinstance(attribute.type, Category)
    missing = attribute.missing
    return tuple((value.code, MISSING if value.code == missing else value.name) for value in attribute.type.values)


def bound_by(declaration: ModelDeclaration, domain: Domain, graph: GraphInputs) -> BoundBy:
    """What says which feature of the spec fills which input of the file."""
    if declaration.reads is not None:
        return BoundBy.READS
    names = _input_names(graph)
    if names is not None and (len(names) > 1 or graph.feature_names is not None or _known(names[0], domain)):
        return BoundBy.NAME
    return BoundBy.ORDER


def check_whole(graph: ImportedGraph, forms: Sequence[Form], domain: Domain, span: Span) -> None:
    """Check what the file takes for granted of the numbers that it reads as integers.

    All are integers in the domain, so that a cast cuts nothing off, and those that are looked up in a list without a
    place for others are in the list. Raises DiagnosticError, and EntangledError.
    """
    blocks = graph.basis.blocks
    read = {number for whole in graph.basis.whole for number in whole.value.parts}
    units = early_forms(blocks, [number for number in read if blocks[number].testing is not None], forms, domain)
    for whole in graph.basis.whole:
        for element in range(whole.value.size):
            problem = _objection(whole, form_of(whole.value, element, units), domain)
            if problem is not None:
                reason, remedy = problem
                raise DiagnosticError(
                    errors.node_not_exact(graph.path, whole.operator, whole.node, reason, remedy, span)
                )


def _objection(whole: Whole, form: Form, domain: Domain) -> tuple[str, str] | None:
    """Why a number cannot be read as the node reads it, and what to do; None where it can."""
    listed = values_of(form, domain.attributes) if len(form.terms) > 1 else None
    if listed is not None and all(value.denominator == 1 for value in listed[1].values()):
        return _unlisted(whole, {int(value) for value in listed[1].values()})
    if not _is_whole(form, domain):
        return (
            "it turns a number that need not be a whole one into an integer, which cuts its fraction off",
            "declare the attribute as `integer`, or export the model without this step",
        )
    return _unlisted(whole, None if whole.codes is None else _values(form, domain, len(whole.codes)))


def _unlisted(whole: Whole, others: set[int] | None) -> tuple[str, str] | None:
    """Why values, None where they are not known, may be none of those in the node's list."""
    if whole.codes is None:
        return None
    unlisted = None if others is None else sorted(others - whole.codes)
    if unlisted == []:
        return None
    which = "others may be filled in" if unlisted is None else f"{unlisted[0]} may be filled in"
    return (
        f"{whole.otherwise}, and {which}",
        "declare only values that the model was trained on, or train with `handle_unknown='ignore'`",
    )


def _values(form: Form, domain: Domain, most: int) -> set[int] | None:
    """What a form of integers can be, of many only ``most`` + 1: of one input, or of indicators alone, as if these had
    nothing to do with each other, as bins are. None of any other form.
    """
    found = {int(form.constant)}
    for item, factor in form.terms:
        values: Sequence[int] | None = (0, 1)
        if isinstance(item, AttributeInput):
            values = None if len(form.terms) > 1 else domain.attributes[item.attribute].values
        if values is None:
            return None
        first = list(itertools.islice(values, most + 1))  # a range may be long; one value too many shows the same
        found = {start + int(factor * value) for start in found for value in first}
        if len(found) > most:
            break
    return found


def _is_whole(form: Form, domain: Domain) -> bool:
    """Whether every value of the form is an integer, and none too large."""
    reach = abs(form.constant)
    if any(number.denominator != 1 for number in (form.constant, *(factor for _, factor in form.terms))):
        return False
    for item, factor in form.terms:
        ends: tuple[Fraction | None, ...] = (Fraction(1),)
        if isinstance(item, AttributeInput):
            if isinstance(domain.attributes[item.attribute].type, Real):
                return False
            ends = domain.attributes[item.attribute].bounds
        reach += abs(factor) * max(abs(end) for end in ends if end is not None)
    return reach <= _LARGEST_INTEGER


def _input_names(graph: GraphInputs) -> tuple[str, ...] | None:
    """The file's own names of the numbers it reads, if it has any."""
    if graph.feature_names is not None:
        return graph.feature_names
    if graph.inputs and all(item.width == 1 for item in graph.inputs):
        return tuple(item.name for item in graph.inputs)
    return None


def _known(name: str, domain: Domain) -> bool:
    return any(name in (attribute.name, attribute.column) for attribute in domain.attributes)


def _by_name(graph: GraphInputs, names: Sequence[str], domain: Domain, span: Span) -> tuple[Form, ...]:
    places: dict[str, int] = {}
    for position, attribute in enumerate(domain.attributes):
        places[attribute.name] = position
    for position, attribute in enumerate(domain.attributes):
        if attribute.column is not None:  # the file's own spelling wins over another attribute's name
            places[attribute.column] = position
    missing = [name for name in names if name not in places]
    if missing:
        known = [attribute.column or attribute.name for attribute in domain.attributes]
        reason = "no attribute and no `column` has this name"
        raise DiagnosticError(
            errors.input_not_bound(graph.path, missing, known, reason, span, *_renamed(missing[0], domain))
        )
    for place in set(places.values()):
        shared = [name for name in dict.fromkeys(names) if places[name] == place]
        if len(shared) > 1:  # an attribute's name and its `column`: one of the two inputs is somebody else's
            reason = f"`{domain.attributes[place].name}` would fill both"
            raise DiagnosticError(errors.input_not_bound(graph.path, shared, [], reason, span))
    return tuple(Form.of(AttributeInput(places[name])) for name in names)


def _renamed(name: str, domain: Domain) -> tuple[str, ...]:
    """What to do where skl2onnx has written a column's header as a name (`hours-per-week` as `hours_per_week`)."""
    written = [re.sub(r"^(?=[0-9])", "_", re.sub(r"[^\w+]", "_", item.column or "")) for item in domain.attributes]
    if written.count(name) != 1:
        return ()
    header = domain.attributes[written.index(name)].column
    return (f'name the attribute as the file names it, `{name} : ... column "{header}"`',)


def _width(declaration: ModelDeclaration, domain: Domain, graph: GraphInputs, span: Span) -> Diagnostic:
    if declaration.reads is None:
        what = f"`{domain.name}` has {len(domain.attributes)} attributes"
        names = [attribute.name for attribute in domain.attributes]
        found = errors.width_differs(graph.path, graph.width, len(names), what, names, span)
        likely = _likely(graph.width, domain)
        return replace(found, help=f"{likely}; else {found.help}") if likely else found
    spans = declaration.reads_spans
    names = [part.text for part in spans]
    where = spans[0].to(spans[-1]) if spans else span
    what = f"`reads` gives {len(declaration.reads)}"
    return errors.width_differs(graph.path, graph.width, len(declaration.reads), what, names, where)


def _likely(width: int, domain: Domain) -> str:
    """What to do about what probably makes a file read so many numbers: an attribute more, or indicators for codes."""
    attributes = domain.attributes
    if width == len(attributes) + 1:
        return f"declare the attribute that `{domain.name}` lacks, or train it without its label or an index"
    for least in (2, 3):  # a category of two values may be one indicator, which is its code
        sizes = {item.name: len(item.type.values) for item in attributes if isinstance(item.type, Category)}
        coded = {name: size for name, size in sizes.items() if size >= least}
        if coded and len(attributes) <= _FEATURES and width == len(attributes) - len(coded) + sum(coded.values()):
            features = ", ".join(f"one_hot({item.name})" if item.name in coded else item.name for item in attributes)
            return f"with an indicator a value there are {width}: write `reads {features}`, in the network's order"
    return ""


def _check_dtypes(graph: GraphInputs, forms: Sequence[Form], domain: Domain, span: Span) -> None:
    start = 0
    for item in graph.inputs:
        for form in forms[start : start + item.width]:
            if not _fits(item, form, domain):
                reason = f"it takes {item.dtype} values, and is given others, or larger ones"
                raise DiagnosticError(errors.input_not_bound(graph.path, [item.name], [], reason, span))
        start += item.width


def _fits(item: GraphInput, form: Form, domain: Domain) -> bool:
    """Whether every value of the form is one that the input's dtype can hold without cutting anything off."""
    if item.dtype.startswith("float"):
        return True
    read = [domain.attributes[i.attribute] for i, _ in form.terms if isinstance(i, AttributeInput)]
    kinds = [attribute.type for attribute in read]
    single = len(form.terms) == 1 and form.constant == 0 and form.terms[0][1] == Fraction(1)
    if item.dtype == "string":  # the names of a category's values
        return single and bool(kinds) and isinstance(kinds[0], Category)
    if any(attribute.missing is not None for attribute in read):
        return False
    if item.dtype == "bool":
        return single and (not kinds or isinstance(kinds[0], Boolean))
    whole = all(number.denominator == 1 for number in (form.constant, *(factor for _, factor in form.terms)))
    if not whole or any(isinstance(kind, Real) for kind in kinds):
        return False
    least, most = extent(form, domain)
    limits = np.iinfo(item.dtype)
    return least is not None and most is not None and limits.min <= least and most <= limits.max


def extent(form: Form, domain: Domain) -> Ends:
    """The least and the greatest value of a form, None where there is none."""
    least: Fraction | None = form.constant
    most: Fraction | None = form.constant
    for item, factor in form.terms:
        ends: Ends = (Fraction(0), Fraction(1))
        if isinstance(item, AttributeInput):
            ends = domain.attributes[item.attribute].bounds
        low, high = ends if factor > 0 else (ends[1], ends[0])
        least = None if least is None or low is None else least + factor * low
        most = None if most is None or high is None else most + factor * high
    return least, most


def ends_of(forms: Sequence[Form], domain: Domain) -> list[Ends]:
    """Between which numbers each form lies; a number that somebody lacks is 0 until it is filled in."""
    found = []
    for form, code in zip(forms, codes_of_missing(forms, domain), strict=True):
        if code is None:
            found.append(extent(form, domain))
            continue
        ((item, _),) = form.terms
        assert isinstance(item, AttributeInput)
        low, high = domain.attributes[item.attribute].known.bounds
        found.append((low and min(low, Fraction(0)), high and max(high, Fraction(0))))
    return found
