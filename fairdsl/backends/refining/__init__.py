"""Refinements that stop at any time, carried out by one process, by all cores, or by a cluster."""
