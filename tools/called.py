"""Which operations of the service each command calls, read from the code that the command line and the client run."""

from __future__ import annotations

import dis
import inspect
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any, get_type_hints

import click

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from treescore.cli.main import main  # noqa: E402 - of this checkout
from treescore.client import OPERATIONS, Client  # noqa: E402
from treescore.client.session import method  # noqa: E402
from treescore.client.work import Resource  # noqa: E402

ORGANISE = "organise"


def commands() -> dict[str, list[str]]:
    """Return, for each operation, the commands of `organise` that call it; those of others where none does."""
    found: dict[bool, dict[str, list[str]]] = {True: {}, False: {}}
    for words, command in _each_command(main):
        if command.callback is not None:
            for operation in calls_of(command.callback):
                found[words.startswith(ORGANISE)].setdefault(operation, []).append(words)
    return found[False] | found[True]


def calls_of(function: Callable[..., Any], seen: frozenset[object] = frozenset()) -> set[str]:
    """Return the operations that a function calls: those that it names, also by methods of the client's resources."""
    function = inspect.unwrap(function)
    used = defaultdict[str, set[Any]](set)
    for step in _steps(function.__code__):
        used[step.opname].add(step.argval)
    attributes = used["LOAD_ATTR"] | used["LOAD_METHOD"]
    texts = {each for each in used["LOAD_CONST"] if isinstance(each, str)}
    texts |= {cell.cell_contents for cell in function.__closure__ or () if isinstance(cell.cell_contents, str)}
    for name in used["LOAD_GLOBAL"]:
        value = function.__globals__.get(name)
        if inspect.isfunction(value) and value.__module__.startswith("treescore.cli") and value not in seen:
            texts |= calls_of(value, seen | {function, value})
    for name in attributes:
        way = inspect.getattr_static(Client, name, None)
        way = way.fget if isinstance(way, property) else way
        kind = get_type_hints(way).get("return") if inspect.isfunction(way) else None
        if inspect.isclass(kind) and issubclass(kind, Resource):
            own = (inspect.getattr_static(kind, each, None) for each in attributes)
            texts |= {text for each in own if isinstance(each, method) for text in calls_of(each.__wrapped__)}
    return texts & OPERATIONS.keys()


def _steps(code: CodeType) -> Iterator[dis.Instruction]:
    """Yield what a function's code does, with that of functions inside."""
    yield from dis.get_instructions(code)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _steps(inner)


def _each_command(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _each_command(command, f"{before}{name} ")
        elif command is not None:
            yield f"{before}{name}", command
