"""The parts of ``fair_share.py``."""
