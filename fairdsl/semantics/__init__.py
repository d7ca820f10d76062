"""Names, types and sense: from trees to a checked spec."""

from fairdsl.semantics.checked import CheckedProperty, CheckedSpec, Demand
from fairdsl.semantics.front_end import front_end

__all__ = ["CheckedProperty", "CheckedSpec", "Demand", "front_end"]
