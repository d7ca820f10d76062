"""What does not fit in a document, and where: the path of the value, and its line and column in the text."""

from __future__ import annotations

from dataclasses import dataclass

from fairdsl.source import Position, Span

#: Keys and positions on the way to a value, at most; what fairdsl writes needs about twenty.
DEEPEST = 80


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a document: the keys and positions on the way to it, none for the document itself."""

    steps: tuple[str | int, ...] = ()

    def at(self, step: str | int) -> Place:
        """The place of a member. MisfitError where documents do not nest that deep."""
        if len(self.steps) >= DEEPEST:
            raise self.misfit("nests too deep")
        return Place((*self.steps, step))

    def misfit(self, what: str) -> MisfitError:
        """The mistake that what stands here ``is not a list``, ``is missing``."""
        return MisfitError(self, what)

    def unread(self, what: str) -> MisfitError:
        """The mistake that the key itself does not belong here."""
        return MisfitError(self, what, of_key=True)

    def __str__(self) -> str:
        """``properties[0].demands[2].value``; keys that are not words in quotes."""
        text = ""
        for step in self.steps:
            if isinstance(step, int):
                text += f"[{step}]"
            elif step.isidentifier():
                text += f".{step}" if text else step
            else:
                text += f"[{_quoted(step)}]"
        return text


#: Characters of a key that a message shows.
_SHOWN = 60


def _quoted(key: str) -> str:
    """A key that is not a word; what is not a text is escaped."""
    shown = key if len(key) <= _SHOWN else key[:_SHOWN] + "..."
    return '"' + shown.encode("utf-8", "backslashreplace").decode() + '"'


class MisfitError(ValueError):
    """What stands at ``place`` of a document is not what belongs there: it ``what`` (``is not a list``).

    ``span`` is where it stands in the text, None where there is no text, and where the text as a whole is meant.
    ``of_key``: the key is the mistake, and not its value.
    """

    def __init__(self, place: Place, what: str, span: Span | None = None, *, of_key: bool = False) -> None:
        super().__init__(place, what, span)
        self.place, self.what, self.span, self.of_key = place, what, span, of_key

    @property
    def position(self) -> Position | None:
        """Line and column of it."""
        return None if self.span is None else self.span.first

    @property
    def said(self) -> str:
        """The mistake without its line: ``\\`properties[0].name\\` is not text``."""
        subject = f"`{self.place}`" if self.place.steps else "the document"
        return f"{subject} {self.what}"

    def __str__(self) -> str:
        """``\\`properties[0].name\\` is not text (line 7, column 15)``."""
        where = self.position
        return self.said if where is None else f"{self.said} (line {where.line}, column {where.column})"
