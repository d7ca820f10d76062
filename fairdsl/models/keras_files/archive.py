"""What a saved model of Keras holds: its description, a tree of layers, and the arrays of each layer.

A `.keras` file is a zip of `config.json` and `model.weights.h5`; in a `.h5` file both are one HDF5 file. HDF5 can name
other files to read from; such links are refused, so nothing is opened but the file that the spec names.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.source.json_text import read_json

#: So many bytes of one part of a zip are unpacked at most.
_LARGEST = 1 << 31


class UnreadKerasError(Exception):
    """Why a file cannot be read."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The arrays of the layers of one model; ``inside`` are those of models that are layers of it."""

    arrays: dict[str, list[NDArray[Any]]]
    inside: dict[str, Weights]


@dataclass(frozen=True, slots=True)
class Archive:
    """``config`` describes the model as Keras does."""

    config: dict[str, Any]
    weights: Weights


def opened(content: bytes) -> Archive:
    """A file's content; raises UnreadKerasError, or what zipfile and h5py raise of damaged files, and ValueError."""
    try:
        import h5py
    except ImportError as problem:
        raise UnreadKerasError(
            "`h5py` is not installed, which reads its weights: `pip install 'fairdsl[keras]'`"
        ) from problem
    if content[:4] == b"PK\x03\x04":
        return _of_zip(content)
    with h5py.File(BytesIO(content), "r") as file:
        return _of_hdf5(file)


def _of_zip(content: bytes) -> Archive:
    import h5py

    with zipfile.ZipFile(BytesIO(content)) as parts:
        config, weights = (_part(parts, name) for name in ("config.json", "model.weights.h5"))
    described = read_json(config)
    with h5py.File(BytesIO(weights), "r") as file:
        return Archive(described, _of_container(file, described))


def _part(parts: zipfile.ZipFile, name: str) -> bytes:
    if name not in parts.namelist():
        raise UnreadKerasError(f"it has no `{name}`")
    if parts.getinfo(name).file_size > _LARGEST:
        raise UnreadKerasError(f"its `{name}` is too large")
    return parts.read(name)


def _of_container(group: Any, described: dict[str, Any]) -> Weights:
    """The layers of a model lie in folders named by their class and counted; each folder says which layer it is of."""
    found = Weights({}, {})
    folders = dict(_groups(_group(group, "layers")))
    by_name = {name: folder for folder in folders.values() if (name := _name_of(folder)) is not None}
    for layer in described["config"]["layers"]:
        name = layer["config"]["name"]
        folder = by_name.get(name)
        if folder is None:
            continue  # a layer without arrays may have no folder
        if "layers" in layer["config"]:
            found.inside[name] = _of_container(folder, layer)
        else:
            held = dict(_datasets(_group(folder, "vars")))
            found.arrays[name] = [held[str(place)] for place in range(len(held))]
    return found


def _name_of(folder: Any) -> str | None:
    name = _group(folder, "vars").attrs.get("name")
    return None if name is None else _text(name)


def _of_hdf5(file: Any) -> Archive:
    """The arrays of a layer are listed by name; those of a model inside of another are listed with it."""
    if "model_config" not in file.attrs:
        raise UnreadKerasError("it holds weights alone: save the whole model by `model.save`")
    if not _text(file.attrs.get("keras_version", "")).startswith("3"):
        raise UnreadKerasError("it was written by a Keras before 3: load it there, and save it by Keras 3")
    described = read_json(_text(file.attrs["model_config"]))
    held = _group(file, "model_weights")
    found = Weights({}, {})
    for layer in described["config"]["layers"]:
        name = layer["config"]["name"]
        if "layers" in layer["config"]:
            raise UnreadKerasError(f"its layer `{name}` is a model of its own: save it as `.keras`")
        if name not in held:
            continue  # inputs have none
        folder = _group(held, name)
        found.arrays[name] = [_at(folder, _text(path)) for path in folder.attrs.get("weight_names", ())]
    return Archive(described, found)


def _at(group: Any, path: str) -> NDArray[Any]:
    *folders, last = path.split("/")
    for folder in folders:
        group = _group(group, folder)
    return _array(group, last)


def _groups(group: Any) -> Iterator[tuple[str, Any]]:
    import h5py

    for name in group:
        if isinstance(_own(group, name), h5py.Group):
            yield name, group[name]


def _datasets(group: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    for name in group:
        yield name, _array(group, name)


def _group(group: Any, name: str) -> Any:
    import h5py

    found = _own(group, name)
    if not isinstance(found, h5py.Group):
        raise UnreadKerasError(f"it has no folder `{name}` where its weights should be")
    return found


def _array(group: Any, name: str) -> NDArray[Any]:
    import h5py

    found = _own(group, name)
    if not isinstance(found, h5py.Dataset) or found.external or found.is_virtual:
        raise UnreadKerasError(f"its array `{name}` is not one that lies in the file")
    return np.asarray(found[()])


def _own(group: Any, name: str) -> Any:
    """What lies under a name in the file itself; None of links to elsewhere."""
    import h5py

    link = group.get(name, getlink=True)
    return group[name] if isinstance(link, h5py.HardLink) else None


def _text(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)
