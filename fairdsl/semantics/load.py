"""Reading a spec and everything it uses. Paths count from the folder of the file that says ``use``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256

from fairdsl.diagnostics import DiagnosticError, Reporter
from fairdsl.semantics import errors
from fairdsl.source import SourceFile
from fairdsl.syntax import tree
from fairdsl.syntax.parse import parse

__all__ = ["LoadedSpec", "load", "read_source"]


@dataclass(frozen=True, slots=True)
class LoadedSpec:
    """The parsed spec and the files it uses, each once, in the order in which they are needed.

    ``complete`` is False when a file could not be read in full: then what it declares is not all known.
    """

    main: tree.Spec
    source: SourceFile
    used: tuple[tree.Spec, ...]
    complete: bool


def read_source(path: str) -> SourceFile:
    """The file's text as UTF-8; DiagnosticError when it cannot be read."""
    try:
        with open(path, "rb") as file:
            content = file.read()
        return SourceFile(path, content.decode("utf-8-sig"), sha256(content).hexdigest())
    except (OSError, UnicodeDecodeError) as error:
        raise DiagnosticError(errors.file_unreadable(path, _reason(error), None)) from error


def load(source: SourceFile, reporter: Reporter) -> LoadedSpec | None:
    """Parse the spec and what it uses; None when the spec itself cannot be parsed at all."""
    result = parse(source)
    reporter.extend(result.diagnostics)
    if result.spec is None:
        return None
    loader = _Loader(reporter, {}, [], complete=result.complete)
    loader.follow(result.spec, [os.path.abspath(source.path)])
    return LoadedSpec(result.spec, source, tuple(loader.order), loader.complete)


@dataclass(slots=True)
class _Loader:
    reporter: Reporter
    seen: dict[str, tree.Spec | None]
    order: list[tree.Spec]
    complete: bool

    def follow(self, spec: tree.Spec, chain: list[str]) -> None:
        """Read what ``spec`` uses, depth first; ``chain`` are the files that led here."""
        for item in spec.items:
            if isinstance(item, tree.Use):
                self._use(item, chain)

    def _use(self, use: tree.Use, chain: list[str]) -> None:
        folder = os.path.dirname(use.span.file.path)
        path = os.path.normpath(os.path.join(folder, use.path.value))
        key = os.path.abspath(path)
        if key in chain:
            names = [os.path.basename(step) for step in (*chain[chain.index(key) :], key)]
            self.reporter.report(errors.use_cycle(use.path.value, use.path.span, names))
            return
        if key in self.seen:
            return
        self.seen[key] = None
        try:
            source = read_source(path)
        except DiagnosticError as error:
            reason = error.diagnostics[0].notes[0]
            self.reporter.report(errors.file_unreadable(use.path.value, reason, use.path.span))
            self.complete = False
            return
        result = parse(source)
        self.reporter.extend(result.diagnostics)
        self.complete = self.complete and result.complete
        if result.spec is None:
            return
        self.seen[key] = result.spec
        self.follow(result.spec, [*chain, key])
        self.order.append(result.spec)


def _reason(error: OSError | UnicodeDecodeError) -> str:
    match error:
        case FileNotFoundError():
            return "there is no such file"
        case IsADirectoryError():
            return "it is a folder"
        case UnicodeDecodeError():
            return "it is not UTF-8 text"
        case _:
            return (error.strerror or "it cannot be opened").lower()
