"""Machine code of compiled functions: where it is kept on disk, what makes it, and what is said when it is made.

Messages go to the logger `treescore.compiling`: where logging is not set up, Python prints them on standard error.
The compiler takes 140 MB and most of a second to load, so only what needs it imports it, in functions.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

log = logging.getLogger("treescore.compiling")

SETTING = "TREESCORE_COMPILE"
CHOICES = ("auto", "always", "never")
NOTICE = "Compiling %s and what it calls: large inputs take less time so."
KEPT = "It is kept for the next time."
DONE = "Compiled in %.0f s."
NOT_KEPT = (
    "No folder can be written to keep it, so each process compiles it again: set NUMBA_CACHE_DIR to a folder that "
    "can be written."
)

_may_compile: dict[FunctionType, Callable[[], bool]] = {}
"""Of each function that was given to the compiler, what tells whether it may be compiled now."""
_sources: dict[FunctionType, Sequence[str]] = {}
"""The files of it and of what it calls: its machine code holds theirs."""


class NotKeptError(Exception):
    """No machine code is kept for arguments of these types, and compiling does not pay yet."""


def setting() -> str:
    """Return what the environment says of compiling.

    Raises:
        ValueError: it is none of the choices.
    """
    chosen = os.environ.get(SETTING, CHOICES[0])
    if chosen not in CHOICES:
        raise ValueError(f"{SETTING} is '{chosen}'. Use one of: {', '.join(CHOICES)}.")
    return chosen


def is_kept(function: FunctionType, sources: Sequence[str]) -> bool:
    """Tell whether machine code is kept that this compiler made after the last change of these files.

    The compiler is not loaded for that: it looks closer.
    """
    changed = max(Path(source).stat().st_mtime for source in sources)
    for index in _indices(function):
        with suppress(OSError), index.open("rb") as file:
            return os.fstat(file.fileno()).st_mtime >= changed and _compiler_version() in file.read(64)
    return False


@cache
def _compiler_version() -> bytes:
    """Return the version of the compiler, with which an index of machine code begins."""
    from importlib.metadata import version  # noqa: PLC0415 - slow to load

    return version("numba").encode()


def _indices(function: FunctionType) -> list[Path]:
    """Return the files in which machine code of a function may be listed, the first choice first."""
    source = Path(function.__code__.co_filename)
    version = f"py{sys.version_info[0]}{sys.version_info[1]}{sys.abiflags}"
    name = f"{source.stem}.{function.__qualname__}-{function.__code__.co_firstlineno}.{version}.nbi"
    return [folder / name.replace("<", "").replace(">", "") for folder in _folders(source.parent)]


@cache
def _folders(place: Path) -> tuple[Path, ...]:
    """Return the folders in which machine code of modules at a place may be kept, the first choice first."""
    from hashlib import sha1  # noqa: PLC0415 - loads OpenSSL

    distinct = f"{place.name}_{sha1(bytes(place), usedforsecurity=False).hexdigest()}"
    given = os.environ.get("NUMBA_CACHE_DIR")
    of_user = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "treescore"
    return (*([Path(given) / distinct] if given else []), place / "__pycache__", of_user / distinct)


def _folder_for(function: FunctionType) -> Path | None:
    """Return the folder that holds a function's machine code, also where it cannot be written, else one that can."""
    from tempfile import TemporaryFile  # noqa: PLC0415 - loads OpenSSL

    indices = _indices(function)
    for index in indices:
        if index.exists():
            return index.parent
    for index in indices:
        with suppress(OSError):
            index.parent.mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=index.parent).close()
            return index.parent
    return None


class _Notice:
    """What was said of compiling, and is to be said."""

    def __init__(self) -> None:
        self.kept = True
        self.clock: Any = None
        self._said = False
        self._told = 0.0

    def start(self, function: FunctionType) -> None:
        """Speak when the first function is compiled.

        Raises:
            NotKeptError: it may not be compiled yet.
        """
        may = _may_compile.get(function)
        if may is None:  # a function of another library
            return
        if not may():
            raise NotKeptError(function.__qualname__)
        if not self._said:
            self._said = True
            name = f"{function.__module__}.{function.__qualname__}"
            log.warning("%s %s", NOTICE % name, KEPT if self.kept else NOT_KEPT)

    def end(self) -> None:
        """Say how long compiling took, of the seconds in all what was not said yet."""
        if self._said and self.clock.duration > self._told:
            log.warning(DONE, self.clock.duration - self._told)
            self._told = self.clock.duration


_NOTICE = _Notice()


def say_compiled() -> None:
    """Say how many seconds compiling took, where something was compiled since it was last said."""
    _NOTICE.end()


def compilable(function: FunctionType, may_compile: Callable[[], bool], sources: Sequence[str]) -> Any:
    """Return a function that runs machine code without the interpreter lock, for arguments of each types what is kept.

    Where nothing is kept it is compiled, and kept if there is a folder for it.

    Args:
        function: what is to be run.
        may_compile: whether it may be compiled now; otherwise the call raises NotKeptError.
        sources: the files of the function and of what it calls; machine code that is older than one is not used.
    """
    from numba import njit  # noqa: PLC0415 - loads the compiler

    _listen()
    _may_compile[function], _sources[function] = may_compile, sources
    made = njit(nogil=True)(function)
    if _folder_for(function) is None:
        _NOTICE.kept = False
    else:
        made._cache = _cache_class()(function)  # noqa: SLF001 - as `enable_caching` does
    return made


@cache
def _listen() -> None:
    """Hear of each compilation, before it begins."""
    from numba.core import event  # noqa: PLC0415 - loads the compiler

    class Heard(event.Listener):  # type: ignore[misc]
        def on_start(self, heard: event.Event) -> None:
            _NOTICE.start(heard.data["dispatcher"].py_func)

        def on_end(self, _heard: event.Event) -> None:
            """Do nothing: a later function may follow."""

    _NOTICE.clock = event.TimingListener()
    for listener in (_NOTICE.clock, Heard()):  # the clock first: it hears the end of what is refused too
        event.register("numba:compile", listener)


@cache
def _cache_class() -> type[Any]:
    """Return numba's cache on disk, but in a folder of our choice, and read also where nothing can be written."""
    from numba.core import caching  # noqa: PLC0415 - loads the compiler

    class Locator(caching._SourceFileBackedLocatorMixin, caching._CacheLocator):  # type: ignore[misc] # noqa: SLF001
        def __init__(self, function: FunctionType, file: str) -> None:
            self._py_file, self._lineno = file, function.__code__.co_firstlineno
            self._folder = _folder_for(function)
            self._sources = _sources[function]

        @classmethod
        def from_function(cls, function: FunctionType, file: str) -> Locator:
            return cls(function, file)

        def get_source_stamp(self) -> tuple[tuple[int, int], ...]:
            found = [Path(source).stat() for source in self._sources]
            return tuple((one.st_mtime_ns, one.st_size) for one in found)

        def get_cache_path(self) -> str:
            return str(self._folder)

    class Implementation(caching.CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (Locator,)

    class Cache(caching.FunctionCache):  # type: ignore[misc]
        _impl_class = Implementation

        def save_overload(self, *arguments: Any) -> None:
            with suppress(OSError):  # a read-only folder holds code for other types of arguments
                super().save_overload(*arguments)

    return Cache
