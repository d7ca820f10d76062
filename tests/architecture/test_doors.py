"""No file is run, and files are opened at one door: whoever does it elsewhere stands here, and why."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import pytest

from tests.modules import PACKAGE, files, nodes_of, parsed

#: Who may import `pickle`, and what it reads: messages of our own processes and files of this very run.
PICKLE = {
    "backends/refining/cluster.py": "writes the task that goes to a cluster",
    "backends/refining/pool.py": "writes the task of this run into a folder of this run",
    "backends/refining/slices.py": "on a worker of a cluster, whose scheduler is trusted (SECURITY.md)",
    "backends/refining/worker.py": "reads the task that its parent wrote a moment ago",
    "backends/smt/solvers/pool.py": "writes what goes through a pipe to a process of ours",
    "backends/smt/solvers/worker.py": "reads what comes through that pipe",
    "processes.py": "names the exception of a pipe that was cut",
}
#: Modules that read programs as data.
READERS = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "yaml"}
#: Functions that run a text, or unpickle a file.
CALLS = {"eval", "exec", "compile", "__import__"}
METHODS = {
    ("np", "load"),
    ("numpy", "load"),
    ("Lark", "load"),
    ("Lark", "open"),
    ("torch", "load"),
    ("pd", "read_pickle"),
}


#: Who opens or writes files elsewhere, and which these are.
ELSEWHERE = {
    "numerics/kernels/cache.py": "the sources of the package, and a lock in a private folder",
    "backends/refining/pool.py": "a new folder of this run",
    "backends/warmup.py": "a lock in a private folder",
    "backends/refining/worker.py": "a file of this run",
    "backends/ssat/solvers/adapters.py": "a new folder of this run",
    "backends/ssat/solvers/libraries.py": "a new folder of this run",
    "backends/smt/milp/highs.py": "the null device",
    "cli/bug.py": "a new folder for temporary files",
    "cli/streams.py": "the null device",
    "clock/deadline.py": "what the system says of this process",
    "clock/memory.py": "what the system says of this process",
    "processes.py": "new folders for the output of programs",
    "solver_files/folder.py": "a new folder inside the one that the user names",
    "resources.py": "the package's own files",
}
OPENING = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "tofile", "copyfile", "copy", "touch"}
#: Functions of modules; numpy and onnx open what they are given by name.
FUNCTIONS = {("os", "replace"), ("os", "rename"), ("os", "fdopen"), ("np", "save"), ("np", "savez"), ("np", "memmap")}
FUNCTIONS |= {("np", "fromfile"), ("np", "loadtxt"), ("onnx", "load"), ("onnx", "save"), ("tempfile", "mkstemp")}
FUNCTIONS |= {("tempfile", "mkdtemp"), ("tempfile", "NamedTemporaryFile"), ("zipfile", "ZipFile"), ("os", "open")}
#: Methods and attributes of these are called as files are opened, and open none; and what is given is bytes.
OTHERS = {"Ledger", "archive", "formatter", "self", "_PROCESS", "copy", "zipfile"}
#: What is written where files are opened, and where something may be run.
OPENED = {"open(", *(f".{name}(" for name in OPENING), *(f"{of}.{name}" for of, name in FUNCTIONS)}
RUN = {"allow_pickle", *READERS, *(f"{name}(" for name in CALLS), *(f"{of}.{name}" for of, name in METHODS)}


def opening(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """What in a module opens or writes files."""
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id="open")):
                yield "open"
            case ast.Call(func=ast.Attribute(value=ast.Name(id=of))) if of in OTHERS:
                pass
            case ast.Call(func=ast.Attribute(value=ast.Name(id=of), attr=name)) if (of, name) in FUNCTIONS:
                yield f"{of}.{name}"
            case ast.Call(func=ast.Attribute(attr=name)) if name in OPENING - {"copy"}:
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Name(id="shutil"), attr=name)) if name in OPENING:
                yield name


def test_files_are_opened_at_the_door() -> None:
    found = {
        path
        for file in files()
        if not (path := file.relative_to(PACKAGE).as_posix()).startswith("source/")
        and list(opening(nodes_of(file, *OPENED)))
    }
    assert found == set(ELSEWHERE)


@pytest.mark.parametrize(
    "source",
    ["open(path)", "p.open()", "Path(p).read_text()", "np.save(p, a)", "os.replace(a, b)", "f().open()"],
)
def test_what_would_be_found_to_open_files(source: str) -> None:
    assert list(opening(ast.walk(parsed(source))))


#: Who reads JSON without the limit on nesting, and what that is.
JSON = {
    "syntax/tables.py": "the package's own tables",
}


def test_json_is_read_at_one_door() -> None:
    found = {
        path
        for file in files()
        if not (path := file.relative_to(PACKAGE).as_posix()).startswith("source/")
        for node in nodes_of(file, "json")
        if isinstance(node, ast.Attribute) and node.attr in ("load", "loads", "JSONDecoder") and named(node) == "json"
    }
    assert found == set(JSON)


def named(node: ast.Attribute) -> str | None:
    return node.value.id if isinstance(node.value, ast.Name) else None


def running(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """What in a module can run code that stands in a file."""
    for node in nodes:
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names if alias.name.split(".")[0] in READERS)
            case ast.ImportFrom(module=str(module), level=0) if module.split(".")[0] in READERS:
                yield module
            case ast.Call(func=ast.Name(id=name)) if name in CALLS:
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Name(id=of), attr=name)) if (of, name) in METHODS:
                yield f"{of}.{name}"
            case ast.keyword(arg="allow_pickle", value=ast.Constant(value=True)):
                yield "allow_pickle"


def test_nothing_runs_code_from_files_but_messages_of_our_own() -> None:
    found = {
        file.relative_to(PACKAGE).as_posix(): names
        for file in files()
        if (names := sorted(set(running(nodes_of(file, *RUN)))))
    }
    assert found == {path: ["pickle"] for path in sorted(PICKLE)}


@pytest.mark.parametrize(
    "source",
    [
        "import joblib",
        "from pickle import load",
        "eval(text)",
        "np.load(path)",
        "Lark.load(f)",
        "f(x, allow_pickle=True)",
    ],
)
def test_what_would_be_found(source: str) -> None:
    assert list(running(ast.walk(parsed(source))))
