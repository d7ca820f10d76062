"""Presets: properties that ship with the language, in files of the language itself (``presets/*.fair``).

What a preset is asked of stands in it by words in capitals, which ``apply preset`` puts names in for.
"""

from __future__ import annotations

from fairdsl.resources import preset_files, text_of
from fairdsl.source import SourceFile
from fairdsl.syntax import tree

#: The words in a preset: the model and its domain, the attributes of ``across``, and the population of ``under``.
MODEL, PEOPLE, GROUPS, POPULATION = "MODEL", "PEOPLE", "GROUPS", "POPULATION"


def preset_names() -> tuple[str, ...]:
    """All presets."""
    return tuple(file.stem for file in preset_files())


def preset_text(name: str) -> str:
    """The file of a preset; KeyError where there is none."""
    return text_of({file.stem: file for file in preset_files()}[name])


def read_preset(name: str) -> tree.Spec:
    """The preset as a spec. Raises KeyError where there is none, ValueError where its file cannot be read."""
    from fairdsl.syntax.parse import parse  # its parser is not loaded by whoever only prints help

    result = parse(SourceFile(f"{name}.fair", preset_text(name)))
    if result.spec is None or not result.complete:
        raise ValueError(f"the preset `{name}` cannot be read")
    return result.spec
