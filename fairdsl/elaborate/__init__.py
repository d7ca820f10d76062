"""Elaboration: a checked spec and its files become closed problems. The only place that knows them all."""

from fairdsl.elaborate.binding import hold_models
from fairdsl.elaborate.elaborate import Elaborated, Elaboration, build_populations, elaborate, load_models
from fairdsl.elaborate.functions import Function

__all__ = ["Elaborated", "Elaboration", "Function", "build_populations", "elaborate", "hold_models", "load_models"]
