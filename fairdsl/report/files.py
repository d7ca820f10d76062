"""The files that a report is about, and those that its answers come from."""

from __future__ import annotations

from dataclasses import dataclass

from fairdsl.ir.agreement import Agreement
from fairdsl.ir.binding import Binding
from fairdsl.ir.reading import Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class HashedFile:
    """A file that the verdicts are about."""

    #: What the spec calls it.
    name: str
    #: Where it lies; None for a model that is written in the spec itself, and for a Python function.
    path: str | None
    #: The digest of its bytes; None where there is no file, or it cannot be read.
    sha256: str | None
    #: Whether the model is a Python function.
    function: bool = False
    #: How a model's file is connected with the spec.
    binding: Binding | None = None
    #: What came of holding the model against recorded decisions.
    agreement: Agreement | None = None
    #: How far what was read of a model's file was held against the file.
    reading: Reading | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecFile:
    """The spec."""

    #: Where it lies.
    path: str
    #: The digest of its bytes; None where it was not read.
    sha256: str | None = None
    #: The files that it uses, by their paths from its folder; None where there are none.
    uses: tuple[HashedFile, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered:
    """Where the answers of a report come from, or its demands: files that somebody else may have written."""

    #: The folder, or the file that states the demand.
    folder: str
    #: Whether the spec was named; otherwise the folder says which one it is about.
    spec_named: bool
    #: The properties that its files are about, where they are not all of the spec's.
    properties: tuple[str, ...] = ()
    #: Whether this run computed the answers, and only the demand and all names are the file's claim.
    computed: bool = False
