"""Compiled functions: Python functions that run as machine code where that pays.

One rule decides at each call. Work is counted in elements of the arrays that are passed.

- Where machine code of the function is kept on disk, it is used once the work of the process is worth loading the
  compiler (140 MB, a second), and at once where that is loaded.
- Where none is kept, the function and what it calls are compiled once the function's own work is worth that.
- Until then a call is interpreted: it runs the Python function, with the same result. To the last bit it is so where
  elementary functions are those of `math`: NumPy's differ from those of machine code.

The environment variable TREESCORE_COMPILE forces either: `always` or `never`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property, update_wrapper
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numpy as np

from treescore.core import compiling

_P = ParamSpec("_P")
_R = TypeVar("_R")

WORTH_LOADING = 2_000_000
"""Elements that take about as long interpreted as it takes to load the compiler."""
WORTH_COMPILING = 1_000_000
"""Elements that take about as long interpreted as it takes to compile one function."""
FIRST_ATTEMPT = 100_000
"""Units of work that take less than what any function costs to compile, in `attempts`."""
NO_BOUND = np.iinfo(np.int64).max
"""The last bound in `attempts` where the arguments bound the work."""
INT64 = np.dtype(np.int64)


def compiled(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Run the decorated function as machine code where that pays. It releases the interpreter lock then."""
    return _Compiled(function)


def weighing(weight: float) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Say how many times what an element usually costs one costs that is passed to the decorated function."""

    def note(function: Callable[_P, _R]) -> Callable[_P, _R]:
        vars(function)["weight"] = weight
        return function

    return note


def unless_interpreted(function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R | None:
    """Call a compiled function if it runs as machine code; None where it is interpreted and something else is quicker.

    The function is weighed by what is quicker.
    """
    assert isinstance(function, _Compiled)  # noqa: S101 - made by the decorators above
    return function.unless_interpreted(*args, **kwargs)


def attempts(function: Callable[..., Any], bound: int, each: int = 1) -> Iterator[int]:
    """Yield bounds to call a function with, one after the other until it stays within one; the last is `bound`.

    For a compiled function that stops at a bound of its work, where arrays of few elements can be much work: while it
    is interpreted, it begins with little, and what each attempt did counts, so that it is compiled where that pays.

    Args:
        function: what is called after each bound, from the start.
        bound: the most work that it may do.
        each: how many elements cost what one of the bound's units does.
    """
    assert isinstance(function, _Compiled)  # noqa: S101 - made by the decorators above
    tried = FIRST_ATTEMPT
    while tried < bound and function.grows():
        yield tried
        function.count(tried * each)
        tried *= 4
    yield bound


def compiler_loaded() -> bool:
    """Tell whether this process has loaded the compiler, so that compiled loops cost nothing more."""
    return "numba" in sys.modules


class _Account:
    """The work that this process has seen, in elements, and what the environment says of compiling."""

    def __init__(self) -> None:
        self.work = 0

    @cached_property
    def setting(self) -> str:
        """What the environment says, unless it is set otherwise."""
        return compiling.setting()


_ACCOUNT = _Account()
_ALL: list[_Compiled[..., Any]] = []
"""The functions whose modules are loaded."""


@contextmanager
def forced(setting: str) -> Iterator[None]:
    """Within this context, do what the environment variable does: `auto`, `always` or `never`."""
    before, _ACCOUNT.setting = _ACCOUNT.setting, setting
    try:
        yield
    finally:
        _ACCOUNT.setting = before


def state() -> str:
    """Tell of how many of the functions whose modules are loaded machine code is kept, to be used when it pays.

    `compiled`: of all, `partly`: of some, `interpreted`: of none, or none is used.
    """
    kept = 0 if _ACCOUNT.setting == "never" else sum(one.is_kept() for one in _ALL)
    return "interpreted" if not kept else "partly" if kept < len(_ALL) else "compiled"


class _Compiled(Generic[_P, _R]):
    """A function that runs as machine code where that pays, with all such functions that it calls."""

    def __init__(self, function: Callable[_P, _R]) -> None:
        self.plain = cast("FunctionType", function)
        self._weight: float = vars(function).get("weight", 1)
        self._work = 0
        self._uses_code = False
        self._wanted = False  # to be compiled
        self._refused = False  # what is kept is for another compiler, processor or types
        self._look_at = 0
        update_wrapper(self, function)
        _ALL.append(self)

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        if self._is_due(args):
            with suppress(compiling.NotKeptError):
                return self._run(*args, **kwargs)
        with np.errstate(over="ignore"), _widened(args) as wide:
            return cast("_R", _boxed(self._python(*wide, **kwargs)))

    def unless_interpreted(self, *args: _P.args, **kwargs: _P.kwargs) -> _R | None:
        """Do what `unless_interpreted` says."""
        if self._is_due(args):
            with suppress(compiling.NotKeptError):
                return self._run(*args, **kwargs)
        return None

    def _run(self, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        """Run machine code. Raises NotKeptError where there is none for these types and compiling does not pay."""
        try:
            return self._dispatcher(*args, **kwargs)
        except compiling.NotKeptError:
            self._refused = True
            self._look_later()
            raise

    def grows(self) -> bool:
        """Tell whether the next call may be interpreted until work that is counted says that compiling pays."""
        return _ACCOUNT.setting == "auto" and not self._uses_code

    def count(self, work: int) -> None:
        """Count work, in elements."""
        self._work += work
        _ACCOUNT.work += work

    def _is_due(self, args: Iterable[Any]) -> bool:
        """Count a call, and tell whether it is to run machine code: some is kept, or compiling pays."""
        self.count(int(self._weight * _elements(args)))
        if _ACCOUNT.setting != "auto":
            return _ACCOUNT.setting == "always"
        seen = _ACCOUNT.work
        if self._uses_code or seen < self._look_at or (seen < WORTH_LOADING and not compiler_loaded()):
            return self._uses_code
        self._uses_code = self._is_worth_compiling() or self.is_kept()
        if not self._uses_code:
            self._look_later()
        return self._uses_code

    def _is_worth_compiling(self) -> bool:
        """Tell whether there is machine code to be made and the work is worth making it, and remember that."""
        missing = [one for one in self._chain if self._refused or not one.is_kept()]
        if self in missing and self._work >= WORTH_COMPILING * len(missing):
            for one in self._chain:
                one._wanted = True  # noqa: SLF001 - of this class
        return self._wanted

    def _look_later(self) -> None:
        self._uses_code = False
        self._look_at = _ACCOUNT.work + WORTH_LOADING

    def _may_compile(self) -> bool:
        return self._wanted or _ACCOUNT.setting == "always"

    @property
    def _called(self) -> Mapping[str, _Compiled[..., Any]]:
        """The functions of this kind that the code calls, by the names by which it does."""
        known = self.plain.__globals__
        return {name: known[name] for name in self.plain.__code__.co_names if isinstance(known.get(name), _Compiled)}

    @cached_property
    def _chain(self) -> frozenset[_Compiled[..., Any]]:
        return frozenset({self}.union(*(one._chain for one in self._called.values())))  # noqa: SLF001 - of this class

    @cached_property
    def _sources(self) -> list[str]:
        return sorted({one.plain.__code__.co_filename for one in self._chain})

    def is_kept(self) -> bool:
        """Tell whether machine code is kept that is as new as its files."""
        return compiling.is_kept(self.plain, self._sources)

    @cached_property
    def _dispatcher(self) -> Callable[_P, _R]:
        # The compiler knows its own functions only: it is shown those, under the names by which the code calls them.
        function = self._renamed({name: one._dispatcher for name, one in self._called.items()})  # noqa: SLF001 - of this class
        return cast("Callable[_P, _R]", compiling.compilable(function, self._may_compile, self._sources))

    @cached_property
    def _python(self) -> Callable[_P, _R]:
        return cast("Callable[_P, _R]", self._renamed({name: one._python for name, one in self._called.items()}))  # noqa: SLF001 - of this class

    def _renamed(self, names: Mapping[str, Any]) -> FunctionType:
        code, known = self.plain.__code__, {**self.plain.__globals__, **names}
        function = FunctionType(code, known, argdefs=self.plain.__defaults__)
        function.__module__ = self.plain.__module__
        return function


@contextmanager
def _widened(arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Give integers of fewer than 64 bits as 64: NumPy computes in the width of an element, machine code in 64 bits.

    What is written into an array that was widened stands in that array at the end.
    """
    written: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []

    def wide(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind in "iu" and value.dtype.itemsize < INT64.itemsize:
            copy = value.astype(INT64)
            if value.flags.writeable:
                written.append((value, copy))
            return copy
        if isinstance(value, tuple):
            values = map(wide, value)
            return value._make(values) if hasattr(value, "_make") else tuple(values)
        return value

    yield tuple(map(wide, arguments))
    for narrow, copy in written:
        narrow[...] = copy


def _boxed(result: Any) -> Any:
    """Return what machine code does: numbers of Python instead of those of arrays, also in tuples."""
    if isinstance(result, np.generic):
        return result.item()
    if isinstance(result, tuple):
        values = map(_boxed, result)
        return result._make(values) if hasattr(result, "_make") else tuple(values)
    return result


def _elements(arguments: Iterable[Any]) -> int:
    """Count the elements of arrays, also of those in tuples."""
    count = 0
    for one in arguments:
        if isinstance(one, np.ndarray):
            count += one.size
        elif isinstance(one, tuple):
            count += _elements(one)
    return count
