"""What names say about themselves: E02, one constructor a code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fairdsl.diagnostics import Diagnostic, Label
from fairdsl.diagnostics.suggest import nearest
from fairdsl.semantics.errors.wording import did_you_mean, listing
from fairdsl.source import Span

_PARITY = (
    "write `parity_gap <= ...` for the difference of the rates (Fairlearn: `demographic_parity_difference`), "
    "or `impact_ratio >= ...` for their ratio"
)
_ODDS = "did you mean `odds_gap` (Fairlearn: `equalized_odds_difference`)?"
_TRUE_POSITIVE = "did you mean `opportunity_gap`, the gap of the true positive rates? there is no metric of one rate"
#: Names in use whose nearest spelling would be another quantity, where small and large change places.
_MEANT = {
    "demographic_parity": _PARITY,
    "parity": _PARITY,
    "dp": _PARITY,
    "equal_odds": _ODDS,
    "equalised_odds": _ODDS,
    "eo": f"{_ODDS} or `opportunity_gap`?",
    "tpr": _TRUE_POSITIVE,
    "true_positive_rate": _TRUE_POSITIVE,
    "recall": _TRUE_POSITIVE,
}


def declared_twice(
    kind: str,
    name: str,
    span: Span,
    first: Span | None,
    *,
    word: str = "declared",
    clashes_with: str = "",
    remedy: str = "",
) -> Diagnostic:
    """Two declarations of one kind share a name, or a list (or property) says one thing twice.

    ``word`` says how it is done: what is `named` or `written` twice has no other name to be given.
    ``clashes_with`` is the kind of the first where it is another; what the language names stands in no spec.
    """
    word = "named" if kind == "protected attribute" else word
    listed = word != "declared"
    return Diagnostic(
        code="E0201",
        title=f"{kind} `{name}` has the name of {clashes_with}" if clashes_with else f"{kind} `{name}` is {word} twice",
        primary=Label(span, f"the same name as {clashes_with}" if clashes_with else f"{word} again"),
        secondary=()
        if first is None
        else (Label(first, f"{clashes_with} of this name" if clashes_with else f"first {word} here"),),
        why="the second says nothing new, and another name may have been meant"
        if word == "named"
        else "only one of the two could be in force, and a reader could not tell which",
        help=remedy
        or ("remove one of them" if listed else f"give the {kind} another name" if clashes_with else None)
        or "remove one of them, or give it another name",
    )


def unknown_declaration(
    kind: str, name: str, span: Span, known: Iterable[str], help_text: str | None = None
) -> Diagnostic:
    """A name that no declaration of its kind has."""
    known = tuple(known)
    suggestion, fix = did_you_mean(name, known, span)
    if known:
        remedy = f"declared are {listing(known)}; declare `{name}` or use a declared name"
    else:
        remedy = f"this spec declares no {kind}: declare `{name}`"
    return Diagnostic(
        code="E0202",
        title=f"no {kind} is called `{name}`",
        primary=Label(span, "not declared"),
        help=suggestion or help_text or remedy,
        fix=fix,
    )


def unknown_attribute(
    name: str,
    span: Span,
    domain: str,
    domain_span: Span | None,
    known: Sequence[str],
    *,
    why: str | None = None,
    label: Span | None = None,
) -> Diagnostic:
    """A name that is not an attribute of the domain in force; ``label``: where a label of this name is declared."""
    suggestion, fix = (None, None) if label else did_you_mean(name, known, span)
    if label:
        why = "the true outcome is known only after the decision, so it takes part in metrics of groups alone"
        suggestion = "remove it here, or declare it in the domain if it is known when the decision is made"
    counted = f"{len(known)} attribute{'s are' if len(known) != 1 else ' is'} declared here"
    place = (Label(domain_span, counted),) if domain_span else ()
    place = (Label(label, "declared as a label"),) if label else place
    where = f"`{domain}`" if domain_span else domain
    return Diagnostic(
        code="E0203",
        title=f"`{name}` is {'a label, and no' if label else 'not an'} attribute of {where}",
        primary=Label(span, "a label is the true outcome" if label else "not declared"),
        secondary=place,
        why=why or "a clause about an attribute that nobody declared could not mean anything",
        help=suggestion or f"declare it in {where}, or remove it here",
        fix=fix,
    )


def unknown_value(name: str, span: Span, attribute: str, known: Sequence[str], declared: Span | None) -> Diagnostic:
    """A word that is not a value of the category (or boolean) it is compared with."""
    suggestion, fix = did_you_mean(name, known, span)
    return Diagnostic(
        code="E0204",
        title=f"`{name}` is not a value of `{attribute}`",
        primary=Label(span, "no such value"),
        secondary=(Label(declared, "its values are declared here"),) if declared else (),
        why="a comparison with a value that nobody has is never true",
        help=suggestion or f"its values are {listing(known)}",
        fix=fix,
    )


def unknown_outcome(name: str, span: Span, model: str, outcomes: Sequence[str]) -> Diagnostic:
    """A word that is not an outcome of the model."""
    suggestion, fix = did_you_mean(name, outcomes, span)
    return Diagnostic(
        code="E0205",
        title=f"`{name}` is not an outcome of `{model}`",
        primary=Label(span, "no such outcome"),
        help=suggestion or f"its outcomes are {listing(outcomes)}",
        fix=fix,
    )


def unknown_metric(name: str, span: Span, known: Sequence[str]) -> Diagnostic:
    """A word that is not a metric."""
    meant = _MEANT.get(name.casefold())
    suggestion, fix = (meant, None) if meant else did_you_mean(name, known, span)
    return Diagnostic(
        code="E0206",
        title=f"`{name}` is not a metric that fairdsl knows",
        primary=Label(span, "unknown metric"),
        help=suggestion or f"metrics are {listing(known)}",
        fix=fix,
    )


def not_protected(name: str, span: Span, clause: str, protected: Sequence[str]) -> Diagnostic:
    """`across` names an attribute that is not declared protected."""
    others = f", or name one of {listing(protected)}" if protected else " of the spec"
    suggestion, fix = did_you_mean(name, protected, span)
    return Diagnostic(
        code="E0207",
        title=f"`{name}` is not declared `protected`",
        primary=Label(span, f"named in `{clause}`"),
        why="readers of the audit check the list of protected attributes; any other would slip past them",
        help=suggestion or f"write `protected {name}` at the top level{others}",
        fix=fix,
    )


def say_which(kind: str, span: Span, known: Sequence[str], help_text: str) -> Diagnostic:
    """Several declarations fit and the property does not say which it means."""
    return Diagnostic(
        code="E0208",
        title=f"this spec has several {kind}s: say which one is meant",
        primary=Label(span, f"could be {listing(known, 'or')}"),
        help=help_text,
    )


def parameter_not_given(name: str, known: Sequence[str], text: str | None = None) -> Diagnostic:
    """``--let`` names a parameter that the spec does not declare, or gives it a ``text`` that is not a number."""
    guess = None if text is not None else nearest(name, known)
    declared = f"declared are {listing(known)}" if known else f"declare it in the spec: `let {name} = 80%`"
    written = f"write it as in a spec: `--let {name}=75%` or `--let {name}=0.75`"
    return Diagnostic(
        code="E0215",
        title=f"`--let {name}=...` names no parameter of this spec"
        if text is None
        else f"`--let {name}={text[:20]}` gives no number",
        why="an option that is quietly ignored would leave another threshold in force",
        help=written if text is not None else (f"did you mean `{guess}`?" if guess else declared),
    )


def name_means_something(kind: str, name: str, span: Span) -> Diagnostic:
    """A parameter or variable whose name is a word of the language, which would be read as that."""
    return Diagnostic(
        code="E0216",
        title=f"the {kind} `{name}` is called like a word of the language",
        primary=Label(span, "where a number may stand, this word already means something"),
        help=f"give it another name, such as `{name}_1` or `the_{name}`",
    )


def use_cycle(path: str, span: Span, chain: Sequence[str]) -> Diagnostic:
    """A file uses itself, directly or through others."""
    return Diagnostic(
        code="E0209",
        title=f'`use "{path}"` leads back to this file',
        primary=Label(span, " -> ".join(chain)),
        why="a file that is part of itself has no meaning",
        help="move what both files need into a third one and use that",
    )


def file_unreadable(path: str, reason: str, span: Span | None) -> Diagnostic:
    """A spec, or a file that it uses, cannot be read."""
    return Diagnostic(
        code="E0210",
        title=f'cannot read "{path}"',
        primary=Label(span, reason) if span else None,
        notes=() if span else (reason,),
        help="a used file's path counts from the folder of the file that says `use`" if span else None,
    )


def unknown_word(kind: str, name: str, span: Span, known: Sequence[str], remedy: str | None = None) -> Diagnostic:
    """A word from a fixed list (functions, settings, kinds of distributions) that is not on it."""
    suggestion, fix = did_you_mean(name, known, span) if known else (remedy, None)
    return Diagnostic(
        code="E0211",
        title=f"`{name}` is not a {kind}",
        primary=Label(span, f"unknown {kind}"),
        help=suggestion
        or remedy
        or (f"what can stand here: {listing(known)}" if known else "write it out with + - * and /"),
        fix=fix,
    )
