"""Classes by their names, loaded when they are asked for."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator, MutableMapping
from typing import Any, ClassVar, Protocol, TypeVar


class Named(Protocol):
    """A class that a request names."""

    name: ClassVar[str]


_C = TypeVar("_C", bound=Named)


class Classes(MutableMapping[str, type[_C]]):
    """The classes of one base by name. A module is loaded when its class is asked for, all when they are listed.

    A class is first looked for in the module of its name (`drop-traces`: `drop_traces`), then in all.
    """

    def __init__(self, base: type[Any]) -> None:
        self._base = base
        self._classes: dict[str, type[_C]] = {}
        self._package = ""
        self._module = ""

    def look_in(self, package: str, module: str = "") -> None:
        """Name the package whose modules register the classes; `module` is that of each package in it."""
        self._package, self._module = package, module and f".{module}"

    def load_all(self) -> None:
        """Import every module of the package."""
        for name in self._names():
            self._load(name)

    def _names(self) -> Iterator[str]:
        path = importlib.import_module(self._package).__path__ if self._package else ()
        return (found.name for found in pkgutil.iter_modules(path) if found.ispkg or not self._module)

    def _load(self, name: str) -> None:
        if importlib.util.find_spec(f"{self._package}.{name}{self._module}") is not None:
            importlib.import_module(f"{self._package}.{name}{self._module}")

    def __getitem__(self, name: str) -> type[_C]:
        if name not in self._classes:
            own = name.replace("-", "_")
            if own in self._names():
                self._load(own)
            if name not in self._classes:
                self.load_all()
        return self._classes[name]

    def __setitem__(self, name: str, component: type[_C]) -> None:
        self._classes[name] = component

    def __delitem__(self, name: str) -> None:
        del self._classes[name]

    def __iter__(self) -> Iterator[str]:
        self.load_all()
        return iter(sorted(self._classes))

    def __len__(self) -> int:
        self.load_all()
        return len(self._classes)

    def clear(self) -> None:
        """Forget the classes, without loading them first."""
        self._classes.clear()

    def takes(self, component: type[Named]) -> bool:
        """Tell whether a class is of this registry's base."""
        return issubclass(component, self._base)

    def add(self, component: type[_C]) -> None:
        """Register a class under its name. Raises ValueError if another class has it."""
        holder = self._classes.setdefault(component.name, component)
        if holder is not component:
            raise ValueError(f"{component.name!r} is already registered by {holder.__module__}.{holder.__qualname__}")
