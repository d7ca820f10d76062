"""Solver backends, independent of each other: each imports the contract and the layers below it."""
