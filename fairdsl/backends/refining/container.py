"""Files with a header and arrays: zip archives that NumPy opens too, told apart by their schema.

``header.json`` comes first; every array is a member ``NAME.npy``. The header's ``sha256`` is of everything
else in the file, so a file that was cut off or changed is recognised. Docs: docs/jobs.md.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.errors import not_of_its_kind
from fairdsl.backends.refining import errors
from fairdsl.codec import Document, MisfitError, from_plain
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.source.json_text import read_json
from fairdsl.source.reading import content_of, largest, opened

Arrays = Mapping[str, NDArray[np.generic]]

_HEADER = "header.json"
#: Bytes of a header, at most: its values are names and numbers, and what is large is an array.
_LONGEST_HEADER = 1 << 26
#: What stands before each archive that is appended to a file.
SEAM = b"\n-- a record of fairdsl follows --\n"
#: A zip file's first bytes, as far as ours begin.
_BEGINNING = b"PK\x03\x04"
#: How a member begins: its signature, its size, and the lengths of its name and of what may follow that.
_LOCAL = struct.Struct("<4s18xIHH")
#: What a zip file ends with: its signature, and no comment.
_END, _NO_COMMENT = b"PK\x05\x06", b"\x00\x00"
_END_SIZE = 22
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


class _BrokenError(Exception):
    """An archive that is not whole, or not as it was written; its message says how that shows."""


def unpack(kind: Kind, path: Path) -> Container:
    """The content of a file of that kind. DiagnosticError for any other, and for one that is not as it was."""
    return _content(kind, path, content_of(path))


def unpack_grown(kind: Kind, further: Kind, path: Path) -> list[Container]:
    """The same of a file to which records were appended, each after a ``SEAM``: its own content, and theirs.

    Where a run was killed, or its machine stopped, while it appended, a record is not whole: it and what follows it
    are left out, which is what that run had not kept yet.
    """
    *pieces, last = content_of(path).split(SEAM)
    torn = next((length for length in range(len(SEAM) - 1, 0, -1) if last.endswith(SEAM[:length])), 0)
    first, *more = [*pieces, last[: len(last) - torn]]
    found = [_content(kind, path, first)]
    for record in more:
        before = sum(array.nbytes for each in found for array in each.arrays.values())
        try:
            found.append(_unpacked(further, path, record, before))
        except _BrokenError:
            break
    return found


def _content(kind: Kind, path: Path, content: bytes) -> Container:
    if not content.startswith(_BEGINNING):
        raise DiagnosticError(_not_of(kind, path, "it is a file of another format"))
    try:
        return _unpacked(kind, path, content)
    except _BrokenError as error:
        raise DiagnosticError(errors.damaged(str(path), str(error))) from error


def _unpacked(kind: Kind, path: Path, content: bytes, before: int = 0) -> Container:
    """What an archive holds; ``before`` it, so many bytes were unpacked of the file."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_members(archive, content)
            header = _header(archive, kind, path, before)
            arrays = _arrays(archive)
    except DiagnosticError:
        raise
    except Exception as error:  # what libraries raise for broken archives has no common kind
        raise _BrokenError("it was cut off or changed after it was written") from error
    claimed = header.pop("sha256", None)
    if claimed != _sha256(header, arrays):
        raise _BrokenError("its content is not what its sha256 says")
    try:
        head = from_plain(kind.head, header)
    except MisfitError as misfit:
        raise DiagnosticError(errors.damaged(str(path), f"of its header, {misfit.said}")) from misfit
    return Container(head=head, arrays=arrays, sha256=str(claimed))


def _check_members(archive: zipfile.ZipFile, content: bytes) -> None:
    """ValueError where a file has more than members, each once and one behind the other, their table and its end.

    What no table names, or names twice, nobody signed; and readers of zip files differ in what they take.
    """
    at, names = 0, archive.namelist()
    for member in archive.infolist():
        _, _, _, extra = _LOCAL.unpack_from(content, at)
        head = member.FileHeader(zip64=extra > 0)
        if (member.header_offset, head) != (at, content[at : at + len(head)]):
            raise ValueError("a member is not what the table says, or not where the one before ends")
        at += len(head) + member.compress_size
    end = content[-_END_SIZE:]
    if at != archive.start_dir or len(set(names)) != len(names) or (end[:4], end[-2:]) != (_END, _NO_COMMENT):
        raise ValueError("something is there beside the members")


def claims(path: Path) -> tuple[str, str]:
    """The schema and sha256 that a file claims; empty where it claims none. Nothing is verified."""
    try:
        with opened(path) as file:
            header = read_json(_first_member(file))
        return str(header["schema"]), str(header["sha256"])
    except Exception:  # whatever may be wrong with a file that is not ours
        return "", ""


def _first_member(file: BinaryIO) -> bytes:
    """The content of an archive's first member, as ours are written; its table at the end may be that of a record."""
    beginning = file.read(_LOCAL.size)
    signature, size, name, extra = _LOCAL.unpack(beginning)
    if signature != _BEGINNING or size > _LONGEST_HEADER or file.read(name) != _HEADER.encode():
        raise ValueError("a file without a header")
    file.read(extra)
    return file.read(size)


def _header(archive: zipfile.ZipFile, kind: Kind, path: Path, before: int) -> dict[str, Any]:
    """The header, once it is clear that the file is of the kind and of a version that is known."""
    if _HEADER not in archive.namelist():
        raise DiagnosticError(_not_of(kind, path, f"it is an archive without `{_HEADER}`"))
    _check_size(archive, path, before)
    header = _read_header(archive)
    schema = str(header.get("schema")) if isinstance(header, dict) else "nothing"
    name, _, version = kind.head.SCHEMA.partition("/")
    found, _, other = schema.partition("/")
    if found != name:
        raise DiagnosticError(_not_of(kind, path, f"its schema is `{schema}`"))
    if other != version:
        raise DiagnosticError(errors.newer_version(str(path), schema, kind.head.SCHEMA))
    return dict(header)


def _check_size(archive: zipfile.ZipFile, path: Path, before: int) -> None:
    """DiagnosticError where a few bytes would become more than are read: no member yields more than it claims here."""
    claimed = before + sum(member.file_size for member in archive.infolist())
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
        file.read(1)  # behind its end the checksum is looked at
    return found


def _sha256(header: Mapping[str, Any], arrays: Arrays) -> str:
    text = json.dumps(header, sort_keys=True, ensure_ascii=False)
    return sha256(f"{text}\n{digest(arrays)}".encode()).hexdigest()


def _not_of(kind: Kind, path: Path, found: str) -> Diagnostic:
    write = "write jobs with `fairdsl compile SPEC --to interval-job -o DIR` and solve them with `fairdsl solve`"
    return not_of_its_kind(str(path), f"an {kind.words}", found, write)
