"""Compiling functions that are mostly inlined into others.

numba itself optimises each called function, makes machine code of it, and wraps it for calls from
Python, before it inlines it: that is half of its time. It also compiles it anew for each literal
argument.
"""

from collections.abc import Callable, Mapping
from typing import Any

from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

from iln_stream.processor import check, pinned


class InliningDispatcher(CPUDispatcher):  # type: ignore[misc]
    """Compiles calls from Python in full, and calls from compiled functions only to be inlined.

    Parameters
    ----------
    function
        The Python function.
    options
        numba's options of `njit`.
    any_layout
        Whether calls from compiled functions share one version for arrays of all layouts.

    """

    def __init__(
        self, function: Callable[..., Any], options: Mapping[str, Any], any_layout: bool = False
    ) -> None:
        super().__init__(
            function,
            targetoptions={**options, "no_cfunc_wrapper": True},
            pipeline_class=_InFull,
        )
        self._inlined = _Inlined(
            function,
            targetoptions={**options, "no_cfunc_wrapper": True, "no_cpython_wrapper": True},
            pipeline_class=_Lowering,
        )
        self._any_layout = any_layout

    def compile(self, sig: Any) -> Any:
        """Compile for arguments of these types, or load that; see `check` for errors."""
        check()
        return super().compile(sig)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return how calls with arguments of these types are compiled."""
        return self._inlined.get_call_template(map(self._plain, args), kws)

    def get_overload(self, signature: Any) -> Any:
        """Return the key of a function that is to be inlined."""
        return self._inlined.get_overload(signature)

    def _plain(self, argument: Any) -> Any:
        argument = types.unliteral(argument)
        if self._any_layout and isinstance(argument, types.Array):
            return argument.copy(layout="A")
        return argument


class _InFull(Compiler):  # type: ignore[misc]
    """Compiles a function for calls from Python."""

    def define_pipelines(self) -> Any:
        state = self.state
        if pinned() is not None:
            state.library = _Exact(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        return super().define_pipelines()


class _Exact(JITCodeLibrary):  # type: ignore[misc]
    """Divides and takes roots in full.

    Otherwise LLVM makes 1 / sqrt(x) of single precision from the CPU's estimate of it, whose bits
    differ from one type of CPU to the next. What is inlined follows its caller.
    """

    def add_ir_module(self, module: Any) -> None:
        for function in module.functions:
            if not function.is_declaration:
                # llvmlite's own `add` accepts only attributes without a value.
                set.add(function.attributes, '"reciprocal-estimates"="none"')
        super().add_ir_module(module)


class _Inlined(CPUDispatcher):  # type: ignore[misc]
    """Holds what is compiled to be inlined, none of which Python can call."""

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result


class _Lowering(Compiler):  # type: ignore[misc]
    """Compiles a function as far as its callers need it."""

    def define_pipelines(self) -> Any:
        state = self.state
        state.flags.no_compile = True
        state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()

    def compile_extra(self, function: Any) -> Any:
        result = super().compile_extra(function)
        key = object()  # in place of an address
        self.state.targetctx.insert_user_function(key, result.fndesc, [result.library])
        return result._replace(entry_point=key)


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """Intermediate code that is linked into callers, optimised there, and never run by itself."""

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(self, "_reload_init"):  # of numba 0.62 and later
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True
