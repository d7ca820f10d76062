"""Data files that travel with the package: the grammar and the pages about error codes.

In an installed wheel they lie in ``fairdsl/_data``; in a checkout, at the top of the repository, where
their readers look for them. Imports nothing of ours.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent


def _folder(in_wheel: str, in_checkout: str) -> Path:
    """The folder beside the code if the wheel carries one, else the one of the checkout."""
    shipped = _PACKAGE / "_data" / in_wheel
    return shipped if shipped.is_dir() else _PACKAGE.parent / in_checkout


def grammar_file(name: str) -> Path:
    """The path of ``fair.lark`` or ``mistakes.toml``."""
    return _folder("grammar", "grammar") / name


def prelude_file(name: str) -> Path:
    """The path of a file with metrics that the language names."""
    return _folder("prelude", "prelude") / name


def prelude_files() -> list[Path]:
    """All of them."""
    return sorted(_folder("prelude", "prelude").glob("*.fair"))


def preset_files() -> list[Path]:
    """The files of presets."""
    return sorted(_folder("presets", "presets").glob("*.fair"))


def error_page(code: str) -> Path:
    """The path of the page that explains an error code; it need not exist."""
    return _folder("errors", "docs/errors") / f"{code}.md"


def style_sheet() -> str:
    """The styles of a report's page."""
    return text_of(_PACKAGE / "report" / "html" / "page.css")


def text_of(file: Path) -> str:
    """The text of one of these files."""
    return file.read_text(encoding="utf-8")


@cache
def version(package: str = "fairdsl") -> str:
    """The installed version of a package; of this one perhaps that of a source tree, which has none."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed(package)
    except PackageNotFoundError:
        return "0+unknown"
