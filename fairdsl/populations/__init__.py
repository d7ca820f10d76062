"""Populations: declared distributions and data become distributions over cells, with exact probabilities.

``build`` makes the distribution, ``with_derived`` adds what follows from its columns, ``described`` says in words which
one is in force, ``saved`` writes it to a text that can be read again without the data, ``as_bif`` for other programs.
"""

from fairdsl.populations.bif_write import as_bif
from fairdsl.populations.build import build, depends_on_model
from fairdsl.populations.derived import with_derived
from fairdsl.populations.described import described
from fairdsl.populations.document import saved

__all__ = ["as_bif", "build", "depends_on_model", "described", "saved", "with_derived"]
