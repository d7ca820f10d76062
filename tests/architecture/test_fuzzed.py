"""Whatever reads files is fuzzed: a module that begins to read some fails here until a reader of the table has it."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.fuzz.readers import NOT_FUZZED, READERS
from tests.modules import PACKAGE, files, nodes_of

#: Methods and functions that give the content of a file, or make sense of one.
_READING = {"read_bytes", "read_text", "ZipFile", "read_array", "DictReader", "from_json", "plain_of", "read_placed"}
#: Those of modules whose other functions have the same names.
_OF_MODULES = {
    ("json", "loads"),
    ("json", "load"),
    ("onnx", "load"),
    ("csv", "reader"),
    ("tomllib", "loads"),
    ("np", "load"),
}
_WORDS = {*(f"{name}(" for name in _READING), *(f"{of}.{name}(" for of, name in _OF_MODULES)}


def _reads(file: Path) -> bool:
    calls = (node.func for node in nodes_of(file, *_WORDS) if isinstance(node, ast.Call))
    return any(map(_is_reading, calls))


def _is_reading(called: ast.expr) -> bool:
    match called:
        case ast.Name(id=name):
            return name in _READING
        case ast.Attribute(value=ast.Name(id=module), attr=name) if (module, name) in _OF_MODULES:
            return True
        case ast.Attribute(attr=name):
            return name in _READING
    return False


def test_every_module_that_reads_files_is_fuzzed() -> None:
    fuzzed = {module for reader in READERS for module in reader.modules}
    reading = {file.relative_to(PACKAGE).with_suffix("").as_posix() for file in files() if _reads(file)}
    assert reading - fuzzed - NOT_FUZZED.keys() == set()


def test_the_tables_name_modules_that_there_are() -> None:
    named = {module for reader in READERS for module in reader.modules} | NOT_FUZZED.keys()
    assert [module for module in sorted(named) if not (PACKAGE / f"{module}.py").is_file()] == []
    assert len({reader.name for reader in READERS}) == len(READERS)
