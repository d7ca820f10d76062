"""Files with a header and arrays: zip archives that NumPy opens too, told apart by their schema.

``header.json`` comes first; every array is a member ``NAME.npy``. The header's ``sha256`` is of everything
else in the file, so a file that was cut off or changed is recognised. Docs: docs/jobs.md.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.errors import not_of_its_kind
from fairdsl.backends.intervals import errors
from fairdsl.codec import Document, MisfitError, from_plain
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.source.json_text import read_json
from fairdsl.source.reading import content_of, largest, opened

__all__ = ["Arrays", "Container", "Kind", "claims", "digest", "pack", "unpack"]

Arrays = Mapping[str, NDArray[np.generic]]

_HEADER = "header.json"
#: Bytes of a header, at most: its values are names and numbers, and what is large is an array.
_LONGEST_HEADER = 1 << 26
#: A zip file's first bytes, as far as ours begin.
_BEGINNING = b"PK\x03\x04"
#: Zip files carry a time; the same content gives the same bytes.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file is: its name for people, and the document that its header is."""

    words: str
    head: type[Document]


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A file's content: the object that its header says, and the arrays. ``sha256`` names it."""

    head: Any
    arrays: Arrays
    sha256: str


def digest(arrays: Arrays) -> str:
    """The sha256 of named arrays, in order of their names."""
    whole = sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        whole.update(json.dumps([name, array.dtype.str, array.shape]).encode() + b"\n")
        whole.update(array.tobytes())
    return whole.hexdigest()


def pack(header: Mapping[str, Any], arrays: Arrays, *, compressed: bool = False) -> bytes:
    """The file as bytes, its header a document in plain values; the same content gives the same bytes."""
    named = {**header, "sha256": _sha256(header, arrays)}
    how = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED, compresslevel=1) as archive:
        text = json.dumps(named, indent=2, ensure_ascii=False) + "\n"
        archive.writestr(zipfile.ZipInfo(_HEADER, _NO_TIME), text)
        for name in sorted(arrays):
            member = io.BytesIO()
            np.lib.format.write_array(member, np.asarray(arrays[name], order="C"), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", _NO_TIME), member.getvalue(), how)
    return written.getvalue()


def unpack(kind: Kind, path: Path) -> Container:
    """The content of a file of that kind. DiagnosticError for any other, and for one that is not as it was."""
    content = content_of(path)
    if not content.startswith(_BEGINNING):
        raise DiagnosticError(_not_of(kind, path, "it is a file of another format"))
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            header = _header(archive, kind, path)
            arrays = _arrays(archive)
    except DiagnosticError:
        raise
    except Exception as error:  # what libraries raise for broken archives has no common kind
        raise DiagnosticError(errors.damaged(str(path), "it was cut off or changed after it was written")) from error
    claimed = header.pop("sha256", None)
    if claimed != _sha256(header, arrays):
        raise DiagnosticError(errors.damaged(str(path), "its content is not what its sha256 says"))
    try:
        head = from_plain(kind.head, header)
    except MisfitError as misfit:
        raise DiagnosticError(errors.damaged(str(path), f"of its header, {misfit.said}")) from misfit
    return Container(head=head, arrays=arrays, sha256=str(claimed))


def claims(path: Path) -> tuple[str, str]:
    """The schema and sha256 that a file claims; empty where it claims none. Nothing is verified."""
    try:
        with opened(path) as file, zipfile.ZipFile(file) as archive:
            header = _read_header(archive)
        return str(header["schema"]), str(header["sha256"])
    except Exception:  # what libraries raise for broken archives has no common kind
        return "", ""


def _header(archive: zipfile.ZipFile, kind: Kind, path: Path) -> dict[str, Any]:
    """The header, once it is clear that the file is of the kind and of a version that is known."""
    if _HEADER not in archive.namelist():
        raise DiagnosticError(_not_of(kind, path, f"it is an archive without `{_HEADER}`"))
    _check_size(archive, path)
    header = _read_header(archive)
    schema = str(header.get("schema")) if isinstance(header, dict) else "nothing"
    name, _, version = kind.head.SCHEMA.partition("/")
    found, _, other = schema.partition("/")
    if found != name:
        raise DiagnosticError(_not_of(kind, path, f"its schema is `{schema}`"))
    if other != version:
        raise DiagnosticError(errors.newer_version(str(path), schema, kind.head.SCHEMA))
    return dict(header)


def _check_size(archive: zipfile.ZipFile, path: Path) -> None:
    """DiagnosticError where a few bytes would become more than are read: no member yields more than it claims here."""
    claimed = sum(member.file_size for member in archive.infolist())
    if claimed > largest():
        limit = f"at most {largest():,} are read; `--largest-file BYTES` allows more"
        raise DiagnosticError(errors.damaged(str(path), f"unpacked it has {claimed:,} bytes, and {limit}"))


def _read_header(archive: zipfile.ZipFile) -> Any:
    if archive.getinfo(_HEADER).file_size > _LONGEST_HEADER:
        raise ValueError("a header without end")
    return read_json(archive.read(_HEADER))


def _arrays(archive: zipfile.ZipFile) -> dict[str, NDArray[np.generic]]:
    return {
        member.filename.removesuffix(".npy"): _array(archive, member)
        for member in archive.infolist()
        if member.filename != _HEADER
    }


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[np.generic]:
    """The array; ValueError where it claims more or fewer values than the member has, before there is room for them."""
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, values = read(file)
        claimed = file.tell() + prod(shape) * values.itemsize
    if claimed != member.file_size or min(shape, default=0) < 0:
        raise ValueError("another number of values than its header claims")
    with archive.open(member) as file:
        found: NDArray[np.generic] = np.lib.format.read_array(file, allow_pickle=False)
    return found


def _sha256(header: Mapping[str, Any], arrays: Arrays) -> str:
    text = json.dumps(header, sort_keys=True, ensure_ascii=False)
    return sha256(f"{text}\n{digest(arrays)}".encode()).hexdigest()


def _not_of(kind: Kind, path: Path, found: str) -> Diagnostic:
    write = "write jobs with `fairdsl compile SPEC --to interval-job -o DIR` and solve them with `fairdsl solve`"
    return not_of_its_kind(str(path), f"an {kind.words}", found, write)
