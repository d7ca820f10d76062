"""What keeps a declared population from becoming a distribution: one constructor a code."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic, Label, nearest
from fairdsl.diagnostics.wording import listed, short_path
from fairdsl.source import Span

#: So many names are listed at most.
_LISTED = 8


def distribution_does_not_fit(
    attribute: str, reason: str, span: Span, help_text: str, declared: Span | None = None
) -> Diagnostic:
    """E0570: the distribution of an attribute cannot be one over its values, or not in its bins."""
    return Diagnostic(
        code="E0570",
        title=f"`{attribute[:30]}` cannot have this distribution",
        primary=Label(span, reason),
        secondary=(Label(declared, "declared here"),) if declared and declared != span else (),
        why="a distribution that is bent to fit its values is another population",
        help=help_text,
    )


def conditions_do_not_divide(attribute: str, reason: str, span: Span, help_text: str) -> Diagnostic:
    """E0571: the `given` conditions of an attribute's distributions leave somebody without one, or with two."""
    return Diagnostic(
        code="E0571",
        title=f"the conditions of the distributions of `{attribute[:30]}` do not divide everybody",
        primary=Label(span, reason),
        why="a distribution that is left out or counted twice would be filled in by a guess",
        help=help_text,
    )


def circle(names: Sequence[str], span: Span) -> Diagnostic:
    """E0572: distributions that depend on each other in a circle; ``names`` begins and ends with the same column."""
    way = " -> ".join(names if len(names) <= _LISTED else (*names[: _LISTED - 1], "...", names[-1]))
    return Diagnostic(
        code="E0572",
        title="cyclic dependency between distributions",
        primary=Label(span, way),
        why="no distribution of all attributes together is a product of distributions that wait for each other",
        help="remove one of the dependencies",
    )


def unknown_search(name: str, known: Sequence[str], span: Span) -> Diagnostic:
    """E0573: `set search` names no search for a structure."""
    guess = nearest(name, known)
    return Diagnostic(
        code="E0573",
        title=f"there is no search `{name[:30]}` for a structure",
        primary=Label(span, f"`set search = {name[:30]}`"),
        why="another search would find another network, and so another population",
        help=f"did you mean `{guess}`?"
        if guess
        else f"searches are {listed(known, _LISTED)}; leave the line out for the first",
    )


def no_structure(search: str, reason: str, span: Span, help_text: str) -> Diagnostic:
    """E0576: a search that is known gives no structure, for want of its library or because of what it found."""
    return Diagnostic(
        code="E0576",
        title=f"the search `{search}` gives no network",
        primary=Label(span, reason),
        why="a network that was found in another way would be another population",
        help=help_text,
    )


def network_not_read(path: str, reason: str, place: Span | None, help_text: str) -> Diagnostic:
    """E0574: the file of a population is not what its format says."""
    return Diagnostic(
        code="E0574",
        title=f"the population file `{short_path(path)}` cannot be read",
        primary=Label(place, reason) if place else None,
        notes=() if place else (reason,),
        why="rates among part of a population would look like rates among all of it",
        help=help_text,
    )


def network_does_not_fit(path: str, reason: str, place: Span, help_text: str) -> Diagnostic:
    """E0575: the network in the file is not a distribution of the columns that the distribution ranges over."""
    return Diagnostic(
        code="E0575",
        title=f"the network in `{short_path(path)}` is not a distribution of these attributes",
        primary=Label(place, reason),
        why="values or probabilities that are guessed make every rate a rate among somebody else",
        help=help_text,
    )


def more_parameters_than_rows(name: str, parameters: int, rows: int, span: Span) -> Diagnostic:
    """W0705: a distribution with more free probabilities than rows that they were counted in."""
    return Diagnostic(
        code="W0705",
        title=f"the distribution of `{name[:30]}` has more probabilities than there are rows",
        primary=Label(span, f"{parameters:,} probabilities from {rows:,} rows"),
        why="most of them are counted in one row or two, so another sample would give other rates",
        help="cut attributes into fewer bins, let fewer others decide it, or ask `with confidence 95%`",
    )


def values_without_rows(attribute: str, values: Sequence[str], span: Span, declared: Span | None) -> Diagnostic:
    """W0706: values of a protected attribute that no row has."""
    return Diagnostic(
        code="W0706",
        title=f"no row has these values of `{attribute[:30]}`",
        primary=Label(span, listed(values, _LISTED)),
        secondary=(Label(declared, "declared here"),) if declared else (),
        why="there is nobody of this group in the data, so its rate is not 0: there is none",
        help="add rows, remove the values from the domain, or write `excluding groups of probability 0`",
    )
