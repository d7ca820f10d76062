"""The fixture of a session; all of it is skipped where pygls and pytest-lsp are not installed."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

pytest.importorskip("pygls")
pytest.importorskip("pytest_lsp")

import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient

from tests.lsp.session import Session

ROOT = Path(__file__).parents[2]
#: What the client of an editor can do beyond the bare protocol.
ABLE = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        completion=types.CompletionClientCapabilities(
            completion_item=types.ClientCompletionItemOptions(documentation_format=[types.MarkupKind.Markdown])
        ),
        hover=types.HoverClientCapabilities(content_format=[types.MarkupKind.Markdown]),
    ),
    window=types.WindowClientCapabilities(work_done_progress=True),
    workspace=types.WorkspaceClientCapabilities(
        code_lens=types.CodeLensWorkspaceClientCapabilities(refresh_support=True),
        inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True),
    ),
)


@pytest_lsp.fixture(
    config=ClientServerConfig(
        server_command=[sys.executable, "-m", "fairdsl", "lsp"], server_env={"PYTHONPATH": str(ROOT)}
    )
)
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await lsp_client.initialize_session(types.InitializeParams(capabilities=ABLE))
    lsp_client.feature(types.WORKSPACE_CODE_LENS_REFRESH)(lambda _: None)
    lsp_client.feature(types.WORKSPACE_INLAY_HINT_REFRESH)(lambda _: None)
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def session(client: LanguageClient) -> Session:
    return Session(client)
