"""Compiled functions: numba's `njit` with its cache on disk, loaded at the first call, so that mypy sees signatures.

The compiler takes 140 MB and most of a second to load. A process that scores one file with functions that need no
compiled loops never loads it; one that lives loads it before its first job (`treescore.warm.warm`).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from functools import cached_property, update_wrapper
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, cast

_P = ParamSpec("_P")
_R = TypeVar("_R")


def compiled(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Compile the decorated function at its first call, and cache the machine code beside the module.

    It releases the interpreter lock. `treescore.warm.warm` calls every compiled function once, with tiny arrays.
    """
    return _Compiled(function, {"nogil": True})


def checked(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Compile as `compiled` does; an index outside its array raises IndexError. For arrays that may be damaged."""
    return _Compiled(function, {"nogil": True, "boundscheck": True})


def inlined(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Copy the decorated function into the compiled loops that call it (a call would count references)."""
    return _Compiled(function, {"nogil": True, "inline": "always"})


def interpreted(function: Callable[_P, _R], **instead: Callable[..., Any]) -> Callable[_P, _R]:
    """Return the Python function of a compiled one.

    The compiled functions that it calls stay compiled, but for those that `instead` replaces, by their names.
    """
    assert isinstance(function, _Compiled)  # noqa: S101 - made by the decorators above
    return cast("Callable[_P, _R]", function.with_names(instead))


def compiler_loaded() -> bool:
    """Tell whether this process has loaded the compiler, so that compiled loops cost nothing more."""
    return "numba" in sys.modules


def say_compiled() -> None:
    """Say how long compiling took, where something was compiled since this was last called."""
    compiling = sys.modules.get("treescore.core.compiling")
    if compiling is not None:
        compiling.say_compiled()


def load_compiler() -> None:
    """Load the compiler now. Without it, readers of small texts do not."""
    importlib.import_module("treescore.core.compiling")


class _Compiled(Generic[_P, _R]):
    """A function that is compiled when it is first called, or called by another such function."""

    def __init__(self, function: Callable[_P, _R], options: dict[str, Any]) -> None:
        self.plain = cast("FunctionType", function)
        self._options = options
        update_wrapper(self, function)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return self._dispatcher(*args, **kwargs)

    @cached_property
    def _dispatcher(self) -> Callable[_P, _R]:
        from treescore.core.compiling import compilable  # noqa: PLC0415 - what this class is for

        # The compiler knows its own functions only: it is shown those, under the names by which the code calls them.
        code = self.plain.__code__
        known = self.plain.__globals__
        called = {name: known[name] for name in code.co_names if isinstance(known.get(name), _Compiled)}
        function = self.with_names({name: one._dispatcher for name, one in called.items()})  # noqa: SLF001 - of this class
        return cast("Callable[_P, _R]", compilable(function, self._options))

    def with_names(self, names: Mapping[str, Any]) -> FunctionType:
        """Return the Python function, which finds these values under the names of its module."""
        return FunctionType(self.plain.__code__, {**self.plain.__globals__, **names}, argdefs=self.plain.__defaults__)
