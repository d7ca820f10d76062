"""What may import what, and what is imported when."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import fairdsl

ROOT = Path(__file__).parents[2]
HEAVY = {"distributed", "numpy", "onnx", "onnxruntime", "z3", "rich"}

SPEC = """\
domain Applicant {
  sex : boolean
  age : integer 18 .. 90
}
protected sex
model approve : Applicant -> { no, yes }
  score = age - 30
  yes when score > 0
property fair {
  compare a, b : Applicant
  differ in sex
  require same decision
}
"""


def loaded_by(*commands: str, folder: Path) -> set[str]:
    """The top-level modules that commands have loaded when they end, in a process of their own."""
    program = (
        "import sys\n"
        "from fairdsl.cli.app import cli\n"
        f"for words in {commands!r}: cli(words.split(), standalone_mode=False)\n"
        "print('\\nLOADED', *sorted({name.split('.')[0] for name in sys.modules}))\n"
    )
    environment = {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=folder, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rsplit("LOADED", 1)[1].split())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "x.fair").write_text(SPEC, encoding="utf-8")
    return tmp_path


def test_words_alone_load_nothing_heavy(folder: Path) -> None:
    said = ("--version", "--help", "explain E0203", "check --help", "solve --help")
    assert not loaded_by(*said, folder=folder) & (HEAVY | {"lark"})


def test_reading_a_spec_loads_no_numbers_and_no_solver(folder: Path) -> None:
    assert not loaded_by("lint x.fair", "fmt x.fair", folder=folder) & HEAVY


def test_rates_of_a_model_in_the_spec_load_nothing_about_files_and_proofs(folder: Path) -> None:
    groups = "property fair {\n  across sex\n  under people\n  measure parity_gap\n}\n"
    model = SPEC[: SPEC.index("property")].replace("score > 0\n", "score > 0\n  favourable yes\n")
    text = model + "distribution people over Applicant\n  uniform\n" + groups
    (folder / "rates.fair").write_text(text, encoding="utf-8")
    program = f"import sys, fairdsl; fairdsl.check({str(folder / 'rates.fair')!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    unasked = ("backends.smt.script", "backends.ssat.files", "models.confirm", "models.onnx_import")
    assert not {f"fairdsl.{name}" for name in unasked} & set(done.stdout.split())


def test_the_contracts_of_the_layers() -> None:
    command = [Path(sys.executable).parent / "lint-imports", "--no-cache"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout


def test_no_public_function_is_hidden_by_a_package_of_its_name() -> None:
    """Importing ``fairdsl.x`` sets ``fairdsl.x``: a function of that name would be gone."""
    packages = {path.stem for path in (ROOT / "fairdsl").iterdir()}
    assert not packages & set(fairdsl.__all__)
