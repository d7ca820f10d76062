"""SDIMACS: instances as text that solvers of stochastic satisfiability read.

read.py   text -> Instance, with a place for each mistake     write.py   Instance -> text
count.py  counting instances (DIMACS) -> Instance and a factor
"""

from __future__ import annotations

from fairdsl.backends.ssat.sdimacs.count import read_count
from fairdsl.backends.ssat.sdimacs.read import number_of, read_sdimacs, unit_of
from fairdsl.backends.ssat.sdimacs.write import sdimacs_of

__all__ = ["number_of", "read_count", "read_sdimacs", "sdimacs_of", "unit_of"]
