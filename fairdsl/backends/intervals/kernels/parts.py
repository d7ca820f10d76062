"""Parts: functions of which kernels are made, compiled together with the kernel that calls them.

numba makes a library of every function: optimised, made into machine code, and then linked into each caller's
library, which is optimised again as a whole, and so on up to the kernel; most of the time went there, and the code
that was run is the last one. So a part's library stays as it was lowered. What is run is the same, since the
kernel's optimisation sees everything that it calls.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from numba._dynfunc import Environment, make_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder

__all__ = ["PartCompiler"]


class _Unfinished(JITCodeLibrary):  # type: ignore[misc]
    """A part's code, to be linked into a kernel's library and nothing else."""

    def _optimize_functions(self, _module: Any) -> None:
        """Left to the kernel."""

    def _optimize_final_module(self) -> None:
        """Left to the kernel."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class PartCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles as usual, into a library that is left unfinished."""

    def define_pipelines(self) -> list[Any]:
        """The usual one; the library is what differs."""
        self.state.flags.no_compile = True
        self.state.library = _Unfinished(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]

    def compile_extra(self, function: Any) -> Any:
        """As numba does it, but for what it would call from Python: a part has no such thing."""
        compiled = super().compile_extra(function)
        stand_in = _not_for_python(function)
        self.state.targetctx.insert_user_function(stand_in, compiled.fndesc, [compiled.library])
        return compiled._replace(entry_point=stand_in)


def _not_for_python(function: Any) -> Any:
    """Something by which numba tells a part from others, and which raises TypeError where Python calls it."""
    refuse = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value  # a call of what cannot be called
    return make_function(sys.modules[function.__module__], function.__name__, "", refuse, Environment({}), ())
