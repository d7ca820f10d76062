"""Elaboration: a checked spec and its files become closed problems. The only place that knows them all."""

from fairdsl.elaborate.elaborate import Elaborated, Elaboration, build_populations, elaborate, load_models

__all__ = ["Elaborated", "Elaboration", "build_populations", "elaborate", "load_models"]
