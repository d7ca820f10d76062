"""A session with the real server: a process of its own, spoken to by the client of pytest-lsp."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

from lsprotocol import types
from pytest_lsp import LanguageClient

import fairdsl

_LINE_END = re.compile(r"\r\n|\n|\r")


class Session:
    """What an editor has open, and what it asks. Places are given by what is written there."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        #: The findings that were published last, with the version that they are about.
        self.published: dict[str, types.PublishDiagnosticsParams] = {}

        def heard(params: types.PublishDiagnosticsParams) -> None:
            self.published[params.uri] = params

        # The client of pytest-lsp keeps findings without the version that they are about.
        client.protocol.fm.features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = heard

    async def open(self, path: Path, text: str) -> str:
        uri = path.as_uri()
        self.texts[uri], self.versions[uri] = text, 1
        item = types.TextDocumentItem(uri, "fair", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def change(self, uri: str, text: str) -> None:
        self.texts[uri] = text
        self.versions[uri] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.versions[uri], uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    def type(self, uri: str, typed: str) -> None:
        """Write something at the end."""
        self.change(uri, self.texts[uri] + typed)

    async def findings(self, uri: str) -> list[types.Diagnostic]:
        """Those about the text as it is now."""
        while uri not in self.published or self.published[uri].version != self.versions[uri]:
            await asyncio.sleep(0.002)
        return list(self.published[uri].diagnostics)

    def at(self, uri: str, written: str, *, behind: bool = False) -> types.Position:
        """The place where something is written first, or that behind it."""
        return position(self.texts[uri], self.texts[uri].index(written) + len(written) * behind)

    def end(self, uri: str) -> types.Position:
        return position(self.texts[uri], len(self.texts[uri]))

    async def offered(self, uri: str) -> list[str]:
        """The completions at the end of the text, in the order in which editors show them."""
        params = types.CompletionParams(types.TextDocumentIdentifier(uri), self.end(uri))
        found = await self.client.text_document_completion_async(params)
        assert isinstance(found, types.CompletionList)
        return [item.label for item in sorted(found.items, key=lambda item: item.sort_text or item.label)]

    def apply(self, edit: types.WorkspaceEdit | None) -> None:
        """Do what the server proposes."""
        assert edit is not None
        assert edit.changes is not None
        for uri, edits in edit.changes.items():
            text = self.texts[uri]
            places = [(offset(text, each.range.start), offset(text, each.range.end), each.new_text) for each in edits]
            for start, end, new in sorted(places, reverse=True):
                text = text[:start] + new + text[end:]
            self.change(uri, text)

    async def lenses(self, uri: str) -> list[str]:
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        found = await self.client.text_document_code_lens_async(params)
        return [each.command.title for each in found or () if each.command is not None]

    async def hints(self, uri: str) -> list[str]:
        everything = types.Range(types.Position(0, 0), self.end(uri))
        params = types.InlayHintParams(types.TextDocumentIdentifier(uri), everything)
        return [str(each.label).strip() for each in await self.client.text_document_inlay_hint_async(params) or ()]

    async def check(self, uri: str, *properties: str) -> Any:
        params = types.ExecuteCommandParams("fairdsl.check", [uri, list(properties)])
        return await self.client.workspace_execute_command_async(params)


def position(text: str, place: int) -> types.Position:
    """As the protocol counts, which is lines by any line end, and columns in units of UTF-16."""
    ends = [found.span() for found in _LINE_END.finditer(text)]
    before = [end for _, end in ends if end <= place]
    start = before[-1] if before else 0
    place = next((begin for begin, end in ends if begin < place < end), place)
    return types.Position(len(before), len(text[start:place].encode("utf-16-le", "surrogatepass")) // 2)


def offset(text: str, place: types.Position) -> int:
    starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
    return next(at for at in range(starts[place.line], len(text) + 1) if position(text, at) == place)


def linted(text: str, file: Path) -> list[tuple[str, str, types.Range]]:
    """What `fairdsl lint` says of a file with this text, about itself: code, title and place."""
    file.write_text(text, encoding="utf-8", newline="")
    found = []
    for finding in fairdsl.lint(file):
        span = None if finding.primary is None else finding.primary.span
        if span is not None and span.file.path != str(file):
            continue
        mark = int(text.startswith("\ufeff"))  # which is no part of what is read
        first = position(text, span.start + mark if span else 0)
        last = position(text, span.end + mark if span else 0)
        found.append((finding.code, finding.title, types.Range(first, last)))
    return found


def shown(findings: list[types.Diagnostic]) -> list[tuple[str, str, types.Range]]:
    """The same of what the server published."""
    return [(str(each.code), each.message.split("\n")[0], each.range) for each in findings]
