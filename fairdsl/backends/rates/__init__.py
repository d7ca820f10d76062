"""Rates of groups by states: the model's residual, column by column, with the mass of every group carried along."""

from fairdsl.backends.rates.procedure import Rates

__all__ = ["Rates"]
