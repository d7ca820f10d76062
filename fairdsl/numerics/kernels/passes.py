"""The passes in which kernels are compiled: those of numba's that change what kernels are made of.

numba has twice as many: for closures, generators, `with`, exceptions, parallel loops, functions that are inlined before
they are typed. After each it finds out anew how long every variable lives, which counts of references need, and kernels
have none; it tells listeners, and takes the time. That was more than a third of all.
"""

from __future__ import annotations

from typing import Any

from numba.core import typed_passes, untyped_passes
from numba.core.compiler_machinery import PassManager

__all__ = ["FewPasses"]

_PASSES = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.GenericRewrites,  # powers and places that are constants
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.NativeLowering,
    typed_passes.NoPythonBackend,
)


class FewPasses(PassManager):
    """Runs them, one after the other."""

    def __init__(self) -> None:
        super().__init__("kernels")  # type: ignore[no-untyped-call]

    def run(self, state: Any) -> None:
        """Compile a function."""
        for kind in _PASSES:
            kind().run_pass(state)  # type: ignore[no-untyped-call]
