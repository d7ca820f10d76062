"""Binding: which attribute fills which input of a file, and what its tests and indicators are of people."""
