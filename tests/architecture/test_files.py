"""Files short enough to be read, and named after what they do."""

from __future__ import annotations

from collections import Counter

from tests.modules import PACKAGE, files

#: An idea whole, and no more.
LONGEST = 400


def test_no_file_needs_much_scrolling() -> None:
    long = {
        path.relative_to(PACKAGE).as_posix(): lines
        for path in files()
        if (lines := path.read_text(encoding="utf-8").count("\n")) > LONGEST
    }
    assert long == {}


def test_no_file_is_a_drawer_for_everything() -> None:
    drawers = {"utils", "util", "helpers", "common", "misc"}
    assert [path.name for path in files() if path.stem in drawers] == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        path.relative_to(PACKAGE).as_posix()
        for path in files()
        if not path.read_text(encoding="utf-8").startswith('"""')
    ]
    assert silent == []


def test_modules_of_tests_have_names_of_their_own() -> None:
    """Of two with one name pytest imports the first, and the second one's tests are not run."""
    names = Counter(path.name for path in PACKAGE.parent.glob("tests/**/test_*.py"))
    assert [name for name, times in names.items() if times > 1] == []
