"""Reading a spec and everything it uses. Paths count from the folder of the file that says ``use``."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TypeAlias

from fairdsl.diagnostics import DiagnosticError, Reporter
from fairdsl.semantics import errors
from fairdsl.source import SourceFile
from fairdsl.source.reading import content_of, named_in
from fairdsl.syntax import tree
from fairdsl.syntax.kept import Declarations
from fairdsl.syntax.parse import parse

KnownFiles: TypeAlias = "defaultdict[str, Declarations]"


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
        content = content_of(path)
        text = content.decode("utf-8-sig")
        if "\0" in text:
            raise ValueError("it is not text")
        return SourceFile(path, text, sha256(content).hexdigest())
    except (OSError, ValueError) as error:
        raise DiagnosticError(errors.file_unreadable(path, _reason(error), None)) from error


def load(source: SourceFile, reporter: Reporter, known: KnownFiles | None = None) -> LoadedSpec | None:
    """Parse the spec and what it uses; None when the spec itself cannot be parsed at all.

    ``known`` are the declarations of earlier versions, by the real paths of the files.
    """
    real = os.path.realpath(source.path)
    result = parse(source, None if known is None else known[real])
    reporter.extend(result.diagnostics)
    if result.spec is None:
        return None
    loader = _Loader(reporter, known, complete=result.complete)
    loader.follow(result.spec, real)
    return LoadedSpec(result.spec, source, tuple(loader.order), loader.complete)


@dataclass(slots=True)
class _Loader:
    """Reads what a spec uses, depth first; files are the same by their real paths, so that links make no new ones."""

    reporter: Reporter
    known: KnownFiles | None
    complete: bool
    order: list[tree.Spec] = field(default_factory=list)
    #: The files that were read, and the folder from which the paths in each count.
    seen: dict[str, str] = field(default_factory=dict)

    def follow(self, spec: tree.Spec, path: str) -> None:
        """Read what ``spec`` uses, file by file: a chain of files may be longer than Python's stack is deep."""
        open_files = {path: _uses(spec)}
        specs = [spec]
        while open_files:
            use = next(open_files[next(reversed(open_files))], None)
            if use is not None:
                self._enter(use, open_files, specs)
                continue
            open_files.popitem()
            done = specs.pop()
            if open_files:
                self.order.append(done)

    def _enter(self, use: tree.Use, open_files: dict[str, Iterator[tree.Use]], specs: list[tree.Spec]) -> None:
        """Begin with the file of a ``use``, unless it was read before; ``open_files`` are those that led here."""
        path = named_in(use.span.file.path, use.path.value)
        key = os.path.realpath(path)
        if key in open_files:
            chain = list(open_files)
            names = [os.path.basename(step) for step in (*chain[chain.index(key) :], key)]
            self.reporter.report(errors.use_cycle(use.path.value, use.path.span, names))
            return
        folder = os.path.realpath(os.path.dirname(path))
        before = self.seen.get(key)
        if before is not None:
            if before != folder:
                reason = "a link to it in another folder is used as well, and its own paths count from one of the two"
                self.reporter.report(errors.file_unreadable(use.path.value, reason, use.path.span))
            return
        self.seen[key] = folder
        try:
            source = read_source(path)
        except DiagnosticError as error:
            reason = error.diagnostics[0].notes[0]
            self.reporter.report(errors.file_unreadable(use.path.value, reason, use.path.span))
            self.complete = False
            return
        result = parse(source, None if self.known is None else self.known[key])
        self.reporter.extend(result.diagnostics)
        self.complete = self.complete and result.complete
        if result.spec is not None:
            open_files[key] = _uses(result.spec)
            specs.append(result.spec)


def _uses(spec: tree.Spec) -> Iterator[tree.Use]:
    return (item for item in spec.items if isinstance(item, tree.Use))


def _reason(error: OSError | ValueError) -> str:
    match error:
        case FileNotFoundError():
            return "there is no such file"
        case OSError():
            return error.strerror or "it cannot be opened"
        case UnicodeDecodeError():
            return "it is not UTF-8 text"
        case _:
            return str(error)
