"""Conditions: expressions over attributes, labels and what models give become exact predicates."""
