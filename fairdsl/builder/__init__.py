"""Specs written in Python: objects for what a spec declares, and the text of the language that they are.

Structure is typed; conditions and demands are texts of the language, as ``require="impact_ratio >= 80%"``. What is
built is printed in the canonical layout, and is a spec like any other from there on.
"""

from fairdsl.builder.declarations import Boolean, Category, Domain, Integer, Label, Model, Protected, Quantiles, Real
from fairdsl.builder.populations import Distribution, Rows
from fairdsl.builder.properties import Groups, Pairs, Preset
from fairdsl.builder.spec import Spec, Written

__all__ = [
    "Boolean",
    "Category",
    "Distribution",
    "Domain",
    "Groups",
    "Integer",
    "Label",
    "Model",
    "Pairs",
    "Preset",
    "Protected",
    "Quantiles",
    "Real",
    "Rows",
    "Spec",
    "Written",
]
