"""An engine, a strategy and an encoding for fairdsl, about linear scores."""

from fairdsl_one_sided.encoding import LinearProgram
from fairdsl_one_sided.engine import OneSided
from fairdsl_one_sided.strategy import CORNERS

__all__ = ["CORNERS", "LinearProgram", "OneSided"]
