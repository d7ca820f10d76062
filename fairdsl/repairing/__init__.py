"""``repair``: train a model again on rows that it discriminates about, and keep what is measured to be fairer.

``subject`` says what is repaired and how files become models; ``estimators`` and ``exporting`` own the user's code and
skl2onnx; ``recipes`` add rows; ``measure`` and ``rule`` decide what counts as better; ``run`` is the loop, ``repair``
the way from a spec to a folder. ``rates`` is the same for properties about groups. ``guarantee`` trains nothing: it
writes a file around the model's.
"""

from fairdsl.repairing.guarantee import Guaranteed, guarantee_spec
from fairdsl.repairing.rates import RepairedRates
from fairdsl.repairing.repair import repair_spec
from fairdsl.repairing.result import Candidate, Compared, Ending, Repaired, Settings

__all__ = [
    "Candidate",
    "Compared",
    "Ending",
    "Guaranteed",
    "Repaired",
    "RepairedRates",
    "Settings",
    "guarantee_spec",
    "repair_spec",
]
