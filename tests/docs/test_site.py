"""The site: every page has its place, it builds without a warning, and every link leads somewhere."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
_ID = re.compile(r"\bid=[\"']?([^\"'\s>]+)")
_LINK = re.compile(r"<[^>]*?\b(?:href|src)=[\"']?([^\"'\s>]+)")
#: Pages of reference that the code makes.
MADE = re.compile(r"docs/(reference/\w+|errors/README)\.md")


def placed() -> list[str]:
    """The pages that the navigation names."""
    settings = (ROOT / "site" / "mkdocs.yml").read_text("utf-8")
    return re.findall(r"(?:: |- )([\w./-]+\.md)$", settings.partition("\nnav:")[2], re.MULTILINE)


def test_every_page_has_its_place() -> None:
    pages = placed()
    assert len(set(pages)) == len(pages)
    assert [page for page in pages if not (ROOT / page).is_file() and not MADE.fullmatch(page)] == []
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")} <= set(pages)


def test_the_pages_of_reference_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "site"))
    from reference import pages  # type: ignore[import-not-found]

    made = pages()
    assert set(made) == {page for page in placed() if MADE.fullmatch(page)}
    assert "## `impact_ratio`" in made["docs/reference/metrics.md"]
    assert "compare <names> : <domain>" in made["docs/reference/forms.md"]
    assert "[E0203](E0203.md)" in made["docs/errors/README.md"]
    assert "- `timeout`: time limit in seconds" in made["docs/reference/functions.md"]
    assert "## `fairdsl lsp`" in made["docs/reference/commands.md"]
    assert "| `clock` |" in made["docs/reference/modules.md"]


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("material") is None, reason="`pip install 'fairdsl[site]'` builds it")
def test_the_site_is_built_and_every_link_leads_somewhere(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, str(ROOT / "site" / "build.py"), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert "WARNING" not in built.stdout + built.stderr
    assert list(dead(tmp_path)) == []
    pages = {
        page.relative_to(tmp_path).as_posix() for page in tmp_path.rglob("*.html") if "walkthrough" not in page.parts
    }
    assert pages - reached(tmp_path) == set()
    assert "Is this model fair" in (tmp_path / "index.html").read_text("utf-8")


def dead(site: Path) -> Iterator[str]:
    """The links in pages of a site that lead nowhere, and what they would load from elsewhere."""

    @cache
    def ids(page: Path) -> set[str]:
        return set(_ID.findall(page.read_text("utf-8")))

    for page in sorted(site.rglob("*.html")):
        for link, target, heading in links(page):
            if not target.is_file() or (heading and target.suffix == ".html" and unquote(heading) not in ids(target)):
                yield f"{page.relative_to(site)}: {link}"


def links(page: Path) -> Iterator[tuple[str, Path, str]]:
    """What a page of a site links to within it: as it is written, the file, and the heading there."""
    for link in _LINK.findall(page.read_text("utf-8")):
        if not re.match(r"(https?|mailto|data):", link):
            path, _, heading = link.partition("#")
            target = (page.parent / unquote(path.partition("?")[0])).resolve() if path else page
            yield link, target / "index.html" if target.is_dir() else target, heading


def reached(site: Path) -> set[str]:
    """The pages that the first one leads to, over however many others."""
    found, todo = {site / "index.html"}, [site / "index.html"]
    while todo:
        new = {target for _, target, _ in links(todo.pop()) if target.suffix == ".html"} - found
        found, todo = found | new, [*todo, *new]
    return {page.relative_to(site).as_posix() for page in found}


def test_what_would_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html">b</a><a href="a.html#x" id=y>x</a><a href="#y">y</a>')
    assert list(dead(tmp_path)) == ["a.html: b.html", "a.html: a.html#x"]
    for name, text in (("index.html", "<a href=c.html#x>"), ("c.html", "<a href=index.html>")):
        (tmp_path / name).write_text(text)
    assert reached(tmp_path) == {"index.html", "c.html"}
