"""What planning says: questions that no backend, or not the one asked for, can answer."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic, Label, nearest
from fairdsl.source import Span


def no_backend(
    what: str, span: Span | None, why: str, instead: str | None = None, reasons: Sequence[tuple[str, str]] = ()
) -> Diagnostic:
    """Nobody offers to answer: ``why`` is what the nearest backend lacks, ``reasons`` are those of all of them."""
    return Diagnostic(
        code="E0601",
        title=f"no backend can answer {what}",
        primary=Label(span) if span else None,
        why=why,
        help=instead or "write another question: `fairdsl capabilities` lists what each backend answers",
        details=tuple(f"{name:<10} no: {reason}" for name, reason in reasons),
    )


def backend_refuses(backend: str, why: str, span: Span | None) -> Diagnostic:
    """The forced backend does not answer such questions."""
    return Diagnostic(
        code="E0602",
        title=f"`{backend}` cannot answer this question",
        primary=Label(span, why) if span else None,
        notes=() if span else (why,),
        help="leave out `--backend` to let fairdsl choose; `--explain-plan` shows what it chooses",
    )


def format_refuses(form: str, why: str, span: Span | None) -> Diagnostic:
    """The file format cannot express the question."""
    return Diagnostic(
        code="E0603",
        title=f"`{form}` files cannot express this question",
        primary=Label(span, why) if span else None,
        notes=() if span else (why,),
        help="`fairdsl capabilities` lists what each format expresses",
    )


def unknown_choice(kind: str, name: str, known: Sequence[str]) -> Diagnostic:
    """A backend, file format or property that was asked for by a name that there is not."""
    guess = nearest(name, known)
    listing = ", ".join(f"`{one}`" for one in known)
    return Diagnostic(
        code="E0604",
        title=f"there is no {kind} called `{name}`",
        help=f"did you mean `{guess}`?" if guess else f"there is {listing or 'none'}",
    )


def nobody_compared(property_name: str, span: Span) -> Diagnostic:
    """An engine went through the whole question and found no pair to compare."""
    return Diagnostic(
        code="W0804",
        title=f"no two individuals are compared by `{property_name}`",
        primary=Label(span, "its clauses together leave no pair"),
        why="a property about nobody holds of any model, so its verdict says nothing about this one",
        help="loosen `among`, `where`, `when` or `differ in` so that some pair is left",
    )


def nothing_to_partition(name: str, span: Span | None = None) -> Diagnostic:
    """Partitions are for two demands with a yes or a no: the spec has neither, or the one at ``span`` is another."""
    return Diagnostic(
        code="E0615",
        title=f"`{name}` has no question to ask partition by partition",
        primary=Label(span, "a formula is asked as one question") if span else None,
        notes=("partitions are for requirements on pairs that hold or do not: `require same decision`, score gaps",),
        why="a share is counted over the whole domain anyway; partitions would change nothing about it"
        if span is None
        else "an option without effect would look like a finer audit than it is",
        help="leave out `--partition`, or check a property that requires the same decision",
    )


def too_many_partitions(name: str, count: int, most: int) -> Diagnostic:
    """A question that is cut into more partitions than anybody writes files for."""
    return Diagnostic(
        code="E0619",
        title=f"`{name}` has {count:,} partitions",
        notes=(f"files for all of them are written up to {most:,}",),
        why="a folder of that many files fills the disk, and no solver gets through it",
        help="write a larger `--partition N`, or `--first COUNT` of them",
    )


def one_ledger(
    path: str,
    properties: Sequence[str],
    why: str = "lines about different questions in one file could not be distinguished",
) -> Diagnostic:
    """A ledger holds the verdicts on one question, a folder of pruned networks those of one question a property."""
    listing = ", ".join(f"`{name}`" for name in properties)
    return Diagnostic(
        code="E0616",
        title=f"`{path}` cannot hold the partitions of several questions",
        notes=(f"the spec asks {listing} of its partitions",),
        why=why,
        help="choose one of them with `--property NAME`, and give each a file of its own",
    )


def nothing_to_check(path: str) -> Diagnostic:
    """A spec without properties: declarations for other files to use."""
    return Diagnostic(
        code="E0606",
        title=f"`{path}` has no property to check",
        why="an audit that asks nothing would pass whatever the model does",
        help="write `property NAME { ... }`, or check a spec that uses this file",
    )


def option_unread(names: Sequence[str], whose: str, run: str, instead: str = "") -> Diagnostic:
    """Options of a backend, or of a kind of repair, that has no part in this ``run``."""
    return Diagnostic(
        code="W0815",
        title=f"options of {whose} have no effect in this run",
        notes=(f"set is {', '.join(f'`{name}`' for name in names)}; the run {run}",),
        why="whoever set them expects another computation than the one that is reported",
        help=f"leave them out{instead}",
    )
