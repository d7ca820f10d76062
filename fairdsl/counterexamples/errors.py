"""What stands in the way of a search: one constructor a code."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic, Label
from fairdsl.diagnostics.wording import short_path
from fairdsl.source import Span


def no_question(path: str, pairs: Sequence[str], asked: str | None, *, formula: bool = False) -> Diagnostic:
    """E0633: no property about pairs, several of them, or a property about something else, perhaps a ``formula``."""
    if asked is not None and formula:
        return Diagnostic(
            code="E0633",
            title=f"`{asked[:30]}` demands a formula",
            why="tables of pairs show one model and one demand: the same decision, or a bounded gap of its scores",
            help=f"write `fairdsl check {short_path(path)} --property {asked} --backend search`, which searches for "
            "those who break it and shows them",
        )
    family = [name for name in pairs if asked is not None and name.startswith(f"{asked}[")]
    if family:
        title, pairs = f"`{asked}` is {len(family)} properties", family
    elif asked is not None:
        title = f"`{asked[:30]}` is not a property about pairs"
    elif pairs:
        title = f"the spec has {len(pairs)} properties about pairs"
    else:
        title = "the spec has no property about pairs"
    listing = ", ".join(f"`{name}`" for name in pairs)
    return Diagnostic(
        code="E0633",
        title=title,
        notes=(f"`{path}` asks about pairs in {listing}",) if pairs else (),
        why="what is searched for are two individuals that break one property",
        help=f"write `--property NAME` with one of {listing}"
        if pairs
        else "write a property with `compare a, b : DOMAIN` and a demand on the two",
    )


def unwritable_table(path: str, reason: str, instead: str) -> Diagnostic:
    """E0634: a table in a format that is not known, or whose library is not installed."""
    name = short_path(path)
    return Diagnostic(
        code="E0634",
        title=f"the table `{name}` cannot be written",
        notes=(reason,),
        why="a table in another format than its name says would not be read",
        help=instead,
    )


def nothing_near(name: str, reason: str) -> Diagnostic:
    """E0635: no rows that a search could stay near to."""
    shown = short_path(name)
    return Diagnostic(
        code="E0635",
        title=f"there are not rows of `{shown}` to stay near to",
        notes=(reason,),
        why="pairs that look like nobody in the data would be called natural",
        help="give a CSV file with a column for each attribute, with `--near FILE.csv`, or the name of a distribution "
        "of the spec that is made from rows",
    )


def no_representatives(relaxation: Span | None) -> Diagnostic:
    """E0636: boxes of a question whose two individuals differ in attributes that are compared, too."""
    return Diagnostic(
        code="E0636",
        title="pairs of a property with `within` or `regardless of` have no representatives",
        primary=Label(relaxation, "the two may differ here, so no box of shared values holds the pair")
        if relaxation is not None
        else None,
        why="a representative is of a part of the domain in which what two people share is enough to violate",
        help="leave out `--representatives`, or search a property without such a clause",
    )


def strategy_needs_formula(strategy: str, model: str, span: Span | None) -> Diagnostic:
    """E0637: a strategy that goes by slopes, and a model that has none which are known."""
    return Diagnostic(
        code="E0637",
        title=f"the strategy `{strategy}` cannot search `{model[:30]}`",
        primary=Label(span, "neither layers nor their slopes are known") if span is not None else None,
        why="its steps follow the gradient of a network, layer by layer",
        help="write `--strategy zero-order`, which takes differences instead, or leave the choice to the portfolio",
    )
