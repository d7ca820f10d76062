"""Would this spec have detected it? Discriminators that are known are planted, and the spec is asked about each.

    spec, models --people--> who there is --choose--> plants --planting--> models --pipeline--> verdicts

A property detects a discriminator that it is violated by, if it was not violated without it.
"""

from fairdsl.audit_sensitivity.result import Fate, Kind, Planted, Sensitivity
from fairdsl.audit_sensitivity.run import Plan, sensitivity_spec

__all__ = ["Fate", "Kind", "Plan", "Planted", "Sensitivity", "sensitivity_spec"]
