"""What can be set, each option declared once: a section of every run, and one of each engine that has options.

A section is a frozen dataclass whose fields are :func:`option`; the engine that reads them declares it in the module
``options`` of its own folder. The command line, the Python API, their checks and docs/options.md derive from it.
"""

from fairdsl.options.declare import Declared, Section, declared, option
from fairdsl.options.kinds import Kind
from fairdsl.options.run import Run
from fairdsl.options.settings import Given, Options, options_of, own_settings, split_settings

__all__ = [
    "Declared",
    "Given",
    "Kind",
    "Options",
    "Run",
    "Section",
    "declared",
    "option",
    "options_of",
    "own_settings",
    "split_settings",
]
