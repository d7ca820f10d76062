"""The extension for Visual Studio Code: its grammar run by the library that colours there, and its snippets."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fairdsl.source import SourceFile
from fairdsl.syntax.parse import parse
from fairdsl.syntax.pieces import AROUND, Looks
from tests.editors.test_highlighting import SEVERAL_LINES, specs
from tests.editors.textmate import SCOPES

EXTENSION = Path(__file__).parents[2] / "editors" / "vscode"
_PLACEHOLDER = re.compile(r"\$\{\d+:([^}]*)\}")


@pytest.mark.skipif(
    shutil.which("node") is None or not (EXTENSION / "node_modules" / "vscode-textmate").is_dir(),
    reason="`npm ci` in editors/vscode installs what it needs",
)
def test_vscode_textmate_agrees_token_by_token() -> None:
    chosen = [one for one in specs() if one[0].name not in SEVERAL_LINES]
    ran = subprocess.run(
        ["node", str(Path(__file__).with_name("tokenise.mjs"))],
        input=json.dumps([text for _, text, _ in chosen]),
        capture_output=True,
        text=True,
        check=True,
    )
    looks = {scope: kind for kind, scope in SCOPES.items()}
    for (path, text, tokens), coloured in zip(chosen, json.loads(ran.stdout), strict=True):
        units = text.encode("utf-16-le")
        found = [(units[2 * a : 2 * b].decode("utf-16-le"), looks[scope]) for a, b, scope in coloured]
        words = [(word, kind) for word, kind in found if kind is not Looks.COMMENT]
        assert words == [(word, kind) for _, word, kind in tokens], path


@pytest.mark.parametrize("name", sorted(json.loads((EXTENSION / "snippets" / "fair.json").read_text("utf-8"))))
def test_a_snippet_can_be_read(name: str) -> None:
    snippet = json.loads((EXTENSION / "snippets" / "fair.json").read_text("utf-8"))[name]
    text = _PLACEHOLDER.sub(r"\1", "\n".join(snippet["body"]))
    assert "$" not in text
    assert any(parse(SourceFile("snippet", around.format(text))).complete for around in AROUND)


def test_what_the_manifest_names_is_there() -> None:
    manifest = json.loads((EXTENSION / "package.json").read_text("utf-8"))
    named = re.findall(
        r'"(?:\./)?((?:icons|snippets|syntaxes|walkthrough)/[\w./-]*|language-[\w./-]*)"', json.dumps(manifest)
    )
    assert len(named) >= 8
    assert [path for path in named if not (EXTENSION / path).is_file()] == []
    source = (EXTENSION / "src" / "extension.js").read_text("utf-8")
    for command in manifest["contributes"]["commands"]:
        assert f'"{command["command"]}"' in source
    steps = [step for each in manifest["contributes"]["walkthroughs"] for step in each["steps"]]
    events = [event.partition(":")[0] for step in steps for event in step["completionEvents"]]
    assert set(events) <= {"onCommand", "onContext", "onSettingChanged", "onLink", "onView", "stepSelected"}, "or never"


@pytest.mark.skipif(shutil.which("node") is None, reason="`node` runs the extension")
def test_the_extension_starts_its_server_and_says_once_what_failed() -> None:
    program = [shutil.which("node") or "", str(Path(__file__).with_name("extension.cjs"))]
    ran = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "as it should be\n"), ran.stderr
