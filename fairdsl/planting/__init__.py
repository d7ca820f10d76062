"""Would this spec have caught it? Discriminators that are known are planted, and the spec is asked about each.

    spec, models --people--> who there is --choose--> plants --planting--> models --pipeline--> verdicts

A property catches a discriminator that it is violated by, if it was not violated without it.
"""

from fairdsl.planting.result import Fate, Kind, Planted, Sensitivity
from fairdsl.planting.run import Plan, sensitivity_spec

__all__ = ["Fate", "Kind", "Plan", "Planted", "Sensitivity", "sensitivity_spec"]
