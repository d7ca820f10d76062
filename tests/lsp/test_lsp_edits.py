"""Random edits of two specs that are open, one of which uses the other: no exception, and no finding that is stale.

Every day `tests/semantics/test_remembered.py` holds such edits against findings from scratch, without a server.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from lsprotocol import types

from tests.lsp.random_edits import BASE, SPEC, edited
from tests.lsp.session import Session, linted, position, shown


async def ask_anything(session: Session, uri: str, dice: random.Random) -> None:
    """One of all questions, at a place anywhere."""
    client, document = session.client, types.TextDocumentIdentifier(uri)
    text = session.texts[uri]
    place = position(text, dice.randint(0, len(text)))
    everything = types.Range(types.Position(0, 0), session.end(uri))
    asking = [
        lambda: client.text_document_completion_async(types.CompletionParams(document, place)),
        lambda: client.text_document_hover_async(types.HoverParams(document, place)),
        lambda: client.text_document_definition_async(types.DefinitionParams(document, place)),
        lambda: client.text_document_references_async(
            types.ReferenceParams(types.ReferenceContext(True), document, place)
        ),
        lambda: client.text_document_prepare_rename_async(types.PrepareRenameParams(document, place)),
        lambda: client.text_document_document_symbol_async(types.DocumentSymbolParams(document)),
        lambda: client.text_document_folding_range_async(types.FoldingRangeParams(document)),
        lambda: client.text_document_formatting_async(
            types.DocumentFormattingParams(document, types.FormattingOptions(2, True))
        ),
        lambda: client.text_document_semantic_tokens_full_async(types.SemanticTokensParams(document)),
        lambda: client.text_document_inlay_hint_async(types.InlayHintParams(document, everything)),
        lambda: client.text_document_code_lens_async(types.CodeLensParams(document)),
        lambda: client.text_document_code_action_async(
            types.CodeActionParams(document, everything, types.CodeActionContext([]))
        ),
    ]
    await dice.choice(asking)()


async def run(session: Session, folder: Path, edits: int, seed: int, at_once: int = 4) -> None:
    dice = random.Random(seed)
    written = folder / "written"
    written.mkdir()
    base = await session.open(folder / "base.fair", BASE)
    spec = await session.open(folder / "spec.fair", SPEC)
    good = {base: BASE, spec: SPEC}
    while edits:
        uri = dice.choice((base, spec, spec))
        for _ in range(min(edits, dice.randint(1, at_once))):
            edits -= 1
            session.change(uri, edited(session.texts[uri], dice))
            if dice.random() < 0.2:
                await ask_anything(session, uri, dice)
        await session.findings(base)
        await session.lenses(spec)  # whatever was published before this answer has arrived
        found = await session.findings(spec)
        (written / "base.fair").write_text(session.texts[base], encoding="utf-8", newline="")
        expected = linted(session.texts[spec], written / "spec.fair")
        assert shown(found) == expected, (seed, session.texts[spec])
        for each in (base, spec):
            if len(session.texts[each]) > 2 * len(good[each]) or dice.random() < 0.15:
                session.change(each, good[each])
    assert not session.client.error
    assert not [each for each in session.client.messages if "Error in server" in each.message]


@pytest.mark.slow
@pytest.mark.asyncio
async def test_a_hundred_random_edits(session: Session, tmp_path: Path) -> None:
    await run(session, tmp_path, 100, random.randrange(10**6), at_once=12)


@pytest.mark.slow
@pytest.mark.asyncio
async def test_ten_thousand_random_edits(session: Session, tmp_path: Path) -> None:
    await run(session, tmp_path, 10_000, 25)
