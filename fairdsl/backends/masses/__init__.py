"""Group metrics of networks and trees under a law: masses of boxes that bounds decide (docs/masses.md)."""

from fairdsl.backends.masses.procedure import Masses

__all__ = ["Masses"]
