"""What elaboration says: questions and models that do not fit together once both are known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fairdsl.diagnostics import Diagnostic, Label, nearest
from fairdsl.diagnostics.surface import said
from fairdsl.diagnostics.wording import short_path
from fairdsl.source import Span

#: The code of inputs of a file that nothing fills.
_NOT_BOUND = "E0509"
#: Names that a sentence lists.
_LISTED = 4
#: Rows of a table that a finding shows, and features of a `reads` that it writes out.
_ROWS, _FEATURES = 24, 12


def override_of_nothing(
    name: str,
    known: Sequence[str],
    written: Span | None = None,
    *,
    function: bool = False,
    takes_function: bool = False,
) -> Diagnostic:
    """A file or a Python ``function`` for a model that the spec does not declare, or that is ``written`` in the spec.

    A file that the spec pins counts as written where a function is to replace it. ``takes_function``: the spec says
    ``from callable``, so that a function may be given, but no file.
    """
    guess = None if written else nearest(name, known)
    listing = ", ".join(f"`{model}`" for model in known)
    file = said(f"--model {name}=...", f"models={{{name!r}: ...}}")
    option, has = (f"callables={{{name!r}: ...}}", "function") if function else (file, "file")
    instead = (
        "write `from callable` here"
        if function
        else f'give a function by `callables={{{name!r}: ...}}` from Python, or write `from "file.onnx"` here'
        if takes_function
        else "write `from` and a path here"
    )
    return Diagnostic(
        code="E0550",
        title=f"`{option}` names {f'a model without a {has}' if written else 'no model of this spec'}",
        primary=Label(written, "it is given here") if written else None,
        why="an option that is quietly ignored would leave another model under audit",
        help=instead
        if written and takes_function
        else f"leave out `{option.split('=')[0].split()[0]}`, or {instead}"
        if written
        else f"did you mean `{guess}`?"
        if guess
        else f"the spec declares {listing or 'no model'}",
    )


def data_of_nothing(name: str, readers: Sequence[str], *, declared: bool) -> Diagnostic:
    """Data for a distribution that there is not, or that is not made from a file."""
    option = said(f"--data {name}=...", f"data={{{name!r}: ...}}")
    guess = nearest(name, readers)
    listing = ", ".join(f"`{reader}`" for reader in readers)
    return Diagnostic(
        code="E0553",
        title=f"`{option}` names {'a distribution without data' if declared else 'no distribution'}",
        notes=(f"`{name}` is not made from a file",) if declared else (),
        why="an option that is quietly ignored would leave another population under audit",
        help=f"did you mean `{guess}`?"
        if guess
        else f"made from files: {listing}"
        if listing
        else f"leave out `{option.split('=')[0].split()[0]}`: no distribution of this spec is made from a file",
    )


def with_own_label(found: Diagnostic, labels: Iterable[str]) -> Diagnostic:
    """A finding about inputs that nothing fills (E0509), with what to do where one of them is a label of the spec."""
    text = "" if found.primary is None else found.primary.text
    own = next((label for label in labels if f"`{label}`" in text), None) if found.code == _NOT_BOUND else None
    if own is None:
        return found
    return replace(found, help=f"train the model without it: it reads its own label `{own}`")


def no_single_score(model: str, has: str, span: Span) -> Diagnostic:
    """A score gap of a model that does not give one score."""
    return Diagnostic(
        code="E0551",
        title=f"`score(a)` is not one number of `{model}`",
        primary=Label(span, f"`{model}` has {has}"),
        why="a gap is a distance between two numbers that the model gives",
        help="write `require same decision`, or audit a model whose only output is its score",
    )


def no_median(model: str, span: Span, *, rows: bool) -> Diagnostic:
    """A median of scores that there is not, or that nobody knows exactly."""
    why = f"scores of `{model}` are not fractions" if rows else "the population has no rows, so it is not a sample"
    return Diagnostic(
        code="E0556",
        title="the median of the scores is not known",
        primary=Label(span, why),
        why="a row may be the median itself, so who scores above it is a matter of exact numbers",
        help="write the number, as in `score > 28.75`, or take rows of a table and a score without curves",
    )


def no_confidence(model: str, has: str, remedy: str, span: Span) -> Diagnostic:
    """`when confidence(...)` about a model that gives its decisions no probability."""
    return Diagnostic(
        code="E0552",
        title=f"`{model}` gives its decisions no probability",
        primary=Label(span, has),
        why="a score alone gives no confidence, and a guessed curve would decide which pairs count",
        help=remedy,
    )


def softmax_assumed(model: str, span: Span) -> Diagnostic:
    """The confidence of a model that outputs a raw score for each outcome."""
    return Diagnostic(
        code="W0704",
        title=f"the confidence of `{model}` is read from the softmax of its raw scores",
        primary=Label(span, f"`{model}` outputs scores, no probabilities"),
        why="scores that are not logits, as of a margin or a distance, would make other pairs count",
        help="export the model with its softmax, or leave the line out if its scores are not logits",
    )


def never_read(attribute: str, model: str, span: Span) -> Diagnostic:
    """A differing attribute that is not an input of the model."""
    return Diagnostic(
        code="W0805",
        title=f"`{model}` never reads `{attribute}`",
        primary=Label(span, f"asks what changing `{attribute}` does"),
        why="the model cannot react to what it does not read, so this says nothing about proxies that it does read",
        help="free the attributes that stand in for it (`regardless of ...`), or ask about groups of a population",
    )


def bound_by_order(model: str, path: str, table: Sequence[str], features: Sequence[str], span: Span) -> Diagnostic:
    """A matrix without names of its columns, and nothing that says which attribute belongs in which of them."""
    listing = ", ".join(features) if len(features) <= _FEATURES else f"{', '.join(features[:_LISTED])}, ..."
    more = len(table) - _ROWS
    return Diagnostic(
        code="W0812",
        title=f"`{model}` reads columns without names, bound by their order alone",
        primary=Label(span, f"`{short_path(path)}` does not say what its {len(table)} inputs are"),
        notes=(*table[:_ROWS], *([f"and {more} more, which `fairdsl explain` lists"] if more > 0 else [])),
        why="two columns that are exchanged give another model, and nobody would notice",
        help=f"compare the table with the training data, and write `reads {listing}` in the file's order; "
        'or have the model compared with recorded decisions: `agrees with column "..." in "..."`',
    )


def one_outcome(model: str, outcome: str, rows: int, population: str, span: Span) -> Diagnostic:
    """A model's file that gives every row of a table the same outcome."""
    return Diagnostic(
        code="W0818",
        title=f"`{model[:20]}` decides `{outcome[:16]}` about every row of `{population[:20]}`",
        primary=Label(span, f"all {rows:,} rows get `{outcome}`"),
        why="no group is treated unlike another then, and numbers in another order, unit or scale than in training "
        "often make it so",
        help="compare what each input is filled with (`fairdsl explain` lists it) with the training data; scaled "
        "numbers are written `reads (age - 38.6) / 13.2, ...`",
    )


def another_name(model: str, name: str, feature: str, span: Span) -> Diagnostic:
    """`reads` fills an input with another attribute than the one of its name."""
    return Diagnostic(
        code="W0814",
        title=f"`{model}` reads `{feature}` as what its file calls `{name}`",
        primary=Label(span, f"fills the input `{name}`"),
        why="`reads` goes by position, and two attributes that are exchanged give another model",
        help="list the features in the order of the file's inputs, or leave out `reads`: inputs with names are bound "
        "by their names; another name of the same attribute is written as its `column`",
    )


def groups_alike(model: str, across: Sequence[str], population: str, span: Span, found: Span | None) -> Diagnostic:
    """A searched distribution without an edge between the groups and anything that the model reads."""
    names = ", ".join(f"`{name}`" for name in across[:_LISTED]) + (", ..." if len(across) > _LISTED else "")
    return Diagnostic(
        code="W0811",
        title=f"under `{population[:30]}` all groups have the same rates",
        primary=Label(span, "compares them"),
        secondary=(Label(found, "no edges connect the groups with what the model reads"),) if found else (),
        notes=(f"nothing that `{model}` reads depends on {names}",),
        why="a search in few rows finds few edges, and without them every model is called fair that reads no group",
        help="audit the rows themselves (`empirical`), write a `graph`, or search with `set score = k2`",
    )


def pruned_network(model: str, original: str, removed: str, span: Span) -> Diagnostic:
    """The file says of itself that units were cut out of another network to make it."""
    return Diagnostic(
        code="W0703",
        title=f"`{model}` is a pruned network, not the original",
        primary=Label(span, "verdicts are about this file alone"),
        notes=(f"original  sha256 {original or 'unknown'}", f"removed   {removed}"),
        why="units were removed for being seldom active, or never in one part; the original may decide otherwise",
        help="audit the original before anybody relies on a proof, or deploy the pruned network itself",
    )
