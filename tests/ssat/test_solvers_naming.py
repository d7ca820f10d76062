"""Which solver a name or a path means."""

from __future__ import annotations

from pathlib import Path

import pytest
from solver_instances import SMALL
from stand_in import install

from fairdsl.backends.ssat.solvers import available, external_value, solver_of
from fairdsl.diagnostics import DiagnosticError


def codes(command: str) -> list[str]:
    with pytest.raises(DiagnosticError) as raised:
        solver_of(command)
    return [diagnostic.code for diagnostic in raised.value.diagnostics]


@pytest.mark.parametrize(
    ("file", "solver"),
    [("abc", "ssatABC"), ("ssatABC", "ssatABC"), ("SharpSSAT", "SharpSSAT"), ("sharpssat.bin", "SharpSSAT")],
)
def test_a_program_by_its_file_name(tmp_path: Path, file: str, solver: str) -> None:
    program = install(tmp_path, "ssatABC", name=file)
    found = solver_of(str(program))
    assert (found.adapter.name, found.program) == (solver, str(program))


def test_a_program_of_any_name(tmp_path: Path) -> None:
    program = install(tmp_path, "ssatABC", name="my-build")
    assert codes(str(program)) == ["E0651"]
    assert solver_of(f"ssatABC={program}").adapter.name == "ssatABC"
    assert solver_of(f"sharpssat={program}").adapter.name == "SharpSSAT"


def test_a_name_is_looked_for_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert codes("ssatABC") == ["E0650"]
    assert codes("SharpSSAT") == ["E0650"]
    assert not {"ssatABC", "SharpSSAT"} & set(available())
    program = install(tmp_path, "ssatABC")
    assert solver_of("ssatABC").program == str(program)
    assert solver_of("abc").program == str(program)
    assert "ssatABC" in available()


def test_a_path_beside_here_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = install(tmp_path, "SharpSSAT")
    assert solver_of("./SharpSSAT").program == str(program)
    assert solver_of("SharpSSAT=SharpSSAT").program == str(program)


def test_what_is_no_program(tmp_path: Path) -> None:
    plain = tmp_path / "SharpSSAT"
    assert codes(str(plain)) == ["E0650"]
    plain.write_text("text")
    assert codes(str(plain)) == ["E0650"]
    assert codes("SharpSSAT=") == ["E0650"]
    assert codes("pysdd=/usr/bin/true") == ["E0650"]


@pytest.mark.parametrize("command", ["", "DC-SSAT", "dcssat=/usr/bin/true", "/usr/bin/env"])
def test_what_is_no_solver(command: str) -> None:
    assert codes(command) == ["E0651"]


def test_a_program_that_cannot_be_started(tmp_path: Path) -> None:
    program = tmp_path / "SharpSSAT"
    program.write_bytes(b"\x7fELF and nothing more")
    program.chmod(0o755)
    with pytest.raises(DiagnosticError, match="E0650"):
        external_value(SMALL, str(program), 20)
