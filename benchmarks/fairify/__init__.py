"""The parts of ``individual_fairness.py``."""
