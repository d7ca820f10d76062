"""The texts that are open in the editor, and what is known of each: its tree, its names and its findings.

An open text takes the place of its file, for itself and for every other spec that uses it. What is known of a spec
is kept until one of the texts that it is made of changes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from lsprotocol import types

from fairdsl.api.specs import missing_files, refused_early
from fairdsl.diagnostics import Diagnostic, DiagnosticError, Severity
from fairdsl.lsp.names import Mention, Names, mentions_in
from fairdsl.lsp.places import Places, uri_of
from fairdsl.semantics.front_end import ReadSpec, read_spec
from fairdsl.semantics.remembered import Remembered
from fairdsl.source import Span
from fairdsl.source.reading import content_of, holding, named_in, root_of
from fairdsl.syntax import tree

#: Folders in which no specs of the workspace are looked for, and how many files are looked at.
_NOT_IN = {".git", ".venv", "node_modules", "__pycache__", "build", "dist"}
_MOST_FILES = 2_000
_USE = re.compile(r'\buse\b[^"]*"([^"\n]*)"')


def path_of(uri: str) -> str:
    """The path of an address; of a text that has no file yet a name for it."""
    from pygls.uris import to_fs_path

    scheme, _, rest = uri.partition(":")
    return os.path.normpath(to_fs_path(uri) or rest) if scheme == "file" else os.path.abspath(rest.replace("/", "_"))


@dataclass(frozen=True, slots=True)
class Open:
    """A text in the editor."""

    uri: str
    path: str
    version: int
    text: str
    #: Whether it begins with a byte order mark, which is no part of the text.
    marked: bool = False


@dataclass
class Seen:
    """What is known of a spec. ``files`` are those that its findings may depend on, whether they are there or not."""

    path: str
    read: ReadSpec | None
    findings: tuple[Diagnostic, ...]
    files: frozenset[str]

    @property
    def main(self) -> tree.Spec | None:
        """The tree of its own text, as far as it could be read."""
        return self.read.loaded.main if self.read is not None and self.read.loaded is not None else None

    @cached_property
    def specs(self) -> tuple[tree.Spec, ...]:
        """Its own tree, and those of what it uses."""
        if self.read is None or self.read.loaded is None:
            return ()
        return (self.read.loaded.main, *self.read.loaded.used)

    @cached_property
    def names(self) -> Names:
        """All that may be named in it."""
        return Names.of(self.specs)

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """Every name in its own text and in what it uses."""
        return tuple(mention for spec in self.specs for mention in mentions_in(spec))

    @property
    def has_errors(self) -> bool:
        """Whether a check would be refused."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    def mention_at(self, offset: int) -> Mention | None:
        """The name at a place of its own text."""
        for mention in self.mentions:
            span = mention.name.span
            if span.file.path == self.path and span.start <= offset <= span.end:
                return mention
        return None


@dataclass
class Desk:
    """What is open."""

    encoding: types.PositionEncodingKind | str = types.PositionEncodingKind.Utf16
    folders: list[str] = field(default_factory=list)
    opened: dict[str, Open] = field(default_factory=dict)
    _seen: dict[str, Seen] = field(default_factory=dict)
    _places: dict[str, tuple[str, Places]] = field(default_factory=dict)
    #: What was found of earlier versions of the specs that are open, from which new versions are known sooner.
    _known: dict[str, Remembered] = field(default_factory=dict)

    # ---- texts -----------------------------------------------------------------------------------

    def put(self, uri: str, version: int, text: str) -> None:
        """A text that was opened or changed."""
        path = path_of(uri)
        self.opened[path] = Open(uri, path, version, text.removeprefix("\ufeff"), marked=text.startswith("\ufeff"))
        self.forget(path)

    def close(self, uri: str) -> None:
        """Its file takes its place again."""
        path = path_of(uri)
        self.opened.pop(path, None)
        self._known.pop(path, None)
        self.forget(path)

    def forget(self, path: str) -> None:
        """Whatever depended on the file has to be found out again."""
        self._places.pop(path, None)
        for other in [each for each, seen in self._seen.items() if path in seen.files]:
            del self._seen[other]

    def forget_all(self) -> None:
        """Files have changed."""
        self._seen.clear()
        self._places.clear()

    def held(self, path: str) -> dict[str, str]:
        """The open texts that a spec may read: its own, and those within the folder that its paths must not leave."""
        root = root_of(path)
        return {
            other: each.text
            for other, each in self.opened.items()
            if other == path or Path(os.path.realpath(other)).is_relative_to(root)
        }

    def text(self, path: str) -> str:
        """The text that stands for a file; empty where there is none."""
        if path in self.opened:
            return self.opened[path].text
        try:
            return content_of(path).decode("utf-8-sig", "replace")
        except OSError:
            return ""

    def places(self, path: str) -> Places:
        """The places of a text."""
        text = self.text(path)
        known = self._places.get(path)
        if known is None or known[0] != text:
            marked = path in self.opened and self.opened[path].marked
            known = self._places[path] = (text, Places(text, self.encoding, marked=marked))
        return known[1]

    def uri(self, path: str) -> str:
        """The address that the editor knows a file by."""
        return self.opened[path].uri if path in self.opened else uri_of(path)

    def location(self, span: Span) -> types.Location:
        """A span for the editor."""
        return types.Location(self.uri(span.file.path), self.places(span.file.path).range(span))

    # ---- what is known ---------------------------------------------------------------------------

    def seen(self, path: str) -> Seen:
        """What is known of a spec, found out where it is not."""
        if path not in self._seen:
            held = {other: text.encode("utf-8", "surrogatepass") for other, text in self.held(path).items()}
            with holding(held):
                known = self._known.setdefault(path, Remembered()) if path in self.opened else None
                self._seen[path] = _see(path, known)
        return self._seen[path]

    def users_of(self, path: str) -> Iterator[Seen]:
        """The specs that a file is part of: itself, those that are open, and those in the folders of the workspace."""
        others = dict.fromkeys((path, *self.opened, *self._in_folders()))
        used: dict[str, set[str]] = {other: set(self._uses(other)) for other in others}
        reach, grown = {path}, True
        while grown:
            more = {other for other, uses in used.items() if uses & reach} - reach
            reach, grown = reach | more, bool(more)
        for other in others:
            if other in reach:
                seen = self.seen(other)
                if path in seen.files:
                    yield seen

    def _uses(self, path: str) -> Iterator[str]:
        """What the text seems to use, at a glance: most specs of a folder have nothing to do with each other."""
        return (str(named_in(path, found)) for found in _USE.findall(self.text(path)))

    def _in_folders(self) -> Iterator[str]:
        found = 0
        for top in self.folders:
            for folder, below, files in os.walk(top):
                below[:] = sorted(each for each in below if each not in _NOT_IN)
                for name in sorted(files):
                    if name.endswith(".fair"):
                        found += 1
                        if found > _MOST_FILES:
                            return
                        yield str(Path(folder) / name)


def _see(path: str, known: Remembered | None) -> Seen:
    """What `fairdsl lint` says of the spec, and what it was found in."""
    files = {path}
    try:
        read = read_spec(path, known=known)
    except DiagnosticError as error:
        return Seen(path, None, error.diagnostics, frozenset(files))
    findings = list(read.findings)
    if read.checked is not None:
        try:
            findings += (*missing_files(read.checked), *refused_early(read.checked))
        except DiagnosticError as error:
            findings = list(error.diagnostics)
    if read.loaded is not None:
        for spec in (read.loaded.main, *read.loaded.used):
            uses = (item for item in spec.items if isinstance(item, tree.Use))
            files |= {spec.span.file.path, *(named_in(item.span.file.path, item.path.value) for item in uses)}
    return Seen(path, read, tuple(dict.fromkeys(findings)), frozenset(map(str, files)))
