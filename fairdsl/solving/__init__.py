"""``solve``: solver files answered, each kind in a module of its own.

jobs.py        an interval job, refined as far as the budget goes
scripts.py     an SMT-LIB script, answered as another solver would print it
instances.py   a subset-sum instance, answered with the report that ``check`` would give on its demand
stochastic.py  an SDIMACS instance, answered with its value
"""
