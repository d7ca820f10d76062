"""A spec written from nothing, as somebody does it in an editor: mistakes, help, a fix, a rename, a check."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.lsp.session import Session, linted, shown

BASE = """\
domain Applicant {
  sex : category { female, male }
  savings : integer 0 .. 80
}

protected sex
"""
MODEL = """\
use "base.fair"

# Wer spart, der hat: 💶💶
model approve : Applicant -> { reject, grant }
  score = savings - 30 + 5 * (sex = male)
  grant when score > 0
  favourable grant

"""


@pytest.mark.asyncio
async def test_from_nothing_to_a_verdict_and_back(session: Session, tmp_path: Path) -> None:
    document = types.TextDocumentIdentifier
    base = await session.open(tmp_path / "base.fair", BASE)
    spec = await session.open(tmp_path / "spec.fair", "")
    assert [each.code for each in await session.findings(spec)] == ["E0113"]

    # Words of the grammar at the beginning, names of the other file, which is nowhere but in the editor.
    assert {"use", "domain", "property"} <= set(await session.offered(spec))
    session.type(spec, MODEL.partition("Applicant ->")[0])
    assert await session.offered(spec) == ["Applicant"]
    session.change(spec, MODEL)
    assert await session.findings(spec) == []
    session.type(spec, "property alike {\n  compare a, b : Applicant\n  ")
    offered = await session.offered(spec)
    assert {"differ", "require", "among"} <= set(offered)
    assert "sex" not in offered
    session.type(spec, "differ in ")
    assert {"sex", "savings"} <= set(await session.offered(spec))
    session.type(spec, "sex\n  among sex = ")
    assert (await session.offered(spec))[:2] == ["female", "male"]

    # A mistake behind letters that are two units each, which brings its fix along.
    clauses = "ensure same decision  compare a, b : Applicant  differ in sex"
    session.change(spec, f'{MODEL}property alike "💶💶" {{ {clauses} }}\n')
    (mistake,) = await session.findings(spec)
    elsewhere = tmp_path / "written"
    elsewhere.mkdir()
    (elsewhere / "base.fair").write_text(BASE)
    assert shown([mistake]) == linted(session.texts[spec], elsewhere / "spec.fair")
    asked = types.CodeActionParams(document(spec), mistake.range, types.CodeActionContext([mistake]))
    (fix,) = await session.client.text_document_code_action_async(asked) or ()
    assert isinstance(fix, types.CodeAction)
    assert fix.title == "write `require` for `ensure`"
    session.apply(fix.edit)
    assert await session.findings(spec) == []

    # What things are, where they are declared, and another name for them in both files.
    here = session.at(spec, "savings - 30")
    hover = await session.client.text_document_hover_async(types.HoverParams(document(spec), here))
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert "savings : integer 0 .. 80" in hover.contents.value
    where = await session.client.text_document_definition_async(types.DefinitionParams(document(spec), here))
    assert isinstance(where, types.Location)
    assert (where.uri, where.range.start) == (base, session.at(base, "savings"))
    renaming = types.RenameParams(document(spec), here, "wealth")
    session.apply(await session.client.text_document_rename_async(renaming))
    assert "wealth : integer" in session.texts[base]
    assert "score = wealth - 30" in session.texts[spec]
    assert await session.findings(spec) == []
    assert await session.findings(base) == []
    taken = types.RenameParams(document(spec), session.at(spec, "wealth"), "sex")
    with pytest.raises(Exception, match="something else"):
        await session.client.text_document_rename_async(taken)

    # The check is of what is in the editor: there is no file.
    assert await session.lenses(spec) == ["check"]
    assert await session.check(spec, "alike") == {"alike": "violated"}
    assert await session.lenses(spec) == ["check again", "✗ violated"]
    held, verdict = await session.hints(spec)
    assert held == "held equal: wealth"
    assert verdict.startswith("✗ violated: sex female | male, decision reject | grant")
    progress = [each for reports in session.client.progress_reports.values() for each in reports]
    assert {"begin", "report", "end"} <= {each.kind for each in progress}

    # An edit withdraws it for good, also one in the other file, and one that is taken back.
    session.change(base, session.texts[base].replace("0 .. 80", "0 .. 81"))
    assert await session.findings(spec) == []
    assert await session.lenses(spec) == ["check"]
    assert await session.hints(spec) == ["held equal: wealth"]
    session.change(base, session.texts[base].replace("0 .. 81", "0 .. 80"))
    assert await session.findings(base) == []
    assert await session.lenses(spec) == ["check"]
    session.type(spec, "property")
    assert await session.findings(spec) != []
    assert await session.lenses(spec) == ["not checked: errors"]
    assert await session.hints(spec) == []
    await _a_check_is_ended_by_an_edit_and_by_the_editor(session, tmp_path)


async def _a_check_is_ended_by_an_edit_and_by_the_editor(session: Session, folder: Path) -> None:
    """A check of which nothing is said once the text is another one. Another server would cost a second."""
    (folder / "blind.onnx").write_bytes(_BLIND.read_bytes())
    spec = await session.open(folder / "other.fair", BASE.replace("80", "90000000") + _ENDLESS)
    assert await session.findings(spec) == []
    running = await _under_way(session, spec)
    assert await session.lenses(spec) == ["checking ..."]
    session.type(spec, "\n")
    with pytest.raises(JsonRpcException) as ended:  # which is what editors are silent about
        await running
    assert ended.value.code == types.LSPErrorCodes.RequestCancelled
    assert await session.lenses(spec) == ["check"]
    running = await _under_way(session, spec)
    token = list(session.client.progress_reports)[-1]
    session.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    with pytest.raises(Exception, match="the check was ended"):
        await running
    assert await session.lenses(spec) == ["check"]

    # The editor is closed while a check runs: the session's last request, below, must be answered without an error.
    running = await _under_way(session, spec)
    running.add_done_callback(lambda ended: ended.cancelled() or ended.exception())


async def _under_way(session: Session, spec: str) -> asyncio.Future[Any]:
    """A check that has told of its progress: its process is there."""
    before = len(session.client.progress_reports)
    running = asyncio.ensure_future(session.check(spec, "alike"))
    while len(session.client.progress_reports) == before or not _told(session):
        await asyncio.sleep(0.01)
    return running


def _told(session: Session) -> bool:
    """Whether the last check has said more than that it begins."""
    *_, last = session.client.progress_reports.values()
    return any(each.kind == "report" for each in last)


#: A black box, about which nobody can prove anything: its check takes all the time there is.
_ENDLESS = """
model blind : Applicant -> { reject, grant }
  from black_box "blind.onnx"
  reads sex, savings
  grant when score > 0
  favourable grant
property alike {
  compare a, b : Applicant
  differ in sex
  require same decision
}
"""
_BLIND = Path(__file__).parents[1] / "golden" / "check" / "black-box" / "blind.onnx"
