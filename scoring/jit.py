"""Compiled functions: numba's `njit` with its cache on disk, typed, so that mypy still sees their signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from numba import njit

_P = ParamSpec("_P")
_R = TypeVar("_R")


def compiled(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Function decorator: compile at the first call, keep the machine code beside the module.

    It releases the interpreter lock. Every compiled function is called once, with tiny arrays, by `scoring.warm.warm`.
    """
    return cast("Callable[_P, _R]", njit(cache=True, nogil=True)(function))


def inlined(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Function decorator: a small part of compiled loops, copied into each (a call would count references)."""
    return cast("Callable[_P, _R]", njit(cache=True, nogil=True, inline="always")(function))
