"""How the inner loops are compiled, and where their machine code is kept.

A function that is inlined instead is compiled again, which may round differently and takes long.

numba itself optimises each called function, makes machine code of it, and wraps it for calls from
Python, before it inlines it: that is half of its time. It also compiles it anew for each literal
argument.
"""

import hashlib
import json
import os
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numba
import numpy as np
from llvmlite import ir
from numba import typeof, types
from numba.core import cgutils, event
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    NullCache,
)
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime import rtsys
from numba.extending import intrinsic, register_jitable

from iln_stream.kernels.cpu import VARIABLE, check, pinned


@intrinsic  # type: ignore[untyped-decorator]
def borrowed(typing_context: Any, array: Any) -> Any:
    """Return the array without its count of references.

    Each slice of an array counts as a reference to it, at some 20 ns; slices of this one are free.
    They must not outlive the call that the array was passed to.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        made = context.make_array(array)(context, builder, arguments[0])
        made.meminfo = ir.Constant(made.meminfo.type, None)
        made.parent = ir.Constant(made.parent.type, None)
        return made._getvalue()

    return array(array), generate


def address_of(function: Any, *arguments: Any) -> int:
    """Return the address of a compiled function's code for arguments of these types."""
    address, _ = overload_of(function, *arguments)
    return address


def overload_of(function: Any, *arguments: Any) -> tuple[int, Any]:
    """Return the address of a compiled function for arguments of these types, and its signature."""
    key = function, *map(_kind, arguments)
    if key not in _OVERLOADS:  # numba takes a fifth of a millisecond to answer
        kinds = tuple(map(typeof, arguments))
        function.compile(kinds)  # at once if that is done
        result = function.overloads[kinds]
        name = result.fndesc.llvm_func_name
        _OVERLOADS[key] = result.library.get_pointer_to_function(name), result.signature
    return _OVERLOADS[key]


_OVERLOADS: dict[Any, tuple[int, Any]] = {}
"""By function and kinds of arguments: code is never moved or removed."""


def _kind(argument: Any) -> Any:
    """What of an argument its type depends on."""
    if isinstance(argument, tuple):
        return tuple(map(_kind, argument))
    if not isinstance(argument, np.ndarray):
        return type(argument)
    flags = argument.flags
    layout = flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
    return argument.dtype, argument.ndim, layout


def _caller(result: Any) -> Any:
    @intrinsic  # type: ignore[untyped-decorator]
    def call(typing_context: Any, address: Any, arguments: Any) -> Any:
        kinds = tuple(arguments.types)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            convention = context.call_conv
            function_type = convention.get_function_type(result, kinds)
            function = builder.inttoptr(values[0], function_type.as_pointer())
            unpacked = cgutils.unpack_tuple(builder, values[1], len(kinds))
            status, value = convention.call_function(builder, function, result, kinds, unpacked)
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return value

        return result(address, arguments), generate

    return call


call_float = _caller(types.float64)
call_int = _caller(types.int64)
"""Call the function at an address with a tuple of arguments, whose types must be its own; these
return a float and an integer."""


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


COMPILE = "numba:compile"
"""Name of numba's event that a function is compiled."""


class Notice(event.Listener):  # type: ignore[misc]
    """Writes one line to standard error, if a terminal or a notebook shows it.

    Parameters
    ----------
    after
        Seconds that compiling must have taken before: a function or two are no wait.

    """

    def __init__(self, after: float) -> None:
        self._after = after
        self._seconds = 0.0
        self._started = 0.0
        self._quiet = 0
        self._is_done = False

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Say nothing inside, where somebody else reports."""
        self._quiet += 1
        try:
            yield
        finally:
            self._quiet -= 1

    def on_start(self, event: Any) -> None:
        """Write the line if functions before this one took long."""
        dispatcher = event.data["dispatcher"]
        if not isinstance(dispatcher, InliningDispatcher):  # compiled for one of ours, or not ours
            return
        self._started = time.monotonic()
        if self._seconds < self._after or self._is_done or self._quiet:
            return
        self._is_done = True
        if _is_shown():
            how_often = "at each start" if isinstance(dispatcher._cache, NullCache) else "once"
            print(
                f"iln_stream compiles its loops for this processor, {how_often}: it takes "
                "up to two minutes",
                file=sys.stderr,
                flush=True,
            )

    def on_end(self, event: Any) -> None:
        """Add what this function took."""
        if isinstance(event.data["dispatcher"], InliningDispatcher):
            self._seconds += time.monotonic() - self._started


def _is_shown() -> bool:
    """Whether a person sees standard error at once: in a terminal or a notebook."""
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


notice = Notice(after=1.0)


def register() -> None:
    """Begin to look at what numba compiles in this process."""
    event.register(COMPILE, notice)


FAST = {"reassoc", "contract", "nsz", "arcp"}
"""Sums may be reordered and fused, so that they vectorise; infinities are preserved."""

ERRORS = "numpy"
"""Division by zero gives an infinity: a loop that can raise would not vectorise."""

_OPTIONS = {
    "nopython": True,
    "boundscheck": None,
    "fastmath": FAST,
    "error_model": ERRORS,
    "forceinline": True,
}

_NAME = "iln_stream-"
"""Prefix of our folders' names, in a cache that may be shared."""

_KEPT = 24 * 3600.0
"""Seconds to keep machine code compiled from other sources."""


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile at the first call, and cache the result on disk if a cache folder is writable.

    The folder is named by a digest of all kernels: numba alone checks only the function's own
    file, and would keep using stale code of functions called from other files. The cache is in
    NUMBA_CACHE_DIR if set, else in `__pycache__`, or in the user's cache. A container with a
    read-only file system may have none; it then compiles anew at each start. `iln-stream warm`
    fills the cache.
    """
    return _cached(InliningDispatcher(function, _OPTIONS))


def compiled_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Do `compiled`'s work, but once for arrays of all layouts: loops read no entries in order."""
    return _cached(InliningDispatcher(function, _OPTIONS, any_layout=True))


def _cached(dispatcher: InliningDispatcher) -> Callable[..., Any]:
    with suppress(RuntimeError):  # no cache folder is writable
        # Like cache=True, except for the folder.
        dispatcher._cache = _Cache(dispatcher.py_func)
    return dispatcher


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let compiled functions call a short function that Python calls without compiling it."""
    return register_jitable(error_model=ERRORS)(function)  # type: ignore[no-any-return]


def cache_folder() -> str | None:
    """Return the folder where compiled code is cached; None if no cache folder is writable."""
    folder: str | None = compiled(lambda: None).stats.cache_path  # type: ignore[attr-defined]
    return folder


def cache_is_writable() -> bool:
    """Whether newly compiled code can be cached: an image's folder, once filled, is only read."""
    folder = cache_folder()
    if folder is None:
        return False
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@cache
def _digest() -> str:
    """A digest of the machine code's sources: all files in this folder, and the CPU baseline."""
    digest = hashlib.sha256(os.environ.get(VARIABLE, "").encode())
    sources = sorted(Path(__file__).parent.glob("*.py"))
    if not sources:
        raise RuntimeError("kernel sources are missing: without them stale code goes undetected")
    for path in sources:
        source = path.read_bytes()
        digest.update(f"{path.name} {len(source)} ".encode())
        digest.update(source)
    return digest.hexdigest()[:16]


@cache
def _open(folder: str) -> None:
    """Create a folder, or check that it is writable, or filled when an image was built.

    Raises
    ------
    OSError
        When the folder can't be created or written to, and is empty.

    """
    new = not Path(folder).exists()
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
    except OSError:
        if not any(Path(folder).glob("*.nbi")):
            raise
        return
    if new:
        _remove_old(Path(folder).parent)


def _remove_old(base: Path) -> None:
    """Remove folders of other sources that no process has opened for a day.

    A process that runs for longer loses nothing: see `_Cache`.
    """
    for folder in base.glob(f"{_NAME}*"):
        with suppress(OSError):  # another process was faster
            if time.time() - folder.stat().st_mtime > _KEPT:
                shutil.rmtree(folder, ignore_errors=True)


class _InOurFolder:
    """A locator that appends our folder to the path that numba would use."""

    def get_cache_path(self) -> str:
        return str(Path(super().get_cache_path(), _NAME + _digest()))  # type: ignore[misc]

    def ensure_cache_path(self) -> None:
        _open(self.get_cache_path())

    def get_source_stamp(self) -> str:
        return _digest()  # not the file's time, which is rounded where an image is unpacked


class _Places(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes: ClassVar = [
        type(cls.__name__, (_InOurFolder, cls), {})
        for cls in CompileResultCacheImpl._locator_classes
    ]


class _Checked(IndexDataCacheFile):  # type: ignore[misc]
    """Machine code and its index with checksums: what is damaged is compiled anew."""

    def _dump(self, obj: Any) -> bytes:
        data: bytes = super()._dump(obj)
        return data + hashlib.sha256(data).digest()

    def _load_index(self) -> Any:
        try:
            with Path(self._index_path).open("rb") as file:
                pickle.load(file)  # noqa: S301 - numba's version
                is_whole = _is_whole(file.read())
        except Exception:
            is_whole = False
        return super()._load_index() if is_whole else {}

    def _load_data(self, name: str) -> Any:
        data = Path(self._data_path(name)).read_bytes()
        return pickle.loads(data) if _is_whole(data) else None  # noqa: S301


def _is_whole(data: bytes) -> bool:
    size = hashlib.sha256().digest_size
    return hashlib.sha256(data[:-size]).digest() == data[-size:]


class _Cache(FunctionCache):  # type: ignore[misc]
    _impl_class = _Places

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = _Checked(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load machine code without all that numba would need to compile: half a second."""
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save machine code if possible: the folder may be gone, or the disk full."""
        with suppress(OSError):
            super().save_overload(sig, data)


register()


@contextmanager
def reporting(report: Callable[[str, float], None]) -> Iterator[None]:
    """Report each function that is compiled for calls from Python, and the seconds it took."""
    with notice.silent(), event.install_listener(COMPILE, _Listener(report)):
        yield


class _Listener(event.Listener):  # type: ignore[misc]
    def __init__(self, report: Callable[[str, float], None]) -> None:
        self._report = report
        self._started: list[float] = []

    def on_start(self, event: Any) -> None:
        self._started.append(time.monotonic())

    def on_end(self, event: Any) -> None:
        seconds = time.monotonic() - self._started.pop()
        if isinstance(event.data["dispatcher"], InliningDispatcher):
            function = event.data["dispatcher"].py_func
            module = function.__module__.rpartition(".")[2]
            self._report(f"{module}.{function.__name__}", seconds)


def mark(learner: str) -> None:
    """Note in the cache folder that everything this learner needs is there."""
    path = _mark(learner)
    if path is not None:
        path.write_text(learner)


def is_marked(learner: str) -> bool:
    """Whether everything this learner needs is in the cache, for this processor."""
    path = _mark(learner)
    return path is not None and path.exists()


def _mark(learner: str) -> Path | None:
    folder = cache_folder()
    if folder is None:
        return None
    target = cpu_target.target_context.codegen().magic_tuple()
    key = json.dumps([learner, target, numba.__version__, sys.implementation.cache_tag])
    return Path(folder, f"warm-{hashlib.sha256(key.encode()).hexdigest()[:16]}")
