"""What ``explain`` says of a code, a metric or an option, as documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fairdsl.codec import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class CodePage(Document):
    """The page about a code of diagnostics."""

    SCHEMA: ClassVar[str] = "fairdsl.code/1"

    #: The code.
    code: str
    #: What it says, in a few words.
    meaning: str
    #: The page, in Markdown.
    page: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedWith:
    """What a metric is beside `privileged GROUP`, where everybody else is compared with that group."""

    #: Its name there.
    name: str
    #: What it is.
    meaning: str
    #: Its definition.
    definition: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricPage(Document):
    """A metric: what it is, its other names, and what a property must say for it to mean something."""

    SCHEMA: ClassVar[str] = "fairdsl.metric/1"

    #: Its name.
    name: str
    #: Its names in other libraries.
    aliases: tuple[str, ...]
    #: What it is, in words.
    meaning: str
    #: Its definition as an expression over rates; None of metrics of pairs.
    definition: str | None
    #: What a property must say.
    needs: tuple[str, ...]
    #: What it is beside `privileged GROUP`, where that is another metric.
    privileged: ComparedWith | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetPage(Document):
    """A preset: properties that `apply preset` asks of a model."""

    SCHEMA: ClassVar[str] = "fairdsl.preset/1"

    #: Its name.
    name: str
    #: Its file, which says what it is, its source and what it is not.
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionLine:
    """An option."""

    #: Its path, as `--set` takes it.
    option: str
    #: Its own flag; None where it has none.
    flag: str | None
    #: What it takes, in words.
    takes: str
    #: What it is where it is not given; None: nothing is set.
    default: str | None
    #: What it does.
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionsPage(Document):
    """Options, as they are declared."""

    SCHEMA: ClassVar[str] = "fairdsl.options/1"

    #: Section by section.
    options: tuple[OptionLine, ...]
