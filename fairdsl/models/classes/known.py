"""The classes that a file knows, and how messages name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fairdsl.ir.declaration import Label

#: So many labels are listed at most.
_LISTED = 12


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes of an output by their positions: what the file calls them, or its columns where it does not say.

    ``complete``: there are no others; of a file that is only run, labels may be known because they were met.
    ``columns``: the output has a column for each, and is not the label itself.
    """

    output: str
    labels: tuple[Label, ...]
    named: bool = True
    complete: bool = True
    columns: bool = False

    @classmethod
    def of_columns(cls, output: str, labels: Sequence[Label], columns: int) -> Classes:
        """The classes of columns: by their labels, if there are any, else by their positions."""
        return cls(output, tuple(labels) or tuple(range(columns)), named=bool(labels), columns=True)

    @property
    def note(self) -> str:
        """What there is to choose from."""
        if not self.named:
            return f"output `{self.output}`: {len(self.labels)} columns without labels, counted from 0"
        if not self.complete:
            return f"output `{self.output}`: a few individuals have the labels {listing(self.labels)}"
        has = "a column for each of the labels" if self.columns else "the labels"
        return f"output `{self.output}`: {has} {listing(self.labels)}, in this order"


def written(label: Label) -> str:
    """The label as a spec writes it."""
    return f'"{label}"' if isinstance(label, str) else str(label)


def writable(label: Label) -> bool:
    """Whether a spec can hold the label: a text without quotation marks and line breaks."""
    return isinstance(label, int) or not {'"', "\n"} & {*label}


def shown(label: Label) -> str:
    """The label in a message."""
    return f"`{written(label)}`"


def listing(labels: Sequence[Label]) -> str:
    """Labels in a message."""
    more = f" and {len(labels) - _LISTED} more" if len(labels) > _LISTED else ""
    return ", ".join(shown(label) for label in labels[:_LISTED]) + more
