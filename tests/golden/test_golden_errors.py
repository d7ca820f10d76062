"""Every diagnostic as a user meets it. ``pytest --accept`` rewrites what is expected; read the diff."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import Case, cases, lint_text, run

FOLDERS = cases("errors")


def case_of(folder: Path) -> Case:
    """A folder ``E0203-unknown-attribute``: linted, unless its case.toml says otherwise."""
    return Case.of(folder, command="lint --files spec.fair", exit=2 if folder.name.startswith("E") else 0)


@pytest.fixture(autouse=True)
def impatient(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long for a cluster that there is not."""
    if "no-cluster" in request.node.name:
        monkeypatch.setattr("fairdsl.backends.refining.cluster._PATIENCE", 0.5)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_message(folder: Path, tmp_path: Path, as_expected: Callable[[Path, str], None]) -> None:
    case = case_of(folder)
    outcome = run(case, tmp_path)
    assert outcome.exit == case.exit, outcome.stderr
    text = outcome.stderr + outcome.stdout
    # First what no `--accept` can make right.
    assert f"[{folder.name[:5]}]" in text, text
    assert not list(lint_text(text))
    as_expected(folder / "expected.txt", case.steady(text))


@pytest.mark.parametrize(
    "folder", [folder for folder in FOLDERS if "compile" not in case_of(folder).command], ids=lambda folder: folder.name
)
def test_its_parts(folder: Path, tmp_path: Path) -> None:
    case = case_of(folder)
    document = json.loads(run(case, tmp_path, "--json").stdout)
    verdicts = [demand["verdict"] for each in document.get("properties", ()) for demand in each["demands"]]
    findings = [finding for part in (document, *verdicts) for finding in part.get("diagnostics", ())]
    assert findings
    # The folder's own code comes first and alone, or with what follows from it.
    assert folder.name[:5] in {finding["code"] for finding in findings}
    problems = [problem for finding in findings for problem in _problems(finding, tmp_path / folder.name)]
    assert not problems


def _problems(finding: dict[str, Any], folder: Path) -> Iterator[str]:
    title = finding["title"]
    if len(title) > 80:
        yield f"the title has {len(title)} characters"
    if title.endswith("."):
        yield "the title ends in a stop"
    if title[:1].isupper():
        yield "the title begins with a capital"
    if not (finding.get("help") or finding.get("fix")):
        yield "nothing says what to write instead"
    labels = [label for label in (finding.get("primary"), *finding["secondary"]) if label]
    texts = [title, finding.get("why") or "", finding.get("help") or "", *finding["notes"]]
    for text in [*texts, *(label["text"] for label in labels)]:
        yield from lint_text(text)
    for label in labels:
        yield from _misplaced(label, folder, primary=label is finding.get("primary"))


def _misplaced(label: dict[str, Any], folder: Path, *, primary: bool) -> Iterator[str]:
    """Spans lie inside their file; a primary one covers something, except at the end of the file."""
    file = folder / label["path"]
    if not file.is_file():
        yield f"no file {label['path']}"
        return
    lines = file.read_bytes().decode("utf-8").split("\n")
    places = [(label[end]["line"], label[end]["column"]) for end in ("start", "end")]
    for line, column in places:
        if line > len(lines) or column > len(lines[line - 1]) + 1:
            yield f"the span leaves {label['path']} at {line}:{column}"
            return
    last = (len(lines), len(lines[-1]) + 1)
    if places[0] > places[1]:
        yield "the span runs backwards"
    if primary and places[0] == places[1] != last:
        yield "the span is empty"
