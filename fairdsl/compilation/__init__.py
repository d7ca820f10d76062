"""``compile``: the questions of a spec as solver files in one folder.

questions.py   the questions, their partitions, and the manifest
folder.py      the folder, which is replaced as a whole
"""

from fairdsl.compilation.questions import Compiled, Partitioning, compile_spec

__all__ = ["Compiled", "Partitioning", "compile_spec"]
