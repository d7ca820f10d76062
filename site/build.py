"""Build the site of the documentation: `python site/build.py [FOLDER]` (pip install 'fairdsl[site]').

The pages lie in the site as in the repository, so that links between them lead where they lead there; what the code
says of itself is added to them. Any warning is an error.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
#: What pages link to, beside pages.
FOLDERS = ("docs", "examples", "specs", "benchmarks", "editors", "presets", "prelude")
PAGES = ("README.md", "SECURITY.md", "CHANGELOG.md", "LICENSE", "CITATION.cff", "pyproject.toml", "action.yml")
_LARGEST = 2_000_000
#: What tests have to know of a block of code, which no reader has.
_MARK = re.compile(r"^```fair [^\n]*$", re.MULTILINE)
#: Where the theme would load the program from that lets search work without a server.
_ELSEWHERE = "https://unpkg.com/iframe-worker/shim"


def gather(folder: Path) -> None:
    """Put all pages and what they link to into an empty folder."""
    sys.path.insert(0, str(HERE))
    from reference import pages

    for path in tracked():
        if path.parts[0] in FOLDERS or path.as_posix() in PAGES:
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, target)
    for page in folder.rglob("*.md"):
        page.write_text(_MARK.sub("```fair", page.read_text(encoding="utf-8")), encoding="utf-8")
    for name, text in pages().items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def tracked() -> Iterator[Path]:
    """The files of the repository, but for large ones."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and (ROOT / name).stat().st_size <= _LARGEST:
            yield Path(name)


def build(site: Path) -> int:
    """Build the site into a folder; the exit code of MkDocs."""
    with tempfile.TemporaryDirectory() as work:
        pages = Path(work) / "pages"
        gather(pages)
        settings = (HERE / "mkdocs.yml").read_text(encoding="utf-8")
        file = Path(work) / "mkdocs.yml"
        file.write_text(settings.replace("PAGES", str(pages)).replace("SITE", str(site.resolve())), encoding="utf-8")
        mkdocs = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-f", str(file)]
        code = subprocess.run(mkdocs, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, check=False).returncode
    if code == 0:
        bring_along(site)
    return code


def bring_along(site: Path) -> None:
    """Nothing is loaded from elsewhere; and there is no page about pages that are not there, as there is no server."""
    (site / "404.html").unlink(missing_ok=True)
    ours = site / "assets" / "iframe-worker.js"
    shutil.copyfile(HERE / "iframe-worker.js", ours)
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        if _ELSEWHERE in text:
            here = os.path.relpath(ours, page.parent).replace(os.sep, "/")
            page.write_text(text.replace(_ELSEWHERE, here), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=ROOT / "site" / "built", type=Path)
    sys.exit(build(parser.parse_args().folder))
