"""Questions about groups as files for solvers and model counters, and metrics from their answers.

quantities.py   the numbers that a metric is made of, each an instance in normal form
formats.py      an instance as SDIMACS, as a weighted or as a plain model count
words.py        what the files and the manifest say about them
answers.py      what a solver printed -> bounds
answered.py     answers in the place of the engine -> joint probabilities -> the metric
"""

from fairdsl.backends.ssat.files.encoding import Dimacs, Mcc, Sdimacs

__all__ = ["Dimacs", "Mcc", "Sdimacs"]
