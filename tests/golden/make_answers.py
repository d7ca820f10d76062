"""Write the solver files of the golden cases about answers: ``python tests/golden/make_answers.py``.

Needed again whenever the manifest's content changes.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import fairdsl
from fairdsl.solver_files.manifest import Part, read_manifest

ERRORS = Path(__file__).parent / "errors"
SPEC = ERRORS / "E0607-spec-for-a-job" / "spec.fair"


def main() -> None:
    cases = (
        "E0620-answer-to-nothing",
        "E0621-spec-has-changed",
        "E0622-manifest-cut-off",
        "E0623-table-without-output",
        "E0626-settled-by-nothing",
    )
    for case in cases:
        folder = ERRORS / case
        shutil.copy(SPEC, folder / "spec.fair")
        fairdsl.compile(folder / "spec.fair", to="smtlib", directory=folder)
    (ERRORS / "E0620-answer-to-nothing" / "sex_never_decide.smt2.answer").write_text("unsat\n")
    changed = ERRORS / "E0621-spec-has-changed" / "spec.fair"
    changed.write_text(changed.read_text().replace("90", "80"))
    manifest = ERRORS / "E0622-manifest-cut-off" / "manifest.json"
    manifest.write_bytes(manifest.read_bytes()[:200])
    _settle_by_nothing(ERRORS / "E0626-settled-by-nothing" / "manifest.json")
    (ERRORS / "E0623-table-without-output" / "answers.jsonl").write_text('{"file": "sex_never_decides.smt2"}\n')


def _settle_by_nothing(path: Path) -> None:
    """What a forger writes: nothing is needed for the answer, and the sha256 fits."""
    manifest = read_manifest(path)
    settled = [replace(one, parts=(Part(settled_by=((),)),)) for one in manifest.questions]
    path.write_text(replace(manifest, questions=tuple(settled)).to_json(), encoding="utf-8")


if __name__ == "__main__":
    main()
