"""Paths between quotes: the files that may be named at the cursor, in the folder that paths must not leave."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types

from fairdsl.lsp.desk import Desk
from fairdsl.source.reading import root_of

#: A text that is not closed, behind words that a path follows: `use`, `from`, `from` and a format, `agrees ... in`.
_PATH = re.compile(
    r'(?:\b(?P<use>use)|\bfrom(?:[ \t]+[A-Za-z_]\w*)?|\bcolumn[ \t]+"[^"\n]*"[ \t]+in)\s*"(?P<typed>[^"\n]*)\Z'
)
_COMMENT = re.compile(r'\A(?:[^"#]|"[^"]*")*#')
#: Files of a folder that are offered, the first by their names.
_MOST = 500


def path_completions(desk: Desk, path: str, offset: int) -> Iterator[types.CompletionItem]:
    """Files and folders that go on with the path before an offset; none where no path stands."""
    text = desk.text(path)
    found = _PATH.search(text, 0, offset)
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    if found is None or _COMMENT.match(line):
        return
    folder, _, begun = found["typed"].rpartition("/")
    where = Path(os.path.normpath(Path(path).parent / folder))
    if "\\" in found["typed"] or not Path(os.path.realpath(where)).is_relative_to(root_of(path)):
        return
    places = desk.places(path)
    replaced = types.Range(places.position(offset - len(begun)), places.position(offset))
    for name in _names(where, spec=found["use"] is not None, own=path):
        kind = types.CompletionItemKind.Folder if name.endswith("/") else types.CompletionItemKind.File
        yield types.CompletionItem(label=name, kind=kind, text_edit=types.TextEdit(replaced, name))


def _names(folder: Path, *, spec: bool, own: str) -> Iterator[str]:
    """The specs in a folder, or all other files, and the folders, which end in a slash; nothing hidden."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    shown = [each for each in entries if not each.name.startswith(".") and not re.search(r'["\n\\]', each.name)]
    for entry in shown[:_MOST]:
        if entry.is_dir():
            yield f"{entry.name}/"
        elif entry.name.endswith(".fair") == spec and entry.path != own:
            yield entry.name
