"""What stands in the way of pruning: one constructor a code."""

from __future__ import annotations

from collections.abc import Sequence

from fairdsl.diagnostics import Diagnostic, Label, nearest
from fairdsl.diagnostics.wording import listed, short_path
from fairdsl.source import Span

#: Names in a list before the rest are counted.
_LISTED = 12


def not_cut_exactly(path: str, reason: str, span: Span | None, help_text: str | None = None) -> Diagnostic:
    """E0560: units cannot be taken out of the file so that exactly the rest remains."""
    return Diagnostic(
        code="E0560",
        title=f"units cannot be taken out of `{short_path(path)}`",
        primary=Label(span, reason) if span else None,
        notes=() if span else (reason,),
        why="a file that is cut wrongly would be a third network: neither the original nor the pruned one",
        help=help_text or "export the network as products, additions and `Relu`, with the weights as initializers",
    )


def model_not_pruned(name: str | None, known: Sequence[str], reason: str, span: Span | None) -> Diagnostic:
    """E0561: no model, several models, or one without hidden units where one network is to be pruned."""
    guess = nearest(name, known) if name else None
    if guess and name not in known:
        remedy = f"did you mean `{guess}`?"
    elif name in known or not known:
        remedy = "prune a network with hidden `Relu` units that comes from an ONNX file"
    else:
        remedy = f"write `--model-name NAME` with one of {listed(known, _LISTED)}"
    return Diagnostic(
        code="E0561",
        title=f"`{name[:30]}` cannot be pruned" if name else "which model to prune is not said",
        primary=Label(span, reason) if span else None,
        notes=() if span else (reason,),
        why="what is pruned is one network with hidden units",
        help=remedy,
    )


def label_not_compared(reason: str, span: Span | None, help_text: str) -> Diagnostic:
    """E0562: accuracy is asked for, and what is right cannot be told from the spec."""
    return Diagnostic(
        code="E0562",
        title="how often the model is right is not known",
        primary=Label(span, reason) if span else None,
        notes=() if span else (reason,),
        why="accuracy compares each decision with what turned out to be right; a guessed match could be the reverse",
        help=help_text,
    )
