"""The language server: what it answers, and when it speaks by itself. Everything else is in the files beside it.

Findings are published a moment after the last change, with the version of the text that they are about; whoever asks
for anything else meanwhile is answered about the text as it is.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence
from typing import Protocol
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from fairdsl.diagnostics import DiagnosticError
from fairdsl.lsp import colours, completion, findings, hover, inline, outline, renaming
from fairdsl.lsp.checking import Checks, Verdict
from fairdsl.lsp.desk import Desk, Seen, path_of
from fairdsl.lsp.names import Declared
from fairdsl.prelude import with_canonical_names
from fairdsl.resources import version
from fairdsl.source import SourceFile
from fairdsl.syntax.laid_out import laid_out

#: Seconds without a change after which findings are published.
_PAUSE = 0.03
#: Seconds without a change after which Python looks for circles among its objects: trees have none, and looking for
#: them beside the work takes a third of its time.
_IDLE = 1.0


class _Asking(Protocol):
    """What questions about a place have in common."""

    text_document: types.TextDocumentIdentifier
    position: types.Position


class NotCheckedError(JsonRpcException):
    """Why a check came to nothing."""

    CODE = types.LSPErrorCodes.RequestFailed.value
    MESSAGE = "the check came to nothing"


class EndedError(JsonRpcException):
    """The check was ended by an edit or on the editor's wish, which is no mistake that an editor should show."""

    CODE = types.LSPErrorCodes.RequestCancelled.value
    MESSAGE = "the check was ended"


class Server(LanguageServer):
    """The state of a session: what is open, what was checked, what was published."""

    def __init__(self) -> None:
        """Texts are sent whole: a spec is some kilobytes, and nothing can get out of step."""
        super().__init__("fairdsl", version(), text_document_sync_kind=types.TextDocumentSyncKind.Full)
        self.desk, self.checks = Desk(), Checks()
        self._published: dict[str, dict[str, tuple[types.Diagnostic, ...]]] = {}
        self._waiting: list[asyncio.TimerHandle] = []

    def seen_at(self, document: types.TextDocumentIdentifier) -> Seen:
        """What is known of a document."""
        return self.desk.seen(path_of(document.uri))

    # ---- findings --------------------------------------------------------------------------------

    def changed(self, path: str) -> None:
        """A text is another one: its checks are ended, and findings follow in a moment."""
        for checked in [path, *(each for each in self.desk.opened if path in self._files_of(each))]:
            self.checks.end(checked)
        for handle in self._waiting:
            handle.cancel()
        loop = asyncio.get_running_loop()
        self._waiting = [loop.call_later(_PAUSE, self.publish), loop.call_later(_IDLE, gc.collect)]

    def _files_of(self, path: str) -> frozenset[str]:
        known = self._published.get(path)
        return frozenset(known or ())

    def publish(self) -> None:
        """Tell the editor what is found in every open text; what has not changed is not said again."""
        before = self._merged()
        for path in self._published.keys() - self.desk.opened.keys():
            del self._published[path]
        for path in self.desk.opened:
            self._published[path] = dict(findings.by_file(self.desk, self.desk.seen(path)))
        after = self._merged()
        for path in {**before, **after}:
            shown = after.get(path, ())
            current = self.desk.opened.get(path)
            if current is None and before.get(path, ()) == shown:
                continue
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(
                    uri=self.desk.uri(path), diagnostics=list(shown), version=current.version if current else None
                )
            )
        self.refresh()

    def _merged(self) -> dict[str, tuple[types.Diagnostic, ...]]:
        """The findings about each file, of all specs that are open."""
        merged: dict[str, list[types.Diagnostic]] = {}
        for found in self._published.values():
            for path, each in found.items():
                known = merged.setdefault(path, [])
                known += [one for one in each if one not in known]
        return {path: tuple(each) for path, each in merged.items()}

    def refresh(self) -> None:
        """Ask the editor to ask again for what stands between the lines."""
        able = self.client_capabilities.workspace
        if able is not None and able.code_lens is not None and able.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)
        if able is not None and able.inlay_hint is not None and able.inlay_hint.refresh_support:
            self.workspace_inlay_hint_refresh(None)

    # ---- checks ----------------------------------------------------------------------------------

    async def check(self, uri: str, properties: Sequence[str]) -> dict[str, str]:
        """Check properties of a spec, or all; what each came to. NotCheckedError or EndedError: nothing, and why."""
        seen = self.desk.seen(path_of(uri))
        if seen.has_errors:
            raise NotCheckedError("the spec has errors; a check would be refused")
        token = await self._progress_token()

        def heard(stage: str, fraction: float | None, detail: str) -> None:
            if token is None:
                return
            if self.work_done_progress.tokens[token].cancelled():
                self.checks.end(seen.path)
            done = None if fraction is None else round(100 * fraction)
            report = types.WorkDoneProgressReport(message=f"{stage} {detail}".strip(), percentage=done)
            self.work_done_progress.report(token, report)

        running = asyncio.ensure_future(self.checks.run(self.desk, seen, properties, heard))
        if token is not None:
            self.work_done_progress.tokens[token].add_done_callback(lambda _: self.checks.end(seen.path))
        self.refresh()
        try:
            found = await running
        finally:
            if not running.done():
                self.checks.end(seen.path)
            if token is not None:
                self.work_done_progress.end(token, types.WorkDoneProgressEnd())
            self.refresh()
        if found is None:
            raise EndedError
        if isinstance(found, str):
            raise NotCheckedError(found)
        return {verdict.name: _judgement(verdict) for verdict in found}

    async def _progress_token(self) -> str | None:
        """A place of the editor where progress is shown and can be ended; None where it has none."""
        window = self.client_capabilities.window
        if window is None or not window.work_done_progress:
            return None
        token = str(uuid4())
        await self.work_done_progress.create_async(token)
        begin = types.WorkDoneProgressBegin(title="fairdsl check", cancellable=True, percentage=0)
        self.work_done_progress.begin(token, begin)
        return token


def _judgement(verdict: Verdict) -> str:
    return str(verdict.said["judgement"])


def made() -> Server:
    """A server that answers everything there is an answer to."""
    server = Server()
    _documents(server)
    _questions(server)
    _edits(server)
    return server


def _documents(server: Server) -> None:
    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        server.desk.encoding = server.workspace.position_encoding or types.PositionEncodingKind.Utf16
        server.desk.folders = [path_of(folder.uri) for folder in server.workspace.folders.values()]
        if not server.desk.folders and server.workspace.root_path:
            server.desk.folders = [server.workspace.root_path]

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        server.desk.put(document.uri, document.version, document.text)
        server.changed(path_of(document.uri))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        server.desk.put(document.uri, document.version, params.content_changes[-1].text)
        server.changed(path_of(document.uri))

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.desk.close(params.text_document.uri)
        server.changed(path_of(params.text_document.uri))

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.desk.forget_all()
        server.changed(path_of(params.text_document.uri))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def files_changed(params: types.DidChangeWatchedFilesParams) -> None:
        server.desk.forget_all()
        for change in params.changes:
            server.changed(path_of(change.uri))

    @server.feature(types.SHUTDOWN)
    async def shutdown(_: None) -> None:
        await server.checks.end_all()


def _questions(server: Server) -> None:
    desk = server.desk

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[".", " ", "{", ":", '"', "/"])
    )
    def completed(params: types.CompletionParams) -> types.CompletionList:
        items = completion.completed(desk, server.seen_at(params.text_document), params.position)
        return types.CompletionList(is_incomplete=False, items=list(items))

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(params: types.HoverParams) -> types.Hover | None:
        return hover.hovered(desk, server.seen_at(params.text_document), params.position)

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def defined(params: types.DefinitionParams) -> types.Location | None:
        declared = _declared(server, params)
        return None if declared is None else desk.location(declared.name.span)

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def mentioned(params: types.ReferenceParams) -> list[types.Location]:
        declared = _declared(server, params)
        spans = [] if declared is None else renaming.mentions_of(desk, declared)
        return [desk.location(span) for span in spans if params.context.include_declaration or span is not spans[0]]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlighted(params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        seen, declared = server.seen_at(params.text_document), _declared(server, params)
        spans = [] if declared is None else renaming.mentions_of(desk, declared)
        return [types.DocumentHighlight(desk.location(span).range) for span in spans if span.file.path == seen.path]

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        return outline.outline(desk, server.seen_at(params.text_document))

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    def folded(params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        return list(outline.folds(desk, server.seen_at(params.text_document)))

    @server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, colours.LEGEND)
    def coloured(params: types.SemanticTokensParams) -> types.SemanticTokens:
        return types.SemanticTokens(colours.coloured(desk, server.seen_at(params.text_document)))

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def hinted(params: types.InlayHintParams) -> list[types.InlayHint]:
        return list(inline.hints(desk, server.seen_at(params.text_document), server.checks, params.range))

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def lensed(params: types.CodeLensParams) -> list[types.CodeLens]:
        return list(inline.lenses(desk, server.seen_at(params.text_document), server.checks))

    @server.command(inline.CHECK)
    async def checked(uri: str, properties: list[str]) -> dict[str, str]:
        return await server.check(uri, properties)


def _edits(server: Server) -> None:
    desk = server.desk

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    def fixes(params: types.CodeActionParams) -> list[types.CodeAction]:
        return list(findings.fixes_at(desk, server.seen_at(params.text_document), params.range))

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def renamable(params: types.PrepareRenameParams) -> types.Range | None:
        seen = server.seen_at(params.text_document)
        mention = seen.mention_at(desk.places(seen.path).offset(params.position))
        if mention is None or seen.names.meant_by(mention) is None:
            return None
        return desk.location(mention.name.span).range

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def renamed(params: types.RenameParams) -> types.WorkspaceEdit | None:
        declared = _declared(server, params)
        if declared is None:
            return None
        try:
            edits = renaming.renamed(desk, declared, params.new_name)
        except renaming.NotRenamedError as problem:
            raise JsonRpcInvalidParams(str(problem)) from problem
        changes: dict[str, list[types.TextEdit]] = {}
        for edit in edits:
            where = desk.location(edit.span)
            changes.setdefault(where.uri, []).append(types.TextEdit(where.range, edit.replacement))
        return types.WorkspaceEdit(changes=changes)

    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatted(params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
        path = path_of(params.text_document.uri)
        text = desk.text(path)
        try:
            layout = laid_out(with_canonical_names(SourceFile(path, text)))
        except DiagnosticError:
            return None
        layout = layout.replace("\n", "\r\n") if "\r\n" in text else layout
        return [] if layout == text else [types.TextEdit(desk.places(path).everything, layout)]


def _declared(server: Server, params: _Asking) -> Declared | None:
    """What the name at the place of a question means."""
    seen = server.seen_at(params.text_document)
    return renaming.declaration_at(seen, server.desk.places(seen.path).offset(params.position))


def serve() -> None:
    """Answer on standard input and output until the editor hangs up."""
    gc.disable()
    made().start_io()
