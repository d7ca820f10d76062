"""`use`: declarations that several specs share, and files that cannot be had."""

from __future__ import annotations

from pathlib import Path

import pytest
from marked_specs import PEOPLE, assert_found_as_marked, checked, findings, only_property, pairs

from fairdsl.diagnostics import DiagnosticError
from fairdsl.semantics import front_end


def test_declarations_are_shared(tmp_path: Path) -> None:
    found = only_property(pairs(""), tmp_path)
    assert found.model == "approve"
    assert found.domain.name == "Applicant"


def test_properties_are_not_shared(tmp_path: Path) -> None:
    (tmp_path / "audit.fair").write_text(pairs("").replace("property p", "property theirs"), encoding="utf-8")
    spec = checked(pairs("").replace("people.fair", "audit.fair"), tmp_path)
    assert [found.name for found in spec.properties] == ["p"]


def test_paths_count_from_the_file_that_uses(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "domain.fair").write_text("domain Applicant { sex : boolean }\nprotected sex\n", encoding="utf-8")
    (shared / "model.fair").write_text(
        'use "domain.fair"\nmodel approve : Applicant -> { no, yes }\n  from "approve.onnx"\n  yes when score > 0\n',
        encoding="utf-8",
    )
    spec = checked(pairs("").replace("people.fair", "shared/model.fair"), tmp_path)
    source = spec.models["approve"].declaration.source
    assert Path(source.path) == shared / "approve.onnx"


def test_a_file_that_two_files_use_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "left.fair").write_text('use "people.fair"\ncondition old = age >= 60\n', encoding="utf-8")
    (tmp_path / "right.fair").write_text('use "people.fair"\ncondition young = age < 30\n', encoding="utf-8")
    text = 'use "left.fair"\nuse "right.fair"\n' + pairs("  among old or young").replace('use "people.fair"', "")
    only_property(text, tmp_path)


def test_a_file_by_two_paths_has_paths_that_count_from_one_folder(tmp_path: Path) -> None:
    """Else the order of the lines would decide from which folder its model is taken."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "old.fair").write_text('use "../people.fair"\ncondition old = age >= 60\n', encoding="utf-8")
    (tmp_path / "here").symlink_to("sub")
    once = 'use "sub/old.fair"\nuse "here/./old.fair"\n' + pairs("  among old")
    only_property(once, tmp_path)
    (tmp_path / "link.fair").symlink_to("sub/old.fair")
    (finding,) = assert_found_as_marked('use "sub/old.fair"\nuse "link.fair" # error: E0210\n', tmp_path)
    assert "in another folder" in finding.primary.text


def test_what_a_used_file_declares_may_not_be_declared_again(tmp_path: Path) -> None:
    text = 'use "people.fair"\ndomain Applicant { age : integer 18 .. 90 } # error: E0201\n'
    (finding,) = assert_found_as_marked(text, tmp_path)
    assert Path(finding.secondary[0].span.file.path).name == "people.fair"


def test_a_mistake_in_a_used_file_is_shown_there(tmp_path: Path) -> None:
    (tmp_path / "broken.fair").write_text("domain Tenant { rent : integer 9 .. 1 }\n", encoding="utf-8")
    (finding,) = findings('use "broken.fair"\n', tmp_path)
    assert finding.code == "E0301"
    assert Path(finding.primary.span.file.path).name == "broken.fair"


def test_a_file_cannot_use_itself(tmp_path: Path) -> None:
    (finding,) = assert_found_as_marked('use "spec.fair" # error: E0209\n', tmp_path)
    assert finding.primary.text == "spec.fair -> spec.fair"


def test_a_longer_way_back_is_shown_where_it_closes(tmp_path: Path) -> None:
    (tmp_path / "first.fair").write_text('use "second.fair"\n', encoding="utf-8")
    (tmp_path / "second.fair").write_text('use "spec.fair"\n', encoding="utf-8")
    (finding,) = findings('use "first.fair"\n', tmp_path)
    assert finding.code == "E0209"
    assert finding.primary.text == "spec.fair -> first.fair -> second.fair -> spec.fair"
    assert Path(finding.primary.span.file.path).name == "second.fair"


MISSING = {
    "no such file": "germany.fair",
    "a folder": "folder",
    "another encoding": "latin.fair",
}


@pytest.mark.parametrize("name", MISSING.values(), ids=MISSING)
def test_a_file_that_cannot_be_read_says_so_once(name: str, tmp_path: Path) -> None:
    """What it would have declared is not known, so nothing is said about names that may stand in it."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "latin.fair").write_bytes("domain Käufer { }".encode("latin-1"))
    text = pairs("  among wealth >= 3").replace('"people.fair"', f'"{name}" # error: E0210')
    assert_found_as_marked(text, tmp_path)


def test_the_spec_itself_may_be_missing(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError) as raised:
        front_end(str(tmp_path / "nowhere.fair"))
    (finding,) = raised.value.diagnostics
    assert finding.code == "E0210"
    assert finding.notes == ("there is no such file",)


def test_a_file_without_properties_is_there_to_be_used(tmp_path: Path) -> None:
    checked(PEOPLE, tmp_path)


def test_another_version_of_the_language_is_not_guessed_at(tmp_path: Path) -> None:
    (tmp_path / "later.fair").write_text("fair 2\n", encoding="utf-8")
    found = findings('fair 1\nuse "later.fair"\n', tmp_path)
    assert [finding.code for finding in found] in (["E0308"], ["E0116"])
