"""Parts: functions of which kernels are made, compiled together with the kernel that calls them.

numba makes a library of every function: optimised, made into machine code, and then linked into each caller's
library, which is optimised again as a whole, and so on up to the kernel; most of the time went there, and the code
that was run is the last one. So a part's library stays as it was lowered. What is run is the same, since the
kernel's optimisation sees everything that it calls. And numba lowers a function anew for each constant that it is
called with; a part is lowered once, and the optimisation knows the constant where it matters.

The passes in which kernels are compiled: those of numba's that change what kernels are made of.

numba has twice as many: for closures, generators, `with`, exceptions, parallel loops, functions that are inlined before
they are typed. After each it finds out anew how long every variable lives, which counts of references need, and kernels
have none; it tells listeners, and takes the time. That was more than a third of all.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from llvmlite.binding import Linkage
from numba import types
from numba._dynfunc import Environment, make_function
from numba.core import typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, Flags
from numba.core.compiler_machinery import PassManager

from fairdsl.numerics.kernels.hurry import compiling_much

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


_DEFAULTS = Flags().values()
_HASH = hash(Flags())


class _QuickFlags(Flags):
    """numba's flags, which it compares at every operator that it looks up: a fifth of the time, as they are."""

    __slots__ = ()

    def values(self) -> dict[str, Any]:
        """What is set, and the defaults of all others."""
        return {**_DEFAULTS, **self._values}

    def __eq__(self, other: object) -> bool:
        return bool(super().__eq__(other))  # type: ignore[no-untyped-call]

    def __hash__(self) -> int:
        return _HASH  # that of all flags: it is made of the names of the options


class _Unfinished(JITCodeLibrary):
    """A part's code as it was lowered, to be linked into a kernel's library and nothing else."""

    def _optimize_functions(self, _module: Any) -> None:
        """Left to the kernel."""

    def finalize(self) -> None:
        """What it calls is linked into the kernel, too, and not into this: else it would be copied at every level."""
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = Linkage.linkonce_odr
        self._shared_module = self._final_module
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True


class _Whole(JITCodeLibrary):
    """A kernel's code with that of all its parts, optimised in one go.

    The pass that numba makes first brings counts of references together, and kernels have none (a fifth of the time);
    with -O3 in place of -O2 they are no faster.
    """

    def finalize(self) -> None:
        """With what parts call."""
        for library in self._linking_libraries:  # which grows meanwhile; each is linked once
            if isinstance(library, _Unfinished):
                self._linking_libraries.extend(
                    inner for inner in library._linking_libraries if inner not in self._linking_libraries
                )
        super().finalize()  # type: ignore[no-untyped-call]

    def _optimize_functions(self, _module: Any) -> None:
        """All of it is optimised at the end."""

    def _optimize_final_module(self) -> None:
        manager, builder = self._codegen._module_pass_manager(opt=2)
        manager.run(self._final_module, builder)


class KernelCompiler(CompilerBase):
    """Compiles into a library that is optimised once."""

    def compile_extra(self, function: Any) -> Any:
        """As numba does it; parts are compiled meanwhile, where the kernel calls them."""
        with compiling_much():
            return super().compile_extra(function)  # type: ignore[no-untyped-call]

    def define_pipelines(self) -> list[Any]:
        """One, and the library."""
        library = _Whole(self.state.targetctx.codegen(), self.state.func_id.func_qualname)  # type: ignore[no-untyped-call]
        library.enable_object_caching()  # type: ignore[no-untyped-call]
        self.state.library = library
        return [FewPasses()]


class PartCompiler(CompilerBase):
    """Compiles into a library that is left unfinished."""

    def define_pipelines(self) -> list[Any]:
        """One, and the library."""
        self.state.library = _Unfinished(self.state.targetctx.codegen(), self.state.func_id.func_qualname)  # type: ignore[no-untyped-call]
        return [FewPasses()]

    def compile_extra(self, function: Any) -> Any:
        """As numba does it, but for what it would call from Python: a part has no such thing."""
        self.state.flags = _QuickFlags(self.state.flags)  # type: ignore[no-untyped-call]
        self.state.flags.no_compile = True
        compiled = super().compile_extra(function)  # type: ignore[no-untyped-call]
        stand_in = _not_for_python(function)
        self.state.targetctx.insert_user_function(stand_in, compiled.fndesc, [compiled.library])
        return compiled._replace(entry_point=stand_in)


def _not_for_python(function: Any) -> Any:
    """Something by which numba tells a part from others, and which raises TypeError where Python calls it."""
    refuse = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value  # a call of what cannot be called
    return make_function(sys.modules[function.__module__], function.__name__, "", refuse, Environment({}), ())


def without_constants(part: Any) -> None:
    """Let a part be compiled for the types of what it is called with, not for the constants among it."""
    fold = part._compiler.fold_argument_types

    def fold_types(arguments: Any, named: Any) -> Any:
        signature, folded = fold(arguments, named)
        return signature, tuple(types.unliteral(kind) for kind in folded)

    part._compiler.fold_argument_types = fold_types
