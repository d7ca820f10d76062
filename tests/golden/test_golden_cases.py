"""Whole commands: what they print and the files they write. ``pytest --accept`` rewrites ``expected/``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Case, cases, lint_text, run

COMMANDS = {"check": "check spec.fair", "compile": "compile spec.fair --to smtlib -o {out}"}
FOLDERS = [(kind, folder) for kind in COMMANDS for folder in cases(kind)]


@pytest.mark.parametrize(("kind", "folder"), FOLDERS, ids=lambda part: getattr(part, "name", part))
def test_the_command(kind: str, folder: Path, tmp_path: Path, as_expected: Callable[[Path, str], None]) -> None:
    case = Case.of(folder, command=COMMANDS[kind], exit=0)
    outcome = run(case, tmp_path)
    assert outcome.exit == case.exit, outcome.stdout + outcome.stderr
    written = {"stdout.txt": outcome.stdout, "stderr.txt": outcome.stderr}
    written |= {f"out/{name}": text for name, text in outcome.files.items()}
    before = folder / "expected"
    known = {path.relative_to(before).as_posix() for path in before.rglob("*") if path.is_file()}
    for name in sorted(known | written.keys()):
        as_expected(before / name, case.steady(written.get(name, "")))
    assert not [problem for text in (outcome.stdout, outcome.stderr) for problem in lint_text(text)]


@pytest.mark.parametrize("folder", cases("compile"), ids=lambda folder: folder.name)
def test_compiling_twice_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    case = Case.of(folder, command=COMMANDS["compile"], exit=0)
    assert run(case, tmp_path / "first").files == run(case, tmp_path / "second").files
